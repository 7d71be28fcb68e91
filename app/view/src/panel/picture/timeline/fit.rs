//! How the bars of a timeline fall on columns.

use mlsys_lab::frame::Timeline;

/// The columns of a plot, and the end of its axis, with which the shortest bars, where they are many, have a whole number of
/// columns each: equal bars look equal, and each has room for its number. All columns where such a bar has less than one, and
/// where a quarter of them would be left over although not all bars begin at a multiple of the shortest.
pub(super) fn even(wide: u16, timeline: &Timeline, (low, high): (f64, f64)) -> (u16, f64) {
    let lengths = || timeline.spans.iter().map(|span| span.end - span.start);
    let shortest = lengths().filter(|length| *length > 0.0).fold(f64::INFINITY, f64::min);
    let as_short = lengths().filter(|length| *length > 0.0 && *length <= shortest * 1.001).count();
    // A little more, so that a rounding error takes no column.
    let each = (f64::from(wide) * shortest / (high - low) + 1e-6).floor();
    let is_common = as_short > 0 && as_short * 4 >= timeline.spans.len();
    if !is_common || each < 1.0 {
        return (wide, high);
    }
    let unit = shortest / each;
    // A little less, so that a rounding error is not a column.
    let columns = ((high - low) / unit - 1e-6).ceil();
    let begins_even = |start: f64| {
        let place = (start - low) / shortest;
        (place - place.round()).abs() < 1e-3
    };
    let is_even = timeline.spans.iter().all(|span| begins_even(span.start));
    if !is_even && columns < 0.75 * f64::from(wide) {
        return (wide, high);
    }
    (columns as u16, low + columns * unit)
}

/// Whether bars are shorter than a column, so that those of a lane share one and do not fill it.
pub(super) fn has_low_bars(timeline: &Timeline, column: f64) -> bool {
    let mut lengths = timeline.spans.iter().map(|span| span.end - span.start);
    lengths.any(|length| length > 0.0 && length < column)
}

#[cfg(test)]
mod tests {
    use mlsys_lab::frame::Span;

    use super::*;

    #[test]
    fn bars_shorter_than_a_column_may_be_low() {
        let span = |end: f64| Span { end, ..Span::default() };
        let timeline = |end: f64| Timeline { spans: vec![span(end)], ..Timeline::default() };
        assert!(has_low_bars(&timeline(0.5), 1.0));
        assert!(!has_low_bars(&timeline(1.0), 1.0) && !has_low_bars(&timeline(0.0), 1.0));
    }

    #[test]
    fn bars_of_whole_units_have_equal_columns_for_each() {
        let span = |start: f64, end: f64| Span { start, end, ..Span::default() };
        let spans = |spans: &[(f64, f64)]| Timeline {
            spans: spans.iter().map(|(start, end)| span(*start, *end)).collect(),
            ..Timeline::default()
        };
        let whole = spans(&[(0.0, 1.0), (1.0, 3.0), (32.0, 33.0)]);
        assert_eq!(even(106, &whole, (0.0, 33.0)), (99, 33.0));
        assert_eq!(even(65, &whole, (0.0, 33.0)), (33, 33.0));
        assert_eq!(even(20, &whole, (0.0, 33.0)), (20, 33.0));
        // Where bars do not fill the axis, it ends with a column.
        let odd = spans(&[(0.0, 1.0), (1.5, 2.5), (2.5, 4.5)]);
        assert_eq!(even(10, &odd, (0.0, 4.75)), (10, 5.0));
        assert_eq!(even(13, &odd, (0.0, 4.75)), (10, 5.0));
        // Ten of fourteen columns are less than three quarters.
        assert_eq!(even(14, &odd, (0.0, 4.75)), (14, 4.75));
        // A bar that is the only one of its length decides nothing.
        let rare = spans(&[(0.0, 0.1), (0.1, 2.5), (2.5, 5.0), (5.0, 7.5), (7.5, 10.0)]);
        assert_eq!(even(106, &rare, (0.0, 10.0)), (106, 10.0));
        assert_eq!(even(10, &Timeline::default(), (0.0, 1.0)), (10, 1.0));
    }
}
