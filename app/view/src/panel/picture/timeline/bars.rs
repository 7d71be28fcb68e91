//! The bars of a timeline: which one is marked, and how they are drawn.

use std::collections::BTreeMap;

use mlsys_lab::frame::{Span, Timeline};
use ratatui::style::{Modifier, Style};

use crate::axis::Axis;
use crate::canvas::{Canvas, Pen};
use crate::panel::legend::Item;
use crate::panel::picture::timeline::labels::{self, Label};
use crate::panel::picture::timeline::{Parts, Shown, columns, exact};
use crate::panel::view::{Mark, Tint, Way};
use crate::theme::Look;

/// The bar in a direction from the marked one: left and right by where bars begin, up and down from lane to lane.
pub(super) fn go(timeline: &Timeline, mark: Option<Mark>, way: Way) -> Option<Mark> {
    let spans = &timeline.spans;
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (&spans[*a], &spans[*b]);
        a.start.total_cmp(&b.start).then(a.lane.cmp(&b.lane))
    });
    let last = order.len().checked_sub(1)?;
    let at = mark.and_then(|mark| order.iter().position(|index| *index == mark.column));
    let index = match (at, way) {
        (None, _) | (_, Way::First) => order[0],
        (Some(at), Way::Left) => order[at.saturating_sub(1)],
        (Some(at), Way::Right) => order[(at + 1).min(last)],
        (Some(_), Way::Last) => order[last],
        (Some(at), Way::Up(by)) => {
            neighbour(timeline, order[at], -isize::try_from(by).unwrap_or(isize::MAX))
        }
        (Some(at), Way::Down(by)) => {
            neighbour(timeline, order[at], isize::try_from(by).unwrap_or(isize::MAX))
        }
    };
    Some(Mark { column: index, row: 0 })
}

/// The bar of another lane that begins nearest.
fn neighbour(timeline: &Timeline, index: usize, down: isize) -> usize {
    let here = &timeline.spans[index];
    let last = timeline.lanes.len().saturating_sub(1).max(here.lane);
    let wanted = here.lane.saturating_add_signed(down).min(last);
    let spans = timeline.spans.iter().enumerate();
    let other = spans.filter(|(_, span)| match down < 0 {
        true => span.lane < here.lane,
        false => span.lane > here.lane,
    });
    let nearest = other.min_by(|(_, a), (_, b)| {
        let off = |span: &Span| span.lane.abs_diff(wanted);
        let far = |span: &Span| (span.start - here.start).abs();
        off(a).cmp(&off(b)).then(far(a).total_cmp(&far(b)))
    });
    nearest.map_or(index, |(other, _)| other)
}

pub(super) fn draw_spans(
    parts: &Parts,
    canvas: &mut Canvas,
    timeline: &Timeline,
    axis: &Axis,
    &Shown { first, marked, tint }: &Shown,
    look: &Look,
) {
    let area = parts.lanes;
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let mut labels = Vec::new();
    let mut cells: BTreeMap<(u16, u16), Vec<Piece>> = BTreeMap::new();
    let mut reading = None;
    for (index, span) in timeline.spans.iter().enumerate() {
        let row = span.lane.checked_sub(first).and_then(|row| u16::try_from(row).ok());
        let Some(row) =
            row.map(|row| row.saturating_mul(parts.pitch)).filter(|row| *row < area.height)
        else {
            continue;
        };
        let Some((from, to)) = columns(area, axis, span.start, span.end) else { continue };
        let y = area.y + row;
        let (style, fill) = class(span.class, look);
        let style = match tint {
            Tint::Class => style,
            Tint::Label => by_label(&span.label, look),
        };
        let ends = (exact(area, axis, span.start), exact(area, axis, span.end));
        pen.bar(y, from..to, ends, fill, style);
        for (x, share) in edges(ends) {
            cells.entry((y, x)).or_default().push(Piece { class: span.class, share, fill, style });
        }
        let style = match marked == Some(index) {
            true => {
                reading = Some((from, y));
                look.theme.selection
            }
            false => on_bar(style),
        };
        labels.extend(Label::new(&span.label, from..to, y, style));
    }
    for ((y, x), pieces) in cells.iter().filter(|(_, pieces)| pieces.len() > 1) {
        draw_pieces((*x, *y), &mut pen, pieces, look);
    }
    if let Some((x, y)) = reading {
        pen.glyph(x, y, look.glyphs.reading, look.theme.accent);
    }
    // After all bars, of which a lane may have several.
    for Label { y, x, text, style, .. } in labels::clear(labels) {
        pen.text(x, y, &text, style);
    }
}

/// What one bar covers of a cell that it does not fill.
struct Piece {
    class: usize,
    share: f64,
    fill: &'static str,
    style: Style,
}

/// The cells in which a bar ends, with the share of them that it covers.
fn edges((start, end): (f64, f64)) -> impl Iterator<Item = (u16, f64)> {
    let (first, last) = (start.floor(), (end - 1e-9).floor().max(start.floor()));
    let share = move |cell: f64| (end.min(cell + 1.0) - start.max(cell)).max(0.0);
    let cells = [Some(first), (last > first).then_some(last)].into_iter().flatten();
    cells.map(move |cell| (cell as u16, share(cell)))
}

/// Where several bars share a cell: the class with most of it, as high as all of them together fill the cell.
fn draw_pieces((x, y): (u16, u16), pen: &mut Pen<'_>, pieces: &[Piece], look: &Look) {
    let of = |class: usize| pieces.iter().filter(move |piece| piece.class == class);
    let covered = |piece: &Piece| of(piece.class).map(|piece| piece.share).sum::<f64>();
    let most = pieces.iter().max_by(|a, b| covered(a).total_cmp(&covered(b)));
    let Some(Piece { fill, style, .. }) = most else { return };
    let all = pieces.iter().map(|piece| piece.share).sum::<f64>().min(1.0);
    let heights = look.glyphs.heights;
    let step = (all * heights.len() as f64).round() as usize;
    let glyph = if step < heights.len() { heights[step.saturating_sub(1)] } else { fill };
    pen.cell(x, y, glyph, *style);
}

fn class(place: usize, look: &Look) -> (Style, &'static str) {
    let (styles, fills) = (&look.theme.curves, &look.glyphs.fills);
    (styles[place % styles.len()], fills[place % fills.len()])
}

/// Letters on a bar, which stays a bar behind them; without colour they stand in a gap of it.
fn on_bar(style: Style) -> Style {
    match style.fg {
        Some(_) => style.add_modifier(Modifier::REVERSED),
        None => style,
    }
}

/// The style of all bars of one label: of neighbouring numbers it differs.
fn by_label(label: &str, look: &Look) -> Style {
    let styles = &look.theme.curves;
    let digits: String = label.chars().filter(char::is_ascii_digit).collect();
    let place = match digits.parse::<usize>() {
        Ok(number) => number,
        Err(_) if label.is_empty() => return look.theme.dim,
        Err(_) => label.bytes().map(usize::from).sum(),
    };
    styles[place % styles.len()]
}

/// What the fills and colours of bars mean.
pub(super) fn classes(timeline: &Timeline, tint: Tint, look: &Look) -> Vec<Item> {
    let names = timeline.classes.iter().enumerate();
    let item = |(place, name): (usize, &String)| {
        let (style, fill) = class(place, look);
        let style = match tint {
            Tint::Class => style,
            Tint::Label => look.theme.text,
        };
        Item::new(fill.repeat(2), style, name, look.theme.text)
    };
    let mut items: Vec<Item> = names.map(item).collect();
    if tint == Tint::Label {
        items.push(Item::new("", look.theme.dim, "colour: label", look.theme.dim));
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_covers_a_share_of_the_cells_at_its_ends() {
        for (ends, cells) in [
            ((2.25, 2.5), vec![(2, 0.25)]),
            ((2.25, 4.5), vec![(2, 0.75), (4, 0.5)]),
            ((2.0, 4.0), vec![(2, 1.0), (3, 1.0)]),
            ((3.0, 3.0), vec![(3, 0.0)]),
        ] {
            assert_eq!(edges(ends).collect::<Vec<_>>(), cells, "{ends:?}");
        }
    }
}
