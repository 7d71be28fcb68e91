//! Huffman codes for the entries of [`Format::Offsets`](super::Format), the third stage of Deep Compression (Han et al. 2016):
//! frequent values and frequent distances take fewer bits than rare ones.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::pruning::Widths;

/// Bits of a code length in the table from which a reader rebuilds a canonical code: up to 63, which takes more entries than
/// any network here has weights.
const LENGTH_BITS: u64 = 6;

/// The lengths of an optimal prefix code for symbols that occur this often; 0 for those that do not occur.
pub fn code_lengths(counts: &[u64]) -> Vec<u32> {
    let mut lengths = vec![0; counts.len()];
    let present = || counts.iter().enumerate().filter(|(_, count)| **count > 0);
    // Trees by weight, the older of equal ones first, with the symbols of their leaves.
    let mut trees: BinaryHeap<_> =
        present().map(|(symbol, count)| Reverse((*count, symbol, vec![symbol]))).collect();
    if let [Reverse((_, only, _))] = trees.as_slice() {
        lengths[*only] = 1;
    }
    let mut next = counts.len();
    while trees.len() > 1 {
        let (Some(Reverse(one)), Some(Reverse(other))) = (trees.pop(), trees.pop()) else { break };
        let leaves = [one.2, other.2].concat();
        for leaf in &leaves {
            lengths[*leaf] += 1;
        }
        trees.push(Reverse((one.0 + other.0, next, leaves)));
        next += 1;
    }
    lengths
}

/// How often each value and each distance is written, over all layers of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frequencies {
    values: Vec<u64>,
    offsets: Vec<u64>,
}

/// Bits of Huffman-coded entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodedSize {
    pub bits: u64,
    /// Mean length of a value and of a distance.
    pub mean_bits: [f64; 2],
}

impl Frequencies {
    pub fn new(widths: Widths) -> Self {
        let symbols = |bits: u32| vec![0; 1 << bits.min(16)];
        Self { values: symbols(widths.value), offsets: symbols(widths.offset) }
    }

    /// Counts the entries of a layer; the lowest bits of a code are its symbol.
    pub fn add_layer(&mut self, codes: &[i32], kept: &[bool]) {
        let [last_value, last_offset] = [self.values.len() - 1, self.offsets.len() - 1];
        let mut zeros = 0_usize;
        for (code, stays) in codes.iter().zip(kept) {
            if !stays {
                zeros += 1;
                continue;
            }
            // A longer gap has entries between with the value 0, each of which is itself one of the zeros.
            let fillers = (zeros / (last_offset + 1)) as u64;
            self.offsets[last_offset] += fillers;
            self.values[0] += fillers;
            self.offsets[zeros % (last_offset + 1)] += 1;
            self.values[*code as usize & last_value] += 1;
            zeros = 0;
        }
    }

    /// The entries with both tables of code lengths.
    pub fn coded(&self) -> CodedSize {
        let all = [&self.values, &self.offsets];
        let written = all.map(|counts| {
            let lengths = code_lengths(counts);
            counts.iter().zip(lengths).map(|(count, length)| count * u64::from(length)).sum::<u64>()
        });
        let tables: u64 = all.map(|counts| counts.len() as u64 * LENGTH_BITS).iter().sum();
        let entries = self.offsets.iter().sum::<u64>().max(1) as f64;
        CodedSize {
            bits: written.iter().sum::<u64>() + tables,
            mean_bits: written.map(|bits| bits as f64 / entries),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pruning::storage::{Format, entries};
    use mlsys_lab::random;

    fn entropy(counts: &[u64]) -> f64 {
        let all = counts.iter().sum::<u64>() as f64;
        let share = counts.iter().filter(|count| **count > 0).map(|count| *count as f64 / all);
        -share.map(|p| p * p.log2()).sum::<f64>()
    }

    #[test]
    fn lengths_of_known_codes() {
        // Cormen et al., section 16.3: a to f.
        assert_eq!(code_lengths(&[45, 13, 12, 16, 9, 5]), [1, 3, 3, 3, 4, 4]);
        assert_eq!(code_lengths(&[0, 7, 0]), [0, 1, 0]);
        assert_eq!(code_lengths(&[]), Vec::<u32>::new());
    }

    #[test]
    fn a_code_is_a_full_tree_within_a_bit_of_the_entropy() {
        for seed in 0..200 {
            let len = 2 + (random::bits(seed, 0) % 60) as usize;
            let counts: Vec<u64> =
                (0..len).map(|at| random::bits(seed ^ 9, at as u64) % (1 << (at % 20))).collect();
            let present = counts.iter().filter(|count| **count > 0).count();
            if present < 2 {
                continue;
            }
            let lengths = code_lengths(&counts);
            let kraft: f64 =
                lengths.iter().filter(|length| **length > 0).map(|l| 0.5_f64.powi(*l as i32)).sum();
            assert_eq!(kraft, 1.0, "seed {seed}");
            let all = counts.iter().sum::<u64>() as f64;
            let bits: f64 =
                counts.iter().zip(&lengths).map(|(n, l)| *n as f64 * f64::from(*l)).sum();
            let (mean, least) = (bits / all, entropy(&counts));
            assert!((least - 1e-9..least + 1.0).contains(&mean), "seed {seed}: {mean} {least}");
        }
    }

    #[test]
    fn entries_are_those_of_the_offset_format() {
        let widths = Widths { value: 4, offset: 2 };
        let kept: Vec<bool> = (0..500).map(|at| random::unit(3, at) < 0.15).collect();
        let codes: Vec<i32> = (0..500).map(|at| (random::bits(4, at) % 15) as i32 - 7).collect();
        let mut counted = Frequencies::new(widths);
        counted.add_layer(&codes, &kept);
        let written = entries(&kept, widths.offset);
        assert_eq!(
            [&counted.values, &counted.offsets].map(|counts| counts.iter().sum::<u64>()),
            [written; 2]
        );
        // Codes of equal length are among the prefix codes: with its tables aside, an optimal code takes no more.
        let tables = (16 + 4) * LENGTH_BITS;
        assert!(counted.coded().bits - tables <= Format::Offsets.bits(&kept, widths));
    }
}
