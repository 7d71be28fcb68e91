//! Cyclic redundancy checks of 32 bits, least significant bit first: gzip and TensorBoard differ in the polynomial alone.

/// What each byte does to the sum, for one polynomial.
pub struct Table([u32; 256]);

impl Table {
    /// The table of a polynomial, its bits reversed.
    pub const fn new(polynomial: u32) -> Self {
        let mut table = [0_u32; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut crc = byte as u32;
            let mut bit = 0;
            while bit < 8 {
                crc = if crc & 1 == 1 { (crc >> 1) ^ polynomial } else { crc >> 1 };
                bit += 1;
            }
            table[byte] = crc;
            byte += 1;
        }
        Self(table)
    }

    /// The checksum of bytes.
    pub fn sum(&self, bytes: &[u8]) -> u32 {
        let step = |crc: u32, &byte: &u8| {
            let [low, ..] = crc.to_le_bytes();
            self.0[usize::from(low ^ byte)] ^ (crc >> 8)
        };
        !bytes.iter().fold(u32::MAX, step)
    }
}
