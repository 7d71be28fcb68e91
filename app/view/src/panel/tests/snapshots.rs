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
fn a_small_screen_in_full_colour() {
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    compare("curve-80x24", &screen((80, 24), 1, &["loss-curve"], &steered(400), &look));
    let panels = ["loss-curve", "loss-log", "gradient-flow", "numbers"];
    compare("diverging-120x40", &screen((120, 40), 2, &panels, &diverging(60), &look));
}

#[test]
fn a_large_screen_in_sixteen_colours() {
    let look = look(ColorDepth::Ansi16, GlyphSet::Unicode);
    let panels = [
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
    compare("all-200x60", &screen((200, 60), 3, &panels, &steered(400), &look));
}

#[test]
fn a_small_screen_in_ascii_without_colour() {
    let look = look(ColorDepth::None, GlyphSet::Ascii);
    let panels = ["loss-curve", "decision-boundary", "gradient-flow", "samples"];
    compare("ascii-80x24", &screen((80, 24), 2, &panels, &steered(400), &look));
}

#[test]
fn the_smallest_screen() {
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    compare("curve-20x5", &screen((22, 6), 1, &["loss-curve"], &steered(400), &look));
    compare("bars-20x5", &screen((22, 6), 1, &["gradient-flow"], &steered(400), &look));
}

#[test]
fn points_and_counts_at_three_sizes() {
    for (name, size, depth, set) in [
        ("40x12", (42, 13), ColorDepth::TrueColor, GlyphSet::Unicode),
        ("80x24", (82, 25), ColorDepth::None, GlyphSet::Ascii),
        ("120x40", (122, 41), ColorDepth::TrueColor, GlyphSet::Unicode),
    ] {
        for panel in ["compression", "weights"] {
            let screen = screen(size, 1, &[panel], &steered(400), &look(depth, set));
            compare(&format!("{panel}-{name}"), &screen);
        }
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
    let mut view = View::of(schema.panel("loss-curve").unwrap());
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
