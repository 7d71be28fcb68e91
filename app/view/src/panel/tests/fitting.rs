//! Pictures with more rows than there is room for.

use mlsys_harness::samples::ring;
use mlsys_lab::frame::{
    Cell, CellRow, Cells, Frame, FrameSequence, Histogram, Kind, Level, MessageTrace, Pane, Table,
    Tone,
};
use mlsys_lab::value::Value;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::glyphs::GlyphSet;
use crate::panel::Focus;
use crate::panel::picture::{At, Picture};
use crate::panel::tests::fixtures;
use crate::panel::tests::structures::text_of;
use crate::panel::tests::{draw_frame, look, rows};
use crate::panel::view::{FrameView, Mark};
use crate::theme::ColorDepth;

#[test]
fn a_text_says_how_many_lines_are_below() {
    let lines: Vec<String> = (1..=9).map(|line| format!("line {line}")).collect();
    let text = |high: u16| text_of(&Frame::Text(lines.join("\n")), (30, high));
    assert!(text(9).contains("line 9") && !text(9).contains("below"), "{}", text(9));
    for high in 2..9 {
        let shown = usize::from(high) - 1;
        let left = format!("{} more lines below", 9 - shown);
        assert!(text(high).contains(&format!("line {shown}")), "{}", text(high));
        assert!(text(high).contains(&left), "{}", text(high));
    }
    let scrolled = FrameView { scroll: 3, ..FrameView::default() };
    let mut buf = Buffer::empty(Rect::new(0, 0, 30, 6));
    let frame = Frame::Text(lines.join("\n"));
    let look = look(ColorDepth::None, GlyphSet::Unicode);
    draw_frame(buf.area, &mut buf, &frame, &scrolled, Focus::Keys, &look);
    let text = rows(&buf).join("\n");
    assert!(text.contains("line 9") && !text.contains("below"), "{text}");
}

#[test]
fn a_line_of_code_goes_on_further_in() {
    let code = "fn main() {\n  let first = workgroup_id.x * 64u + local_id.x;\n}";
    let text = text_of(&Frame::Text(code.to_owned()), (30, 6));
    assert!(text.contains("\n  let first") && text.contains("\n      "), "{text}");
    let words = "A sentence of words that is longer than one row.";
    let text = text_of(&Frame::Text(words.to_owned()), (30, 6));
    assert!(text.contains("\nlonger") || text.contains("\nis longer"), "{text}");
}

fn grid(label: &str, rows: usize, text: &str) -> Cells {
    let row = |row: usize| CellRow {
        label: format!("{label} {row}"),
        cells: vec![Some(Cell { kind: 0, text: text.to_owned() }); 4],
        remark: String::new(),
    };
    Cells {
        across: "rank".to_owned(),
        kinds: vec![Kind { name: "sum".to_owned(), tone: Tone::First }],
        rows: (0..rows).map(row).collect(),
        ..Cells::default()
    }
}

#[test]
fn a_grid_keeps_its_heading_whatever_its_rows() {
    for high in 5..20 {
        let text = text_of(&Frame::Cells(grid("step", 12, "A")), (40, high));
        assert!(text.contains("rank") && text.contains(" 3"), "{high}:\n{text}");
        assert_eq!(text.contains("of 12"), high < 14, "{high}:\n{text}");
    }
}

#[test]
fn a_grid_of_few_rows_has_a_legend() {
    for high in 2..6 {
        let text = text_of(&Frame::Cells(grid("step", 1, "A")), (40, high));
        assert!(text.contains("step 0"), "{high}:\n{text}");
        assert_eq!(text.contains("sum"), high > 2, "{high}:\n{text}");
    }
}

#[test]
fn halves_of_a_picture_have_equal_cells() {
    let pane = |title: &str, label: &str| Pane {
        title: title.to_owned(),
        frame: Frame::Cells(grid(label, 6, "A")),
    };
    for width in 30..80 {
        let panes = Frame::Panes(vec![pane("one", "s"), pane("two", "later")]);
        let text = text_of(&panes, (width, 10));
        let wide = |row: &str| row.match_indices('A').map(|(at, _)| at).collect::<Vec<_>>();
        let row = text.lines().find(|row| row.contains("s 0") && row.contains("later 0"));
        let Some(row) = row else { continue };
        let places = wide(row);
        let gaps: Vec<usize> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps[..3], gaps[gaps.len() - 3..], "{width}:\n{text}");
    }
}

#[test]
fn cells_of_a_sequence_stand_still_while_their_texts_grow() {
    let still = |text: &str| Pane {
        title: format!("tick {text}"),
        frame: Frame::Cells(grid("row", 3, text)),
    };
    let stills = vec![still(""), still("1"), still("+4*5=20"), still("2")];
    let frame =
        Frame::FrameSequence(Box::new(FrameSequence { stills, ..FrameSequence::default() }));
    let look = look(ColorDepth::None, GlyphSet::Unicode);
    let heading = |round: usize| {
        let mut buf = Buffer::empty(Rect::new(0, 0, 60, 12));
        let view = FrameView { round, ..FrameView::default() };
        draw_frame(buf.area, &mut buf, &frame, &view, Focus::Aside, &look);
        rows(&buf).into_iter().find(|row| row.contains("rank")).unwrap()
    };
    for round in 1..4 {
        assert_eq!(heading(round), heading(0), "{round}");
    }
}

#[test]
fn all_ranks_have_a_row_where_arrows_have_none() {
    let view = FrameView { round: 3, ..FrameView::default() };
    let drawn = |high: u16| {
        let mut buf = Buffer::empty(Rect::new(0, 0, 100, high));
        let look = look(ColorDepth::None, GlyphSet::Unicode);
        let frame = Frame::MessageTrace(Box::new(ring(16)));
        draw_frame(buf.area, &mut buf, &frame, &view, Focus::Aside, &look);
        rows(&buf)
    };
    for high in 22..34 {
        let rows = drawn(high);
        let ranks = rows.iter().filter(|row| row.contains(" rank "));
        assert!(ranks.count() >= 16, "{high}: {rows:#?}");
        assert!(!rows.concat().contains("ranks 0 to"), "{high}: {rows:#?}");
    }
    let rows = drawn(16);
    let first = rows.iter().position(|row| row.contains(" rank 0 ")).unwrap();
    assert!(rows[first + 1].contains(" rank 1 "), "{rows:#?}");
}

#[test]
fn links_that_carry_the_same_are_told_at_once_and_others_in_order() {
    let drawn = |trace: MessageTrace| {
        let view = FrameView { round: 6, ..FrameView::default() };
        let mut buf = Buffer::empty(Rect::new(0, 0, 100, 30));
        let look = look(ColorDepth::None, GlyphSet::Unicode);
        draw_frame(
            buf.area,
            &mut buf,
            &Frame::MessageTrace(Box::new(trace)),
            &view,
            Focus::Aside,
            &look,
        );
        rows(&buf).join("\n")
    };
    // Bytes that differ by less than what is written.
    let mut uneven = ring(4);
    for round in &mut uneven.rounds {
        for message in &mut round.messages {
            message.bytes = 50_900_000 + 100 * message.from as u64;
        }
    }
    assert!(drawn(uneven.clone()).contains("over each of 4 links"), "{}", drawn(uneven));
    let mut unequal = ring(4);
    for round in &mut unequal.rounds {
        for message in &mut round.messages {
            message.bytes = 1_000_000 * (1 + message.to as u64);
        }
    }
    let text = drawn(unequal);
    let at = |link: &str| text.find(link).unwrap_or_else(|| panic!("{link}:\n{text}"));
    assert!(at("A to B") < at("B to C") && at("B to C") < at("C to D"), "{text}");
}

#[test]
fn a_table_counts_the_rows_out_of_sight() {
    let rows_of = |count: i64| (0..count).map(|row| vec![Value::Int(row)]).collect();
    let frame = Frame::Table(Table::new(vec!["row".to_owned()], rows_of(10)));
    let mut buf = Buffer::empty(Rect::new(0, 0, 30, 9));
    let look = look(ColorDepth::None, GlyphSet::Unicode);
    let view = FrameView { mark: Some(Mark { column: 0, row: 5 }), ..FrameView::default() };
    draw_frame(buf.area, &mut buf, &frame, &view, Focus::Keys, &look);
    let text = rows(&buf).join("\n");
    assert!(text.contains("rows above") || text.contains("1 row above"), "{text}");
    assert!(!text.contains("1 rows"), "{text}");
}

#[test]
fn few_categories_have_a_row_each_and_scroll() {
    let mut map = fixtures::confusion();
    for high in 4..11 {
        let text = text_of(&Frame::HeatMap(map.clone()), (60, high));
        assert!(text.contains(&format!("rows 1 to {} of 10", high - 2)), "{high}:\n{text}");
        assert!(text.contains("\n1 ") || text.contains("\n 1 "), "{high}:\n{text}");
    }
    // Shares have equally many decimals, counts none.
    map.cells.iter_mut().for_each(|cell| *cell = if *cell > 40.0 { 1.0 } else { *cell / 100.0 });
    let text = text_of(&Frame::HeatMap(map), (80, 14));
    assert!(text.contains("1.00") && text.contains("0.40") && text.contains("0.07"), "{text}");
}

#[test]
fn levels_that_would_hide_the_columns_are_marks_on_the_axis() {
    let with = |count: i32| {
        let at = |i: i32| f64::from(i) * 0.84 / f64::from(count) - 0.42;
        let levels = (0..count).map(|i| Level { at: at(i), label: String::new() }).collect();
        let histogram = Histogram { levels, second: None, ..fixtures::weights() };
        let text = text_of(&Frame::Histogram(histogram), (60, 14));
        let is_cut = |line: &&str| line.contains('│') && line.contains('┊');
        text.lines().filter(is_cut).count()
    };
    assert!(with(9) > 5);
    assert_eq!(with(200), 0);
}

#[test]
fn the_parts_of_a_graph_are_all_seen_where_the_lines_below_can_spare_rows() {
    // Two chains that no line joins.
    let mut graph = fixtures::twelve();
    graph.groups.clear();
    graph.nodes.iter_mut().for_each(|node| node.group = None);
    graph.edges.retain(|edge| (edge.from < 6) == (edge.to < 6));
    let view = FrameView::default();
    let at = At { view: &view, focus: Focus::Aside, walk: None, past: None };
    let need = graph.row_need(at, 100, &look(ColorDepth::None, GlyphSet::Unicode));
    let need = need.expect("a small graph that fits");
    for high in need.least..need.most + 4 {
        let text = text_of(&Frame::Graph(graph.clone()), (100, high));
        for node in &graph.nodes {
            assert!(text.contains(&node.label), "{} at {high}:\n{text}", node.label);
        }
        assert!(!text.contains("across"), "{high}:\n{text}");
    }
}
