//! A made-up comparison of compressed networks, and the weights of one before and after rounding.

use mlsys_lab::frame::{Better, Dimension, Distribution, Histogram, Level, Scatter, ScatterPoint};
use mlsys_lab::schema::Scale;

use super::fixtures::Noise;

/// Accuracy against size: eight ways to make a network smaller, four of them worth it.
pub(crate) fn compression() -> Scatter {
    let point = |label: &str, bytes: f64, accuracy: f64, series| ScatterPoint {
        x: Some(bytes),
        y: Some(accuracy),
        label: label.to_owned(),
        series,
    };
    Scatter {
        x: Dimension {
            name: "size".to_owned(),
            unit: "bytes".to_owned(),
            scale: Scale::Log,
            better: Better::Less,
            ..Dimension::default()
        },
        y: Dimension {
            name: "accuracy".to_owned(),
            unit: String::new(),
            scale: Scale::Linear,
            better: Better::More,
            ..Dimension::default()
        },
        series: ["quantised", "pruned", "distilled"].map(str::to_owned).to_vec(),
        points: vec![
            point("fp32", 2.4e6, 0.981, 0),
            point("int8", 6.1e5, 0.979, 0),
            point("int4", 3.1e5, 0.951, 0),
            point("int2", 1.6e5, 0.62, 0),
            point("half pruned", 1.3e6, 0.974, 1),
            point("90% pruned", 3.4e5, 0.93, 1),
            point("student", 2.2e5, 0.942, 2),
            ScatterPoint { label: "diverged".to_owned(), series: 2, ..ScatterPoint::default() },
        ],
        lines: Vec::new(),
    }
}

/// Weights that are about normal, and the same rounded to a grid of nine values.
pub(crate) fn weights() -> Histogram {
    let mut noise = Noise(5);
    let mut normal = || (0..12).map(|_| noise.next()).sum::<f64>() - 6.0;
    let values: Vec<f64> = (0..5000).map(|_| 0.1 * normal()).collect();
    let rounded: Vec<f64> =
        values.iter().map(|x| (x / 0.1).round().clamp(-4.0, 4.0) * 0.1).collect();
    let count = |values: &[f64]| Histogram::between("weight", "", values, (-0.42, 0.42), 24);
    let mut histogram = count(&values);
    histogram.first.name = "before".to_owned();
    histogram.second = Some(Distribution { name: "rounded".to_owned(), ..count(&rounded).first });
    histogram.levels =
        (-4..=4).map(|i| Level { at: f64::from(i) * 0.1, label: String::new() }).collect();
    histogram
}
