//! How much memory shared tables hold, roughly: what stands on the heap behind a value.

use std::sync::Arc;

use crate::char_class::CharClass;
use crate::lang::{ByteSet, Lang, LangLoop, LangState};

/// A value that knows how many bytes it holds on the heap, itself not counted.
pub(crate) trait Weigh {
    fn heap(&self) -> usize;
}

/// Values without anything on the heap, or with so little that their own size says enough.
macro_rules! weightless {
    ($($type:ty),* $(,)?) => { $(impl $crate::weigh::Weigh for $type { fn heap(&self) -> usize { 0 } })* };
}

/// Structures that hold what their fields hold.
macro_rules! weighed {
    ($($type:ty { $($field:ident),* })*) => {
        $(impl $crate::weigh::Weigh for $type {
            fn heap(&self) -> usize { 0 $(+ $crate::weigh::Weigh::heap(&self.$field))* }
        })*
    };
}

pub(crate) use {weighed, weightless};

weightless!(bool, u8, u16, u32, u64, usize, CharClass, ByteSet, Lang, LangLoop, LangState);

impl<T: Weigh> Weigh for [T] {
    fn heap(&self) -> usize {
        size_of_val(self) + self.iter().map(Weigh::heap).sum::<usize>()
    }
}

impl Weigh for str {
    fn heap(&self) -> usize {
        self.len()
    }
}

impl Weigh for String {
    fn heap(&self) -> usize {
        self.capacity()
    }
}

impl<T: Weigh + ?Sized> Weigh for Box<T> {
    fn heap(&self) -> usize {
        (**self).heap()
    }
}

impl<T: Weigh> Weigh for Arc<T> {
    fn heap(&self) -> usize {
        size_of::<T>() + (**self).heap()
    }
}

impl<T: Weigh> Weigh for Arc<[T]> {
    fn heap(&self) -> usize {
        (**self).heap()
    }
}

impl<T: Weigh> Weigh for Vec<T> {
    fn heap(&self) -> usize {
        self.as_slice().heap()
    }
}

impl<T: Weigh> Weigh for Option<T> {
    fn heap(&self) -> usize {
        self.as_ref().map_or(0, Weigh::heap)
    }
}

impl<A: Weigh, B: Weigh> Weigh for (A, B) {
    fn heap(&self) -> usize {
        self.0.heap() + self.1.heap()
    }
}

impl<A: Weigh, B: Weigh, C: Weigh> Weigh for (A, B, C) {
    fn heap(&self) -> usize {
        self.0.heap() + self.1.heap() + self.2.heap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_on_the_heap_is_counted_once() {
        let value: (u32, Option<Box<[u64]>>) = (1, Some(Box::new([0; 8])));
        assert_eq!(value.heap(), 64);
        let nested: Vec<Box<str>> = vec!["abc".into()];
        assert_eq!(nested.heap(), size_of::<Box<str>>() + 3);
        assert_eq!(Arc::new(7_u32).heap(), 4);
    }
}
