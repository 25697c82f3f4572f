//! How token ids, biases and logits stand in JSON: plain numbers, and `"-inf"` for −∞, which JSON has no number for.

use std::collections::BTreeMap;

use formwork_automaton::TokenId;
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::Value;

pub(crate) fn read_ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<TokenId>>, D::Error> {
    let ids = Option::<Vec<u32>>::deserialize(deserializer)?;
    Ok(ids.map(tokens))
}

pub(crate) fn read_id_list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<TokenId>, D::Error> {
    Vec::<u32>::deserialize(deserializer).map(tokens)
}

pub(crate) fn read_id_lists<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Vec<TokenId>>>, D::Error> {
    let lists = Option::<Vec<Vec<u32>>>::deserialize(deserializer)?;
    Ok(lists.map(|lists| lists.into_iter().map(tokens).collect()))
}

pub(crate) fn read_bias<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<TokenId, f64>>, D::Error> {
    let Some(raw) = Option::<BTreeMap<String, Value>>::deserialize(deserializer)? else {
        return Ok(None);
    };
    raw.iter()
        .map(|(id, value)| {
            let token =
                id.parse().map(TokenId::new).map_err(|_| D::Error::custom(format_args!("`{id}` is not a token id")))?;
            Ok((token, number(value)?))
        })
        .collect::<Result<_, _>>()
        .map(Some)
}

pub(crate) fn read_logits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f32>, D::Error> {
    let raw = Vec::<Value>::deserialize(deserializer)?;
    #[expect(clippy::cast_possible_truncation, reason = "logits are f32 everywhere; JSON's are rounded to that")]
    raw.iter().map(|value| number(value).map(|z: f64| z as f32)).collect()
}

/// A number, or one of the three that JSON has no number for.
fn number<E: serde::de::Error>(value: &Value) -> Result<f64, E> {
    let number = match value {
        Value::String(text) => match text.as_str() {
            "-inf" => Some(f64::NEG_INFINITY),
            "inf" => Some(f64::INFINITY),
            "nan" => Some(f64::NAN),
            _ => None,
        },
        value => value.as_f64(),
    };
    number.ok_or_else(|| E::custom(format_args!("{value} is neither a number nor \"-inf\"")))
}

fn tokens(ids: Vec<u32>) -> Vec<TokenId> {
    ids.into_iter().map(TokenId::new).collect()
}

pub(crate) fn write_ids<S: Serializer>(ids: &[TokenId], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(ids.iter().map(|id| id.get()))
}

#[expect(clippy::ref_option, reason = "serde hands the field as it is")]
pub(crate) fn write_optional_ids<S: Serializer>(ids: &Option<Vec<TokenId>>, serializer: S) -> Result<S::Ok, S::Error> {
    match ids {
        Some(ids) => write_ids(ids, serializer),
        None => serializer.serialize_none(),
    }
}

pub(crate) fn write_id_lists<S: Serializer>(lists: &[Vec<TokenId>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(lists.iter().map(|ids| ids.iter().map(|id| id.get()).collect::<Vec<_>>()))
}

pub(crate) fn write_bias<S: Serializer>(bias: &BTreeMap<TokenId, f64>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(bias.len()))?;
    for (id, value) in bias {
        if value.is_finite() {
            map.serialize_entry(&id.get(), value)?;
        } else {
            map.serialize_entry(&id.get(), "-inf")?;
        }
    }
    map.end()
}
