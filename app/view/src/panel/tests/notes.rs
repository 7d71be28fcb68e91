//! What pictures say besides themselves, names, remarks and notes: it is whole, and lies on nothing.

use mlsys_harness::snapshot::rows;
use mlsys_lab::frame::{
    Bar, Bars, Cell, CellRow, Cells, Distribution, Frame, HeatMap, Histogram, Kind, Level,
    LineRole, Pane, Paragraph, Scatter, ScatterLine, ScatterPoint, Span, StyledSpan, StyledText,
    Timeline, Tone,
};
use mlsys_lab::picture::{heat_map, line};
use mlsys_lab::schema::Scale;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{draw_frame, look};
use crate::glyphs::GlyphSet;
use crate::panel::{Focus, FrameView};
use crate::theme::ColorDepth;

const SIZES: [(u16, u16); 3] = [(78, 16), (64, 18), (118, 34)];

fn drawn(frame: &Frame, size: (u16, u16)) -> Vec<String> {
    rows(&in_color(frame, size))
}

fn in_color(frame: &Frame, (width, height): (u16, u16)) -> Buffer {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    draw_frame(buf.area, &mut buf, frame, &FrameView::default(), Focus::Aside, &look);
    buf
}

/// Seven lines through one another, with the places where neighbours meet.
fn crossing(name: &str, label: &str) -> Frame {
    let at = |line: i32, x: f64| f64::from(line) * 0.4 + x * f64::from(7 - line);
    let line = |place: i32| ScatterLine {
        name: if name.is_empty() { String::new() } else { format!("{name} {place}") },
        points: (0..40).map(|x| (f64::from(x), at(place, f64::from(x)))).collect(),
        role: LineRole::Own,
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

/// Roofs that rise next to each other and end in flat parts far apart.
#[test]
fn a_name_is_not_where_another_line_leads() {
    let roof = |name: &str, slope: f64, peak: f64| {
        line(name, [(0.0, slope), (peak / slope, peak + slope), (100.0, peak + slope)])
    };
    let mut named = 0;
    for (width, apart) in (50..110).flat_map(|width| [1.5, 2.0, 3.0].map(|apart| (width, apart))) {
        let lines = vec![
            roof("first", 1.0, 20.0),
            roof("second", apart, 45.0),
            roof("third", 2.0 * apart, 90.0),
        ];
        let frame = Frame::Scatter(Scatter { lines, ..Scatter::default() });
        let buf = in_color(&frame, (width, 18));
        for (row, text) in rows(&buf).iter().enumerate().take(15) {
            for name in ["first", "second", "third"] {
                let Some(at) = text.find(name) else { continue };
                named += 1;
                let start = text[..at].chars().count();
                let color = |x: usize| buf[(x as u16, row as u16)].style().fg;
                let is_drawn = |x: &usize| buf[(*x as u16, row as u16)].symbol() != " ";
                let left = (start.saturating_sub(6).max(8)..start).rev().find(is_drawn);
                let after = start + name.len();
                let right = (after..usize::from(width).min(after + 6)).find(is_drawn);
                for near in [left, right].into_iter().flatten() {
                    let told = || format!("{width} {apart}:\n{}", rows(&buf).join("\n"));
                    assert_eq!(color(near), color(start), "{}", told());
                }
            }
        }
    }
    assert!(named > 200, "{named}");
}

#[test]
fn of_many_lines_none_goes_on_behind_a_name() {
    for size in SIZES {
        let named = drawn(&crossing("", "CROSSING"), size);
        let text = named.join("\n");
        assert!(text.contains("CROSSING"), "{text}");
        // Without names there is no legend: the field of the same height is drawn in fewer rows.
        let axis = |rows: &[String]| rows.iter().position(|row| row.contains('╰'));
        let bare = (0..4).map(|less| drawn(&crossing("", ""), (size.0, size.1 - less)));
        let bare = bare.into_iter().find(|bare| axis(bare) == axis(&named)).unwrap();
        for (bare, named) in bare.iter().zip(&named).take(axis(&named).unwrap()) {
            // A letter next to a mark stands on its line.
            let is_name = |above: char| !above.is_ascii_lowercase();
            let both = bare.chars().zip(named.chars());
            let covered = both.filter(|(below, above)| below != above && is_name(*above));
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

fn scatter(series: &[&str], points: &[(f64, f64, &str, usize)]) -> Scatter {
    let point = |&(x, y, label, series): &(f64, f64, &str, usize)| ScatterPoint {
        x: Some(x),
        y: Some(y),
        label: label.to_owned(),
        series,
    };
    Scatter {
        series: series.iter().map(ToString::to_string).collect(),
        points: points.iter().map(point).collect(),
        ..Scatter::default()
    }
}

#[test]
fn a_mark_of_two_points_has_both_names_and_is_that_of_the_first_group() {
    let series = ["this model", "best split", "in no point", "rule"];
    let points = [
        (0.0, 0.0, "", 0),
        (9.0, 9.0, "", 1),
        (5.0, 5.0, "ours", 0),
        (5.0, 5.001, "best", 1),
        (5.0, 5.0, "", 3),
    ];
    for size in SIZES {
        let text = drawn(&Frame::Scatter(scatter(&series, &points)), size).join("\n");
        assert!(text.contains("ours, best, rule") || text.contains("rule, ours, best"), "{text}");
        assert!(
            text.contains("● this model   ✕ best split   ") && !text.contains("no point"),
            "{text}"
        );
    }
}

#[test]
fn of_two_points_in_a_cell_the_one_that_is_seen_is_named() {
    let series = ["on the list", "this one"];
    let points = [
        (0.0, 0.0, "", 0),
        (9.0, 9.0, "", 0),
        (5.0, 5.0, "short", 0),
        (5.0, 5.001, "a name that is longer", 1),
    ];
    for size in (36..80).map(|width| (width, 9)) {
        let text = drawn(&Frame::Scatter(scatter(&series, &points)), size).join("\n");
        assert!(text.contains("a name that is longer") && !text.contains("short +1"), "{text}");
    }
}

#[test]
fn a_name_without_room_stands_behind_the_lines_and_is_led_to() {
    let line = |up: f64| line("", [(0.0, up), (10.0, 20.0 + up)]);
    let points = [(0.0, 0.0, "", 1), (10.0, 23.0, "", 1), (5.0, 11.0, "a long name of it", 0)];
    let frame = Frame::Scatter(Scatter {
        lines: [-2.0, -1.0, 0.0, 2.0, 3.0].map(line).to_vec(),
        ..scatter(&["a", "b"], &points)
    });
    let rows = drawn(&frame, (64, 18));
    let row = rows.iter().find(|row| row.contains("a long name of it")).unwrap();
    assert!(row.contains('●') && row.contains('·'), "{}", rows.join("\n"));
}

/// A line over an axis goes through the marks that lie on it.
#[test]
fn a_mark_is_on_its_line() {
    for up in 1..60 {
        let up = f64::from(up);
        let ends = [(0.0, 0.0, "", 0), (10.0, 61.0, "", 0), (5.0, up, "", 1)];
        let lines = vec![line("", [(1.0, up), (9.0, up)])];
        let frame = Frame::Scatter(Scatter { lines, ..scatter(&["ends", "on it"], &ends) });
        for size in SIZES {
            let rows = drawn(&frame, size);
            let row = rows.iter().find(|row| row.contains('✕')).unwrap();
            let around: Vec<char> = row.chars().collect();
            let at = around.iter().position(|c| *c == '✕').unwrap();
            let is_line = |c: char| ('\u{2801}'..='\u{28ff}').contains(&c);
            assert!(is_line(around[at - 1]), "{up}: {}", rows.join("\n"));
        }
    }
}

#[test]
fn a_narrow_matrix_keeps_its_numbers_and_the_number_of_each_column() {
    let matrix = |workers: usize| {
        let names: Vec<String> = (0..workers).map(|rank| format!("worker {rank}")).collect();
        let mut cells = vec![0.0; workers * workers];
        cells[1] = 102_400.0;
        let told = "bytes sent by a row to a column";
        Frame::HeatMap(HeatMap {
            column_labels: names.clone(),
            row_labels: names,
            ..heat_map([workers; 2], cells, (0.0, 102_400.0), told)
        })
    };
    for (workers, number) in [(4, "102 kB"), (8, "102 kB"), (10, "102k")] {
        let rows = drawn(&matrix(workers), (66, 18));
        let text = rows.join("\n");
        assert!(text.contains(&format!(" {number} ")) && !text.contains("workerworker"), "{text}");
        let last = format!(" {}", workers - 1);
        assert!(rows[0].trim_end().ends_with(&last), "{text}");
    }
    // What the strongest shade is stands below.
    let text = drawn(&matrix(16), (66, 18)).join("\n");
    assert!(text.contains("; the strongest shade is 102 kB"), "{text}");
}

#[test]
fn a_level_line_hides_no_column() {
    let level = Level { at: 0.0, label: String::new() };
    let frame = Frame::Histogram(Histogram {
        edges: vec![-1.0, -0.02, 0.02, 1.0],
        first: Distribution { counts: vec![20, 60, 20], ..Distribution::default() },
        levels: vec![level],
        ..Histogram::default()
    });
    let rows = drawn(&frame, (78, 16));
    let highest = rows.iter().position(|row| row.contains('█')).unwrap();
    assert!(highest < 6, "{}", rows.join("\n"));
    let axis = rows.iter().find(|row| row.contains('╰')).unwrap();
    assert!(axis.contains('┊'), "{}", rows.join("\n"));
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
        let frame =
            Frame::Bars(Bars { quantity: String::new(), unit: "B".to_owned(), scale, bars });
        for size in [(78, 5), (64, 9), (64, 18), (40, 9)] {
            let text = drawn(&frame, size).join("\n");
            for remark in ["8.008 bits a weight", "32 bits a weight"] {
                assert!(text.contains(remark), "{scale:?} {size:?}:\n{text}");
            }
        }
    }
}

#[test]
fn a_long_count_stands_in_millions_next_to_its_bar() {
    let bar =
        |value: f64| Bar { label: "rank".to_owned(), value: Some(value), remark: String::new() };
    let bars = vec![bar(603_979_776.0), bar(1_234_567.0)];
    let unit = "parameters".to_owned();
    let frame = Frame::Bars(Bars { quantity: String::new(), unit, scale: Scale::Linear, bars });
    let text = drawn(&frame, (78, 5)).join("\n");
    assert!(text.contains("604     M parameters") && text.contains("1.235 M parameters"), "{text}");
}

#[test]
fn timelines_side_by_side_stand_below_each_other_with_one_legend() {
    let classes = ["served", "served, next request", "done, keeps its slot"].map(str::to_owned);
    let pane = |title: &str| Pane {
        title: title.to_owned(),
        frame: Frame::Timeline(Timeline {
            unit: "step".to_owned(),
            lanes: (1..=4).map(|slot| format!("slot {slot}")).collect(),
            classes: classes.to_vec(),
            spans: vec![Span { lane: 1, start: 2.0, end: 30.0, ..Span::default() }],
            ..Timeline::default()
        }),
    };
    let frame = Frame::Panes(["continuous", "static"].map(pane).to_vec());
    for size in [(64, 22), (40, 20), (118, 34), (118, 12)] {
        let rows = drawn(&frame, size);
        let text = rows.join("\n");
        for class in &classes {
            assert!(text.matches(&format!("█ {class}")).count() <= 1, "{size:?}:\n{text}");
            assert!(text.contains(class.as_str()), "{size:?}: {class}\n{text}");
        }
        assert!(!text.contains("more"), "{size:?}:\n{text}");
        let is_stacked =
            !rows.iter().any(|row| row.contains("continuous") && row.contains("static"));
        assert_eq!(is_stacked, size.1 > 12, "{size:?}:\n{text}");
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
