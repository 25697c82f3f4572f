//! A pattern's nondeterministic automaton over characters, and how far each of its nodes is from the end.

use super::spelling::Spelling;
use super::utf8::{self, NEVER, POSITIONS};

/// Index of a node in its [`Program`].
pub(super) type NodeId = u32;
/// Index of a class's spelling.
pub(super) type SpellingId = u32;

/// The text ends here.
pub(super) const MATCH: NodeId = 0;
/// Anything may follow.
pub(super) const REST: NodeId = 1;
/// Nothing matches.
pub(super) const FAIL: NodeId = 2;
/// No node: outside every counted loop.
pub(super) const NONE: NodeId = NodeId::MAX;

/// One node. Nodes that read a character wait in states; the others are passed through when a state is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Match,
    Rest,
    Fail,
    /// One character of a class.
    Class {
        spelling: SpellingId,
        next: NodeId,
    },
    /// Any character.
    Any {
        next: NodeId,
    },
    Split(NodeId, NodeId),
    Start {
        next: NodeId,
    },
    End {
        next: NodeId,
    },
    /// The rest of the text begins (or does not begin) with a match of `body`.
    Ahead {
        body: NodeId,
        negated: bool,
        next: NodeId,
    },
    /// The text so far ends (or does not end) with a match of an observer.
    Behind {
        observer: u32,
        negated: bool,
        next: NodeId,
    },
    /// The end of a counted body: again, or on.
    Loop {
        body: NodeId,
        min: u32,
        max: Option<u32>,
        exit: NodeId,
    },
}

/// Where one branch of the nondeterministic automaton stands: a node, a place inside the character it reads, and how many
/// rounds of the counted loop around it are complete. Packed so that sets of them sort and hash fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Thread(u64);

impl Thread {
    pub(super) const COUNT_BITS: u32 = 24;
    /// The thread that accepts here and reads nothing more.
    pub(super) const MATCH: Self = Self(0);

    pub(super) const fn new(node: NodeId, inside: u16, count: u32) -> Self {
        Self((node as u64) << 40 | (inside as u64) << 24 | count as u64)
    }

    pub(super) const fn node(self) -> NodeId {
        (self.0 >> 40) as NodeId
    }

    pub(super) const fn inside(self) -> u16 {
        (self.0 >> 24 & 0xFFFF) as u16
    }

    pub(super) const fn count(self) -> u32 {
        (self.0 & 0xFF_FFFF) as u32
    }

    /// All of it.
    pub(super) const fn to_word(self) -> u64 {
        self.0
    }

    /// The same but for the count.
    pub(super) const fn place(self) -> u64 {
        self.0 >> Self::COUNT_BITS
    }
}

/// Bytes or characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Bytes,
    Chars,
}

/// Distances of all nodes to the end, in one unit.
#[derive(Debug)]
struct Distances {
    /// To the end, with no round of a loop done.
    to_end: Vec<u32>,
    /// To the end of the loop's body, for nodes in one.
    to_loop: Vec<u32>,
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Program {
    nodes: Vec<Node>,
    /// The counted loop that each node is in.
    loops: Vec<NodeId>,
    pub(super) start: NodeId,
    /// The node that reads whatever stands before a match, where anything may.
    prefix: NodeId,
    /// Whether it has no look-around, so that distances are exact and every state with a thread is live.
    pub(super) plain: bool,
    bytes: Distances,
    chars: Distances,
    /// Whether a look-behind can be met from each node; empty where there is none.
    looks_behind: Vec<bool>,
}

impl Program {
    /// Completes a program: measures it.
    pub(super) fn new(
        nodes: Vec<Node>,
        loops: Vec<NodeId>,
        start: NodeId,
        prefix: NodeId,
        spellings: &[Spelling],
        bytes_per_char: u32,
    ) -> Self {
        let plain = !nodes.iter().any(|node| matches!(node, Node::Ahead { .. } | Node::Behind { .. }));
        let weight = |node: &Node| match node {
            Node::Class { spelling, .. } => spellings.get(*spelling as usize).map_or(NEVER, |s| s.bytes(0)),
            _ => bytes_per_char,
        };
        let bytes = Distances::measure(&nodes, &loops, weight);
        let reachable = if bytes_per_char == NEVER { NEVER } else { 1 };
        let chars = Distances::measure(&nodes, &loops, |node| match node {
            Node::Any { .. } => reachable,
            _ => 1,
        });
        let looks_behind = looks_behind(&nodes);
        Self { nodes, loops, start, prefix, plain, bytes, chars, looks_behind }
    }

    #[inline]
    pub(super) fn node(&self, id: NodeId) -> Node {
        self.nodes[id as usize]
    }

    /// Whether this node reads whatever stands before a match.
    pub(super) fn is_prefix(&self, node: NodeId) -> bool {
        self.prefix == node
    }

    /// The counted loop that a node is in.
    #[inline]
    pub(super) fn loop_of(&self, id: NodeId) -> Option<(u32, Option<u32>)> {
        match self.loops[id as usize] {
            NONE => None,
            owner => match self.node(owner) {
                Node::Loop { min, max, .. } => Some((min, max)),
                _ => None,
            },
        }
    }

    /// A thread's distance to the end: exact in a plain program, else at most that.
    pub(super) fn distance(
        &self,
        thread: Thread,
        unit: Unit,
        spellings: &[Spelling],
        to_boundary: &[u32; POSITIONS],
        bytes_per_char: u32,
    ) -> u32 {
        let inside = thread.inside();
        let (own, next) = match (self.node(thread.node()), unit) {
            (Node::Class { spelling, next }, Unit::Bytes) => (spellings[spelling as usize].bytes(inside), next),
            (Node::Any { next }, Unit::Bytes) if inside == u16::from(utf8::BOUNDARY) => (bytes_per_char, next),
            (Node::Any { next }, Unit::Bytes) => (to_boundary[inside as usize], next),
            (Node::Class { next, .. } | Node::Any { next }, Unit::Chars) => (u32::from(inside == 0), next),
            (Node::Match | Node::Rest, _) => return 0,
            _ => return NEVER,
        };
        let distances = match unit {
            Unit::Bytes => &self.bytes,
            Unit::Chars => &self.chars,
        };
        own.saturating_add(distances.after(&self.nodes, self.loops[thread.node() as usize], next, thread.count()))
    }

    /// Whether a thread at this node can still come to the end.
    #[inline]
    pub(super) fn is_live(&self, node: NodeId) -> bool {
        self.bytes.to_end[node as usize] != NEVER
    }

    /// Whether a thread at this node may meet a look-behind.
    pub(super) fn looks_behind(&self, node: NodeId) -> bool {
        self.looks_behind.get(node as usize).copied().unwrap_or(false)
    }

    /// Heap bytes held.
    pub(super) fn heap_bytes(&self) -> usize {
        self.nodes.len() * (size_of::<Node>() + 5 * 4) + 512
    }
}

impl Distances {
    fn measure(nodes: &[Node], loops: &[NodeId], weight: impl Fn(&Node) -> u32) -> Self {
        let mut this = Self { to_end: vec![NEVER; nodes.len()], to_loop: vec![NEVER; nodes.len()] };
        let ends = ends_without_reading(nodes);
        let mut changed = loops.iter().any(|owner| *owner != NONE);
        // Every node's successors but those that close a cycle have smaller ids, so few passes are needed.
        while changed {
            changed = false;
            for (id, node) in nodes.iter().enumerate() {
                let to = |next: NodeId| match nodes.get(next as usize) {
                    Some(Node::Loop { .. }) if loops[id] == next => 0,
                    _ => this.to_loop[next as usize],
                };
                let new = match *node {
                    _ if loops[id] == NONE => continue,
                    Node::Class { next, .. } | Node::Any { next } => weight(node).saturating_add(to(next)),
                    Node::Split(a, b) => to(a).min(to(b)),
                    _ => NEVER,
                };
                if new < this.to_loop[id] {
                    this.to_loop[id] = new;
                    changed = true;
                }
            }
        }
        loop {
            let mut changed = false;
            for (id, node) in nodes.iter().enumerate() {
                let new = match *node {
                    _ if loops[id] != NONE => {
                        let owner = loops[id];
                        this.to_loop[id].saturating_add(this.after_round(nodes, owner, 0))
                    }
                    Node::Match | Node::Rest => 0,
                    Node::Fail | Node::Start { .. } => NEVER,
                    Node::Class { next, .. } | Node::Any { next } => {
                        weight(node).saturating_add(this.to_end[next as usize])
                    }
                    Node::Split(a, b) => this.to_end[a as usize].min(this.to_end[b as usize]),
                    Node::End { next } => {
                        if ends[next as usize] {
                            0
                        } else {
                            NEVER
                        }
                    }
                    Node::Ahead { next, .. } | Node::Behind { next, .. } => this.to_end[next as usize],
                    Node::Loop { exit, .. } => this.to_end[exit as usize],
                };
                if new < this.to_end[id] {
                    this.to_end[id] = new;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        this
    }

    /// From the end of a loop's body, with `count` rounds complete before this one.
    fn after_round(&self, nodes: &[Node], owner: NodeId, count: u32) -> u32 {
        match nodes[owner as usize] {
            Node::Loop { body, min, exit, .. } => {
                let rounds = min.saturating_sub(count.saturating_add(1));
                let each = if rounds == 0 { 0 } else { self.to_loop[body as usize] };
                each.saturating_mul(rounds).saturating_add(self.to_end[exit as usize])
            }
            _ => NEVER,
        }
    }

    fn after(&self, nodes: &[Node], owner: NodeId, next: NodeId, count: u32) -> u32 {
        if owner == NONE {
            return self.to_end[next as usize];
        }
        let to_loop = if next == owner { 0 } else { self.to_loop[next as usize] };
        to_loop.saturating_add(self.after_round(nodes, owner, count))
    }
}

/// Which nodes may reach the end without reading when the text ends there (look-arounds taken as met, `^` as not).
fn ends_without_reading(nodes: &[Node]) -> Vec<bool> {
    let mut ends = vec![false; nodes.len()];
    if !nodes.iter().any(|node| matches!(node, Node::End { .. })) {
        return ends;
    }
    loop {
        let mut changed = false;
        for (id, node) in nodes.iter().enumerate() {
            let new = match *node {
                Node::Match | Node::Rest => true,
                Node::Split(a, b) => ends[a as usize] || ends[b as usize],
                Node::End { next } | Node::Ahead { next, .. } | Node::Behind { next, .. } => ends[next as usize],
                Node::Loop { exit, min, .. } => min <= 1 && ends[exit as usize],
                Node::Fail | Node::Start { .. } | Node::Class { .. } | Node::Any { .. } => false,
            };
            if new && !ends[id] {
                ends[id] = true;
                changed = true;
            }
        }
        if !changed {
            return ends;
        }
    }
}

/// Which nodes a look-behind can be met from.
fn looks_behind(nodes: &[Node]) -> Vec<bool> {
    if !nodes.iter().any(|node| matches!(node, Node::Behind { .. })) {
        return Vec::new();
    }
    let mut looks = vec![false; nodes.len()];
    loop {
        let mut changed = false;
        for (id, node) in nodes.iter().enumerate() {
            let new = match *node {
                Node::Behind { .. } => true,
                Node::Match | Node::Rest | Node::Fail => false,
                Node::Class { next, .. } | Node::Any { next } | Node::Start { next } | Node::End { next } => {
                    looks[next as usize]
                }
                Node::Split(a, b) | Node::Ahead { body: a, next: b, .. } | Node::Loop { body: a, exit: b, .. } => {
                    looks[a as usize] || looks[b as usize]
                }
            };
            if new && !looks[id] {
                looks[id] = true;
                changed = true;
            }
        }
        if !changed {
            return looks;
        }
    }
}
