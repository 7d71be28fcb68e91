//! A made-up lab and runs of it, the same at every call.

use mlsys_lab::frame::{Bar, Bars, Frame, HeatMap, Image, Images, Point, Table, Verdict};
use mlsys_lab::report::{Change, Report, RunData};
use mlsys_lab::schema::{Scale, Schema};
use mlsys_lab::value::Value;

use super::counted;

/// A lab with one panel of every kind.
pub(crate) fn schema() -> Schema {
    Schema::parse(SCHEMA).unwrap()
}

const SCHEMA: &str = r#"
kind = "made-up"
title = "Made up"
module = "tests"
about = "A lab that exists for its panels."
source = "none"
metric = [
  { name = "loss", type = "float", unit = "nats", series = true, about = "loss" },
  { name = "validation_loss", type = "float", unit = "nats", series = true, about = "loss on other data" },
  { name = "loss_floor", type = "float", unit = "nats", about = "Modelled: entropy" },
  { name = "gradient_norm.*", type = "float", series = true, about = "by layer" },
  { name = "seconds_per_step", type = "float", unit = "seconds", series = true, about = "time" },
  { name = "weight_bytes", type = "int", unit = "bytes", about = "memory" },
]
panel = [
  { name = "loss-curve", shows = "loss", draw = "line", metrics = ["loss", "validation_loss", "loss_floor"] },
  { name = "loss-log", shows = "loss", draw = "line", metrics = ["loss"], scale = "log" },
  { name = "step-time", shows = "time", draw = "line", metrics = ["seconds_per_step"] },
  { name = "gradient-flow", shows = "gradients", draw = "bars", metrics = ["gradient_norm.*"], scale = "log" },
  { name = "numbers", shows = "numbers", draw = "table", metrics = ["loss", "gradient_norm.*", "weight_bytes"] },
  { name = "decision-boundary", shows = "field" },
  { name = "confusion", shows = "matrix" },
  { name = "memory", shows = "bars" },
  { name = "devices", shows = "table" },
  { name = "samples", shows = "images" },
  { name = "text", shows = "text" },
  { name = "compression", shows = "accuracy against size" },
  { name = "weights", shows = "histogram" },
]
"#;

/// Numbers from 0 to 1 that look random and are the same everywhere.
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A run of `steps` steps that learns well.
pub(crate) fn learning(steps: u64) -> RunData {
    let mut data = RunData::default();
    let mut noise = Noise(7);
    for step in 1..=steps {
        let trend = 0.7 * (-(step as f64) / 90.0).exp() + 0.04;
        point(&mut data, "loss", step, trend * (0.6 + 0.8 * noise.next()));
        if step == 1 || step % 20 == 0 {
            point(&mut data, "validation_loss", step, trend + 0.03 + step as f64 * 1e-4);
        }
        if step % 10 == 0 {
            point(&mut data, "seconds_per_step", step, 2e-4 + 3e-5 * noise.next());
        }
    }
    for (layer, norm) in [("layer1", 3e-5), ("layer2", 0.004), ("layer3", 0.2), ("layer10", 1.3)] {
        point(&mut data, &format!("gradient_norm.{layer}"), steps, norm);
    }
    scalar(&mut data, "loss_floor", Value::Float(0.02));
    scalar(&mut data, "weight_bytes", Value::Int(4872));
    frames(&mut data, steps);
    data
}

/// The run with two knobs turned on the way.
pub(crate) fn steered(steps: u64) -> RunData {
    let mut data = learning(steps);
    for (step, name, value) in [(120, "learning_rate", 0.1), (260, "batch_size", 128.0)] {
        data.apply(Report::Change(Change { step, name: name.to_owned(), value: value.into() }));
    }
    data
}

/// A run with a loss that becomes NaN.
pub(crate) fn diverging(steps: u64) -> RunData {
    let mut data = RunData::default();
    for step in 1..=steps {
        let value = 0.7 * 1.12_f64.powi(step as i32);
        let value = if step > 42 || step == 30 { f64::NAN } else { value };
        point(&mut data, "loss", step, value);
        point(&mut data, "gradient_norm.layer1", step, value * 2.0);
        point(&mut data, "gradient_norm.layer2", step, 0.3);
    }
    data
}

pub(crate) fn point(data: &mut RunData, name: &str, step: u64, value: f64) {
    data.apply(Report::Point { name: name.into(), step, value });
}

fn scalar(data: &mut RunData, name: &str, value: Value) {
    data.apply(Report::Scalar { name: name.into(), value });
}

fn frames(data: &mut RunData, step: u64) {
    let text = "the quick brown fox jumps over the lazy dog\n\n17+25=42";
    for (panel, frame) in [
        ("decision-boundary", Frame::HeatMap(boundary())),
        ("confusion", Frame::HeatMap(confusion())),
        ("memory", Frame::Bars(memory())),
        ("devices", Frame::Table(devices())),
        ("samples", Frame::Images(digits())),
        ("text", Frame::Text(text.to_owned())),
        ("compression", Frame::Scatter(counted::compression())),
        ("weights", Frame::Histogram(counted::weights())),
    ] {
        data.apply(Report::Frame { panel: panel.into(), step, frame: Box::new(frame) });
    }
}

/// Two spirals and the field that tells them apart.
pub(crate) fn boundary() -> HeatMap {
    let size = 48;
    let turns = |x: f32, y: f32| y.atan2(x) - (x * x + y * y).sqrt() * 8.0;
    let at = |i: usize| (i as f32 + 0.5) / size as f32 * 2.4 - 1.2;
    let cell = |i: usize| {
        let score = turns(at(i % size), -at(i / size)).sin() * 4.0;
        1.0 / (1.0 + (-score).exp())
    };
    let mut noise = Noise(3);
    let points = (0..200).map(|i| {
        let class = (i % 2) as u8;
        let radius = (i as f32 / 200.0).sqrt();
        let phase = std::f32::consts::FRAC_PI_2 - std::f32::consts::PI * f32::from(1 - class);
        let angle = radius * 8.0 + phase + (noise.next() as f32 - 0.5) * 0.3;
        Point { x: radius * angle.cos(), y: radius * angle.sin(), class }
    });
    HeatMap {
        columns: size,
        rows: size,
        cells: (0..size * size).map(cell).collect(),
        low: 0.0,
        high: 1.0,
        x: (-1.2, 1.2),
        y: (-1.2, 1.2),
        column_labels: vec![],
        row_labels: vec![],
        points: points.collect(),
        legend: "probability of class 1".to_owned(),
    }
}

fn confusion() -> HeatMap {
    let cell = |i: usize| match (i / 10, i % 10) {
        (a, b) if a == b => 40.0 + a as f32,
        (3, 8) | (8, 3) | (4, 9) => 7.0,
        (a, b) if (a + b) % 5 == 0 => 1.0,
        _ => 0.0,
    };
    let labels: Vec<String> = (0..10).map(|d| d.to_string()).collect();
    HeatMap {
        columns: 10,
        rows: 10,
        cells: (0..100).map(cell).collect(),
        low: 0.0,
        high: 50.0,
        x: (0.0, 10.0),
        y: (0.0, 10.0),
        column_labels: labels.clone(),
        row_labels: labels,
        points: vec![],
        legend: "rows: true digit, columns: predicted".to_owned(),
    }
}

fn memory() -> Bars {
    let bar = |label: &str, value: Option<f64>, remark: &str| Bar {
        label: label.to_owned(),
        value,
        remark: remark.to_owned(),
    };
    Bars {
        unit: "bytes".to_owned(),
        scale: Scale::Linear,
        bars: vec![
            bar("weights", Some(4872.0), ""),
            bar("gradients", Some(4872.0), "modelled"),
            bar("optimizer", Some(9744.0), "largest"),
            bar("activations", None, ""),
            bar("freed", Some(-1500.0), ""),
        ],
    }
}

fn devices() -> Table {
    let row = |name: &str, memory: i64, rate: f64| vec![name.into(), memory.into(), rate.into()];
    Table {
        columns: ["device", "memory (GB)", "GB/s"].map(str::to_owned).to_vec(),
        rows: vec![row("A100", 80, 2039.0), row("H200", 141, 4800.0), row("T4", 16, 320.0)],
        ..Table::default()
    }
}

fn digits() -> Images {
    let pixel = |number: usize, i: usize| {
        let (x, y) = ((i % 28) as f32 - 13.5, (i / 28) as f32 - 13.5);
        let squeeze = 1.0 + number as f32 * 0.15;
        let distance = ((x * squeeze).powi(2) + y * y).sqrt();
        (255.0 * (1.0 - ((distance - 9.0).abs() / 3.0)).clamp(0.0, 1.0)) as u8
    };
    let image = |number: usize| Image {
        pixels: (0..28 * 28).map(|i| pixel(number, i)).collect(),
        label: if number == 2 { "8, is 0".to_owned() } else { "0".to_owned() },
        verdict: match number {
            2 => Verdict::Wrong,
            7 => Verdict::Unjudged,
            _ => Verdict::Right,
        },
    };
    Images { width: 28, height: 28, images: (0..8).map(image).collect(), blank: None, together: 1 }
}
