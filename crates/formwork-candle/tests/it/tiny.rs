//! A tiny model with random weights, as a GGUF file: everything a real one has, in some hundred kilobytes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use formwork_automaton::TokenId;

pub(crate) const HIDDEN: usize = 64;
pub(crate) const HEADS: usize = 4;
pub(crate) const KV_HEADS: usize = 2;
pub(crate) const FEED_FORWARD: usize = 96;
pub(crate) const LAYERS: usize = 2;
pub(crate) const CONTEXT: usize = 700;

pub(crate) const CHAT: &str = "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/// What a file will hold; change it, then write it.
pub(crate) struct Tiny {
    pub(crate) metadata: BTreeMap<String, Value>,
    pub(crate) tensors: BTreeMap<String, (Vec<usize>, GgmlDType)>,
}

impl Tiny {
    /// A whole model whose matrices have this type.
    pub(crate) fn new(matrices: GgmlDType) -> Self {
        let mut tiny = Self { metadata: BTreeMap::new(), tensors: BTreeMap::new() };
        let tokens = tokens();
        let number = |n: usize| Value::U32(u32::try_from(n).unwrap());
        for (key, value) in [
            ("general.architecture", Value::String("llama".into())),
            ("general.name", Value::String("Tiny".into())),
            ("llama.block_count", number(LAYERS)),
            ("llama.context_length", number(CONTEXT)),
            ("llama.embedding_length", number(HIDDEN)),
            ("llama.feed_forward_length", number(FEED_FORWARD)),
            ("llama.attention.head_count", number(HEADS)),
            ("llama.attention.head_count_kv", number(KV_HEADS)),
            ("llama.rope.dimension_count", number(HIDDEN / HEADS)),
            ("llama.rope.freq_base", Value::F32(10_000.0)),
            ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
            ("tokenizer.ggml.model", Value::String("gpt2".into())),
            ("tokenizer.ggml.pre", Value::String("smollm".into())),
            ("tokenizer.ggml.tokens", texts(&tokens)),
            (
                "tokenizer.ggml.token_type",
                Value::Array(tokens.iter().map(|t| Value::I32(if t.starts_with("<|") { 3 } else { 1 })).collect()),
            ),
            ("tokenizer.ggml.merges", texts(&["h e", "l l", "Ġ t"])),
            ("tokenizer.ggml.eos_token_id", Value::U32(2)),
            ("tokenizer.chat_template", Value::String(CHAT.into())),
        ] {
            tiny.metadata.insert(key.into(), value);
        }
        let kv = HIDDEN / HEADS * KV_HEADS;
        tiny.matrix("token_embd", [tokens.len(), HIDDEN], matrices);
        tiny.norm("output_norm");
        for layer in 0..LAYERS {
            let name = |part: &str| format!("blk.{layer}.{part}");
            tiny.norm(&name("attn_norm"));
            tiny.norm(&name("ffn_norm"));
            tiny.matrix(&name("attn_q"), [HIDDEN, HIDDEN], matrices);
            tiny.matrix(&name("attn_k"), [kv, HIDDEN], matrices);
            tiny.matrix(&name("attn_v"), [kv, HIDDEN], matrices);
            tiny.matrix(&name("attn_output"), [HIDDEN, HIDDEN], matrices);
            tiny.matrix(&name("ffn_gate"), [FEED_FORWARD, HIDDEN], matrices);
            tiny.matrix(&name("ffn_up"), [FEED_FORWARD, HIDDEN], matrices);
            tiny.matrix(&name("ffn_down"), [HIDDEN, FEED_FORWARD], matrices);
        }
        tiny
    }

    pub(crate) fn set(mut self, key: &str, value: Value) -> Self {
        self.metadata.insert(key.into(), value);
        self
    }

    pub(crate) fn unset(mut self, key: &str) -> Self {
        self.metadata.remove(key);
        self
    }

    pub(crate) fn text(self, key: &str, value: &str) -> Self {
        self.set(key, Value::String(value.into()))
    }

    pub(crate) fn number(self, key: &str, value: u32) -> Self {
        self.set(key, Value::U32(value))
    }

    pub(crate) fn matrix(&mut self, name: &str, shape: [usize; 2], dtype: GgmlDType) {
        self.tensors.insert(format!("{name}.weight"), (shape.to_vec(), dtype));
    }

    fn norm(&mut self, name: &str) {
        self.tensors.insert(format!("{name}.weight"), (vec![HIDDEN], GgmlDType::F32));
    }

    /// Writes the file into a folder.
    pub(crate) fn write(&self, dir: &Path) -> PathBuf {
        let path = dir.join("tiny.gguf");
        let mut random = Random(7);
        let tensors: Vec<(&str, QTensor)> = self
            .tensors
            .iter()
            .map(|(name, (shape, dtype))| {
                let len = shape.iter().product();
                let is_norm = shape.len() == 1;
                let numbers: Vec<f32> =
                    (0..len).map(|_| if is_norm { 1.0 + random.next() / 4.0 } else { random.next() / 4.0 }).collect();
                let tensor = Tensor::from_vec(numbers, shape.as_slice(), &Device::Cpu).unwrap();
                (name.as_str(), QTensor::quantize(&tensor, *dtype).unwrap())
            })
            .collect();
        let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(n, t)| (*n, t)).collect();
        let metadata: Vec<(&str, &Value)> = self.metadata.iter().map(|(k, v)| (k.as_str(), v)).collect();
        let mut file = BufWriter::new(File::create(&path).unwrap());
        gguf_file::write(&mut file, &metadata, &tensors).unwrap();
        path
    }
}

pub(crate) fn texts<T: AsRef<str>>(texts: &[T]) -> Value {
    Value::Array(texts.iter().map(|t| Value::String(t.as_ref().into())).collect())
}

/// Token ids from numbers.
pub(crate) fn ids(numbers: &[u32]) -> Vec<TokenId> {
    numbers.iter().copied().map(TokenId::new).collect()
}

/// Three control tokens, the byte alphabet, three merges.
pub(crate) fn tokens() -> Vec<String> {
    let mut tokens: Vec<String> = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"].map(String::from).to_vec();
    tokens.extend(byte_alphabet());
    tokens.extend(["he", "ll", "Ġt"].map(String::from));
    tokens
}

/// The characters that stand for the 256 bytes in byte-level BPE.
pub(crate) fn byte_alphabet() -> Vec<String> {
    let mut next = 256;
    (0_u8..=255)
        .map(|byte| {
            let printable = matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
            let character = if printable {
                char::from(byte)
            } else {
                next += 1;
                char::from_u32(next - 1).unwrap()
            };
            character.to_string()
        })
        .collect()
}

/// Numbers between −1 and 1, the same in every run.
struct Random(u64);

impl Random {
    #[expect(clippy::cast_precision_loss, reason = "random numbers")]
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f32 / (1_u64 << 23) as f32) - 1.0
    }
}
