//! Gradescope's `results.json`: a test a question, with its points, and one without points for each lab and check.
//!
//! The format: <https://gradescope-autograders.readthedocs.io/en/latest/specs/#output-format>.

use serde_json::{Value as Json, json};

use mlsys_run::results::{Item, Kind, LessonResult, Results, Verdict};

/// The results as Gradescope reads them.
pub fn report(results: &Results) -> String {
    let earned: u32 = results.lessons.iter().map(|lesson| lesson.points().0).sum();
    let elapsed: f64 = results.lessons.iter().map(|lesson| lesson.elapsed().as_secs_f64()).sum();
    let tests: Vec<Json> = results
        .lessons
        .iter()
        .flat_map(|lesson| lesson.items.iter().filter_map(|item| test(lesson, item)))
        .collect();
    let object = json!({
        "score": earned,
        // Whole seconds: that is what the format takes.
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
fn test(lesson: &LessonResult, item: &Item) -> Option<Json> {
    let (score, max_score) = match item.kind {
        Kind::Question { points, earned } => (earned, points),
        Kind::Lab { .. } | Kind::Check { .. } => (0, 0),
        Kind::Predict { .. } => return None,
    };
    let output = match item.verdict.reason() {
        None => item.about.clone(),
        Some(reason) => format!("{}\n{}: {reason}", item.about, item.verdict.word()),
    };
    Some(json!({
        "name": format!("{} {} {}", lesson.id, item.kind.word(), item.id),
        "score": score,
        "max_score": max_score,
        "status": status(&item.verdict),
        "output": output,
    }))
}

/// The format has two words; what was not tried costs nothing, so it is not a failure.
fn status(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Passed | Verdict::Skipped(_) | Verdict::Unstable(_) => "passed",
        Verdict::Failed(_) | Verdict::Broken(..) => "failed",
    }
}
