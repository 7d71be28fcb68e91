//! What a line chart marks besides its curves: knobs turned, and values that were not finite.

use crate::canvas::Canvas;
use mlsys_lab::report::Change;

use super::chart::Chart;
use super::curves::Curves;
use crate::canvas::Pen;
use crate::panel::Scene;
use crate::theme::Look;

/// Draws a line at each knob turn and at each step where values stopped being finite.
pub(super) fn draw(
    chart: &Chart,
    canvas: &mut Canvas,
    scene: &Scene<'_>,
    curves: &Curves<'_>,
    look: &Look,
) {
    let (plot, glyphs) = (chart.plot, &look.glyphs);
    let mut pen = Pen::new(plot, canvas, glyphs);
    for change in shown_changes(scene, curves) {
        let (x, exact) = (chart.column(change.step), chart.exact(change.step));
        pen.upright(x, plot.y..plot.bottom(), exact, glyphs.change, look.theme.warn);
    }
    let foot = plot.bottom().saturating_sub(1);
    for (from, to) in curves.gaps() {
        // A line where the stretch begins, and crosses along its foot.
        let (from, to) = (chart.column(from), chart.column(to));
        pen.column(from, plot.y..foot, glyphs.change, look.theme.bad);
        pen.run(from, foot, to.saturating_sub(from) + 1, glyphs.not_finite, look.theme.bad);
    }
}

/// The knob turns that lie in the chart.
pub(super) fn shown_changes<'a>(
    scene: &Scene<'a>,
    curves: &Curves<'_>,
) -> impl DoubleEndedIterator<Item = &'a Change> {
    let (first, last) = curves.steps;
    scene.data.changes.iter().filter(move |change| {
        change.step <= last && (first <= change.step || curves.shown.is_none())
    })
}
