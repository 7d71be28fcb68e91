//! Colours, dashes and marks of figures in files, chosen for white paper; no meaning hangs on colour alone.

/// The paper.
pub(super) const PAPER: &str = "#ffffff";
/// Text and axes.
pub(super) const INK: &str = "#1c2024";
/// Text of less weight.
pub(super) const DIM: &str = "#5a6270";
/// Lines of the grid.
pub(super) const GRID: &str = "#dfe3e8";
/// What is wrong or not finite.
pub(super) const BAD: &str = "#b3261e";

/// Curves and groups by their place; taken in turn.
const COLORS: [&str; 6] = ["#0b5fa5", "#b35900", "#00754f", "#8a3d8f", "#7a5c00", "#4d5b6a"];

/// Fills light enough for text on them, the last two for what is to be looked at and what is wrong.
const SOFT: [&str; 5] = ["#8fb9de", "#e6b98a", "#9fd3bd", "#f3e2a4", "#eaa8a3"];

/// The dashes that tell the same curves apart without colour.
const DASHES: [&str; 6] = ["none", "8 4", "2 3", "10 3 2 3", "14 5", "5 2 1 2"];

/// The colour of a place.
pub(super) fn color(place: usize) -> &'static str {
    COLORS[place % COLORS.len()]
}

/// The light fill of a place.
pub(super) fn soft(place: usize) -> &'static str {
    SOFT[place % SOFT.len()]
}

/// The dash of a place.
pub(super) fn dash(place: usize) -> &'static str {
    DASHES[place % DASHES.len()]
}

/// A share of a scale from white to dark blue: also without colour the darker is the larger.
pub(super) fn amount(share: f32) -> String {
    const STOPS: [[f32; 3]; 4] =
        [[247.0, 250.0, 253.0], [158.0, 197.0, 225.0], [49.0, 119.0, 178.0], [8.0, 38.0, 84.0]];
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let at = share * (STOPS.len() - 1) as f32;
    let first = (at as usize).min(STOPS.len() - 2);
    let part = at - first as f32;
    let mix =
        |i: usize| (STOPS[first][i] * (1.0 - part) + STOPS[first + 1][i] * part).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// Text that can be read on a share of that scale.
pub(super) fn on(share: f32) -> &'static str {
    if share > 0.5 { PAPER } else { INK }
}
