//! Curves of metrics over steps.

mod chart;
mod curves;
mod strokes;

use ratatui::layout::Rect;

use crate::axis::Axis;
use crate::canvas::{Canvas, Pen};
use crate::panel::line::chart::Chart;
pub(super) use crate::panel::line::curves::letter;
use crate::panel::line::curves::{Curve, Curves, Kind, Told};
pub use crate::panel::line::curves::{Reading, extent, reading, step_after, step_before};
use crate::panel::plane::{SMALLEST, split};
use crate::panel::{Scene, Window, legend, metrics, quantity};
use crate::theme::Look;

/// Draws the chart; false if the run has none of its metrics yet.
pub(crate) fn draw(area: Rect, canvas: &mut Canvas, scene: &Scene<'_>, look: &Look) -> bool {
    let curves =
        Curves::gather(scene, usize::from(area.width) * if canvas.is_page() { 8 } else { 2 });
    if curves.is_empty() {
        return false;
    }
    let Some((low, high)) = curves.bounds() else {
        return nothing_finite(area, canvas, &curves, look);
    };
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        sparkline(area, canvas, scene, &curves, look);
        return true;
    }
    let legend = Legend::new(area, scene, &curves, look);
    let (chart, lower) = lay_out(area, scene, &curves, &legend, (low, high), look);
    chart.axes(canvas, look);
    chart::draw_marks(&chart, canvas, scene, &curves, look);
    chart.cursor(canvas, &curves, look);
    chart.curves(canvas, &curves, legend.letters, look);
    chart::draw_gaps(&chart, canvas, &curves, look);
    chart.readings(canvas, &curves, look);
    legend::draw(lower, canvas, &legend.items, look);
    true
}

struct Legend {
    items: Vec<legend::Item>,
    rows: u16,
    /// The curves whose letters it explains are the first ones, as many as these.
    letters: usize,
}

impl Legend {
    /// The legend in few rows: without the latest values, and with more rows, where else some curve would have no name.
    fn new(area: Rect, scene: &Scene<'_>, curves: &Curves<'_>, look: &Look) -> Self {
        /// Rows that are left to the chart.
        const CHART: u16 = 4;
        let before = usize::from(curves.cursor.is_some());
        let few = (area.height / 4).max(1);
        // At a step the values are what the legend is for.
        let least = if curves.cursor.is_some() { Told::Values } else { Told::Names };
        let most = (few + 2).min(area.height.saturating_sub(CHART)).max(few);
        let of = |told: Told, most: u16| {
            let items = curves::items(scene, curves, told, look);
            let rows = legend::rows(&items, area.width, most);
            let shown = legend::count(&items, area.width, rows);
            Self { items, rows, letters: shown.saturating_sub(before).min(curves.names.len()) }
        };
        let more = (few..=most).map(|most| of(least, most));
        let mut all = std::iter::once_with(|| of(Told::Values, few)).chain(more);
        all.find(|legend| legend.letters == curves.names.len()).unwrap_or_else(|| of(least, few))
    }
}

fn lay_out(
    area: Rect,
    scene: &Scene<'_>,
    curves: &Curves<'_>,
    legend: &Legend,
    (low, high): (f64, f64),
    look: &Look,
) -> (Chart, Rect) {
    let [upper, lower] = split(area, legend.rows);
    let y = Axis::around(low, high, scene.view.chart.scale);
    let unit = curves.now.first().and_then(|c| scene.unit(c.name));
    (Chart::new(upper, curves, y, unit, &look.glyphs), lower)
}

pub(super) fn step_at(area: Rect, column: u16, scene: &Scene<'_>, look: &Look) -> Option<u64> {
    let curves = Curves::gather(scene, usize::from(area.width) * 2);
    let bounds = curves.bounds()?;
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        return None;
    }
    let legend = Legend::new(area, scene, &curves, look);
    let (chart, _) = lay_out(area, scene, &curves, &legend, bounds, look);
    let columns = chart.plot.x..chart.plot.right();
    columns.contains(&column).then(|| {
        let share = (f64::from(column - chart.plot.x) + 0.5) / f64::from(chart.plot.width);
        let (first, last) = chart.steps;
        first + (share * (last - first) as f64).round() as u64
    })
}

pub fn is_smoothed(scene: &Scene<'_>) -> bool {
    let curves = Curves::gather(scene, 1);
    curves.now.iter().filter_map(Curve::downsampled).any(|downsampled| downsampled.smoothed)
}

/// The value of the first metric at the cursor, or the latest, with its step; then which steps are shown.
pub(super) fn facts(scene: &Scene<'_>, look: &Look) -> Vec<String> {
    let there = extent(scene);
    let window = scene.view.chart.window;
    let (first, last) = there.map_or((0, scene.data.step), |there| window.steps(there));
    let cursor = scene.cursor.filter(|at| (first..=last).contains(at));
    let step = cursor.unwrap_or(scene.data.step);
    let mut facts = Vec::new();
    if let Some(name) = metrics::expand(&scene.panel.metrics, scene.data).first() {
        let read = match scene.data.series.get(*name) {
            Some(series) => reading(series, step),
            None => match scene.data.metric(name).and_then(|value| value.as_f64()) {
                Some(value) => Reading::Value(step, value),
                None => Reading::Nothing,
            },
        };
        match read {
            Reading::Value(_, value) => {
                let value = quantity(value, scene.unit(name), &look.glyphs);
                facts.push(format!("{name} {value}"));
            }
            Reading::NotFinite => facts.push(format!("{name} not finite")),
            Reading::Nothing => {}
        }
    }
    match cursor {
        Some(step) => facts.push(format!("step {step}")),
        // The newest steps end at the one that the value is from.
        None if step > 0 && !matches!(window, Window::Newest(_)) => {
            facts.push(format!("step {step}"));
        }
        None => {}
    }
    facts.extend(there.and_then(|there| window.describe(there)));
    facts
}

/// Says that a series has no finite value; false if it has no value at all.
fn nothing_finite(area: Rect, canvas: &mut Canvas, curves: &Curves<'_>, look: &Look) -> bool {
    let hidden: usize = curves.now.iter().map(Curve::hidden).sum();
    let sentence = match (curves.first_gap(), hidden) {
        (Some(step), _) => format!("no finite value, from step {step} on"),
        (None, 0) => return false,
        (None, _) => "no positive value for a logarithmic axis".to_owned(),
    };
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let y = area.y + area.height / 2;
    let x = pen.text(area.x, y, look.glyphs.not_finite, look.theme.bad);
    pen.text(x.saturating_add(1), y, &sentence, look.theme.bad);
    true
}

fn sparkline(area: Rect, canvas: &mut Canvas, scene: &Scene<'_>, curves: &Curves<'_>, look: &Look) {
    let Some(curve) = curves.now.first() else { return };
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let latest = curve.latest().filter(|_| !curve.is_broken());
    let latest = latest.map(|value| quantity(value, scene.unit(curve.name), &look.glyphs));
    let latest = latest.unwrap_or_else(|| "NaN".to_owned());
    let x = pen.text(area.x, area.y, &latest, look.theme.text).saturating_add(1);
    let room = usize::from(area.right().saturating_sub(x));
    let (Kind::Series { downsampled, .. }, Some((low, high))) = (&curve.kind, curve.bounds())
    else {
        return;
    };
    let axis = Axis::around(low, high, scene.view.chart.scale);
    let values = downsampled.buckets.iter().map(|bucket| (bucket.last.0, Some(bucket.last.1)));
    let mut values: Vec<_> =
        values.chain(downsampled.gaps.iter().map(|gap| (gap.1, None))).collect();
    values.sort_by_key(|(step, _)| *step);
    let every = values.len().div_ceil(room.max(1)).max(1);
    for (x, cell) in (x..area.right()).zip(values.chunks(every)) {
        let value = cell.iter().map(|(_, value)| *value).reduce(|before, value| before.and(value));
        let (glyph, style) = match value.flatten() {
            Some(value) => {
                (look.glyphs.height(axis.share(value).unwrap_or(0.0) as f32), look.theme.curve(0))
            }
            None => (look.glyphs.not_finite, look.theme.bad),
        };
        pen.glyph(x, area.y, glyph, style);
    }
}
