//! The order in which the stages act: a list of names, where an inner list takes its stages from the same distribution.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A stage that `order` may name. The grammar is not among them: it always comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "&'static str")]
#[non_exhaustive]
pub enum StageName {
    /// Adds to logits; the user's bans act here too.
    LogitBias,
    /// Repetition, presence, frequency and n-gram penalties.
    Penalties,
    /// The penalty on repeated runs.
    Dry,
    /// Divides the logits.
    Temperature,
    /// Keeps the best few.
    TopK,
    /// Keeps the shortest best prefix of a given mass.
    TopP,
    /// Keeps what is not much less likely than the best.
    MinP,
    /// Keeps what is about as surprising as the distribution on average.
    TypicalP,
    /// Keeps what is a few deviations from the best logit.
    TopNSigma,
    /// Sometimes leaves out the most likely ones.
    Xtc,
}

impl StageName {
    /// Every stage.
    pub const ALL: [Self; 10] = [
        Self::LogitBias,
        Self::Penalties,
        Self::Dry,
        Self::Temperature,
        Self::TopK,
        Self::TopP,
        Self::MinP,
        Self::TypicalP,
        Self::TopNSigma,
        Self::Xtc,
    ];

    /// The name used in requests and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LogitBias => "logit_bias",
            Self::Penalties => "penalties",
            Self::Dry => "dry",
            Self::Temperature => "temperature",
            Self::TopK => "top_k",
            Self::TopP => "top_p",
            Self::MinP => "min_p",
            Self::TypicalP => "typical_p",
            Self::TopNSigma => "top_n_sigma",
            Self::Xtc => "xtc",
        }
    }

    /// Whether the stage leaves tokens out by their rank or probability, and so may stand in an inner list.
    pub const fn is_truncating(self) -> bool {
        match self {
            Self::LogitBias | Self::Penalties | Self::Dry | Self::Temperature => false,
            Self::TopK | Self::TopP | Self::MinP | Self::TypicalP | Self::TopNSigma | Self::Xtc => true,
        }
    }
}

impl fmt::Display for StageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for StageName {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|stage| stage.as_str() == name).ok_or_else(|| Error::unknown_stage(name))
    }
}

impl TryFrom<String> for StageName {
    type Error = Error;

    fn try_from(name: String) -> Result<Self, Error> {
        name.parse()
    }
}

impl From<StageName> for &'static str {
    fn from(stage: StageName) -> Self {
        stage.as_str()
    }
}

/// One entry of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum OrderEntry {
    /// A stage by itself.
    Stage(StageName),
    /// Stages that all see the same distribution; what every one of them keeps is kept.
    Together(Vec<StageName>),
}

impl From<StageName> for OrderEntry {
    fn from(stage: StageName) -> Self {
        Self::Stage(stage)
    }
}

/// As read: names are looked up after reading, so that the message can name the value.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawEntry {
    Stage(String),
    Together(Vec<String>),
}

impl<'de> Deserialize<'de> for OrderEntry {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entry = match RawEntry::deserialize(deserializer)? {
            RawEntry::Stage(name) => name.parse().map(Self::Stage),
            RawEntry::Together(names) => {
                names.iter().map(|name| name.parse()).collect::<Result<_, _>>().map(Self::Together)
            }
        };
        entry.map_err(serde::de::Error::custom)
    }
}

impl OrderEntry {
    /// The stages of the entry.
    pub fn stages(&self) -> &[StageName] {
        match self {
            Self::Stage(stage) => std::slice::from_ref(stage),
            Self::Together(stages) => stages,
        }
    }
}

/// The order that acts where none is given.
pub(crate) const DEFAULT: [StageName; 6] = [
    StageName::LogitBias,
    StageName::Penalties,
    StageName::Temperature,
    StageName::TopK,
    StageName::TopP,
    StageName::MinP,
];

/// Checks that no stage comes twice and that inner lists hold only stages that truncate.
pub(crate) fn check(order: &[OrderEntry]) -> Result<(), Error> {
    let mut seen = Vec::new();
    for entry in order {
        if let OrderEntry::Together(stages) = entry {
            if stages.is_empty() {
                return Err(Error::empty_inner_list());
            }
            if let Some(stage) = stages.iter().find(|stage| !stage.is_truncating()) {
                return Err(Error::not_truncating(*stage));
            }
        }
        for &stage in entry.stages() {
            if seen.contains(&stage) {
                return Err(Error::duplicate_stage(stage));
            }
            seen.push(stage);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_json(order: &str) -> Result<(), &'static str> {
        let order: Vec<OrderEntry> = serde_json::from_str(order).map_err(|_| "unreadable")?;
        check(&order).map_err(|err| err.code())
    }

    #[test]
    fn orders_are_checked() {
        assert_eq!(check_json(r#"["top_k", ["top_p", "min_p"]]"#), Ok(()));
        assert_eq!(check_json(r#"["top_k", ["top_p", "top_k"]]"#), Err("duplicate_stage"));
        assert_eq!(check_json(r#"[["top_p", "temperature"]]"#), Err("invalid_order"));
        assert_eq!(check_json("[[]]"), Err("invalid_order"));
        assert_eq!(check_json(r#"["topk"]"#), Err("unreadable"));
    }

    #[test]
    fn an_unknown_stage_is_named() {
        let err = serde_json::from_str::<OrderEntry>(r#""topk""#).unwrap_err();
        assert!(err.to_string().contains("unknown stage `topk`"), "{err}");
    }

    #[test]
    fn orders_are_written_as_they_are_read() {
        let text = r#"["temperature",["top_k","top_p"]]"#;
        let order: Vec<OrderEntry> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&order).unwrap(), text);
    }
}
