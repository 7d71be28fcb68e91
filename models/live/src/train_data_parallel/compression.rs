//! Gradient compression: what is sent instead of f32 numbers.

use mlsys_distributed::transport::Payload;
use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Compression {
    None,
    /// Every entry as a whole number of 127ths of the largest (quantisation to 8 bits).
    Int8,
    /// The sign of every entry, and their mean size (Seide et al. 2014; Karimireddy et al. 2019).
    Sign,
    /// The largest entries with their places (Stich et al. 2018).
    TopK,
}

impl Compression {
    /// Of the entries [`Self::TopK`] keeps a share.
    pub(super) fn bytes(self, entries: usize, share: f64) -> u64 {
        let bytes = match self {
            Self::None => 4 * entries,
            Self::Int8 => 4 + entries,
            Self::Sign => 4 + entries.div_ceil(8),
            Self::TopK => 8 * kept(entries, share),
        };
        bytes as u64
    }

    pub(super) fn pack(self, gradient: &[f32], share: f64) -> Payload {
        match self {
            Self::None => Payload::Floats(gradient.to_vec()),
            Self::Int8 => int8(gradient),
            Self::Sign => signs(gradient),
            Self::TopK => largest(gradient, kept(gradient.len(), share)),
        }
    }
}

/// Entries that a share comes to: at least one, if there is any.
fn kept(entries: usize, share: f64) -> usize {
    let kept = (share * entries as f64).round() as usize;
    kept.clamp(1.min(entries), entries)
}

fn int8(gradient: &[f32]) -> Payload {
    let largest = gradient.iter().fold(0.0, |most: f32, g| most.max(g.abs()));
    let step = largest / f32::from(i8::MAX);
    // A cast keeps within the limits, and takes what is no number for zero.
    let level = |g: &f32| {
        if step > 0.0 { (g / step).round() as i8 } else { 0 }
    };
    Payload::Levels { step, levels: gradient.iter().map(level).collect() }
}

fn signs(gradient: &[f32]) -> Payload {
    let sum: f64 = gradient.iter().map(|g| f64::from(g.abs())).sum();
    let mut bits = vec![0_u64; gradient.len().div_ceil(64)];
    for (index, g) in gradient.iter().enumerate() {
        bits[index / 64] |= u64::from(g.is_sign_negative()) << (index % 64);
    }
    let size = (sum / gradient.len().max(1) as f64) as f32;
    Payload::Signs { size, count: gradient.len(), bits }
}

/// The `kept` largest entries; of equal ones those that come first.
fn largest(gradient: &[f32], kept: usize) -> Payload {
    let mut places: Vec<u32> = (0_u32..).take(gradient.len()).collect();
    let size = |place: &u32| gradient[*place as usize].abs();
    if kept < places.len() {
        places.select_nth_unstable_by(kept, |a, b| size(b).total_cmp(&size(a)).then(a.cmp(b)));
        places.truncate(kept);
    }
    places.sort_unstable();
    let values = places.iter().map(|place| gradient[*place as usize]).collect();
    Payload::Entries { count: gradient.len(), values, places }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRADIENT: [f32; 5] = [0.5, -1.27, 0.0, 0.004, 1.0];

    fn read(compression: Compression) -> Vec<f32> {
        let mut sum = vec![0.0; GRADIENT.len()];
        assert!(compression.pack(&GRADIENT, 0.4).add_to(&mut sum));
        sum
    }

    #[test]
    fn each_way_keeps_what_it_promises() {
        assert_eq!(read(Compression::None), GRADIENT);
        assert_eq!(read(Compression::TopK), [0.0, -1.27, 0.0, 0.0, 1.0]);
        let close = |a: Vec<f32>, b: [f32; 5]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(close(read(Compression::Int8), [0.5, -1.27, 0.0, 0.0, 1.0]));
        let mean = 2.774 / 5.0;
        assert!(close(read(Compression::Sign), [mean, -mean, mean, mean, mean]));
    }

    #[test]
    fn zero_and_nan_gradients_are_packed() {
        let mut sum = vec![0.0; 2];
        assert!(Compression::Int8.pack(&[0.0, 0.0], 0.5).add_to(&mut sum));
        assert_eq!(sum, [0.0, 0.0]);
        let gone = Compression::TopK.pack(&[f32::NAN, 1.0], 0.5);
        assert_eq!(gone.bytes(), 8);
        assert_eq!(Compression::TopK.pack(&[], 0.5).bytes(), 0);
    }
}
