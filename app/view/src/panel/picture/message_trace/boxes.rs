//! Ranks as boxes in a ring or a line, in trees, about a server or in a row, with the messages of a round between them.
//!
//! Every layout puts its boxes on a grid; the grid is drawn in the most telling form of box for which there is room. Where
//! there is none, the rows of ranks with their arrows are the whole picture.

use std::collections::BTreeSet;

use mlsys_lab::frame::message_trace::{Layout, Message, Round};
use mlsys_lab::frame::{MessageTrace, TraceState};
use ratatui::layout::Rect;

use crate::canvas::{self as pen, Pen};
use crate::panel::picture::message_trace::grid::{GAP, Grid, mesh, pairs, ring, trees};
use crate::panel::picture::message_trace::rows;
use crate::panel::picture::message_trace::wires::{Place, Wires, lanes};
use crate::panel::picture::message_trace::words::{Stage, label, letter};
use crate::theme::Look;

const HIGH: u16 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A frame with letter and name.
    Full,
    Letter,
    Row,
}

/// The upper left corners of boxes, with their ranks.
type Corners = Vec<(usize, Place)>;

pub(super) struct Diagram {
    layout: Layout,
    grids: Vec<(Grid, Corners)>,
    form: Form,
    wide: u16,
    high: u16,
    pub(super) rows: u16,
}

impl Diagram {
    /// The boxes of a trace in an area and fewer than `most` rows; absent where they have no room.
    pub(super) fn new(trace: &MessageTrace, area: Rect, most: u16) -> Option<Self> {
        const ALL: [(Form, u16); 4] =
            [(Form::Full, 2), (Form::Letter, 2), (Form::Row, 2), (Form::Row, 1)];
        // Each form with the rows between two levels: the joint under a parent, and the stems of its children with their names.
        let (grids, forms) = match trace.layout {
            Layout::Ring | Layout::Line => (vec![ring(trace)?], &ALL[..1]),
            Layout::Tree | Layout::Star => (trees(trace)?, &ALL[..]),
            Layout::Mesh => (vec![mesh(trace)?], &ALL[..3]),
        };
        let options = forms.iter().flat_map(|form| [(form, true), (form, false)]);
        let sized = |((form, band), is_row): (&(Form, u16), bool)| {
            let (wide, high) = size(trace, &grids, *form);
            let (rows, corners) = place(&grids, (wide, high), *band, area, is_row)?;
            (rows < most).then_some((*form, (wide, high), rows, corners))
        };
        let (form, (wide, high), rows, placed) = options.into_iter().find_map(sized)?;
        let grids = grids.into_iter().zip(placed).collect();
        Some(Self { layout: trace.layout, grids, form, wide, high, rows })
    }

    pub(super) fn draw(
        &self,
        pen: &mut Pen<'_>,
        trace: &MessageTrace,
        after: &TraceState,
        round: Option<&Round>,
        look: &Look,
    ) {
        let lines: Vec<Line<'_>> = match self.layout {
            Layout::Ring | Layout::Line => self.ring_lines(round),
            Layout::Tree | Layout::Star => self.tree_lines(trace, round),
            Layout::Mesh => self.mesh_lines(round),
        };
        draw_lines(pen, trace, &lines, look);
        for (grid, corners) in &self.grids {
            for placed in corners {
                self.draw_box(pen, trace, after, *placed, &grid.chunks, look);
            }
        }
    }

    fn draw_box(
        &self,
        pen: &mut Pen<'_>,
        trace: &MessageTrace,
        after: &TraceState,
        (rank, (x, y)): (usize, Place),
        chunks: &[usize],
        look: &Look,
    ) {
        let wide = self.wide;
        let name = name(trace, rank, self.form);
        let (from, row, inside) = match self.form {
            Form::Full | Form::Letter => {
                pen.frame(Rect { x, y, width: wide, height: HIGH }, look.theme.border);
                pen.within(x + 1, y, wide - 2, &format!(" {name} "), look.theme.text);
                (x + 2, y + 1, wide - 4)
            }
            Form::Row => {
                let end = pen::width(&name) + 1;
                pen.text(x, y, &name, look.theme.text);
                (x + end, y, wide.saturating_sub(end))
            }
        };
        let count = pen::cells(chunks.len()).max(1);
        // Bars as broad as there is room for, with a gap between them where each has more than two columns.
        let broad = (inside / count).max(1);
        for (offset, chunk) in (0..inside).step_by(usize::from(broad)).zip(chunks) {
            let Some(held) = after.held(rank, *chunk) else { continue };
            let versions = after.versions(*chunk);
            let style = rows::style(Stage::new(versions, held), look);
            let columns = (broad - u16::from(broad > 2)).min(inside - offset);
            pen.run(from + offset, row, columns, rows::filled(versions, held, look), style);
        }
    }

    fn corners(&self) -> Vec<Place> {
        self.grids.iter().flat_map(|(_, corners)| corners).map(|(_, corner)| *corner).collect()
    }

    fn ring_lines<'a>(&self, round: Option<&'a Round>) -> Vec<Line<'a>> {
        let corners = self.corners();
        let closing = usize::from(self.layout == Layout::Ring && corners.len() > 2);
        let links = 0..(corners.len() + closing).saturating_sub(1);
        links.flat_map(|rank| self.ring_link(&corners, round, rank)).collect()
    }

    fn ring_link<'a>(
        &self,
        corners: &[Place],
        round: Option<&'a Round>,
        from: usize,
    ) -> Vec<Line<'a>> {
        let to = (from + 1) % corners.len();
        let (a, b) = (corners[from], corners[to]);
        let (forth, back) = (message(round, from, to), message(round, to, from));
        let middle = b.0 + self.wide / 2;
        if a.1 != b.1 && a.0 == b.0 {
            let (start, end) = if a.1 < b.1 { (back, forth) } else { (forth, back) };
            let path = vec![(middle, a.1.min(b.1) + HIGH - 1), (middle, a.1.max(b.1))];
            return vec![Line { path, start, end, names: Names::AtSide(self.wide / 2 - 1) }];
        }
        let path = |lower: u16| {
            let y = a.1 + 1 + lower;
            match (a.1 == b.1, a.0 < b.0) {
                (true, true) => vec![(a.0 + self.wide - 1, y), (b.0, y)],
                (true, false) => vec![(a.0, y), (b.0 + self.wide - 1, y)],
                // The last rank of an odd ring has no rank above it: its link turns the corner to the first.
                (false, _) => {
                    let x = middle - 2 * lower;
                    vec![(a.0, y), (x, y), (x, b.1 + HIGH - 1)]
                }
            }
        };
        let line = |path, end| Line { path, start: None, end, names: Names::Within };
        let mut lines = vec![line(path(0), forth)];
        // A line of its own for what comes back, where there is something.
        if back.is_some() {
            lines.push(line(path(1).into_iter().rev().collect(), back));
        }
        lines
    }

    fn tree_lines<'a>(&self, trace: &MessageTrace, round: Option<&'a Round>) -> Vec<Line<'a>> {
        let chunks = trace.chunks.len();
        let of_tree = |(grid, corners): &(Grid, Corners)| {
            let find = |from: usize, to: usize| {
                let mut all = round.into_iter().flat_map(|round| &round.messages);
                all.find(|m| {
                    (m.from, m.to) == (from, to)
                        && m.chunks(chunks).any(|chunk| grid.chunks.contains(&chunk))
                })
            };
            let line = |(child, parent): (usize, &Option<usize>)| {
                let parent = (*parent)?;
                let corner = |rank: usize| corners.iter().find(|(other, _)| *other == rank);
                let ((_, below), (_, above)) = (corner(child)?, corner(parent)?);
                let (from, to) = (above.0 + self.wide / 2, below.0 + self.wide / 2);
                let under = above.1 + self.high - 1;
                Some(Line {
                    path: vec![(from, under), (from, under + 1), (to, under + 1), (to, below.1)],
                    start: find(child, parent),
                    end: find(parent, child),
                    names: Names::AtSide(self.wide.div_ceil(2) + GAP - 2),
                })
            };
            grid.parents.iter().enumerate().filter_map(line).collect::<Vec<_>>()
        };
        self.grids.iter().flat_map(of_tree).collect()
    }

    fn mesh_lines<'a>(&self, round: Option<&'a Round>) -> Vec<Line<'a>> {
        let corners = self.corners();
        let pairs = round.map_or_else(Vec::new, pairs);
        let (lane_of, _) = lanes(&pairs);
        // The column at which a line leaves a box: side by side, those that lead to the left on the left.
        let port = |rank: u32, other: u32| {
            let ends = pairs.iter().filter_map(|(a, b)| match rank {
                rank if rank == *a => Some(*b),
                rank if rank == *b => Some(*a),
                _ => None,
            });
            let (count, before) = ends
                .fold((0, 0), |(count, before), end| (count + 1, before + u16::from(end < other)));
            let x = corners.get(rank as usize).map_or(0, |corner| corner.0);
            x + (before + 1) * self.wide / (count + 1)
        };
        let under = corners.first().map_or(0, |corner| corner.1) + self.high;
        let line = |(&(left, right), lane): (&(u32, u32), usize)| {
            let y = under + 1 + u16::try_from(lane).unwrap_or(0);
            let (from, to) = (port(left, right), port(right, left));
            Line {
                path: vec![(from, under - 1), (from, y), (to, y), (to, under - 1)],
                start: message(round, right as usize, left as usize),
                end: message(round, left as usize, right as usize),
                names: Names::AtEnds,
            }
        };
        pairs.iter().zip(lane_of).map(line).collect()
    }
}

/// The columns and rows of a box in which every rank's name and all its chunks have room.
fn size(trace: &MessageTrace, grids: &[Grid], form: Form) -> (u16, u16) {
    let name = pen::widest((0..trace.ranks).map(|rank| name(trace, rank, form)));
    let chunks = grids.iter().map(|grid| grid.chunks.len()).max().unwrap_or(0);
    let chunks = pen::cells(chunks);
    match form {
        Form::Full => (name.max(chunks.saturating_mul(2)).saturating_add(4), HIGH),
        Form::Letter => (name.saturating_add(2).max(chunks).saturating_add(4), HIGH),
        Form::Row => (name.saturating_add(1).saturating_add(chunks.max(2)), 1),
    }
}

fn name(trace: &MessageTrace, rank: usize, form: Form) -> String {
    match form {
        Form::Full => label(trace, rank),
        Form::Letter | Form::Row => letter(trace, rank),
    }
}

/// The rows of all grids and the boxes of each; grids stand side by side or one above the other.
fn place(
    grids: &[Grid],
    (wide, high): (u16, u16),
    band: u16,
    area: Rect,
    side_by_side: bool,
) -> Option<(u16, Vec<Corners>)> {
    let count = u16::try_from(grids.len()).ok()?;
    // Two trees are further apart than two boxes of one.
    let apart = 2 * GAP;
    let room = match side_by_side && count > 1 {
        true => area.width.saturating_sub(apart * (count - 1)) / count,
        false => area.width,
    };
    let (mut x, mut y, mut rows, mut all) = (area.x, area.y, 0, Vec::new());
    for grid in grids {
        let free = room.checked_sub(wide.checked_mul(grid.columns)?)?;
        let (least, most) = grid.gap;
        let gap = free.checked_div(grid.columns.saturating_sub(1)).map_or(least, |g| g.min(most));
        if gap < least || grid.ports > usize::from(wide) {
            return None;
        }
        let tall = grid.rows * high + grid.rows.saturating_sub(1) * band + grid.below;
        let placed = grid.boxes.iter().map(|(rank, column, row)| {
            let across = (column * f64::from(wide + gap)).round() as u16;
            (*rank, (x + across, y + row * (high + band)))
        });
        all.push(placed.collect());
        if side_by_side {
            x += room + apart;
            rows = rows.max(tall);
        } else {
            y += tall + 1;
            rows = y - area.y - 1;
        }
    }
    Some((rows, all))
}

fn message(round: Option<&Round>, from: usize, to: usize) -> Option<&Message> {
    round?.messages.iter().find(|m| (m.from, m.to) == (from, to))
}

struct Line<'a> {
    /// Its corners, the first and the last within its boxes.
    path: Vec<Place>,
    start: Option<&'a Message>,
    end: Option<&'a Message>,
    names: Names,
}

/// Where the chunks that pass along a line are named.
#[derive(Clone, Copy)]
enum Names {
    Within,
    /// In its longest row, each near where it arrives.
    AtEnds,
    /// Next to its last place, in a number of columns: arrivals at the end on the right, at the beginning on the left.
    AtSide(u16),
}

fn draw_lines(pen: &mut Pen<'_>, trace: &MessageTrace, lines: &[Line<'_>], look: &Look) {
    let mut wires = Wires::default();
    let mut ends = BTreeSet::new();
    for line in lines {
        ends.extend(line.path.first().into_iter().chain(line.path.last()).copied());
        match line.start.or(line.end) {
            Some(_) => wires.add(&line.path),
            None => wires.add_idle(&line.path),
        }
    }
    wires.draw(pen, &ends, look);
    for line in lines {
        if let (Some(_), Some(&[to, from])) = (line.start, line.path.first_chunk::<2>()) {
            draw_head(pen, from, to, look);
        }
        if let (Some(_), Some(&[from, to])) = (line.end, line.path.last_chunk::<2>()) {
            draw_head(pen, from, to, look);
        }
        draw_names(pen, trace, line, look);
    }
}

/// The arrow head of what arrives at a place from its neighbour, before the place itself.
fn draw_head(pen: &mut Pen<'_>, from: Place, (x, y): Place, look: &Look) {
    let glyphs = &look.glyphs;
    let ((x, y), glyph) = match from {
        (_, above) if above < y => ((x, y - 1), glyphs.descending),
        (_, below) if below > y => ((x, y + 1), glyphs.ascending),
        (left, _) if left < x => ((x - 1, y), glyphs.forward),
        _ => ((x + 1, y), glyphs.back),
    };
    pen.glyph(x, y, glyph, look.theme.accent);
}

fn draw_names(pen: &mut Pen<'_>, trace: &MessageTrace, line: &Line<'_>, look: &Look) {
    let style = look.theme.selection;
    // The chunks as short as can be, without margins where these have no room: " 3 ", "0-3".
    let name = |message: &Message, room: u16| {
        let chunks = message.chunks(trace.chunks.len());
        let name = |chunk: usize| trace.chunks.get(chunk).map_or("", |chunk| &chunk.name);
        let name = match chunks.len() {
            0 => " ".to_owned(),
            1 => format!(" {} ", name(chunks.start)),
            _ => format!(" {}-{} ", name(chunks.start), name(chunks.end - 1)),
        };
        let fitting = if pen::width(&name) <= room { &name } else { name.trim() };
        fitting.chars().take(usize::from(room)).collect::<String>()
    };
    let rows = line.path.windows(2).filter(|ends| ends[0].1 == ends[1].1);
    let rows = rows.map(|ends| (ends[0].0.min(ends[1].0), ends[0].0.max(ends[1].0), ends[0].1));
    let longest = rows.max_by_key(|(left, right, _)| right - left);
    let mut put = |message: Option<&Message>, room: u16, y: u16, x: &dyn Fn(u16) -> u16| {
        if let Some(message) = message {
            let name = name(message, room);
            pen.text(x(pen::width(&name)), y, &name, style);
        }
    };
    match (line.names, longest, line.path.last()) {
        (Names::Within, Some((left, right, y)), _) => {
            let inside = right.saturating_sub(left + 1);
            let middle = |wide: u16| left + 1 + inside.saturating_sub(wide) / 2;
            put(line.start.or(line.end), inside.saturating_sub(2), y, &middle);
        }
        (Names::AtEnds, Some((left, right, y)), _) => {
            let room = right.saturating_sub(left + 2) / 2;
            put(line.start, room, y, &|_| left + 1);
            put(line.end, room, y, &|wide| right.saturating_sub(wide));
        }
        (Names::AtSide(room), _, Some((x, y))) => {
            let (start, y) = (line.start.filter(|_| line.end.is_some()), y.saturating_sub(1));
            put(start, room, y, &|wide| x.saturating_sub(1 + wide));
            put(line.end.or(line.start), room, y, &|_| x + 2);
        }
        (Names::Within | Names::AtEnds, None, _) | (Names::AtSide(_), _, None) => {}
    }
}
