//! TensorBoard's event files: a file of records with checksums, each an `Event` of `tensorflow/core/util/event.proto`.
//!
//! What series need of the format is this page.

use std::io::{self, Write};

use mlsys_lab::report::RunData;

/// Writes all series; steps are exact, and every event bears the time at which the run started.
pub fn write(data: &RunData, started: f64, out: &mut impl Write) -> io::Result<()> {
    let mut version = time(started);
    bytes(&mut version, 3, b"brain.Event:2");
    record(&version, out)?;
    for (name, series) in &data.series {
        for &(step, value) in series.points() {
            record(&event(started, name, step, value), out)?;
        }
    }
    Ok(())
}

/// `Event { wall_time, step, summary: { value: { tag, simple_value } } }`.
fn event(started: f64, name: &str, step: u64, value: f64) -> Vec<u8> {
    let mut scalar = Vec::new();
    bytes(&mut scalar, 1, name.as_bytes());
    key(&mut scalar, 2, 5);
    scalar.extend_from_slice(&(value as f32).to_le_bytes());
    let mut summary = Vec::new();
    bytes(&mut summary, 1, &scalar);
    let mut event = time(started);
    key(&mut event, 2, 0);
    varint(&mut event, step);
    bytes(&mut event, 5, &summary);
    event
}

fn time(started: f64) -> Vec<u8> {
    let mut message = Vec::new();
    key(&mut message, 1, 1);
    message.extend_from_slice(&started.to_le_bytes());
    message
}

/// A field's number and how its value is written: 0 a varint, 1 eight bytes, 2 a length and bytes, 5 four bytes.
fn key(message: &mut Vec<u8>, field: u64, wire: u64) {
    varint(message, field << 3 | wire);
}

fn bytes(message: &mut Vec<u8>, field: u64, content: &[u8]) {
    key(message, field, 2);
    varint(message, content.len() as u64);
    message.extend_from_slice(content);
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn varint(message: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}

/// Length, its checksum, the content, its checksum.
fn record(content: &[u8], out: &mut impl Write) -> io::Result<()> {
    let length = (content.len() as u64).to_le_bytes();
    out.write_all(&length)?;
    out.write_all(&masked(&length).to_le_bytes())?;
    out.write_all(content)?;
    out.write_all(&masked(content).to_le_bytes())
}

/// A checksum, changed so that one over data that holds checksums does not cancel.
fn masked(content: &[u8]) -> u32 {
    crc32c(content).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// The cyclic redundancy check with Castagnoli's polynomial, least significant bit first.
fn crc32c(content: &[u8]) -> u32 {
    /// The effect of each byte.
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut crc = byte as u32;
            let mut bit = 0;
            while bit < 8 {
                crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
                bit += 1;
            }
            table[byte] = crc;
            byte += 1;
        }
        table
    };
    let step = |crc: u32, &byte: &u8| {
        let [low, ..] = crc.to_le_bytes();
        TABLE[usize::from(low ^ byte)] ^ (crc >> 8)
    };
    !content.iter().fold(u32::MAX, step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::report::Report;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        // RFC 3720, B.4, and the check value of the polynomial's catalogue.
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    /// The contents of the records of a file, checksums checked.
    fn records(mut file: &[u8]) -> Vec<Vec<u8>> {
        let mut records = Vec::new();
        while !file.is_empty() {
            let (length, rest) = file.split_at(8);
            let (sum, rest) = rest.split_at(4);
            assert_eq!(masked(length).to_le_bytes(), sum);
            let (content, rest) =
                rest.split_at(u64::from_le_bytes(length.try_into().unwrap()) as usize);
            let (sum, rest) = rest.split_at(4);
            assert_eq!(masked(content).to_le_bytes(), sum);
            records.push(content.to_vec());
            file = rest;
        }
        records
    }

    /// The fields of a message: number and content, numbers as eight bytes.
    fn fields(mut message: &[u8]) -> Vec<(u64, Vec<u8>)> {
        fn varint(message: &mut &[u8]) -> u64 {
            let mut value = 0;
            for shift in (0..).step_by(7) {
                let byte = message[0];
                *message = &message[1..];
                value |= u64::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
            }
            value
        }
        let mut fields = Vec::new();
        while !message.is_empty() {
            let key = varint(&mut message);
            let content = match key & 7 {
                0 => varint(&mut message).to_le_bytes().to_vec(),
                wire => {
                    let length = match wire {
                        1 => 8,
                        2 => varint(&mut message) as usize,
                        5 => 4,
                        other => panic!("wire type {other}"),
                    };
                    let (content, rest) = message.split_at(length);
                    message = rest;
                    content.to_vec()
                }
            };
            fields.push((key >> 3, content));
        }
        fields
    }

    #[test]
    fn a_reader_of_the_format_finds_every_value() {
        let mut data = RunData::default();
        for (step, value) in [(1, 0.5), (300, 0.25), (301, f64::NAN)] {
            data.apply(Report::Point { name: "loss".into(), step, value });
        }
        let mut file = Vec::new();
        write(&data, 1.5, &mut file).unwrap();
        let records = records(&file);
        let started = (1, 1.5_f64.to_le_bytes().to_vec());
        assert_eq!(fields(&records[0]), [started.clone(), (3, b"brain.Event:2".to_vec())]);
        assert_eq!(records.len(), 3);
        for (record, (step, value)) in records[1..].iter().zip([(1_u64, 0.5_f32), (300, 0.25)]) {
            let event = fields(record);
            assert_eq!(event[..2], [started.clone(), (2, step.to_le_bytes().to_vec())]);
            let summary = fields(&event[2].1);
            assert_eq!((event[2].0, summary[0].0), (5, 1));
            let scalar = fields(&summary[0].1);
            assert_eq!(scalar, [(1, b"loss".to_vec()), (2, value.to_le_bytes().to_vec())]);
        }
    }
}
