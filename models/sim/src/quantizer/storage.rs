//! What rounded weights take.

use std::ops::Add;

/// Bytes of a scale, a zero point, a centroid.
const NUMBER: usize = 4;

/// What has to be stored of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Storage {
    /// Weights.
    pub weights: usize,
    /// Bits of each.
    pub bits: u32,
    /// Scales, one a group.
    pub scales: usize,
    /// Zero points, one a group if there are any.
    pub zeros: usize,
    /// Shared values.
    pub centroids: usize,
}

/// Bytes of what is stored, kind by kind; matrices of different widths add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// Packed weights.
    pub weights: usize,
    /// Scales, zero points and centroids.
    pub scales: usize,
}

impl Storage {
    /// Packed weights, up to whole bytes, and 4 bytes for each other number.
    pub fn parts(&self) -> Bytes {
        Bytes {
            weights: (self.weights * self.bits as usize).div_ceil(8),
            scales: NUMBER * (self.scales + self.zeros + self.centroids),
        }
    }

    /// All of it, in bytes.
    pub fn bytes(&self) -> usize {
        self.parts().all()
    }

    /// Stored bits over weights; 0 without any.
    pub fn bits_per_weight(&self) -> f64 {
        8.0 * self.bytes() as f64 / self.weights.max(1) as f64
    }
}

impl Bytes {
    /// All of it.
    pub fn all(&self) -> usize {
        self.weights + self.scales
    }
}

impl Add for Bytes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { weights: self.weights + other.weights, scales: self.scales + other.scales }
    }
}
