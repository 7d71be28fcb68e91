//! What holds for every panel, at every size, with every data.

mod axes;
mod charts;
mod fitting;
pub(crate) mod fixtures;
mod kernels;
mod marked;
mod message_traces;
mod notes;
pub(crate) mod odd;
mod snapshots;
pub(crate) mod structures;

use mlsys_harness::snapshot::{self, rows};
use mlsys_lab::frame::Frame;
use mlsys_lab::report::{Report, RunData};
use mlsys_lab::schema::{Scale, Schema};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::earlier::Earlier;
use crate::glyphs::{GlyphSet, Glyphs};
use crate::panel::picture::At;
use crate::panel::tests::fixtures::{Noise, diverging, point, schema, steered};
use crate::panel::tests::odd::odd_runs;
use crate::panel::{Focus, FrameView, Scene, Smoothing, View, Window, draw_panel, words};
use crate::theme::{Background, ColorDepth, Look, Theme};

fn look(depth: ColorDepth, set: GlyphSet) -> Look {
    Look { theme: Theme::new(Background::Dark, depth), glyphs: Glyphs::new(set) }
}

fn looks() -> [Look; 4] {
    [
        look(ColorDepth::TrueColor, GlyphSet::Unicode),
        look(ColorDepth::Ansi16, GlyphSet::Ascii),
        look(ColorDepth::None, GlyphSet::Unicode),
        look(ColorDepth::None, GlyphSet::Ascii),
    ]
}

fn scenes<'a>(schema: &'a Schema, data: &'a RunData, earlier: &'a [Earlier]) -> Vec<Scene<'a>> {
    let names = schema.panels.iter().map(|panel| panel.name.as_str());
    names.map(|name| Scene { earlier, ..named(schema, data, name) }).collect()
}

fn earlier(data: RunData) -> Earlier {
    Earlier::new("run 1".to_owned(), Vec::new(), data)
}

/// The view a panel begins with; the views of a test's few panels may outlive it.
fn view(schema: &Schema, panel: &str) -> &'static View {
    Box::leak(Box::new(View::new(schema.panel(panel).unwrap())))
}

fn draw_frame(
    area: Rect,
    buf: &mut Buffer,
    frame: &Frame,
    view: &FrameView,
    focus: Focus,
    look: &Look,
) {
    Canvas::over(buf, |canvas| {
        super::draw_frame(area, canvas, frame, At { view, focus, walk: None, past: None }, look)
    });
}

fn drawn(scene: &Scene<'_>, width: u16, height: u16, look: &Look) -> Buffer {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    draw_panel(buf.area, &mut buf, scene, look);
    buf
}

/// Draws a panel and checks that nothing outside its area was drawn.
fn drawn_inside(scene: &Scene<'_>, width: u16, height: u16, look: &Look) -> Buffer {
    let outside = Rect::new(0, 0, width + 2, height + 2);
    let mut buf = Buffer::empty(outside);
    draw_panel(Rect::new(1, 1, width, height), &mut buf, scene, look);
    let within = |x: u16, y: u16| (1..=width).contains(&x) && (1..=height).contains(&y);
    for at in outside.positions().filter(|p| !within(p.x, p.y)) {
        assert_eq!(buf[at].symbol(), " ", "{} at {at}: {width}x{height}", scene.panel.name);
    }
    buf
}

/// A run that has a frame in panel `memory`.
pub(crate) fn with_frame(frame: Frame) -> RunData {
    let mut data = RunData::default();
    data.apply(Report::Frame { panel: "memory".into(), step: 1, frame: Box::new(frame) });
    data
}

fn compare(name: &str, buf: &Buffer) {
    snapshot::compare(concat!(env!("CARGO_MANIFEST_DIR"), "/src/panel/tests/snapshots"), name, buf);
}

pub(crate) fn named<'a>(schema: &'a Schema, data: &'a RunData, panel: &str) -> Scene<'a> {
    Scene::new(schema, schema.panel(panel).unwrap(), data, view(schema, panel))
}

#[test]
fn drawing_stays_inside_its_area() {
    let schema = schema();
    let runs = odd_runs();
    let mut noise = Noise(11);
    let sizes = [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 20, 29, 40, 79, 120, 200];
    for (turn, data) in runs.iter().enumerate() {
        let previous = [earlier(runs[(turn + 1) % runs.len()].clone())];
        for scene in scenes(&schema, data, &previous) {
            assert!(!words(&scene).is_empty());
            for width in sizes {
                let height = (noise.next() * 61.0) as u16;
                for height in [height, height % 7, height % 13] {
                    let look = &looks()[turn % 4];
                    let mut buf = drawn_inside(&scene, width, height, look);
                    // An area that does not lie in the buffer at all, and one half outside.
                    draw_panel(Rect::new(width, height, 50, 50), &mut buf, &scene, look);
                    draw_panel(Rect::new(300, 90, 50, 50), &mut buf, &scene, look);
                }
            }
        }
    }
}

#[test]
fn a_million_points_are_drawn_and_the_spike_is_seen() {
    let schema = schema();
    let mut data = RunData::default();
    for step in 0..1_000_000 {
        point(
            &mut data,
            "loss",
            step,
            if step == 500_000 { 100.0 } else { 1.0 + (step % 5) as f64 },
        );
    }
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    let buf = drawn(&named(&schema, &data, "loss-curve"), 120, 40, &look);
    let top = &rows(&buf)[1];
    let dots = top.chars().filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count();
    assert_eq!(dots, 1, "{top}");
}

/// The most different views of a chart.
fn chart_views(usual: &View, last: u64) -> Vec<(View, Option<u64>)> {
    let mut views = Vec::new();
    for scale in [Scale::Linear, Scale::Log] {
        for smoothing in [Smoothing::On, Smoothing::Off] {
            for (window, cursor) in [
                (Window::All, Some(last / 2)),
                (Window::Newest(last / 3), Some(last)),
                (Window::Between(last / 4, last / 3), Some(last / 3)),
                (Window::Between(7, 7), Some(7)),
                (Window::Newest(u64::MAX), None),
            ] {
                let mut view = usual.clone();
                view.chart.scale = scale;
                view.chart.smoothing = smoothing;
                view.chart.window = window;
                views.push((view, cursor));
            }
        }
    }
    views
}

#[test]
fn charts_draw_at_every_size_and_view() {
    let schema = schema();
    let usual = View::new(schema.panel("loss-curve").unwrap());
    let runs = odd_runs();
    let before: Vec<Earlier> = runs.iter().take(4).cloned().map(earlier).collect();
    let sizes = (0..=60).flat_map(|width| (0..=30).map(move |height| (width, height)));
    for (place, (width, height)) in sizes.enumerate() {
        // Three runs each, looked at in other ways each time, so that every way meets every size over the runs.
        for turn in 0..3 {
            let data = &runs[(place + 5 * turn) % runs.len()];
            let views = chart_views(&usual, data.step);
            let (view, cursor) = &views[(place * 7 + turn) % views.len()];
            let scene = Scene {
                earlier: &before,
                view,
                cursor: *cursor,
                focus: Focus::Keys,
                ..named(&schema, data, "loss-curve")
            };
            assert!(!words(&scene).is_empty());
            let look = &looks()[(place + turn) % 4];
            let buf = drawn_inside(&scene, width, height, look);
            let ascii = look.glyphs.set == GlyphSet::Ascii;
            assert!(!ascii || rows(&buf).concat().is_ascii());
        }
    }
}

#[test]
fn a_panel_is_called_what_the_lesson_calls_it_where_there_is_room() {
    let (schema, data) = (schema(), steered(100));
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    let title = Some("How it falls");
    let scene = Scene { title, ..named(&schema, &data, "loss-curve") };
    let first = |width: u16| rows(&drawn_inside(&scene, width, 12, &look)).concat();
    assert!(first(90).contains("loss-curve") && first(90).contains("How it falls"));
    assert!(first(40).contains("loss-curve") && !first(40).contains("How it falls"));
}

#[test]
fn nothing_says_why_there_is_nothing() {
    let schema = schema();
    let mut data = RunData::default();
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    for scene in scenes(&schema, &data, &[]) {
        let text = rows(&drawn(&scene, 40, 6, &look)).join("\n");
        assert!(text.contains("no data yet: press space to run"), "{text}");
        assert!(words(&scene).contains("no data yet"));
    }
    data.status = "compiling kernels".to_owned();
    let text = rows(&drawn(&named(&schema, &data, "samples"), 40, 6, &look)).join("\n");
    assert!(text.contains("compiling kernels"), "{text}");
}

#[test]
fn what_is_not_finite_is_said_and_never_drawn() {
    let schema = schema();
    let data = diverging(60);
    for look in looks() {
        let small = rows(&drawn(&named(&schema, &data, "loss-curve"), 100, 3, &look)).remove(1);
        let is_sign = |c: &(usize, char)| look.glyphs.not_finite.contains(c.1);
        let signs: Vec<_> = (0..).zip(small.chars()).filter(is_sign).map(|c| c.0).collect();
        assert!(small.starts_with("NaN ") && signs == [33, 46], "{small}");
        let text = rows(&drawn(&named(&schema, &data, "loss-curve"), 80, 24, &look)).join("\n");
        assert!(text.contains("NaN or infinity from step 30"), "{text}");
        assert!(text.contains(look.glyphs.not_finite));
        let text = rows(&drawn(&named(&schema, &data, "gradient-flow"), 80, 10, &look)).join("\n");
        assert!(text.contains("not finite"), "{text}");
    }
    assert!(words(&named(&schema, &data, "loss-curve")).contains("NaN or infinity from step 30"));
}

#[test]
fn knobs_turned_are_marked_and_named() {
    let schema = schema();
    let data = steered(400);
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    let text = rows(&drawn(&named(&schema, &data, "loss-curve"), 80, 24, &look)).join("\n");
    assert!(text.contains("learning_rate = 0.1 at step 120"), "{text}");
    assert!(text.contains('┊'), "{text}");
}

#[test]
fn ascii_panels_are_ascii() {
    let schema = schema();
    let data = steered(400);
    for scene in scenes(&schema, &data, &[earlier(data.clone())]) {
        for depth in [ColorDepth::TrueColor, ColorDepth::None] {
            let text = rows(&drawn(&scene, 80, 24, &look(depth, GlyphSet::Ascii))).join("\n");
            assert!(text.is_ascii(), "{text}");
        }
        assert!(words(&scene).is_ascii());
    }
}

#[test]
fn panels_say_what_they_show() {
    let schema = schema();
    let data = steered(400);
    for (panel, said) in [
        ("loss-curve", "loss went from 0.7283 nats at step 1 to 0.05829 nats at step 400"),
        ("loss-curve", "loss_floor is 0.02 nats. batch_size became 128 at step 260."),
        (
            "decision-boundary",
            "probability of class 1, 48 by 48 cells, 50 % of them at or above 0.5",
        ),
        ("confusion", "445 of 484 on the diagonal, most off it in row 3, column 8: 7."),
        ("samples", "8 images, 1 wrong: 8, is 0."),
        (
            "memory",
            "gradients 4.872 kB (modelled), optimizer 9.744 kB (largest), activations not finite",
        ),
        ("numbers", "metric loss, value 0.05829 nats;"),
        (
            "compression",
            "accuracy upwards, size (bytes) to the right. 8 points, 5 on the Pareto front: less size only with less accuracy: \
             int2: size 160 kB, accuracy 0.62, quantised, on the front; student: size 220 kB,",
        ),
        ("weights", "a histogram of weight in 24 ranges; 5000 before, most in weight "),
        ("text", "text: at step 400: the quick brown fox"),
    ] {
        let words = words(&named(&schema, &data, panel));
        assert!(words.contains(said), "{words}");
    }
}
