//! JUnit XML: a suite a lesson, a case for each lab, prediction, check and question.

use std::time::Duration;

use mlsys_run::results::{Count, Item, LessonResult, Results, Verdict};
use mlsys_view::xml::Element;

/// The results as a JUnit document.
pub fn report(results: &Results) -> String {
    let counts = results.lessons.iter().map(LessonResult::count);
    let sum = counts.fold(Count::default(), |sum, count| Count {
        all: sum.all + count.all,
        passed: sum.passed + count.passed,
        failed: sum.failed + count.failed,
        broken: sum.broken + count.broken,
        skipped: sum.skipped + count.skipped,
    });
    let elapsed = results.lessons.iter().map(LessonResult::elapsed).sum();
    counted(Element::new("testsuites"), "mlsys", sum, elapsed)
        .holding(results.lessons.iter().map(suite))
        .document()
}

fn suite(lesson: &LessonResult) -> Element {
    counted(Element::new("testsuite"), &lesson.id, lesson.count(), lesson.elapsed())
        .holding(lesson.items.iter().map(|item| case(lesson, item)))
}

fn counted(element: Element, name: &str, count: Count, elapsed: Duration) -> Element {
    element
        .with("name", name)
        .with("tests", count.all)
        .with("failures", count.failed)
        .with("errors", count.broken)
        .with("skipped", count.skipped)
        .with("time", seconds(elapsed))
}

fn case(lesson: &LessonResult, item: &Item) -> Element {
    let case = Element::new("testcase")
        .with("classname", &lesson.id)
        .with("name", format!("{} {}", item.kind.word(), item.id))
        .with("time", seconds(item.elapsed));
    let told = |name: &'static str, message: &str| {
        Element::new(name).with("message", message).with("type", item.kind.word())
    };
    case.holding(match &item.verdict {
        Verdict::Passed => None,
        Verdict::Failed(reason) => {
            Some(told("failure", reason).text(&format!("{}\n{reason}", item.about)))
        }
        Verdict::Broken(reason, _) => {
            Some(told("error", reason).text(&format!("{}\n{reason}", item.about)))
        }
        Verdict::Skipped(reason) => Some(Element::new("skipped").with("message", reason)),
        // JUnit knows no third way between passing and failing; a reader must still see it.
        Verdict::Unstable(reason) => {
            Some(Element::new("skipped").with("message", format!("unstable: {reason}")))
        }
    })
}

fn seconds(elapsed: Duration) -> String {
    format!("{:.3}", elapsed.as_secs_f64())
}
