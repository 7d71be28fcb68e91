//! Reports for programs: JUnit XML for CI, JSON, Gradescope's `results.json`, and annotations of GitHub Actions.
//!
//! JUnit is written here, not by quick-junit: that knows no count of skipped tests on a suite, and adds ids and attributes
//! that Jenkins' schema (junit-10.xsd of its xUnit plugin) refuses.

use std::fmt::Write;
use std::time::{Duration, SystemTime};

use mlsys_lab::output;
use mlsys_lab::schema::Label;
use mlsys_lab::value::{Value, number};
use mlsys_run::results::{Count, Ending, Item, Kind, LessonResult, Results, Verdict};
use mlsys_view::xml::Element;
use serde_json::{Value as Json, json};

pub fn junit(results: &Results) -> String {
    let counts = results.lessons.iter().map(LessonResult::count);
    // A run that did not come to its end has a suite that says so.
    let suites = usize::from(results.ending != Ending::Complete);
    let none = Count { all: suites, broken: suites, ..Count::default() };
    let sum = counts.fold(none, |sum, count| Count {
        all: sum.all + count.all,
        passed: sum.passed + count.passed,
        failed: sum.failed + count.failed,
        broken: sum.broken + count.broken,
        skipped: sum.skipped + count.skipped,
    });
    let elapsed = results.lessons.iter().map(LessonResult::elapsed).sum();
    counted(Element::new("testsuites"), "mlsys", sum, elapsed)
        .holding(results.lessons.iter().map(|lesson| suite(lesson, results)))
        .holding(results.ending.sentence().as_deref().map(unfinished))
        .document()
}

fn suite(lesson: &LessonResult, results: &Results) -> Element {
    let suite = counted(Element::new("testsuite"), &lesson.id, lesson.count(), lesson.elapsed())
        // Jenkins' schema has these attributes here alone.
        .with("skipped", lesson.count().skipped)
        .with("file", &lesson.file);
    let suite = match results.started {
        Some(started) => suite.with("timestamp", iso8601(started)),
        None => suite,
    };
    let (earned, points) = lesson.points();
    let property = |(name, value): (&str, String)| {
        Element::new("property").with("name", name).with("value", value)
    };
    let properties = [
        ("mlsys", env!("CARGO_PKG_VERSION").to_owned()),
        ("seed", lesson.seed.to_string()),
        ("points", format!("{} of {points}", number(earned))),
    ];
    suite
        .holding([Element::new("properties").holding(properties.map(property))])
        .holding(lesson.items.iter().map(|item| case(lesson, item)))
}

/// The suite of a run that was interrupted or refused.
fn unfinished(sentence: &str) -> Element {
    let count = Count { all: 1, broken: 1, ..Count::default() };
    let error = Element::new("error").with("message", sentence).with("type", "run");
    let case = Element::new("testcase").with("classname", "mlsys").with("name", "the whole run");
    counted(Element::new("testsuite"), "mlsys", count, Duration::ZERO)
        .with("skipped", 0)
        .holding([case.holding([error])])
}

fn iso8601(time: SystemTime) -> String {
    let text = humantime::format_rfc3339_seconds(time).to_string();
    text.trim_end_matches('Z').to_owned()
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
    let answer = match &item.kind {
        Kind::Question { answer: Some(answer), .. } => {
            Some(Element::new("system-out").text(&format!("answer: {answer}")))
        }
        Kind::Question { answer: None, .. }
        | Kind::Lab { .. }
        | Kind::Predict { .. }
        | Kind::Check { .. } => None,
    };
    let verdict = match &item.verdict {
        Verdict::Passed => None,
        Verdict::Failed(reason) => Some(problem("failure", reason).text(&text(reason))),
        Verdict::Broken(reason, _) => Some(problem("error", reason).text(&text(reason))),
        Verdict::Skipped(reason) => Some(Element::new("skipped").with("message", reason)),
        // JUnit knows no third way between passing and failing; a reader must still see it.
        Verdict::Unstable(reason) => {
            Some(Element::new("skipped").with("message", format!("unstable: {reason}")))
        }
    };
    case.holding(verdict).holding(answer)
}

fn seconds(elapsed: Duration) -> String {
    format!("{:.3}", elapsed.as_secs_f64())
}

pub fn json_text(results: &Results) -> String {
    let object = json!({
        "mlsys": env!("CARGO_PKG_VERSION"),
        "exit": results.exit().code(),
        "started": results.started.map(|time| humantime::format_rfc3339_seconds(time).to_string()),
        "interrupted": results.ending.sentence(),
        "lessons": results.lessons.iter().map(lesson_json).collect::<Vec<_>>(),
    });
    format!("{object}\n")
}

/// Points; whole ones without a fraction.
fn whole(points: f64) -> Json {
    if points.fract() == 0.0 { json!(points as u64) } else { json!(points) }
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
        "score": whole(earned),
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
            let all = || metrics.iter();
            object["metrics"] =
                all().map(|(name, (_, value))| (name.clone(), output::value(value))).collect();
            object["labels"] =
                all().map(|(name, (label, _))| (name.clone(), json!(label.to_string()))).collect();
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
        Kind::Question { points, earned, answer } => {
            object["points"] = json!(points);
            object["score"] = whole(*earned);
            object["answer"] = json!(answer);
        }
    }
    object
}

pub fn gradescope(results: &Results) -> String {
    let earned: f64 = results.lessons.iter().map(|lesson| lesson.points().0).sum();
    let elapsed: f64 = results.lessons.iter().map(|lesson| lesson.elapsed().as_secs_f64()).sum();
    let tests: Vec<Json> = results
        .lessons
        .iter()
        .flat_map(|lesson| lesson.items.iter().filter_map(|item| gradescope_test(lesson, item)))
        .collect();
    let object = json!({
        "score": whole(earned),
        "output": results.ending.sentence().unwrap_or_default(),
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
    let (score, max_score) = match &item.kind {
        Kind::Question { points, earned, .. } => (*earned, *points),
        Kind::Lab { .. } | Kind::Check { .. } => (0.0, 0),
        Kind::Predict { .. } => return None,
    };
    let mut lines = vec![item.about.clone()];
    if let Kind::Question { answer: Some(answer), .. } = &item.kind {
        lines.push(format!("answer: {answer}"));
    }
    lines.extend(item.verdict.reason().map(|why| format!("{}: {why}", item.verdict.word())));
    lines.extend(lesson.failure(item));
    Some(json!({
        "name": format!("{} {} {}", lesson.id, item.kind.word(), item.id),
        "score": whole(score),
        "max_score": max_score,
        "status": status(&item.verdict),
        "output": lines.join("\n"),
    }))
}

/// The format has two words; an item that was not tried costs nothing, so it is no failure.
fn status(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Passed | Verdict::Skipped(_) | Verdict::Unstable(_) => "passed",
        Verdict::Failed(_) | Verdict::Broken(..) => "failed",
    }
}

/// Workflow commands, a line each: what failed, and the two notices in which GitHub Classroom looks for points.
pub fn annotations(results: &Results) -> String {
    let mut text = String::new();
    let (mut earned, mut points) = (0.0, 0);
    for lesson in &results.lessons {
        let (own, of) = lesson.points();
        (earned, points) = (earned + own, points + of);
        for item in &lesson.items {
            let level = match &item.verdict {
                Verdict::Passed | Verdict::Skipped(_) => continue,
                Verdict::Unstable(_) => "warning",
                Verdict::Failed(_) | Verdict::Broken(..) => "error",
            };
            let title = format!("{} {} {}", lesson.id, item.kind.word(), item.id);
            let reason = item.verdict.reason().unwrap_or_default();
            let why = item.why.iter().map(|why| format!("\n{why}")).collect::<String>();
            let _ = writeln!(
                text,
                "::{level} file={},line={},title={}::{}",
                property(&lesson.file),
                item.line,
                property(&title),
                data(&format!("{}\n{reason}{why}", item.about))
            );
        }
    }
    if let Some(sentence) = results.ending.sentence() {
        let _ = writeln!(text, "::error title=mlsys::{}", data(&sentence));
    }
    if points > 0 {
        let report = json!({ "totalPoints": whole(earned), "maxPoints": points });
        let earned = number(earned);
        let _ = writeln!(text, "::notice title=Autograding complete::Points {earned}/{points}");
        let _ = writeln!(text, "::notice title=Autograding report::{report}");
    }
    text
}

/// Text after the second `::`, as the runner reads it.
fn data(text: &str) -> String {
    let visible = |c: &char| !mlsys_expr::steers_terminal(*c) || *c == '\n';
    text.chars().filter(visible).collect::<String>().replace('%', "%25").replace('\n', "%0A")
}

/// The value of a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
