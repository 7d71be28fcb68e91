//! One chunk of one rank: the ranks in its sum, and one of its numbers.

use mlsys_lab::frame::ChunkState;
use mlsys_lab::frame::MessageTrace;
use mlsys_lab::value::{number, significant};
use ratatui::style::Style;

use crate::canvas::{self as pen, Pen};
use crate::figure::exchange::{self as figure, Stage};
use crate::theme::Look;

/// How a cell is written, by the room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A place a rank, with its letter where its version is in, in a number of columns; its first number below.
    Letters(u16),
    /// How many versions are in it, and how full that is.
    Count(u16),
    /// How full it is, by the height of a column.
    Height,
}

/// Ranks of which all letters are shown.
const READ: usize = 8;
/// Columns of a number with three digits, a sign and a point.
const NUMBER: u16 = 7;

impl Form {
    /// The most telling form in which all chunks fit into `room` columns, or the narrowest.
    pub(super) fn fitting(exchange: &MessageTrace, room: u16, pitch: u16) -> Self {
        let chunks = u16::try_from(exchange.chunks.len()).unwrap_or(u16::MAX);
        let fits = |form: &Self| form.width().saturating_mul(chunks) <= room;
        let ranks = u16::try_from(exchange.ranks).unwrap_or(u16::MAX);
        let letters = Self::Letters(ranks);
        let roomy = Self::Letters(ranks.max(NUMBER));
        let count = Self::Count(pen::width(&exchange.ranks.to_string()));
        let numbered = exchange.sampled > 0 && pitch > 1;
        let forms = [
            Some(roomy).filter(|_| numbered && exchange.ranks <= READ),
            Some(letters).filter(|_| exchange.ranks <= READ),
            Some(count),
        ];
        let mut forms = forms.into_iter().flatten();
        forms.find(fits).unwrap_or(Self::Height)
    }

    /// Columns from one cell to the next: one before it for what arrives, one behind it.
    pub(super) fn width(self) -> u16 {
        match self {
            Self::Letters(wide) => wide.saturating_add(2),
            Self::Count(digits) => digits.saturating_add(3),
            Self::Height => 2,
        }
    }

    /// Draws a cell at a place, in the style of its stage or in one over it.
    #[expect(clippy::too_many_arguments, reason = "where, of what, and how it looks")]
    pub(super) fn draw(
        self,
        pen: &mut Pen<'_>,
        (x, y): (u16, u16),
        exchange: &MessageTrace,
        versions: usize,
        held: &ChunkState,
        over: Option<Style>,
        look: &Look,
    ) {
        let stage = figure::stage(versions, held);
        let style = over.unwrap_or_else(|| style(stage, look));
        match self {
            Self::Letters(wide) => {
                for rank in 0..exchange.ranks {
                    let offset = u16::try_from(rank).unwrap_or(u16::MAX);
                    match held.from.contains(rank) {
                        true => {
                            let letter = figure::letter(exchange, rank);
                            pen.within(x + offset, y, 1, &letter, style);
                        }
                        false => {
                            let empty = over.unwrap_or(look.theme.dim);
                            pen.glyph(x + offset, y, look.glyphs.faint_point, empty);
                        }
                    }
                }
                if wide >= NUMBER
                    && let Some(first) = held.sample.first()
                {
                    pen.within(x, y + 1, wide, &short(*first, wide), look.theme.dim);
                }
            }
            Self::Count(_) => {
                pen.glyph(x, y, filled(versions, held, look), style);
                let count = figure::count(held);
                pen.text(x + 1, y, &count, style);
            }
            Self::Height => pen.glyph(x, y, filled(versions, held, look), style),
        }
    }
}

/// A number in a width, with fewer digits where it needs more.
fn short(value: f32, room: u16) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    let written = |digits: usize| number(significant(f64::from(value), digits));
    let digits = (1..=3_usize).rev().map(written);
    let mut fitting = digits.filter(|text| pen::width(text) <= room);
    fitting.next().unwrap_or_else(|| format!("{value:.0e}"))
}

/// A column as high as a chunk is complete, of `versions` in all.
pub(super) fn filled(versions: usize, held: &ChunkState, look: &Look) -> &'static str {
    let all = versions.max(1);
    match held.from.count() {
        0 => look.glyphs.faint_point,
        count => look.glyphs.height((count as f32 / all as f32).min(1.0)),
    }
}

/// The glyph that stands for a stage in the legend.
pub(super) fn sign(stage: Stage, look: &Look) -> &'static str {
    match stage {
        Stage::Nothing => look.glyphs.faint_point,
        Stage::One => "A",
        Stage::Some => "AB",
        Stage::Whole => "ABCD",
    }
}

pub(super) fn style(stage: Stage, look: &Look) -> Style {
    match stage {
        Stage::Nothing => look.theme.dim,
        Stage::One => look.theme.text,
        Stage::Some => look.theme.curves[1],
        Stage::Whole => look.theme.good,
    }
}
