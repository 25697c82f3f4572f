//! What languages and their states are, by content: formulas with ids replaced by what they stand for.

use formwork_grammar::Regex;

use super::compile::Frame;
use super::formula::{Formula, FormulaId};
use super::literals::{Literals, Range};
use super::store::{Atom, Store};
use super::{LangState, Langs};
use crate::fingerprint::{Content, Fingerprint};
use crate::lang::Lang;

impl Langs {
    /// What a language is.
    pub(crate) fn lang_fingerprint(&self, lang: Lang) -> Fingerprint {
        self.store().fingerprint(lang.0)
    }

    /// What is left of a language in a state.
    pub(crate) fn state_fingerprint(&self, state: LangState) -> Fingerprint {
        let mut content = Content::of("language state");
        if let Some(state) = self.common.states.get(state.id()) {
            content.print(self.store().fingerprint(state.formula)).word(u32::from(state.utf8));
        }
        content.finish()
    }
}

impl Store {
    fn fingerprint(&mut self, formula: FormulaId) -> Fingerprint {
        if let Some(&known) = self.prints.get(&formula) {
            return known;
        }
        let print = match self.formulas.get(formula).clone() {
            Formula::No => Content::of("none").finish(),
            Formula::Yes => Content::of("any").finish(),
            Formula::Pattern { atom, threads, observers } => {
                let mut content = Content::of("pattern");
                content.print(self.atom_fingerprint(atom));
                // Nodes are numbered as the expression is read.
                content.list(threads.len());
                for thread in &threads {
                    content.long(thread.to_word());
                }
                content.list(observers.len());
                for observer in &observers {
                    content.print(self.fingerprint(*observer));
                }
                content.finish()
            }
            Formula::Literals { atom, range: Range { first, last, depth } } => {
                let mut content = Content::of("literals");
                content.print(self.atom_fingerprint(atom)).word(first).word(last).word(depth);
                content.finish()
            }
            Formula::And(parts) => self.operands_fingerprint("and", &parts),
            Formula::Or(parts) => self.operands_fingerprint("or", &parts),
            Formula::Not(inner) => self.operands_fingerprint("not", &[inner]),
        };
        self.prints.insert(formula, print);
        print
    }

    fn operands_fingerprint(&mut self, connective: &str, parts: &[FormulaId]) -> Fingerprint {
        let parts: Vec<Fingerprint> = parts.iter().map(|part| self.fingerprint(*part)).collect();
        let mut content = Content::of(connective);
        content.set(parts.into_iter());
        content.finish()
    }

    fn atom_fingerprint(&self, atom: u32) -> Fingerprint {
        match self.atoms.get(atom as usize) {
            Some(Atom::Pattern { source, print, .. }) => *print.get_or_init(|| of_pattern(&source.0, source.1)),
            Some(Atom::Literals { literals, print, .. }) => *print.get_or_init(|| of_literals(literals)),
            None => Content::of("no atom").finish(),
        }
    }
}

/// What a pattern in its frame is.
fn of_pattern(regex: &Regex, frame: Frame) -> Fingerprint {
    let mut content = Content::of("expression");
    content.word(match frame {
        Frame::Exact => 0,
        Frame::Anywhere => 1,
        Frame::Suffix => 2,
    });
    describe(regex, &mut content);
    content.finish()
}

/// What a finite set is.
fn of_literals(literals: &Literals) -> Fingerprint {
    let mut content = Content::of("texts");
    content.list(literals.len());
    for text in literals.iter() {
        content.bytes(text.as_bytes());
    }
    content.finish()
}

/// Compiling has refused what nests too deep to be described.
fn describe(regex: &Regex, content: &mut Content) {
    let all = |kind: u32, parts: &[Regex], content: &mut Content| {
        content.word(kind).list(parts.len());
        for part in parts {
            describe(part, content);
        }
    };
    match regex {
        Regex::Empty => {
            content.word(0);
        }
        Regex::Class(ranges) => {
            content.word(1).list(ranges.len());
            for (first, last) in ranges {
                content.word(u32::from(*first)).word(u32::from(*last));
            }
        }
        Regex::Concat(parts) => all(2, parts, content),
        Regex::Alternation(parts) => all(3, parts, content),
        Regex::Repeat { node, min, max } => {
            content.word(4).word(*min).option(*max, |content, max| {
                content.word(max);
            });
            describe(node, content);
        }
        Regex::Start => {
            content.word(5);
        }
        Regex::End => {
            content.word(6);
        }
        Regex::WordBoundary { negated } => {
            content.word(7).flag(*negated);
        }
        Regex::Look { behind, negated, node } => {
            content.word(8).flag(*behind).flag(*negated);
            describe(node, content);
        }
    }
}
