//! A scatter plot in words.

use mlsys_lab::frame::{Better, Dimension, Scatter};
use mlsys_lab::value::plural;

use crate::glyphs::Glyphs;
use crate::panel::picture::READ_ROWS;
use crate::quantity::{quantity, unit};

/// The axes, both ends of each line, and the points, of many those on the front.
pub(super) fn outline(scatter: &Scatter, glyphs: &Glyphs) -> String {
    let front = scatter.front();
    let point = |index: usize| describe_point(scatter, index, &front, glyphs);
    let axis = |of: &Dimension| match of.unit.as_str() {
        "" => of.name.clone(),
        unit => format!("{} ({unit})", of.name),
    };
    let axes = format!("{} upwards, {} to the right", axis(&scatter.y), axis(&scatter.x));
    let lines = ends(scatter, glyphs).join("; ");
    if scatter.points.is_empty() && !lines.is_empty() {
        return format!("{axes}. {lines}.");
    }
    let lines = if lines.is_empty() { lines } else { format!("Lines: {lines}. ") };
    let mut text = format!("{axes}. {lines}{}", plural(scatter.points.len(), "point"));
    let told: Vec<usize> = match meaning(scatter) {
        Some(meaning) => {
            text.push_str(&format!(", {} on the {meaning}", front.len()));
            front.clone()
        }
        None => (0..scatter.points.len()).collect(),
    };
    let points: Vec<String> = told.into_iter().take(READ_ROWS).filter_map(point).collect();
    format!("{text}: {}.", points.join("; "))
}

/// What the front means; absent where neither way is better on an axis.
pub(crate) fn meaning(scatter: &Scatter) -> Option<String> {
    let [x, y] = [&scatter.x, &scatter.y];
    let (better, worse) = match (x.better, y.better) {
        (Better::Neither, _) | (_, Better::Neither) => return None,
        (Better::Less, Better::Less) => ("less", "more"),
        (Better::Less, Better::More) => ("less", "less"),
        (Better::More, Better::Less) => ("more", "more"),
        (Better::More, Better::More) => ("more", "less"),
    };
    Some(format!("Pareto front: {better} {} only with {worse} {}", x.name, y.name))
}

/// A point in words: its name, both values, its group, and whether another beats it.
pub(crate) fn describe_point(
    scatter: &Scatter,
    index: usize,
    front: &[usize],
    glyphs: &Glyphs,
) -> Option<String> {
    let point = scatter.points.get(index)?;
    let value = |dimension: &Dimension, value: Option<f64>| {
        let name = value.and_then(|x| dimension.category(x));
        let value = match value.filter(|x| x.is_finite()) {
            Some(x) => {
                name.map_or_else(|| quantity(x, unit(&dimension.unit), glyphs), str::to_owned)
            }
            None => "not known".to_owned(),
        };
        format!("{} {value}", dimension.name)
    };
    let name =
        if point.label.is_empty() { format!("point {}", index + 1) } else { point.label.clone() };
    let mut text =
        format!("{name}: {}, {}", value(&scatter.x, point.x), value(&scatter.y, point.y));
    if let Some(series) = scatter.series.get(point.series).filter(|series| !name.contains(*series))
    {
        text.push_str(&format!(", {series}"));
    }
    if scatter.has_front() {
        text.push_str(if front.contains(&index) { ", on the front" } else { ", beaten" });
    }
    Some(text)
}

/// Each line with its first and last value.
fn ends(scatter: &Scatter, glyphs: &Glyphs) -> Vec<String> {
    let at = |(x, y): (f64, f64)| {
        let x = quantity(x, unit(&scatter.x.unit), glyphs);
        format!("{} at {x}", quantity(y, unit(&scatter.y.unit), glyphs))
    };
    let alone = scatter.lines.iter().filter(|line| scatter.joined(line).is_none());
    let told = alone.filter_map(|line| {
        let (first, last) = (line.points.first()?, line.points.last()?);
        Some(format!("{} from {} to {}", line.name, at(*first), at(*last)))
    });
    told.collect()
}
