//! Whole screens of panels with their styles, compared with the files in snapshots/.

use mlsys_lab::report::RunData;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::glyphs::GlyphSet;
use crate::panel::tests::fixtures::{diverging, learning, point, schema, steered};
use crate::panel::tests::{
    Scene, Smoothing, View, Window, compare, draw_panel, drawn, earlier, look, named,
};
use crate::theme::{ColorDepth, Look};

fn screen(size: (u16, u16), columns: u16, panels: &[&str], data: &RunData, look: &Look) -> Buffer {
    let (schema, before) = (schema(), [earlier(learning(250))]);
    let mut buf = Buffer::empty(Rect::new(0, 0, size.0, size.1));
    let rows = (panels.len() as u16).div_ceil(columns);
    let (width, height) = (size.0 / columns, size.1 / rows);
    for (place, name) in (0..).zip(panels) {
        let (x, y) = (place % columns * width, place / columns * height);
        let area = Rect::new(x, y, width - 2, height - 1);
        let scene = Scene { earlier: &before, ..named(&schema, data, name) };
        draw_panel(area, &mut buf, &scene, look);
    }
    buf
}

#[test]
fn screens_look_as_they_did() {
    let (run, broken) = (steered(400), diverging(60));
    let full = (ColorDepth::TrueColor, GlyphSet::Unicode);
    let ascii = (ColorDepth::None, GlyphSet::Ascii);
    let curves = ["loss-curve", "loss-log", "gradient-flow", "numbers"];
    let some = ["loss-curve", "decision-boundary", "gradient-flow", "samples"];
    let all = [
        "loss-curve",
        "decision-boundary",
        "samples",
        "gradient-flow",
        "memory",
        "confusion",
        "devices",
        "numbers",
        "text",
    ];
    let named = (ColorDepth::Ansi16, GlyphSet::Unicode);
    for (name, size, columns, panels, data, (depth, set)) in [
        ("curve-80x24", (80, 24), 1, &["loss-curve"][..], &run, full),
        ("diverging-120x40", (120, 40), 2, &curves, &broken, full),
        ("all-200x60", (200, 60), 3, &all, &run, named),
        ("ascii-80x24", (80, 24), 2, &some, &run, ascii),
        ("curve-20x5", (22, 6), 1, &["loss-curve"], &run, full),
        ("bars-20x5", (22, 6), 1, &["gradient-flow"], &run, full),
        ("compression-40x12", (42, 13), 1, &["compression"], &run, full),
        ("compression-80x24", (82, 25), 1, &["compression"], &run, ascii),
        ("compression-120x40", (122, 41), 1, &["compression"], &run, full),
        ("weights-40x12", (42, 13), 1, &["weights"], &run, full),
        ("weights-80x24", (82, 25), 1, &["weights"], &run, ascii),
        ("weights-120x40", (122, 41), 1, &["weights"], &run, full),
    ] {
        compare(name, &screen(size, columns, panels, data, &look(depth, set)));
    }
}

/// A run with the losses of another times a factor.
fn raised(run: &RunData, times: f64) -> RunData {
    let mut data = RunData::default();
    for name in ["loss", "validation_loss"] {
        for (step, value) in run.series[name].points() {
            point(&mut data, name, *step, value * times);
        }
    }
    data
}

#[test]
fn a_chart_with_everything_on_it() {
    let schema = schema();
    let mut view = View::new(schema.panel("loss-curve").unwrap());
    view.chart.window = Window::Between(60, 320);
    view.chart.smoothing = Smoothing::On;
    let mut older = earlier(raised(&learning(300), 2.5));
    older.label = "run 1: learning_rate 0.01".to_owned();
    let mut newer = earlier(raised(&steered(350), 1.6));
    newer.label = "run 2: width 64".to_owned();
    let (data, before) = (steered(400), [newer, older]);
    for (name, depth, set) in [
        ("everything-80x24", ColorDepth::TrueColor, GlyphSet::Unicode),
        ("everything-no-colour-80x24", ColorDepth::None, GlyphSet::Unicode),
        ("everything-ascii-80x24", ColorDepth::None, GlyphSet::Ascii),
    ] {
        let scene = Scene {
            earlier: &before,
            view: &view,
            cursor: Some(200),
            ..named(&schema, &data, "loss-curve")
        };
        compare(name, &drawn(&scene, 80, 24, &look(depth, set)));
    }
}
