//! How often values fall between edges, as columns; a second population as an outline over them.

use std::collections::HashSet;

use mlsys_lab::frame::{Distribution, Histogram, Level};
use mlsys_lab::schema::Scale;
use ratatui::layout::Rect;

use crate::axis::{Axis, cell_at, dot_at};
use crate::canvas::{self as pen, Canvas, DotGrid, Ink, Pen, Stroke, is_dots};
use crate::csv::{self, Lines};
use crate::glyphs::{GlyphSet, Glyphs};
use crate::panel::legend::{self, Item};
use crate::panel::picture::{At, Picture};
use crate::panel::plane::{Plane, SMALLEST, Side};
use crate::panel::view::FrameView;
use crate::quantity::{quantity, unit};
use crate::text::or;
use crate::theme::{ColorDepth, Look};

/// The first and the last edge, if there is a range between them and something in it.
fn bounds(histogram: &Histogram) -> Option<(f64, f64)> {
    let (first, last) = (*histogram.edges.first()?, *histogram.edges.last()?);
    let counted = histogram.first.total() > 0
        || histogram.second.as_ref().is_some_and(|second| second.total() > 0);
    (first.is_finite() && last.is_finite() && first < last && counted).then_some((first, last))
}

/// The axis of shares: two populations of different size are compared by their shapes.
fn heights(histogram: &Histogram) -> Axis {
    let second = histogram.second.iter().flat_map(Distribution::shares);
    let shares = histogram.first.shares().chain(second);
    let shares = shares.filter(|share| *share > 0.0);
    let (low, high) = shares.fold((f64::INFINITY, 0.0_f64), |(l, h), x| (l.min(x), h.max(x)));
    match histogram.scale {
        // The highest column ends below the edge.
        Scale::Linear => Axis::around(0.0, 1.05 * high, Scale::Linear),
        // Half of the smallest, so that a single value still has a height.
        Scale::Log => Axis::around(low / 2.0, high, Scale::Log),
    }
}

/// Columns from the axis up, in eighths of a cell where the glyphs have them.
fn columns(
    plane: &Plane<'_>,
    canvas: &mut Canvas,
    histogram: &Histogram,
    chosen: Option<usize>,
    look: &Look,
) {
    let plot = plane.plot;
    let (Some(first), Some(last)) = (histogram.edges.first(), histogram.edges.last()) else {
        return;
    };
    let total = histogram.first.total().max(1) as f64;
    let mut pen = Pen::new(plot, canvas, &look.glyphs);
    for column in 0..plot.width {
        let share = (f64::from(column) + 0.5) / f64::from(plot.width);
        let x = first + (last - first) * share;
        let Some(bin) = histogram.edges.partition_point(|edge| *edge <= x).checked_sub(1) else {
            continue;
        };
        let count = histogram.first.counts.get(bin).copied().unwrap_or(0);
        let style = if chosen == Some(bin) { look.theme.accent } else { look.theme.curve(0) };
        let x = plot.x + column;
        if chosen == Some(bin) {
            pen.glyph(x, plot.bottom().saturating_sub(1), look.glyphs.heights[0], style);
        }
        let Some((_, top)) = plane.shares((*first, count as f64 / total)) else { continue };
        if count == 0 {
            continue;
        }
        let parts = look.glyphs.heights;
        let eighths = ((1.0 - top) * f64::from(plot.height) * parts.len() as f64).round() as usize;
        // What is there at all is seen.
        let eighths = eighths.max(1);
        let (full, rest) = (eighths / parts.len(), eighths % parts.len());
        let whole = self::full(look);
        let base = plot.bottom();
        let top = base.saturating_sub(full as u16).max(plot.y);
        for y in top..base {
            pen.end_of_bar(x, y, whole, style);
        }
        if rest > 0 && top > plot.y {
            pen.end_of_bar(x, top - 1, parts[rest - 1], style);
        }
    }
    let exact = histogram.ranges().zip(&histogram.first.counts).filter(|(_, count)| **count > 0);
    let exact = exact.filter_map(|((from, to), count)| {
        let corner = plane.exact((from, *count as f64 / total))?;
        Some([corner, (plane.across(to)?, plot.bottom().into())])
    });
    let exact: Vec<[(f64, f64); 2]> = exact.collect();
    canvas.blocks(&exact, look.glyphs.fills[1], look.theme.curve(0));
}

/// The outline of the second population: a line at each height, joined at the edges.
fn outline(
    plane: &Plane<'_>,
    canvas: &mut Canvas,
    histogram: &Histogram,
    second: &Distribution,
    look: &Look,
) {
    let total = second.total().max(1) as f64;
    match look.glyphs.set {
        GlyphSet::Unicode => {
            let mut dots = DotGrid::new(plane.plot, canvas, &look.glyphs);
            let (width, height) = dots.size();
            let ink = Ink {
                rank: 1,
                style: look.theme.curve(1),
                marker: look.glyphs.point,
                stroke: Stroke::Solid,
                wide: 1.8,
            };
            let bottom = height.saturating_sub(1);
            let mut before = None;
            for ((from, to), count) in histogram.ranges().zip(&second.counts) {
                let dot = |x| {
                    let (x, y) = plane.shares((x, *count as f64 / total))?;
                    Some((dot_at(x, width), dot_at(y, height)))
                };
                let top = (dot(from), dot(to));
                if let (true, (Some(left), Some(right))) = (*count > 0, top) {
                    dots.line(before.unwrap_or((left.0, bottom)), left, ink);
                    dots.line(left, right, ink);
                    before = Some(right);
                } else if let Some((x, y)) = before.take() {
                    dots.line((x, y), (x, bottom), ink);
                }
            }
            if let Some((x, y)) = before {
                dots.line((x, y), (x, bottom), ink);
            }
            // Dots take a column's place in their cell: its colour stays behind them.
            let mut pen = Pen::new(plane.plot, canvas, &look.glyphs);
            for position in plane.plot.positions() {
                pen.fill_behind(position.x, position.y, full(look));
            }
            dots.draw(canvas);
        }
        GlyphSet::Ascii => {
            for ((from, to), count) in histogram.ranges().zip(&second.counts) {
                let place = (f64::midpoint(from, to), *count as f64 / total);
                if let Some((x, y)) = plane.cell(place).filter(|_| *count > 0) {
                    let mut pen = Pen::new(plane.plot, canvas, &look.glyphs);
                    pen.glyph(x, y, look.glyphs.classes[0], look.theme.curve(1));
                }
            }
        }
    }
}

fn full(look: &Look) -> &'static str {
    look.glyphs.heights[look.glyphs.heights.len() - 1]
}

/// The columns of the screen that marked values fall on.
fn places<'a>(
    plane: &Plane<'_>,
    histogram: &'a Histogram,
) -> impl Iterator<Item = (u16, &'a Level)> {
    let plot = plane.plot;
    let bounds = bounds(histogram);
    histogram.levels.iter().filter_map(move |level| {
        let (low, high) = bounds?;
        let share = (level.at - low) / (high - low);
        let column = plot.x + cell_at(share, plot.width);
        (low..=high).contains(&level.at).then_some((column, level))
    })
}

/// Lines through the field; marked values without a name that would hide the columns are told by the axis alone.
fn levels(plane: &Plane<'_>, canvas: &mut Canvas, histogram: &Histogram, look: &Look) {
    let plot = plane.plot;
    let mut pen = Pen::new(plot, canvas, &look.glyphs);
    let marked: HashSet<u16> = places(plane, histogram).map(|(x, _)| x).collect();
    let hide_columns = marked.len() * 3 > usize::from(plot.width);
    let is_drawn = |level: &Level| !level.label.is_empty() || !hide_columns;
    for (x, level) in places(plane, histogram).filter(|(_, level)| is_drawn(level)) {
        let exact = plane.across(level.at).unwrap_or(x.into());
        for y in plot.y..plot.bottom() {
            pen.fill_behind(x, y, full(look));
        }
        pen.upright(x, plot.y..plot.bottom(), exact, look.glyphs.change, look.theme.warn);
    }
}

/// Cells between a marked value's line and its name, at most.
const GAP: u16 = 3;

/// The names of marked values near the top, each right of its line, else left of it, in the first row in which it touches
/// nothing; where there is none, over columns, but never over the outline.
fn labels(plane: &Plane<'_>, canvas: &mut Canvas, histogram: &Histogram, look: &Look) {
    let plot = plane.plot;
    let over_columns = |symbol: &str| !symbol.chars().any(|c| is_dots(c) || c.is_alphanumeric());
    for (x, level) in places(plane, histogram).collect::<Vec<_>>() {
        let wide = pen::width(&level.label);
        let has_room = |(start, y): (u16, u16), is_free: &dyn Fn(&str) -> bool| {
            let cells = start..start.saturating_add(wide);
            let is_inside = cells.start >= plot.x && cells.end <= plot.right();
            is_inside && cells.into_iter().all(|x| is_free(canvas.cells[(x, y)].symbol()))
        };
        let sides = |gap: u16| [Some(x + 1 + gap), x.checked_sub(wide + gap)];
        let starts = || (0..=GAP).flat_map(sides).flatten();
        let around = || (plot.y..plot.bottom()).flat_map(|y| starts().map(move |x| (x, y)));
        let blank = around().find(|at| has_room(*at, &|symbol| symbol == " "));
        let place = blank.or_else(|| around().find(|at| has_room(*at, &over_columns)));
        if let Some((start, y)) = place {
            Pen::new(plot, canvas, &look.glyphs).text(start, y, &level.label, look.theme.warn);
        }
    }
}

/// A mark on the axis below each line.
fn levels_on_axis(plane: &Plane<'_>, canvas: &mut Canvas, histogram: &Histogram, look: &Look) {
    let area = Rect { y: plane.plot.bottom(), height: 1, ..plane.plot };
    let axis = [look.glyphs.horizontal, look.glyphs.tick_below];
    for (x, _) in places(plane, histogram) {
        // A low picture has labels there.
        let is_axis = canvas.cells.cell((x, area.y)).is_some_and(|at| axis.contains(&at.symbol()));
        if is_axis {
            let (mark, style) = (look.glyphs.change, look.theme.warn);
            Pen::new(area, canvas, &look.glyphs).glyph(x, area.y, mark, style);
        }
    }
}

fn items(histogram: &Histogram, look: &Look) -> Vec<Item> {
    let theme = &look.theme;
    let item = |mark: &str, place: usize, distribution: &Distribution| {
        let text = match distribution.name.as_str() {
            "" => format!("{} values", distribution.total()),
            name => format!("{name} ({} values)", distribution.total()),
        };
        Item::new(mark, theme.curve(place), text, theme.dim)
    };
    let mut items = vec![item(full(look), 0, &histogram.first)];
    if let Some(second) = &histogram.second {
        let mark = match look.glyphs.set {
            GlyphSet::Unicode => look.glyphs.horizontal,
            GlyphSet::Ascii => look.glyphs.classes[0],
        };
        items.push(item(mark, 1, second));
    }
    if let Some(text) = histogram.marks() {
        items.push(Item::new(look.glyphs.change, theme.warn, text, theme.dim));
    }
    items
}

fn small(area: Rect, canvas: &mut Canvas, histogram: &Histogram, look: &Look) {
    let most = histogram.first.counts.iter().max().copied().unwrap_or(0).max(1);
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let every = histogram.first.counts.len().div_ceil(usize::from(area.width.max(1))).max(1);
    for (x, counts) in (area.x..area.right()).zip(histogram.first.counts.chunks(every)) {
        let count = counts.iter().max().copied().unwrap_or(0);
        if count > 0 {
            let share = count as f32 / most as f32;
            pen.glyph(x, area.y, look.glyphs.height(share), look.theme.curve(0));
        }
    }
}

/// A range in words: its edges and how many values of each population lie in it.
pub(crate) fn describe_range(histogram: &Histogram, bin: usize, glyphs: &Glyphs) -> Option<String> {
    let (from, to) = histogram.ranges().nth(bin)?;
    let unit = unit(&histogram.unit);
    let mut text = format!(
        "{} {} to {}: {}",
        histogram.quantity,
        quantity(from, unit, glyphs),
        quantity(to, unit, glyphs),
        part(&histogram.first, bin),
    );
    if let Some(second) = &histogram.second {
        text.push_str(&format!("; {}", part(second, bin)));
    }
    let labels = levels_in_range(histogram, (from, to)).map(|level| match level.label.as_str() {
        "" => quantity(level.at, unit, glyphs),
        label => label.to_owned(),
    });
    let labels: Vec<String> = labels.collect();
    if !labels.is_empty() {
        text.push_str(&format!("; marked: {}", labels.join(", ")));
    }
    Some(text)
}

/// The marked values between two edges; the last range has both of its own.
fn levels_in_range(histogram: &Histogram, (from, to): (f64, f64)) -> impl Iterator<Item = &Level> {
    let is_last = histogram.edges.last() == Some(&to);
    let inside = move |at: f64| (from..to).contains(&at) || (is_last && at == to);
    histogram.levels.iter().filter(move |level| inside(level.at))
}

fn part(distribution: &Distribution, bin: usize) -> String {
    let count = distribution.counts.get(bin).copied().unwrap_or(0);
    let share = 100.0 * count as f64 / distribution.total().max(1) as f64;
    let text = format!("{count} ({share:.1} %)");
    match distribution.name.as_str() {
        "" => text,
        name => format!("{name} {text}"),
    }
}

impl Picture for Histogram {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        let chosen = at.view.mark.map(|mark| mark.column);
        let Some(bounds) = bounds(self) else {
            canvas.say(area, "an empty histogram", look);
            return;
        };
        if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
            small(area, canvas, self, look);
            return;
        }
        let items = items(self, look);
        let [upper, below] = legend::below(area, &items);
        let x = Side {
            axis: Axis::exactly(bounds.0, bounds.1),
            name: &self.quantity,
            unit: unit(&self.unit),
        };
        let y = Side { axis: heights(self), name: "share of values", unit: None };
        let plane = Plane::new(upper, x, y, look);
        plane.draw(canvas, look);
        // Without colour the lines would cut the columns into pieces.
        let is_behind = !canvas.is_page() && look.theme.depth == ColorDepth::None;
        if is_behind {
            levels(&plane, canvas, self, look);
        }
        columns(&plane, canvas, self, chosen, look);
        if !is_behind {
            levels(&plane, canvas, self, look);
        }
        if !canvas.is_page() {
            levels_on_axis(&plane, canvas, self, look);
        }
        if let Some(second) = &self.second {
            outline(&plane, canvas, self, second, look);
        }
        labels(&plane, canvas, self, look);
        legend::draw(below, canvas, &items, look);
    }

    fn words(&self, _: &FrameView, glyphs: &Glyphs) -> String {
        let ranges: Vec<(f64, f64)> = self.ranges().collect();
        let described = |distribution: &Distribution| {
            let name = or(&distribution.name, "values");
            let most = distribution.counts.iter().enumerate();
            let most = most.max_by_key(|(bin, count)| (**count, std::cmp::Reverse(*bin)));
            let fullest = most.and_then(|(bin, _)| describe_range(self, bin, glyphs));
            format!(
                "{} {name}, most in {}",
                distribution.total(),
                fullest.unwrap_or_else(|| "no range".to_owned())
            )
        };
        let what = format!("a histogram of {} in {} ranges", self.quantity, ranges.len());
        let mut parts = vec![what, described(&self.first)];
        parts.extend(self.second.as_ref().map(described));
        parts.extend(self.marks());
        format!("{}.", parts.join("; "))
    }

    fn values(&self, lines: &mut Lines) {
        let mut titles = vec![
            csv::titled(&format!("{} from", self.quantity), &self.unit),
            csv::titled("to", &self.unit),
            or(&self.first.name, "count").to_owned(),
        ];
        titles.extend(self.second.iter().map(|other| or(&other.name, "second count").to_owned()));
        titles.push("marked".to_owned());
        lines.line(&titles);
        for (bin, (from, to)) in self.ranges().enumerate() {
            let count = |counts: &[u64]| counts.get(bin).map_or(String::new(), u64::to_string);
            let mut cells = vec![csv::number(from), csv::number(to), count(&self.first.counts)];
            cells.extend(self.second.iter().map(|second| count(&second.counts)));
            let marked =
                levels_in_range(self, (from, to)).map(|level| match level.label.as_str() {
                    "" => csv::number(level.at),
                    label => format!("{label} at {}", csv::number(level.at)),
                });
            cells.push(marked.collect::<Vec<_>>().join("; "));
            lines.line(&cells);
        }
    }

    fn marked(&self, view: &FrameView, glyphs: &Glyphs) -> Option<String> {
        let bins = self.edges.len().saturating_sub(1);
        describe_range(self, view.mark?.within(bins, 1).column, glyphs)
    }

    fn places(&self, _: &FrameView) -> (usize, usize) {
        (self.edges.len().saturating_sub(1), 1)
    }
}
