//! Messages between ranks: what each rank holds after a number of rounds, and arrows for the messages of the last round.

mod boxes;
mod grid;
mod rows;
mod wires;
mod words;

use std::borrow::Cow;
use std::ops::Range;

use mlsys_lab::frame::message_trace::Action;
use mlsys_lab::frame::{Cell, CellRow, Cells, Frame, Kind, MessageTrace, Pane, TraceState};
use ratatui::layout::Rect;

use crate::canvas::{self as pen, Canvas, Pen};
use crate::csv::Lines;
use crate::glyphs::{GlyphSet, Glyphs};
use crate::panel::legend::{self, Item};
use crate::panel::picture::message_trace::boxes::Diagram;
use crate::panel::picture::message_trace::rows::Rows;
use crate::panel::picture::message_trace::words::Stage;
use crate::panel::picture::{At, Picture, RowNeed, Sheet, inspect_marked};
use crate::panel::view::{FrameView, Inspect, Mark};
use crate::text;
use crate::theme::Look;

fn draw_position(area: Rect, pen: &mut Pen<'_>, trace: &MessageTrace, at: usize, look: &Look) {
    let style = look.theme.accent;
    let mut end = pen.text(area.x, area.y, &words::position(trace, at), style);
    let rounds = trace.rounds.len();
    if rounds > 0 && rounds <= usize::from(area.right().saturating_sub(end + 2)) {
        let (done, left) = (look.glyphs.bullet.repeat(at), look.glyphs.faint_point);
        end = pen.text(end + 2, area.y, &(done + &left.repeat(rounds - at)), style);
    }
    let room = area.right().saturating_sub(end.saturating_add(2));
    let subject = [words::subject(trace), trace.what.clone()];
    if let Some(what) = subject.iter().find(|what| pen::width(what) <= room) {
        pen.ending(area.right(), area.y, what, look.theme.dim);
    }
}

/// The legend, the least obvious first: an item that has no room is left out at the end. Its letters are those of the ranks;
/// where cells have no room for letters, its numbers are those of the ranks in a sum.
fn items(trace: &MessageTrace, rows: &Rows, look: &Look) -> Vec<Item> {
    let item = |mark: &str, style, text: &str| Item::new(mark, style, text, look.theme.dim);
    let letters = |count: usize| ('A'..='Z').take(count).collect::<String>();
    // A server adds nothing of its own.
    let whole = trace.after(0, 0..1).versions(0);
    let all = match whole {
        0..=4 => letters(whole),
        5..=26 => format!("A-{}", words::letter(trace, whole - 1)),
        _ => "all".to_owned(),
    };
    let [one, some, all] = rows.marks(whole, look).unwrap_or_else(|| [letters(1), letters(2), all]);
    let stages = [
        (some.as_str(), Stage::Some, "partial sum"),
        (all.as_str(), Stage::Whole, "complete"),
        (one.as_str(), Stage::One, "one rank's"),
        (look.glyphs.faint_point, Stage::Nothing, "none"),
    ];
    // What all of two ranks have is complete.
    let stages = stages.into_iter().filter(|(_, stage, _)| *stage != Stage::Some || whole > 2);
    let stages = stages.map(|(mark, stage, text)| item(mark, rows::style(stage, look), text));
    let arrival = item(look.glyphs.arrival, look.theme.accent, "new");
    [arrival].into_iter().chain(stages).collect()
}

/// Rows that the sum, the traffic and the note need in any round: nothing above them may jump while one steps.
fn sentence_rows(width: u16, trace: &MessageTrace, look: &Look) -> [u16; 3] {
    /// Messages over all rounds up to which the widest sentence on traffic is looked for in each round.
    const MESSAGES: usize = 1 << 14;
    /// Rows of a sum, however wide its numbers could be.
    const SUM: u16 = 3;
    let rounds = trace.rounds.len();
    let messages = trace.rounds.iter().map(|round| round.messages.len()).sum::<usize>();
    let tried: Vec<usize> = match messages.saturating_mul(rounds) {
        0..=MESSAGES => (1..=rounds).collect(),
        _ => vec![1, rounds / 2, rounds],
    };
    let traffic = tried.into_iter().filter_map(|round| {
        let sentence = words::traffic(trace, &trace.after(round, 0..0), &look.glyphs)?;
        Some(text::rows(&sentence, width))
    });
    let sum = match rounds {
        0 => 0,
        _ => text::rows(&words::widest_sum(trace), width).min(SUM),
    };
    [sum, traffic.max().unwrap_or(0), text::rows(&trace.note, width)]
}

/// The sum in the marked cell or in that of the first message, the traffic and the note, each in the rows kept for it.
fn draw_sentences(
    mut pen: Pen<'_>,
    area: Rect,
    kept: [u16; 3],
    trace: &MessageTrace,
    after: &TraceState,
    mark: Option<Mark>,
    look: &Look,
) {
    let cell = mark.map(|mark| (mark.row, mark.column)).or_else(|| {
        let round = trace.rounds.get(after.rounds.checked_sub(1)?)?;
        let first = round.messages.iter().find(|message| message.count > 0)?;
        Some((first.to, first.chunk))
    });
    let sentences = [
        (
            cell.and_then(|(rank, chunk)| words::sum(trace, after.rounds, rank, chunk)),
            look.theme.accent,
        ),
        (words::traffic(trace, after, &look.glyphs), look.theme.text),
        (Some(trace.note.clone()).filter(|note| !note.is_empty()), look.theme.dim),
    ];
    let mut y = area.y;
    for ((sentence, style), rows) in sentences.into_iter().zip(kept) {
        let lines = sentence.map_or_else(Vec::new, |sentence| text::wrap(&sentence, area.width));
        // Half a sentence says something else.
        let is_whole = lines.len() <= usize::from(area.bottom().saturating_sub(y));
        let lines = if is_whole { lines } else { Vec::new() };
        for (line, y) in lines.iter().zip(y..y.saturating_add(rows)) {
            pen.text(area.x, y, line.trim_end(), style);
        }
        y = y.saturating_add(rows);
    }
}

fn cells(trace: &MessageTrace, at: usize) -> Cells {
    const MOST: usize = 32;
    let (ranks, chunks) = (0..trace.ranks.min(MOST), 0..trace.chunks.len().min(MOST));
    let after = trace.after(at, chunks.clone());
    let cell = |rank: usize, chunk: usize| {
        let held = after.held(rank, chunk)?;
        let stage = Stage::new(after.versions(chunk), held);
        Some(Cell {
            kind: Stage::ALL.iter().position(|other| *other == stage)?,
            text: words::contributors(trace, held),
        })
    };
    let row = |rank: usize| CellRow {
        label: words::label(trace, rank),
        cells: chunks.clone().map(|chunk| cell(rank, chunk)).collect(),
        remark: String::new(),
    };
    let left_out = |what: &str, shown: &Range<usize>, all: usize| {
        let last = shown.end.checked_sub(1).filter(|_| shown.len() < all)?;
        Some(format!("{what} 0 to {last} of {all}"))
    };
    let shown =
        [left_out("ranks", &ranks, trace.ranks), left_out("chunks", &chunks, trace.chunks.len())];
    let shown: Vec<String> = shown.into_iter().flatten().collect();
    let shown = (!shown.is_empty()).then(|| format!("Shown: {}.", shown.join(", ")));
    let notes = [shown, words::traffic(trace, &after, &Glyphs::new(GlyphSet::Unicode))];
    let kind = |stage: Stage| Kind { name: stage.word().to_owned(), tone: stage.tone() };
    Cells {
        across: "chunk".to_owned(),
        kinds: Stage::ALL.map(kind).to_vec(),
        rows: ranks.map(row).collect(),
        note: notes.into_iter().flatten().collect::<Vec<_>>().join(" "),
        ..Cells::default()
    }
}

/// The trace before the first round and after each, for a page; of many rounds some are left out, evenly.
fn storyboard(trace: &MessageTrace) -> Frame {
    const MOST: usize = 16;
    let rounds = trace.rounds.len();
    let last = rounds.min(MOST - 1);
    let pane = |place: usize| {
        let at = (place * rounds).checked_div(last).unwrap_or(0);
        Pane { title: words::position(trace, at), frame: Frame::Cells(cells(trace, at)) }
    };
    Frame::Panes((0..=last).map(pane).collect())
}

impl Picture for MessageTrace {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        let view = at.view;
        if area.is_empty() {
            return;
        }
        let mut pen = Pen::new(area, canvas, &look.glyphs);
        if self.ranks == 0 || self.chunks.is_empty() {
            pen.text(area.x, area.y, "no ranks take part", look.theme.dim);
            return;
        }
        let done = view.round.min(self.rounds.len());
        draw_position(area, &mut pen, self, done, look);
        let body = Rect { y: area.y + 1, height: area.height - 1, ..area };
        let mark = view.mark.map(|mark| mark.within(self.chunks.len(), self.ranks));
        let legend = if body.height < 7 { 0 } else { 1 };
        // A row of chunk numbers and all ranks, or where these have no room two, come before the sentences below.
        let room = body.height.saturating_sub(legend);
        let ranks = Some(Rows::least(body, self, done, mark)).filter(|rows| *rows <= room);
        let spare = room.saturating_sub(ranks.unwrap_or(0).max(5));
        let kept = sentence_rows(body.width, self, look);
        let sentences = kept.iter().fold(0, |sum: u16, rows| sum.saturating_add(*rows)).min(spare);
        // Above the rows the ring, line, tree, star or mesh itself, where the rows keep what they need.
        let boxes = |sentences: u16, rows: u16| {
            let rest = body.height.saturating_sub(legend + sentences).saturating_sub(rows);
            Diagram::new(self, body, rest).map(|diagram| (diagram, sentences))
        };
        // The numbers in the rows come before the last sentences.
        let shorter = [sentences, kept[0].saturating_add(kept[1]), kept[0]];
        let shorter = shorter.into_iter().filter(|rows| *rows <= sentences);
        let numbered = Rows::with_numbers(body, self, done, mark)
            .and_then(|rows| shorter.clone().find_map(|sentences| boxes(sentences, rows)))
            .or_else(|| boxes(sentences, Rows::least(body, self, done, mark)));
        let (diagram, sentences) =
            numbered.map_or((None, sentences), |(diagram, rows)| (Some(diagram), rows));
        // The boxes show all chunks, the rows those that have room.
        let boxed = diagram
            .map(|diagram| (diagram, self.after(done, 0..self.chunks.len())))
            .filter(|(_, after)| after.is_followed());
        let top = boxed.as_ref().map_or(0, |(boxes, _)| boxes.rows + 1);
        let height = body.height - top - legend - sentences;
        let rows = Rows::new(Rect { y: body.y + top, height, ..body }, self, done, mark);
        let items = items(self, &rows, look);
        let after = match boxed {
            Some((diagram, after)) => {
                let round = done.checked_sub(1).and_then(|last| self.rounds.get(last));
                diagram.draw(&mut pen, self, &after, round, look);
                after
            }
            None => self.after(done, rows.chunks.clone()),
        };
        let end = rows.draw(&mut pen, self, &after, mark, look);
        let y = end.min(area.bottom() - legend - sentences);
        // The whole legend, where rows are left.
        let left = area.bottom() - sentences - y;
        let legend = if legend == 0 { 0 } else { legend::rows(&items, area.width, left) };
        legend::draw(Rect { y, height: legend, ..area }, canvas, &items, look);
        let pen = Pen::new(area, canvas, &look.glyphs);
        let top = y + legend;
        let below = Rect { y: top, height: area.bottom().saturating_sub(top), ..body };
        draw_sentences(pen, below, kept, self, &after, mark, look);
    }

    fn words(&self, view: &FrameView, glyphs: &Glyphs) -> String {
        words::outline(self, view.round, glyphs).join("\n")
    }

    /// One line a message, in the order in which they are sent.
    fn values(&self, lines: &mut Lines) {
        lines.line(["round", "phase", "from", "to", "first chunk", "chunks", "action", "bytes"]);
        for (place, round) in self.rounds.iter().enumerate() {
            for message in &round.messages {
                let action = match message.action {
                    Action::Add => "add",
                    Action::Replace => "replace",
                };
                lines.line([
                    (place + 1).to_string(),
                    round.phase.clone(),
                    self.name(message.from),
                    self.name(message.to),
                    message.chunk.to_string(),
                    message.count.to_string(),
                    action.to_owned(),
                    message.bytes.to_string(),
                ]);
            }
        }
    }

    /// The position, the ranks and the legend; what is left is for the ring or tree itself and the sentences.
    fn row_need(&self, _: At<'_>, width: u16, _: &Look) -> Option<RowNeed> {
        /// Ranks that are all seen; of more some are left out on most screens.
        const MOST: usize = 16;
        let is_empty = self.ranks == 0 || self.chunks.is_empty();
        let rows = |area: Rect| Rows::least(area, self, 0, None).saturating_add(2);
        (!is_empty && self.ranks <= MOST)
            .then(|| RowNeed { least: rows(Rect::new(0, 0, width, 0)), most: u16::MAX })
    }

    fn places(&self, _: &FrameView) -> (usize, usize) {
        (self.chunks.len(), self.ranks)
    }

    /// Another chunk of the marked rank.
    fn inspect(&self, view: &mut FrameView, inspect: Inspect) {
        inspect_marked(view, inspect, |view, way| self.go(view, way));
    }

    fn step_count(&self) -> usize {
        self.rounds.len()
    }

    fn step_text(&self, view: &FrameView, glyphs: &Glyphs) -> Option<String> {
        Some(words::line(self, view.round, glyphs))
    }

    fn page<'a>(&'a self, sheet: &mut Sheet<'a>) {
        let lines = [words::kind(self), self.note.clone()];
        sheet.above.extend(lines.into_iter().filter(|line| !line.is_empty()));
        sheet.frame = Cow::Owned(storyboard(self));
    }
}
