//! Pictures that are no charts, looked at closely: marked, sorted, filtered, scrolled.

use mlsys_harness::snapshot;
use mlsys_lab::frame::table::Filter;
use mlsys_lab::frame::{Dimension, Frame, Level, Table};
use mlsys_lab::picture::{axis, point, scatter};
use mlsys_lab::value::Value;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::glyphs::{GlyphSet, Glyphs};
use crate::panel::tests::fixtures::{schema, steered, weights};
use crate::panel::tests::odd::odd_frames;
use crate::panel::tests::{
    Focus, Scene, View, compare, draw_panel, drawn, look, looks, named, with_frame, words,
};
use crate::panel::{FrameView, Way};
use crate::theme::ColorDepth;

/// A panel of a run that keys act on, after some of them.
fn looked_at<'a>(scene: &Scene<'a>, ways: &[Way], view: &'a mut View) -> Scene<'a> {
    let frame = scene.frame(&Glyphs::new(GlyphSet::Ascii)).unwrap();
    for way in ways {
        view.frame.go(&frame, *way);
    }
    Scene { view, focus: Focus::Keys, ..*scene }
}

#[test]
fn every_size_is_drawn_with_and_without_a_mark() {
    let schema = schema();
    let data = steered(60);
    let sets = [GlyphSet::Unicode, GlyphSet::Ascii];
    let looks = sets.map(|set| look(ColorDepth::TrueColor, set));
    for panel in &schema.panels {
        let mut view = View::new(panel);
        let plain = named(&schema, &data, &panel.name);
        let marked = match plain.frame(&looks[0].glyphs) {
            Some(_) => looked_at(&plain, &[Way::Right, Way::Down(3), Way::Right], &mut view),
            None => plain,
        };
        for (width, height) in (0..=60).flat_map(|w| (0..=30).map(move |h| (w, h))) {
            // Both sets at every size, each with and without a mark at every other.
            for (turn, look) in looks.iter().enumerate() {
                let turn = usize::from(width + height) + turn;
                let scene = if turn.is_multiple_of(2) { &plain } else { &marked };
                drawn(scene, width, height, look);
            }
        }
    }
}

#[test]
fn odd_pictures_draw_sort_and_filter() {
    let schema = schema();
    for frame in odd_frames() {
        let data = with_frame(frame);
        let plain = named(&schema, &data, "memory");
        for ways in [
            &[][..],
            &[Way::Right],
            &[Way::Right, Way::Last, Way::Right],
            &[Way::Down(1), Way::Down(70_000), Way::Right, Way::Right],
        ] {
            let mut view = View::new(plain.panel);
            if !ways.is_empty() {
                view.frame.sort_marked(&[]);
                view.frame.filter = Filter::read("e", &[]).unwrap();
            }
            let scene = looked_at(&plain, ways, &mut view);
            let words = words(&scene);
            assert!(
                !words.is_empty() && words.lines().all(|line| !line.contains(char::is_control))
            );
            for look in looks() {
                for (width, height) in
                    [(0, 9), (3, 3), (16, 5), (25, 0), (40, 12), (60, 30), (75, 48), (200, 60)]
                {
                    let buf = drawn(&scene, width, height, &look);
                    let control = |c: char| c.is_control();
                    assert!(!buf.content.iter().any(|cell| cell.symbol().contains(control)));
                }
            }
        }
    }
}

#[test]
fn the_marked_element_is_named_below() {
    let schema = schema();
    let data = steered(400);
    let look = look(ColorDepth::None, GlyphSet::Ascii);
    let right = Way::Right;
    for (panel, ways, said) in [
        ("confusion", &[right, right, Way::Down(3)][..], "row 3, column 1: 0"),
        ("decision-boundary", &[right, right], "x 0.025, y 0.025: 0."),
        ("memory", &[right, Way::Down(1)], "gradients: 4.872 kB, modelled"),
        ("memory", &[right, Way::Down(3)], "activations: not finite"),
        ("devices", &[right, Way::Down(1), right], "H200, memory (GB): 141 (row 2 of 3)"),
        ("samples", &[right, right, right], "image 3 of 8: 8, is 0, wrong"),
        ("compression", &[right], "int2: size 160 kB, accuracy 0.62, quantised, on the front"),
        ("weights", &[right, Way::Last], "weight 0.385 to 0.42: before "),
        ("gradient-flow", &[right, Way::Last], "layer10: 1.3"),
        ("numbers", &[right], "metric: loss (row 1 of 6)"),
    ] {
        let mut view = View::new(schema.panel(panel).unwrap());
        let plain = named(&schema, &data, panel);
        let scene = looked_at(&plain, ways, &mut view);
        let text = snapshot::rows(&drawn(&scene, 80, 24, &look)).join("\n");
        assert!(text.contains(said), "{said:?} is not in\n{text}");
        let words = words(&scene);
        assert!(words.contains(&format!(" Marked: {said}")), "{words}");
    }
}

#[test]
fn up_and_down_go_from_named_row_to_named_row() {
    let repetitions = |row: f64| [1.0, 1.1, 1.2, 3.0].map(|x| point(x, row, format!("{x}"), 0));
    let categories = ["read", "copy", "launch"].map(str::to_owned).to_vec();
    let frame = scatter(
        [axis("time", ""), Dimension { categories, ..axis("measurement", "") }],
        &["repetition"],
        [0.0, 1.0, 2.0].into_iter().flat_map(repetitions).collect(),
        vec![],
    );
    let mut view = FrameView::default();
    let mut marked = |way: Way| {
        view.go(&frame, way);
        view.mark.map(|mark| (mark.column / 4, mark.column % 4))
    };
    assert_eq!(marked(Way::Down(1)), Some((2, 0)));
    assert_eq!(marked(Way::Last), Some((2, 3)));
    assert_eq!(marked(Way::Down(1)), Some((1, 3)));
    assert_eq!(marked(Way::Down(9)), Some((0, 3)));
    assert_eq!(marked(Way::Up(2)), Some((2, 3)));
}

#[test]
fn the_last_range_has_both_of_its_edges() {
    let mut histogram = weights();
    let at = histogram.edges[24];
    histogram.levels = vec![Level { at, label: "end".to_owned() }];
    let (schema, data) = (schema(), with_frame(Frame::Histogram(histogram)));
    let (plain, mut view) = (named(&schema, &data, "memory"), View::new(&schema.panels[0]));
    let words = words(&looked_at(&plain, &[Way::Right, Way::Last], &mut view));
    assert!(words.ends_with("; marked: end."), "{words}");
}

#[test]
fn a_long_table_follows_its_mark_in_both_directions() {
    let schema = schema();
    let titles: Vec<String> = (0..30).map(|column| format!("column {column}")).collect();
    let cell = |row: i64, column: i64| Value::Int(row * 100 + column);
    let data = with_frame(Frame::Table(Table {
        columns: titles.clone(),
        rows: (0..50).map(|row| (0..30).map(|c| cell(row, c)).collect()).collect(),
        ..Table::default()
    }));
    let look = look(ColorDepth::None, GlyphSet::Unicode);
    let plain = named(&schema, &data, "memory");
    let mut view = View::new(plain.panel);
    view.frame.filter = Filter::read("column 0 >= 1000", &titles).unwrap();
    let mut ways = vec![Way::Right; 30];
    ways.push(Way::Last);
    let scene = looked_at(&plain, &ways, &mut view);
    let text = snapshot::rows(&drawn(&scene, 40, 12, &look)).join("\n");
    for said in ["4929", "rows above, 0 below", "40 of 50 rows: column 0 >= 1000"] {
        assert!(text.contains(said), "{said:?} is not in\n{text}");
    }
}

#[test]
fn long_cells_wrap_while_rows_are_free() {
    let schema = schema();
    let words =
        "waits for memory; half of the multiply-adds, and little more than half of the bytes";
    let data = with_frame(Frame::Table(Table {
        columns: ["layer", "value", "why"].map(str::to_owned).to_vec(),
        rows: vec![vec![Value::from("layer1"), Value::Float(0.5625), Value::from(words)]],
        ..Table::default()
    }));
    let look = look(ColorDepth::None, GlyphSet::Unicode);
    let scene = named(&schema, &data, "memory");
    let text = snapshot::rows(&drawn(&scene, 40, 12, &look)).join("\n");
    let seen = words.split(' ').all(|word| text.contains(word));
    assert!(seen && text.contains("0.5625") && text.contains("value"), "{text}");
    // Without the rows it is one line, cut.
    let text = snapshot::rows(&drawn(&scene, 40, 5, &look)).join("\n");
    assert!(text.contains("layer1") && !text.contains("bytes"), "{text}");
}

#[test]
fn marked_pictures_look_as_they_did() {
    let schema = schema();
    let data = steered(400);
    for (name, size, depth, set) in [
        ("40x12", (40, 12), ColorDepth::TrueColor, GlyphSet::Unicode),
        ("80x24", (80, 24), ColorDepth::None, GlyphSet::Ascii),
        ("120x40", (120, 40), ColorDepth::Ansi256, GlyphSet::Unicode),
    ] {
        let look = look(depth, set);
        let mut buf = Buffer::empty(Rect::new(0, 0, size.0, size.1));
        let panels = ["decision-boundary", "devices", "compression", "confusion"];
        for (place, panel) in (0..).zip(panels) {
            let mut view = View::new(schema.panel(panel).unwrap());
            view.frame.sort_marked(&["device".to_owned()]);
            let columns = ["device", "memory (GB)"].map(str::to_owned);
            view.frame.filter = Filter::read("memory > 20", &columns).unwrap();
            let plain = named(&schema, &data, panel);
            let scene = looked_at(&plain, &[Way::Right, Way::Right, Way::Down(1)], &mut view);
            let (wide, high) = (size.0 / 2, size.1 / 2);
            let (x, y) = (place % 2 * wide, place / 2 * high);
            draw_panel(Rect::new(x, y, wide - 1, high), &mut buf, &scene, &look);
        }
        compare(&format!("marked-{name}"), &buf);
    }
}
