//! IDX headers, checked against the file's length before anything is allocated.
//!
//! Format: <http://yann.lecun.com/exdb/mnist/>: two zero bytes, the element type, the number of dimensions,
//! each dimension as a big-endian 32-bit integer, then the elements, the last dimension running fastest.

use crate::data::IdxFault;
use crate::data::digits::{PIXELS, SIDE};

/// The most items a file may hold: 784 MB of images.
pub(in crate::data) const MOST_ITEMS: u32 = 1_000_000;

const UNSIGNED_BYTE: u8 = 0x08;

/// What a file holds.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Content {
    Images,
    Labels,
}

impl Content {
    pub(super) fn dimensions(self) -> u8 {
        match self {
            Self::Images => 3,
            Self::Labels => 1,
        }
    }

    pub(super) fn header_bytes(self) -> usize {
        4 + 4 * usize::from(self.dimensions())
    }
}

/// The bytes after the header, if it is what such a file has and the file is as long as it says.
pub(super) fn body_bytes(
    header: &[u8],
    content: Content,
    file_bytes: u64,
) -> Result<usize, IdxFault> {
    let header_bytes = content.header_bytes();
    let magic = header.first_chunk::<4>();
    if let Some(&[zero, also_zero, element, dimensions]) = magic {
        if [zero, also_zero] != [0, 0] || element == 0 {
            return Err(IdxFault::WrongMagic([zero, also_zero, element, dimensions]));
        }
        if element != UNSIGNED_BYTE {
            return Err(IdxFault::WrongType(element));
        }
        if dimensions != content.dimensions() {
            return Err(IdxFault::WrongDimensions {
                expected: content.dimensions(),
                found: dimensions,
            });
        }
    }
    let sizes: Vec<u32> = header.chunks_exact(4).skip(1).map(big_endian).collect();
    let (count, item_bytes) = match (content, sizes.as_slice()) {
        (Content::Labels, &[count]) => (count, 1),
        (Content::Images, &[count, rows, columns]) => {
            if [rows, columns] != [SIDE as u32; 2] {
                return Err(IdxFault::WrongSize { rows, columns });
            }
            (count, PIXELS)
        }
        _ => {
            return Err(IdxFault::NoHeader { expected: header_bytes, found: file_bytes });
        }
    };
    match count {
        0 => return Err(IdxFault::Empty),
        count if count > MOST_ITEMS => return Err(IdxFault::TooMany(count)),
        _ => {}
    }
    let body = count as usize * item_bytes;
    let expected = (header_bytes + body) as u64;
    match file_bytes {
        found if found < expected => Err(IdxFault::Truncated { expected, found }),
        found if found > expected => Err(IdxFault::TrailingBytes { expected, found }),
        _ => Ok(body),
    }
}

fn big_endian(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}
