//! `mlsys report`: a lesson or a run as one HTML page, without scripts and without anything fetched from elsewhere.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use mlsys_lab::Registry;
use mlsys_lab::report::RunData;
use mlsys_lab::schema::Label;
use mlsys_lesson::{Answer, Lesson, LessonProgress, Predict, Progress, label_of};
use mlsys_run::process::{Exit, Failure};
use mlsys_run::record::{self, RecordedRun, Summary};
use mlsys_tui::records::{RecallRequest, recall};
use mlsys_view::attempts::{FinishedRun, RunComparison};
use mlsys_view::export::{Source, changed, svg};
use mlsys_view::panel::{Scene, View};
use mlsys_view::xml::escaped;

use crate::cli::Report;
use crate::commands::runs::{facts, metrics as metric_rows};
use crate::context::Context;

pub fn run(options: &Report, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let runs = context.paths.as_ref()?.runs();
    let course = context.library()?.course(context.console)?;
    let lesson = course.lessons().iter().find(|lesson| lesson.front.id.as_str() == options.subject);
    let text = match lesson {
        Some(lesson) => {
            let progress = context.progress(&course.id)?;
            lesson_report(lesson, &progress, &runs, context)
        }
        None => {
            let past =
                super::runs::past(&runs, &options.subject, context.console).map_err(|failure| {
                    let near = course.nearest(&options.subject);
                    let hint =
                        near.map_or_else(String::new, |id| format!("; there is a lesson '{id}'"));
                    Failure::Usage(format!("{failure}{hint}"))
                })?;
            let others = Others {
                all: compared_runs(&runs, &past, context.registry),
                lesson: None,
                registry: context.registry,
            };
            let mut body = String::new();
            run_section(&past, &others, &mut body);
            document(&format!("Run {}", past.summary.name), &body)
        }
    };
    if options.output == Path::new("-") {
        context.console.raw(&text)?;
    } else {
        fs::write(&options.output, text).map_err(|error| {
            Failure::Run(format!("{} cannot be written: {error}", options.output.display()))
        })?;
        context.console.note(format_args!("{} is written", options.output.display()));
    }
    Ok(Exit::Passed)
}

fn lesson_report(
    lesson: &Lesson,
    progress: &Progress,
    runs: &Path,
    context: &mut Context<'_>,
) -> String {
    let names = record::list(runs);
    let id = lesson.front.id.as_str();
    let mut newest: Vec<RecordedRun> = Vec::new();
    for name in names.iter().flatten().rev() {
        let Ok(summary) = record::summary(&runs.join(name)) else { continue };
        let lab = summary.about["lesson"]["lab"].clone();
        let known = newest.iter().any(|past| past.summary.about["lesson"]["lab"] == lab);
        if summary.lesson() == Some(id) && !known {
            match record::open(&summary.folder) {
                Ok(past) => newest.push(past),
                Err(error) => context.console.warn(error),
            }
        }
    }
    newest.reverse();
    let wanted = RecallRequest {
        lesson: Some(id.to_owned()),
        kinds: lesson.labs().map(|lab| lab.kind.value.clone()).collect(),
    };
    let others = Others {
        all: attempts(runs, &wanted, context.registry),
        lesson: Some(lesson),
        registry: context.registry,
    };
    lesson_page(lesson, progress, &newest, &others)
}

/// The runs that a run is drawn with in pictures of several runs: those of its lesson, or of its kind without one.
fn compared_runs(
    runs: &Path,
    past: &RecordedRun,
    registry: &'static Registry,
) -> Vec<Arc<FinishedRun>> {
    let Ok(lab) = registry.find(past.summary.lab()) else { return Vec::new() };
    let panels = lab.schema().panels.iter();
    let named = panels.filter_map(|panel| panel.attempts.as_ref());
    let kinds = named.flat_map(|attempts| attempts.kinds.iter().cloned());
    let wanted = RecallRequest {
        lesson: past.summary.lesson().map(str::to_owned),
        kinds: kinds.chain([past.summary.lab().to_owned()]).collect(),
    };
    attempts(runs, &wanted, registry)
}

fn attempts(
    runs: &Path,
    wanted: &RecallRequest,
    registry: &'static Registry,
) -> Vec<Arc<FinishedRun>> {
    let compares =
        |kind: &String| registry.find(kind).is_ok_and(|lab| lab.schema().compares_runs());
    if !wanted.kinds.iter().any(compares) {
        return Vec::new();
    }
    recall(runs, wanted, registry).into_iter().map(Arc::new).collect()
}

/// The runs in pictures of several, the oldest first, and the lesson that sets their goals.
struct Others<'a> {
    all: Vec<Arc<FinishedRun>>,
    lesson: Option<&'a Lesson>,
    registry: &'static Registry,
}

const STYLE: &str = include_str!("report.css");

/// A lesson: points, predictions, answers, checks, and the newest run of each lab.
fn lesson_page(
    lesson: &Lesson,
    progress: &Progress,
    runs: &[RecordedRun],
    others: &Others<'_>,
) -> String {
    let mut body = String::new();
    let summary = progress.summary(lesson);
    let _ = writeln!(
        body,
        "<p class=\"dim\">{} · {} of {} questions right · {} of {} points</p>",
        escaped(lesson.front.id.as_str()),
        summary.right,
        summary.questions,
        summary.points,
        summary.of
    );
    let nothing = LessonProgress::default();
    let done = progress.lesson(&lesson.front.id).unwrap_or(&nothing);
    predictions(lesson, done, others.registry, &mut body);
    answers(lesson, done, &mut body);
    checks(lesson, done, &mut body);
    for past in runs {
        let lab = past.summary.about["lesson"]["lab"].as_str().unwrap_or("");
        let _ = writeln!(body, "<h2>Lab {}</h2>", escaped(lab));
        run_section(past, others, &mut body);
    }
    if runs.is_empty() {
        body.push_str("<p class=\"dim\">No run of this lesson has been recorded.</p>\n");
    }
    document(&lesson.front.title, &body)
}

pub fn document(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}\
         <p class=\"dim\">Written by mlsys {}.</p>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn outcome_label(lesson: &Lesson, predict: &Predict, registry: &Registry) -> Label {
    let schema = |id: &str| {
        let turned = predict.lab.as_ref().filter(|_| id == predict.id);
        let lab = lesson.lab(turned.map_or(id, |lab| &lab.value))?;
        Some(registry.find(&lab.kind.value).ok()?.schema())
    };
    predict.target.formula().map_or(Label::Computed, |formula| label_of(formula, schema))
}

fn predictions(
    lesson: &Lesson,
    done: &LessonProgress,
    registry: &'static Registry,
    body: &mut String,
) {
    let rows = lesson.predictions().map(|predict| {
        let text = |answer: Option<&Answer>| answer.map_or_else(String::new, Answer::to_string);
        vec![
            predict.prompt.clone(),
            text(done.predictions.get(&predict.id)),
            done.outcomes.get(&predict.id).map_or_else(String::new, |outcome| {
                format!("{} {}", outcome_label(lesson, predict, registry), outcome)
            }),
        ]
    });
    section("Predictions", &["Asked", "Predicted", "Outcome"], rows.collect(), body);
}

fn answers(lesson: &Lesson, done: &LessonProgress, body: &mut String) {
    let rows = lesson.questions().map(|question| {
        let answered = done.answers.get(&question.id);
        let verdict = match answered {
            None => "not answered".to_owned(),
            Some(_) if question.kind.is_withheld() => "recorded, graded later".to_owned(),
            Some(answered) if answered.right => format!("right, {} points", answered.points),
            Some(answered) => format!("wrong, {} points", answered.points),
        };
        let given = answered.map_or_else(String::new, |answered| answered.given.to_string());
        vec![question.prompt.clone(), given, verdict]
    });
    section("Answers", &["Asked", "Answered", ""], rows.collect(), body);
}

fn checks(lesson: &Lesson, done: &LessonProgress, body: &mut String) {
    let rows = lesson.checks().map(|check| {
        let state = if done.checks.contains(&check.id) {
            "held"
        } else if done.skipped.contains(&check.id) {
            "could not be tried"
        } else {
            "has not held yet"
        };
        let place = format!("{}:{}", lesson.source.file, lesson.source.line(check.place.start));
        let why = check.why.iter().filter(|_| !done.checks.contains(&check.id)).cloned();
        vec![
            check.assert.source.clone(),
            state.to_owned(),
            why.chain([place]).collect::<Vec<_>>().join(" "),
        ]
    });
    section("Checks", &["Condition", "", "If it fails"], rows.collect(), body);
}

fn run_section(past: &RecordedRun, others: &Others<'_>, body: &mut String) {
    table(&[], facts(past), body);
    for notice in past.data.notices.iter().chain(&past.warnings) {
        let _ = writeln!(body, "<p>{}</p>", escaped(notice));
    }
    if let Some((step, reason)) = &past.data.diverged {
        let _ = writeln!(body, "<p class=\"bad\">Diverged at step {step}: {}</p>", escaped(reason));
    }
    pictures(&past.summary, &past.data, others, body);
    let params = past.summary.params();
    let params = params.into_iter().map(|(name, value)| vec![name.to_owned(), value]);
    section("Parameters", &["Parameter", "Value"], params.collect(), body);
    let changes =
        past.data.changes.iter().map(|change| {
            vec![change.step.to_string(), change.name.clone(), change.value.to_string()]
        });
    section("Knobs turned", &["Step", "Parameter", "Value"], changes.collect(), body);
    let mut metrics = metric_rows(past, others.registry);
    if metrics.len() > 1 {
        let head = metrics.remove(0);
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        section("Metrics", &head, metrics, body);
    }
}

fn pictures(summary: &Summary, data: &RunData, others: &Others<'_>, body: &mut String) {
    let Ok(lab) = others.registry.find(summary.lab()) else { return };
    let schema = lab.schema();
    let params = summary.values();
    let source = Source {
        lesson: summary.lesson().map(str::to_owned),
        changed: changed(schema, params.iter().map(|(name, value)| (*name, value))),
        seed: summary.about["seed"].as_u64().map(|seed| seed.to_string()),
        device: summary.device().map(|(id, name)| format!("{name} ({id})")),
        remark: Some(format!("recorded {}", summary.started())),
    };
    for panel in &schema.panels {
        let view = View::new(panel);
        let scene = Scene {
            comparison: RunComparison {
                all: &others.all,
                own: None,
                goals: others.lesson.map_or(&[], |lesson| lesson.goals(&panel.name)),
            },
            ..Scene::new(schema, panel, data, &view)
        };
        if let Ok(drawn) = svg(&scene, &source) {
            let _ = writeln!(body, "<figure class=\"picture\">{drawn}</figure>");
        }
    }
}

fn section(title: &str, head: &[&str], rows: Vec<Vec<String>>, body: &mut String) {
    if !rows.is_empty() {
        let _ = writeln!(body, "<h3>{}</h3>", escaped(title));
        table(head, rows, body);
    }
}

fn table(head: &[&str], rows: Vec<Vec<String>>, body: &mut String) {
    body.push_str("<table>\n");
    if !head.is_empty() {
        row("th", head, body);
    }
    rows.iter().for_each(|cells| row("td", cells, body));
    body.push_str("</table>\n");
}

fn row(element: &str, cells: &[impl AsRef<str>], body: &mut String) {
    body.push_str("<tr>");
    for cell in cells {
        let _ = write!(body, "<{element}>{}</{element}>", escaped(cell.as_ref()));
    }
    body.push_str("</tr>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_title_or_a_cell_is_taken_for_markup() {
        let mut body = String::new();
        table(&["<b>"], vec![vec!["<script>alert(1)</script>\" & '".to_owned()]], &mut body);
        let page = document("</title><script src=x>", &body);
        assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    }
}
