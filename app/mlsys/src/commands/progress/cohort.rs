//! `mlsys progress cohort`: a report on the exported progress of many learners.

use std::fs;
use std::path::Path;

use mlsys_lesson::{Answers, Cohort, CourseId, LessonReport, QuestionReport, Spread};

use crate::cli::CohortOf;
use crate::commands::runs::export::cell;
use crate::context::Context;
use crate::grader::ProcessGrader;
use crate::page::{Cell, Layout, document, table};
use mlsys_run::process::{Exit, Failure};
use mlsys_run::storage::read_bounded;
use mlsys_view::xml::escaped as escape;

const MOST: u64 = 16 << 20;

pub fn run(options: &CohortOf, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let library = context.library()?;
    let course = library.course(context.console)?;
    let mut learners = Vec::new();
    let mut left_out = 0;
    for file in &options.files {
        match answers(file, &course.id) {
            Ok(answers) => learners.push((name(file), answers)),
            Err(reason) => {
                left_out += 1;
                context.console.note(format_args!("left out: {reason}"));
            }
        }
    }
    let place = library.place().map(Path::to_owned);
    let grader =
        ProcessGrader { registry: context.registry, course: place, limits: options.limits };
    let mut cohort = mlsys_lesson::cohort(&course, &learners, &grader);
    if !options.names {
        cohort.names.clear();
    }
    let text = if options.format.json {
        serde_json::to_string_pretty(&cohort).map_err(|error| Failure::Run(error.to_string()))?
            + "\n"
    } else if options.format.csv {
        csv(&cohort)
    } else if options.format.html {
        html(&cohort, &course.title)
    } else {
        plain(&cohort)
    };
    match &options.output {
        Some(file) if file != Path::new("-") => fs::write(file, text).map_err(|error| {
            Failure::Usage(format!("'{}' cannot be written: {error}", file.display()))
        })?,
        Some(_) | None => context.console.raw(&text)?,
    }
    if left_out == 0 {
        return Ok(Exit::Passed);
    }
    context.console.note(format_args!(
        "{} of {} files could not be used",
        left_out,
        options.files.len()
    ));
    Ok(Exit::Usage)
}

fn answers(file: &Path, course: &CourseId) -> Result<Answers, Failure> {
    let bytes = read_bounded(file, "progress file", MOST)?;
    let named = |error: mlsys_lesson::AnswersError| {
        Failure::Usage(format!("'{}': {error}", file.display()))
    };
    let answers = Answers::parse(&bytes).map_err(named)?;
    answers.refuse_other_course(Some(course)).map_err(named)?;
    Ok(answers)
}

fn name(file: &Path) -> String {
    file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// The facts of a report, one a row: lesson, kind of item, its id, measure, and value.
fn rows(cohort: &Cohort) -> Vec<[String; 5]> {
    let mut rows = Vec::new();
    for lesson in &cohort.lessons {
        let mut row = |about: &str, id: &str, measure: &str, value: String| {
            rows.push(cells(&lesson.id, about, id, measure, value));
        };
        row("lesson", "", "opened", lesson.opened.to_string());
        row("lesson", "", "completed", lesson.completed.to_string());
        row("lesson", "", "points of", lesson.of.to_string());
        for (measure, value) in lesson.points.iter().flat_map(spread) {
            row("lesson", "", &format!("points {measure}"), value);
        }
        for question in &lesson.questions {
            for (measure, value) in [
                ("answered", question.answered),
                ("right at first", question.right_first),
                ("right", question.right),
                ("recorded", question.recorded),
                ("took hints", question.hinted),
                ("hints", question.hints),
            ] {
                row("question", &question.id, measure, value.to_string());
            }
            for wrong in &question.wrong {
                let measure = format!("wrong: {}", wrong.answer);
                row("question", &question.id, &measure, wrong.count.to_string());
            }
        }
        for prediction in &lesson.predictions {
            row("prediction", &prediction.id, "made", prediction.made.to_string());
            for (measure, value) in prediction.relative_error.iter().flat_map(spread) {
                let measure = format!("relative error {measure}");
                row("prediction", &prediction.id, &measure, value);
            }
            for (choice, count) in &prediction.choices {
                let measure = format!("chose: {choice}");
                row("prediction", &prediction.id, &measure, count.to_string());
            }
        }
        for check in &lesson.checks {
            row("check", &check.id, "held", check.held.to_string());
            row("check", &check.id, "skipped", check.skipped.to_string());
        }
    }
    for learner in &cohort.names {
        let name = &learner.name;
        rows.push(cells("", "learner", name, "completed", learner.completed.to_string()));
        rows.push(cells("", "learner", name, "points", learner.points.to_string()));
    }
    rows
}

fn cells(lesson: &str, about: &str, id: &str, measure: &str, value: String) -> [String; 5] {
    let [lesson, about, id, measure] = [lesson, about, id, measure].map(str::to_owned);
    [lesson, about, id, measure, value]
}

fn spread(spread: &Spread) -> Vec<(&'static str, String)> {
    [
        ("min", spread.min),
        ("quarter", spread.quarter),
        ("median", spread.median),
        ("three quarters", spread.three_quarters),
        ("max", spread.max),
    ]
    .map(|(name, value)| (name, mlsys_lab::value::number(value)))
    .into()
}

fn csv(cohort: &Cohort) -> String {
    let mut csv = "lesson,about,id,measure,value\n".to_owned();
    for row in rows(cohort) {
        csv.push_str(&row.map(|text| cell(&text)).join(","));
        csv.push('\n');
    }
    csv
}

fn plain(cohort: &Cohort) -> String {
    let mut text = format!("{} in {}\n", learners(cohort.learners), cohort.course);
    for lesson in &cohort.lessons {
        text.push_str(&format!("\n{}: {}\n", lesson.id, lesson.title));
        for line in lines(lesson) {
            text.push_str(&format!("  {}\n", mlsys_run::console::harmless(&line)));
        }
    }
    if !cohort.names.is_empty() {
        text.push('\n');
    }
    for learner in &cohort.names {
        let name = mlsys_run::console::harmless(&learner.name);
        let (completed, points) = (learner.completed, learner.points);
        text.push_str(&format!("{name}: {completed} completed, {points} points\n"));
    }
    text
}

fn lines(lesson: &LessonReport) -> Vec<String> {
    let share = |part: usize, whole: usize| match whole {
        0 => "none".to_owned(),
        whole => format!("{part} of {whole} ({} %)", 100 * part / whole),
    };
    let mut lines = vec![format!("completed by {}", share(lesson.completed, lesson.opened))];
    if let Some(points) = &lesson.points {
        lines.push(format!(
            "points: median {} of {}, from {} to {}, half between {} and {}",
            points.median, lesson.of, points.min, points.max, points.quarter, points.three_quarters
        ));
    }
    for question in &lesson.questions {
        let outcome = match question.recorded {
            0 => format!(
                "right at first {}, in the end {}",
                share(question.right_first, question.answered),
                share(question.right, question.answered)
            ),
            recorded => format!("{recorded} answers recorded, to be graded with the key"),
        };
        let QuestionReport { id, hints, hinted, .. } = question;
        lines.push(format!("question {id}: {outcome}; {hints} hints by {hinted}"));
        for wrong in question.wrong.iter().take(10) {
            let say = wrong.say.as_ref().map_or(String::new(), |say| format!(": {say}"));
            lines.push(format!("    {} x  {}{say}", wrong.count, wrong.answer));
        }
    }
    for prediction in &lesson.predictions {
        let mut line = format!("prediction {}: made by {}", prediction.id, prediction.made);
        if let Some(error) = &prediction.relative_error {
            let percent = |share: f64| mlsys_lab::value::number(100.0 * share);
            line.push_str(&format!(
                "; off by {} % in the median, half between {} % and {} %",
                percent(error.median),
                percent(error.quarter),
                percent(error.three_quarters)
            ));
        }
        for (choice, count) in &prediction.choices {
            line.push_str(&format!("; {choice}: {}", share(*count, prediction.made)));
        }
        lines.push(line);
    }
    for check in &lesson.checks {
        lines.push(format!(
            "check {}: held for {}, could not be tried by {}",
            check.id, check.held, check.skipped
        ));
    }
    lines
}

fn html(cohort: &Cohort, title: &str) -> String {
    let mut body = format!("<p>{}</p>\n", learners(cohort.learners));
    for lesson in &cohort.lessons {
        body.push_str(&format!(
            "<h2>{}</h2>\n<p class=\"dim\">{}</p>\n<ul>\n",
            escape(&lesson.title),
            escape(&lesson.id)
        ));
        for line in lines(lesson) {
            body.push_str(&format!("<li class=\"text\">{}</li>\n", escape(&line)));
        }
        body.push_str("</ul>\n");
    }
    let rows = cohort.names.iter().map(|learner| {
        let counts = [learner.completed.to_string(), learner.points.to_string()];
        let counts = counts.iter().map(|count| Cell::text(count));
        std::iter::once(Cell::text(&learner.name)).chain(counts).collect()
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    if !rows.is_empty() {
        body.push_str("<h2>Learners</h2>\n");
        table(&["Learner", "Completed", "Points"], &rows, Layout::Scroll, &mut body);
    }
    document(title, &body)
}

fn learners(count: usize) -> String {
    if count == 1 { "1 learner".to_owned() } else { format!("{count} learners") }
}
