//! Regular expression → [`Program`], built from the end: each part is given the node that follows it.

use formwork_grammar::Regex;
use rustc_hash::FxHashMap;

use super::error::LangError;
use super::program::{FAIL, MATCH, NONE, Node, NodeId, REST, Thread};

use super::spellings::Spellings;

/// Repeats that unroll to more nodes than this count their rounds instead.
const UNROLL: u64 = 24;
/// Patterns are parsed to less than this; trees made by hand may be deeper.
const MAX_DEPTH: u32 = 2000;

/// What the whole text must look like around a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Frame {
    /// The match and nothing else.
    Exact,
    /// The match, anything before and after it.
    Anywhere,
    /// The match, anything before it.
    Suffix,
}

/// The nodes of a pattern, before they are measured.
pub(super) struct Compiled {
    pub(super) nodes: Vec<Node>,
    pub(super) loops: Vec<NodeId>,
    pub(super) start: NodeId,
    /// The node that reads whatever stands before a match.
    pub(super) prefix: NodeId,
    pub(super) spellings: Vec<u32>,
    /// What each look-behind looks for.
    pub(super) observers: Vec<Regex>,
}

pub(super) fn compile(
    regex: &Regex,
    frame: Frame,
    spellings: &mut Spellings,
    limit: usize,
) -> Result<Compiled, LangError> {
    let mut compiler = Compiler {
        nodes: vec![Node::Match, Node::Rest, Node::Fail],
        loops: vec![NONE; 3],
        known: FxHashMap::default(),
        spellings,
        used: Vec::new(),
        observers: Vec::new(),
        owner: NONE,
        limit: limit.min(1 << Thread::COUNT_BITS),
        depth: 0,
    };
    let end = if frame == Frame::Anywhere { REST } else { MATCH };
    let mut prefix = NONE;
    let start = if frame == Frame::Exact {
        compiler.node(regex, end)?
    } else {
        let split = compiler.push(Node::Fail)?;
        let body = compiler.node(regex, end)?;
        if body == REST {
            REST
        } else {
            let any = compiler.share(Node::Any { next: split })?;
            compiler.nodes[split as usize] = Node::Split(any, body);
            prefix = any;
            split
        }
    };
    Ok(Compiled {
        nodes: compiler.nodes,
        loops: compiler.loops,
        start,
        prefix,
        spellings: compiler.used,
        observers: compiler.observers,
    })
}

struct Compiler<'a> {
    nodes: Vec<Node>,
    loops: Vec<NodeId>,
    /// Nodes made before: equal ones are one, which merges common ends.
    known: FxHashMap<(Node, NodeId), NodeId>,
    spellings: &'a mut Spellings,
    used: Vec<u32>,
    observers: Vec<Regex>,
    /// The counted loop that is being built.
    owner: NodeId,
    limit: usize,
    depth: u32,
}

impl Compiler<'_> {
    fn push(&mut self, node: Node) -> Result<NodeId, LangError> {
        if self.nodes.len() >= self.limit {
            return Err(LangError::too_large(self.limit));
        }
        let id = NodeId::try_from(self.nodes.len()).map_err(|_| LangError::too_large(self.limit))?;
        self.nodes.push(node);
        self.loops.push(self.owner);
        Ok(id)
    }

    fn share(&mut self, node: Node) -> Result<NodeId, LangError> {
        let key = (node, self.owner);
        if let Some(&id) = self.known.get(&key) {
            return Ok(id);
        }
        let id = self.push(node)?;
        self.known.insert(key, id);
        Ok(id)
    }

    fn split(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, LangError> {
        match (a, b) {
            (REST, _) | (_, REST) => Ok(REST),
            _ if a == b => Ok(a),
            (FAIL, other) | (other, FAIL) => Ok(other),
            _ => self.share(Node::Split(a, b)),
        }
    }

    fn node(&mut self, regex: &Regex, next: NodeId) -> Result<NodeId, LangError> {
        if next == FAIL {
            return Ok(FAIL);
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(LangError::too_large(self.limit));
        }
        let id = match regex {
            Regex::Empty => Ok(next),
            Regex::Class(chars) => self.class(chars, next),
            Regex::Concat(parts) => parts.iter().rev().try_fold(next, |next, part| self.node(part, next)),
            Regex::Alternation(branches) => branches.iter().rev().try_fold(FAIL, |others, branch| {
                let branch = self.node(branch, next)?;
                self.split(branch, others)
            }),
            Regex::Repeat { node, min, max } => self.repeat(node, *min, *max, next),
            Regex::Start => self.share(Node::Start { next }),
            Regex::End => self.share(Node::End { next }),
            Regex::WordBoundary { negated } => self.word_boundary(*negated, next),
            Regex::Look { behind: false, negated, node } => self.ahead(node, *negated, next),
            Regex::Look { behind: true, negated, node } => self.behind(node, *negated, next),
        };
        self.depth -= 1;
        id
    }

    fn class(&mut self, chars: &[(char, char)], next: NodeId) -> Result<NodeId, LangError> {
        if is_any(chars) {
            return self.share(Node::Any { next });
        }
        let Some(spelling) = self.spellings.intern(chars) else {
            return Ok(FAIL);
        };
        if !self.used.contains(&spelling) {
            self.used.push(spelling);
        }
        self.share(Node::Class { spelling, next })
    }

    fn repeat(&mut self, node: &Regex, min: u32, max: Option<u32>, next: NodeId) -> Result<NodeId, LangError> {
        // Where anything may follow, more rounds than needed add nothing.
        let max = if next == REST { Some(min) } else { max };
        if max == Some(0) || matches!(node, Regex::Empty) {
            return Ok(next);
        }
        // Assertions alone hold as often as they hold once.
        if longest(node) == 0 {
            return if min == 0 { Ok(next) } else { self.node(node, next) };
        }
        let min = if has_assertion(node) {
            min
        } else if is_nullable(node) {
            0
        } else {
            min
        };
        let rounds = max.unwrap_or(min).max(1);
        let counted = self.owner == NONE
            && rounds > 1
            && !has_assertion(node)
            && size(node).saturating_mul(u64::from(rounds)) > UNROLL
            && inner_rounds(node) <= rounds;
        if counted {
            return self.counted(node, min, max, next);
        }
        let mut next = next;
        match max {
            None => {
                let ends = match self.nodes[next as usize] {
                    Node::End { next } => next,
                    _ => next,
                };
                if matches!(ends, REST | MATCH) && matches!(node, Regex::Class(chars) if is_any(chars)) {
                    next = REST;
                } else {
                    let split = self.push(Node::Fail)?;
                    let body = self.node(node, split)?;
                    self.nodes[split as usize] = Node::Split(body, next);
                    next = split;
                    // One round is in the cycle itself, unless the body may pass without reading.
                    if min > 0 && !is_nullable(node) && !has_assertion(node) {
                        next = body;
                        for _ in 1..min {
                            next = self.node(node, next)?;
                        }
                        return Ok(next);
                    }
                }
            }
            Some(max) => {
                let exit = next;
                for _ in min..max {
                    let body = self.node(node, next)?;
                    next = self.split(body, exit)?;
                }
            }
        }
        for _ in 0..min {
            next = self.node(node, next)?;
        }
        Ok(next)
    }

    fn counted(&mut self, node: &Regex, min: u32, max: Option<u32>, next: NodeId) -> Result<NodeId, LangError> {
        if min.max(max.unwrap_or(0)) >= 1 << 24 {
            return Err(LangError::too_large(self.limit));
        }
        let end = self.push(Node::Fail)?;
        self.owner = end;
        let body = self.node(node, end);
        self.owner = NONE;
        let body = body?;
        self.nodes[end as usize] = Node::Loop { body, min, max, exit: next };
        if min == 0 { self.split(body, next) } else { Ok(body) }
    }

    fn word_boundary(&mut self, negated: bool, next: NodeId) -> Result<NodeId, LangError> {
        let word = Regex::Class(vec![('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]);
        let no_word = self.ahead(&word, !negated, next)?;
        let after = self.behind(&word, false, no_word)?;
        let yes_word = self.ahead(&word, negated, next)?;
        let before = self.behind(&word, true, yes_word)?;
        self.split(after, before)
    }

    fn ahead(&mut self, regex: &Regex, negated: bool, next: NodeId) -> Result<NodeId, LangError> {
        let owner = std::mem::replace(&mut self.owner, NONE);
        let body = self.node(regex, REST);
        self.owner = owner;
        match (body?, negated) {
            (REST, false) | (FAIL, true) => Ok(next),
            (REST, true) | (FAIL, false) => Ok(FAIL),
            (body, negated) => self.share(Node::Ahead { body, negated, next }),
        }
    }

    fn behind(&mut self, regex: &Regex, negated: bool, next: NodeId) -> Result<NodeId, LangError> {
        if looks_past_end(regex, 0) {
            return Err(LangError::look_around("a look-behind may not look at what follows it"));
        }
        let known = self.observers.iter().position(|known| known == regex);
        let observer = known.unwrap_or_else(|| {
            self.observers.push(regex.clone());
            self.observers.len() - 1
        });
        let observer = u32::try_from(observer).map_err(|_| LangError::too_large(self.limit))?;
        self.share(Node::Behind { observer, negated, next })
    }
}

fn is_any(chars: &[(char, char)]) -> bool {
    chars == [('\0', char::MAX)]
}

/// Whether it may match without reading (assertions taken as met).
fn is_nullable(regex: &Regex) -> bool {
    shortest(regex) == 0
}

/// The fewest characters of a match.
fn shortest(regex: &Regex) -> u32 {
    match regex {
        Regex::Class(_) => 1,
        Regex::Concat(parts) => parts.iter().map(shortest).fold(0, u32::saturating_add),
        Regex::Alternation(branches) => branches.iter().map(shortest).min().unwrap_or(0),
        Regex::Repeat { node, min, .. } => shortest(node).saturating_mul(*min),
        Regex::Empty | Regex::Start | Regex::End | Regex::WordBoundary { .. } | Regex::Look { .. } => 0,
    }
}

/// The most characters of a match, saturating.
fn longest(regex: &Regex) -> u32 {
    match regex {
        Regex::Class(_) => 1,
        Regex::Concat(parts) => parts.iter().map(longest).fold(0, u32::saturating_add),
        Regex::Alternation(branches) => branches.iter().map(longest).max().unwrap_or(0),
        Regex::Repeat { node, max, .. } => match (longest(node), max) {
            (0, _) => 0,
            (_, None) => u32::MAX,
            (each, Some(max)) => each.saturating_mul(*max),
        },
        Regex::Empty | Regex::Start | Regex::End | Regex::WordBoundary { .. } | Regex::Look { .. } => 0,
    }
}

/// Whether a match may depend on text after its end, when at least `following` characters of it follow.
fn looks_past_end(regex: &Regex, following: u32) -> bool {
    match regex {
        Regex::Empty | Regex::Class(_) | Regex::Start => false,
        Regex::End => true,
        Regex::WordBoundary { .. } => following == 0,
        Regex::Look { behind: true, node, .. } => looks_past_end(node, 0),
        Regex::Look { behind: false, node, .. } => longest(node) > following || looks_past_end(node, 0),
        Regex::Concat(parts) => {
            let mut following = following;
            parts.iter().rev().any(|part| {
                let past = looks_past_end(part, following);
                following = following.saturating_add(shortest(part));
                past
            })
        }
        Regex::Alternation(branches) => branches.iter().any(|branch| looks_past_end(branch, following)),
        Regex::Repeat { node, .. } => looks_past_end(node, following),
    }
}

fn has_assertion(regex: &Regex) -> bool {
    match regex {
        Regex::Empty | Regex::Class(_) => false,
        Regex::Start | Regex::End | Regex::WordBoundary { .. } | Regex::Look { .. } => true,
        Regex::Concat(parts) | Regex::Alternation(parts) => parts.iter().any(has_assertion),
        Regex::Repeat { node, .. } => has_assertion(node),
    }
}

/// How many nodes it unrolls to, roughly.
fn size(regex: &Regex) -> u64 {
    match regex {
        Regex::Empty => 0,
        Regex::Concat(parts) | Regex::Alternation(parts) => parts.iter().map(size).fold(0, u64::saturating_add),
        Regex::Repeat { node, min, max } => {
            size(node).saturating_add(1).saturating_mul(u64::from(max.unwrap_or(*min).max(1)))
        }
        _ => 1,
    }
}

/// The largest count of rounds inside.
fn inner_rounds(regex: &Regex) -> u32 {
    match regex {
        Regex::Concat(parts) | Regex::Alternation(parts) => parts.iter().map(inner_rounds).max().unwrap_or(0),
        Regex::Repeat { node, min, max } => inner_rounds(node).max(max.unwrap_or(*min)),
        _ => 0,
    }
}
