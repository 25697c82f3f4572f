//! Text to tokens and back, for tokenizers described by a GGUF file or a `tokenizer.json`.
//!
//! Text is only ever text here: `<|im_end|>` in a person's message becomes the tokens that spell it, never the control
//! token of that name. Control tokens come from a chat template's own words ([`Piece::Control`]) or by their id.

mod bpe;
mod pre_tokenizer;
mod sentencepiece;
mod tables;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use formwork_automaton::TokenId;

use crate::chat::Piece;
use crate::digest;
use crate::error::{Error, Result};
use crate::gguf::Metadata;

pub use self::pre_tokenizer::SUPPORTED_PRE_TOKENIZERS;
pub(crate) use self::tables::{BYTE, CONTROL, UNKNOWN, UNUSED, USER_DEFINED, read_tables};

/// Turns text into tokens and back.
///
/// ```no_run
/// let tokenizer = formwork_candle::Tokenizer::from_tokenizer_json("tokenizer.json")?;
/// let ids = tokenizer.encode("{\"name\": ")?;
/// assert_eq!(tokenizer.decode(&ids)?, "{\"name\": ");
/// # Ok::<(), formwork_candle::Error>(())
/// ```
pub struct Tokenizer {
    encoder: tokenizers::Tokenizer,
    /// Control tokens by their text; the encoder never makes them.
    control_ids: HashMap<String, TokenId>,
    /// The same, by id.
    control_texts: HashMap<TokenId, String>,
    /// The token that opens every prompt, where the model wants one.
    bos: Option<TokenId>,
    vocab_size: usize,
    sha256: String,
}

impl Tokenizer {
    /// Reads a Hugging Face `tokenizer.json`.
    ///
    /// # Errors
    ///
    /// There is no such file, or it describes no tokenizer.
    pub fn from_tokenizer_json(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|e| Error::io("reading", path, e))?;
        let mut encoder = tokenizers::Tokenizer::from_bytes(&bytes)
            .map_err(|e| Error::tokenizer(format!("{}: {e}", path.display())))?;
        encoder.set_encode_special_tokens(true);
        let mut controls: Vec<(String, TokenId)> = encoder
            .get_added_tokens_decoder()
            .into_iter()
            .filter(|(_, token)| token.special)
            .map(|(id, token)| (token.content, TokenId::new(id)))
            .collect();
        controls.sort_by_key(|&(_, id)| id);
        let bos = first_added(&encoder, &controls);
        let vocab_size = encoder.get_vocab_size(true);
        let text = String::from_utf8_lossy(&bytes);
        Ok(Self {
            encoder,
            control_texts: controls.iter().map(|(t, id)| (*id, t.clone())).collect(),
            control_ids: controls.into_iter().collect(),
            bos,
            vocab_size,
            sha256: digest::texts_sha256([&*text]),
        })
    }

    pub(crate) fn from_metadata(metadata: &Metadata) -> Result<Self> {
        let tokens = read_tables(metadata, Vec::new())?;
        let (encoder, bos_by_default) = match &*tokens.model {
            "gpt2" => bpe::build(metadata, &tokens)?,
            "llama" => (sentencepiece::build(metadata, &tokens)?, true),
            other => {
                return Err(Error::tokenizer(format!(
                    "its kind \"{other}\" is not supported, \"gpt2\" (byte-level BPE) and \"llama\" (SentencePiece) are"
                )));
            }
        };
        let add_bos = metadata.flag("tokenizer.ggml.add_bos_token").unwrap_or(bos_by_default);
        let bos =
            metadata.token_id("tokenizer.ggml.bos_token_id").filter(|id| add_bos && id.index() < tokens.tokens.len());
        let mut control_ids = HashMap::new();
        let mut control_texts = HashMap::new();
        for (id, (text, kind)) in (0_u32..).zip(tokens.tokens.iter().zip(&tokens.token_types)) {
            let id = TokenId::new(id);
            if is_control(*kind) && !text.is_empty() {
                control_ids.entry(text.clone()).or_insert(id);
                control_texts.insert(id, text.clone());
            }
        }
        let settings = [&*tokens.model, metadata.text("tokenizer.ggml.pre").unwrap_or_default()];
        let merges = metadata.texts("tokenizer.ggml.merges").unwrap_or(&[]);
        let sha256 = digest::texts_sha256(
            settings
                .into_iter()
                .chain(tokens.tokens.iter().map(String::as_str))
                .chain(merges.iter().map(String::as_str)),
        );
        Ok(Self { encoder, control_ids, control_texts, bos, vocab_size: tokens.tokens.len(), sha256 })
    }

    /// Number of tokens, control tokens included.
    pub fn vocab_size(&self) -> usize {
        self.vocab_size
    }

    /// The SHA-256, in hexadecimal, of what defines the tokenizer: the file `tokenizer.json`, or a GGUF file's tokens,
    /// merges and kinds.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The id of the control token with this text.
    pub fn control_id(&self, text: &str) -> Option<TokenId> {
        self.control_ids.get(text).copied()
    }

    /// The texts of all control tokens, in no order.
    pub(crate) fn control_tokens(&self) -> impl Iterator<Item = &str> {
        self.control_ids.keys().map(String::as_str)
    }

    /// The tokens of a text, and nothing else: no opening token, no control tokens.
    ///
    /// # Errors
    ///
    /// The tokenizer fails on this text, as some do on characters outside their vocabulary.
    pub fn encode(&self, text: &str) -> Result<Vec<TokenId>> {
        let encoding = self.encoder.encode_fast(text, false).map_err(|e| Error::tokenizer(e.to_string()))?;
        Ok(encoding.get_ids().iter().copied().map(TokenId::new).collect())
    }

    /// The tokens of a prompt: the opening token where the model wants one and the prompt has none, then each piece.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    pub fn encode_prompt(&self, pieces: &[Piece]) -> Result<Vec<TokenId>> {
        let mut ids = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => ids.extend(self.encode(text)?),
                Piece::Control(text) => match self.control_id(text) {
                    Some(id) => ids.push(id),
                    None => ids.extend(self.encode(text)?),
                },
            }
        }
        if let Some(bos) = self.bos
            && ids.first() != Some(&bos)
        {
            ids.insert(0, bos);
        }
        Ok(ids)
    }

    /// The text of tokens; control tokens have none, and bytes that are no UTF-8 become U+FFFD.
    ///
    /// # Errors
    ///
    /// The tokenizer can't decode at all.
    pub fn decode(&self, ids: &[TokenId]) -> Result<String> {
        let spoken: Vec<u32> =
            ids.iter().filter(|id| !self.control_texts.contains_key(id)).map(|id| id.get()).collect();
        self.encoder.decode(&spoken, true).map_err(|e| Error::tokenizer(e.to_string()))
    }
}

/// Whether text can never make a token of this kind.
fn is_control(kind: i32) -> bool {
    matches!(kind, CONTROL | UNUSED | UNKNOWN)
}

/// The token that a `tokenizer.json`'s post-processor puts before every text.
fn first_added(encoder: &tokenizers::Tokenizer, controls: &[(String, TokenId)]) -> Option<TokenId> {
    let encoding = encoder.encode_fast("a", true).ok()?;
    let first = TokenId::new(*encoding.get_ids().first()?);
    controls.iter().any(|&(_, id)| id == first).then_some(first)
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokenizer")
            .field("vocab_size", &self.vocab_size)
            .field("control_tokens", &self.control_ids.len())
            .field("bos", &self.bos)
            .finish_non_exhaustive()
    }
}
