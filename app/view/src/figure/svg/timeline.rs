//! Bars over one axis, in lanes, and above them the total as a step curve with its peak.

use std::fmt::Write as _;

use mlsys_lab::frame::{Timeline, Total};

use super::page::{Anchor, LINE, MARGIN, Page, Sample, WIDTH, cut, short, width};
use crate::figure::axis::Axis;
use crate::figure::unit;
use crate::figure::{glyphs, ink, outline, quantity};

/// Lanes of one figure; the file of values has them all.
const MOST: usize = 120;
/// The height of the total.
const TOTAL: f64 = 110.0;
/// The height of a lane's bars.
const BAR: f64 = 14.0;

/// Where the axis lies on the page.
struct Across {
    axis: Axis,
    left: f64,
    right: f64,
}

impl Across {
    fn at(&self, value: f64) -> Option<f64> {
        let share = self.axis.share(value).filter(|share| share.is_finite())?;
        Some(self.left + share.clamp(0.0, 1.0) * (self.right - self.left))
    }
}

/// Draws the total, the lanes, the axis and the legend.
pub(super) fn draw(page: &mut Page, timeline: &Timeline) {
    let Some((low, high)) = timeline.extent() else {
        page.text((MARGIN, page.y), Anchor::Start, "nothing happens", ink::DIM);
        page.y += LINE;
        return;
    };
    let lanes: Vec<String> = timeline.lanes.iter().take(MOST).map(|name| cut(name, 32)).collect();
    let names = lanes.iter().map(|name| width(name)).fold(40.0, f64::max);
    let across = Across {
        axis: Axis::exactly(low, high),
        left: MARGIN + names + 10.0,
        right: WIDTH - MARGIN,
    };
    let top = page.y + LINE;
    page.y = top;
    if let Some(total) = &timeline.total {
        page.y += LINE;
        draw_total(page, total, &timeline.unit, &across);
    }
    for (lane, name) in lanes.iter().enumerate() {
        page.text((across.left - 8.0, page.y + BAR - 3.0), Anchor::End, name, ink::INK);
        spans(page, timeline, lane, &across);
        page.y += LINE;
    }
    let bottom = page.y + 2.0;
    milestones(page, timeline, &across, (top, bottom));
    axis(page, timeline, &across, bottom);
    let classes = timeline.classes.iter().enumerate();
    let entry = |(place, name): (usize, &String)| (Sample::Field(ink::color(place)), name.clone());
    let entries: Vec<(Sample, String)> = classes.map(entry).collect();
    page.legend(&entries);
    if timeline.lanes.len() > MOST {
        let more = format!("and {} more lanes", timeline.lanes.len() - MOST);
        page.text((MARGIN, page.y), Anchor::Start, &more, ink::DIM);
        page.y += LINE;
    }
}

/// The bars of a lane; a label stands in its bar where it fits.
fn spans(page: &mut Page, timeline: &Timeline, lane: usize, across: &Across) {
    for span in timeline.spans.iter().filter(|span| span.lane == lane) {
        let (Some(from), Some(to)) = (across.at(span.start), across.at(span.end)) else {
            continue;
        };
        let (from, to) = (from.min(to), from.max(to).max(from.min(to) + 1.0));
        let d = format!(
            "M{} {}h{}v{BAR}h{}z",
            short(from),
            short(page.y),
            short(to - from),
            short(from - to)
        );
        page.shape(&d, ink::color(span.class), ink::PAPER);
        if !span.label.is_empty() && width(&span.label) + 6.0 < to - from {
            let at = (f64::midpoint(from, to), page.y + BAR - 3.0);
            page.text(at, Anchor::Middle, &span.label, ink::PAPER);
        }
    }
}

/// The total as a filled step curve; a ring and words mark its peak.
fn draw_total(page: &mut Page, total: &Total, along: &str, across: &Across) {
    let (bottom, top) = (page.y + TOTAL, page.y);
    page.y = bottom + 12.0;
    let Some((at, most)) = total.peak().filter(|peak| peak.1 > 0.0) else {
        return;
    };
    let up = |value: f64| bottom - (value / most).clamp(0.0, 1.0) * TOTAL;
    let mut d = String::new();
    let mut last = None;
    let points = total.points.iter().filter(|point| point.1.is_finite());
    for (place, value) in points {
        let Some(x) = across.at(*place) else { continue };
        match last {
            None => {
                let _ = write!(d, "M{} {}V{}", short(x), short(bottom), short(up(*value)));
            }
            Some(_) => {
                let _ = write!(d, "H{}V{}", short(x), short(up(*value)));
            }
        }
        last = Some(x);
    }
    if last.is_none() {
        return;
    }
    let _ = write!(d, "H{}V{}z", short(across.right), short(bottom));
    page.shape(&d, ink::GRID, ink::DIM);
    let of = unit(&total.unit);
    page.text(
        (across.left - 8.0, top + 4.0),
        Anchor::End,
        &quantity(most, of, &glyphs()),
        ink::INK,
    );
    page.text((across.left - 8.0, bottom), Anchor::End, "0", ink::INK);
    if let (Some(x), Some(said)) = (across.at(at), outline::peak(total, along, &glyphs())) {
        let anchor = if x + width(&said) < across.right { Anchor::Start } else { Anchor::End };
        page.styled((x, top - 5.0), anchor, &said, "b", ink::INK);
    }
}

/// A line down at each marked place, with its name on top.
fn milestones(page: &mut Page, timeline: &Timeline, across: &Across, (top, bottom): (f64, f64)) {
    for mark in timeline.marks.iter().take(MOST) {
        let Some(x) = across.at(mark.at) else {
            continue;
        };
        page.line((x, top), (x, bottom), ink::BAD, "4 3");
        let anchor =
            if x + width(&mark.label) < across.right { Anchor::Start } else { Anchor::End };
        page.text((x + 3.0, top - 5.0), anchor, &cut(&mark.label, 60), ink::BAD);
    }
}

fn axis(page: &mut Page, timeline: &Timeline, across: &Across, y: f64) {
    page.line((across.left, y), (across.right, y), ink::INK, "none");
    let mut free = 0.0;
    for (value, label) in across.axis.ticks(8, unit(&timeline.unit), &glyphs()) {
        let Some(x) = across.at(value) else { continue };
        page.line((x, y), (x, y + 5.0), ink::INK, "none");
        if x - width(&label) / 2.0 > free {
            page.text((x, y + 19.0), Anchor::Middle, &label, ink::INK);
            free = x + width(&label) / 2.0 + 6.0;
        }
    }
    let middle = f64::midpoint(across.left, across.right);
    page.text((middle, y + 36.0), Anchor::Middle, &timeline.unit, ink::DIM);
    page.y = y + 54.0;
}
