//! Files for other programs, read back by the format's own library.

use std::collections::HashMap;

use ::safetensors::{Dtype, SafeTensors};
use burn::module::Module;

use super::*;
use crate::networks::{Matrix, Plain, PlainBlock, Stir};

/// The same network, as another program would compute it: from names, shapes and conventions of a Llama model alone.
struct Theirs {
    bytes: Vec<u8>,
    sizes: HashMap<String, String>,
}

impl Theirs {
    fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let sizes = header.metadata().clone().unwrap();
        Self { bytes, sizes }
    }

    fn size(&self, name: &str) -> usize {
        self.sizes[name].parse().unwrap()
    }

    fn tensor(&self, name: &str) -> (Vec<usize>, Vec<f64>) {
        let file = SafeTensors::deserialize(&self.bytes).unwrap();
        let tensor = file.tensor(name).unwrap();
        assert_eq!(tensor.dtype(), Dtype::F32);
        let (numbers, rest) = tensor.data().as_chunks::<4>();
        assert!(rest.is_empty());
        let numbers = numbers.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes)));
        (tensor.shape().to_vec(), numbers.collect())
    }

    /// A matrix as the file has it.
    fn rows(&self, name: &str) -> Matrix {
        let (shape, numbers) = self.tensor(name);
        numbers.chunks(shape[1]).map(<[f64]>::to_vec).collect()
    }

    /// A `torch.nn.Linear`, which computes x Wᵀ, as the W of x W.
    fn linear(&self, name: &str) -> Matrix {
        let rows = self.rows(name);
        (0..rows[0].len()).map(|column| rows.iter().map(|row| row[column]).collect()).collect()
    }

    /// The plain decoder, whose rotary positions are those of Llama: q cos + rotate_half(q) sin, with
    /// rotate_half(x) = (-x[half..], x[..half]).
    fn decoder(&self) -> Plain {
        assert_eq!(self.sizes["rms_norm_eps"].parse(), Ok(1e-5));
        assert_eq!(self.sizes["rope_theta"].parse(), Ok(10_000.0));
        let norm = |name: String| self.tensor(&name).1;
        let block = |index: usize| {
            let layer = format!("model.layers.{index}");
            let part = |name: &str| self.linear(&format!("{layer}.{name}_proj.weight"));
            PlainBlock {
                attention_norm: norm(format!("{layer}.input_layernorm.weight")),
                query: part("self_attn.q"),
                key: part("self_attn.k"),
                value: part("self_attn.v"),
                output: part("self_attn.o"),
                heads: self.size("num_attention_heads"),
                kv_heads: self.size("num_key_value_heads"),
                mlp_norm: norm(format!("{layer}.post_attention_layernorm.weight")),
                gate: part("mlp.gate"),
                up: part("mlp.up"),
                down: part("mlp.down"),
            }
        };
        Plain {
            embedding: self.rows("model.embed_tokens.weight"),
            blocks: (0..self.size("num_hidden_layers")).map(block).collect(),
            norm: norm("model.norm.weight".to_owned()),
            head: self.linear("lm_head.weight"),
        }
    }
}

#[test]
fn exported_llama_matches_hugging_face_conventions() {
    let folder = TestFolder::new();
    for (heads, kv_heads) in [(4, 2), (4, 4), (2, 1)] {
        let (path, architecture) = (folder.path("a.safetensors"), llama(16, heads, kv_heads));
        let network = made(&architecture, 1).map(&mut Stir(0));
        save(&network, &architecture, &path).unwrap();
        let ours = answers(&network, &architecture);
        let theirs = Theirs::read(&path);
        let file = SafeTensors::deserialize(&theirs.bytes).unwrap();
        let numbers =
            file.tensors().iter().map(|(_, tensor)| tensor.data().len() / 4).sum::<usize>();
        assert_eq!((file.len(), numbers as u64), (3 + 2 * 9, architecture.parameters()));
        assert_eq!(theirs.tensor("model.layers.0.mlp.gate_proj.weight").0, [48, 16]);
        assert_eq!(theirs.tensor("lm_head.weight").0, [11, 16]);
        assert_eq!(theirs.sizes["architectures"], "LlamaForCausalLM");
        assert_eq!(theirs.sizes["intermediate_size"], "48");
        let theirs = theirs.decoder();
        let first = theirs.forward(&[3, 1, 4, 1, 5, 9, 2]).logits;
        let second = theirs.forward(&[6, 5, 3, 5, 10, 0, 7]).logits;
        let theirs = [first, second].concat().concat();
        let largest = theirs.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for (ours, theirs) in ours.iter::<f64>().zip(&theirs) {
            assert!((ours - theirs).abs() <= 1e-5 * largest, "{ours} {theirs}");
        }
    }
}

#[test]
fn other_networks_go_out_in_the_order_of_pytorch() {
    let folder = TestFolder::new();
    let path = folder.path("a.safetensors");
    let network = made(&mlp(&[5]), 1);
    save(&network, &mlp(&[5]), &path).unwrap();
    let Network::Mlp(inside) = &network else { panic!("another network") };
    let (shape, numbers) = Theirs::read(&path).tensor("layers.0.weight");
    assert_eq!(shape, [5, 3]);
    let weight: Vec<f64> = inside.layers[0].weight.val().into_data().iter().collect();
    for (index, number) in numbers.iter().enumerate() {
        let (output, input) = (index / 3, index % 3);
        assert_eq!(*number, weight[input * 5 + output]);
    }
    assert_eq!(Theirs::read(&path).tensor("layers.1.bias").0, [2]);
    save(&made(&cnn(), 1), &cnn(), &path).unwrap();
    assert_eq!(Theirs::read(&path).tensor("convolutions.1.weight").0, [2, 2, 3, 3]);
    assert_eq!(Theirs::read(&path).tensor("head.weight").0[0], 3);
}

#[test]
fn a_folder_holds_all_that_transformers_loads() {
    let (folder, architecture) = (TestFolder::new(), llama(16, 4, 2));
    let path = folder.path("llama/");
    let network = made(&architecture, 1);
    let about =
        Trained { data: DataConfig::new(Dataset::Text, 0), ..trained(&network, &architecture) };
    super::super::save(&about, &path).unwrap();
    let json = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&fs::read(path.join(name)).unwrap()).unwrap()
    };
    let config = json("config.json");
    assert_eq!(config["architectures"][0], "LlamaForCausalLM");
    assert_eq!((&config["hidden_size"], &config["rms_norm_eps"]), (&16.into(), &1e-5.into()));
    // Every character of the text is a token of its own, in the order that the network has learned.
    let data = about.data().unwrap();
    let vocabulary = data.language.unwrap().vocabulary;
    let tokens = json("tokenizer.json")["model"]["vocab"].clone();
    assert_eq!(tokens.as_object().unwrap().len(), vocabulary.len());
    for (token, name) in vocabulary.names().iter().enumerate() {
        assert_eq!(tokens[name], token);
    }
    let loaded = load(made(&architecture, 2), &architecture, &path).unwrap();
    assert_eq!(answers(&loaded, &architecture), answers(&network, &architecture));
    let refused = save(&made(&mlp(&[5]), 1), &mlp(&[5]), &folder.path("mlp/"));
    assert!(refused.unwrap_err().to_string().contains("only a transformer"));
}
