//! What a mask engine is to the benchmarks.

use std::path::Path;

use formwork_mask::Vocabulary;
use serde_json::Value;

use crate::error::Error;

mod formwork;
mod llguidance;

pub(crate) use self::formwork::options as formwork_options;

/// One independent instance of an engine, with caches of its own.
pub(crate) trait Engine {
    /// Compiles a schema; an error is a refusal, with its reason.
    fn compile<'a>(&'a self, schema: &Value) -> Result<Box<dyn Compiled + 'a>, String>;
}

/// A compiled schema.
pub(crate) trait Compiled {
    /// A sequence at its start.
    fn sequence(&self) -> Result<Box<dyn Sequence + '_>, String>;
}

/// A sequence under a schema.
pub(crate) trait Sequence {
    /// The packed bits of the tokens that may come next.
    fn mask(&mut self) -> Result<&[u32], String>;

    /// Reads a token that the mask allows.
    fn advance(&mut self, token: u32) -> Result<(), String>;
}

/// The engines by name, and the language that each accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// Formwork, flexible whitespace.
    Formwork,
    /// Formwork, one space after `,` and `:`.
    FormworkSpaced,
    /// llguidance, flexible whitespace.
    Llguidance,
    /// llguidance, one space after `,` and `:`.
    LlguidanceSpaced,
}

impl Kind {
    /// The name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Formwork => "formwork",
            Self::FormworkSpaced => "formwork-spaced",
            Self::Llguidance => "llguidance",
            Self::LlguidanceSpaced => "llguidance-spaced",
        }
    }

    /// The texts that a schema allows to this engine.
    pub(crate) fn language(self) -> &'static str {
        match self {
            Self::Formwork => {
                "up to 8 blanks, tabs or newlines wherever JSON allows them; canonical escapes; known formats enforced; declared keys in the schema's order, others after them"
            }
            Self::FormworkSpaced => {
                "one space after `,` and `:`; canonical escapes; known formats enforced; declared keys in the schema's order, others after them"
            }
            Self::Llguidance => {
                "any run of blanks, tabs and newlines wherever JSON allows them; all escapes but printable \\uXXXX; known formats enforced; declared keys in the schema's order, others after them"
            }
            Self::LlguidanceSpaced => {
                "one space after `,` and `:`; all escapes but printable \\uXXXX; known formats enforced; declared keys in the schema's order, others after them"
            }
        }
    }

    /// Whether this is a peer, to which Formwork is compared.
    pub(crate) fn peer(self) -> Option<Self> {
        match self {
            Self::Formwork | Self::FormworkSpaced => None,
            Self::Llguidance => Some(Self::Formwork),
            Self::LlguidanceSpaced => Some(Self::FormworkSpaced),
        }
    }

    /// A new instance, sharing nothing with others.
    pub(crate) fn start(self, tokenizer: &Path) -> Result<Box<dyn Engine>, Error> {
        let vocabulary = Vocabulary::from_tokenizer_json(tokenizer)?;
        match self {
            Self::Llguidance | Self::LlguidanceSpaced => llguidance::start(&vocabulary, self == Self::LlguidanceSpaced),
            Self::Formwork | Self::FormworkSpaced => Ok(formwork::start(vocabulary, self == Self::FormworkSpaced)),
        }
    }
}
