//! Messages between ranks: the chunks of each rank after a number of rounds, a rank a row, and arrows for the messages of the last round.

mod below;
mod cell;
mod diagram;
mod gutter;

use crate::figure::csv::Lines;
use crate::glyphs::Glyphs;
use crate::panel::picture::{At, Picture, Sheet};
use crate::panel::view::{Inspect, Way};
use mlsys_lab::frame::message_trace::Action;
use std::borrow::Cow;
use std::ops::Range;

use crate::canvas::Canvas;
use mlsys_lab::frame::MessageTrace;
use mlsys_lab::frame::message_trace::Round;
use mlsys_lab::frame::{Arrived, TraceState};
use ratatui::layout::Rect;

use crate::canvas::{self as pen, Pen};
use crate::figure::exchange::{self as figure, Stage};
use crate::panel::legend::{self, Item};
use crate::panel::view::{FrameView, Mark};
use crate::theme::Look;
use cell::Form;
use diagram::Diagram;

/// Draws an exchange where the view stands in it.
pub(crate) fn draw(
    area: Rect,
    canvas: &mut Canvas,
    exchange: &MessageTrace,
    view: &FrameView,
    look: &Look,
) {
    if area.is_empty() {
        return;
    }
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    if exchange.ranks == 0 || exchange.chunks.is_empty() {
        pen.text(area.x, area.y, "nobody takes part", look.theme.dim);
        return;
    }
    let at = figure::done(exchange, view.round);
    head(area, &mut pen, exchange, at, look);
    let body = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let mark = view.mark.map(|mark| mark.within(exchange.chunks.len(), exchange.ranks));
    let items = stages(look);
    let legend = match body.height {
        0..7 => 0,
        _ => legend::rows(&items, area.width, 1),
    };
    // A row of chunk numbers and two ranks come before what stands below.
    let spare = body.height.saturating_sub(legend + 5);
    let kept = below::kept(body.width, exchange, look);
    let said = kept.iter().fold(0, |sum: u16, rows| sum.saturating_add(*rows));
    let said = said.min(spare);
    // Above the rows the ring, line, tree, star or mesh itself, where the rows keep what they need.
    let rest = body.height.saturating_sub(legend + said);
    let rest = rest.saturating_sub(Plan::least(body, exchange, at, mark));
    // The boxes show all chunks, the rows those that have room.
    let boxed = Diagram::of(exchange, body, rest)
        .map(|diagram| (diagram, exchange.after(at, 0..exchange.chunks.len())))
        .filter(|(_, after)| after.is_followed());
    let top = boxed.as_ref().map_or(0, |(boxes, _)| boxes.rows() + 1);
    let rows = Rect { y: body.y + top, height: body.height - top, ..body };
    let plan = Plan::of(rows, rows.height - legend - said, exchange, at, mark);
    let after = match boxed {
        Some((diagram, after)) => {
            let round = at.checked_sub(1).and_then(|last| exchange.rounds.get(last));
            diagram.draw(&mut pen, exchange, &after, round, look);
            after
        }
        None => exchange.after(at, plan.chunks.clone()),
    };
    let end = plan.draw(&mut pen, exchange, at, &after, mark, look);
    let y = end.min(area.bottom() - legend - said);
    let row = Rect { y, height: legend, ..area };
    legend::draw(row, canvas, &items, look);
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let lines = below::lines(body.width, &kept, exchange, &after, mark, look);
    let rows = row.bottom()..area.bottom();
    for ((line, style), y) in lines.iter().zip(rows) {
        pen.text(area.x, y, line, *style);
    }
}

/// Where one stands, and a dot a round.
fn head(area: Rect, pen: &mut Pen<'_>, exchange: &MessageTrace, at: usize, look: &Look) {
    let said = figure::phase(exchange, at);
    let mut end = pen.text(area.x, area.y, &said, look.theme.accent);
    let rounds = exchange.rounds.len();
    let room = usize::from(area.right().saturating_sub(end + 2));
    if rounds > 0 && rounds <= room {
        let dots: String = (0..rounds)
            .map(|round| match round < at {
                true => look.glyphs.bullet,
                false => look.glyphs.faint_point,
            })
            .collect();
        end = pen.text(end + 2, area.y, &dots, look.theme.accent);
    }
    let what = pen::width(&exchange.what);
    if what > 0 && end.saturating_add(2 + what) <= area.right() {
        pen.ending(area.right(), area.y, &exchange.what, look.theme.dim);
    }
}

fn stages(look: &Look) -> Vec<Item> {
    let item = |stage: Stage| Item {
        mark: cell::sign(stage, look).to_owned(),
        style: cell::style(stage, look),
        text: stage.word().to_owned(),
        text_style: look.theme.dim,
    };
    let all = [Stage::Nothing, Stage::One, Stage::Some, Stage::Whole];
    // The least obvious first: an item that has no room is left out at the end.
    let arrival = Item {
        mark: look.glyphs.arrival.to_owned(),
        style: look.theme.accent,
        text: "came in this round".to_owned(),
        text_style: look.theme.dim,
    };
    let [nothing, one, some, whole] = all.map(item);
    vec![arrival, some, whole, one, nothing]
}

/// What of an exchange is in sight, and where.
struct Plan {
    area: Rect,
    ranks: Range<usize>,
    chunks: Range<usize>,
    /// Rows from one rank to the next.
    pitch: u16,
    /// Columns of the arrows.
    gutter: u16,
    /// Columns of the names.
    labels: u16,
    form: Form,
}

impl Plan {
    /// Rows without which ranks would be left out: one for the numbers of the chunks, a row a rank, and one more where it has
    /// to be said that chunks are left out.
    fn least(area: Rect, exchange: &MessageTrace, at: usize, mark: Option<Mark>) -> u16 {
        let ranks = u16::try_from(exchange.ranks).unwrap_or(u16::MAX);
        let least = ranks.saturating_add(1);
        let close = Self::of(area, least, exchange, at, mark);
        least.saturating_add(u16::from(close.chunks.len() < exchange.chunks.len()))
    }

    fn of(area: Rect, height: u16, exchange: &MessageTrace, at: usize, mark: Option<Mark>) -> Self {
        // One row for the numbers of the chunks, one to say what is left out.
        let rows = height.saturating_sub(1);
        let fits = |pitch: u16| exchange.ranks <= usize::from(rows / pitch);
        let pitch = if fits(2) || rows >= 12 { 2 } else { 1 };
        let most = usize::from(rows / pitch);
        let shown = match exchange.ranks {
            all if all <= most => all,
            _ => usize::from(rows.saturating_sub(1) / pitch).max(1),
        };
        let ranks = window(mark.map_or(0, |mark| mark.row), shown, exchange.ranks);
        let gutter = match pitch {
            2 => gutter::width(exchange, at, &ranks),
            _ => 0,
        };
        let gutter = if gutter * 3 > area.width { 0 } else { gutter };
        let names = ranks.clone().map(|rank| pen::width(&figure::label(exchange, rank)));
        let labels = names.max().unwrap_or(0).min(area.width / 4);
        let room = area.width.saturating_sub(gutter + labels + 1);
        let form = Form::fitting(exchange, room, pitch);
        let shown = usize::from(room / form.width().max(1)).max(1);
        let chunks = window(mark.map_or(0, |mark| mark.column), shown, exchange.chunks.len());
        Self { area: Rect { height, ..area }, ranks, chunks, pitch, gutter, labels, form }
    }

    /// The column of the screen at which a chunk begins.
    fn x(&self, chunk: usize) -> u16 {
        let place = u16::try_from(chunk - self.chunks.start).unwrap_or(u16::MAX);
        let first = self.area.x + self.gutter + self.labels + 1;
        first.saturating_add(place.saturating_mul(self.form.width()))
    }

    fn y(&self, rank: usize) -> u16 {
        let place = u16::try_from(rank - self.ranks.start).unwrap_or(u16::MAX);
        self.area.y.saturating_add(1).saturating_add(place.saturating_mul(self.pitch))
    }

    /// Draws numbers, arrows, names and cells; returns the first row below.
    fn draw(
        &self,
        pen: &mut Pen<'_>,
        exchange: &MessageTrace,
        at: usize,
        after: &TraceState,
        mark: Option<Mark>,
        look: &Look,
    ) -> u16 {
        self.numbers(pen, exchange, look);
        let round = at.checked_sub(1).and_then(|last| exchange.rounds.get(last));
        if let Some(round) = round.filter(|_| self.gutter > 0) {
            let (x, y) = (self.area.x, self.area.y + 1);
            gutter::draw(pen, (x, y), self.gutter, round, &self.ranks, look);
        }
        for rank in self.ranks.clone() {
            let y = self.y(rank);
            if y >= self.area.bottom() {
                break;
            }
            let style = match mark.is_some_and(|mark| mark.row == rank) {
                true => look.theme.accent,
                false => look.theme.text,
            };
            let x = self.area.x + self.gutter;
            let name = pen::cut(&figure::label(exchange, rank), self.labels, look.glyphs.ellipsis);
            pen.text(x, y, &name, style);
            for chunk in self.chunks.clone() {
                let Some(held) = after.held(rank, chunk) else {
                    continue;
                };
                let marked = mark.filter(|mark| (mark.row, mark.column) == (rank, chunk));
                let over = marked.map(|_| look.theme.selection);
                let x = self.x(chunk);
                if held.arrived != Arrived::Nothing {
                    pen.glyph(x, y, look.glyphs.arrival, look.theme.accent);
                }
                self.form.draw(pen, (x + 1, y), exchange, after.versions(chunk), held, over, look);
            }
            if let Some(round) = round.filter(|_| self.gutter == 0) {
                self.told(pen, exchange, round, rank, look);
            }
        }
        self.left_out(pen, exchange, after, look)
    }

    fn numbers(&self, pen: &mut Pen<'_>, exchange: &MessageTrace, look: &Look) {
        let (y, dim) = (self.area.y, look.theme.dim);
        let end = self.area.x + self.gutter + self.labels;
        pen.ending(end, y, "chunk", dim);
        let mut free = 0;
        for chunk in self.chunks.clone() {
            let x = self.x(chunk) + 1;
            let name = exchange.chunks.get(chunk).map_or("", |chunk| &chunk.name);
            let room = self.form.width().saturating_sub(1).max(1);
            let wide = pen::width(name);
            // In narrow cells only those names are written that have room up to the next.
            let fits = wide <= room || self.form == Form::Height && chunk.is_multiple_of(4);
            if x >= free && (fits || room > 3) {
                free = pen.within(x, y, wide.min(room.max(3)), name, dim) + 1;
            }
        }
    }

    /// What a rank has sent, behind its cells, where there is no room for arrows.
    fn told(
        &self,
        pen: &mut Pen<'_>,
        exchange: &MessageTrace,
        round: &Round,
        rank: usize,
        look: &Look,
    ) {
        let mut own = round.messages.iter().filter(|message| message.from == rank);
        let Some(first) = own.next() else { return };
        let x = self.x(self.chunks.end) + 1;
        let to = figure::letter(exchange, first.to);
        let said = match own.count() {
            0 => format!("{} {to}", look.glyphs.arrow),
            more => format!("{} {to} +{more}", look.glyphs.arrow),
        };
        if x.saturating_add(pen::width(&said)) <= self.area.right() {
            pen.text(x, self.y(rank), &said, look.theme.accent);
        }
    }

    /// Says which ranks and chunks are in sight where not all are; returns the first row below.
    fn left_out(
        &self,
        pen: &mut Pen<'_>,
        exchange: &MessageTrace,
        after: &TraceState,
        look: &Look,
    ) -> u16 {
        let mut said = Vec::new();
        let mut tell = |what: &str, shown: &Range<usize>, all: usize| {
            if shown.len() < all {
                said.push(format!("{what} {} to {} of {all}", shown.start, shown.end - 1));
            }
        };
        tell("ranks", &self.ranks, exchange.ranks);
        tell("chunks", &self.chunks, exchange.chunks.len());
        if !after.is_followed() {
            said.push("too many to follow what each holds".to_owned());
        }
        let rows = u16::try_from(self.ranks.len()).unwrap_or(u16::MAX);
        let y = self.area.y + 1 + rows.saturating_mul(self.pitch);
        if said.is_empty() {
            return y;
        }
        let y = y.min(self.area.bottom().saturating_sub(1));
        pen.text(self.area.x, y, &said.join(", "), look.theme.dim);
        y + 1
    }
}

/// A page of places that contains the given one.
fn window(at: usize, shown: usize, all: usize) -> Range<usize> {
    let shown = shown.clamp(1, all.max(1));
    let first = (at / shown * shown).min(all.saturating_sub(shown));
    first..(first + shown).min(all)
}

impl Picture for MessageTrace {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        draw(area, canvas, self, at.view, look);
    }

    fn words(&self, view: &FrameView, glyphs: &Glyphs) -> String {
        figure::outline(self, view.round, glyphs).join("\n")
    }

    fn values(&self, lines: &mut Lines) {
        values(lines, self);
    }

    /// Left and right go from round to round, up and down from rank to rank.
    fn go(&self, view: &mut FrameView, way: Way) {
        match way {
            Way::Left => self.step(view, -1),
            Way::Right => self.step(view, 1),
            Way::First => self.step(view, isize::MIN),
            Way::Last => self.step(view, isize::MAX),
            Way::Up(by) => {
                remark(self, view, |mark| Mark { row: mark.row.saturating_sub(by), ..mark });
            }
            Way::Down(by) => {
                remark(self, view, |mark| Mark { row: mark.row.saturating_add(by), ..mark });
            }
        }
    }

    /// A round, or another chunk of the rank that is looked at.
    fn inspect(&self, view: &mut FrameView, inspect: Inspect) {
        match inspect {
            Inspect::NextPoint | Inspect::Right => self.step(view, 1),
            Inspect::PreviousPoint | Inspect::Left => self.step(view, -1),
            Inspect::Earlier => {
                remark(self, view, |mark| Mark { column: mark.column.saturating_sub(1), ..mark });
            }
            Inspect::Later => {
                remark(self, view, |mark| Mark { column: mark.column.saturating_add(1), ..mark });
            }
            Inspect::Fit => view.mark = None,
            Inspect::Closer | Inspect::Wider | Inspect::LogAxis | Inspect::Smooth => {}
        }
    }

    fn steps(&self, view: &FrameView) -> (usize, usize) {
        (view.round.min(self.rounds.len()), self.rounds.len())
    }

    fn step(&self, view: &mut FrameView, by: isize) {
        let rounds = self.rounds.len();
        view.round = view.round.min(rounds).saturating_add_signed(by).min(rounds);
    }

    fn step_said(&self, view: &FrameView, glyphs: &Glyphs) -> Option<String> {
        Some(figure::line(self, view.round, glyphs))
    }

    fn page<'a>(&'a self, sheet: &mut Sheet<'a>) {
        let lines = [figure::kind(self), self.note.clone()];
        sheet.above.extend(lines.into_iter().filter(|line| !line.is_empty()));
        sheet.frame = Cow::Owned(figure::storyboard(self));
    }
}

/// Marks another cell; the first time the first.
fn remark(exchange: &MessageTrace, view: &mut FrameView, to: impl FnOnce(Mark) -> Mark) {
    let all = (exchange.chunks.len(), exchange.ranks);
    let mark = view.mark.map_or_else(Mark::default, to);
    view.mark = (all.0 > 0 && all.1 > 0).then(|| mark.within(all.0, all.1));
}

/// One line a message, in the order in which they are sent.
fn values(lines: &mut Lines, exchange: &MessageTrace) {
    lines.line(["round", "phase", "from", "to", "first chunk", "chunks", "action", "bytes"]);
    for (place, round) in exchange.rounds.iter().enumerate() {
        for message in &round.messages {
            let action = match message.action {
                Action::Add => "add",
                Action::Replace => "replace",
            };
            lines.line([
                (place + 1).to_string(),
                round.phase.clone(),
                exchange.name(message.from),
                exchange.name(message.to),
                message.chunk.to_string(),
                message.count.to_string(),
                action.to_owned(),
                message.bytes.to_string(),
            ]);
        }
    }
}
