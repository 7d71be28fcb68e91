//! gzip (RFC 1952) of one member, in memory: the frame around deflate.

use crate::crc::Table;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

use super::Refused;

/// Compression level: a course is packed seldom and carried often.
const LEVEL: u8 = 9;

/// No name, no time, no operating system: equal content gives equal bytes.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255];

/// Compresses.
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut packed = HEADER.to_vec();
    packed.extend(compress_to_vec(bytes, LEVEL));
    packed.extend(crc32(bytes).to_le_bytes());
    packed.extend(low_32_bits(bytes.len()).to_le_bytes());
    packed
}

/// Decompresses to `most` bytes at most; what would be larger is not even held.
pub fn decompress(packed: &[u8], most: usize) -> Result<Vec<u8>, Refused> {
    let body = packed.get(header_length(packed)?..).ok_or(Refused::CutOff)?;
    let (body, trailer) = body.split_last_chunk::<8>().ok_or(Refused::CutOff)?;
    let bytes = decompress_to_vec_with_limit(body, most).map_err(|error| {
        let needs_more = [TINFLStatus::FailedCannotMakeProgress, TINFLStatus::NeedsMoreInput];
        if error.status == TINFLStatus::HasMoreOutput {
            Refused::TooLarge { most }
        } else if needs_more.contains(&error.status) {
            Refused::CutOff
        } else {
            Refused::Damaged
        }
    })?;
    let [a, b, c, d, e, f, g, h] = *trailer;
    let sound = u32::from_le_bytes([a, b, c, d]) == crc32(&bytes)
        && u32::from_le_bytes([e, f, g, h]) == low_32_bits(bytes.len());
    if sound { Ok(bytes) } else { Err(Refused::Damaged) }
}

/// Where the compressed data begin; names and comments that other programs write are passed over.
fn header_length(packed: &[u8]) -> Result<usize, Refused> {
    let Some(&[0x1f, 0x8b, method, flags, ..]) = packed.first_chunk::<10>() else {
        let begins = [0x1f, 0x8b];
        let is_cut = packed.len() < HEADER.len() && packed.starts_with(&begins);
        return Err(if is_cut { Refused::CutOff } else { Refused::NotGzip });
    };
    if method != 8 || flags & 0xe0 != 0 {
        return Err(Refused::NotGzip);
    }
    let mut at = HEADER.len();
    if flags & 4 != 0 {
        let length =
            packed.get(at..).and_then(|rest| rest.first_chunk::<2>()).ok_or(Refused::CutOff)?;
        at += 2 + usize::from(u16::from_le_bytes(*length));
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            let rest = packed.get(at..).ok_or(Refused::CutOff)?;
            let end = rest.iter().position(|&byte| byte == 0);
            at += end.ok_or(Refused::CutOff)? + 1;
        }
    }
    Ok(if flags & 2 == 0 { at } else { at + 2 })
}

fn low_32_bits(length: usize) -> u32 {
    (length & 0xffff_ffff) as u32
}

/// The checksum that gzip keeps.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: Table = Table::new(0xedb8_8320);
    TABLE.sum(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn what_is_compressed_comes_back_and_every_cut_and_flip_is_seen() {
        let text: Vec<u8> = (0..300_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
        let packed = compress(&text);
        assert_eq!(decompress(&packed, text.len()).unwrap(), text);
        assert_eq!(compress(&text), packed);
        assert!(matches!(decompress(&packed, text.len() - 1), Err(Refused::TooLarge { .. })));
        for cut in 0..packed.len() {
            assert!(decompress(&packed[..cut], 1 << 20).is_err(), "cut at {cut}");
        }
        let mut seen = 0;
        for at in 10..packed.len() {
            let mut flipped = packed.clone();
            flipped[at] ^= 0x10;
            // Bits that only fill the last compressed bytes may be anything.
            match decompress(&flipped, 1 << 20) {
                Ok(bytes) => assert_eq!(bytes, text, "flipped at {at}"),
                Err(_) => seen += 1,
            }
        }
        assert!(seen >= packed.len() - 12, "{seen} of {}", packed.len());
    }

    #[test]
    fn a_header_with_a_name_is_read() {
        let packed = compress(b"text");
        let mut named = packed[..10].to_vec();
        named[3] = 8 | 4 | 2;
        named.extend([2, 0, 7, 7]);
        named.extend(b"name.tar\0..");
        named.extend(&packed[10..]);
        assert_eq!(decompress(&named, 100).unwrap(), b"text");
    }
}
