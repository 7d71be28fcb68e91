//! The key/value cache: what each block keeps of earlier tokens, so that they need not go through it again.

use burn::tensor::{Tensor, TensorData};
use mlsys_sim::formats::Format;
use mlsys_sim::quantizer::{Granularity, Matrix, Quantized, Scheme};

use mlsys_device::workers;

/// Bits of a cached number.
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

/// The numbers of bits that there are.
pub(super) const BITS: [(i64, Bits); 4] =
    [(32, Bits::Full), (16, Bits::Half), (8, Bits::Eight), (4, Bits::Four)];

impl Bits {
    /// Bits of a number.
    pub(super) fn count(self) -> u64 {
        match self {
            Self::Full => 32,
            Self::Half => 16,
            Self::Eight => 8,
            Self::Four => 4,
        }
    }

    /// Bytes of the scale that the numbers of one head of one token share.
    pub(super) fn bytes_of_scale(self) -> u64 {
        match self {
            Self::Full | Self::Half => 0,
            Self::Eight | Self::Four => 4,
        }
    }

    /// The numbers that come back of some, `head` of which share a scale.
    fn round(self, numbers: Vec<f32>, head: usize) -> Vec<f32> {
        match self {
            Self::Full => numbers,
            Self::Half => numbers.into_iter().map(|x| Format::Fp16.round(x)).collect(),
            Self::Eight | Self::Four => {
                let rows = Matrix::by_outputs(head, numbers.len() / head.max(1));
                let bits = self.count() as u32;
                let scheme = Scheme::SymmetricRestricted;
                Quantized::linear(&numbers, rows, bits, scheme, Granularity::Channel).back
            }
        }
    }

    /// The same of a tensor `[batch, kv_heads, time, head]`.
    ///
    /// # Errors
    /// If the device does not give the numbers.
    pub(super) fn rounded(self, x: Tensor<4>) -> Result<Tensor<4>, String> {
        match self {
            Self::Full => Ok(x),
            Self::Half | Self::Eight | Self::Four => {
                let (shape, device) = (x.dims(), x.device());
                let [.., head] = shape;
                let numbers = self.round(workers::read(x)?, head);
                Ok(Tensor::from_data(TensorData::new(numbers, shape), &device))
            }
        }
    }
}

/// Keys and values of the tokens from one position on up to another.
pub(super) struct Cache {
    bits: Bits,
    /// Of each block, `[batch, kv_heads, tokens, head]` both; absent before the first token.
    blocks: Vec<Option<[Tensor<4>; 2]>>,
    /// The position of the first token that is kept.
    first: usize,
}

impl Cache {
    /// An empty one for so many blocks.
    pub(super) fn new(bits: Bits, blocks: usize) -> Self {
        Self { bits, blocks: vec![None; blocks], first: 0 }
    }

    /// Bits of a number.
    pub(super) fn bits(&self) -> Bits {
        self.bits
    }

    /// The position of the first token that is kept.
    pub(super) fn first(&self) -> usize {
        self.first
    }

    /// Tokens that are kept.
    pub(super) fn tokens(&self) -> usize {
        let first = self.blocks.first().and_then(Option::as_ref);
        first.map_or(0, |[keys, _]| keys.dims()[2])
    }

    /// Keeps the keys and values of more tokens for a block; all that it keeps, with them.
    ///
    /// # Errors
    /// If the device does not give the numbers that are to be rounded.
    pub(super) fn keep(
        &mut self,
        block: usize,
        new: [Tensor<4>; 2],
    ) -> Result<[Tensor<4>; 2], String> {
        let [keys, values] = new;
        let new = [self.bits.rounded(keys)?, self.bits.rounded(values)?];
        let Some(place) = self.blocks.get_mut(block) else {
            return Ok(new);
        };
        let all = match place.take() {
            None => new,
            Some([keys, values]) => {
                let [more_keys, more_values] = new;
                [Tensor::cat(vec![keys, more_keys], 2), Tensor::cat(vec![values, more_values], 2)]
            }
        };
        *place = Some(all.clone());
        Ok(all)
    }

    /// Leaves the tokens at positions below `end`.
    pub(super) fn cut(&mut self, end: usize) {
        self.slice(0, end.saturating_sub(self.first));
    }

    /// Lets go of the tokens at positions below `first`.
    pub(super) fn let_go(&mut self, first: usize) {
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
        workers::read(x.clone()).unwrap()
    }

    #[test]
    fn what_is_kept_is_cut_behind_and_let_go_in_front() {
        let mut cache = Cache::new(Bits::Full, 1);
        let all = tokens(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        cache.keep(0, [all.clone(), all]).unwrap();
        cache.cut(2);
        assert_eq!((cache.first(), cache.tokens()), (0, 2));
        cache.let_go(1);
        assert_eq!((cache.first(), cache.tokens()), (1, 1));
        let more = tokens(&[8.0, 9.0]);
        let [keys, _] = cache.keep(0, [more.clone(), more]).unwrap();
        assert_eq!(numbers(&keys), [2.0, 3.0, 8.0, 9.0]);
        // Nothing left, and a first token again at its place.
        cache.let_go(9);
        assert_eq!((cache.first(), cache.tokens()), (3, 0));
    }

    #[test]
    fn few_bits_round_each_head_of_each_token_by_a_scale_of_its_own() {
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
