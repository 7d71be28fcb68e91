//! The results in a terminal: a line a lesson, and a line for everything that did not simply pass.

use mlsys_run::console::harmless;
use mlsys_run::results::{Item, LessonResult, Results, Verdict};
use mlsys_view::table::cell;

/// Longer remarks are cut: the reports hold them whole.
const LONGEST: usize = 200;

/// The lines.
pub fn lines(results: &Results) -> Vec<String> {
    results.lessons.iter().flat_map(of_lesson).collect()
}

fn of_lesson(lesson: &LessonResult) -> Vec<String> {
    let count = lesson.count();
    let (earned, points) = lesson.points();
    let counts = [
        (count.passed, "passed"),
        (count.failed, "failed"),
        (count.broken, "with errors"),
        (count.skipped, "skipped or unstable"),
    ];
    let mut parts: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    if points > 0 {
        parts.push(format!("{earned} of {points} points"));
    }
    parts.push(format!("{:.1} s", lesson.elapsed().as_secs_f64()));
    let mut lines = vec![format!("{}: {}", lesson.id, parts.join(", "))];
    lines.extend(lesson.items.iter().filter_map(remark));
    for comparison in &lesson.comparisons {
        lines.push(format!("  {}", harmless(&comparison.panel)));
        let told = comparison.lines.iter();
        lines.extend(told.map(|line| format!("    {}", harmless(line))));
    }
    lines
}

fn remark(item: &Item) -> Option<String> {
    let reason = match &item.verdict {
        Verdict::Passed => return None,
        Verdict::Failed(reason) => format!("{} ({reason})", item.about),
        Verdict::Unstable(reason) | Verdict::Skipped(reason) | Verdict::Broken(reason, _) => {
            reason.clone()
        }
    };
    let reason = harmless(&cell(&reason, LONGEST));
    Some(format!("  {} {} {}: {reason}", item.kind.word(), item.id, item.verdict.word()))
}
