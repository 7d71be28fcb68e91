//! Named points between two axes, the ones that no other beats joined.

mod few;
mod key;
mod lines;
mod names;
mod places;
mod ways;
mod words;

use std::cmp::Reverse;

use mlsys_lab::frame::{Dimension, Scatter};
use mlsys_lab::schema::Scale;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::axis::{bounds, dot_at};
use crate::canvas::{self as pen, Canvas, DotGrid, Ink, Pen, Stroke};
use crate::csv::{self, Lines};
use crate::glyphs::Glyphs;
use crate::panel::axis::Axis;
use crate::panel::legend::{self, Item};
use crate::panel::picture::scatter::key::{Entry, Key, Of};
use crate::panel::picture::scatter::places::{Cells, shown};
pub(crate) use crate::panel::picture::scatter::words::describe_point;
use crate::panel::picture::{At, Picture, RowNeed};
use crate::panel::plane::{Plane, SMALLEST, Side, split};
use crate::panel::view::{AxisRange, FrameView, Mark, Way};
use crate::quantity::unit;
use crate::theme::Look;

/// A side of the plane that holds all points; nothing if there is no point.
fn side<'a>(
    dimension: &'a Dimension,
    scatter: &Scatter,
    held: impl Iterator<Item = f64>,
    of: impl Fn((f64, f64)) -> f64,
) -> Option<Side<'a>> {
    let values = scatter.places().map(|place| of(shown(scatter, place)));
    Some(Side {
        axis: Axis::from_dimension(dimension, values.chain(held))?,
        name: &dimension.name,
        unit: unit(&dimension.unit),
    })
}

/// The order in which points are drawn: what matters more later, so that it lies on top.
fn order(scatter: &Scatter, front: &[usize], chosen: Option<usize>) -> Vec<usize> {
    let size = |group: usize| scatter.points.iter().filter(|point| point.series == group).count();
    let sizes: Vec<usize> = (0..scatter.series.len()).map(size).collect();
    // Of the points that share a cell the one of the smaller group is seen: most of all one that is the only one of its kind.
    let group = |index: &usize| {
        let group = scatter.points.get(*index).map_or(0, |point| point.series);
        Reverse(sizes.get(group).copied().unwrap_or(0))
    };
    let series = |index: &usize| scatter.points.get(*index).map_or(usize::MAX, |p| p.series);
    // Of groups of equal size the first is the one that the picture is about. Where it is a single point, as this run among
    // others, that lies above the front.
    let is_this = |index: &usize| series(index) == 0 && sizes.first() == Some(&1);
    let rank = |index: &usize| {
        let is_chosen = chosen == Some(*index);
        (is_chosen, is_this(index), front.contains(index), group(index), Reverse(series(index)))
    };
    let mut order: Vec<usize> = (0..scatter.points.len()).collect();
    order.sort_by_key(rank);
    order
}

/// Joins the front by straight lines; lines of the picture's own lie over them.
fn join(
    plane: &Plane<'_>,
    canvas: &mut Canvas,
    scatter: &Scatter,
    (front, naming): (&[usize], &Key),
    look: &Look,
) {
    let mut dots = DotGrid::new(plane.plot, canvas, &look.glyphs);
    let (width, height) = dots.size();
    let ink = Ink {
        rank: 1,
        style: look.theme.dim,
        marker: look.glyphs.faint_point,
        stroke: Stroke::Solid,
        wide: 1.4,
    };
    let dot = |place: (f64, f64)| {
        let (x, y) = plane.shares(shown(scatter, place))?;
        Some((dot_at(x, width), dot_at(y, height)))
    };
    let front = front.iter();
    let front = front.filter_map(|index| scatter.points.get(*index)?.place());
    let mut strokes = vec![(front.filter_map(dot).collect::<Vec<_>>(), ink)];
    // Where lines share cells the first one is seen: it is what the picture is about. A level is told by its ends.
    let mut drawn: Vec<_> = scatter.lines.iter().enumerate().rev().collect();
    drawn.sort_by_key(|(_, line)| !key::is_level(line));
    for (place, line) in drawn {
        let style = key::style_of(scatter, place, look);
        let ink =
            Ink { rank: 2, style, stroke: key::stroke_of(scatter, naming, place, look), ..ink };
        strokes.push((line.points.iter().copied().filter_map(dot).collect(), ink));
    }
    for (places, ink) in strokes {
        for pair in places.windows(2) {
            dots.line(pair[0], pair[1], ink);
        }
    }
    dots.draw(canvas);
}

fn marks(
    plane: &Plane<'_>,
    canvas: &mut Canvas,
    scatter: &Scatter,
    front: &[usize],
    (order, cells): (&[usize], &Cells),
    chosen: Option<usize>,
    look: &Look,
) {
    for &index in order {
        let Some(point) = scatter.points.get(index) else { continue };
        let Some((x, y)) = cells.of(index) else { continue };
        let mut style = look.theme.curve(point.series);
        if front.contains(&index) {
            style = style.add_modifier(Modifier::BOLD);
        }
        if chosen == Some(index) {
            style = look.theme.selection;
        }
        let glyph = look.glyphs.class(point.series.min(255) as u8);
        let mut pen = Pen::new(plane.plot, canvas, &look.glyphs);
        if let Some(exact) = point.place().and_then(|place| plane.exact(shown(scatter, place))) {
            pen.point((x, y), exact, glyph, style);
        }
        if front.contains(&index) {
            pen.glyph(x.saturating_add(1), y, look.glyphs.front, style);
        }
    }
}

/// Of points from the top down, the one nearest across in the row that a way leads to.
fn in_row(placed: &[(usize, (f64, f64))], at: usize, way: Way) -> usize {
    let mut rows: Vec<f64> = placed.iter().map(|(_, (_, y))| *y).collect();
    rows.dedup();
    let (x, y) = placed[at].1;
    let row = rows.iter().position(|row| *row == y).unwrap_or(0);
    let to = rows[way.along(row, rows.len() - 1)];
    let of_row = placed.iter().enumerate().filter(|(_, (_, (_, y)))| *y == to);
    let nearest = of_row.min_by(|a, b| {
        let off = |of: &(usize, (f64, f64))| (of.1.0 - x).abs();
        off(a.1).total_cmp(&off(b.1))
    });
    nearest.map_or(at, |(place, _)| place)
}

impl Picture for Scatter {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        let chosen = at.view.mark.map(|mark| mark.column);
        let held = &at.view.held;
        let (scatter, left_out) = few::fitting(self, area, chosen);
        let scatter = scatter.as_ref();
        let sides = (
            side(&scatter.x, scatter, held.ends(0), |p| p.0),
            side(&scatter.y, scatter, held.ends(1), |p| p.1),
        );
        let (Some(x), Some(y)) = sides else {
            canvas.say(area, "no points", look);
            return;
        };
        let front = self.front();
        if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
            let text = format!("{} points", self.points.len());
            Pen::new(area, canvas, &look.glyphs).text(area.x, area.y, &text, look.theme.text);
            return;
        }
        let order = order(scatter, &front, chosen);
        let draw = |canvas: &mut Canvas, area: Rect, key: &Key| {
            let plane = Plane::new(area, x.clone(), y.clone(), look);
            plane.draw(canvas, look);
            join(&plane, canvas, scatter, (&front, key), look);
            let cells = Cells::new(&plane, scatter, &order);
            marks(&plane, canvas, scatter, &front, (&order, &cells), chosen, look);
            let important = names::Important { front: &front, chosen };
            let points = (scatter, &order[..], &cells);
            let (named, key) = names::of_points(&plane, canvas, points, important, key, look);
            let lines =
                lines::write_names(&plane, canvas, scatter, (&named, &cells), &key.lines, look);
            Key { lines, ..key }
        };
        // The legend takes rows from the field, and fewer rows can leave more names to the legend.
        let mut key = Key::new(scatter);
        let (items, places) = loop {
            let entries = key::entries(scatter, left_out.as_deref(), &key, area.width, look);
            let items: Vec<Item> = entries.iter().map(|entry| entry.item.clone()).collect();
            let last = entries.iter().rposition(|entry: &Entry| entry.of != Of::Else);
            let mut places = legend::holding(area, &items, last.map_or(0, |last| last + 1));
            if left_out.is_some() {
                places = split(area, places[1].height.max(1));
            }
            let shown = legend::count(&items, places[1].width, places[1].height);
            let explained = key.clone().explained(&entries, shown);
            if explained != key {
                key = explained;
                continue;
            }
            let mut trial = Buffer::empty(canvas.cells.area);
            let drawn = Canvas::over(&mut trial, |trial| draw(trial, places[0], &key));
            let worse = key.clone().worse(drawn);
            if worse == key {
                break (items, places);
            }
            key = worse;
        };
        draw(canvas, places[0], &key);
        legend::draw(places[1], canvas, &items, look);
    }

    fn words(&self, _: &FrameView, glyphs: &Glyphs) -> String {
        words::outline(self, glyphs)
    }

    fn values(&self, lines: &mut Lines) {
        let (x, y) = (&self.x, &self.y);
        let titles = [
            "label".to_owned(),
            "group".to_owned(),
            csv::titled(&x.name, &x.unit),
            csv::titled(&y.name, &y.unit),
            "on front".to_owned(),
        ];
        lines.line(&titles[..if self.has_front() { 5 } else { 4 }]);
        let front = self.front();
        for (index, point) in self.points.iter().enumerate() {
            let group = self.series.get(point.series);
            let mut cells = vec![point.label.clone(), group.map_or(String::new(), String::clone)];
            let place = |axis: &Dimension, value: Option<f64>| {
                let name = value.and_then(|value| axis.category(value));
                name.map_or_else(|| csv::known(value), str::to_owned)
            };
            cells.extend([place(x, point.x), place(y, point.y)]);
            if self.has_front() {
                cells.push(front.contains(&index).to_string());
            }
            lines.line(&cells);
        }
        for line in &self.lines {
            for (x, y) in &line.points {
                let place = [csv::known(Some(*x)), csv::known(Some(*y))];
                let mut cells = vec![line.name.clone(), "line".to_owned()];
                cells.extend(place);
                if self.has_front() {
                    cells.push(String::new());
                }
                lines.line(&cells);
            }
        }
    }

    fn marked(&self, view: &FrameView, glyphs: &Glyphs) -> Option<String> {
        let index = view.mark?.within(self.points.len(), 1).column;
        describe_point(self, index, &self.front(), glyphs)
    }

    /// Left and right go from point to point across, up and down from one to the next in height, or from named row to named
    /// row; points without a place are skipped.
    fn go(&self, view: &mut FrameView, way: Way) {
        let placed = self.points.iter().enumerate();
        let mut placed: Vec<(usize, (f64, f64))> =
            placed.filter_map(|(index, point)| Some((index, point.place()?))).collect();
        match way {
            Way::Left | Way::Right | Way::First | Way::Last => {
                placed.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
            }
            // From the top, as the eye counts rows.
            Way::Up(_) | Way::Down(_) => placed.sort_by(|a, b| b.1.1.total_cmp(&a.1.1)),
        }
        let at =
            view.mark.and_then(|mark| placed.iter().position(|(index, _)| *index == mark.column));
        let last = placed.len().saturating_sub(1);
        let to = match (at, way) {
            (None, _) => {
                // The front is what the picture is about.
                let front = self.front();
                placed.iter().position(|(index, _)| front.contains(index)).unwrap_or(0)
            }
            (Some(at), Way::Left) => at.saturating_sub(1),
            (Some(at), Way::Right) => (at + 1).min(last),
            (Some(at), Way::Up(_) | Way::Down(_)) if !self.y.categories.is_empty() => {
                in_row(&placed, at, way)
            }
            (Some(at), Way::Up(_) | Way::Down(_) | Way::First | Way::Last) => way.along(at, last),
        };
        view.mark = placed.get(to).map(|(index, _)| Mark { column: *index, row: 0 });
    }

    fn ranges(&self) -> Vec<AxisRange<'_>> {
        let range = |dimension: &'_ Dimension, of: fn((f64, f64)) -> f64| {
            let holds = dimension.holds.into_iter().flat_map(|(low, high)| [low, high]);
            let values = self.places().map(|place| of(shown(self, place))).chain(holds);
            let (low, high) =
                bounds(values.filter(|x| dimension.scale == Scale::Linear || *x > 0.0));
            (low <= high && dimension.categories.is_empty()).then_some((low, high))
        };
        let (Some(x), Some(y)) = (range(&self.x, |p| p.0), range(&self.y, |p| p.1)) else {
            return Vec::new();
        };
        [(&self.x, x), (&self.y, y)]
            .map(|(of, (low, high))| AxisRange {
                name: (&of.name, &of.unit),
                scale: of.scale,
                low,
                high,
            })
            .into()
    }

    /// Rows with names are not shared, and lines are told apart in some rows only.
    fn row_need(&self, _: At<'_>, _: u16, _: &Look) -> Option<RowNeed> {
        match pen::cells(self.y.categories.len()) {
            0 if few::has_many_lines(self) => Some(RowNeed { least: few::LOW, most: u16::MAX }),
            0 => None,
            rows => Some(RowNeed::exactly(rows.saturating_add(few::AROUND))),
        }
    }

    fn rows_of_mark(&self, height: u16) -> u16 {
        (height / 4).max(1)
    }
}
