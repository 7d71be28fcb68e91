//! Graphs, timelines and panes with their styles, compared with the files in snapshots/.

use std::collections::BTreeSet;

use mlsys_harness::snapshot::rows;
use mlsys_lab::frame::{
    Bar, Bars, Cell, CellRow, Cells, Frame, HeatMap, Kind, Pane, Scatter, ScatterPoint, Table,
    Timeline, Tone,
};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::Value;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::glyphs::GlyphSet;
use crate::panel::Focus;
use crate::panel::picture::graph::GraphView;
use crate::panel::tests::fixtures::{self, picture};
use crate::panel::tests::{draw_frame, look};
use crate::panel::view::{FrameView, Mark};
use crate::theme::ColorDepth;

/// A screen's size by name, with what its terminal can show.
const SCREENS: [(&str, (u16, u16), ColorDepth, GlyphSet); 4] = [
    ("40x12", (40, 12), ColorDepth::Ansi16, GlyphSet::Unicode),
    ("80x24", (80, 24), ColorDepth::TrueColor, GlyphSet::Unicode),
    ("120x40", (120, 40), ColorDepth::None, GlyphSet::Ascii),
    ("200x60", (200, 60), ColorDepth::None, GlyphSet::Unicode),
];

pub(super) fn compare(name: &str, frame: &Frame, view: &FrameView) {
    for (size, (width, height), depth, set) in SCREENS {
        let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
        let look = look(depth, set);
        draw_frame(buf.area, &mut buf, frame, view, Focus::Keys, &look);
        super::compare(&format!("{name}-{size}"), &buf);
    }
}

#[test]
fn structures_look_as_they_did() {
    let graph =
        |graph, sight| (Frame::Graph(graph), FrameView { graph: sight, ..FrameView::default() });
    let marked = |frame, row, column| {
        (frame, FrameView { mark: Some(Mark { column, row }), ..FrameView::default() })
    };
    let whole = GraphView::default;
    // The square has brought its share to x, the product not yet.
    let steps = fixtures::expression().walk.len() - 1;
    let but_one = (0..8).filter(|group| *group != 1).collect();
    for (name, (frame, view)) in [
        ("graph-walk", graph(fixtures::expression(), GraphView { steps, ..whole() })),
        (
            "graph-twelve",
            graph(fixtures::twelve(), GraphView { steps: 5, selected: Some(10), ..whole() }),
        ),
        ("graph-folded", graph(fixtures::network(8), GraphView { selected: Some(7), ..whole() })),
        (
            "graph-unfolded",
            graph(
                fixtures::network(8),
                GraphView { selected: Some(9), folded: Some(but_one), ..whole() },
            ),
        ),
        (
            "graph-large",
            graph(
                fixtures::network(40),
                GraphView { selected: Some(100), folded: Some(BTreeSet::new()), ..whole() },
            ),
        ),
        ("timeline", marked(picture("lifetimes"), 0, 2)),
        ("panes", marked(Frame::Panes(heads(4)), 0, 1)),
        ("cells", marked(Frame::Cells(warps("")), 1, 9)),
        ("cells-text", marked(Frame::Cells(warps("7")), 1, 9)),
        ("table-sourced", marked(sourced(), 1, 1)),
        ("table-sourced-empty", marked(sourced(), 2, 1)),
        ("table-sourced-unmarked", (sourced(), FrameView::default())),
        ("scatter-names-up", marked(picture("names-up"), 0, 2)),
        ("scatter-names-across", (picture("names-across"), FrameView::default())),
        ("stacks", marked(picture("stacks"), 1, 0)),
        ("traffic", marked(picture("traffic"), 1, 2)),
    ] {
        compare(name, &frame, &view);
    }
}

/// Two points a step apart each way at a time, and a far one, so that the axes hold still.
#[test]
fn names_stand_next_to_their_own_points() {
    let place = |x: f64, y: f64, label: &str, series: usize| ScatterPoint {
        x: Some(x),
        y: Some(y),
        label: label.to_owned(),
        series,
    };
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    let glyphs =
        ["first", "second"].map(|name| (name, look.glyphs.class((name == "second").into())));
    for (right, up) in (0..40).flat_map(|right| [0, 1, 2].map(|up| (right, up))) {
        let (x, y) = (40.0 + f64::from(right), 10.0 + f64::from(up));
        let points = vec![
            place(0.0, 0.0, "", 2),
            place(100.0, 20.0, "", 2),
            place(40.0, 10.0, "first", 0),
            place(x, y, "second", 1),
        ];
        let series = ["a", "b", "c"].map(str::to_owned).to_vec();
        let frame = Frame::Scatter(Scatter { series, points, ..Scatter::default() });
        let mut buf = Buffer::empty(Rect::new(0, 0, 90, 24));
        draw_frame(buf.area, &mut buf, &frame, &FrameView::default(), Focus::Aside, &look);
        // The last row is the legend, which has all glyphs.
        let plane = &rows(&buf)[..23];
        for (row, line) in plane.iter().enumerate() {
            let cells: Vec<String> = line.chars().map(String::from).collect();
            for ((name, own), (_, other)) in [(glyphs[0], glyphs[1]), (glyphs[1], glyphs[0])] {
                let Some(at) = line.find(name) else { continue };
                let start = line[..at].chars().count();
                let end = start + name.len() - 1;
                let far = |glyph: &str| {
                    let at = cells.iter().position(|cell| cell == glyph)?;
                    Some(if at < start { start - at } else { at - end })
                };
                let told = || format!("{right} right, {up} up, row {row}:\n{}", plane.join("\n"));
                match (far(own), far(other)) {
                    (Some(own), Some(other)) => assert!(own < other, "{}", told()),
                    (None, Some(other)) => assert!(other > 1, "{}", told()),
                    (_, None) => {}
                }
            }
        }
    }
}

/// A table with sources of its cells.
fn sourced() -> Frame {
    let row = |name: &str, memory: Value| vec![name.into(), memory];
    let rows = vec![row("V100", 16_i64.into()), row("H100", 80_i64.into()), row("H300", "".into())];
    let columns = ["chip", "memory (GB)"].map(str::to_owned).to_vec();
    let mut table = Table::new(columns, rows);
    for column in 0..2 {
        table.notes.put(0, column, "a set of slides, 2023");
        table.notes.put(1, column, "the datasheet, which counts a gigabyte as a thousand million bytes. Corrected: the slide says 64");
    }
    table.notes.put(2, 0, "announced");
    Frame::Table(table)
}

pub(crate) fn lifetimes() -> Timeline {
    picture("lifetimes").timeline().unwrap().clone()
}

#[test]
fn a_small_timeline_still_says_its_peak() {
    let mut buf = Buffer::empty(Rect::new(0, 0, 60, 9));
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    draw_frame(
        buf.area,
        &mut buf,
        &picture("lifetimes"),
        &FrameView::default(),
        Focus::Aside,
        &look,
    );
    let text = rows(&buf).concat();
    assert!(text.contains("alive: peak 53.25 kB at operation 5"), "{text}");
}

#[test]
fn wide_letters_take_two_columns_of_their_box() {
    let mut graph = fixtures::network(1);
    graph.nodes[0].label = "漢字x".to_owned();
    let mut buf = Buffer::empty(Rect::new(0, 0, 120, 20));
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    let view = FrameView::default();
    draw_frame(buf.area, &mut buf, &Frame::Graph(graph), &view, Focus::Aside, &look);
    let drawn = rows(&buf).into_iter().find(|row| row.contains('漢')).unwrap();
    assert!(drawn.contains("漢 字 x"), "{drawn}");
}

/// Attention of a number of heads over eight letters.
pub(crate) fn heads(count: usize) -> Vec<Pane> {
    let head = |head: usize| {
        let weight = |row: usize, column: usize| {
            let near = 1.0 / (1.0 + row.abs_diff(column + head) as f32);
            if column > row { f32::NAN } else { near }
        };
        let letters: Vec<String> = "a tale o".chars().map(String::from).collect();
        let cells = (0..8).flat_map(|row| (0..8).map(move |column| weight(row, column)));
        Pane {
            title: format!("head {}", head + 1),
            frame: Frame::HeatMap(HeatMap {
                row_labels: letters.clone(),
                column_labels: letters,
                rows: 8,
                columns: 8,
                low: 0.0,
                high: 1.0,
                x: (0.0, 8.0),
                y: (0.0, 8.0),
                cells: cells.collect(),
                points: vec![],
                legend: "weight".to_owned(),
            }),
        }
    };
    (0..count).map(head).collect()
}

/// Two warps of which one diverges, and a third with no more threads than eight; perhaps with what stands in each cell.
pub(crate) fn warps(text: &str) -> Cells {
    let kind = |(name, tone): (&str, Tone)| Kind { name: name.to_owned(), tone };
    let row = |warp: usize, lanes: usize, remark: &str| {
        let cell = |lane: usize| Cell { kind: (warp * lane) % 2, text: text.to_owned() };
        CellRow {
            label: format!("warp {warp}"),
            cells: (0..32).map(|lane| (lane < lanes).then(|| cell(lane))).collect(),
            remark: remark.to_owned(),
        }
    };
    Cells {
        across: "lane".to_owned(),
        first: 0,
        group: 8,
        kinds: [("takes it", Tone::First), ("does not", Tone::Second)].map(kind).to_vec(),
        rows: vec![row(0, 32, "1 pass"), row(1, 32, "2 passes"), row(2, 8, "1 pass")],
        note: "A warp runs a side as long as one lane needs it.".to_owned(),
        ..Cells::default()
    }
}

#[test]
fn the_marked_cell_is_scrolled_into_view() {
    let mut cells = warps("");
    for row in &mut cells.rows {
        row.cells = vec![Some(Cell::new(0)); 300];
    }
    cells.rows = vec![cells.rows[0].clone(); 50];
    let look = look(ColorDepth::None, GlyphSet::Ascii);
    for (column, row) in [(0, 0), (150, 30), (299, 49)] {
        let mut buf = Buffer::empty(Rect::new(0, 0, 50, 12));
        let view = FrameView { mark: Some(Mark { column, row }), ..FrameView::default() };
        let frame = Frame::Cells(cells.clone());
        draw_frame(buf.area, &mut buf, &frame, &view, Focus::Keys, &look);
        let text = rows(&buf).join("\n");
        let marked = buf
            .content()
            .iter()
            .filter(|cell| cell.modifier.contains(ratatui::style::Modifier::REVERSED));
        assert_eq!(marked.count(), 1, "{text}");
        assert!(text.contains(&format!("lane {column}")), "{text}");
        assert!(text.contains("of 300"), "{text}");
    }
}

pub(crate) fn text_of(frame: &Frame, (width, height): (u16, u16)) -> String {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    let look = look(ColorDepth::None, GlyphSet::Unicode);
    draw_frame(buf.area, &mut buf, frame, &FrameView::default(), Focus::Aside, &look);
    rows(&buf).join("\n")
}

#[test]
fn numbers_of_two_digits_in_cells_give_up_their_gaps_before_they_go() {
    let mut cells = warps("12");
    cells.rows.iter_mut().for_each(|row| row.remark.clear());
    // Names, 32 cells, and a line between each eight of them.
    let text = |cell: u16| text_of(&Frame::Cells(cells.clone()), (7 + 32 * cell + 3, 12));
    assert!(text(4).contains("█12 █12"), "{}", text(4));
    assert!(text(3).contains("█12█12"), "{}", text(3));
    assert!(!text(2).contains("12█"), "{}", text(2));
}

#[test]
fn remarks_behind_bars_come_before_the_unit() {
    let bar = |label: &str, remark: &str| Bar {
        label: label.to_owned(),
        value: Some(0.9375),
        remark: remark.to_owned(),
    };
    let bars = vec![
        bar("warps", "40 of 64, room for 32 blocks"),
        bar("registers", "61440 of 65536: limits, 20 blocks fit"),
    ];
    let frame = Frame::Bars(Bars {
        quantity: String::new(),
        unit: "share taken".to_owned(),
        scale: Scale::Linear,
        bars,
    });
    let text = text_of(&frame, (65, 2));
    assert!(text.contains("limits, 20 blocks fit") && !text.contains("share taken"), "{text}");
    let text = text_of(&frame, (90, 2));
    assert!(text.contains("limits, 20 blocks fit") && text.contains("share taken"), "{text}");
    let text = text_of(&frame, (55, 2));
    assert!(text.contains("61440 of 65536") && text.contains("share taken"), "{text}");
    // Below their bars where there are rows.
    let text = text_of(&frame, (65, 4));
    assert!(text.contains("limits, 20 blocks fit") && text.contains("share taken"), "{text}");
}

#[test]
fn the_row_of_the_run_itself_is_in_sight() {
    const COUNT: usize = 40;
    let remark = |place: usize| if place == 30 { "x 4, this one" } else { "" };
    let bar = |place: usize| Bar {
        label: format!("row {place}"),
        value: Some(place as f64),
        remark: remark(place).to_owned(),
    };
    let bars = Bars {
        quantity: String::new(),
        unit: "blocks".to_owned(),
        scale: Scale::Linear,
        bars: (0..COUNT).map(bar).collect(),
    };
    let row = |place: usize| vec![format!("row {place}").into(), remark(place).into()];
    let table = Table::new(["name", ""].map(str::to_owned).to_vec(), (0..COUNT).map(row).collect());
    for frame in [Frame::Bars(bars), Frame::Table(table)] {
        for height in [6, 12, 20] {
            let text = text_of(&frame, (60, height));
            assert!(text.contains("row 30") && text.contains("this one"), "{text}");
            assert!(text.contains("above, 9 below"), "{text}");
        }
    }
}

#[test]
fn a_logarithmic_axis_of_bars_has_two_ticks() {
    let bar = |label: &str, value: f64| Bar {
        label: label.to_owned(),
        value: Some(value),
        remark: String::new(),
    };
    let bars = Bars {
        quantity: "energy".to_owned(),
        unit: "joules".to_owned(),
        scale: Scale::Log,
        bars: vec![bar("add", 3e-14), bar("multiply", 2e-13), bar("DRAM", 6.4e-10)],
    };
    for width in 40..120 {
        let text = text_of(&Frame::Bars(bars.clone()), (width, 9));
        let ticks = |line: &str| line.matches('│').count();
        let most = text.lines().map(ticks).max().unwrap_or(0);
        assert!(most >= 2, "{width}:\n{text}");
    }
}
