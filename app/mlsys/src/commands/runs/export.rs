//! `mlsys runs export`: a run's series as CSV, as lines of JSON, or as an event file of TensorBoard: records with checksums,
//! each an `Event` of `tensorflow/core/util/event.proto`, of which series need the few fields at the end of this file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mlsys_lab::report::RunData;
use mlsys_run::console::Console;
use mlsys_run::process::{Exit, Failure};
use mlsys_run::record::RecordedRun;

use crate::cli::{ExportRun, RunFormat};

pub fn run(
    past: &RecordedRun,
    options: &ExportRun,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let is_standard = options.output == Path::new("-");
    if options.format == RunFormat::Tensorboard && is_standard {
        return Err(Failure::usage(
            "an event file is not text: name the folder for it with -o FOLDER, then `tensorboard --logdir FOLDER`",
        ));
    }
    if is_standard {
        let mut text = Vec::new();
        write(past, options.format, &mut text)?;
        console.raw(&String::from_utf8_lossy(&text))?;
        return Ok(Exit::Passed);
    }
    let failed = |path: &Path, error: io::Error| {
        Failure::Run(format!("{} cannot be written: {error}", path.display()))
    };
    let path = match options.format {
        RunFormat::Csv | RunFormat::Jsonl => options.output.clone(),
        RunFormat::Tensorboard => {
            fs::create_dir_all(&options.output).map_err(|error| failed(&options.output, error))?;
            event_file(past, &options.output)
        }
    };
    let written = File::create(&path).and_then(|file| {
        let mut file = BufWriter::new(file);
        write(past, options.format, &mut file)?;
        file.flush()
    });
    written.map_err(|error| failed(&path, error))?;
    console.note(format_args!("{} is written", path.display()));
    Ok(Exit::Passed)
}

fn write(past: &RecordedRun, format: RunFormat, out: &mut impl Write) -> io::Result<()> {
    match format {
        RunFormat::Csv => csv(&past.data, out),
        RunFormat::Jsonl => jsonl(&past.data, out),
        RunFormat::Tensorboard => write_events(&past.data, seconds(past), out),
    }
}

/// A file that TensorBoard finds by its name.
fn event_file(past: &RecordedRun, folder: &Path) -> PathBuf {
    let name = &past.summary.name;
    folder.join(format!("events.out.tfevents.{}.{name}", seconds(past) as u64))
}

/// When the run started, in seconds since 1970; 0 if it does not say.
fn seconds(past: &RecordedRun) -> f64 {
    let started = past.summary.about["started"].as_str();
    let started = started.and_then(|text| humantime::parse_rfc3339(text).ok());
    let since = started.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    since.map_or(0.0, |since| since.as_secs_f64())
}

/// The values of all series by step; NaN where one was not finite.
fn by_step(data: &RunData) -> BTreeMap<u64, Vec<Option<f64>>> {
    let mut steps: BTreeMap<u64, Vec<Option<f64>>> = BTreeMap::new();
    let count = data.series.len();
    for (index, series) in data.series.values().enumerate() {
        let gaps = series.gaps().iter().map(|&step| (step, f64::NAN));
        for (step, value) in series.points().iter().copied().chain(gaps) {
            let row = steps.entry(step).or_insert_with(|| vec![None; count]);
            if let Some(cell) = row.get_mut(index) {
                *cell = Some(value);
            }
        }
    }
    steps
}

/// A header of names, then a row a step; a cell without a measurement is empty.
fn csv(data: &RunData, out: &mut impl Write) -> io::Result<()> {
    write!(out, "step")?;
    for name in data.series.keys() {
        write!(out, ",{}", quoted(name))?;
    }
    writeln!(out)?;
    for (step, row) in by_step(data) {
        write!(out, "{step}")?;
        for value in row {
            match value {
                Some(value) => write!(out, ",{value}")?,
                None => write!(out, ",")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// A cell with text that others wrote: one that a spreadsheet would take for a formula begins with an apostrophe.
pub fn cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    if formula && text.parse::<f64>().is_err() { quoted(&format!("'{text}")) } else { quoted(text) }
}

/// A field of a table, in quotes where it must be.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// An object a step with its measurements; null where one was not finite.
fn jsonl(data: &RunData, out: &mut impl Write) -> io::Result<()> {
    let names: Vec<&str> = data.series.keys().map(AsRef::as_ref).collect();
    for (step, row) in by_step(data) {
        write!(out, "{{\"step\":{step}")?;
        for (name, value) in names.iter().zip(row) {
            if let Some(value) = value {
                write!(
                    out,
                    ",{}:{}",
                    serde_json::to_string(name)?,
                    serde_json::to_string(&value)?
                )?;
            }
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

/// Writes all series; steps are exact, and every event bears the time at which the run started.
pub fn write_events(data: &RunData, started: f64, out: &mut impl Write) -> io::Result<()> {
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
    use mlsys_lab::report::Report;

    use super::*;

    #[test]
    fn a_step_is_a_row_and_what_was_not_measured_is_empty() {
        let mut data = RunData::default();
        for (name, step, value) in
            [("loss", 1, 0.1 + 0.2), ("a,\"b\"", 1, f64::NAN), ("loss", 2, 1e-9)]
        {
            data.apply(Report::Point { name: name.into(), step, value });
        }
        let text = |write: fn(&RunData, &mut Vec<u8>) -> io::Result<()>| {
            let mut text = Vec::new();
            write(&data, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        assert_eq!(
            text(csv),
            "step,\"a,\"\"b\"\"\",loss\n1,NaN,0.30000000000000004\n2,,0.000000001\n"
        );
        assert_eq!(
            text(jsonl),
            "{\"step\":1,\"a,\\\"b\\\"\":null,\"loss\":0.30000000000000004}\n{\"step\":2,\"loss\":1e-9}\n"
        );
    }

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
        write_events(&data, 1.5, &mut file).unwrap();
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
