//! Charts between two axes, at many sizes: ticks from which values can be read, and names that are those of one line or point.

use mlsys_harness::snapshot::rows;
use mlsys_lab::frame::{Dimension, Frame, Scatter, ScatterLine};
use mlsys_lab::picture::{axis, line, log_axis, point, reference};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;

use super::fixtures::{learning, schema};
use super::{draw_frame, drawn as drawn_panel, look, named};
use crate::glyphs::GlyphSet;
use crate::panel::{Focus, FrameView};
use crate::theme::ColorDepth;

fn drawn(scatter: &Scatter, (width, height): (u16, u16)) -> Buffer {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    let frame = Frame::Scatter(scatter.clone());
    draw_frame(buf.area, &mut buf, &frame, &FrameView::default(), Focus::Aside, &look);
    buf
}

fn sizes() -> impl Iterator<Item = (u16, u16)> {
    const HEIGHTS: [u16; 12] = [6, 7, 8, 9, 10, 11, 12, 14, 17, 21, 26, 31];
    [40, 62, 76, 116].into_iter().flat_map(|width| HEIGHTS.map(move |height| (width, height)))
}

/// Level lines of two names each, the highest first.
fn levels(values: &[f64]) -> Scatter {
    const NAMES: [&str; 5] = ["of H100", "of V100", "of A100", "of T4", "of TPU"];
    let level = |(name, up): (&&str, &f64)| line(*name, [(1.0, *up), (1e4, *up)]);
    Scatter {
        x: log_axis("rows", ""),
        y: Dimension { holds: Some((0.1, 1e4)), ..log_axis("intensity", "flops/byte") },
        lines: NAMES.iter().zip(values).map(level).collect(),
        ..Scatter::default()
    }
}

/// Lines that rise from one place.
fn fan(factors: &[f64]) -> Scatter {
    const NAMES: [&str; 8] =
        ["compute", "model", "chip", "old chip", "memory", "DRAM", "links", "disks"];
    let rising = |factor: f64| (0..=10).map(move |year| (f64::from(year), factor.powi(year)));
    let own = NAMES.iter().zip(factors).enumerate();
    let lines = own.map(|(place, (name, factor))| match place % 4 {
        3 => reference(*name, rising(*factor)),
        _ => line(*name, rising(*factor)),
    });
    Scatter {
        x: axis("after", "years"),
        y: Dimension { holds: Some((1.0, 1e4)), ..log_axis("grown", "times") },
        lines: lines.collect(),
        ..Scatter::default()
    }
}

/// The rows of the field without the labels of its axis, and the rows below.
fn field(text: &[String]) -> (Vec<String>, &[String]) {
    let is_axis = |at: char| at == '│' || at == '┤';
    let last = text.iter().rposition(|row| row.contains(is_axis)).unwrap();
    let inside = |row: &String| row.split_once(is_axis).map_or("", |(_, field)| field).to_owned();
    (text[..=last].iter().map(inside).collect(), &text[last + 1..])
}

/// Letters that stand alone, with their rows.
fn letters(rows: &[String]) -> Vec<(char, usize)> {
    let mut letters = Vec::new();
    for (y, row) in rows.iter().enumerate() {
        let row: Vec<char> = format!("  {row}  ").chars().collect();
        for near in row.windows(3) {
            let is_alone = !near[0].is_alphanumeric() && !near[2].is_alphanumeric();
            if near[1].is_ascii_lowercase() && is_alone {
                letters.push((near[1], y));
            }
        }
    }
    letters
}

/// Whether the letters in the field are those of the legend, each once.
fn letters_are_explained(text: &[String], scatter: &Scatter) {
    let (field, below) = field(text);
    let below = below.join("   ");
    let lines = scatter.lines.iter().map(|line| line.name.as_str());
    let names = lines.chain(scatter.points.iter().map(|point| point.label.as_str()));
    let entries = names.filter_map(|name| {
        let before = below.split(&format!(" {name}")).next().filter(|before| *before != below)?;
        let mut back = before.chars().rev();
        let letter = back.next()?;
        let is_alone = !back.next()?.is_alphanumeric();
        (letter.is_ascii_lowercase() && is_alone).then_some(letter)
    });
    let mut entries: Vec<char> = entries.collect();
    let mut found: Vec<char> = letters(&field).into_iter().map(|(letter, _)| letter).collect();
    entries.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, entries, "\n{}", text.join("\n"));
}

/// What the legend has before a name: the mark and its colour.
fn mark_of(buf: &Buffer, text: &[String], name: &str) -> Option<(String, Color)> {
    let (_, legend) = field(text);
    let first = text.len() - legend.len();
    let (y, row) = legend.iter().enumerate().find(|(_, row)| row.contains(name))?;
    let end = row[..row.find(name)?].chars().count();
    let before: Vec<char> = row.chars().take(end).collect();
    let start = (0..end).rev().find(|at| before[..*at].ends_with(&[' ', ' ', ' '])).unwrap_or(0);
    let mark: String = before[start..].iter().collect();
    Some((mark, buf[(start as u16, (first + y) as u16)].fg))
}

#[test]
fn names_of_level_lines_have_the_order_of_the_lines() {
    let mut named = 0;
    for size in sizes() {
        for values in [
            &[292.0, 139.0, 12.5][..],
            &[292.0, 250.0, 139.0],
            &[3000.0, 292.0, 240.0, 139.0, 12.5],
            &[160.0, 153.0],
        ] {
            let scatter = levels(values);
            let text = rows(&drawn(&scatter, size));
            letters_are_explained(&text, &scatter);
            let (field, _) = field(&text);
            let letters = letters(&field);
            let place = |(at, line): (usize, &ScatterLine)| {
                let letter = char::from(b'a' + at as u8);
                let of_letter = letters.iter().find(|(other, _)| *other == letter);
                let name = field.iter().position(|row| row.contains(&line.name));
                name.map(|y| (y, true)).or(of_letter.map(|(_, y)| (*y, false)))
            };
            let places: Vec<(usize, bool)> =
                scatter.lines.iter().enumerate().filter_map(place).collect();
            named += places.len();
            for pair in places.windows(2) {
                let is_ordered = match (pair[0], pair[1]) {
                    ((above, true), (below, true)) => above < below,
                    ((above, _), (below, _)) => above <= below,
                };
                assert!(is_ordered, "{size:?} {values:?}:\n{}", text.join("\n"));
            }
        }
    }
    assert!(named > 400, "{named}");
}

#[test]
fn what_the_legend_says_of_a_line_finds_the_line() {
    for size in sizes() {
        for factors in [
            &[27.0, 20.0, 11.5, 1.73, 1.41, 1.26, 1.18][..],
            &[4.0, 3.9, 3.8, 3.7, 3.6, 3.5, 3.4, 3.3],
            &[2.0, 2.0, 2.0],
        ] {
            let scatter = fan(factors);
            let buf = drawn(&scatter, size);
            let text = rows(&buf);
            letters_are_explained(&text, &scatter);
            let marks = scatter.lines.iter().filter_map(|line| mark_of(&buf, &text, &line.name));
            let mut marks: Vec<String> = marks.map(|mark| format!("{mark:?}")).collect();
            let count = marks.len();
            marks.sort_unstable();
            marks.dedup();
            assert_eq!(marks.len(), count, "{size:?}:\n{}", text.join("\n"));
        }
    }
}

#[test]
fn a_point_without_room_for_its_name_has_a_letter_or_none_has() {
    let chips = [("A100 of 40 GB", 1555.0, 312.0), ("A100 of 80 GB", 2039.0, 312.0)];
    let newer = [("H100 SXM5", 3350.0, 989.0), ("H200 SXM", 4800.0, 989.0)];
    let others = [("MI300X", 5300.0, 1307.0), ("TPU v5p", 2765.0, 459.0)];
    let all = chips.into_iter().chain(newer).chain(others);
    let scatter = Scatter {
        x: log_axis("bandwidth", "GB/s"),
        y: log_axis("BF16", "TFLOP/s"),
        points: all.map(|(name, x, y)| point(x, y, name, 0)).collect(),
        ..Scatter::default()
    };
    for size in sizes() {
        let text = rows(&drawn(&scatter, size));
        letters_are_explained(&text, &scatter);
        let all = text.join("\n");
        let named = scatter.points.iter().filter(|point| all.contains(&point.label)).count();
        assert!(size.0 < 60 || size.1 < 8 || named == scatter.points.len(), "{size:?}:\n{all}");
    }
}

#[test]
fn an_axis_has_two_ticks_or_more() {
    let sides = [
        (log_axis("energy of an operation", "joules"), (2e-13, 7e-12)),
        (log_axis("peak performance of all", "PFLOP/s"), (200.0, 2000.0)),
        (log_axis("working set", "KiB"), (8.0, 65536.0)),
        (log_axis("seconds of a token", "seconds"), (0.004, 0.03)),
        (axis("share of the time that is used", "percent of all"), (0.0, 100.0)),
        (axis("date", ""), (2023.0, 2025.0)),
    ];
    for ((side, (low, high)), size) in
        sides.iter().flat_map(|side| sizes().map(move |size| (side, size)))
    {
        let scatter = Scatter {
            x: side.clone(),
            y: axis("accuracy", ""),
            lines: vec![line("", [(*low, 0.0), (*high, 1.0)])],
            ..Scatter::default()
        };
        let text = rows(&drawn(&scatter, size));
        let all = text.join("\n");
        let below = text.iter().find(|row| row.contains('╰')).unwrap();
        assert!(below.matches('┬').count() >= 2, "{size:?}:\n{all}");
        // Where ticks have their own unit, the name has none.
        assert!(!all.contains("(KiB)") && !all.contains("(seconds)"), "{size:?}:\n{all}");
    }
}

#[test]
fn the_name_of_an_axis_hides_no_tick_where_there_are_rows() {
    let count = |name: &str, size: (u16, u16)| {
        let scatter = Scatter {
            x: axis(name, "years"),
            y: Dimension { holds: Some((0.0, 1.0)), ..axis("grown", "times") },
            lines: vec![line("", [(0.0, 0.0), (10.0, 1.0)])],
            ..Scatter::default()
        };
        let text = rows(&drawn(&scatter, size));
        assert!(text.iter().any(|row| row.contains(name)), "{}", text.join("\n"));
        text.iter().find(|row| row.contains('╰')).unwrap().matches('┬').count()
    };
    for size in sizes().filter(|(_, height)| *height >= 18) {
        let name = "after the first of all";
        assert_eq!(count(name, size), count("", size), "{size:?}");
    }
}

#[test]
fn a_letter_of_a_curve_is_in_the_legend() {
    let (schema, data) = (schema(), learning(80));
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    let scene = named(&schema, &data, "loss-curve");
    for (width, height) in
        (30..100).flat_map(|width| [5, 6, 8, 10, 14].map(|height| (width, height)))
    {
        let text = rows(&drawn_panel(&scene, width, height, &look));
        let all = text.join("\n");
        let ends = text.iter().filter_map(|row| row.chars().nth(usize::from(width) - 1));
        for letter in ends.filter(|end| ('a'..='c').contains(end)) {
            let names = ["loss", "validation_loss", "loss_floor"];
            let name = names[usize::from(letter as u8 - b'a')];
            assert!(all.contains(&format!("{letter} {name}")), "{width}x{height}:\n{all}");
        }
    }
}
