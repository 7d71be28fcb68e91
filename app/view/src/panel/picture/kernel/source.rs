//! The text of a kernel, line by line, with what each cost and which warps are there.

use std::collections::BTreeMap;
use std::ops::Range;

use mlsys_kernel::WarpState;
use mlsys_lab::frame::Table;
use mlsys_lab::frame::kernel::{Kernel, LineCost};
use mlsys_lab::value::Value;
use ratatui::layout::Rect;

use crate::canvas::{Canvas, Pen, width};
use crate::panel::picture::kernel::thread::said;
use crate::panel::picture::kernel::{KernelDebugger, say, split};
use crate::theme::Look;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: u32,
    /// What stands there, without what steers a terminal.
    pub text: String,
    /// What it cost, so far or in the whole run.
    pub cost: LineCost,
    /// Whether the warp that is looked at comes here next; the column.
    pub current: Option<u32>,
    /// Other warps that come here next.
    pub others: usize,
    /// Whether warps stop here when they run on.
    pub breakpoint: bool,
    /// What went wrong here first, in the whole run.
    pub problem: Option<String>,
}

impl Line {
    /// Active lanes over 32 for each warp instruction; none where nothing ran.
    pub fn share(&self) -> Option<f64> {
        (self.cost.issues > 0).then(|| self.cost.lanes as f64 / (32 * self.cost.issues) as f64)
    }
}

/// The lines: at the beginning with what the whole run cost, later with what it cost so far.
pub fn listing(kernel: &Kernel, walk: &KernelDebugger) -> Vec<Line> {
    let mut costs: BTreeMap<u32, LineCost> = BTreeMap::new();
    let mut here: BTreeMap<u32, usize> = BTreeMap::new();
    let mut current = None;
    match walk.machine() {
        Ok(machine) if machine.clock() > 0 => {
            let lines = machine.lines().into_iter();
            costs.extend(lines.map(|(line, counts)| (line, counts.of_line(line))));
            let at = walk.here();
            for block in machine.blocks() {
                for (warp, (state, place)) in block.warps.iter().enumerate() {
                    match state {
                        WarpState::Done => {}
                        WarpState::Ready | WarpState::Waiting
                            if (block.block, warp) == (at.block, at.warp as usize) =>
                        {
                            current = Some(*place);
                        }
                        WarpState::Ready | WarpState::Waiting => {
                            *here.entry(place.line).or_default() += 1;
                        }
                    }
                }
            }
        }
        Ok(_) | Err(_) => {
            costs.extend(kernel.whole.lines.iter().map(|cost| (cost.line, *cost)));
        }
    }
    let breakpoints = walk.breakpoints();
    let lines = kernel.recipe.source.lines().zip(1_u32..);
    lines
        .map(|(text, number)| Line {
            number,
            text: plain(text),
            cost: costs.get(&number).copied().unwrap_or_default(),
            current: current.filter(|place| place.line == number).map(|place| place.column),
            others: here.get(&number).copied().unwrap_or_default(),
            breakpoint: breakpoints.contains(&number),
            problem: kernel
                .whole
                .problems
                .iter()
                .find(|problem| problem.line == number)
                .map(|problem| problem.sentence.clone()),
        })
        .collect()
}

/// A line without what a terminal would take for a command.
fn plain(line: &str) -> String {
    line.replace('\t', "    ").replace(|c: char| c.is_control(), " ")
}

pub(super) fn table(kernel: &Kernel, walk: &KernelDebugger) -> Table {
    let row = |line: Line| {
        let whole = |count: u64| match line.cost.issues {
            0 => Value::from(""),
            _ => Value::Int(count as i64),
        };
        let cost = line.cost;
        let warps = match (line.current, line.others) {
            (Some(_), others) => format!("this one and {others}"),
            (None, 0) => String::new(),
            (None, others) => others.to_string(),
        };
        vec![
            Value::Int(i64::from(line.number)),
            Value::from(line.text.as_str()),
            whole(cost.issues),
            line.share().map_or(Value::from(""), Value::Float),
            whole(cost.divergent),
            whole(cost.sectors),
            whole(cost.replays),
            Value::from(warps),
            Value::from(line.problem.as_deref().unwrap_or_default()),
        ]
    };
    Table {
        columns: [
            "line",
            "kernel",
            "warp instructions",
            "lanes",
            "divergent",
            "sectors",
            "bank replays",
            "warps",
            "problem",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: listing(kernel, walk).into_iter().map(row).collect(),
        ..Table::default()
    }
}

/// Columns of the marks before a line: problem or breakpoint, the warp that is looked at, how many others are there.
const MARKS: u16 = 4;
const COUNT: u16 = 8;
/// Columns the text needs next to the counts.
const TEXT: u16 = 24;

/// A column of the margin: its title, and a line's entry.
type Column = (&'static str, fn(&Line) -> String);

const COLUMNS: [Column; 5] = [
    ("runs", |line| count(line, line.cost.issues)),
    ("lanes", |line| line.share().map_or(String::new(), |share| format!("{:.0}%", 100.0 * share))),
    ("sectors", |line| match line.cost.accesses {
        0 => String::new(),
        _ => count(line, line.cost.sectors),
    }),
    ("diverge", |line| nonzero(line.cost.divergent)),
    ("banks", |line| nonzero(line.cost.replays)),
];

pub(super) fn draw(
    area: Rect,
    canvas: &mut Canvas,
    kernel: &Kernel,
    walk: &KernelDebugger,
    look: &Look,
) {
    let theme = &look.theme;
    let [body, foot] = parts(area);
    let lines = listing(kernel, walk);
    let numbers = width(&lines.len().to_string());
    let before = MARKS + numbers + 1;
    let longest = lines.iter().map(|line| width(&line.text)).max().unwrap_or(0);
    // All counts where there is room next to the text; the first three if need be, as they are what the text is read for.
    let needed = match area.width {
        0..=32 => 0,
        33..=55 => 1,
        56..=69 => 2,
        _ => 3,
    };
    let free = area.width.saturating_sub(before + longest.clamp(TEXT, 84));
    let shown = usize::from(free / COUNT).clamp(needed, COLUMNS.len());
    let margin = area.right().saturating_sub(COUNT * shown as u16);
    if body.height > 3 {
        let y = body.y;
        let mut pen = Pen::new(body, canvas, &look.glyphs);
        let so_far = if walk.clock() == 0 { "whole run" } else { "so far" };
        let room = margin.saturating_sub(body.x + before);
        pen.within(body.x + before, y, room, so_far, theme.dim);
        for (column, (title, _)) in COLUMNS.iter().take(shown).enumerate() {
            let right = margin + COUNT * (column as u16 + 1);
            pen.ending(right, y, title, theme.dim);
        }
    }
    let marked = walk.marked();
    let rows = rows(body);
    let first = first(lines.len(), marked, rows.len());
    for (line, y) in lines.iter().skip(first).zip(rows) {
        let mut pen = Pen::new(body, canvas, &look.glyphs);
        match (&line.problem, line.breakpoint) {
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
        let number_style = if line.number == marked { theme.selection } else { theme.dim };
        pen.ending(body.x + MARKS + numbers, y, &line.number.to_string(), number_style);
        let text_style = match (line.current, &line.problem) {
            (Some(_), _) => theme.accent,
            (None, Some(_)) => theme.bad,
            (None, None) => theme.code,
        };
        let start = body.x + before;
        let room = margin.saturating_sub(start + u16::from(shown > 0));
        pen.within(start, y, room, &line.text, text_style);
        if let Some(column) = line.current {
            point_at(&mut pen, line, column, (start, y, room), look);
        }
        for (column, (_, entry)) in COLUMNS.iter().take(shown).enumerate() {
            let right = margin + COUNT * (column as u16 + 1);
            pen.ending(right, y, &entry(line), theme.text);
        }
    }
    let mut told: Vec<_> = said(walk).into_iter().map(|line| (line, theme.text)).collect();
    let trouble = lines.iter().find(|line| line.number == marked);
    // What the last step found is told already.
    let found = walk.last().is_some_and(|step| step.found);
    if let Some(problem) = trouble.filter(|_| !found).and_then(|line| line.problem.as_ref()) {
        told.insert(0, (format!("Line {marked}: {problem}."), theme.bad));
    }
    say(foot, canvas, &told, look);
}

/// The word of the line that the warp comes to is set off.
fn point_at(pen: &mut Pen<'_>, line: &Line, column: u32, place: (u16, u16, u16), look: &Look) {
    let (start, y, room) = place;
    let skipped = column.saturating_sub(1) as usize;
    let before: String = line.text.chars().take(skipped).collect();
    let mut rest = line.text.chars().skip(skipped);
    let Some(head) = rest.next() else {
        return;
    };
    let mut word = head.to_string();
    if head.is_alphanumeric() || head == '_' {
        word.extend(rest.take_while(|c| c.is_alphanumeric() || *c == '_'));
    }
    let (offset, wide) = (width(&before), width(&word));
    if offset + wide <= room {
        pen.text(start + offset, y, &word, look.theme.selection);
    }
}

fn parts(area: Rect) -> [Rect; 2] {
    let foot = match area.height {
        0..=5 => 0,
        6..=9 => 2,
        10..=16 => 4,
        _ => 6,
    };
    split(area, foot)
}

/// The rows of the text, below the titles of the counts.
fn rows(body: Rect) -> Range<u16> {
    body.y + u16::from(body.height > 3)..body.bottom()
}

/// The line of the text at a row of the picture.
pub(super) fn line_at(area: Rect, walk: &KernelDebugger, row: u16) -> Option<u32> {
    let rows = rows(parts(area)[0]);
    if !rows.contains(&row) {
        return None;
    }
    let lines = walk.source().lines().count();
    let line = first(lines, walk.marked(), rows.len()) + usize::from(row - rows.start);
    (line < lines).then_some(line as u32 + 1)
}

/// The first line that is shown: the window moves by halves, so that it stands still over most steps.
fn first(lines: usize, marked: u32, rows: usize) -> usize {
    let last = lines.saturating_sub(rows);
    let half = (rows / 2).max(1);
    let at = (marked as usize).saturating_sub(1);
    (at.saturating_sub(rows / 4) / half * half).min(last)
}

fn count(line: &Line, count: u64) -> String {
    if line.cost.issues == 0 { String::new() } else { count.to_string() }
}

fn nonzero(count: u64) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}
