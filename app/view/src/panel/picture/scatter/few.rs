//! The lines of a chart that is too low for all of them.

use mlsys_lab::frame::{LineRole, Scatter, ScatterPoint};
use ratatui::layout::Rect;

/// A chart with fewer rows, axes and legend included, has less than eight for its lines.
const LOW: u16 = 14;
/// So many lines can be told apart there.
const MANY: usize = 4;
/// The line that the picture is about, and its neighbours.
const NEIGHBOURS: usize = 2;

/// A chart with the line that it is about and its neighbours alone, and how many lines it leaves out; nothing where there is
/// room for all. Lines and points keep their places, and so their colours.
pub(super) fn few_lines(
    scatter: &Scatter,
    area: Rect,
    chosen: Option<usize>,
) -> Option<(Scatter, usize)> {
    let name = chosen.and_then(|index| scatter.points.get(index)).map(|point| &point.label);
    let own = scatter.lines.iter().enumerate().filter(|(_, line)| {
        line.role == LineRole::Own && !line.name.is_empty() && scatter.joined(line).is_none()
    });
    let mut ends: Vec<(usize, f64)> =
        own.filter_map(|(index, line)| Some((index, line.points.last()?.1))).collect();
    if area.height >= LOW || ends.len() <= MANY {
        return None;
    }
    let about = ends.iter().find(|(index, _)| Some(&scatter.lines[*index].name) == name);
    let about = about.or(ends.first()).map(|(index, _)| *index)?;
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    let at = ends.iter().position(|(index, _)| *index == about)?;
    let first = at.saturating_sub(NEIGHBOURS / 2).min(ends.len() - 1 - NEIGHBOURS);
    let mut few = scatter.clone();
    let mut hidden = 0;
    for (place, (index, _)) in ends.iter().enumerate() {
        if !(first..=first + NEIGHBOURS).contains(&place) {
            let line = &mut few.lines[*index];
            for point in few.points.iter_mut().filter(|point| point.label == line.name) {
                *point = ScatterPoint { x: None, y: None, ..point.clone() };
            }
            (line.name, line.points) = (String::new(), Vec::new());
            hidden += 1;
        }
    }
    Some((few, hidden))
}
