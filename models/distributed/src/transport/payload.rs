//! What a message carries.

/// Numbers on a wire, plain or compressed, with the bytes that they take there.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    Floats(Vec<f32>),
    /// Numbers as whole multiples of one step, a byte each.
    Levels {
        step: f32,
        levels: Vec<i8>,
    },
    /// Signs alone, a bit each, with one size for all.
    Signs {
        size: f32,
        count: usize,
        /// Bit `i % 64` of word `i / 64` is set where number `i` is negative.
        bits: Vec<u64>,
    },
    /// Some of the numbers, each with its place.
    Entries {
        /// Numbers there are, of which those not named are zero.
        count: usize,
        places: Vec<u32>,
        values: Vec<f32>,
    },
}

impl Payload {
    /// Bytes on the wire: 4 for an f32 or a place, 1 for a level, an eighth for a sign, rounded up.
    pub fn bytes(&self) -> u64 {
        let bytes = match self {
            Self::Floats(numbers) => 4 * numbers.len(),
            Self::Levels { levels, .. } => 4 + levels.len(),
            Self::Signs { count, .. } => 4 + count.div_ceil(8),
            Self::Entries { places, values, .. } => 4 * (places.len() + values.len()),
        };
        bytes as u64
    }

    pub fn first(&self, most: usize) -> Vec<f32> {
        match self {
            Self::Floats(numbers) => numbers.iter().take(most).copied().collect(),
            Self::Levels { step, levels } => {
                let levels = levels.iter().take(most);
                levels.map(|&level| f32::from(level) * step).collect()
            }
            Self::Signs { size, count, bits } => {
                (0..most.min(*count)).map(|index| signed(*size, bits, index)).collect()
            }
            Self::Entries { values, .. } => values.iter().take(most).copied().collect(),
        }
    }

    /// Adds the numbers to `sum`; whether there were as many as it has.
    pub fn add_to(&self, sum: &mut [f32]) -> bool {
        match self {
            Self::Floats(numbers) => add(sum, numbers.iter().copied()),
            Self::Levels { step, levels } => {
                add(sum, levels.iter().map(|&level| f32::from(level) * step))
            }
            Self::Signs { size, count, bits } => {
                add(sum, (0..*count).map(|index| signed(*size, bits, index)))
                    && bits.len() == count.div_ceil(64)
            }
            Self::Entries { count, places, values } => {
                let mut all = places.len() == values.len();
                for (&place, &value) in places.iter().zip(values) {
                    match sum.get_mut(place as usize) {
                        Some(number) => *number += value,
                        None => all = false,
                    }
                }
                all && *count == sum.len()
            }
        }
    }
}

impl From<Vec<f32>> for Payload {
    fn from(numbers: Vec<f32>) -> Self {
        Self::Floats(numbers)
    }
}

/// Whether there were as many.
fn add(sum: &mut [f32], numbers: impl ExactSizeIterator<Item = f32>) -> bool {
    let fits = numbers.len() == sum.len();
    sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
    fits
}

fn signed(size: f32, bits: &[u64], index: usize) -> f32 {
    let word = bits.get(index / 64).copied().unwrap_or(0);
    if word >> (index % 64) & 1 == 1 { -size } else { size }
}
