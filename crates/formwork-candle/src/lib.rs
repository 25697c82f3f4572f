//! Implements the decoder's model trait on CPU and CUDA; one file per model family.
//!
//! A model is one GGUF file: its weights, its tokenizer and its chat template. [`LoadedModel`] opens all of it,
//! [`ModelFile`] only looks, [`Llama`] computes. [`Source`] reads a model's name as people write it, and [`ModelCache`]
//! holds the files that were fetched, the default model among them.
//!
//! ```no_run
//! use formwork_candle::{Device, LoadedModel, Message, ModelCache, Source};
//!
//! let cache = ModelCache::from_env()?;
//! let path = Source::Default.locate(&cache, &mut |progress| eprintln!("{progress:?}"))?;
//! let mut loaded = LoadedModel::open(path, Device::Cpu)?;
//! let prompt = loaded.render_chat(&[Message::user("Name a river.")], true)?;
//! let logits = loaded.model.forward(&prompt.ids)?;
//! # Ok::<(), formwork_candle::Error>(())
//! ```
//!
//! Not for training, not for many sequences at once, not for architectures other than llama.

#![forbid(unsafe_code)]

mod chat;
mod convert;
mod decoder_model;
mod device;
mod digest;
mod error;
mod gguf;
mod llama;
mod loaded_model;
mod model_cache;
mod model_file;
mod prompt;
mod pull;
mod source;
mod tensors;
mod threads;
mod tokenizer;

pub use chat::{ChatTemplate, Message, Piece};
pub use device::Device;
pub use error::{Error, Result};
pub use llama::Llama;
pub use loaded_model::LoadedModel;
pub use model_cache::ModelCache;
pub use model_file::ModelFile;
pub use prompt::{Prompt, PromptWarning};
pub use pull::Progress;
pub use source::Source;
pub use threads::thread_settings;
pub use tokenizer::{SUPPORTED_PRE_TOKENIZERS, Tokenizer};
