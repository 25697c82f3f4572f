//! A model file: opened, its header read and checked, and its facts at hand before any weight is loaded.

use std::fs::File;
use std::path::{Path, PathBuf};

use formwork_automaton::TokenId;
use formwork_mask::GgufTokens;

use crate::chat::ChatTemplate;
use crate::device::Device;
use crate::digest;
use crate::error::{Error, Result};
use crate::gguf::Header;
use crate::llama::Llama;
use crate::tokenizer::{CONTROL, Tokenizer, read_tables};

/// Tokens that end a turn or a text in some family, where the file names only one of them.
const END_TOKENS: [&str; 9] = [
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|end|>",
    "<|return|>",
    "<end_of_turn>",
    "<end_of_utterance>",
];

/// An open GGUF file, its header read and checked; the weights are still in the file.
///
/// ```no_run
/// use formwork_candle::{Device, ModelFile};
///
/// let file = ModelFile::open("model.gguf")?;
/// println!("{}: {} tokens of context", file.name(), file.context_len()?);
/// let mut model = file.load(Device::Cpu)?;
/// let prompt = file.tokenizer()?.encode("Once upon a time")?;
/// let logits = model.forward(&prompt)?;
/// # Ok::<(), formwork_candle::Error>(())
/// ```
#[derive(Debug)]
pub struct ModelFile {
    path: PathBuf,
    header: Header,
    file: File,
}

impl ModelFile {
    /// Opens a file and reads its header (some 30 ms for a vocabulary of 50,000).
    ///
    /// # Errors
    ///
    /// There is no such file, it is no GGUF file, it is truncated or damaged, or its architecture is not supported.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (header, file) = Header::open(path)?;
        let architecture = header.metadata.require_text("general.architecture")?;
        if architecture != "llama" {
            return Err(Error::architecture(path, architecture));
        }
        Ok(Self { path: path.to_owned(), header, file })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The model's name: the file's own word for it, else the file's name.
    pub fn name(&self) -> String {
        match self.header.metadata.text("general.name") {
            Some(name) => name.to_owned(),
            None => self.path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
        }
    }

    /// The architecture's name, `llama` for the whole family.
    pub fn architecture(&self) -> &str {
        self.header.metadata.text("general.architecture").unwrap_or_default()
    }

    /// Most tokens that a sequence can have.
    ///
    /// # Errors
    ///
    /// The file doesn't say.
    pub fn context_len(&self) -> Result<usize> {
        self.header.metadata.require_size("llama.context_length")
    }

    /// How most of the weights are stored, as file names spell it: `Q8_0`, `Q4_K`, `F16` …
    pub fn dtype(&self) -> &'static str {
        let mut bytes: Vec<(&'static str, u64)> = Vec::new();
        for tensor in &self.header.tensors {
            let name = tensor.tensor_type.name();
            match bytes.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += tensor.byte_len,
                None => bytes.push((name, tensor.byte_len)),
            }
        }
        bytes.into_iter().max_by_key(|&(_, sum)| sum).map_or("none", |(name, _)| name)
    }

    /// The ids of the tokens that end a text, the file's own choice first.
    pub fn eos_ids(&self) -> Vec<TokenId> {
        let metadata = &self.header.metadata;
        let mut ids = Vec::new();
        for key in ["eos", "eot", "eom"] {
            ids.extend(metadata.token_id(&format!("tokenizer.ggml.{key}_token_id")));
        }
        let tokens = metadata.texts("tokenizer.ggml.tokens").unwrap_or(&[]);
        let types = metadata.ints("tokenizer.ggml.token_type").unwrap_or(&[]);
        for (id, token) in (0_u32..).zip(tokens) {
            let is_control = types.get(id as usize).is_some_and(|&t| t == i64::from(CONTROL));
            if is_control && END_TOKENS.contains(&token.as_str()) {
                ids.push(TokenId::new(id));
            }
        }
        let mut seen = Vec::new();
        for id in ids {
            if id.index() < tokens.len() && !seen.contains(&id) {
                seen.push(id);
            }
        }
        seen
    }

    /// The tokens as the file lists them, for [`Vocabulary::from_gguf`](formwork_mask::Vocabulary::from_gguf).
    ///
    /// # Errors
    ///
    /// The file has no tokens, or not one type for each.
    pub fn gguf_tokens(&self) -> Result<GgufTokens> {
        read_tables(&self.header.metadata, self.eos_ids().iter().map(|id| id.get()).collect())
    }

    /// The tokenizer that the file describes.
    ///
    /// # Errors
    ///
    /// The file describes none, or one whose way of splitting text is not known here.
    pub fn tokenizer(&self) -> Result<Tokenizer> {
        Tokenizer::from_metadata(&self.header.metadata)
    }

    /// The template that turns messages into a prompt; `None` where the file has none.
    ///
    /// # Errors
    ///
    /// The template can't be parsed.
    pub fn chat_template(&self) -> Result<Option<ChatTemplate>> {
        let metadata = &self.header.metadata;
        let Some(source) = metadata.text("tokenizer.chat_template") else {
            return Ok(None);
        };
        let tokens = metadata.texts("tokenizer.ggml.tokens").unwrap_or(&[]);
        let token = |key: &str| {
            let id = metadata.token_id(&format!("tokenizer.ggml.{key}_token_id"))?;
            tokens.get(id.index()).cloned()
        };
        ChatTemplate::new(source, token("bos").unwrap_or_default(), token("eos").unwrap_or_default()).map(Some)
    }

    /// Loads the weights onto a device. On the CPU, weights in a type that it multiplies slowly become `Q8_0`.
    ///
    /// # Errors
    ///
    /// A tensor is missing or misshapen, the model computes something that is not supported, or the device fails.
    pub fn load(&self, device: Device) -> Result<Llama> {
        Llama::load(self, device)
    }

    /// The file's SHA-256 in hexadecimal: from the note beside it where it was pulled, else computed (0.1 to 0.5 s for
    /// each 100 MB).
    ///
    /// # Errors
    ///
    /// The file can't be read.
    pub fn sha256(&self) -> Result<String> {
        match crate::pull::noted_sha256(&self.path, self.header.file_len) {
            Some(sha256) => Ok(sha256),
            None => digest::file_sha256(&self.path, &mut |_| {}),
        }
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    pub(crate) fn handle(&self) -> &File {
        &self.file
    }
}
