//! Which of JSON's own bytes the vocabulary can spell, and what an array or object can have at most without the others.

use super::JsonAutomaton;
use super::space::{Gap, blanks};

impl JsonAutomaton {
    /// Whether the vocabulary has all bytes of a text.
    pub(super) fn spells(&self, text: &str) -> bool {
        text.bytes().all(|byte| self.alphabet.contains(byte))
    }

    /// Whether the blanks that must stand in a gap can be spelled. They are the same bytes at every depth.
    fn spells_gap(&self, gap: Gap) -> bool {
        blanks(self.options.whitespace, gap, 0).spelled_with(&self.alphabet)
    }

    /// Whether a member or an item can follow another one.
    pub(super) fn spells_joint(&self) -> bool {
        self.spells(",") && self.spells_gap(Gap::Comma)
    }

    /// The most items of an array; `None` where no array can be spelled.
    pub(super) fn most_items_spelled(&self) -> Option<u32> {
        self.spells("[]").then(|| self.most_inside(self.spells_gap(Gap::Open)))
    }

    /// The most members of an object; `None` where no object can be spelled.
    pub(super) fn most_members_spelled(&self) -> Option<u32> {
        let first = self.spells("\":") && self.spells_gap(Gap::Open) && self.spells_gap(Gap::Colon);
        self.spells("{}").then(|| self.most_inside(first))
    }

    fn most_inside(&self, first: bool) -> u32 {
        match (first, self.spells_joint()) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => u32::MAX,
        }
    }
}
