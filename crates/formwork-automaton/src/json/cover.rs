//! What `unevaluatedProperties` and `unevaluatedItems` see: which members and items an alternative's keywords have evaluated.

use formwork_grammar::Keywords;

use super::JsonAutomaton;
use super::array::{ArrayAtom, ArrayGroup, join};
use super::form::{Form, FormId};
use super::object::{ObjectAtom, ObjectGroup};
use super::typed::{Typed, dedup};
use crate::lang::Lang;

/// The members that an alternative's keywords evaluate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ObjectCover {
    /// Text ids of declared keys.
    pub(super) names: Box<[u32]>,
    pub(super) patterns: Box<[Lang]>,
    /// All of them.
    pub(super) all: bool,
}

/// The items that an alternative's keywords evaluate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ArrayCover {
    /// So many from the start.
    pub(super) prefix: u32,
    /// All of them.
    pub(super) all: bool,
    /// Those that satisfy one of these.
    pub(super) matching: Box<[FormId]>,
}

impl JsonAutomaton {
    pub(super) fn join_object_covers(&self, a: Option<u32>, b: Option<u32>) -> Option<u32> {
        let (Some(x), Some(y)) = (a, b) else { return a.or(b) };
        let (x, y) = (self.object_covers.get(x), self.object_covers.get(y));
        Some(self.object_covers.intern(ObjectCover {
            names: join(&x.names, &y.names),
            patterns: join(&x.patterns, &y.patterns),
            all: x.all || y.all,
        }))
    }

    pub(super) fn join_array_covers(&self, a: Option<u32>, b: Option<u32>) -> Option<u32> {
        let (Some(x), Some(y)) = (a, b) else { return a.or(b) };
        let (x, y) = (self.array_covers.get(x), self.array_covers.get(y));
        Some(self.array_covers.intern(ArrayCover {
            prefix: x.prefix.max(y.prefix),
            all: x.all || y.all,
            matching: join(&x.matching, &y.matching),
        }))
    }

    fn object_cover(&self, atom: &ObjectAtom) -> ObjectCover {
        atom.cover.map_or_else(ObjectCover::default, |id| self.object_covers.get(id).clone())
    }

    fn array_cover(&self, atom: &ArrayAtom) -> ArrayCover {
        atom.cover.map_or_else(ArrayCover::default, |id| self.array_covers.get(id).clone())
    }

    /// Whether some alternative has evaluated something.
    pub(super) fn covers_something(&self, typed: &Typed) -> bool {
        typed.objects.iter().any(|a| self.object_cover(self.object_atoms.get(*a)) != ObjectCover::default())
            || typed.arrays.iter().any(|a| self.array_cover(self.array_atoms.get(*a)) != ArrayCover::default())
    }

    /// `unevaluatedProperties` and `unevaluatedItems`: what holds for what each alternative has not evaluated.
    pub(super) fn refuse_unevaluated(&self, typed: &mut Typed, keywords: &Keywords) {
        if let Some(node) = keywords.object.unevaluated {
            let additional = self.node_form(node);
            let objects = std::mem::take(&mut typed.objects);
            for atom in objects {
                let mut atom = self.object_atoms.get(atom).clone();
                let cover = self.object_cover(&atom);
                if !cover.all {
                    let anything = self.form(Form::True);
                    let group = ObjectGroup {
                        properties: cover.names.iter().map(|name| (*name, anything)).collect(),
                        patterns: cover.patterns.iter().map(|lang| (*lang, anything)).collect(),
                        additional,
                    };
                    atom.groups = join(&atom.groups, &self.object_group(group));
                }
                atom.cover = Some(self.object_covers.intern(ObjectCover { all: true, ..ObjectCover::default() }));
                self.keep_object(atom, &mut typed.objects);
            }
        }
        if let Some(node) = keywords.array.unevaluated {
            let rest = self.node_form(node);
            let arrays = std::mem::take(&mut typed.arrays);
            for atom in arrays {
                let mut atom = self.array_atoms.get(atom).clone();
                let cover = self.array_cover(&atom);
                if !cover.all {
                    let anything = self.form(Form::True);
                    let group = ArrayGroup {
                        prefix: (0..cover.prefix).map(|_| anything).collect(),
                        rest: self.any_of(cover.matching.iter().copied().chain([rest])),
                    };
                    atom.groups = join(&atom.groups, &self.array_group(group));
                }
                atom.cover = Some(self.array_covers.intern(ArrayCover { all: true, ..ArrayCover::default() }));
                self.keep_array(atom, &mut typed.arrays);
            }
        }
    }

    /// Leaves out what nobody asks for any more, so that equal alternatives are one.
    pub(super) fn forget_covers(&self, typed: &mut Typed) {
        for atom in &mut typed.objects {
            *atom = self.object_atoms.intern(ObjectAtom { cover: None, ..self.object_atoms.get(*atom).clone() });
        }
        for atom in &mut typed.arrays {
            *atom = self.array_atoms.intern(ArrayAtom { cover: None, ..self.array_atoms.get(*atom).clone() });
        }
        dedup(&mut typed.objects);
        dedup(&mut typed.arrays);
    }
}
