//! The lines between the boxes: the thicker, the more of the adjoint they carried.

use mlsys_lab::Value;
use mlsys_lab::frame::{Direction, Graph, Place, Slot};
use ratatui::style::Style;

use crate::canvas::{Canvas, Pen};
use crate::panel::picture::graph::{Drawing, GraphView, VisibleGraph, WalkPosition, Window};
use crate::theme::Look;

const LEFT: usize = 1;
const RIGHT: usize = 2;
const UP: usize = 4;
const DOWN: usize = 8;

#[derive(Clone, Copy, Default)]
struct Cell {
    /// The sides at which lines along rows and lines along columns leave it.
    sides: usize,
    /// The thickest line along the row, and along the column.
    weights: [usize; 2],
    first: Option<usize>,
    crossed: bool,
    tone: Tone,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Tone {
    #[default]
    Plain,
    Broken,
    Current,
}

pub(super) fn draw(
    window: &Window,
    canvas: &mut Canvas,
    graph: &Graph,
    view: &GraphView,
    drawing: &Drawing,
    at: WalkPosition,
    look: &Look,
) {
    let line_loads = line_loads(graph, view, &drawing.visible);
    let columns = usize::from(window.area.width);
    let mut cells = vec![Cell::default(); columns * usize::from(window.area.height)];
    let links = &drawing.visible.links;
    for (index, route) in drawing.layout.routes.iter().enumerate() {
        let line = line_loads.get(index).copied().unwrap_or_default();
        let weight = weight(line.share);
        let tone = if at.link.is_some_and(|(link, _)| link == index) {
            Tone::Current
        } else if line.is_broken {
            Tone::Broken
        } else {
            Tone::Plain
        };
        along(window, route, |(x, y), sides| {
            let place = usize::from(y - window.area.y) * columns + usize::from(x - window.area.x);
            let Some(cell) = cells.get_mut(place) else { return };
            // Lines with an end in common may share cells.
            let (from, to) = (links[index].from, links[index].to);
            let unrelated =
                cell.first.is_some_and(|first| links[first].from != from && links[first].to != to);
            cell.crossed |= unrelated;
            cell.first.get_or_insert(index);
            cell.sides |= sides;
            for (axis, mask) in [(0, LEFT | RIGHT), (1, UP | DOWN)] {
                if sides & mask != 0 {
                    cell.weights[axis] = cell.weights[axis].max(weight);
                }
            }
            cell.tone = cell.tone.max(tone);
        });
    }
    let mut pen = Pen::new(window.area, canvas, &look.glyphs);
    for (place, cell) in cells.iter().enumerate() {
        if cell.sides == 0 {
            continue;
        }
        let x = window.area.x + (place % columns) as u16;
        let y = window.area.y + (place / columns) as u16;
        let [across, down] = cell.weights;
        // Where lines only cross, the one down runs through and the other is interrupted.
        let glyph = if cell.crossed {
            look.glyphs.strokes[down][UP | DOWN]
        } else {
            look.glyphs.strokes[across.max(down)][cell.sides]
        };
        pen.glyph(x, y, glyph, style(cell.tone, look));
    }
    arrows(window, &mut pen, drawing, at, look);
    cut(window, &mut pen, drawing, look);
}

fn style(tone: Tone, look: &Look) -> Style {
    match tone {
        Tone::Plain => look.theme.border,
        Tone::Broken => look.theme.bad,
        Tone::Current => look.theme.accent,
    }
}

/// Which of the strokes draws a line: the thicker, the more of the adjoint it carried.
fn weight(share: f64) -> usize {
    match share {
        share if share >= 2.0 / 3.0 => 2,
        share if share >= 1.0 / 4.0 => 1,
        _ => 0,
    }
}

/// Goes along the cells of a route that are in sight, with the sides at which it leaves them.
fn along(window: &Window, route: &[(usize, usize)], mut visit: impl FnMut((u16, u16), usize)) {
    let mut put = |x: usize, y: usize, sides: usize| {
        if let Some(at) = window.cell(x, y) {
            visit(at, sides);
        }
    };
    let (Some(first), Some(last)) = (route.first(), route.last()) else { return };
    put(first.0, first.1, LEFT);
    put(last.0, last.1, RIGHT);
    for pair in route.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        if a.1 == b.1 {
            let (from, to) = (a.0.min(b.0), a.0.max(b.0));
            put(from, a.1, RIGHT);
            put(to, a.1, LEFT);
            let seen = clip(from + 1..to, window.left, window.area.width);
            seen.for_each(|x| put(x, a.1, LEFT | RIGHT));
        } else {
            let (from, to) = (a.1.min(b.1), a.1.max(b.1));
            put(a.0, from, DOWN);
            put(a.0, to, UP);
            let seen = clip(from + 1..to, window.top, window.area.height);
            seen.for_each(|y| put(a.0, y, UP | DOWN));
        }
    }
}

fn clip(range: std::ops::Range<usize>, first: isize, room: u16) -> std::ops::Range<usize> {
    let from = usize::try_from(first).unwrap_or(0);
    let to = usize::from(room).saturating_add_signed(first);
    range.start.max(from)..range.end.min(to)
}

/// Where lines arrive, and on the line of the step its direction at both ends.
fn arrows(window: &Window, pen: &mut Pen<'_>, drawing: &Drawing, at: WalkPosition, look: &Look) {
    let glyphs = &look.glyphs;
    let mut put = |at: Option<&(usize, usize)>, glyph: &str, style: Style| {
        if let Some((x, y)) = at.and_then(|(x, y)| window.cell(*x, *y)) {
            pen.glyph(x, y, glyph, style);
        }
    };
    for route in &drawing.layout.routes {
        put(route.last(), glyphs.arrival, look.theme.border);
    }
    let Some((index, pass)) = at.link else { return };
    if let Some(route) = drawing.layout.routes.get(index) {
        let glyph = match pass {
            Direction::Forward | Direction::Update => glyphs.forward,
            Direction::Backward => glyphs.back,
        };
        put(route.first(), glyph, look.theme.accent);
        put(route.last(), glyph, look.theme.accent);
    }
}

/// Next to boxes with lines that lead out of the shown part.
fn cut(window: &Window, pen: &mut Pen<'_>, drawing: &Drawing, look: &Look) {
    for (place, (before, after)) in drawing.layout.places.iter().zip(&drawing.visible.cut) {
        let y = place.y + place.height / 2;
        let left = before.then(|| place.x.checked_sub(1)).flatten();
        let right = after.then_some(place.x + place.width);
        for x in left.into_iter().chain(right) {
            if let Some((x, y)) = window.cell(x, y) {
                pen.glyph(x, y, look.glyphs.more, look.theme.dim);
            }
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LineLoad {
    /// The size of the largest adjoint that came along it, as a share of the largest of all lines.
    pub share: f64,
    /// Whether NaN or infinity came along it.
    pub is_broken: bool,
}

/// What each line carried, in the order of the links.
pub fn line_loads(graph: &Graph, view: &GraphView, visible: &VisibleGraph) -> Vec<LineLoad> {
    let marked = graph.marked(view.done(graph));
    let mut lines: Vec<LineLoad> = Vec::with_capacity(visible.links.len());
    for link in &visible.links {
        let mut line = LineLoad::default();
        for &edge in &link.edges {
            match marked.at(Place::Edge(edge), Slot::Adjoint) {
                // A mark that is not finite is a word.
                Some(Value::Text(_)) => line.is_broken = true,
                Some(value) => line.share = value.as_f64().map_or(0.0, f64::abs).max(line.share),
                None => {}
            }
        }
        lines.push(line);
    }
    let most = lines.iter().map(|line| line.share).fold(0.0, f64::max);
    if most > 0.0 {
        for line in &mut lines {
            line.share /= most;
        }
    }
    lines
}

/// Whether the text of a number in a box says that it is none.
pub fn not_finite(text: &str) -> bool {
    matches!(text, "NaN" | "inf" | "-inf")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::fixtures;
    use mlsys_lab::frame::{Mark, Step};

    #[test]
    fn lines_carry_shares_of_the_largest_and_nan_is_no_size() {
        let mut graph = fixtures::expression();
        let mark = |edge: usize, x: f64| Mark::new(Place::Edge(edge), Slot::Adjoint, x);
        graph.walk = vec![Step {
            marks: vec![mark(0, -8.0), mark(1, 2.0), mark(2, f64::NAN)],
            ..Step::default()
        }];
        let view = GraphView { steps: 1, ..GraphView::default() };
        let lines = line_loads(&graph, &view, &VisibleGraph::new(&graph, &view));
        let shares: Vec<f64> = lines.iter().take(3).map(|line| line.share).collect();
        assert_eq!(shares, [1.0, 0.25, 0.0]);
        let broken = lines.iter().filter(|line| line.is_broken);
        assert_eq!((broken.count(), lines[2].is_broken), (1, true));
    }
}
