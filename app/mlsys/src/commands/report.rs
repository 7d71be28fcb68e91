//! `mlsys report`: a lesson or a run as one HTML page, without scripts and without anything fetched from elsewhere.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use mlsys_lab::Registry;
use mlsys_lab::report::RunData;
use mlsys_lab::schema::{Label, Panel};
use mlsys_lab::value::plural;
use mlsys_lesson::{Answer, Lesson, LessonProgress, Predict, Progress, label_of};
use mlsys_run::files;
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
use crate::page::{Cell, Layout, Tone, document, section, table};

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
        files::write_output(&options.output, text.as_bytes())?;
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
        "<p class=\"dim\">{} · {} · {}</p>",
        escaped(lesson.front.id.as_str()),
        summary.words(),
        summary.points_words()
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
        let given = done.predictions.get(&predict.id).map_or_else(String::new, Answer::to_string);
        let outcome = done.outcomes.get(&predict.id).map_or_else(String::new, |outcome| {
            format!("{} {}", outcome_label(lesson, predict, registry), outcome)
        });
        vec![Cell::markdown(&predict.prompt), Cell::answer(&given), Cell::text(&outcome)]
    });
    let head = ["Asked", "Predicted", "Outcome"];
    section("Predictions", &head, rows.collect(), Layout::Facts, body);
}

fn answers(lesson: &Lesson, done: &LessonProgress, body: &mut String) {
    let rows = lesson.questions().map(|question| {
        let answered = done.answers.get(&question.id);
        let (tone, verdict) = match answered {
            None => (Tone::Dim, "not answered".to_owned()),
            Some(_) if question.kind.is_withheld() => {
                (Tone::Plain, "recorded, graded later".to_owned())
            }
            Some(answered) if answered.right => {
                (Tone::Good, format!("right, {}", plural(answered.points as usize, "point")))
            }
            Some(_) => (Tone::Bad, "wrong".to_owned()),
        };
        let given = answered.map_or_else(String::new, |answered| answered.given.to_string());
        vec![Cell::markdown(&question.prompt), Cell::answer(&given), Cell::toned(tone, &verdict)]
    });
    section("Answers", &["Asked", "Answered", ""], rows.collect(), Layout::Facts, body);
}

fn checks(lesson: &Lesson, done: &LessonProgress, body: &mut String) {
    let rows = lesson.checks().map(|check| {
        let (tone, state) = if done.checks.contains(&check.id) {
            (Tone::Good, "held")
        } else if done.skipped.contains(&check.id) {
            (Tone::Dim, "could not be tried")
        } else {
            (Tone::Dim, "has not held yet")
        };
        let place = format!("{}:{}", lesson.source.file, lesson.source.line(check.place.start));
        let why = check.why.iter().filter(|_| !done.checks.contains(&check.id)).cloned();
        let why = why.chain([place]).collect::<Vec<_>>().join(" ");
        vec![Cell::text(&check.assert.source), Cell::toned(tone, state), Cell::markdown(&why)]
    });
    section("Checks", &["Condition", "", "If it fails"], rows.collect(), Layout::Facts, body);
}

fn run_section(past: &RecordedRun, others: &Others<'_>, body: &mut String) {
    table(&[], &texts(facts(past)), Layout::Facts, body);
    for notice in past.data.notices.iter().chain(&past.warnings) {
        let _ = writeln!(body, "<p>{}</p>", escaped(notice));
    }
    if let Some((step, reason)) = &past.data.diverged {
        let _ = writeln!(body, "<p class=\"bad\">Diverged at step {step}: {}</p>", escaped(reason));
    }
    pictures(&past.summary, &past.data, others, body);
    let params = past.summary.params();
    let params = params.into_iter();
    let params = params.map(|(name, value)| vec![Cell::text(name), Cell::answer(&value)]);
    section("Parameters", &["Parameter", "Value"], params.collect(), Layout::Plain, body);
    let changes = past.data.changes.iter();
    let changes = changes.map(|change| {
        [&change.step.to_string(), &change.name, &change.value.to_string()]
            .map(|text| Cell::text(text))
            .into()
    });
    let head = ["Step", "Parameter", "Value"];
    section("Knobs turned", &head, changes.collect(), Layout::Plain, body);
    let mut metrics = metric_rows(past, others.registry);
    if metrics.len() > 1 {
        let head = metrics.remove(0);
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        section("Metrics", &head, texts(metrics), Layout::Scroll, body);
    }
}

fn texts(rows: Vec<Vec<String>>) -> Vec<Vec<Cell>> {
    let row = |cells: Vec<String>| cells.iter().map(|text| Cell::text(text)).collect();
    rows.into_iter().map(row).collect()
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
    let own = summary.about["lesson"]["lab"].as_str();
    let own = others.lesson.zip(own).and_then(|(lesson, lab)| lesson.lab(lab));
    // A lesson's page shows what the lesson shows.
    let is_shown = |panel: &&Panel| {
        own.is_none_or(|lab| {
            lab.panels.is_empty() || lab.panels.iter().any(|shown| shown.name == panel.name)
        })
    };
    for panel in schema.panels.iter().filter(is_shown) {
        let view = View::new(panel);
        let scene = Scene {
            comparison: RunComparison {
                all: &others.all,
                goals: others.lesson.map_or(&[], |lesson| lesson.goals(&panel.name)),
                ..RunComparison::default()
            },
            ..Scene::new(schema, panel, data, &view)
        };
        if let Ok(drawn) = svg(&scene, &source) {
            let _ = writeln!(body, "<figure class=\"picture\">{drawn}</figure>");
        }
    }
}
