//! Graphs, timelines and panes with their styles, compared with the files in snapshots/.

use std::collections::BTreeSet;

use mlsys_harness::snapshot::rows;
use mlsys_lab::frame::{
    Cell, CellRow, Cells, Dimension, Frame, Graph, HeatMap, Kind, Milestone, Pane, Scatter,
    ScatterPoint, Span, Table, Timeline, Tone, Total,
};
use mlsys_lab::value::Value;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::glyphs::GlyphSet;
use crate::panel::Focus;
use crate::panel::picture::graph::GraphView;
use crate::panel::tests::{draw_frame, fixtures, look};
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

fn seen(graph: Graph, sight: GraphView) -> (Frame, FrameView) {
    let view = FrameView { graph: sight, ..FrameView::default() };
    (Frame::Graph(graph), view)
}

#[test]
fn a_walk_in_the_middle_of_its_way_back() {
    // The square has brought its share to x, the product not yet.
    let steps = fixtures::expression().walk.len() - 1;
    let (frame, view) = seen(fixtures::expression(), GraphView { steps, ..GraphView::default() });
    compare("graph-walk", &frame, &view);
}

#[test]
fn twelve_nodes_with_one_selected() {
    let (frame, view) = seen(
        fixtures::twelve(),
        GraphView { steps: 5, selected: Some(10), ..GraphView::default() },
    );
    compare("graph-twelve", &frame, &view);
}

#[test]
fn a_network_folds_by_layers() {
    let (frame, view) =
        seen(fixtures::network(8), GraphView { selected: Some(7), ..GraphView::default() });
    compare("graph-folded", &frame, &view);
    let (frame, view) = seen(
        fixtures::network(8),
        GraphView {
            selected: Some(9),
            folded: Some(BTreeSet::from_iter((0..8).filter(|group| *group != 1))),
            ..GraphView::default()
        },
    );
    compare("graph-unfolded", &frame, &view);
}

#[test]
fn of_two_hundred_nodes_a_part_is_seen() {
    let (frame, view) = seen(
        fixtures::network(40),
        GraphView { selected: Some(100), folded: Some(BTreeSet::new()), ..GraphView::default() },
    );
    compare("graph-large", &frame, &view);
}

/// What is alive in the pass over three layers, with the memory of all.
pub(crate) fn lifetimes() -> Timeline {
    let span = |lane: usize, start: u32, end: u32, class, label: &str| Span {
        lane,
        start: f64::from(start),
        end: f64::from(end),
        class,
        label: label.to_owned(),
        amount: Some(4096.0 * (lane + 1) as f64),
    };
    let lanes = ["input", "layer1.sum", "layer1.relu", "layer2.sum", "logits"];
    Timeline {
        unit: "operation".to_owned(),
        lanes: lanes.map(str::to_owned).to_vec(),
        classes: vec!["kept".to_owned(), "gone at once".to_owned()],
        spans: vec![
            span(0, 0, 10, 0, "input"),
            span(1, 1, 3, 1, ""),
            span(2, 2, 9, 0, "relu 12 kB"),
            span(3, 4, 7, 0, "sum"),
            span(4, 5, 6, 1, "logits"),
        ],
        marks: vec![Milestone { at: 6.0, label: "backward begins".to_owned() }],
        total: Some(Total {
            name: "alive".to_owned(),
            unit: "B".to_owned(),
            points: vec![
                (0.0, 4096.0),
                (1.0, 12288.0),
                (2.0, 24576.0),
                (3.0, 16384.0),
                (4.0, 32768.0),
                (5.0, 53248.0),
                (6.0, 32768.0),
                (7.0, 16384.0),
                (9.0, 4096.0),
                (10.0, 0.0),
            ],
        }),
    }
}

#[test]
fn lifetimes_with_their_total_and_its_peak() {
    let view = FrameView { mark: Some(Mark { column: 2, row: 0 }), ..FrameView::default() };
    compare("timeline", &Frame::Timeline(lifetimes()), &view);
    let mut buf = Buffer::empty(Rect::new(0, 0, 60, 9));
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    let frame = Frame::Timeline(lifetimes());
    let view = FrameView::default();
    draw_frame(buf.area, &mut buf, &frame, &view, Focus::Aside, &look);
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

#[test]
fn a_heat_map_a_head() {
    let view = FrameView { mark: Some(Mark { column: 1, row: 0 }), ..FrameView::default() };
    compare("panes", &Frame::Panes(heads(4)), &view);
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
fn cells_of_a_few_kinds() {
    let view = FrameView { mark: Some(Mark { column: 9, row: 1 }), ..FrameView::default() };
    compare("cells", &Frame::Cells(warps("")), &view);
    compare("cells-text", &Frame::Cells(warps("7")), &view);
}

#[test]
fn of_many_cells_the_marked_one_is_in_sight_and_groups_begin_where_they_end() {
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

#[test]
fn a_marked_cell_has_its_source_below() {
    let row = |name: &str, memory: Value| vec![name.into(), memory];
    let rows = vec![row("V100", 16_i64.into()), row("H100", 80_i64.into()), row("H300", "".into())];
    let columns = ["chip", "memory (GB)"].map(str::to_owned).to_vec();
    let mut table = Table::new(columns, rows);
    for column in 0..2 {
        table.notes.put(0, column, "a set of slides, 2023");
        table.notes.put(1, column, "the datasheet, which counts a gigabyte as a thousand million bytes. Corrected: the slide says 64");
    }
    table.notes.put(2, 0, "announced");
    let frame = Frame::Table(table);
    let view = |row, column| FrameView { mark: Some(Mark { column, row }), ..FrameView::default() };
    compare("table-sourced", &frame, &view(1, 1));
    compare("table-sourced-empty", &frame, &view(2, 1));
    compare("table-sourced-unmarked", &frame, &FrameView::default());
}

#[test]
fn names_stand_on_an_axis_that_has_no_numbers() {
    let point = |x: f64, y: f64, label: &str| ScatterPoint {
        x: Some(x),
        y: Some(y),
        label: label.to_owned(),
        series: 0,
    };
    let names = |names: &[&str]| Dimension {
        name: "kind".to_owned(),
        categories: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Dimension::default()
    };
    let scatter = Scatter {
        x: Dimension { name: "founded".to_owned(), ..Dimension::default() },
        y: names(&["GPU", "ASIC", "an inference server on a chip"]),
        points: vec![
            point(2012.0, 0.0, "one"),
            point(2016.0, 1.0, "two"),
            point(2018.0, 2.0, "three"),
        ],
        ..Scatter::default()
    };
    let marked = FrameView { mark: Some(Mark { column: 2, row: 0 }), ..FrameView::default() };
    compare("scatter-names-up", &Frame::Scatter(scatter.clone()), &marked);
    let across = Scatter {
        x: scatter.y.clone(),
        y: scatter.x.clone(),
        points: scatter
            .points
            .iter()
            .map(|p| point(p.y.unwrap(), p.x.unwrap(), &p.label))
            .collect(),
        ..scatter
    };
    compare("scatter-names-across", &Frame::Scatter(across), &FrameView::default());
}
