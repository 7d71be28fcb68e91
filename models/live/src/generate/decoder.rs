//! A transformer that reads sequences piece by piece, with a cache or without.

use burn::tensor::{Device, Int, Tensor, TensorData};
use mlsys_distributed::transport::CommError;
use mlsys_nn::flat_params;
use mlsys_nn::networks::{TokenPositions, Transformer, TransformerConfig};
use mlsys_sim::formats::Format;
use mlsys_sim::quantizer::{Granularity, Matrix, Quantized, Scheme};

/// Attention weights of one token by block, head and position, and the first of those positions.
pub(super) type AttentionWeights = (Vec<Vec<Vec<f32>>>, usize);

pub(super) struct Decoder {
    network: Transformer,
    config: TransformerConfig,
    device: Device,
    /// Tokens that one looks back at, itself included.
    window: Option<usize>,
    cache: Option<Cache>,
    rows: Vec<Vec<i32>>,
    /// Attention of the last pass by block, `[batch, heads, time, seen]`, and the position of the first token seen.
    weights: (Vec<Tensor<4>>, usize),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PassCost {
    /// Scores of the last places, the sequences one after the other: of each, each place's scores.
    pub(super) scores: Vec<Vec<Vec<f32>>>,
    pub(super) positions: u64,
    /// Operations of its matrix products, all sequences together.
    pub(super) flops: u64,
    /// Bytes that must come from memory or go there at least: weights once, and keys and values that are cached.
    pub(super) bytes: u64,
}

impl Decoder {
    /// A transformer that has read nothing, and caches in these bits if any; it lies on `device`, without autodiff.
    pub(super) fn new(
        network: Transformer,
        config: TransformerConfig,
        device: &Device,
        cached: Option<Bits>,
        window: Option<usize>,
    ) -> Self {
        Self {
            cache: cached.map(|bits| Cache::new(bits, config.depth)),
            network,
            config,
            device: device.clone(),
            window,
            rows: Vec::new(),
            weights: (Vec::new(), 0),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    /// Reads on: as many tokens in each sequence. The last `scored` of them are scored.
    pub(super) fn read(&mut self, new: &[Vec<i32>], scored: usize) -> Result<PassCost, CommError> {
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
        let first = self.cache.as_ref().map_or(0, |cache| cache.first);
        let tokens: Vec<i32> = self.rows.iter().flat_map(|row| row[begin..].to_vec()).collect();
        let tokens = TensorData::new(tokens, [batch, end - begin]);
        let tokens = Tensor::<2, Int>::from_data(tokens, &self.device);
        let positions = TokenPositions {
            new: vec![(begin..end).collect()],
            seen: vec![(first..end).map(Some).collect()],
            window: self.window,
        };
        // Otherwise the attention weights of the last pass and of this one would be held at once.
        self.weights = (Vec::new(), 0);
        let (cache, mut failed) = (&mut self.cache, None);
        let found = self.network.extend(tokens, &positions, scored, |block, keys, values| {
            let Some(cache) = cache else { return (keys, values) };
            let kept = cache.keep(block, [keys.clone(), values.clone()]).map_err(|error| {
                failed = Some(error);
            });
            kept.unwrap_or([keys, values]).into()
        });
        if let Some(error) = failed {
            return Err(error);
        }
        self.weights = (found.attention, first);
        let vocab = self.config.vocab;
        let scores = flat_params::numbers(found.logits, batch * scored * vocab)?;
        let places = scores.chunks(vocab).map(<[f32]>::to_vec).collect::<Vec<_>>();
        let (new, seen) = (end - begin, end - first);
        Ok(PassCost {
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
            tokens * bytes_of_token(&self.config, cache.bits)
        });
        4 * weights + cached
    }

    pub(super) fn truncate(&mut self, len: usize) {
        for row in &mut self.rows {
            row.truncate(len);
        }
        if let Some(cache) = &mut self.cache {
            cache.truncate(len);
        }
    }

    /// Evicts keys and values that no token from the next on looks at.
    pub(super) fn evict_before_next(&mut self) {
        self.evict(self.len() + 1);
    }

    /// Evicts keys and values that the last token does not look at.
    pub(super) fn evict_before_last(&mut self) {
        self.evict(self.len());
    }

    /// Leaves as many tokens before `end` as the window holds.
    fn evict(&mut self, end: usize) {
        if let (Some(cache), Some(window)) = (&mut self.cache, self.window) {
            cache.evict(end.saturating_sub(window));
        }
    }

    /// Positions of the tokens that are kept, from the first to behind the last; nothing without a cache.
    pub(super) fn kept(&self) -> Option<std::ops::Range<usize>> {
        let cache = self.cache.as_ref()?;
        Some(cache.first..cache.first + cache.tokens())
    }

    /// Bytes of keys and values of all sequences, and of the scales that they share.
    pub(super) fn cache_bytes(&self) -> [u64; 2] {
        let Some(cache) = &self.cache else { return [0; 2] };
        let tokens = (self.rows.len() * cache.tokens()) as u64;
        let [numbers, scales] = bytes_by_kind(&self.config, cache.bits);
        [tokens * numbers, tokens * scales]
    }

    /// Attention weights of the first sequence's token `back` before the last one read.
    pub(super) fn attention(&self, back: usize) -> Result<AttentionWeights, CommError> {
        let (blocks, first) = &self.weights;
        let weights = blocks.iter().map(|own| {
            let [_, heads, time, seen] = own.dims();
            let at = (time - 1).saturating_sub(back);
            let own = own.clone().slice([0..1, 0..heads, at..at + 1, 0..seen]);
            let numbers = flat_params::numbers(own, heads * seen)?;
            // Those behind it were only there to be judged.
            let shown = seen - (time - 1 - at);
            let heads = numbers.chunks(seen).map(|head| head[..shown].to_vec());
            Ok(heads.collect())
        });
        Ok((weights.collect::<Result<_, CommError>>()?, *first))
    }
}

/// Bytes of one token's keys and values, and of their scales.
fn bytes_by_kind(config: &TransformerConfig, bits: Bits) -> [u64; 2] {
    let heads = (2 * config.depth * config.kv_heads) as u64;
    // Numbers of a head are packed up to whole bytes, and share a scale.
    let head = (config.head() as u64 * bits.count()).div_ceil(8);
    let scale = if bits.count() < 16 { 4 } else { 0 };
    [heads * head, heads * scale]
}

pub(super) fn bytes_of_token(config: &TransformerConfig, bits: Bits) -> u64 {
    bytes_by_kind(config, bits).iter().sum()
}

// The key/value cache: what each block keeps of earlier tokens, so that they need not go through it again.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bits {
    /// 32, as it was computed.
    Full,
    /// 16, as fp16.
    Half,
    /// 8, a whole number with a scale a head and token.
    Eight,
    /// 4, the same.
    Four,
}

impl Bits {
    pub(super) fn count(self) -> u64 {
        match self {
            Self::Full => 32,
            Self::Half => 16,
            Self::Eight => 8,
            Self::Four => 4,
        }
    }

    /// The numbers `[batch, kv_heads, time, head]` that come back; those of a head of a token share a scale.
    pub(super) fn rounded(self, x: Tensor<4>) -> Result<Tensor<4>, CommError> {
        if self == Self::Full {
            return Ok(x);
        }
        let (shape, device) = (x.dims(), x.device());
        let numbers = flat_params::numbers(x, shape.iter().product())?;
        let back = match self {
            Self::Full | Self::Half => numbers.into_iter().map(|x| Format::Fp16.round(x)).collect(),
            Self::Eight | Self::Four => {
                let rows = Matrix::by_outputs(shape[3], numbers.len() / shape[3].max(1));
                let (bits, scheme) = (self.count() as u32, Scheme::SymmetricRestricted);
                Quantized::linear(&numbers, rows, bits, scheme, Granularity::Channel).back
            }
        };
        Ok(Tensor::from_data(TensorData::new(back, shape), &device))
    }
}

/// Keys and values, `[batch, kv_heads, tokens, head]` both.
pub(super) type KeyValues = [Tensor<4>; 2];

/// Those of more and more tokens as one.
pub(super) fn joined(mut pieces: Vec<KeyValues>) -> KeyValues {
    if pieces.len() == 1
        && let Some(only) = pieces.pop()
    {
        return only;
    }
    let (keys, values): (Vec<_>, Vec<_>) = pieces.into_iter().map(<(_, _)>::from).unzip();
    [Tensor::cat(keys, 2), Tensor::cat(values, 2)]
}

/// Keys and values of the tokens from one position on up to another.
pub(super) struct Cache {
    bits: Bits,
    /// Of each block; absent before the first token.
    blocks: Vec<Option<KeyValues>>,
    /// The position of the first token that is kept.
    first: usize,
}

impl Cache {
    pub(super) fn new(bits: Bits, blocks: usize) -> Self {
        Self { bits, blocks: vec![None; blocks], first: 0 }
    }

    pub(super) fn tokens(&self) -> usize {
        self.blocks.first().and_then(Option::as_ref).map_or(0, |[keys, _]| keys.dims()[2])
    }

    /// Keeps the keys and values of more tokens for a block; all that it keeps, with them.
    pub(super) fn keep(
        &mut self,
        block: usize,
        [keys, values]: KeyValues,
    ) -> Result<KeyValues, CommError> {
        let new = [self.bits.rounded(keys)?, self.bits.rounded(values)?];
        let Some(place) = self.blocks.get_mut(block) else { return Ok(new) };
        let all = joined(place.take().into_iter().chain([new]).collect());
        *place = Some(all.clone());
        Ok(all)
    }

    pub(super) fn truncate(&mut self, end: usize) {
        self.slice(0, end.saturating_sub(self.first));
    }

    pub(super) fn evict(&mut self, first: usize) {
        let gone = first.saturating_sub(self.first).min(self.tokens());
        self.slice(gone, self.tokens());
        self.first += gone;
    }

    fn slice(&mut self, begin: usize, end: usize) {
        if begin == 0 && end >= self.tokens() {
            return;
        }
        for place in &mut self.blocks {
            *place = place.take().filter(|_| begin < end).map(|kept| {
                kept.map(|x| {
                    let [batch, heads, _, head] = x.dims();
                    x.slice([0..batch, 0..heads, begin..end, 0..head])
                })
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    fn tokens(numbers: &[f32]) -> Tensor<4> {
        let data = TensorData::new(numbers.to_vec(), [1, 1, numbers.len() / 2, 2]);
        Tensor::from_data(data, &Device::flex())
    }

    fn numbers(x: &Tensor<4>) -> Vec<f32> {
        x.clone().into_data().iter::<f32>().collect()
    }

    #[test]
    fn cache_scales_are_per_head_and_token() {
        let x = tokens(&[0.55, 1.0, 127.0, 3.3]);
        assert_eq!(numbers(&Bits::Full.rounded(x.clone()).unwrap()), [0.55, 1.0, 127.0, 3.3]);
        let half = numbers(&Bits::Half.rounded(x.clone()).unwrap());
        assert_eq!(half, [Format::Fp16.round(0.55), 1.0, 127.0, Format::Fp16.round(3.3)]);
        let eight = numbers(&Bits::Eight.rounded(x.clone()).unwrap());
        // Steps of 1/127 and of 1.
        let close = |a: f32, b: f32| (a - b).abs() < 1e-5;
        assert!(close(eight[0], 70.0 / 127.0) && close(eight[1], 1.0), "{eight:?}");
        assert!(close(eight[2], 127.0) && close(eight[3], 3.0), "{eight:?}");
        let four = numbers(&Bits::Four.rounded(x).unwrap());
        // Steps of 1/7 and of 127/7.
        assert!(close(four[0], 4.0 / 7.0) && close(four[3], 0.0), "{four:?}");
    }
}
