//! A model ready to use: weights, tokenizer and chat template of one file.

use std::path::Path;

use crate::chat::{ChatTemplate, Message, Piece};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::llama::Llama;
use crate::model_file::ModelFile;
use crate::prompt::{Prompt, PromptWarning};
use crate::tokenizer::Tokenizer;

/// A model ready to use.
///
/// ```no_run
/// use formwork_candle::{Device, LoadedModel, Message};
///
/// let mut loaded = LoadedModel::open("model.gguf", Device::Cpu)?;
/// let prompt = loaded.render_chat(&[Message::user("Name a river.")], true)?;
/// let logits = loaded.model.forward(&prompt.ids)?;
/// # Ok::<(), formwork_candle::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct LoadedModel {
    /// The file: name, context, tokens that end a text.
    pub file: ModelFile,
    /// The tokenizer that the file describes.
    pub tokenizer: Tokenizer,
    /// The model; clone it for another sequence.
    pub model: Llama,
    template: Option<ChatTemplate>,
}

impl LoadedModel {
    /// Opens a GGUF file and loads all of it.
    ///
    /// # Errors
    ///
    /// See [`ModelFile::open`], [`ModelFile::tokenizer`], [`ModelFile::chat_template`] and [`ModelFile::load`]; or the
    /// file lists more tokens than the model has logits for.
    pub fn open(path: impl AsRef<Path>, device: Device) -> Result<Self> {
        let file = ModelFile::open(path)?;
        // The cheap parts first: what is wrong there is said before the weights are read.
        let tokenizer = file.tokenizer()?;
        let template = file.chat_template()?;
        let model = file.load(device)?;
        if tokenizer.vocab_size() > model.vocab_size() {
            return Err(Error::tokenizer(format!(
                "it has {} tokens, and the model logits for {}",
                tokenizer.vocab_size(),
                model.vocab_size()
            )));
        }
        Ok(Self { file, tokenizer, model, template })
    }

    /// Writes a chat down as the model knows it; with `open_reply` the prompt ends where the reply begins. A model
    /// without a template gets the messages' texts, joined by blank lines, and the prompt carries a warning.
    ///
    /// # Errors
    ///
    /// There is nothing to write down, the template fails or refuses these messages, or the text can't be encoded.
    pub fn render_chat(&self, messages: &[Message], open_reply: bool) -> Result<Prompt> {
        if messages.iter().all(|m| m.content.trim().is_empty()) {
            return Err(Error::empty_prompt());
        }
        if let Some(template) = &self.template {
            let pieces = template.render(messages, open_reply, self.tokenizer.control_tokens())?;
            return self.prompt(pieces, None);
        }
        let texts: Vec<&str> = messages.iter().map(|m| &*m.content).collect();
        let pieces = vec![Piece::Text(texts.join("\n\n"))];
        self.prompt(pieces, Some(PromptWarning::NoChatTemplate))
    }

    /// Takes a text as it is, for the model to go on from.
    ///
    /// # Errors
    ///
    /// The text is empty, or can't be encoded.
    pub fn plain_prompt(&self, text: impl Into<String>) -> Result<Prompt> {
        let text = text.into();
        if text.is_empty() {
            return Err(Error::empty_prompt());
        }
        self.prompt(vec![Piece::Text(text)], None)
    }

    fn prompt(&self, pieces: Vec<Piece>, warning: Option<PromptWarning>) -> Result<Prompt> {
        let ids = self.tokenizer.encode_prompt(&pieces)?;
        if ids.is_empty() {
            return Err(Error::empty_prompt());
        }
        if ids.len() > self.model.context_len() {
            return Err(Error::context_full(0, ids.len(), self.model.context_len()));
        }
        Ok(Prompt { pieces, ids, warning })
    }
}
