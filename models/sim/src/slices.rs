//! How a layer's weights are cut over ranks, and what each rank holds on the way through it: pictures that the lab
//! `tensor-parallel` and the run that really splits a layer share.

use mlsys_lab::frame::{Cell, CellRow, Cells, Kind, Pane, Tone};
use mlsys_lab::{Frame, picture};

/// Ranks that are drawn; the note tells of the others.
const DRAWN: usize = 16;

const TONES: [Tone; 4] = [Tone::First, Tone::Second, Tone::Third, Tone::Faint];

/// Cells along the side that is not cut.
const ALONG: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Each rank has some columns: some of the outputs.
    Columns,
    /// Each rank has some rows: it takes some of the inputs, and its outputs are a part of a sum.
    Rows,
    /// Each rank has all of it.
    Whole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight<'a> {
    pub name: &'a str,
    pub shape: &'a str,
    pub cut: Cut,
}

/// What norms and residuals, which lie between the split matrices, work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// All tokens, on each rank the same.
    Whole,
    /// Each rank's own tokens.
    Tokens,
}

/// What a rank holds of an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Whole,
    Tokens,
    Columns,
    Partial,
}

impl Held {
    /// Every case with its name and tone, in the order in which cells name them.
    const ALL: [(Self, &'static str, Tone); 4] = [
        (Self::Whole, "whole", Tone::First),
        (Self::Tokens, "own tokens", Tone::Third),
        (Self::Columns, "own columns", Tone::Second),
        (Self::Partial, "part of a sum", Tone::Warn),
    ];

    /// Its index in [`Self::ALL`], which lists the cases in their order.
    fn kind(self) -> usize {
        self as usize
    }
}

/// The letter of a rank: A, B, and so on; its number from the 27th on.
pub fn letter(rank: usize) -> String {
    u8::try_from(rank)
        .ok()
        .filter(|rank| *rank < 26)
        .map_or_else(|| rank.to_string(), |rank| char::from(b'A' + rank).to_string())
}

/// A pane for each weight, its slices lettered and coloured by rank.
pub fn weights(weights: &[Weight<'_>], ranks: usize) -> Vec<Pane> {
    let pane = |weight: &Weight<'_>| {
        let said = match weight.cut {
            Cut::Columns => "by columns",
            Cut::Rows => "by rows",
            Cut::Whole => "whole",
        };
        picture::pane(
            format!("{} {}, {said}", weight.name, weight.shape),
            slices(weight.cut, ranks),
        )
    };
    weights.iter().map(pane).collect()
}

fn slices(cut: Cut, ranks: usize) -> Frame {
    let drawn = ranks.clamp(1, DRAWN);
    let (rows, columns) = match cut {
        Cut::Columns => (ALONG, drawn),
        Cut::Rows => (drawn, ALONG),
        Cut::Whole => (ALONG, ALONG),
    };
    let kinds = match cut {
        Cut::Columns | Cut::Rows => colours(drawn),
        Cut::Whole => picture::kinds([("on every rank", Tone::First)]),
    };
    let cell = |row: usize, column: usize| {
        let rank = match cut {
            Cut::Columns => column,
            Cut::Rows => row,
            Cut::Whole => 0,
        };
        let text = match cut {
            Cut::Columns | Cut::Rows => letter(rank),
            Cut::Whole => String::new(),
        };
        let kind = rank % TONES.len();
        Some(Cell { kind, text })
    };
    let row = |row: usize| CellRow {
        label: String::new(),
        cells: (0..columns).map(|column| cell(row, column)).collect(),
        remark: String::new(),
    };
    Frame::Cells(Cells {
        kinds,
        rows: (0..rows).map(row).collect(),
        note: beyond(ranks, drawn),
        ..Cells::default()
    })
}

/// One kind a colour: more ranks than colours share them, so that neighbours differ, and the letter says which.
fn colours(ranks: usize) -> Vec<Kind> {
    let of = |(first, tone): (usize, &Tone)| {
        let letters: Vec<String> = (first..ranks).step_by(TONES.len()).map(letter).collect();
        Kind { name: letters.join(" "), tone: *tone }
    };
    TONES.iter().enumerate().take(ranks).map(of).collect()
}

/// Two panes: what each rank holds of every activation on the way forward, and of every gradient on the way back. `up` is
/// what the matrices that widen the MLP are called.
pub fn walks(region: Region, up: &str, ranks: usize) -> [Pane; 2] {
    let around = match region {
        Region::Whole => Held::Whole,
        Region::Tokens => Held::Tokens,
    };
    let (gather, reduce) = match region {
        Region::Whole => (None, "all-reduce"),
        Region::Tokens => (Some("all-gather"), "reduce-scatter"),
    };
    // One half of the layer: enter the split matrices, work on own columns, leave them by a sum.
    let half = |norm: &str, into: &str, within: &str, out: &str| {
        let mut rows = vec![(norm.to_owned(), around)];
        rows.extend(gather.map(|name| (name.to_owned(), Held::Whole)));
        rows.push((into.to_owned(), Held::Columns));
        rows.push((within.to_owned(), Held::Columns));
        rows.push((out.to_owned(), Held::Partial));
        rows.push((reduce.to_owned(), around));
        rows
    };
    let mut forward = vec![("x".to_owned(), around)];
    forward.extend(half("norm", "q, k, v", "attention", "output"));
    forward.push(("+ x".to_owned(), around));
    forward.extend(half("norm", up, "activation", "down"));
    forward.push(("+ x".to_owned(), around));

    let back = |out: &str, within: &str, into: &str| {
        let mut rows: Vec<(String, Held)> = Vec::new();
        rows.extend(gather.map(|name| (name.to_owned(), Held::Whole)));
        rows.push((out.to_owned(), Held::Columns));
        rows.push((within.to_owned(), Held::Columns));
        rows.push((into.to_owned(), Held::Partial));
        rows.push((reduce.to_owned(), around));
        rows.push(("norm, + past it".to_owned(), around));
        rows
    };
    let mut backward = vec![("output gradient".to_owned(), around)];
    backward.extend(back("down", "activation", up));
    backward.extend(back("output", "attention", "q, k, v"));
    [
        picture::pane("forward: activations", walk(&forward, ranks)),
        picture::pane("backward: gradients", walk(&backward, ranks)),
    ]
}

fn walk(rows: &[(String, Held)], ranks: usize) -> Frame {
    let drawn = ranks.clamp(1, DRAWN);
    let row = |(label, held): &(String, Held)| {
        let cell = |rank: usize| {
            let text = match held {
                Held::Whole => String::new(),
                Held::Partial => "+".to_owned(),
                Held::Tokens | Held::Columns => letter(rank),
            };
            let kind = held.kind();
            Some(Cell { kind, text })
        };
        CellRow {
            label: label.clone(),
            cells: (0..drawn).map(cell).collect(),
            remark: String::new(),
        }
    };
    Frame::Cells(Cells {
        across: "rank".to_owned(),
        kinds: picture::kinds(Held::ALL.map(|(_, name, tone)| (name, tone))),
        rows: rows.iter().map(row).collect(),
        note: beyond(ranks, drawn),
        ..Cells::default()
    })
}

fn beyond(ranks: usize, drawn: usize) -> String {
    match ranks.saturating_sub(drawn) {
        0 => String::new(),
        more => format!("and {more} more ranks, which go on the same way"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(frame: &Frame) -> Vec<(String, &str)> {
        let Frame::Cells(cells) = frame else { panic!("no cells") };
        let held = |row: &CellRow| cells.name(row.cells[0].as_ref().unwrap()).to_owned();
        let rows = cells.rows.iter();
        rows.map(|row| (held(row), row.label.as_str())).collect()
    }

    #[test]
    fn only_partial_sums_need_a_collective() {
        for (region, collective) in
            [(Region::Whole, "all-reduce"), (Region::Tokens, "reduce-scatter")]
        {
            for pane in walks(region, "up", 4) {
                let rows = rows(&pane.frame);
                let sums = rows.windows(2).filter(|pair| pair[0].0 == "part of a sum");
                assert_eq!(sums.clone().count(), 2, "{}", pane.title);
                for pair in sums {
                    assert_eq!(pair[1].1, collective, "{}", pane.title);
                }
                let all = rows.iter().filter(|row| row.1 == collective).count();
                assert_eq!(all, 2, "{}", pane.title);
            }
        }
    }

    #[test]
    fn slices_lie_the_way_the_weight_is_cut() {
        let (columns, rows) = (slices(Cut::Columns, 3), slices(Cut::Rows, 3));
        let (Frame::Cells(columns), Frame::Cells(rows)) = (columns, rows) else {
            panic!("no cells");
        };
        assert_eq!((columns.columns(), columns.rows.len()), (3, ALONG));
        assert_eq!((rows.columns(), rows.rows.len()), (ALONG, 3));
        assert_eq!(columns.at(2, 1), rows.at(1, 2));
        let Frame::Cells(many) = slices(Cut::Columns, 10_000) else { panic!("no cells") };
        assert_eq!(many.columns(), DRAWN);
        assert_eq!(many.note, "and 9984 more ranks, which go on the same way");
    }

    #[test]
    fn letters_end_and_numbers_go_on() {
        assert_eq!([0, 25, 26, 300].map(letter), ["A", "Z", "26", "300"]);
    }
}
