use std::sync::Arc;

use super::*;
use crate::record::format::Batch;

/// Numbers that look drawn at random and are the same each time.
struct Drawn(u64);

impl Drawn {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn point(name: &str, step: u64, value: f64) -> Report {
    Report::Point { name: name.into(), step, value }
}

#[test]
fn batched_values_load_like_single_ones() {
    let names: Vec<Arc<str>> =
        ["loss", "accuracy", "gradient_norm.layer1", "seconds", "odd \"\\ name"]
            .map(Arc::from)
            .into();
    let mut drawn = Drawn(7);
    let mut expected = RunData::default();
    let (mut batch, mut text) = (Batch::default(), Vec::new());
    for step in 1..20_000 {
        for (index, name) in names.iter().enumerate() {
            let bits = drawn.next();
            let is_due =
                index == 0 || (index == 4 && bits.is_multiple_of(7)) || step % 10 == index as u64;
            let value = match bits % 50 {
                0 => f64::NAN,
                1 => f64::from_bits(bits),
                _ if index < 3 => f64::from(bits as f32 / u64::MAX as f32),
                _ => bits as f64 / u64::MAX as f64,
            };
            if is_due {
                batch.push(index, step, value);
                expected.apply(point(name, step, value));
            }
        }
        if drawn.next().is_multiple_of(100) {
            batch.write(&names, &mut text).unwrap();
        }
    }
    batch.write(&names, &mut text).unwrap();
    let loaded = load(text.as_slice(), "r", Limits::default()).unwrap();
    assert_eq!(loaded.warnings, [""; 0]);
    assert!(loaded.data == expected);
}

#[test]
fn an_endless_line_is_skipped() {
    let limits = Limits { line: 1 << 20, ..Limits::default() };
    let endless = io::repeat(b'x').take(1 << 23);
    let text = b"{\"notice\":\"before\"}\n".chain(endless);
    let text = text.chain(&b"\n{\"notice\":\"after\"}\n"[..]);
    let loaded = load(text, "r", limits).unwrap();
    assert_eq!(loaded.data.notices, ["before", "after"]);
    assert_eq!(loaded.warnings.len(), 1);
    assert!(loaded.warnings[0].starts_with("r:2 was passed over"), "{:?}", loaded.warnings);
}

#[test]
fn too_many_values_are_left_out_with_a_warning() {
    let limits = Limits { values: 100_000, ..Limits::default() };
    let mut text = String::new();
    for step in 0..200_000 {
        text +=
            &format!("{{\"points\":{{\"loss\":{{\"from\":{step},\"by\":1,\"f64\":[0.5]}}}}}}\n");
    }
    let loaded = load(text.as_bytes(), "r", limits).unwrap();
    let kept = loaded.data.series["loss"].points().len();
    assert!(kept > 0 && kept < 200_000, "{kept}");
    assert!(loaded.warnings[0].contains("more than 100000 values"), "{:?}", loaded.warnings);
}

#[test]
fn hostile_lines_are_reported_and_skipped() {
    let lines = [
        "{\"points\":{\"a\":{\"from\":18446744073709551615,\"by\":1,\"f64\":[1,2]}}}",
        "{\"points\":{\"a\":{\"from\":1,\"by\":18446744073709551615,\"f64\":[1,2,3]}}}",
        "{\"points\":{\"a\":{\"from\":1,\"by\":1,\"f32\":[1],\"f64\":[1]}}}",
        "{\"points\":{\"a\":{\"steps\":[2,1],\"f64\":[1,2]}}}",
        "{\"points\":{\"a\":{\"steps\":[],\"f64\":[1]}}}",
        "{\"points\":{\"a\":{\"from\":-1,\"by\":1,\"f64\":[1]}}}",
        "{\"points\":{\"a\":{\"from\":1,\"by\":1,\"f64\":[1,]}}}",
        "{\"points\":{\"a\":{\"from\":1,\"by\":1,\"f64\":[1",
        "{\"points\":{\"a\":{\"from\":1,\"by\":1,\"f64\":\"x\"}}}",
        "{\"points\":7}",
        "{\"unheard\":{}}",
        "[[[[",
        "{\"frame\":{\"panel\":\"p\",\"step\":1,\"frame\":{\"unheard\":1}}}",
        "\u{0}",
    ];
    let text = format!("{}\n{{\"notice\":\"end\"}}\n", lines.join("\n"));
    let loaded = load(text.as_bytes(), "r", Limits::default()).unwrap();
    assert_eq!(loaded.data.notices, ["end"]);
    assert!(loaded.data.series.is_empty(), "{:?}", loaded.data.series);
    assert_eq!(loaded.warnings.len(), MAX_REPORTED + 1);
    let more = format!("r: {} more lines were passed over", lines.len() - MAX_REPORTED);
    assert_eq!(loaded.warnings.last(), Some(&more));
}

#[test]
fn values_too_large_for_a_float_are_gaps() {
    let text = "{\"points\":{\"a\":{\"from\":1,\"by\":1,\"f64\":[1e999,-1e999,2]}}}\n";
    let loaded = load(text.as_bytes(), "r", Limits::default()).unwrap();
    assert_eq!(loaded.data.series["a"].points(), [(3, 2.0)]);
    assert_eq!(loaded.data.series["a"].gaps(), [1, 2]);
}

#[test]
fn steps_that_go_backwards_are_passed_over() {
    let line = |from: u64| {
        format!("{{\"points\":{{\"a\":{{\"from\":{from},\"by\":1,\"f64\":[1,2]}}}}}}\n")
    };
    let text = [line(5), line(1), line(6)].concat();
    let loaded = load(text.as_bytes(), "r", Limits::default()).unwrap();
    assert_eq!(loaded.data.series["a"].points().len(), 4);
    assert_eq!(loaded.warnings, ["r:2 was passed over: the steps of 'a' go backwards"]);
}

#[test]
fn too_many_notices_are_left_out() {
    let text: String = (0..2000).map(|n| format!("{{\"notice\":\"{n}\"}}\n")).collect();
    let loaded = load(text.as_bytes(), "r", Limits::default()).unwrap();
    assert_eq!(loaded.data.notices.len(), 1000);
    assert_eq!(loaded.warnings, ["r: 1000 notices were left out"]);
}

#[test]
fn a_truncated_last_line_is_ignored() {
    let loaded = load(&b"{\"notice\":\"a\"}\n{\"noti"[..], "r", Limits::default()).unwrap();
    assert_eq!((loaded.data.notices.len(), loaded.warnings.len()), (1, 0));

    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk"))
        }
    }
    assert!(load(Broken, "r", Limits::default()).is_err());
}
