//! The rules once more, written for reading: every stage sorts everything and knows nothing of the real one.

use std::collections::HashMap;

use formwork_sample::{OrderEntry, PenaltyScope, ResolvedParams, StageName, TopKTies};

/// (id, logit), best first.
pub(crate) type Row = Vec<(u32, f64)>;

pub(crate) struct Naive<'a> {
    pub(crate) params: &'a ResolvedParams,
    pub(crate) prompt: &'a [u32],
    pub(crate) output: &'a [u32],
    pub(crate) u_xtc: f64,
}

fn sorted(mut row: Row) -> Row {
    row.sort_by(|a, b| b.1.partial_cmp(&a.1).unwrap().then(a.0.cmp(&b.0)));
    row
}

pub(crate) fn probs(row: &Row) -> Vec<f64> {
    let weights: Vec<f64> = row.iter().map(|(_, z)| (z - row[0].1).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / sum).collect()
}

impl Naive<'_> {
    /// What every stage leaves of the legal tokens, in turn.
    pub(crate) fn rows(&self, legal: Row) -> Vec<Row> {
        let mut row = sorted(legal);
        let mut rows = vec![row.clone()];
        for entry in &self.params.order {
            let sets: Vec<Row> = match entry {
                OrderEntry::Stage(stage) => vec![self.stage(*stage, row.clone())],
                OrderEntry::Together(stages) => stages.iter().map(|s| self.stage(*s, row.clone())).collect(),
            };
            let (first, others) = sets.split_first().unwrap();
            let common: Row = first.iter().copied().filter(|c| others.iter().all(|set| set.contains(c))).collect();
            row = if common.is_empty() { row[..1].to_vec() } else { common };
            rows.push(row.clone());
        }
        rows
    }

    fn stage(&self, stage: StageName, row: Row) -> Row {
        let p = self.params;
        let probs = probs(&row);
        let zipped = || row.iter().copied().zip(probs.iter().copied());
        let prefix = |items: Vec<((u32, f64), f64)>, mass: f64| -> Row {
            let mut sum = 0.0;
            let mut kept = Row::new();
            for (candidate, prob) in items {
                if sum >= mass && kept.len() >= p.min_keep {
                    break;
                }
                sum += prob;
                kept.push(candidate);
            }
            sorted(kept)
        };
        match stage {
            StageName::LogitBias => sorted(
                row.iter()
                    .map(|&(id, z)| {
                        let bias = p.logit_bias.iter().find(|(t, _)| t.get() == id);
                        (id, z + bias.map_or(0.0, |(_, b)| *b))
                    })
                    .collect(),
            ),
            StageName::Penalties => self.penalties(row),
            StageName::Temperature if p.temperature == 0.0 => row,
            StageName::Temperature => sorted(row.iter().map(|&(id, z)| (id, z / p.temperature)).collect()),
            StageName::TopK if p.top_k == 0 || p.top_k >= row.len() => row,
            StageName::TopK => {
                let worst = row[p.top_k - 1].1;
                match p.top_k_ties {
                    TopKTies::Keep => row.into_iter().filter(|c| c.1 >= worst).collect(),
                    _ => row[..p.top_k].to_vec(),
                }
            }
            StageName::TopP if p.top_p >= 1.0 => row,
            StageName::TopP => prefix(zipped().collect(), p.top_p),
            StageName::MinP => {
                let kept: Row = zipped().filter(|(_, prob)| *prob >= p.min_p * probs[0]).map(|(c, _)| c).collect();
                if kept.len() < p.min_keep { row[..p.min_keep.min(row.len())].to_vec() } else { kept }
            }
            StageName::TypicalP if p.typical_p >= 1.0 => row,
            StageName::TypicalP => {
                let entropy: f64 = probs.iter().map(|p| -p * p.ln()).sum();
                let mut items: Vec<_> = zipped().collect();
                items.sort_by(|a, b| {
                    let distance = |prob: f64| (-prob.ln() - entropy).abs();
                    distance(a.1).partial_cmp(&distance(b.1)).unwrap()
                });
                prefix(items, p.typical_p)
            }
            StageName::TopNSigma if p.top_n_sigma == 0.0 => row,
            StageName::TopNSigma => {
                let n = f64::from(u32::try_from(row.len()).unwrap());
                let mean = row.iter().map(|c| c.1).sum::<f64>() / n;
                let variance = row.iter().map(|c| (c.1 - mean).powi(2)).sum::<f64>() / n;
                let cut = row[0].1 - p.top_n_sigma * variance.sqrt();
                row.into_iter().filter(|c| c.1 >= cut).collect()
            }
            StageName::Xtc => {
                let likely = probs.iter().filter(|p| **p >= self.params.xtc_threshold).count();
                if self.u_xtc >= p.xtc_probability || likely < 2 {
                    return row;
                }
                row[likely - 1..].to_vec()
            }
            StageName::Dry => self.dry(row),
            _ => unreachable!(),
        }
    }

    fn history(&self) -> Vec<u32> {
        [self.prompt, self.output].concat()
    }

    fn penalties(&self, row: Row) -> Row {
        let p = self.params;
        let counts = |scope: PenaltyScope| {
            let all = match scope {
                PenaltyScope::Output => self.output.to_vec(),
                _ => self.history(),
            };
            let from = all.len() - all.len().min(p.penalty_last_n.unwrap_or(usize::MAX));
            let mut counts = HashMap::new();
            for id in &all[from..] {
                *counts.entry(*id).or_insert(0.0) += 1.0;
            }
            counts
        };
        let repetition = counts(p.penalty_scope.repetition);
        let presence = counts(p.penalty_scope.presence);
        let frequency = counts(p.penalty_scope.frequency);
        let mut row: Row = row
            .into_iter()
            .map(|(id, mut z)| {
                if repetition.contains_key(&id) {
                    z = if z > 0.0 { z / p.repetition_penalty } else { z * p.repetition_penalty };
                }
                if presence.contains_key(&id) {
                    z -= p.presence_penalty;
                }
                z -= p.frequency_penalty * frequency.get(&id).copied().unwrap_or(0.0);
                (id, z)
            })
            .collect();
        let n = p.no_repeat_ngram_size;
        let text = self.history();
        if n > 0 && text.len() >= n {
            let tail = &text[text.len() + 1 - n..];
            let banned = |id: u32| {
                let ngram: Vec<u32> = tail.iter().copied().chain([id]).collect();
                text.windows(n).any(|window| window == ngram)
            };
            if row.iter().any(|(id, _)| !banned(*id)) {
                row.retain(|(id, _)| !banned(*id));
            }
        }
        sorted(row)
    }

    fn dry(&self, row: Row) -> Row {
        let p = self.params;
        let text = self.history();
        let breaker = |id: u32| p.dry_breakers.iter().any(|b| b.get() == id);
        let changed = row
            .into_iter()
            .map(|(id, z)| {
                let longest = (0..text.len())
                    .filter(|at| text[*at] == id && !breaker(id))
                    .map(|at| {
                        let ahead = text[..at].iter().rev();
                        let pairs = ahead.zip(text.iter().rev());
                        pairs.take_while(|(a, b)| a == b && !breaker(**a)).count()
                    })
                    .max()
                    .unwrap_or(0);
                let over = i32::try_from(longest).unwrap() - i32::try_from(p.dry_allowed_length).unwrap();
                let penalty = if over >= 0 { p.dry_multiplier * p.dry_base.powi(over) } else { 0.0 };
                (id, z - penalty)
            })
            .collect();
        sorted(changed)
    }
}
