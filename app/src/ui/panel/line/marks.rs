//! What a line chart says besides its curves: knobs turned, values that were not finite, and the legend.

use mlsys_lab::report::Change;
use ratatui::buffer::Buffer;

use super::chart::Chart;
use super::curves::{Curve, Curves, Kind};
use super::letters::letter;
use crate::ui::panel::legend::Item;
use crate::ui::panel::pen::Pen;
use crate::ui::panel::{Scene, quantity};
use crate::ui::theme::Look;
use ratatui::style::Modifier;

/// Knob turns whose names are written out.
const NAMED_CHANGES: usize = 3;

/// Draws a line at each knob turn and at each step where values stopped being finite.
pub(super) fn draw(
    chart: &Chart,
    buf: &mut Buffer,
    scene: &Scene<'_>,
    curves: &Curves<'_>,
    look: &Look,
) {
    let (plot, glyphs) = (chart.plot, &look.glyphs);
    let mut pen = Pen::new(plot, buf, glyphs);
    for change in shown_changes(scene, curves) {
        pen.column(
            chart.column(change.step),
            plot.y..plot.bottom(),
            glyphs.change,
            look.theme.warn,
        );
    }
    let foot = plot.bottom().saturating_sub(1);
    for (from, to) in curves.gaps() {
        // A line where the stretch begins, and crosses along its foot.
        let (from, to) = (chart.column(from), chart.column(to));
        pen.column(from, plot.y..foot, glyphs.change, look.theme.bad);
        pen.run(
            from,
            foot,
            to.saturating_sub(from) + 1,
            glyphs.not_finite,
            look.theme.bad,
        );
    }
}

/// The knob turns that lie in the chart.
fn shown_changes<'a>(
    scene: &Scene<'a>,
    curves: &Curves<'_>,
) -> impl DoubleEndedIterator<Item = &'a Change> {
    let (first, last) = curves.steps;
    scene.data.changes.iter().filter(move |change| {
        change.step <= last && (first <= change.step || curves.shown.is_none())
    })
}

/// The legend: the curves, then what was not finite, then knob turns, the newest first.
pub(super) fn items(scene: &Scene<'_>, curves: &Curves<'_>, look: &Look) -> Vec<Item> {
    let (theme, glyphs) = (&look.theme, &look.glyphs);
    let item = |mark: &str, style, text, text_style| Item {
        mark: mark.to_owned(),
        style,
        text,
        text_style,
    };
    let several = curves.now.len() > 1;
    let mut items: Vec<Item> = curves
        .now
        .iter()
        .map(|curve| {
            let mark = if several {
                letter(curve.place)
            } else {
                glyphs.horizontal
            };
            let style = theme.curve(curve.place).add_modifier(Modifier::BOLD);
            item(mark, style, described(curve, scene, look), theme.text)
        })
        .collect();
    if let Some(step) = curves.first_gap() {
        let many = curves.gaps().any(|(from, to)| (from, to) != (step, step));
        let text = format!(
            "NaN or infinity {} step {step}",
            if many { "from" } else { "at" }
        );
        items.push(item(glyphs.not_finite, theme.bad, text, theme.bad));
    }
    let hidden: usize = curves.now.iter().map(Curve::hidden).sum();
    if hidden > 0 {
        let text = format!("{hidden} values of 0 or less are not on this axis");
        items.push(item(glyphs.not_finite, theme.warn, text, theme.warn));
    }
    for run in scene.earlier {
        let text = run.label.clone();
        items.push(item(glyphs.level, theme.previous, text, theme.dim));
    }
    let changes = shown_changes(scene, curves).count();
    for change in shown_changes(scene, curves).rev().take(NAMED_CHANGES) {
        let text = format!("{} = {} at step {}", change.name, change.value, change.step);
        items.push(item(glyphs.change, theme.warn, text, theme.dim));
    }
    if changes > NAMED_CHANGES {
        let text = format!("and {} earlier changes", changes - NAMED_CHANGES);
        items.push(item("", theme.dim, text, theme.dim));
    }
    items
}

/// A curve's name with its latest value and how it is drawn.
fn described(curve: &Curve<'_>, scene: &Scene<'_>, look: &Look) -> String {
    let mut text = curve.name.to_owned();
    if let Some(value) = curve.latest() {
        text = format!(
            "{text} {}",
            quantity(value, scene.unit(curve.name), &look.glyphs)
        );
    }
    if curve.is_broken() {
        text.push_str(", then not finite");
    }
    match &curve.kind {
        Kind::Series { trace, .. } if trace.smoothed => text.push_str(" (smoothed)"),
        Kind::Series { .. } | Kind::Level(_) => {}
    }
    if scene.is_modelled(curve.name) {
        text.push_str(" (modelled)");
    }
    text
}
