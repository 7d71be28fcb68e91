//! What pictures say besides themselves, names, remarks and notes: it is whole, and lies on nothing.

use mlsys_harness::snapshot::rows;
use mlsys_lab::frame::{
    Bar, Bars, Cell, CellRow, Cells, Frame, Kind, Paragraph, Scatter, ScatterLine, ScatterPoint,
    StyledSpan, StyledText, Tone,
};
use mlsys_lab::schema::Scale;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{draw_frame, look};
use crate::glyphs::GlyphSet;
use crate::panel::{Focus, FrameView};
use crate::theme::ColorDepth;

const SIZES: [(u16, u16); 3] = [(78, 16), (64, 18), (118, 34)];

fn drawn(frame: &Frame, (width, height): (u16, u16)) -> Vec<String> {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    draw_frame(buf.area, &mut buf, frame, &FrameView::default(), Focus::Aside, &look);
    rows(&buf)
}

/// Seven lines through one another, with the places where neighbours meet.
fn crossing(name: &str, label: &str) -> Frame {
    let at = |line: i32, x: f64| f64::from(line) * 0.4 + x * f64::from(7 - line);
    let line = |place: i32| ScatterLine {
        name: if name.is_empty() { String::new() } else { format!("{name} {place}") },
        points: (0..40).map(|x| (f64::from(x), at(place, f64::from(x)))).collect(),
    };
    let point = |place: i32| ScatterPoint {
        x: Some(f64::from(4 * place)),
        y: Some(at(place, f64::from(4 * place))),
        label: if label.is_empty() { String::new() } else { format!("{label} {place}") },
        series: 0,
    };
    Frame::Scatter(Scatter {
        lines: (0..7).map(line).collect(),
        points: (0..7).map(point).collect(),
        ..Scatter::default()
    })
}

#[test]
fn of_many_lines_none_goes_on_behind_a_name() {
    for size in SIZES {
        let (bare, named) =
            (drawn(&crossing("", ""), size), drawn(&crossing("", "crossing"), size));
        let text = named.join("\n");
        assert!(text.contains("crossing"), "{text}");
        for (bare, named) in bare.iter().zip(&named) {
            let covered = bare.chars().zip(named.chars()).filter(|(below, above)| below != above);
            let covered: String = covered.map(|(below, _)| below).collect();
            assert_eq!(covered.trim(), "", "{size:?}: {named}");
        }
    }
}

#[test]
fn a_letter_is_not_read_as_part_of_a_name() {
    for size in SIZES {
        let rows = drawn(&crossing("the line with the name", "at"), size);
        let plot = rows.iter().take_while(|row| !row.contains('╰'));
        for row in plot {
            let letters: Vec<char> = row.chars().collect();
            let runs_on = letters.windows(4).any(|four| {
                let [before, letter, gap, after] = four else { return false };
                !before.is_alphanumeric()
                    && letter.is_ascii_lowercase()
                    && *gap == ' '
                    && after.is_alphanumeric()
            });
            assert!(!runs_on, "{size:?}: {row}");
        }
    }
}

#[test]
fn remarks_without_room_behind_their_bars_stand_below() {
    let bar = |label: &str, value: f64, remark: &str| Bar {
        label: label.to_owned(),
        value: Some(value),
        remark: remark.to_owned(),
    };
    for scale in [Scale::Linear, Scale::Log] {
        let bars = vec![
            bar("8-bit integers, a scale a row of 4096", 70.07e9, "8.008 bits a weight"),
            bar("32-bit floats", 280e9, "32 bits a weight"),
            bar("this one", 35e9, ""),
        ];
        let frame = Frame::Bars(Bars { unit: "B".to_owned(), scale, bars });
        for size in [(78, 5), (64, 9), (64, 18), (40, 9)] {
            let text = drawn(&frame, size).join("\n");
            for remark in ["8.008 bits a weight", "32 bits a weight"] {
                assert!(text.contains(remark), "{scale:?} {size:?}:\n{text}");
            }
        }
    }
}

#[test]
fn a_note_is_whole_in_a_low_panel() {
    let note = "token 64 of 64; without cache the same tokens; scores without cache differ by 1.5e-5 at most";
    let paragraph = |text: usize| Paragraph {
        label: String::new(),
        stretches: vec![StyledSpan { standing: 0, text: format!("{text}+91=") }],
    };
    let text = Frame::StyledText(StyledText {
        paragraphs: (0..8).map(paragraph).collect(),
        note: note.to_owned(),
        ..StyledText::default()
    });
    let row = |row: usize| CellRow {
        label: format!("row {row}"),
        cells: vec![Some(Cell::default()); 12],
        remark: "wave 1".to_owned(),
    };
    let cells = Frame::Cells(Cells {
        across: "tile".to_owned(),
        kinds: vec![Kind { name: "a full wave".to_owned(), tone: Tone::First }],
        rows: (0..9).map(row).collect(),
        note: note.to_owned(),
        ..Cells::default()
    });
    for (frame, size) in [(text, (78, 5)), (cells, (78, 7))] {
        let rows = drawn(&frame, size);
        let text = rows.iter().map(|row| row.trim()).collect::<Vec<_>>().join(" ");
        assert!(text.contains(note), "{}", rows.join("\n"));
    }
}
