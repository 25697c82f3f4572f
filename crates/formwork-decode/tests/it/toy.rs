//! Vocabularies, models and a constraint that are small enough to see through.

use std::hash::{DefaultHasher, Hash, Hasher};

use formwork_automaton::TokenId;
use formwork_decode::{
    Constraint, ConstraintError, Error, GenerateRequest, Generation, Hooks, Model, TokenText, generate, model_from_fn,
};

/// Tokens by their bytes; the empty one ends a text.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    pub(crate) bytes: Vec<Vec<u8>>,
    eos: Vec<TokenId>,
}

pub(crate) fn id(index: usize) -> TokenId {
    TokenId::from_index(index).unwrap()
}

impl Tokens {
    pub(crate) fn new<B: AsRef<[u8]>>(tokens: &[B]) -> Self {
        let bytes: Vec<Vec<u8>> = tokens.iter().map(|t| t.as_ref().to_vec()).collect();
        let eos = (0..bytes.len()).filter(|i| bytes[*i].is_empty()).map(id).collect();
        Self { bytes, eos }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The fewest tokens that spell some bytes.
    pub(crate) fn fewest(&self, text: &[u8]) -> Option<usize> {
        let mut best = vec![None; text.len() + 1];
        best[0] = Some(0);
        for end in 1..=text.len() {
            let before = self.bytes.iter().filter(|t| !t.is_empty() && text[..end].ends_with(t));
            best[end] = before.filter_map(|t| best[end - t.len()]).min().map(|n: usize| n + 1);
        }
        best[text.len()]
    }
}

impl TokenText for Tokens {
    fn bytes(&self, token: TokenId) -> &[u8] {
        self.bytes.get(token.index()).map_or(&[], Vec::as_slice)
    }

    fn eos(&self) -> &[TokenId] {
        &self.eos
    }
}

/// A model that gives these tokens one after another, whatever it is fed, and then the one that ends the text.
pub(crate) fn script(tokens: &Tokens, script: &[usize]) -> impl Model {
    let (count, script) = (tokens.len(), script.to_vec());
    let end = tokens.eos.first().map_or(0, |eos| eos.index());
    model_from_fn(count, move |prefix| {
        let mut logits = vec![0.0; count];
        let next = script.get(prefix.len()).copied().unwrap_or(end);
        logits[next] = 50.0;
        logits
    })
}

/// A model whose logits depend on everything before, in no way that a person would see.
pub(crate) fn hashing(count: usize, salt: u64) -> impl Model<Error = std::convert::Infallible> + Clone {
    model_from_fn(count, move |prefix| {
        (0..count)
            .map(|token| {
                let mut hasher = DefaultHasher::new();
                (salt, prefix.iter().map(|t| t.get()).collect::<Vec<_>>(), token).hash(&mut hasher);
                f32::from(u16::try_from(hasher.finish() % 8000).unwrap()) / 1000.0
            })
            .collect()
    })
}

/// One of several texts.
#[derive(Clone)]
pub(crate) struct OneOf<'a> {
    pub(crate) tokens: &'a Tokens,
    pub(crate) texts: &'a [Vec<u8>],
    pub(crate) so_far: Vec<u8>,
    pub(crate) ended: bool,
    row: Vec<u32>,
}

impl<'a> OneOf<'a> {
    pub(crate) fn new(tokens: &'a Tokens, texts: &'a [Vec<u8>]) -> Self {
        Self { tokens, texts, so_far: Vec::new(), ended: false, row: Vec::new() }
    }

    /// What can follow a text so far.
    fn rests<'b>(&'b self, so_far: &'b [u8]) -> impl Iterator<Item = &'b [u8]> {
        self.texts.iter().filter_map(|text| text.strip_prefix(so_far))
    }

    fn needed_after(&self, so_far: &[u8]) -> Option<usize> {
        let costs = self.rests(so_far).filter_map(|rest| {
            let whole = [so_far, rest].concat();
            let open = self.rests(&whole).any(|more| !more.is_empty());
            Some(self.tokens.fewest(rest)? + usize::from(open && !self.tokens.eos.is_empty()))
        });
        costs.min()
    }

    fn legal(&self, token: usize) -> Option<Vec<u8>> {
        let bytes = &self.tokens.bytes[token];
        let next = [&self.so_far[..], bytes].concat();
        let fine = if bytes.is_empty() { self.is_accepting() } else { self.needed_after(&next).is_some() };
        (fine && !self.ended).then_some(next)
    }

    fn fill(&mut self, keep: impl Fn(&Self, usize) -> bool) -> &[u32] {
        let mut row = vec![0; self.tokens.len().div_ceil(32)];
        for token in (0..self.tokens.len()).filter(|token| keep(self, *token)) {
            row[token / 32] |= 1 << (token % 32);
        }
        self.row = row;
        &self.row
    }
}

impl Constraint for OneOf<'_> {
    fn mask(&mut self) -> Result<&[u32], ConstraintError> {
        Ok(self.fill(|this, token| this.legal(token).is_some()))
    }

    fn mask_within(&mut self, remaining: usize) -> Result<&[u32], ConstraintError> {
        Ok(self.fill(|this, token| {
            this.legal(token).is_some_and(|next| {
                this.tokens.bytes[token].is_empty() || this.needed_after(&next).is_some_and(|n| n <= remaining)
            })
        }))
    }

    fn advance(&mut self, token: TokenId) -> Result<(), ConstraintError> {
        self.so_far = self.legal(token.index()).ok_or("not allowed")?;
        self.ended = self.tokens.bytes[token.index()].is_empty();
        Ok(())
    }

    fn is_accepting(&self) -> bool {
        self.texts.contains(&self.so_far)
    }

    fn is_finished(&mut self) -> bool {
        self.is_accepting()
            && self.needed_after(&self.so_far) == Some(0)
            && !self.rests(&self.so_far).any(|r| !r.is_empty())
    }

    fn needed(&mut self) -> Result<usize, ConstraintError> {
        self.needed_after(&self.so_far).ok_or_else(|| "no completion".into())
    }

    fn needed_at_most(&mut self) -> usize {
        self.rests(&self.so_far).map(<[u8]>::len).min().map_or(0, |n| n + 1)
    }

    fn fits(&mut self, token: TokenId, remaining: usize) -> Result<bool, ConstraintError> {
        let next = self.legal(token.index()).ok_or("not allowed")?;
        Ok(self.tokens.bytes[token.index()].is_empty() || self.needed_after(&next).is_some_and(|n| n <= remaining))
    }
}

/// Generates without watching.
pub(crate) fn run(
    request: &GenerateRequest,
    model: impl Model,
    constraint: Option<&mut dyn Constraint>,
    tokens: &dyn TokenText,
) -> Result<Generation, Error> {
    generate(request, model, constraint, tokens, Hooks::new())
}
