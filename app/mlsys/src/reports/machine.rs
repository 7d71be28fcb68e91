//! Reports for programs: JUnit XML for CI, JSON, and Gradescope's `results.json`.
//!
//! JUnit is written here, not by quick-junit: that knows no count of skipped tests on a suite, and adds ids and times of
//! its own, so that the same run would give two texts.

use std::time::Duration;

use mlsys_lab::output;
use mlsys_lab::schema::Label;
use mlsys_lab::value::Value;
use mlsys_run::results::{Count, Item, Kind, LessonResult, Results, Verdict};
use mlsys_view::xml::Element;
use serde_json::{Value as Json, json};

pub fn junit(results: &Results) -> String {
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
        // Jenkins' schema has this attribute here alone.
        .with("skipped", lesson.count().skipped)
        .holding(lesson.items.iter().map(|item| case(lesson, item)))
}

fn counted(element: Element, name: &str, count: Count, elapsed: Duration) -> Element {
    element
        .with("name", name)
        .with("tests", count.all)
        .with("failures", count.failed)
        .with("errors", count.broken)
        .with("time", seconds(elapsed))
}

fn case(lesson: &LessonResult, item: &Item) -> Element {
    let case = Element::new("testcase")
        .with("classname", &lesson.id)
        .with("name", format!("{} {}", item.kind.word(), item.id))
        .with("time", seconds(item.elapsed));
    let problem = |name: &'static str, message: &str| {
        Element::new(name).with("message", message).with("type", item.kind.word())
    };
    let text = |reason: &str| {
        let more = lesson.failure(item).into_iter();
        [item.about.clone(), reason.to_owned()]
            .into_iter()
            .chain(more)
            .collect::<Vec<_>>()
            .join("\n")
    };
    case.holding(match &item.verdict {
        Verdict::Passed => None,
        Verdict::Failed(reason) => Some(problem("failure", reason).text(&text(reason))),
        Verdict::Broken(reason, _) => Some(problem("error", reason).text(&text(reason))),
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

pub fn json_text(results: &Results) -> String {
    let object = json!({
        "mlsys": env!("CARGO_PKG_VERSION"),
        "exit": results.exit().code(),
        "lessons": results.lessons.iter().map(lesson_json).collect::<Vec<_>>(),
    });
    format!("{object}\n")
}

fn lesson_json(lesson: &LessonResult) -> Json {
    let (earned, points) = lesson.points();
    let count = lesson.count();
    let comparisons = lesson
        .comparisons
        .iter()
        .map(|comparison| json!({ "panel": comparison.panel, "lines": comparison.lines }));
    json!({
        "id": lesson.id,
        "title": lesson.title,
        "seed": lesson.seed,
        "score": earned,
        "points": points,
        "passed": count.passed,
        "failed": count.failed,
        "errors": count.broken,
        "skipped": count.skipped,
        "seconds": lesson.elapsed().as_secs_f64(),
        "file": lesson.file,
        "items": lesson.items.iter().map(item_json).collect::<Vec<_>>(),
        "comparisons": comparisons.collect::<Vec<_>>(),
    })
}

fn item_json(item: &Item) -> Json {
    let mut object = json!({
        "type": item.kind.word(),
        "id": item.id,
        "about": item.about,
        "line": item.line,
        "why": item.why,
        "verdict": item.verdict.word(),
        "reason": item.verdict.reason(),
        "seconds": item.elapsed.as_secs_f64(),
    });
    match &item.kind {
        Kind::Lab { device, metrics } => {
            object["device"] = json!(device);
            object["metrics"] =
                metrics.iter().map(|(name, value)| (name.clone(), output::value(value))).collect();
        }
        Kind::Predict { theory, target, .. } => {
            let labelled = |one: &Option<(Label, Value)>| {
                one.as_ref().map_or(Json::Null, |(label, value)| {
                    json!({ "label": label.to_string(), "value": output::value(value) })
                })
            };
            object["theory"] = labelled(theory);
            object["target"] = labelled(target);
        }
        Kind::Check { class } => object["class"] = json!(class.to_string()),
        Kind::Question { points, earned } => {
            object["points"] = json!(points);
            object["score"] = json!(earned);
        }
    }
    object
}

pub fn gradescope(results: &Results) -> String {
    let earned: u32 = results.lessons.iter().map(|lesson| lesson.points().0).sum();
    let elapsed: f64 = results.lessons.iter().map(|lesson| lesson.elapsed().as_secs_f64()).sum();
    let tests: Vec<Json> = results
        .lessons
        .iter()
        .flat_map(|lesson| lesson.items.iter().filter_map(|item| gradescope_test(lesson, item)))
        .collect();
    let object = json!({
        "score": earned,
        // The format takes whole seconds.
        "execution_time": elapsed.ceil() as u64,
        "output_format": "text",
        "test_output_format": "text",
        "stdout_visibility": "hidden",
        "visibility": "visible",
        "tests": tests,
    });
    format!("{object}\n")
}

/// A prediction is not graded, so it is no test.
fn gradescope_test(lesson: &LessonResult, item: &Item) -> Option<Json> {
    let (score, max_score) = match item.kind {
        Kind::Question { points, earned } => (earned, points),
        Kind::Lab { .. } | Kind::Check { .. } => (0, 0),
        Kind::Predict { .. } => return None,
    };
    let output = match item.verdict.reason() {
        None => item.about.clone(),
        Some(reason) => {
            let told = format!("{}\n{}: {reason}", item.about, item.verdict.word());
            [told].into_iter().chain(lesson.failure(item)).collect::<Vec<_>>().join("\n")
        }
    };
    Some(json!({
        "name": format!("{} {} {}", lesson.id, item.kind.word(), item.id),
        "score": score,
        "max_score": max_score,
        "status": status(&item.verdict),
        "output": output,
    }))
}

/// The format has two words; an item that was not tried costs nothing, so it is no failure.
fn status(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Passed | Verdict::Skipped(_) | Verdict::Unstable(_) => "passed",
        Verdict::Failed(_) | Verdict::Broken(..) => "failed",
    }
}
