//! A transformer that reads sequences piece by piece, with a cache or without.

use burn::tensor::{Device, Int, Tensor, TensorData};

use super::cache::{Bits, Cache};
use mlsys_distributed::transport::CommError;
use mlsys_nn::flat_params;
use mlsys_nn::nets::{Standing, Transformer, TransformerConfig};

/// What earlier tokens leave behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caching {
    /// Their keys and values, in so many bits.
    Kept(Bits),
    /// Nothing: they go through the model again for each new token.
    Nothing,
}

/// By block and head how much a token looked at each, and the position of the first it looked at.
pub(super) type Looks = (Vec<Vec<Vec<f32>>>, usize);

/// A transformer that reads sequences of one length piece by piece.
pub(super) struct Decoder {
    network: Transformer,
    config: TransformerConfig,
    device: Device,
    /// Tokens that one looks back at, itself included.
    window: Option<usize>,
    cache: Option<Cache>,
    /// What has been read, a row a sequence.
    rows: Vec<Vec<i32>>,
    /// How much each token of the last pass looked at each that was there, by block, `[batch, heads, time, seen]`, and the
    /// position of the first that was there.
    looked: (Vec<Tensor<4>>, usize),
}

/// What one pass did.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pass {
    /// Scores of the last places, the sequences one after the other: of each, each place's scores.
    pub(super) scores: Vec<Vec<Vec<f32>>>,
    /// Tokens of a sequence that went through the model.
    pub(super) positions: u64,
    /// Operations of its matrix products, all sequences together.
    pub(super) flops: u64,
    /// Bytes that must come from memory or go there at least: weights once, and keys and values that are cached.
    pub(super) bytes: u64,
}

impl Decoder {
    /// A transformer that has read nothing. `device` is one without autodiff, where the network lies.
    pub(super) fn new(
        network: Transformer,
        config: TransformerConfig,
        device: &Device,
        caching: Caching,
        window: Option<usize>,
    ) -> Self {
        let cache = match caching {
            Caching::Kept(bits) => Some(Cache::new(bits, config.depth)),
            Caching::Nothing => None,
        };
        Self {
            network,
            config,
            device: device.clone(),
            window,
            cache,
            rows: Vec::new(),
            looked: (Vec::new(), 0),
        }
    }

    /// Tokens of a sequence that have been read.
    pub(super) fn len(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    /// Reads on: as many tokens in each sequence. The last `scored` of them are scored.
    ///
    /// # Errors
    /// If the device gives back something else than numbers.
    pub(super) fn read(&mut self, new: &[Vec<i32>], scored: usize) -> Result<Pass, CommError> {
        let before = self.len();
        if self.rows.is_empty() {
            self.rows = vec![Vec::new(); new.len()];
        }
        for (row, new) in self.rows.iter_mut().zip(new) {
            row.extend(new);
        }
        let (batch, end) = (self.rows.len(), self.len());
        // With a cache only what is new goes through the model.
        let begin = self.cache.as_ref().map_or(0, |_| before);
        let first = self.cache.as_ref().map_or(0, Cache::first);
        let tokens: Vec<i32> = self.rows.iter().flat_map(|row| row[begin..].to_vec()).collect();
        let tokens = TensorData::new(tokens, [batch, end - begin]);
        let tokens = Tensor::<2, Int>::from_data(tokens, &self.device);
        let standing = Standing {
            new: vec![(begin..end).collect()],
            seen: vec![(first..end).map(Some).collect()],
            window: self.window,
        };
        // What the last pass looked at would otherwise be held beside what this one does.
        self.looked = (Vec::new(), 0);
        let (cache, mut failed) = (&mut self.cache, None);
        let found = self.network.extend(tokens, &standing, scored, |block, keys, values| {
            let Some(cache) = cache else {
                return (keys, values);
            };
            match cache.keep(block, [keys.clone(), values.clone()]) {
                Ok([keys, values]) => (keys, values),
                Err(error) => {
                    failed = Some(error);
                    (keys, values)
                }
            }
        });
        if let Some(error) = failed {
            return Err(CommError::Failed(error));
        }
        self.looked = (found.attention, first);
        let vocab = self.config.vocab;
        let scores = flat_params::numbers(found.logits, batch * scored * vocab)?;
        let places = scores.chunks(vocab).map(<[f32]>::to_vec).collect::<Vec<_>>();
        let (new, seen) = (end - begin, end - first);
        Ok(Pass {
            scores: places.chunks(scored.max(1)).map(<[Vec<f32>]>::to_vec).collect(),
            positions: new as u64,
            flops: batch as u64 * self.config.pass_flops([new, seen, scored]),
            bytes: self.bytes([batch, new, seen]),
        })
    }

    /// Bytes of a pass: the weights, the embedding's rows, and the cache read and written.
    fn bytes(&self, [batch, new, seen]: [usize; 3]) -> u64 {
        let weights = self.config.weights_of_a_pass() + (batch * new * self.config.width) as u64;
        let cached = self.cache.as_ref().map_or(0, |cache| {
            let tokens = (batch * (seen + new)) as u64;
            tokens * bytes_of_token(&self.config, cache.bits())
        });
        4 * weights + cached
    }

    /// Takes back tokens, so that `len` of each sequence are left.
    pub(super) fn cut(&mut self, len: usize) {
        for row in &mut self.rows {
            row.truncate(len);
        }
        if let Some(cache) = &mut self.cache {
            cache.cut(len);
        }
    }

    /// Lets go of keys and values that no token from the next on looks at.
    pub(super) fn settle(&mut self) {
        self.let_go(self.len() + 1);
    }

    /// Lets go of keys and values that the last token does not look at.
    pub(super) fn trim(&mut self) {
        self.let_go(self.len());
    }

    /// Leaves as many tokens before `end` as the window holds.
    fn let_go(&mut self, end: usize) {
        if let (Some(cache), Some(window)) = (&mut self.cache, self.window) {
            cache.let_go(end.saturating_sub(window));
        }
    }

    /// Positions of the tokens that are kept, from the first to behind the last; nothing without a cache.
    pub(super) fn kept(&self) -> Option<std::ops::Range<usize>> {
        let cache = self.cache.as_ref()?;
        Some(cache.first()..cache.first() + cache.tokens())
    }

    /// Bytes of keys and values of all sequences, and of the scales that they share.
    pub(super) fn cache_bytes(&self) -> [u64; 2] {
        let Some(cache) = &self.cache else {
            return [0; 2];
        };
        let tokens = (self.rows.len() * cache.tokens()) as u64;
        let [numbers, scales] = split(&self.config, cache.bits());
        [tokens * numbers, tokens * scales]
    }

    /// By block and head how much a token of the first sequence looked at each, and the position of the first one it could
    /// look at: the last of the last pass, or the one so many before it.
    ///
    /// # Errors
    /// If the device gives back something else than numbers.
    pub(super) fn looks(&self, back: usize) -> Result<Looks, CommError> {
        let (blocks, first) = &self.looked;
        let looks = blocks.iter().map(|weights| {
            let [_, heads, time, seen] = weights.dims();
            let at = (time - 1).saturating_sub(back);
            let own = weights.clone().slice([0..1, 0..heads, at..at + 1, 0..seen]);
            let numbers = flat_params::numbers(own, heads * seen)?;
            // Those behind it were only there to be judged.
            let shown = seen - (time - 1 - at);
            let heads = numbers.chunks(seen).map(|head| head[..shown].to_vec());
            Ok(heads.collect())
        });
        Ok((looks.collect::<Result<_, CommError>>()?, *first))
    }
}

/// Bytes of one token's keys and values, and of their scales.
fn split(config: &TransformerConfig, bits: Bits) -> [u64; 2] {
    let heads = (2 * config.depth * config.kv_heads) as u64;
    // Numbers of a head are packed up to whole bytes.
    let head = (config.head() as u64 * bits.count()).div_ceil(8);
    [heads * head, heads * bits.bytes_of_scale()]
}

/// Bytes of one token's keys and values with their scales.
pub(super) fn bytes_of_token(config: &TransformerConfig, bits: Bits) -> u64 {
    split(config, bits).iter().sum()
}
