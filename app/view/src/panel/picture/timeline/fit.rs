//! How the bars of a timeline fall on columns.

use mlsys_lab::frame::Timeline;

/// The columns of a plot that show bars of a whole number of units: as many for each unit, where that leaves most of the
/// width in use.
pub(super) fn even(wide: u16, timeline: &Timeline, low: f64, high: f64) -> u16 {
    let ends = || timeline.spans.iter().flat_map(|span| [span.start, span.end]);
    let lengths = timeline.spans.iter().map(|span| span.end - span.start);
    let unit = lengths.filter(|length| *length > 0.0).fold(f64::INFINITY, f64::min);
    let is_whole = |at: f64| {
        let units = (at - low) / unit;
        (units - units.round()).abs() < 1e-6
    };
    let units = ((high - low) / unit).round();
    let has_room = (1.0..=f64::from(wide)).contains(&units);
    if !(has_room && is_whole(high) && ends().all(is_whole)) {
        return wide;
    }
    let units = units as u16;
    let even = wide / units * units;
    if even >= wide - wide / 4 { even } else { wide }
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
        assert_eq!(even(106, &whole, 0.0, 33.0), 99);
        // Where much of the width would be lost, it is used.
        assert_eq!(even(65, &whole, 0.0, 33.0), 65);
        assert_eq!(even(20, &whole, 0.0, 33.0), 20);
        let odd = spans(&[(0.0, 1.0), (1.0, 2.5)]);
        assert_eq!(even(106, &odd, 0.0, 33.0), 106);
        assert_eq!(even(10, &Timeline::default(), 0.0, 1.0), 10);
    }
}
