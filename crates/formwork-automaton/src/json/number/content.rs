//! What numbers' tables hold, by content.

use std::cmp::Ordering;

use formwork_grammar::{Bound, Decimal};

use super::atom::{NumberAtom, Room};
use super::multiple::Residue;
use super::track::{Against, Exponent, Mantissa, NumberTrack, Part};
use crate::fingerprint::Content;

impl NumberAtom {
    pub(in crate::json) fn describe(&self, content: &mut Content) {
        let Self { min, max, integer, written, watched, multiple, not_multiples, room, longest } = self;
        for bound in [min, max] {
            content.option(bound.as_ref(), |content, Bound { value, exclusive }| {
                decimal(value, content);
                content.flag(*exclusive);
            });
        }
        content.flag(*integer).flag(*written).flag(*watched);
        content.option(multiple.as_ref(), |content, multiple| decimal(multiple, content));
        content.list(not_multiples.len());
        for unit in not_multiples {
            decimal(unit, content);
        }
        content.option(*room, |content, Room { whole, fraction, exponent }| {
            content.word(u32::from(whole)).word(u32::from(fraction)).option(exponent, |content, exponent| {
                content.word(u32::from(exponent));
            });
        });
        content.option(*longest, |content, longest| {
            content.word(u32::from(longest));
        });
    }
}

impl NumberTrack {
    /// Describes how far the number is read; the atom is its owner's to describe.
    pub(in crate::json) fn describe(&self, content: &mut Content) {
        match &self.part {
            Part::Mantissa(Mantissa { negative, phase, read, significant, against, residues }) => {
                content
                    .word(0)
                    .flag(*negative)
                    .word(*phase as u32)
                    .word(u32::from(*read))
                    .word(u32::from(*significant));
                for against in against {
                    content.word(match against {
                        Against::Holds => 0,
                        Against::Open(Ordering::Less) => 1,
                        Against::Open(Ordering::Equal) => 2,
                        Against::Open(Ordering::Greater) => 3,
                    });
                }
                content.list(residues.len());
                for Residue { rest, zeros } in residues {
                    content.bytes(&rest.to_bytes_le()).word(u32::from(*zeros));
                }
            }
            Part::Exponent(Exponent { phase, low, high, value, read }) => {
                content.word(1).word(*phase as u32).word(u32::from(*read));
                for number in [low, high, value] {
                    content.bytes(&number.to_le_bytes());
                }
            }
        }
    }

    pub(in crate::json) fn atom(&self) -> u32 {
        self.atom
    }
}

fn decimal(value: &Decimal, content: &mut Content) {
    content.flag(value.is_negative()).bytes(value.digits()).bytes(&value.point().to_le_bytes());
}
