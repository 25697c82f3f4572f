//! The steps that a sequence took, so that they can be taken back; forks share the older ones.

use std::sync::Arc;

/// So many steps are kept together. A fork copies at most as many.
const BLOCK: usize = 32;

/// A stack of values that is cheap to clone however many there are: all but the last few are shared with the clones.
#[derive(Clone, Debug)]
pub(crate) struct History<T> {
    shared: Option<Arc<Block<T>>>,
    /// How many values `shared` and the blocks below it have.
    below: usize,
    last: Vec<T>,
}

/// [`BLOCK`] values, and those before them.
#[derive(Debug)]
struct Block<T> {
    below: Option<Arc<Block<T>>>,
    values: Vec<T>,
}

impl<T: Copy> History<T> {
    pub(crate) fn new() -> Self {
        Self { shared: None, below: 0, last: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.below + self.last.len()
    }

    pub(crate) fn push(&mut self, value: T) {
        if self.last.len() == BLOCK {
            let values = std::mem::take(&mut self.last);
            self.shared = Some(Arc::new(Block { below: self.shared.take(), values }));
            self.below += BLOCK;
        }
        self.last.push(value);
    }

    /// Keeps the first `len` values, and gives the first of those taken away; `None` where there are no more than `len`.
    pub(crate) fn truncate(&mut self, len: usize) -> Option<T> {
        while len < self.below {
            let mut block = self.shared.take()?;
            self.below -= BLOCK;
            // Nobody else's: its values need not be copied.
            if let Some(own) = Arc::get_mut(&mut block) {
                self.shared = own.below.take();
                self.last = std::mem::take(&mut own.values);
            } else {
                self.shared.clone_from(&block.below);
                self.last.clone_from(&block.values);
            }
        }
        let left = len - self.below;
        let first = self.last.get(left).copied();
        self.last.truncate(left);
        first
    }

    /// Bytes held on the heap by these values alone, those shared with clones included.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.len() * size_of::<T>() + self.below / BLOCK * size_of::<Block<T>>()
    }
}

impl<T> Drop for Block<T> {
    /// One block after another: a long list would else be as deep a recursion.
    fn drop(&mut self) {
        let mut next = self.below.take();
        while let Some(mut block) = next.and_then(Arc::into_inner) {
            next = block.below.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Clones go on independently, each as a plain list would.
        #[test]
        fn behaves_like_a_list(acts in proptest::collection::vec((0_usize..3, 0_usize..100, 0_usize..1000), 0..60)) {
            let mut all: Vec<(History<usize>, Vec<usize>)> = vec![(History::new(), Vec::new())];
            for (act, size, value) in acts {
                let place = size % all.len();
                let (history, list) = &mut all[place];
                match act {
                    0 => {
                        for n in 0..size {
                            history.push(value + n);
                            list.push(value + n);
                        }
                    }
                    1 => {
                        let left = list.len().saturating_sub(size);
                        prop_assert_eq!(history.truncate(left), list.get(left).copied());
                        list.truncate(left);
                    }
                    _ => {
                        let clone = (history.clone(), list.clone());
                        all.push(clone);
                    }
                }
            }
            for (mut history, mut list) in all {
                prop_assert_eq!(history.len(), list.len());
                while let Some(last) = list.pop() {
                    prop_assert_eq!(history.truncate(list.len()), Some(last));
                }
                prop_assert_eq!(history.truncate(0), None);
            }
        }
    }

    #[test]
    fn a_long_list_is_dropped_without_recursion() {
        let mut history = History::new();
        for n in 0..BLOCK * 200_000 {
            history.push(n);
        }
        drop(history);
    }
}
