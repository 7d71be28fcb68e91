//! Two axes with ticks, a grid and names, and the field between them.

use super::page::{Anchor, MARGIN, Page, WIDTH, short, width};
use crate::figure::axis::Axis;
use crate::figure::{glyphs, ink};

/// The height of the field.
const HEIGHT: f64 = 340.0;

/// An axis with its name and unit.
pub(super) struct Side<'a> {
    pub(super) axis: Axis,
    pub(super) name: &'a str,
    pub(super) unit: Option<&'a str>,
}

/// A field on the page.
pub(super) struct Plot {
    x: Axis,
    y: Axis,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Plot {
    /// Draws axes, grid and names; leaves room at the right for so many letters, and moves the page below.
    pub(super) fn draw(page: &mut Page, x: Side<'_>, y: Side<'_>, room: f64) -> Self {
        let ticks = y.axis.ticks(7, y.unit, &glyphs());
        let widest = ticks.iter().map(|(_, label)| width(label)).fold(0.0, f64::max);
        let plot = Self {
            left: MARGIN + 20.0 + widest.min(140.0) + 8.0,
            right: WIDTH - MARGIN - room,
            top: page.y + 6.0,
            bottom: page.y + 6.0 + HEIGHT,
            x: x.axis,
            y: y.axis,
        };
        for (value, label) in ticks {
            let Some(at) = plot.up(value) else { continue };
            page.line((plot.left, at), (plot.right, at), ink::GRID, "none");
            page.text((plot.left - 8.0, at + 4.0), Anchor::End, &label, ink::INK);
        }
        let mut free = 0.0;
        for (value, label) in plot.x.ticks(8, x.unit, &glyphs()) {
            let Some(at) = plot.across(value) else {
                continue;
            };
            page.line((at, plot.bottom), (at, plot.bottom + 5.0), ink::INK, "none");
            if at - width(&label) / 2.0 > free {
                page.text((at, plot.bottom + 19.0), Anchor::Middle, &label, ink::INK);
                free = at + width(&label) / 2.0 + 6.0;
            }
        }
        let corner = format!(
            "M{} {}V{}H{}",
            short(plot.left),
            short(plot.top),
            short(plot.bottom),
            short(plot.right)
        );
        page.stroke(&corner, ink::INK, 1.2, "none");
        let middle = f64::midpoint(plot.left, plot.right);
        page.text((middle, plot.bottom + 37.0), Anchor::Middle, &named(x.name, x.unit), ink::DIM);
        let middle = f64::midpoint(plot.top, plot.bottom);
        page.upwards((MARGIN + 10.0, middle), &named(y.name, y.unit));
        page.y = plot.bottom + 58.0;
        plot
    }

    /// Where a value lies across; absent off a logarithmic axis.
    pub(super) fn across(&self, value: f64) -> Option<f64> {
        Some(self.left + self.x.share(value)? * (self.right - self.left))
    }

    /// Where a value lies upwards; absent off a logarithmic axis.
    pub(super) fn up(&self, value: f64) -> Option<f64> {
        Some(self.bottom - self.y.share(value)? * (self.bottom - self.top))
    }

    /// Where a point lies.
    pub(super) fn at(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.across(x)?, self.up(y)?))
    }
}

/// A name with its unit.
pub(super) fn named(name: &str, unit: Option<&str>) -> String {
    let text = match unit.filter(|unit| !unit.is_empty()) {
        Some(unit) if !name.is_empty() => format!("{name} ({unit})"),
        Some(unit) => unit.to_owned(),
        None => name.to_owned(),
    };
    super::page::cut(&text, 90)
}
