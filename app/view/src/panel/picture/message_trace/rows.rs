//! The chunks of each rank after a round, a rank a row, with arrows for the messages of the round.

use std::ops::Range;

use mlsys_lab::frame::message_trace::Round;
use mlsys_lab::frame::{Arrived, ChunkState, MessageTrace, TraceState};
use mlsys_lab::value::{number, significant};
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::canvas::{self as pen, Pen};
use crate::panel::picture::message_trace::wires::{draw_gutter, gutter_width};
use crate::panel::picture::message_trace::words::{READABLE, Stage, label, letter};
use crate::panel::view::Mark;
use crate::theme::Look;

/// Columns of a number with three digits, a sign and a point.
const NUMBER: u16 = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The letter of each rank whose version is in, in a number of columns; below them the first number.
    Letters(u16),
    /// The number of versions in it, and how full that is.
    Count(u16),
    /// How full it is, as the height of a column.
    Height,
}

impl Form {
    /// The most telling form in which all chunks fit into `room` columns, or the narrowest.
    fn fitting(trace: &MessageTrace, room: u16, pitch: u16) -> Self {
        let chunks = pen::cells(trace.chunks.len());
        let ranks = pen::cells(trace.ranks);
        let are_readable = trace.ranks <= READABLE;
        let forms = [
            (Self::Letters(ranks.max(NUMBER)), are_readable && trace.sampled > 0 && pitch > 1),
            (Self::Letters(ranks), are_readable),
            (Self::Count(pen::width(&trace.ranks.to_string())), true),
        ];
        let fits = |(form, can): &(Self, bool)| *can && form.width().saturating_mul(chunks) <= room;
        forms.into_iter().find(fits).map_or(Self::Height, |(form, _)| form)
    }

    /// Columns from one cell to the next: one before it for what arrives, one behind it.
    fn width(self) -> u16 {
        match self {
            Self::Letters(wide) => wide.saturating_add(2),
            Self::Count(digits) => digits.saturating_add(3),
            Self::Height => 2,
        }
    }
}

/// A number in a width, with fewer digits where it needs more.
fn short(value: f32, room: u16) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    let mut digits =
        (1..=3_usize).rev().map(|digits| number(significant(f64::from(value), digits)));
    digits.find(|text| pen::width(text) <= room).unwrap_or_else(|| format!("{value:.0e}"))
}

/// A column as high as a chunk is complete.
pub(super) fn filled(versions: usize, held: &ChunkState, look: &Look) -> &'static str {
    match held.from.count() {
        0 => look.glyphs.faint_point,
        count => height(versions, count, look),
    }
}

/// The full column is kept for what is complete.
fn height(versions: usize, count: usize, look: &Look) -> &'static str {
    let steps = look.glyphs.heights.len() as f32;
    let most = if count < versions { (steps - 1.5) / steps } else { 1.0 };
    look.glyphs.height((count as f32 / versions.max(1) as f32).min(most))
}

pub(super) fn style(stage: Stage, look: &Look) -> Style {
    match stage {
        Stage::Nothing => look.theme.dim,
        Stage::One => look.theme.text,
        Stage::Some => look.theme.curves[1],
        Stage::Whole => look.theme.good,
    }
}

/// The ranks and chunks of a trace that are shown, and where.
pub(super) struct Rows {
    area: Rect,
    ranks: Range<usize>,
    pub(super) chunks: Range<usize>,
    pitch: u16,
    gutter: u16,
    labels: u16,
    form: Form,
}

impl Rows {
    /// Rows needed to show all ranks: one for the chunks' numbers, one a rank, and one more where chunks are left out.
    pub(super) fn least(area: Rect, trace: &MessageTrace, at: usize, mark: Option<Mark>) -> u16 {
        let ranks = pen::cells(trace.ranks);
        let least = ranks.saturating_add(1);
        let close = Self::new(Rect { height: least, ..area }, trace, at, mark);
        least.saturating_add(u16::from(close.chunks.len() < trace.chunks.len()))
    }

    /// Rows needed to show a number of each cell below its letters; nothing where the numbers have no columns.
    pub(super) fn with_numbers(
        area: Rect,
        trace: &MessageTrace,
        at: usize,
        mark: Option<Mark>,
    ) -> Option<u16> {
        let rows = pen::cells(trace.ranks).saturating_mul(2).saturating_add(1);
        let open = Self::new(Rect { height: rows, ..area }, trace, at, mark);
        let has_numbers = open.pitch == 2 && trace.sampled > 0;
        matches!(open.form, Form::Letters(wide) if has_numbers && wide >= NUMBER).then_some(rows)
    }

    /// What cells show of one rank's part, of a partial sum and of that of all `whole`; nothing where they have letters.
    pub(super) fn marks(&self, whole: usize, look: &Look) -> Option<[String; 3]> {
        let mark = |count: usize| match self.form {
            Form::Letters(_) => None,
            Form::Count(_) => Some(count.to_string()),
            Form::Height => Some(height(whole, count, look).to_owned()),
        };
        let [least, most] = [mark(2)?, mark(whole.saturating_sub(1).max(2))?];
        let partial = if least == most { least } else { format!("{least}-{most}") };
        Some([mark(1)?, partial, mark(whole)?])
    }

    pub(super) fn new(area: Rect, trace: &MessageTrace, at: usize, mark: Option<Mark>) -> Self {
        let mark = mark.unwrap_or_default();
        // One row is for the numbers of the chunks.
        let rows = area.height.saturating_sub(1);
        let pitch = if trace.ranks <= usize::from(rows / 2) { 2 } else { 1 };
        let shown = match trace.ranks {
            all if all <= usize::from(rows / pitch) => all,
            _ => usize::from(rows.saturating_sub(1) / pitch),
        };
        let ranks = window(mark.row, shown, trace.ranks);
        let gutter = if pitch == 2 { gutter_width(trace, at, &ranks) } else { 0 };
        let gutter = if gutter * 3 > area.width { 0 } else { gutter };
        let names = ranks.clone().map(|rank| label(trace, rank));
        let labels = pen::widest(names).min(area.width / 4);
        let room = area.width.saturating_sub(gutter + labels + 1);
        let form = Form::fitting(trace, room, pitch);
        let shown = usize::from(room / form.width().max(1));
        let chunks = window(mark.column, shown, trace.chunks.len());
        Self { area, ranks, chunks, pitch, gutter, labels, form }
    }

    fn x(&self, chunk: usize) -> u16 {
        let place = pen::cells(chunk - self.chunks.start);
        let first = self.area.x + self.gutter + self.labels + 1;
        first.saturating_add(place.saturating_mul(self.form.width()))
    }

    fn y(&self, rank: usize) -> u16 {
        let place = pen::cells(rank - self.ranks.start);
        self.area.y.saturating_add(1).saturating_add(place.saturating_mul(self.pitch))
    }

    pub(super) fn draw(
        &self,
        pen: &mut Pen<'_>,
        trace: &MessageTrace,
        after: &TraceState,
        mark: Option<Mark>,
        look: &Look,
    ) -> u16 {
        self.draw_numbers(pen, trace, look);
        let round = after.rounds.checked_sub(1).and_then(|last| trace.rounds.get(last));
        if let Some(round) = round.filter(|_| self.gutter > 0) {
            let corner = (self.area.x, self.area.y + 1);
            draw_gutter(pen, corner, self.gutter, round, &self.ranks, look);
        }
        for rank in self.ranks.clone().take_while(|rank| self.y(*rank) < self.area.bottom()) {
            let y = self.y(rank);
            let style = match mark.is_some_and(|mark| mark.row == rank) {
                true => look.theme.accent,
                false => look.theme.text,
            };
            let name = label(trace, rank);
            let name = pen::cut(&name, self.labels, look.glyphs.ellipsis);
            pen.text(self.area.x + self.gutter, y, &name, style);
            for chunk in self.chunks.clone() {
                let Some(held) = after.held(rank, chunk) else { continue };
                let is_marked = mark == Some(Mark { column: chunk, row: rank });
                let over = is_marked.then_some(look.theme.selection);
                let x = self.x(chunk);
                if held.arrived != Arrived::Nothing {
                    pen.glyph(x, y, look.glyphs.arrival, look.theme.accent);
                }
                self.draw_cell(pen, (x + 1, y), trace, (after.versions(chunk), held), over, look);
            }
            if let Some(round) = round.filter(|_| self.gutter == 0) {
                self.draw_sent(pen, trace, round, rank, look);
            }
        }
        self.draw_left_out(pen, trace, after, look)
    }

    fn draw_cell(
        &self,
        pen: &mut Pen<'_>,
        (x, y): (u16, u16),
        trace: &MessageTrace,
        (versions, held): (usize, &ChunkState),
        over: Option<Style>,
        look: &Look,
    ) {
        let style = over.unwrap_or_else(|| style(Stage::new(versions, held), look));
        match self.form {
            Form::Letters(wide) => {
                for (x, rank) in (x..).zip(0..trace.ranks) {
                    if held.from.contains(rank) {
                        pen.within(x, y, 1, &letter(trace, rank), style);
                    } else {
                        let empty = over.unwrap_or(look.theme.dim);
                        pen.glyph(x, y, look.glyphs.faint_point, empty);
                    }
                }
                let has_row = wide >= NUMBER && self.pitch == 2;
                if let Some(first) = held.sample.first().filter(|_| has_row) {
                    pen.within(x, y + 1, wide, &short(*first, wide), look.theme.dim);
                }
            }
            Form::Count(_) => {
                pen.glyph(x, y, filled(versions, held, look), style);
                pen.text(x + 1, y, &held.from.count().to_string(), style);
            }
            Form::Height => pen.glyph(x, y, filled(versions, held, look), style),
        }
    }

    fn draw_numbers(&self, pen: &mut Pen<'_>, trace: &MessageTrace, look: &Look) {
        let (y, dim) = (self.area.y, look.theme.dim);
        pen.ending(self.area.x + self.gutter + self.labels, y, "chunk", dim);
        let room = self.form.width().saturating_sub(1).max(1);
        let mut free = 0;
        for chunk in self.chunks.clone() {
            let x = self.x(chunk) + 1;
            let name = trace.chunks.get(chunk).map_or("", |chunk| &chunk.name);
            let wide = pen::width(name);
            // In narrow cells only those names are written that have room up to the next.
            let fits = wide <= room || self.form == Form::Height && chunk.is_multiple_of(4);
            let wide = wide.min(room.max(3));
            let is_inside = x.saturating_add(wide) <= self.area.right();
            if x >= free && is_inside && (fits || room > 3) {
                free = pen.within(x, y, wide, name, dim) + 1;
            }
        }
    }

    /// The receivers of a rank's messages, behind its cells, where there is no room for arrows.
    fn draw_sent(
        &self,
        pen: &mut Pen<'_>,
        trace: &MessageTrace,
        round: &Round,
        rank: usize,
        look: &Look,
    ) {
        let mut own = round.messages.iter().filter(|message| message.from == rank);
        let Some(first) = own.next() else { return };
        let to = format!("{} {}", look.glyphs.arrow, letter(trace, first.to));
        let text = match own.count() {
            0 => to,
            more => format!("{to} +{more}"),
        };
        let x = self.x(self.chunks.end) + 1;
        if x.saturating_add(pen::width(&text)) <= self.area.right() {
            pen.text(x, self.y(rank), &text, look.theme.accent);
        }
    }

    /// Says which ranks and chunks are shown where not all are; returns the first row below.
    fn draw_left_out(
        &self,
        pen: &mut Pen<'_>,
        trace: &MessageTrace,
        after: &TraceState,
        look: &Look,
    ) -> u16 {
        let of = |what: &str, shown: &Range<usize>, all: usize| {
            let part = shown.len() < all;
            part.then(|| format!("{what} {} to {} of {all}", shown.start, shown.end - 1))
        };
        let too_many = "too many to follow what each holds".to_owned();
        let left_out = [
            of("ranks", &self.ranks, trace.ranks),
            of("chunks", &self.chunks, trace.chunks.len()),
            (!after.is_followed()).then_some(too_many),
        ];
        let left_out: Vec<String> = left_out.into_iter().flatten().collect();
        let rows = pen::cells(self.ranks.len());
        let y = self.area.y + 1 + rows.saturating_mul(self.pitch);
        if left_out.is_empty() {
            return y;
        }
        let y = y.min(self.area.bottom().saturating_sub(1));
        pen.text(self.area.x, y, &left_out.join(", "), look.theme.dim);
        y + 1
    }
}

/// A page of places that contains the given one.
fn window(at: usize, shown: usize, all: usize) -> Range<usize> {
    let shown = shown.clamp(1, all.max(1));
    let first = (at / shown * shown).min(all.saturating_sub(shown));
    first..(first + shown).min(all)
}
