//! How a timeline is looked at: which part of its axis, and which bar.

use mlsys_lab::frame::Timeline;
use ratatui::style::{Modifier, Style};

use crate::panel::Inspect;
use crate::panel::legend::Item;
use crate::panel::view::{Mark, Way};
use crate::theme::Look;

/// What the colour of a bar tells; its fill always tells its class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tint {
    /// Its class, such as "forward".
    #[default]
    Class,
    /// Its label, such as the number of a microbatch: bars of one label have one colour.
    Label,
}

impl Tint {
    pub fn next(self) -> Self {
        match self {
            Self::Class => Self::Label,
            Self::Label => Self::Class,
        }
    }
}

/// The part of the axis that is shown; absent for all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stretch(Option<(f64, f64)>);

/// The narrowest part, of the whole.
const NARROWEST: f64 = 1e-6;

impl Stretch {
    /// From one place to another.
    pub fn between(from: f64, to: f64) -> Self {
        Self(Some((from, to)))
    }

    /// Its ends on a timeline's axis; nothing if nothing is on it.
    pub fn of(self, timeline: &Timeline) -> Option<(f64, f64)> {
        let (low, high) = timeline.extent()?;
        let (from, to) = self.0.unwrap_or((low, high));
        // A timeline of another run may end before the part begins.
        let (from, to) = (from.clamp(low, high), to.clamp(low, high));
        Some(if from < to { (from, to) } else { (low, high) })
    }

    /// Less or more of the axis, or another part of it; `about` stays in sight.
    pub(crate) fn inspect(self, timeline: &Timeline, about: Option<f64>, inspect: Inspect) -> Self {
        let (Some((low, high)), Some((from, to))) = (timeline.extent(), self.of(timeline)) else {
            return self;
        };
        let width = to - from;
        let middle = f64::midpoint(from, to);
        match inspect {
            Inspect::Closer if width > NARROWEST * (high - low) => {
                let about = about.filter(|at| (from..=to).contains(at)).unwrap_or(middle);
                Self::placed(about - width / 4.0, width / 2.0, (low, high))
            }
            Inspect::Wider if width * 2.0 < high - low => {
                Self::placed(middle - width, width * 2.0, (low, high))
            }
            Inspect::Wider | Inspect::Fit => Self(None),
            Inspect::Earlier => Self::placed(from - width / 4.0, width, (low, high)),
            Inspect::Later => Self::placed(from + width / 4.0, width, (low, high)),
            Inspect::Closer
            | Inspect::Left
            | Inspect::Right
            | Inspect::PreviousPoint
            | Inspect::NextPoint
            | Inspect::LogAxis
            | Inspect::Smooth => self,
        }
    }

    /// Moved just so far that a place is in it.
    pub(crate) fn around(self, timeline: &Timeline, at: f64) -> Self {
        let (Some(ends), Some((from, to))) = (timeline.extent(), self.of(timeline)) else {
            return self;
        };
        if self.0.is_none() || (from..=to).contains(&at) {
            return self;
        }
        Self::placed(at - (to - from) / 4.0, to - from, ends)
    }

    fn placed(from: f64, width: f64, (low, high): (f64, f64)) -> Self {
        if width >= high - low {
            return Self(None);
        }
        let from = from.clamp(low, (high - width).max(low));
        Self(Some((from, from + width)))
    }
}

/// The bar that a way leads to from the marked one: left and right through all by where they begin, up and down from
/// lane to lane.
pub(crate) fn go(timeline: &Timeline, mark: Option<Mark>, way: Way) -> Option<Mark> {
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
        (Some(at), Way::Up(by)) => beside(timeline, order[at], Lane::Above(by)),
        (Some(at), Way::Down(by)) => beside(timeline, order[at], Lane::Below(by)),
    };
    Some(Mark { column: index, row: 0 })
}

enum Lane {
    Above(usize),
    Below(usize),
}

/// The bar of another lane that begins nearest.
fn beside(timeline: &Timeline, index: usize, lane: Lane) -> usize {
    let here = &timeline.spans[index];
    let wanted = match lane {
        Lane::Above(by) => here.lane.saturating_sub(by),
        Lane::Below(by) => here.lane.saturating_add(by).min(timeline.lanes.len().saturating_sub(1)),
    };
    let spans = timeline.spans.iter().enumerate();
    let other = spans.filter(|(_, span)| match lane {
        Lane::Above(_) => span.lane < here.lane,
        Lane::Below(_) => span.lane > here.lane,
    });
    let nearest = other.min_by(|(_, a), (_, b)| {
        let off = |span: &mlsys_lab::frame::Span| span.lane.abs_diff(wanted);
        let far = |span: &mlsys_lab::frame::Span| (span.start - here.start).abs();
        off(a).cmp(&off(b)).then(far(a).total_cmp(&far(b)))
    });
    nearest.map_or(index, |(other, _)| other)
}

pub(super) fn class(place: usize, look: &Look) -> (Style, &'static str) {
    let (styles, fills) = (&look.theme.curves, &look.glyphs.fills);
    (styles[place % styles.len()], fills[place % fills.len()])
}

/// Letters on a bar, which stays a bar behind them; without colour they stand in a gap of it.
pub(super) fn on_bar(style: Style) -> Style {
    match style.fg {
        Some(_) => style.add_modifier(Modifier::REVERSED),
        None => style,
    }
}

/// The style of all bars of one label: of neighbouring numbers it differs.
pub(super) fn by_label(label: &str, look: &Look) -> Style {
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
