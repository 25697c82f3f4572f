//! Characters that can be read again and again.

use rustc_hash::FxHashSet;

use super::byte_classes::NOWHERE;
use super::byte_set::ByteSet;
use super::utf8::{self, BOUNDARY};
use super::{LangState, Langs};

/// Fewer characters than this are no loop worth knowing.
pub(crate) const LEAST_INSIDE: usize = 24;

/// So many states are looked at to see whether characters can always be read.
const MOST_STATES: usize = 64;

/// Characters that stand between others in most texts, the most frequent first: of these it is found out whether they part others.
const APART: &[u8] = b" _-./:,'@";

/// The bytes of characters beyond ASCII: all of them are in a set of characters, or none.
const WIDE: ByteSet = ByteSet::range(0x80, 0xFF);

/// Characters of ASCII that JSON writes as themselves.
const PLAIN: ByteSet = ByteSet::PLAIN.and(WIDE.complement());

/// Which characters a state reads again and again. In the sets, the bytes from 0x80 on stand for all characters beyond ASCII: all of these
/// bytes are in a set or none is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LangLoop {
    /// The state after one or more characters of `inside`, whichever they are.
    pub(crate) after: LangState,
    /// Characters any number of which can be read in any order; one of `apart` may stand among them, also at either end.
    pub(crate) inside: ByteSet,
    /// Characters of which one can be read before, after or between those of `inside`.
    pub(crate) apart: ByteSet,
    /// Characters among which are all others (those of `apart` included) that can be read after such a text.
    pub(crate) exits: ByteSet,
}

/// Where a state's characters lead.
struct Targets {
    ascii: [Option<u32>; 128],
    wide: Wide,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wide {
    /// No character beyond ASCII can be read.
    Dead,
    /// All of them can be, and lead to one state.
    Only(u32),
    Mixed,
}

impl Targets {
    /// The characters that can be read.
    fn live(&self) -> ByteSet {
        let ascii = self.ascii.iter().zip(0_u8..).filter_map(|(to, byte)| to.map(|_| byte));
        let wide = if self.wide == Wide::Dead { ByteSet::empty() } else { WIDE };
        ascii.collect::<ByteSet>().or(wide)
    }

    /// The characters that lead to a state.
    fn leading_to(&self, state: u32) -> ByteSet {
        let leads = |byte: &u8| self.ascii[usize::from(*byte)] == Some(state);
        let wide = if self.wide == Wide::Only(state) { WIDE } else { ByteSet::empty() };
        PLAIN.iter().filter(leads).collect::<ByteSet>().or(wide)
    }

    /// The state that most plain characters lead to.
    fn most(&self) -> Option<u32> {
        let mut counts: Vec<(u32, u32)> = Vec::new();
        for state in PLAIN.iter().filter_map(|byte| self.ascii[usize::from(byte)]) {
            match counts.iter_mut().find(|(of, _)| *of == state) {
                Some((_, count)) => *count += 1,
                None => counts.push((state, 1)),
            }
        }
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(state, _)| state)
    }
}

impl Langs {
    /// The characters that `s` reads again and again; `None` where they are few, or in the middle of a character. `near`: states that are
    /// [near](Self::near) each other count as one.
    pub(crate) fn char_loop(&self, s: LangState, near: bool) -> Option<LangLoop> {
        let first = self.targets(s.0, near)?;
        let after = first.most()?;
        let then = self.targets(after, near)?;
        let inside = first.leading_to(after).and(then.leading_to(after));
        if inside.len() < LEAST_INSIDE {
            return None;
        }
        let mut apart = ByteSet::empty();
        let mut live = first.live().or(then.live());
        for byte in APART.iter().copied().filter(|byte| !inside.contains(*byte)) {
            let next = [&first, &then].map(|targets| targets.ascii[usize::from(byte)]);
            let [Some(begins), Some(parts)] = next else { continue };
            let next = [self.targets(begins, near)?, self.targets(parts, near)?];
            if next.iter().all(|targets| inside.and(targets.leading_to(after)) == inside) {
                apart.insert(byte);
                live = live.or(next[0].live()).or(next[1].live());
            }
        }
        Some(LangLoop { after: LangState(after), inside, apart, exits: live.and(inside.complement()) })
    }

    /// The characters that lead from `s` to itself; `near`: to a state near it.
    pub(crate) fn inside(&self, s: LangState, near: bool) -> ByteSet {
        let s = self.settled(s, near).0;
        self.targets(s, near).map_or(ByteSet::empty(), |targets| targets.leading_to(s))
    }

    /// The characters that can be read.
    pub(crate) fn live_chars(&self, s: LangState) -> ByteSet {
        self.targets(s.0, false).map_or(ByteSet::empty(), |targets| targets.live())
    }

    /// Whether any text of these characters can be read (`near`: any short one); `false` where that takes long to say.
    pub(crate) fn keeps_reading(&self, s: LangState, inside: &ByteSet, near: bool) -> bool {
        let mut seen = vec![self.settled(s, near).0];
        let mut next = 0;
        while let Some(&from) = seen.get(next) {
            next += 1;
            let Some(targets) = self.targets(from, near) else { return false };
            if seen.len() > MOST_STATES || inside.and(targets.live()) != *inside {
                return false;
            }
            let wide = match targets.wide {
                Wide::Only(to) => Some(to),
                _ if inside.and(WIDE).is_empty() => None,
                _ => return false,
            };
            let ascii = PLAIN.and(*inside);
            for to in ascii.iter().filter_map(|byte| targets.ascii[usize::from(byte)]).chain(wide) {
                if !seen.contains(&to) {
                    seen.push(to);
                }
            }
        }
        true
    }

    /// Where the characters lead from a state; `None` in the middle of one.
    fn targets(&self, from: u32, near: bool) -> Option<Targets> {
        let settle = |to: u32| self.settled(LangState(to), near).0;
        let state = self.common.states.get(from).filter(|state| state.utf8 == BOUNDARY)?;
        let mut known: [Option<Option<u32>>; 256] = [None; 256];
        let mut ascii = [None; 128];
        for (byte, to) in (0_u8..).zip(&mut ascii) {
            let class = state.classes.class(byte);
            if class != NOWHERE {
                *to = *known[usize::from(class)].get_or_insert_with(|| self.step_class(from, state, class).map(settle));
            }
        }
        Some(Targets { ascii, wide: self.wide(from, settle)? })
    }

    /// Where characters beyond ASCII lead.
    fn wide(&self, from: u32, settle: impl Fn(u32) -> u32) -> Option<Wide> {
        let mut seen = FxHashSet::default();
        let mut ends = FxHashSet::default();
        let mut open = vec![from];
        let mut dies = false;
        while let Some(id) = open.pop() {
            let state = self.common.states.get(id)?;
            for class in state.classes.iter() {
                let stands = state.classes.representative(class);
                let Some(utf8) = utf8::next(state.utf8, stands).filter(|_| stands >= 0x80) else { continue };
                match self.step_class(id, state, class) {
                    None => dies = true,
                    Some(to) if utf8 == BOUNDARY => _ = ends.insert(settle(to)),
                    Some(to) => {
                        if seen.insert(to) {
                            open.push(to);
                        }
                    }
                }
            }
        }
        let mut ends = ends.into_iter();
        Some(match (ends.next(), ends.next(), dies) {
            (None, ..) => Wide::Dead,
            (Some(only), None, false) => Wide::Only(only),
            _ => Wide::Mixed,
        })
    }
}
