//! Box plots: the distribution of each of several groups of values over one axis.
//!
//! A box spans the middle half of the values with a line at their median; whiskers reach the furthest values within 1.5 box
//! lengths of it, and points stand for the extremes beyond (Tukey, Exploratory Data Analysis, 1977).

use mlsys_lab::frame::{BoxPlot, ValueSpread};
use ratatui::layout::Rect;

use crate::axis::{Axis, cell_at};
use crate::canvas::{self as pen, Canvas, Pen};
use crate::csv::{self, Lines};
use crate::glyphs::Glyphs;
use crate::panel::FrameView;
use crate::panel::picture::{At, Picture, RowNeed, page_rows};
use crate::panel::plane::ticks_below;
use crate::quantity::{quantity, unit};
use crate::theme::Look;

impl Picture for BoxPlot {
    /// Draws a row a group, the marked one among them, and the axis below.
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        let marked = at.view.mark.map(|mark| mark.within(1, self.boxes.len()).row);
        let (theme, glyphs) = (&look.theme, &look.glyphs);
        let ends = self.boxes.iter().map(|spread| spread.extremes);
        let Some((low, high)) = ends.reduce(|(a, b), (c, d)| (a.min(c), b.max(d))) else {
            canvas.say(area, "no values", look);
            return;
        };
        let axis = Axis::around(low, high, self.scale);
        let labels = self.boxes.iter().map(|spread| &spread.label);
        let labels = pen::widest(labels).min(area.width / 3);
        let track = Rect {
            x: area.x + labels + 1,
            width: area.width.saturating_sub(labels + 2),
            height: area.height.saturating_sub(if area.height > 3 { 2 } else { 0 }),
            ..area
        };
        if track.width < 4 || track.height == 0 {
            return;
        }
        let count = pen::cells(self.boxes.len());
        let pitch = if count.saturating_mul(2) <= track.height { 2 } else { 1 };
        let shown = usize::from(track.height / pitch).max(1);
        let first = marked.map_or(0, |marked| (marked + 1).saturating_sub(shown));
        let mut pen = Pen::new(area, canvas, glyphs);
        let rows = (track.y..track.bottom()).step_by(usize::from(pitch));
        for ((place, spread), y) in self.boxes.iter().enumerate().skip(first).zip(rows) {
            let style = if marked == Some(place) { theme.selection } else { theme.text };
            pen.within(area.x, y, labels, &spread.label, style);
            draw_spread(&mut pen, Rect { y, height: 1, ..track }, spread, &axis, look);
        }
        if area.height <= 3 {
            return;
        }
        pen.run(track.x, track.bottom(), track.width, glyphs.horizontal, theme.border);
        let left_out = self.boxes.len().saturating_sub(shown);
        let name = match (left_out, self.quantity.as_str()) {
            (0, name) => name.to_owned(),
            (more, name) => format!("{name}, {more} more groups"),
        };
        let below = (&axis, unit(&self.unit), name.as_str());
        ticks_below(&mut pen, (area, track), track.bottom() + 1, below, look);
    }

    fn words(&self, _: &FrameView, glyphs: &Glyphs) -> String {
        let boxes = self.boxes.iter().map(|spread| described(self, spread, glyphs));
        format!("{} by group: {}.", self.quantity, boxes.collect::<Vec<_>>().join("; "))
    }

    fn values(&self, lines: &mut Lines) {
        let title = |name: &str| csv::titled(name, &self.unit);
        lines.line([
            "group".to_owned(),
            "values".to_owned(),
            title("smallest"),
            title("lower whisker"),
            title("lower quartile"),
            title("median"),
            title("upper quartile"),
            title("upper whisker"),
            title("largest"),
            "outliers".to_owned(),
        ]);
        for spread in &self.boxes {
            let [lower, median, upper] = spread.quartiles;
            let places = [spread.extremes.0, spread.whiskers.0, lower, median, upper];
            let places = places.into_iter().chain([spread.whiskers.1, spread.extremes.1]);
            let head = [spread.label.clone(), spread.count.to_string()].into_iter();
            let end = [spread.outliers.to_string()];
            lines.line(head.chain(places.map(csv::number)).chain(end));
        }
    }

    fn marked(&self, view: &FrameView, glyphs: &Glyphs) -> Option<String> {
        let row = view.mark?.within(1, self.boxes.len()).row;
        Some(described(self, self.boxes.get(row)?, glyphs))
    }

    fn places(&self, _: &FrameView) -> (usize, usize) {
        (1, self.boxes.len())
    }

    fn row_need(&self, _: At<'_>, _: u16, _: &Look) -> Option<RowNeed> {
        Some(RowNeed::listed(self.boxes.len(), 2))
    }

    fn page_size(&self, columns: u16) -> (u16, u16) {
        (columns, page_rows(self.boxes.len()).saturating_add(3))
    }
}

/// The column of a value and its exact place; none off a logarithmic axis.
fn place(track: Rect, axis: &Axis, value: f64) -> Option<(u16, f64)> {
    let share = axis.share(value)?.clamp(0.0, 1.0);
    let exact = share * f64::from(track.width);
    Some((track.x + cell_at(share, track.width), f64::from(track.x) + exact))
}

/// One group: whiskers as a line, the box over it, the median over both, and the extremes as points.
fn draw_spread(pen: &mut Pen<'_>, track: Rect, spread: &ValueSpread, axis: &Axis, look: &Look) {
    let (theme, glyphs) = (&look.theme, &look.glyphs);
    let at = |value: f64| place(track, axis, value);
    let [lower, median, upper] = spread.quartiles;
    let y = track.y;
    if let (Some((from, _)), Some((to, _))) = (at(spread.whiskers.0), at(spread.whiskers.1)) {
        pen.run(from, y, to.saturating_sub(from) + 1, glyphs.horizontal, theme.text);
    }
    for (end, inside) in
        [(spread.extremes.0, spread.whiskers.0), (spread.extremes.1, spread.whiskers.1)]
    {
        if let Some((x, exact)) = at(end).filter(|_| end != inside) {
            pen.point((x, y), (exact, f64::from(y) + 0.5), glyphs.open, theme.dim);
        }
    }
    if let (Some((from, left)), Some((to, right))) = (at(lower), at(upper)) {
        pen.bar(y, from..to.max(from) + 1, (left, right), glyphs.fills[1], theme.curve(0));
    }
    if let Some((x, exact)) = at(median) {
        pen.upright(x, y..y + 1, exact, glyphs.cursor, theme.accent);
    }
}

fn described(plot: &BoxPlot, spread: &ValueSpread, glyphs: &Glyphs) -> String {
    let say = |value: f64| quantity(value, unit(&plot.unit), glyphs);
    let [lower, median, upper] = spread.quartiles;
    let mut text = format!(
        "{}: median {}, middle half {} to {}, whiskers {} to {}",
        spread.label,
        say(median),
        say(lower),
        say(upper),
        say(spread.whiskers.0),
        say(spread.whiskers.1)
    );
    if spread.outliers > 0 {
        let (low, high) = (say(spread.extremes.0), say(spread.extremes.1));
        text.push_str(&format!(
            ", {} of {} values beyond, {low} to {high}",
            spread.outliers, spread.count
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Buffer;

    use super::*;
    use crate::glyphs::GlyphSet;
    use crate::panel::{Focus, FrameView};
    use crate::theme::{Background, ColorDepth, Theme};

    fn plot() -> BoxPlot {
        let values: Vec<f64> = (0..=100).map(f64::from).chain([400.0]).collect();
        let spread = ValueSpread::new("layer1", &values);
        BoxPlot {
            quantity: "weight".to_owned(),
            boxes: spread.into_iter().collect(),
            ..BoxPlot::default()
        }
    }

    #[test]
    fn a_box_spans_the_middle_half() {
        let area = Rect::new(0, 0, 50, 4);
        let theme = Theme::new(Background::Dark, ColorDepth::None);
        let look = Look { theme, glyphs: Glyphs::new(GlyphSet::Ascii) };
        let mut buf = Buffer::empty(area);
        let view = FrameView::default();
        let at = At { view: &view, focus: Focus::Aside, walk: None, past: None };
        Canvas::over(&mut buf, |canvas| Picture::draw(&plot(), area, canvas, at, &look));
        let row: String = buf.content[..50].iter().map(|cell| cell.symbol()).collect();
        assert_eq!(row.trim_end(), "layer1 --===|==---                              o");
    }

    #[test]
    fn words_and_values_tell_the_quartiles() {
        let glyphs = Glyphs::new(GlyphSet::Ascii);
        assert_eq!(
            plot().words(&FrameView::default(), &glyphs),
            "weight by group: layer1: median 50.5, middle half 25.25 to 75.75, whiskers 0 to 100, \
             1 of 102 values beyond, 0 to 400."
        );
        let mut lines = Lines::default();
        plot().values(&mut lines);
        assert!(lines.text.ends_with("layer1,102,0,0,25.25,50.5,75.75,100,400,1\r\n"));
    }
}
