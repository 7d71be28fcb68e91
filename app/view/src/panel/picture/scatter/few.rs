//! The lines and rows of a chart that is too low for all of them.

use std::borrow::Cow;

use mlsys_lab::frame::{LineRole, Scatter, ScatterPoint};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::plural;
use ratatui::layout::Rect;

use crate::axis::bounds;

/// A chart with fewer rows, axes and legend included, has less than eight for its lines.
pub(super) const LOW: u16 = 14;
/// As many lines can be told apart there.
const MANY: usize = 4;
/// Rows that are not the field's: both names of axes, the line with ticks, and the legend.
pub(super) const AROUND: u16 = 5;

/// A chart with what there is room for, and a sentence on what it leaves out.
pub(super) fn fitting(
    scatter: &Scatter,
    area: Rect,
    chosen: Option<usize>,
) -> (Cow<'_, Scatter>, Option<String>) {
    if let Some((few, hidden)) = few_rows(scatter, area, chosen) {
        return (Cow::Owned(few), Some(format!("{} left out", plural(hidden, "row"))));
    }
    match few_lines(scatter, area, chosen) {
        Some((few, hidden)) => {
            (Cow::Owned(few), Some(format!("z shows {}", plural(hidden, "more line"))))
        }
        None => (Cow::Borrowed(scatter), None),
    }
}

/// A chart of named rows with as many of them as have a row of cells, the last ones, which stand on top, or those around the
/// chosen point; and how many rows it leaves out.
fn few_rows(scatter: &Scatter, area: Rect, chosen: Option<usize>) -> Option<(Scatter, usize)> {
    let all = scatter.y.categories.len();
    let room = usize::from(area.height.saturating_sub(AROUND)).max(1);
    if all <= room {
        return None;
    }
    let about = chosen.and_then(|index| scatter.points.get(index)?.y).map_or(all, |y| y as usize);
    let first = about.saturating_sub(room / 2).min(all - room);
    let mut few = scatter.clone();
    few.y.categories = scatter.y.categories[first..first + room].to_vec();
    let (low, high) = (-0.5, room as f64 - 0.5);
    for point in &mut few.points {
        point.y = point.y.map(|y| y - first as f64).filter(|y| (low..=high).contains(y));
    }
    for (_, y) in few.lines.iter_mut().flat_map(|line| &mut line.points) {
        *y = (*y - first as f64).clamp(low, high);
    }
    Some((few, all - room))
}

/// A chart with the line that it is about, the highest and the lowest, and those that end apart from them, and how many lines
/// it leaves out; nothing where there is room for all. Lines and points keep their places, and so their colours.
fn few_lines(scatter: &Scatter, area: Rect, chosen: Option<usize>) -> Option<(Scatter, usize)> {
    let label = |index: usize| scatter.points.get(index).map(|point| point.label.as_str());
    let this = scatter.points.iter().position(|point| point.label.starts_with("this "));
    let name = chosen.or(this).and_then(label);
    let mut ends = ends(scatter);
    if area.height >= LOW || ends.len() <= MANY {
        return None;
    }
    let is_named = |line: usize| name.is_some_and(|name| name.ends_with(&scatter.lines[line].name));
    let about = ends.iter().map(|(index, _)| *index).filter(|line| is_named(*line));
    let about = about.max_by_key(|line| scatter.lines[*line].name.len());
    let about = about.or_else(|| ends.first().map(|(index, _)| *index))?;
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    let at = ends.iter().position(|(index, _)| *index == about)?;
    let shown = told_apart(&heights(scatter, area, &ends), at);
    let mut few = scatter.clone();
    let mut hidden = 0;
    for (place, (index, _)) in ends.iter().enumerate() {
        if !shown.contains(&place) {
            let line = &mut few.lines[*index];
            for point in few.points.iter_mut().filter(|point| is_about(&point.label, &line.name)) {
                *point = ScatterPoint { x: None, y: None, ..point.clone() };
            }
            (line.name, line.points) = (String::new(), Vec::new());
            hidden += 1;
        }
    }
    Some((few, hidden))
}

/// Whether lines are left out where rows are few.
pub(super) fn has_many_lines(scatter: &Scatter) -> bool {
    ends(scatter).len() > MANY
}

/// The lines that have names of their own, and where each ends.
fn ends(scatter: &Scatter) -> Vec<(usize, f64)> {
    let own = scatter.lines.iter().enumerate().filter(|(_, line)| {
        line.role == LineRole::Own && !line.name.is_empty() && scatter.joined(line).is_none()
    });
    own.filter_map(|(index, line)| Some((index, line.points.last()?.1))).collect()
}

/// In which row each line ends, counted upwards.
fn heights(scatter: &Scatter, area: Rect, ends: &[(usize, f64)]) -> Vec<f64> {
    let up = |y: f64| match scatter.y.scale {
        Scale::Linear => y,
        Scale::Log => y.max(f64::MIN_POSITIVE).ln(),
    };
    let (low, high) = bounds(scatter.places().map(|(_, y)| up(y)));
    let rows = f64::from(area.height.saturating_sub(AROUND));
    ends.iter().map(|(_, y)| (up(*y) - low) / (high - low).max(f64::MIN_POSITIVE) * rows).collect()
}

/// Of lines that end at these heights one, the highest and the lowest, and what is the furthest from all of them.
fn told_apart(heights: &[f64], about: usize) -> Vec<usize> {
    /// Rows between two lines that are told apart.
    const APART: f64 = 1.5;
    let last = heights.len() - 1;
    let mut shown = vec![0, about, last];
    shown.dedup();
    while shown.len() < MANY {
        let gap = |at: usize| {
            shown.iter().map(|other| (heights[*other] - heights[at]).abs()).fold(f64::MAX, f64::min)
        };
        let next = (0..heights.len()).max_by(|one, other| gap(*one).total_cmp(&gap(*other)));
        match next.filter(|at| gap(*at) >= APART) {
            Some(at) => shown.push(at),
            None => break,
        }
    }
    shown
}

/// Whether a mark belongs to a line: it has its name, or stands where the line meets another one, as `ring = tree`.
fn is_about(label: &str, line: &str) -> bool {
    label.split(" = ").any(|part| part == line)
}

#[cfg(test)]
mod tests {
    use mlsys_lab::picture::{axis, line, log_axis, point, scatter};

    use super::*;

    #[test]
    fn a_low_chart_keeps_the_line_of_its_mark_the_ends_and_no_mark_of_others() {
        let names = ["ring", "tree", "2 trees", "server", "halving"];
        let ends = names.iter().zip(1..);
        let lines = ends.map(|(name, up)| line(*name, [(1.0, 1.0), (9.0, f64::from(up))]));
        let points = [("this 2 trees", 5.0), ("server = tree", 2.0), ("ring = 2 trees", 3.0)];
        let points = points.map(|(label, x)| point(x, 2.0, label, 0));
        let frame = scatter(
            [log_axis("bytes", ""), axis("time", "")],
            &["mark"],
            points.to_vec(),
            lines.collect(),
        );
        let mlsys_lab::frame::Frame::Scatter(all) = frame else { panic!("{frame:?}") };
        let low = Rect::new(0, 0, 60, 8);
        let (few, hidden) = few_lines(&all, low, None).unwrap();
        let shown: Vec<&str> = few.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!((shown, hidden), (vec!["ring", "", "2 trees", "", "halving"], 2));
        // With more rows there is a line between them.
        let heights = [1.0, 2.0, 3.0, 4.0, 9.0];
        assert_eq!(told_apart(&heights, 0), [0, 4, 3]);
        assert_eq!(told_apart(&heights, 2), [0, 2, 4]);
        assert_eq!(told_apart(&[0.0, 3.0, 6.0, 6.5, 9.0], 1), [0, 1, 4, 2]);
        let drawn = few.points.iter().map(|point| point.x.is_some());
        assert_eq!(drawn.collect::<Vec<_>>(), [true, false, true]);
        assert!(few_lines(&all, Rect { height: 20, ..low }, None).is_none());
    }

    #[test]
    fn each_named_row_that_is_seen_has_a_row_of_cells() {
        let categories: Vec<String> = (0..9).map(|row| format!("row {row}")).collect();
        let points = (0..9).map(|row| point(1.0, f64::from(row), "", 0)).collect();
        let frame = scatter(
            [axis("time", ""), mlsys_lab::frame::Dimension { categories, ..axis("of", "") }],
            &["mark"],
            points,
            vec![line("median", [(1.0, -0.5), (1.0, 8.5)])],
        );
        let mlsys_lab::frame::Frame::Scatter(all) = frame else { panic!("{frame:?}") };
        let area = Rect::new(0, 0, 60, 9);
        let shown = |chosen: Option<usize>| {
            let (few, hidden) = few_rows(&all, area, chosen).unwrap();
            assert_eq!((few.y.categories.len(), hidden), (4, 5));
            assert_eq!(few.lines[0].points, [(1.0, -0.5), (1.0, 3.5)]);
            assert_eq!(few.points.iter().filter(|point| point.y.is_some()).count(), 4);
            few.y.categories[0].clone()
        };
        assert_eq!([shown(None), shown(Some(0))], ["row 5", "row 0"]);
        assert!(few_rows(&all, Rect { height: 14, ..area }, None).is_none());
    }
}
