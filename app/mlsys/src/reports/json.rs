//! The whole of the results as one JSON object.

use mlsys_lab::output;
use serde_json::{Value as Json, json};

use mlsys_run::results::{Comparison, Item, Kind, LessonResult, Results};

/// The results as one JSON object on one line.
pub fn report(results: &Results) -> String {
    let object = json!({
        "mlsys": env!("CARGO_PKG_VERSION"),
        "exit": results.exit().code(),
        "lessons": results.lessons.iter().map(lesson).collect::<Vec<_>>(),
    });
    format!("{object}\n")
}

fn lesson(lesson: &LessonResult) -> Json {
    let (earned, points) = lesson.points();
    let count = lesson.count();
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
        "items": lesson.items.iter().map(item).collect::<Vec<_>>(),
        "comparisons": lesson.comparisons.iter().map(comparison).collect::<Vec<_>>(),
    })
}

fn comparison(comparison: &Comparison) -> Json {
    json!({ "panel": comparison.panel, "lines": comparison.lines })
}

fn item(item: &Item) -> Json {
    let mut object = json!({
        "type": item.kind.word(),
        "id": item.id,
        "about": item.about,
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
        Kind::Predict { theory, target } => {
            object["theory"] = theory.as_ref().map_or(Json::Null, output::value);
            object["measured"] = target.as_ref().map_or(Json::Null, output::value);
        }
        Kind::Check { class } => object["class"] = json!(class.to_string()),
        Kind::Question { points, earned } => {
            object["points"] = json!(points);
            object["score"] = json!(earned);
        }
    }
    object
}
