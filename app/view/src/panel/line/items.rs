//! The legend of a line chart: which curve is which, what each says, and what the marks mean.

use ratatui::style::{Modifier, Style};

use super::cursor::{Reading, reading};
use super::curves::{Curve, Curves, Kind};
use super::letters::{letter, numeral};
use super::marks::shown_changes;
use crate::panel::legend::Item;
use crate::panel::{Scene, quantity};
use crate::theme::Look;

/// Knob changes that are written out.
const NAMED_CHANGES: usize = 3;

/// The cursor's step, the curves, the earlier runs, what was not finite, then knob turns, the newest first.
pub(super) fn items(scene: &Scene<'_>, curves: &Curves<'_>, look: &Look) -> Vec<Item> {
    let (theme, glyphs) = (&look.theme, &look.glyphs);
    let mut items = Vec::new();
    if let Some(step) = curves.cursor {
        let text = format!("step {step}:");
        items.push(item(glyphs.cursor, theme.accent, text, theme.text));
    }
    let several = curves.names.len() > 1;
    items.extend(curves.now.iter().map(|curve| {
        let mark = if several { letter(curve.place) } else { glyphs.horizontal };
        let style = theme.curve(curve.place).add_modifier(Modifier::BOLD);
        item(mark, style, described(curve, curves, scene, look), theme.text)
    }));
    for (place, name) in curves.names.iter().enumerate().skip(curves.now.len()) {
        let text = format!("{name}, earlier");
        items.push(item(letter(place), theme.previous, text, theme.dim));
    }
    for (place, (run, before)) in scene.earlier.iter().zip(&curves.before).enumerate() {
        if !before.is_empty() {
            let text = said_before(&run.label, before, curves, scene, look);
            items.push(item(numeral(place), theme.previous, text, theme.dim));
        }
    }
    if let Some(step) = curves.first_gap() {
        let many = curves.gaps().any(|(from, to)| (from, to) != (step, step));
        let text = format!("NaN or infinity {} step {step}", if many { "from" } else { "at" });
        items.push(item(glyphs.not_finite, theme.bad, text, theme.bad));
    }
    let hidden: usize = curves.now.iter().map(Curve::hidden).sum();
    if hidden > 0 {
        let text = format!("{hidden} values of 0 or less are not on this axis");
        items.push(item(glyphs.not_finite, theme.warn, text, theme.warn));
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

fn item(mark: &str, style: Style, text: String, text_style: Style) -> Item {
    Item { mark: mark.to_owned(), style, text, text_style }
}

/// A curve's name with its value at the cursor, or its latest, and how it is drawn.
fn described(curve: &Curve<'_>, curves: &Curves<'_>, scene: &Scene<'_>, look: &Look) -> String {
    let mut text = curve.name.to_owned();
    match curves.cursor {
        Some(step) => {
            text.push(' ');
            text.push_str(&value_at(curve, step, scene, look));
        }
        None => {
            if let Some(value) = curve.latest() {
                text.push(' ');
                text.push_str(&quantity(value, scene.unit(curve.name), &look.glyphs));
            }
            if curve.is_broken() {
                text.push_str(", then not finite");
            }
        }
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

/// An earlier run with its values at the cursor.
fn said_before(
    label: &str,
    before: &[Curve<'_>],
    curves: &Curves<'_>,
    scene: &Scene<'_>,
    look: &Look,
) -> String {
    let Some(step) = curves.cursor else {
        return label.to_owned();
    };
    let values = before.iter().map(|curve| {
        let value = value_at(curve, step, scene, look);
        if curves.names.len() > 1 { format!("{} {value}", letter(curve.place)) } else { value }
    });
    format!("{label}: {}", values.collect::<Vec<_>>().join(", "))
}

/// What a curve says at a step.
fn value_at(curve: &Curve<'_>, step: u64, scene: &Scene<'_>, look: &Look) -> String {
    let said = |value| quantity(value, scene.unit(curve.name), &look.glyphs);
    match &curve.kind {
        Kind::Level(value) => said(*value),
        Kind::Series { series, .. } => match reading(series, step) {
            Reading::Value(at, value) if at == step => said(value),
            Reading::Value(at, value) => format!("{} (step {at})", said(value)),
            Reading::NotFinite => "not finite".to_owned(),
            Reading::Nothing => "not yet".to_owned(),
        },
    }
}
