//! The marks of points, one shape a group.

use super::page::short;

/// The outline of a group's mark around a place; groups take shapes in turn.
pub(super) fn mark(place: usize, (x, y): (f64, f64)) -> String {
    let (x, y) = (short(x), short(y));
    match place % 6 {
        0 => format!("M{} {y}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z", short(x - 4.5)),
        1 => format!(
            "M{} {}l2 -2l3 3l3 -3l2 2l-3 3l3 3l-2 2l-3 -3l-3 3l-2 -2l3 -3z",
            short(x - 5.0),
            short(y - 3.0)
        ),
        2 => format!("M{x} {}l5 9h-10z", short(y - 5.5)),
        3 => format!("M{} {}h8v8h-8z", short(x - 4.0), short(y - 4.0)),
        4 => format!("M{x} {}l5 5.5l-5 5.5l-5 -5.5z", short(y - 5.5)),
        _ => format!(
            "M{} {}h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
            short(x - 1.5),
            short(y - 5.0)
        ),
    }
}
