//! The source with line numbers, where the warps are, and the cost of each line in the margin.

use std::collections::BTreeMap;
use std::ops::Range;

use mlsys_kernel::WarpState;
use mlsys_lab::Value;
use mlsys_lab::frame::Table;
use mlsys_lab::frame::kernel::{ClaimKind, Kernel, LineCost};
use ratatui::layout::Rect;

use super::before::Before;
use super::rows::{Piece, cut};
use super::thread::status;
use super::{KernelDebugger, write_sentences};
use crate::canvas::{self as pen, Canvas, Pen, width};
use crate::panel::picture::RowNeed;
use crate::panel::plane::split;
use crate::quantity::percent;
use crate::text;
use crate::theme::Look;

/// Columns of the marks before a line: problem or breakpoint, the selected warp, the number of others there.
const MARKS: u16 = 4;
const COUNT: u16 = 8;
/// Columns the text needs next to the counts.
const TEXT: u16 = 24;
/// Rows of the sentences below: before the first step, and where there is room.
const LEAST_SAID: u16 = 3;
const MOST_SAID: u16 = 6;

struct Line {
    number: u32,
    text: String,
    /// So far or in the whole run.
    cost: LineCost,
    /// In the whole of an earlier run, where the cost is of a whole run too and another.
    then: Option<LineCost>,
    /// The column at which the selected warp runs next, if that is in this line.
    current: Option<u32>,
    /// Other warps that run this line next.
    others: usize,
    has_breakpoint: bool,
    /// The first problem of the whole run in this line, and the step that it happens in.
    problem: Option<(u64, String)>,
}

/// Active lanes over 32 for each warp instruction; absent where nothing ran.
fn share(cost: &LineCost) -> Option<f64> {
    (cost.issues > 0).then(|| cost.lanes as f64 / (32 * cost.issues) as f64)
}

/// A count where the line ran at all.
fn where_run(cost: &LineCost, count: u64) -> String {
    if cost.issues == 0 { String::new() } else { count.to_string() }
}

fn nonzero(count: u64) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}

/// A column of the margin: its title, and a line's entry.
type Column = (&'static str, fn(&LineCost) -> String);

const COLUMNS: [Column; 5] = [
    ("runs", |cost| where_run(cost, cost.issues)),
    ("lanes", |cost| share(cost).map_or(String::new(), percent)),
    ("sectors", |cost| match cost.accesses {
        0 => String::new(),
        _ => where_run(cost, cost.sectors),
    }),
    ("diverge", |cost| nonzero(cost.divergent)),
    ("banks", |cost| nonzero(cost.replays)),
];

/// A line of the text; nothing in it may steer the terminal.
fn printable(line: &str) -> String {
    line.replace('\t', "    ").replace(mlsys_expr::steers_terminal, " ")
}

/// The lines: at the beginning with the cost of the whole run, later with the cost so far.
fn listing(kernel: &Kernel, debugger: &KernelDebugger, before: Option<&Before<'_>>) -> Vec<Line> {
    let mut costs: BTreeMap<u32, LineCost> = BTreeMap::new();
    let mut others: BTreeMap<u32, usize> = BTreeMap::new();
    let mut current = None;
    match debugger.machine() {
        Ok(machine) if machine.clock() > 0 => {
            let lines = machine.lines().into_iter();
            costs.extend(lines.map(|(line, counts)| (line, counts.of_line(line))));
            let here = debugger.here();
            for block in machine.blocks() {
                for (warp, (state, place)) in block.warps.iter().enumerate() {
                    if *state == WarpState::Done {
                        continue;
                    }
                    if (block.block, warp) == (here.block, here.warp as usize) {
                        current = Some(*place);
                    } else {
                        *others.entry(place.line).or_insert(0) += 1;
                    }
                }
            }
        }
        Ok(_) | Err(_) => costs.extend(kernel.whole.lines.iter().map(|cost| (cost.line, *cost))),
    }
    let is_whole = [0, debugger.total()].contains(&debugger.clock());
    let before = before.filter(|_| is_whole);
    let line = |(text, number): (&str, u32)| {
        let mut problems = kernel.whole.problems.iter();
        let problem = problems.find(|problem| problem.line == number);
        Line {
            number,
            text: printable(text),
            cost: costs.get(&number).copied().unwrap_or_default(),
            then: before.filter(|b| b.has_changed(number)).and_then(|b| b.cost(number)),
            current: current.filter(|place| place.line == number).map(|place| place.column),
            others: others.get(&number).copied().unwrap_or(0),
            has_breakpoint: debugger.has_breakpoint(number),
            problem: problem.map(|problem| (problem.step + 1, problem.sentence.clone())),
        }
    };
    kernel.recipe.source.lines().zip(1_u32..).map(line).collect()
}

pub(super) fn table(kernel: &Kernel, debugger: &KernelDebugger) -> Table {
    let row = |line: Line| {
        let cost = line.cost;
        let whole = |count: u64| match cost.issues {
            0 => Value::from(""),
            _ => Value::Int(count as i64),
        };
        let warps = match (line.current, line.others) {
            (Some(_), others) => format!("this one and {others}"),
            (None, others) => nonzero(others as u64),
        };
        vec![
            Value::Int(i64::from(line.number)),
            Value::from(line.text.as_str()),
            whole(cost.issues),
            share(&cost).map_or(Value::from(""), Value::Float),
            whole(cost.divergent),
            whole(cost.sectors),
            whole(cost.replays),
            Value::from(warps),
            Value::from(line.problem.as_ref().map_or("", |(_, problem)| problem)),
        ]
    };
    let (costs, rest) = (["divergent", "sectors", "bank replays"], ["warps", "problem"]);
    let titles = ["line", "kernel", "warp instructions", "lanes"].into_iter();
    Table::new(
        titles.chain(costs).chain(rest).map(str::to_owned).collect(),
        listing(kernel, debugger, None).into_iter().map(row).collect(),
    )
}

pub(super) fn draw(
    area: Rect,
    canvas: &mut Canvas,
    (kernel, past): (&Kernel, Option<&Before<'_>>),
    debugger: &KernelDebugger,
    look: &Look,
) {
    let theme = &look.theme;
    let lines = listing(kernel, debugger, past);
    let texts = lines.iter().map(|line| line.text.as_str());
    let Listing { numbers, shown, margin, pieces, first, parts: [body, foot] } =
        Listing::new(area, texts, debugger);
    let (all, head) = (pen::cells(pieces.len()), u16::from(body.height > 3));
    let marked = debugger.marked();
    let before = MARKS + numbers + 1;
    let columns = || COLUMNS.iter().take(shown).zip((margin + COUNT..).step_by(COUNT.into()));
    let start = body.x + before;
    let mut pen = Pen::new(body, canvas, &look.glyphs);
    if head > 0 {
        let so_far = if debugger.clock() == 0 { "whole run" } else { "so far" };
        pen.within(start, body.y, margin.saturating_sub(start), so_far, theme.dim);
        for ((title, _), right) in columns() {
            pen.ending(right, body.y, title, theme.dim);
        }
    }
    for (piece, y) in pieces.iter().skip(first).zip(rows(body)) {
        let line = &lines[piece.line];
        let style = match (line.current, &line.problem) {
            (Some(_), _) => theme.accent,
            (None, Some(_)) => theme.bad,
            (None, None) => theme.code,
        };
        pen.text(start + piece.indent, y, &line.text[piece.text.clone()], style);
        if let Some(column) = line.current {
            draw_current(&mut pen, &line.text, piece, column, (start, y), look);
        }
        if piece.text.start > 0 {
            continue;
        }
        match (&line.problem, line.has_breakpoint) {
            (Some(_), true) => pen.glyph(body.x, y, "&", theme.bad),
            (Some(_), false) => pen.glyph(body.x, y, "!", theme.bad),
            (None, true) => pen.glyph(body.x, y, look.glyphs.classes[0], theme.warn),
            (None, false) => {}
        }
        if line.current.is_some() {
            pen.glyph(body.x + 1, y, look.glyphs.forward, theme.accent);
        }
        match line.others {
            0 => {}
            others @ 1..=9 => pen.glyph(body.x + 2, y, &others.to_string(), theme.dim),
            _ => pen.glyph(body.x + 2, y, "+", theme.dim),
        }
        let style = if line.number == marked { theme.selection } else { theme.dim };
        pen.ending(body.x + MARKS + numbers, y, &line.number.to_string(), style);
        for ((_, entry), right) in columns() {
            let now = entry(&line.cost);
            pen.ending(right, y, &now, theme.text);
            if let Some(then) = line.then.as_ref().map(entry).filter(|then| *then != now) {
                draw_then(&mut pen, (right, y), [&then, &now], look);
            }
        }
    }
    let problem = lines.into_iter().find(|line| line.number == marked);
    let problem = problem.and_then(|line| line.problem).and_then(|(step, problem)| {
        let clock = debugger.clock();
        // The status has already what the last step found; what is still to come is told of a line that is asked for.
        let is_told = match debugger.last() {
            None => true,
            Some(last) => !last.found && (step <= clock || debugger.is_marked(marked)),
        };
        let place = if clock == 0 { String::new() } else { format!(", step {step}") };
        is_told.then(|| (format!("Line {marked}{place}: {problem}."), theme.bad))
    });
    // On the way through a run its counts are of a part, which nothing compares with.
    let past = past.filter(|_| debugger.clock() == 0);
    let then = past.map(|past| [past.line(marked), Some(past.totals())]);
    let then = then.into_iter().flatten().flatten().map(|line| (line, theme.text));
    let claims = kernel.whole.claim.iter().len();
    let status = status(debugger).into_iter().map(|line| (line, theme.text));
    let claim = kernel.whole.claim.iter().map(|claim| {
        let style = match claim.kind {
            ClaimKind::Proved => theme.good,
            ClaimKind::Refuted => theme.bad,
            ClaimKind::Undecided => theme.warn,
        };
        (format!("Every launch: {}.", claim.sentence), style)
    });
    // On the way through a run what happens there comes first.
    let (first, last) =
        if debugger.clock() == 0 { (Some(claim), None) } else { (None, Some(claim)) };
    let (first, last) = (first.into_iter().flatten(), last.into_iter().flatten());
    let sentences: Vec<_> =
        problem.into_iter().chain(first).chain(then).chain(status).chain(last).collect();
    // Rows without lines are for the sentences that need them.
    let wanted: u16 = sentences.iter().map(|(text, _)| text::rows(text, foot.width)).sum();
    let more = wanted.saturating_sub(foot.height).min(body.height.saturating_sub(head + all));
    let foot = Rect { y: foot.y - more, height: foot.height + more, ..foot };
    // What the last step did may be cut, what is the same at every step is whole or not there.
    let first = if debugger.clock() == 0 { 1 } else { sentences.len() - claims };
    write_sentences(foot, canvas, (&sentences, first), look);
}

/// Draws an earlier run's entry before that of now, with an arrow between; without room for both, the arrow alone.
fn draw_then(pen: &mut Pen<'_>, (right, y): (u16, u16), [then, now]: [&str; 2], look: &Look) {
    let arrow = look.glyphs.arrival;
    let then = if then.is_empty() { "0" } else { then.trim_end_matches('%') };
    let end = if now.is_empty() {
        pen.ending(right, y, "0", look.theme.text);
        right - 1
    } else {
        right - width(now)
    };
    let both = format!("{then}{arrow}");
    let fits = width(&both) + (right - end) < COUNT;
    pen.ending(end, y, if fits { &both } else { arrow }, look.theme.previous);
}

/// Marks the word at a column of the line, if it begins in this piece.
fn draw_current(
    pen: &mut Pen<'_>,
    line: &str,
    piece: &Piece,
    column: u32,
    (start, y): (u16, u16),
    look: &Look,
) {
    let skipped = column.saturating_sub(1) as usize;
    let Some((at, head)) = line.char_indices().nth(skipped) else { return };
    if !piece.text.contains(&at) {
        return;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let rest = &line[at..piece.text.end];
    let word = match rest.find(|c| !is_word(c)) {
        _ if !is_word(head) => &rest[..head.len_utf8()],
        Some(end) => &rest[..end],
        None => rest,
    };
    let offset = piece.indent + width(&line[piece.text.start..at]);
    pen.text(start + offset, y, word, look.theme.selection);
}

/// Where the lines stand: a line that is longer than the room goes on in the next row.
struct Listing {
    /// Digits of the largest line number.
    numbers: u16,
    /// How many counts there is room for, and the column at which they begin.
    shown: usize,
    margin: u16,
    pieces: Vec<Piece>,
    /// The first piece that is shown.
    first: usize,
    /// The lines, and the sentences below them.
    parts: [Rect; 2],
}

impl Listing {
    fn new<'a>(
        area: Rect,
        texts: impl Iterator<Item = &'a str>,
        debugger: &KernelDebugger,
    ) -> Self {
        let texts: Vec<&str> = texts.collect();
        let numbers = width(&texts.len().to_string());
        let before = MARKS + numbers + 1;
        let longest = texts.iter().map(|text| width(text)).max().unwrap_or(0);
        // All counts where there is room next to the text; the first three if need be, as the text is read for them.
        let needed = match area.width {
            0..=32 => 0,
            33..=55 => 1,
            56..=69 => 2,
            _ => 3,
        };
        let free = area.width.saturating_sub(before + longest.clamp(TEXT, 84));
        let shown = usize::from(free / COUNT).clamp(needed, COLUMNS.len());
        let counts = COUNT * shown as u16;
        let margin = area.right().saturating_sub(counts);
        let room = area.width.saturating_sub(before + counts + u16::from(shown > 0));
        let pieces: Vec<Piece> =
            (0..).zip(&texts).flat_map(|(line, text)| cut(line, text, room)).collect();
        let marked = debugger.marked() as usize;
        let at = pieces.partition_point(|piece| piece.line + 1 < marked);
        let end = pieces.partition_point(|piece| piece.line < marked);
        let parts = parts(area, pieces.len(), debugger);
        let first = first(pieces.len(), at..end, rows(parts[0]).len());
        Self { numbers, shown, margin, pieces, first, parts }
    }
}

/// The lines of the source and the sentences, which give rows to the lines before the first step: few are said there.
fn parts(area: Rect, lines: usize, debugger: &KernelDebugger) -> [Rect; 2] {
    let foot = match area.height {
        0..=5 => 0,
        6..=9 => 2,
        10..=16 => 4,
        _ => MOST_SAID,
    };
    let said = if debugger.clock() == 0 { LEAST_SAID.min(foot) } else { foot };
    let left = area.height.saturating_sub(1).saturating_sub(pen::cells(lines));
    split(area, left.clamp(said, foot))
}

fn rows(body: Rect) -> Range<u16> {
    body.y + u16::from(body.height > 3)..body.bottom()
}

/// The line of the source at a row of the picture.
pub(super) fn line_at(area: Rect, debugger: &KernelDebugger, row: u16) -> Option<u32> {
    let texts: Vec<String> = debugger.recipe.source.lines().map(printable).collect();
    let listing = Listing::new(area, texts.iter().map(String::as_str), debugger);
    let rows = rows(listing.parts[0]);
    let row = usize::from(row.checked_sub(rows.start).filter(|_| rows.contains(&row))?);
    listing.pieces.get(listing.first + row).map(|piece| piece.line as u32 + 1)
}

/// The rows of all lines at this width, of the head and of the sentences below.
pub(super) fn row_need(area: Rect, debugger: &KernelDebugger) -> RowNeed {
    let texts: Vec<String> = debugger.recipe.source.lines().map(printable).collect();
    let listing = Listing::new(area, texts.iter().map(String::as_str), debugger);
    RowNeed { least: LEAST_SAID, most: MOST_SAID }.and(pen::cells(listing.pieces.len()) + 1)
}

/// The first row that is shown: the window moves by halves, so that it stands still over most steps, and further where a
/// long line would not be seen to its end.
fn first(all: usize, at: Range<usize>, rows: usize) -> usize {
    let half = (rows / 2).max(1);
    let still = at.start.saturating_sub(rows / 4) / half * half;
    still.max(at.end.saturating_sub(rows).min(at.start)).min(all.saturating_sub(rows))
}
