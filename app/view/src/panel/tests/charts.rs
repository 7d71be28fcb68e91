//! Charts that say what they measure: logarithmic marks, points that share a cell, lines in few rows, references, crowds.

use mlsys_harness::snapshot::rows;
use mlsys_lab::frame::{
    Bars, Better, Dimension, Distribution, Frame, Histogram, Level, Scatter, ScatterLine,
    ScatterPoint,
};
use mlsys_lab::picture::{axis, bar, line, log_axis, point, reference};
use mlsys_lab::schema::Scale;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{draw_frame, look};
use crate::glyphs::GlyphSet;
use crate::panel::{Focus, FrameView};
use crate::theme::ColorDepth;

const SIZES: [(u16, u16); 3] = [(60, 12), (66, 30), (115, 50)];

fn drawn(frame: &Frame, (width, height): (u16, u16)) -> Buffer {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    draw_frame(buf.area, &mut buf, frame, &FrameView::default(), Focus::Aside, &look);
    buf
}

fn text(frame: &Frame, size: (u16, u16)) -> String {
    rows(&drawn(frame, size)).join("\n")
}

#[test]
fn a_logarithmic_axis_has_marks_and_is_called_so() {
    let bars = |scale| {
        let bars = vec![bar("layer1", 0.037, ""), bar("layer2", 0.0086, ""), bar("3", 0.002, "")];
        Frame::Bars(Bars { quantity: "gradient norm".to_owned(), unit: String::new(), scale, bars })
    };
    for (width, name) in
        [(40, "log"), (60, "gradient norm, log"), (78, "gradient norm, logarithmic")]
    {
        let text = text(&bars(Scale::Log), (width, 8));
        assert!(text.contains(name) && text.contains('●') && !text.contains('█'), "{text}");
        // Two ticks, from which the distance of others can be read.
        let ticks = text.lines().find(|row| row.contains(name)).unwrap();
        assert!(ticks.matches('│').count() >= 2, "{text}");
    }
    let text = text(&bars(Scale::Linear), (78, 8));
    assert!(text.contains('█') && !text.contains("logarithmic"), "{text}");
}

#[test]
fn a_point_alone_of_its_kind_is_not_hidden_below_another() {
    let series = ["ridge", "operation"].map(str::to_owned).to_vec();
    let roofs = |x: f64| Scatter {
        x: log_axis("intensity", "flops/byte"),
        y: log_axis("attainable", "flop/s"),
        series: series.clone(),
        points: vec![
            point(139.0, 1.25e14, "ridge", 0),
            point(x, 9e11 * x.min(139.0), "this operation", 1),
        ],
        lines: vec![line("roof", [(0.01, 9e9), (139.0, 1.25e14), (1e5, 1.25e14)])],
    };
    for size in SIZES.into_iter().chain((60..120).map(|width| (width, 40))) {
        let place = |text: &str, mark: char| {
            let mut rows = text.lines().enumerate();
            let is_field = |row: &str| row.contains(mark) && row.contains(['│', '┤']);
            let (y, row) = rows.find(|(_, row)| is_field(row))?;
            Some((row.chars().position(|at| at == mark)?, y))
        };
        for (x, is_left) in [(124.0, true), (150.0, false)] {
            let text = text(&Frame::Scatter(roofs(x)), size);
            let (ridge, operation) = (place(&text, '●'), place(&text, '✕'));
            let (Some(ridge), Some(operation)) = (ridge, operation) else {
                panic!("{size:?}:\n{text}")
            };
            // In another row it is seen anyway.
            let is_apart = operation.1 != ridge.1;
            assert!(is_apart || (operation.0 < ridge.0) == is_left, "{size:?}:\n{text}");
        }
    }
}

#[test]
fn a_roof_below_the_top_of_the_axis_has_its_name() {
    let roof = Scatter {
        x: log_axis("intensity", "flops/byte"),
        y: Dimension { holds: Some((1e9, 1e16)), ..log_axis("attainable", "flop/s") },
        series: vec!["ridge".to_owned()],
        points: vec![point(295.3, 9.894e14, "ridge", 0)],
        lines: vec![
            line("memory ceiling", [(0.01, 3.35e10), (295.3, 9.894e14)]),
            line("compute ceiling", [(295.3, 9.894e14), (1e5, 9.894e14)]),
        ],
    };
    for width in 63..90 {
        let text = text(&Frame::Scatter(roof.clone()), (width, 25));
        assert!(text.contains("compute ceiling") && !text.contains("b compute"), "{text}");
    }
}

fn links() -> Scatter {
    let rates = [("edr", 12.0), ("10g", 1.0), ("40g", 5.0), ("nv1", 40.0), ("nv2", 150.0)];
    let points: Vec<ScatterPoint> = rates
        .iter()
        .map(|(name, rate)| point(1e3 * rate, 2e-6, *name, 0))
        .chain([point(1e6, 1e-3, "this message", 1)])
        .collect();
    let lines: Vec<ScatterLine> = rates
        .iter()
        .map(|(name, rate)| {
            line(*name, (0..9).map(|at| 10f64.powi(at + 1)).map(|x| (x, 1e-6 + x / rate / 1e9)))
        })
        .collect();
    Scatter {
        x: log_axis("message", "bytes"),
        y: log_axis("time", "seconds"),
        series: ["half of its bandwidth", "this message"].map(str::to_owned).to_vec(),
        points,
        lines,
    }
}

#[test]
fn a_low_chart_has_its_line_the_highest_and_the_lowest_and_says_so() {
    for height in [7, 8, 10, 12, 13] {
        let text = text(&Frame::Scatter(links()), (78, height));
        assert!(text.contains("z shows 2 more lines"), "{height}:\n{text}");
        assert!(!text.contains("40g") && !text.contains("nv1"), "{height}:\n{text}");
    }
    let text = text(&Frame::Scatter(links()), (78, 20));
    assert!(!text.contains("more lines"), "{text}");
}

#[test]
fn a_line_to_compare_with_has_the_colour_of_no_other() {
    let rising = |slope: f64| (1..9).map(move |x| (f64::from(x), slope * f64::from(x)));
    let mut scatter = Scatter {
        x: axis("tokens", ""),
        y: axis("time", "seconds"),
        lines: vec![line("measured", rising(2.0)), reference("slope 1", rising(1.0))],
        ..Scatter::default()
    };
    let grey = look(ColorDepth::TrueColor, GlyphSet::Unicode).theme.dim.fg;
    let dots = |scatter: &Scatter| {
        let buf = drawn(&Frame::Scatter(scatter.clone()), (78, 20));
        let dotted = buf
            .content()
            .iter()
            .filter(|cell| ('⠁'..='⣿').any(|dot| cell.symbol().starts_with(dot)));
        dotted.filter(|cell| Some(cell.fg) == grey).count()
    };
    assert!(dots(&scatter) > 5);
    scatter.lines.pop();
    assert_eq!(dots(&scatter), 0);
}

#[test]
fn of_a_crowd_the_front_is_named() {
    let plan = |at: u32| {
        let (x, y) = (f64::from(at % 23) + 5.0, f64::from(at * 7 % 29) + 5.0);
        point(x, y, format!("plan {at}"), 0)
    };
    let mut points: Vec<ScatterPoint> = (0..300).map(plan).collect();
    points.push(point(2.0, 3.0, "best", 1));
    points.push(point(20.0, 20.0, "mine", 2));
    let scatter = Scatter {
        x: Dimension { better: Better::Less, ..axis("memory", "GB") },
        y: Dimension { better: Better::Less, ..axis("step", "s") },
        series: ["fits", "fastest", "this plan"].map(str::to_owned).to_vec(),
        points,
        ..Scatter::default()
    };
    let text = text(&Frame::Scatter(scatter), (118, 24));
    assert!(!text.contains("plan 1") && text.contains("best"), "{text}");
    assert!(text.contains("less memory only with more step"), "{text}");
}

#[test]
fn a_marked_value_is_seen_over_the_columns() {
    let histogram = Histogram {
        quantity: "weight".to_owned(),
        unit: String::new(),
        scale: Scale::Linear,
        edges: (0..=8).map(f64::from).collect(),
        first: Distribution { name: String::new(), counts: vec![9; 8] },
        second: None,
        levels: vec![Level { at: 3.5, label: String::new() }],
        marked: "levels".to_owned(),
    };
    for size in SIZES {
        let buf = drawn(&Frame::Histogram(histogram.clone()), size);
        let text = rows(&buf).join("\n");
        let marked = text.lines().filter(|row| row.contains("█┊█")).count();
        assert!(marked >= usize::from(size.1) / 3, "{text}");
        // The highest columns end below the top of the field.
        let top = text.lines().find(|row| row.contains(['│', '┤'])).unwrap();
        assert!(!top.contains('█'), "{text}");
    }
}
