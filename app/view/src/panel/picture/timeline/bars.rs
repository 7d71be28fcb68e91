//! The bars of a timeline: which one is marked, and how they are drawn.

use mlsys_lab::frame::{Span, Timeline};
use ratatui::style::{Modifier, Style};

use crate::axis::Axis;
use crate::canvas::{self as pen, Canvas, Pen};
use crate::panel::legend::Item;
use crate::panel::picture::timeline::{Parts, Shown, columns, exact};
use crate::panel::view::{Mark, Tint, Way};
use crate::theme::Look;

/// Labels up to here are numbers of microbatches, or as short as these.
const SHORT: u16 = 3;

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
            beside(timeline, order[at], -isize::try_from(by).unwrap_or(isize::MAX))
        }
        (Some(at), Way::Down(by)) => {
            beside(timeline, order[at], isize::try_from(by).unwrap_or(isize::MAX))
        }
    };
    Some(Mark { column: index, row: 0 })
}

/// The bar of another lane that begins nearest.
fn beside(timeline: &Timeline, index: usize, down: isize) -> usize {
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
        pen.bar(
            y,
            from..to,
            (exact(area, axis, span.start), exact(area, axis, span.end)),
            fill,
            style,
        );
        let chosen = marked == Some(index);
        let label = pen::width(&span.label);
        let wide = label.saturating_add(2);
        if chosen {
            pen.glyph(from, y, look.glyphs.reading, look.theme.accent);
        }
        if label > 0 && label <= to - from {
            let style = if chosen { look.theme.selection } else { on_bar(style) };
            if label > SHORT && wide <= to - from {
                let text = format!(" {} ", span.label);
                labels.push((y, from + (to - from - wide) / 2, wide, text, style));
            } else {
                // A number stands at the beginning, where it parts the bar from an equal one before it.
                labels.push((y, from, label, span.label.clone(), style));
            }
        }
    }
    // After all bars, of which a lane may have several, and each clear of the one before.
    labels.sort_by_key(|label| (label.0, label.1));
    let mut free = (0, 0);
    for (y, x, wide, label, style) in labels {
        if (y, x) >= free {
            pen.within(x, y, wide, &label, style);
            free = (y, x + wide);
        }
    }
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
