//! An event file of TensorBoard: records with checksums, each an `Event` of `tensorflow/core/util/event.proto`.
//!
//! Scalars stand at their steps and at the time at which the run had reached them. The parameters are hyperparameters:
//! values of the plugin `hparams`, with the messages of `tensorboard/plugins/hparams/plugin_data.proto`.

use std::io::{self, Write};
use std::time::SystemTime;

use mlsys_lab::schema::{Label, Schema};
use mlsys_lab::value::Value;
use mlsys_run::record::{RecordedRun, RunStatus, Summary};

/// A name by which TensorBoard recognises the file.
pub fn file_name(run: &Summary) -> String {
    format!("events.out.tfevents.{}.{}", started(run) as u64, run.name)
}

/// Writes all series and the parameters; steps are exact.
pub fn write(run: &RecordedRun, schema: Option<&Schema>, out: &mut impl Write) -> io::Result<()> {
    let started = started(&run.summary);
    let mut version = time(started);
    bytes(&mut version, 3, b"brain.Event:2");
    record(&version, out)?;
    let start = plugin_value("_hparams_/session_start_info", &session_start(run, started));
    record(&event(started, 0, &start), out)?;
    let clock = Clock::new(run);
    for (name, series) in &run.data.series {
        // TensorBoard shows the description that comes with the first value.
        let mut label = super::label(schema, name);
        for &(step, value) in series.points() {
            let scalar = scalar(name, value, label.take());
            record(&event(started + clock.seconds(step), step, &scalar), out)?;
        }
    }
    let Some((seconds, status)) = end(&run.summary) else { return Ok(()) };
    let ended = plugin_value("_hparams_/session_end_info", &session_end(started + seconds, status));
    record(&event(started + seconds, 0, &ended), out)
}

/// When the run started, in seconds since 1970; 0 if it does not say.
fn started(run: &Summary) -> f64 {
    let started = run.about["started"].as_str();
    let started = started.and_then(|text| humantime::parse_rfc3339(text).ok());
    let since = started.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    since.map_or(0.0, |since| since.as_secs_f64())
}

/// How long an ended run took, and `Status` of `tensorboard/plugins/hparams/api.proto`: 1 is success, 2 is failure.
fn end(run: &Summary) -> Option<(f64, u64)> {
    let is_success = match &run.status {
        RunStatus::Ended(end) => matches!(end["outcome"].as_str(), Some("finished" | "stopped")),
        RunStatus::GoingOn | RunStatus::CutOff => return None,
    };
    Some((run.seconds()?, if is_success { 1 } else { 2 }))
}

/// When each step ended, interpolated linearly between recorded times.
struct Clock {
    /// Ascending steps and seconds, from step 0 at 0 s.
    known: Vec<(u64, f64)>,
}

impl Clock {
    fn new(run: &RecordedRun) -> Self {
        let mut known = vec![(0, 0.0)];
        known.extend(&run.clock);
        if run.clock.is_empty() && run.data.step > 0 {
            known.extend(run.summary.seconds().map(|seconds| (run.data.step, seconds)));
        }
        Self { known }
    }

    fn seconds(&self, step: u64) -> f64 {
        let after = self.known.partition_point(|&(known, _)| known < step);
        let before = after.checked_sub(1).and_then(|at| self.known.get(at));
        match (before, self.known.get(after)) {
            (Some(&(a, from)), Some(&(b, to))) => {
                from + (to - from) * (step - a) as f64 / (b - a) as f64
            }
            (Some(&(_, last)), None) => last,
            (None, first) => first.map_or(0.0, |&(_, seconds)| seconds),
        }
    }
}

/// `HParamsPluginData { version: 0, session_start_info: SessionStartInfo { hparams, start_time_secs } }`.
fn session_start(run: &RecordedRun, started: f64) -> Vec<u8> {
    let mut info = Vec::new();
    for (name, value) in run.summary.values() {
        let mut entry = Vec::new();
        bytes(&mut entry, 1, name.as_bytes());
        bytes(&mut entry, 2, &hyperparameter(&value));
        bytes(&mut info, 1, &entry);
    }
    double(&mut info, 5, started);
    let mut data = Vec::new();
    bytes(&mut data, 3, &info);
    data
}

/// `HParamsPluginData { version: 0, session_end_info: SessionEndInfo { status, end_time_secs } }`.
fn session_end(ended: f64, status: u64) -> Vec<u8> {
    let mut info = Vec::new();
    number(&mut info, 1, status);
    double(&mut info, 2, ended);
    let mut data = Vec::new();
    bytes(&mut data, 4, &info);
    data
}

/// `google.protobuf.Value`: a number, a text or a truth value; lists and tables as texts.
fn hyperparameter(value: &Value) -> Vec<u8> {
    let mut message = Vec::new();
    match value {
        Value::Bool(truth) => number(&mut message, 4, u64::from(*truth)),
        Value::Int(_) | Value::Float(_) => {
            double(&mut message, 2, value.as_f64().unwrap_or(f64::NAN));
        }
        Value::Text(text) => bytes(&mut message, 3, text.as_bytes()),
        Value::Array(_) | Value::Table(_) => bytes(&mut message, 3, value.to_string().as_bytes()),
    }
    message
}

/// `Summary.Value { tag, simple_value, metadata: { summary_description } }`.
fn scalar(name: &str, value: f64, description: Option<Label>) -> Vec<u8> {
    let mut scalar = Vec::new();
    bytes(&mut scalar, 1, name.as_bytes());
    key(&mut scalar, 2, 5);
    scalar.extend_from_slice(&(value as f32).to_le_bytes());
    if let Some(label) = description {
        let mut metadata = Vec::new();
        bytes(&mut metadata, 3, label.to_string().as_bytes());
        bytes(&mut scalar, 9, &metadata);
    }
    scalar
}

/// `Summary.Value { tag, metadata: { plugin_data: { plugin_name: "hparams", content } } }`.
fn plugin_value(tag: &str, content: &[u8]) -> Vec<u8> {
    let mut plugin = Vec::new();
    bytes(&mut plugin, 1, b"hparams");
    bytes(&mut plugin, 2, content);
    let mut metadata = Vec::new();
    bytes(&mut metadata, 1, &plugin);
    let mut value = Vec::new();
    bytes(&mut value, 1, tag.as_bytes());
    bytes(&mut value, 9, &metadata);
    value
}

/// `Event { wall_time, step, summary: { value } }`.
fn event(at: f64, step: u64, value: &[u8]) -> Vec<u8> {
    let mut summary = Vec::new();
    bytes(&mut summary, 1, value);
    let mut event = time(at);
    number(&mut event, 2, step);
    bytes(&mut event, 5, &summary);
    event
}

fn time(seconds: f64) -> Vec<u8> {
    let mut message = Vec::new();
    double(&mut message, 1, seconds);
    message
}

/// A field's number and how its value is written: 0 a varint, 1 eight bytes, 2 a length and bytes, 5 four bytes.
fn key(message: &mut Vec<u8>, field: u64, wire: u64) {
    varint(message, field << 3 | wire);
}

fn number(message: &mut Vec<u8>, field: u64, value: u64) {
    key(message, field, 0);
    varint(message, value);
}

fn double(message: &mut Vec<u8>, field: u64, value: f64) {
    key(message, field, 1);
    message.extend_from_slice(&value.to_le_bytes());
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
    use std::path::PathBuf;

    use mlsys_lab::report::{Report, RunData};
    use serde_json::json;

    use super::*;

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

    fn recorded() -> RecordedRun {
        let mut data = RunData::default();
        for (step, value) in [(1, 0.5), (300, 0.25), (301, f64::NAN)] {
            data.apply(Report::Point { name: "loss".into(), step, value });
        }
        let about = json!({
            "started": "1970-01-01T00:00:10Z",
            "params": { "lr": 0.1, "model": "mlp", "sizes": [2, 3], "shuffle": true },
        });
        let status = RunStatus::Ended(json!({ "outcome": "diverged", "seconds": 4.0 }));
        let summary = Summary { name: "a".to_owned(), folder: PathBuf::from("a"), about, status };
        RecordedRun { summary, data, clock: vec![(100, 1.0), (301, 4.0)], warnings: Vec::new() }
    }

    #[test]
    fn a_reader_of_the_format_finds_every_value_at_its_time() {
        let run = recorded();
        assert_eq!(file_name(&run.summary), "events.out.tfevents.10.a");
        let mut file = Vec::new();
        write(&run, None, &mut file).unwrap();
        let records = records(&file);
        let at = |seconds: f64| (1, seconds.to_le_bytes().to_vec());
        assert_eq!(fields(&records[0]), [at(10.0), (3, b"brain.Event:2".to_vec())]);
        assert_eq!(records.len(), 5);
        let values = [(1_u64, 0.5_f32, 10.01), (300, 0.25, 11.0 + 3.0 * 200.0 / 201.0)];
        for (record, (step, value, seconds)) in records[2..4].iter().zip(values) {
            let event = fields(record);
            assert_eq!(event[..2], [at(seconds), (2, step.to_le_bytes().to_vec())]);
            let summary = fields(&event[2].1);
            assert_eq!((event[2].0, summary[0].0), (5, 1));
            let scalar = fields(&summary[0].1);
            assert_eq!(scalar, [(1, b"loss".to_vec()), (2, value.to_le_bytes().to_vec())]);
        }
    }

    #[test]
    fn the_first_value_has_the_label() {
        let message = scalar("loss", 0.5, Some(Label::Measured));
        assert_eq!(inside(&message, &[9, 3]), b"measured");
        assert_eq!(fields(&scalar("loss", 0.5, None)).len(), 2);
    }

    /// The field of these numbers, one inside the other.
    fn inside(message: &[u8], path: &[u64]) -> Vec<u8> {
        let found = |message: Vec<u8>, &field: &u64| {
            fields(&message).into_iter().find(|(number, _)| *number == field).unwrap().1
        };
        path.iter().fold(message.to_vec(), found)
    }

    #[test]
    fn parameters_are_hyperparameters_of_a_session() {
        let mut file = Vec::new();
        write(&recorded(), None, &mut file).unwrap();
        let records = records(&file);
        let (first, last) = (&records[1], &records[4]);
        assert_eq!(inside(first, &[5, 1, 9, 1, 1]), b"hparams");
        let info = inside(first, &[5, 1, 9, 1, 2, 3]);
        let entries: Vec<_> = fields(&info).into_iter().filter(|(field, _)| *field == 1).collect();
        let values = entries.iter().map(|(_, entry)| {
            (
                String::from_utf8(inside(entry, &[1])).unwrap(),
                fields(&inside(entry, &[2])).remove(0),
            )
        });
        let expected = [
            ("lr", (2, 0.1_f64.to_le_bytes().to_vec())),
            ("model", (3, b"mlp".to_vec())),
            ("shuffle", (4, 1_u64.to_le_bytes().to_vec())),
            ("sizes", (3, b"[2, 3]".to_vec())),
        ];
        assert_eq!(values.collect::<Vec<_>>(), expected.map(|(name, value)| (name.into(), value)));
        assert_eq!(inside(&info, &[5]), 10.0_f64.to_le_bytes());
        // A diverged run is a failure.
        let ended = inside(last, &[5, 1, 9, 1, 2, 4]);
        assert_eq!(inside(&ended, &[1]), 2_u64.to_le_bytes());
        assert_eq!(inside(&ended, &[2]), 14.0_f64.to_le_bytes());
    }
}
