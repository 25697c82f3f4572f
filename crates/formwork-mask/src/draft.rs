//! Drafts for speculative decoding: trees of tokens, checked in one pass.

use formwork_automaton::TokenId;

use crate::error::{Code, Error};
use crate::matcher::Matcher;

/// The shape of a draft: which node follows which. One shape serves every sequence and step of an engine whose trees have the same.
///
/// ```
/// use formwork_mask::DraftTree;
/// // Two ways to begin, and two ways to go on from the first.
/// let tree = DraftTree::new(&[None, None, Some(0), Some(0)])?;
/// assert_eq!(tree.len(), 4);
/// assert_eq!(DraftTree::new(&[Some(0)]).unwrap_err().node(), Some(0));
/// # Ok::<(), formwork_mask::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftTree {
    /// The nodes depth first, each before its children.
    order: Vec<Visit>,
}

/// A node on the way through a tree, and how many lie above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Visit {
    node: usize,
    depth: usize,
}

impl DraftTree {
    /// A tree by the parent of each node; nodes without one come next after the sequence as it stands.
    ///
    /// # Errors
    /// Where a parent does not come before its child; [`Error::node`] says which child.
    pub fn new(parents: &[Option<usize>]) -> Result<Self, Error> {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
        let mut waiting = Vec::new();
        for (node, &parent) in parents.iter().enumerate() {
            match parent {
                None => waiting.push(Visit { node, depth: 0 }),
                Some(parent) if parent < node => children[parent].push(node),
                Some(parent) => return Err(Error::draft_parent(node, parent)),
            }
        }
        waiting.reverse();
        let mut order = Vec::with_capacity(parents.len());
        while let Some(visit) = waiting.pop() {
            order.push(visit);
            let next = children[visit.node].iter().rev();
            waiting.extend(next.map(|&node| Visit { node, depth: visit.depth + 1 }));
        }
        Ok(Self { order })
    }

    /// A draft of one token after another.
    pub fn line(len: usize) -> Self {
        Self { order: (0..len).map(|node| Visit { node, depth: node }).collect() }
    }

    /// How many nodes it has.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

impl Matcher {
    /// Says for each node of a draft whether its token is allowed after those above it, in one pass through the tree; the matcher stays
    /// where it is. What comes after a token that is not allowed, or that ends the sequence, is not allowed either.
    ///
    /// For a draft without branches, [`try_advance`](Matcher::try_advance) reads what is allowed of it.
    ///
    /// # Errors
    /// Where there are more or fewer tokens than nodes, or one that is not in the vocabulary; [`Error::node`] says which.
    #[doc(alias = "traverse_draft_tree")]
    pub fn check_draft(&mut self, tree: &DraftTree, tokens: &[TokenId]) -> Result<Vec<bool>, Error> {
        self.pass_through(tree, tokens, |_, _| Ok(()))
    }

    /// Checks a draft as [`check_draft`](Matcher::check_draft) does, and fills a row for each node with the mask after it: what may follow,
    /// where all up to that node is kept. `rows` has [`row_words`](crate::Vocabulary::row_words) words for each node, as for
    /// [`fill_row`](Matcher::fill_row). The row is all 0 where the node is not allowed or ends the sequence. The mask before the draft is the
    /// matcher's own.
    ///
    /// # Errors
    /// As [`check_draft`](Matcher::check_draft); where `rows` has another length; and where no token can follow a node although the text is
    /// not complete there, as a limit can have it. The matcher stays where it is, whatever the error.
    #[doc(alias = "traverse_draft_tree")]
    pub fn fill_draft_masks(
        &mut self,
        tree: &DraftTree,
        tokens: &[TokenId],
        rows: &mut [u32],
    ) -> Result<Vec<bool>, Error> {
        let words = self.constraint().vocabulary().row_words();
        if rows.len() != tree.len() * words {
            return Err(Error::row_words(rows.len(), tree.len(), words));
        }
        rows.fill(0);
        self.pass_through(tree, tokens, |matcher, node| match matcher.fill_row(&mut rows[node * words..][..words]) {
            Err(error) if error.code() == Code::Finished => Ok(()),
            filled => filled,
        })
    }

    /// Takes each token of a draft that is allowed, calls `after` there, and goes back in the end.
    fn pass_through(
        &mut self,
        tree: &DraftTree,
        tokens: &[TokenId],
        mut after: impl FnMut(&mut Self, usize) -> Result<(), Error>,
    ) -> Result<Vec<bool>, Error> {
        if tokens.len() != tree.len() {
            return Err(Error::draft_length(tokens.len(), tree.len()));
        }
        let len = self.constraint().vocabulary().len();
        if let Some((node, &token)) = tokens.iter().enumerate().find(|(_, token)| token.index() >= len) {
            return Err(Error::draft_node(node, Error::unknown_token(token, len)));
        }
        let start = self.steps();
        let mut allowed = vec![false; tokens.len()];
        let mut result = Ok(());
        for &Visit { node, depth } in &tree.order {
            let taken = self.steps() - start;
            if taken < depth {
                // Some node above was refused.
                continue;
            }
            self.rollback(taken - depth)?;
            if self.advance(tokens[node]).is_ok() {
                allowed[node] = true;
                result = after(self, node).map_err(|error| Error::draft_node(node, error));
                if result.is_err() {
                    break;
                }
            }
        }
        self.rollback(self.steps() - start)?;
        result.map(|()| allowed)
    }
}
