//! Three storage formats of a sparse matrix: dense, a bit mask with the weights that are
//! left, or those that are left with the distance from the one before (Han et al. 2016).

use crate::pruning::mask;

mlsys_lab::named_enum! {
    /// How the weights of a layer are laid out, row-major over `[inputs, outputs]`; the plainest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format {
        Dense = "dense",
        /// One bit a weight says whether it is there; then those that are.
        Bitmap = "bitmap",
        /// Each weight that is there after the number of zeros before it. Where those are too many to be counted in an
        /// offset, zero-valued padding entries are inserted.
        Offsets = "offsets",
    }
}

/// Bits of the numbers that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widths {
    pub value: u32,
    pub offset: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    format: Format,
    widths: Widths,
    weights: usize,
    /// Entries in [`Format::Offsets`].
    entries: usize,
    /// What is written, each number from its lowest bit on.
    bits: Vec<bool>,
}

impl Format {
    /// The bits of a layer of which these weights are left, without scales and biases: `N b`, `N + kept b`, or
    /// `entries (b + offset bits)`.
    pub fn bits(self, kept: &[bool], widths: Widths) -> u64 {
        let (weights, value) = (kept.len() as u64, u64::from(widths.value));
        match self {
            Self::Dense => weights * value,
            Self::Bitmap => weights + mask::count(kept) as u64 * value,
            Self::Offsets => entries(kept, widths.offset) * (value + u64::from(widths.offset)),
        }
    }
}

/// Entries with `offset_bits`-bit offsets: one for each weight that is left, and one for every `2^offset_bits` zeros
/// in a row before it. Zeros at the end cost nothing.
pub fn entries(kept: &[bool], offset_bits: u32) -> u64 {
    let (mut zeros, mut entries) = (0_u64, 0);
    for stays in kept {
        if *stays {
            entries += 1 + zeros.checked_shr(offset_bits).unwrap_or(0);
            zeros = 0;
        } else {
            zeros += 1;
        }
    }
    entries
}

impl Stored {
    /// Writes the weights that are left as patterns of their lowest `widths.value` bits; the pattern 0 is zero.
    pub fn encode(format: Format, codes: &[u32], kept: &[bool], widths: Widths) -> Self {
        let mut stored = Self {
            format,
            widths,
            weights: codes.len().min(kept.len()),
            entries: 0,
            bits: Vec::new(),
        };
        let weights = codes.iter().copied().zip(kept.iter().copied());
        let there = weights.clone().filter(|(_, stays)| *stays);
        let bits = &mut stored.bits;
        match format {
            Format::Dense => {
                weights.for_each(|(code, stays)| {
                    push(bits, if stays { code } else { 0 }, widths.value)
                });
            }
            Format::Bitmap => {
                weights.for_each(|(_, stays)| push(bits, u32::from(stays), 1));
                there.for_each(|(code, _)| push(bits, code, widths.value));
            }
            Format::Offsets => {
                let most = low(u32::MAX, widths.offset);
                let mut zeros = 0_u64;
                for (code, stays) in weights {
                    if !stays {
                        zeros += 1;
                        continue;
                    }
                    // An entry between has the value 0, and is itself one of the zeros.
                    while zeros > u64::from(most) {
                        push(bits, most, widths.offset);
                        push(bits, 0, widths.value);
                        stored.entries += 1;
                        zeros -= u64::from(most) + 1;
                    }
                    push(bits, zeros as u32, widths.offset);
                    push(bits, code, widths.value);
                    stored.entries += 1;
                    zeros = 0;
                }
            }
        }
        stored
    }

    /// The patterns of all weights of the layer, 0 for those that were removed; none if what is written breaks off or
    /// names weights that the layer does not have.
    pub fn decode(&self) -> Option<Vec<u32>> {
        let Widths { value, offset } = self.widths;
        let mut rest = self.bits.as_slice();
        match self.format {
            Format::Dense => (0..self.weights).map(|_| read(&mut rest, value)).collect(),
            Format::Bitmap => {
                let there: Option<Vec<u32>> =
                    (0..self.weights).map(|_| read(&mut rest, 1)).collect();
                let weight = |there| {
                    if there == 1 { read(&mut rest, value) } else { Some(0) }
                };
                there?.into_iter().map(weight).collect()
            }
            Format::Offsets => {
                let mut codes = vec![0; self.weights];
                let mut next = 0_usize;
                for _ in 0..self.entries {
                    next = next.checked_add(read(&mut rest, offset)? as usize)?;
                    *codes.get_mut(next)? = read(&mut rest, value)?;
                    next += 1;
                }
                Some(codes)
            }
        }
    }

    pub fn bits(&self) -> u64 {
        self.bits.len() as u64
    }
}

/// The lowest bits of a pattern.
fn low(code: u32, bits: u32) -> u32 {
    match bits {
        0 => 0,
        1..32 => code & ((1 << bits) - 1),
        _ => code,
    }
}

fn push(written: &mut Vec<bool>, code: u32, bits: u32) {
    written.extend((0..bits.min(32)).map(|bit| code >> bit & 1 == 1));
}

/// The next number of that many bits; none beyond the end.
fn read(written: &mut &[bool], bits: u32) -> Option<u32> {
    let (number, rest) = written.split_at_checked(bits.min(32) as usize)?;
    *written = rest;
    Some(number.iter().rev().fold(0, |code, bit| code << 1 | u32::from(*bit)))
}

#[cfg(test)]
mod tests {
    use crate::pruning::storage::*;
    use mlsys_lab::random;

    const NONE: bool = false;
    const KEPT: bool = true;

    #[test]
    fn encoding_round_trips() {
        for seed in 0..300 {
            let draw = |at| random::bits(seed, at);
            let len = (draw(1) % 400) as usize;
            let widths =
                Widths { value: 1 + (draw(2) % 32) as u32, offset: 1 + (draw(3) % 9) as u32 };
            // From nothing kept to everything kept.
            let share = (draw(4) % 11) as f64 / 10.0;
            let kept: Vec<bool> =
                (0..len).map(|at| random::unit(seed ^ 77, at as u64) < share * share).collect();
            let codes: Vec<u32> = (0..len)
                .map(|at| low(random::bits(seed ^ 5, at as u64) as u32, widths.value))
                .collect();
            let left: Vec<u32> =
                codes.iter().zip(&kept).map(|(code, kept)| if *kept { *code } else { 0 }).collect();
            for format in Format::ALL {
                let stored = Stored::encode(format, &codes, &kept, widths);
                let said = format!("{format:?} {widths:?}, {len} weights, seed {seed}");
                assert_eq!(stored.decode(), Some(left.clone()), "{said}");
                assert_eq!(stored.bits(), format.bits(&kept, widths), "{said}");
            }
        }
    }

    #[test]
    fn every_2_to_the_offset_bits_zeros_cost_an_entry_more() {
        let one_after = |zeros: usize| {
            let mut kept = vec![NONE; zeros];
            kept.push(KEPT);
            kept
        };
        for (zeros, wanted) in [(0, 1), (3, 1), (4, 2), (7, 2), (8, 3), (11, 3), (12, 4)] {
            assert_eq!(entries(&one_after(zeros), 2), wanted, "{zeros} zeros");
        }
        assert_eq!(entries(&[vec![KEPT], vec![NONE; 100]].concat(), 2), 1);
        assert_eq!(entries(&one_after(100), 16), 1);
    }

    #[test]
    fn sizes_are_those_of_the_formulas() {
        // 784-128-10 with 90% gone, 4 bits: 50,816, 12,704 + 5,081.5 and as many entries as there are kept weights or more.
        let mut kept = vec![NONE; 101_632];
        kept.iter_mut().step_by(10).take(10_163).for_each(|kept| *kept = KEPT);
        let widths = Widths { value: 4, offset: 5 };
        let bytes = |format: Format| format.bits(&kept, widths) as f64 / 8.0;
        assert_eq!(bytes(Format::Dense), 50_816.0);
        assert_eq!(bytes(Format::Bitmap), 12_704.0 + 5_081.5);
        assert_eq!(bytes(Format::Offsets), 10_163.0 * 9.0 / 8.0);
    }

    #[test]
    fn what_breaks_off_is_no_layer() {
        let widths = Widths { value: 7, offset: 3 };
        for format in Format::ALL {
            let mut stored = Stored::encode(format, &[3, 0, 9], &[KEPT, NONE, KEPT], widths);
            stored.bits.pop();
            assert_eq!(stored.decode(), None, "{format:?}");
        }
        let mut stored = Stored::encode(Format::Offsets, &[3, 0, 9], &[KEPT, NONE, KEPT], widths);
        stored.weights = 2;
        assert_eq!(stored.decode(), None);
    }
}
