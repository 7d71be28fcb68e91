//! What a lesson wants reached, as corners of a picture of runs.

use mlsys_lab::frame::{Better, Dimension, Scatter, ScatterLine};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::number;
use mlsys_lesson::Goal;

use super::{Row, Whose};

/// Where a goal begins: the place along both axes that a run must be at or beyond.
fn corner(axes: (&Dimension, &Dimension), rows: &[Row], goal: &Goal) -> Option<(f64, f64)> {
    let reference = rows.iter().find(|row| row.whose == Whose::Reference)?;
    let [Some(x), Some(y)] = reference.values.as_slice() else {
        return None;
    };
    let across = match axes.0.better {
        Better::Less => x / goal.ratio,
        Better::More => x * goal.ratio,
        Better::Neither => return None,
    };
    let upwards = match axes.1.better {
        Better::Less => y + goal.loss,
        Better::More => y - goal.loss,
        Better::Neither => return None,
    };
    Some((across, upwards))
}

/// The worst value that is drawn at its own place, where there are goals: a run that failed must not flatten what they
/// ask for.
pub(super) fn worst(axis: &Dimension, rows: &[Row], goals: &[Goal]) -> Option<f64> {
    /// Times the most that a goal allows to be lost.
    const FAR: f64 = 2.5;
    let reference = rows.iter().find(|row| row.whose == Whose::Reference)?;
    let start = reference.values.get(1).copied().flatten()?;
    let most = goals.iter().map(|goal| goal.loss).reduce(f64::max)?;
    match axis.better {
        Better::More => Some(start - FAR * most),
        Better::Less => Some(start + FAR * most),
        Better::Neither => None,
    }
}

/// Whether a run is where a goal wants it.
fn reaches(axes: (&Dimension, &Dimension), corner: (f64, f64), place: (f64, f64)) -> bool {
    /// What rounding may take: accuracies are shares of a thousand images.
    const SLACK: f64 = 1e-9;
    let is_there = |better: Better, limit: f64, value: f64| match better {
        Better::Less => value <= limit + SLACK * limit.abs().max(1.0),
        Better::More => value >= limit - SLACK * limit.abs().max(1.0),
        Better::Neither => false,
    };
    is_there(axes.0.better, corner.0, place.0) && is_there(axes.1.better, corner.1, place.1)
}

/// The runs that reach a goal, the one on the screen first.
pub(super) fn winners<'a>(
    axes: (&Dimension, &Dimension),
    rows: &'a [Row],
    goal: &Goal,
) -> Vec<&'a Row> {
    let Some(corner) = corner(axes, rows, goal) else {
        return Vec::new();
    };
    let reached = |row: &&Row| match (row.whose, row.values.as_slice()) {
        (Whose::Own | Whose::Other(_), [Some(x), Some(y)]) => reaches(axes, corner, (*x, *y)),
        (Whose::Own | Whose::Other(_) | Whose::Reference, _) => false,
    };
    rows.iter().rev().filter(reached).collect()
}

/// The edges of what goals ask for: along from the better side to the corner, and up to the better side.
pub(super) fn goal_lines(scatter: &Scatter, rows: &[Row], goals: &[Goal]) -> Vec<ScatterLine> {
    let axes = (&scatter.x, &scatter.y);
    let found: Vec<(&Goal, (f64, f64))> =
        goals.iter().filter_map(|goal| Some((goal, corner(axes, rows, goal)?))).collect();
    let mut places: Vec<(f64, f64)> = scatter.places().collect();
    places.extend(found.iter().map(|(_, corner)| *corner));
    let end = |dimension: &Dimension, of: fn(&(f64, f64)) -> f64| {
        let values = places.iter().map(of);
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        match (dimension.better, dimension.scale) {
            (Better::Less, Scale::Log) => low / 1.3,
            (Better::Less, Scale::Linear) => low - (high - low) / 20.0,
            (Better::More | Better::Neither, Scale::Log) => high * 1.3,
            (Better::More | Better::Neither, Scale::Linear) => high + (high - low) / 20.0,
        }
    };
    let far = (end(&scatter.x, |place| place.0), end(&scatter.y, |place| place.1));
    let line = |(goal, corner): &(&Goal, (f64, f64))| {
        let by = winners(axes, rows, goal);
        // The knobs that were turned are told with the point.
        let by = by.first().and_then(|row| row.label.split(':').next());
        ScatterLine {
            name: format!("{} {}x: {}", goal.name, number(goal.ratio), by.unwrap_or("open")),
            points: vec![(far.0, corner.1), *corner, (corner.0, far.1)],
        }
    };
    found.iter().map(line).collect()
}
