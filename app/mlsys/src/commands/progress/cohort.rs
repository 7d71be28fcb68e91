//! `mlsys progress cohort`: a report on the exported progress of many learners.

use std::collections::BTreeMap;
use std::path::Path;

use mlsys_expr::Env;
use mlsys_lab::device::DeviceChoice;
use mlsys_lab::value::{number, plural};
use mlsys_lesson::{
    Answer, Answers, CheckReport, Cohort, Course, CourseId, Grade, Grader, KnownNames, Learner,
    Lesson, LessonId, LessonReport, PredictionReport, Question, QuestionReport, Spread,
    WrongReport,
};

use crate::cli::CohortOf;
use crate::context::Context;
use crate::grader::ProcessGrader;
use crate::page::{Cell, Layout, document, section, table};
use crate::runner::{Runs, known_draws, runs_for_grading};
use mlsys_run::console::shown_path;
use mlsys_run::files;
use mlsys_run::process::{Exit, Failure};
use mlsys_run::storage::read_bounded;
use mlsys_run::submission;
use mlsys_view::csv::cell;
use mlsys_view::xml::escaped;

const MOST: u64 = 16 << 20;

pub fn run(options: &CohortOf, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let library = context.library()?;
    let course = library.course(context.console)?;
    let mut learners = Vec::new();
    let mut left_out = 0;
    for file in &options.files {
        match answers(file, &course.id) {
            Ok(answers) => learners.push((name(file, &answers), answers)),
            Err(reason) => {
                left_out += 1;
                context.console.note(format_args!("left out: {reason}"));
            }
        }
    }
    let place = library.place().map(Path::to_owned);
    let grader =
        ProcessGrader { registry: context.registry, course: place, limits: options.limits };
    let known = known(&course, &learners, context)?;
    let grader = WithRuns { grader, known };
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
        Some(file) if file != Path::new("-") => files::write_output(file, text.as_bytes())?,
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

/// Grades with the values of the labs that answers are held against.
struct WithRuns<'a> {
    grader: ProcessGrader<'a>,
    known: BTreeMap<LessonId, Vec<KnownNames>>,
}

impl Grader for WithRuns<'_> {
    fn grade(&self, lesson: &Lesson, question: &Question, given: &Answer, env: &dyn Env) -> Grade {
        let known = self.known.get(&lesson.front.id).into_iter().flatten();
        match known.into_iter().find(|known| known.fits(lesson)) {
            Some(known) => self.grader.grade(lesson, question, given, known),
            None => self.grader.grade(lesson, question, given, env),
        }
    }
}

/// The values of labs that answers name, in lessons that were opened.
fn known(
    course: &Course,
    learners: &[(String, Answers)],
    context: &mut Context<'_>,
) -> Result<BTreeMap<LessonId, Vec<KnownNames>>, Failure> {
    let request = runs_for_grading(DeviceChoice::Auto, None, context);
    let (runs, mut known) = (Runs::new(None), BTreeMap::new());
    for lesson in course.lessons() {
        let id = &lesson.front.id;
        if learners.iter().any(|(_, answers)| answers.lessons.contains_key(id)) {
            known.insert(id.clone(), known_draws(lesson, &request, &runs, context)?);
        }
    }
    Ok(known)
}

fn answers(file: &Path, course: &CourseId) -> Result<Answers, Failure> {
    let bytes = read_bounded(file, "progress file", MOST)?;
    let named = |error: mlsys_lesson::AnswersError| {
        Failure::Usage(format!("'{}': {error}", shown_path(file)))
    };
    let answers = Answers::parse(&bytes).map_err(named)?;
    answers.refuse_other_course(Some(course)).map_err(named)?;
    if answers.submission.is_some() {
        let changed = |error| Failure::Usage(format!("'{}': {error}", shown_path(file)));
        submission::read(&bytes, course).map_err(changed)?;
    }
    Ok(answers)
}

/// The id of a submission's learner, else what the file is called.
fn name(file: &Path, answers: &Answers) -> String {
    let stem = || file.file_stem().map(|stem| shown_path(Path::new(stem)));
    let learner = answers.submission.as_ref().map(|submission| submission.learner.to_string());
    learner.or_else(stem).unwrap_or_default()
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
    .map(|(name, value)| (name, number(value)))
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
    let mut text = format!("{} in {}\n", plural(cohort.learners, "learner"), cohort.course);
    let mut line = |line: String| text.push_str(&(mlsys_run::console::harmless(&line) + "\n"));
    for lesson in opened(cohort) {
        line(String::new());
        line(format!("{}: {}", lesson.id, lesson.title));
        line(format!("  {}", facts(lesson, cohort.learners)));
        for question in &lesson.questions {
            let [id, first, right, hints] = question_cells(question);
            let after = if hints.is_empty() { hints } else { format!("; {hints}") };
            line(match question.recorded {
                0 => format!("  question {id}: right at first {first}, in the end {right}{after}"),
                _ => format!("  question {id}: {right}{after}"),
            });
            for wrong in wrong_answers(question) {
                line(format!("    {wrong}"));
            }
        }
        for prediction in &lesson.predictions {
            let [id, made, came] = prediction_cells(prediction);
            let after = if came.is_empty() { came } else { format!("; {came}") };
            line(format!("  prediction {id}: made by {made}{after}"));
        }
        for check in &lesson.checks {
            let CheckReport { id, held, skipped } = check;
            line(format!("  check {id}: held for {held}, could not be tried by {skipped}"));
        }
    }
    let unopened = unopened(cohort);
    if !unopened.is_empty() {
        line(format!("\nnot opened: {}", unopened.join(", ")));
    }
    if !cohort.names.is_empty() {
        line(String::new());
    }
    for Learner { name, completed, points } in &cohort.names {
        line(format!("{name}: {completed} completed, {}", plural(*points as usize, "point")));
    }
    text
}

fn opened(cohort: &Cohort) -> impl Iterator<Item = &LessonReport> {
    cohort.lessons.iter().filter(|lesson| lesson.opened > 0)
}

fn unopened(cohort: &Cohort) -> Vec<&str> {
    let unopened = cohort.lessons.iter().filter(|lesson| lesson.opened == 0);
    unopened.map(|lesson| lesson.id.as_str()).collect()
}

fn share(part: usize, whole: usize) -> String {
    match whole {
        0 => "none".to_owned(),
        whole => format!("{part} of {whole} ({} %)", 100 * part / whole),
    }
}

fn facts(lesson: &LessonReport, learners: usize) -> String {
    let opened = format!("opened by {}", share(lesson.opened, learners));
    let completed = format!("completed by {}", share(lesson.completed, lesson.opened));
    let points = lesson.points.map(|points| {
        let Spread { min, quarter, median, three_quarters, max, .. } = points;
        let of = lesson.of;
        format!("points: median {median} of {of}, from {min} to {max}, half between {quarter} and {three_quarters}")
    });
    [opened, completed].into_iter().chain(points).collect::<Vec<_>>().join("; ")
}

/// Its id, who was right at first and in the end, and hints.
fn question_cells(question: &QuestionReport) -> [String; 4] {
    let QuestionReport { answered, right_first, right, recorded, hints, hinted, .. } = question;
    let hints = match hints {
        0 => String::new(),
        _ => format!("{} to {}", plural(*hints, "hint"), plural(*hinted, "learner")),
    };
    let [first, right] = match recorded {
        0 => [right_first, right].map(|part| share(*part, *answered)),
        _ => {
            let recorded = plural(*recorded, "answer");
            [String::new(), format!("{recorded} recorded, to be graded with the key")]
        }
    };
    [question.id.clone(), first, right, hints]
}

/// The most frequent wrong answers, with what the lesson says to them.
fn wrong_answers(question: &QuestionReport) -> impl Iterator<Item = String> {
    const MOST: usize = 10;
    question.wrong.iter().take(MOST).map(|WrongReport { answer, say, count }| {
        let say = say.as_ref().map_or_else(String::new, |say| format!(": {say}"));
        format!("{count} x  {answer}{say}")
    })
}

/// Its id, by how many it was made, and how it came out.
fn prediction_cells(prediction: &PredictionReport) -> [String; 3] {
    let PredictionReport { id, made, relative_error, choices, .. } = prediction;
    let error = relative_error.map(|Spread { median, quarter, three_quarters, .. }| {
        let [median, quarter, three_quarters] =
            [median, quarter, three_quarters].map(|share| number(100.0 * share));
        format!("off by {median} % in the median, half between {quarter} % and {three_quarters} %")
    });
    let choices =
        choices.iter().map(|(choice, count)| format!("{choice}: {}", share(*count, *made)));
    let came: Vec<String> = error.into_iter().chain(choices).collect();
    [id.clone(), made.to_string(), came.join("; ")]
}

fn html(cohort: &Cohort, title: &str) -> String {
    let mut body = format!("<p>{}</p>\n", plural(cohort.learners, "learner"));
    for lesson in opened(cohort) {
        let [title, id, facts] =
            [&lesson.title, &lesson.id, &facts(lesson, cohort.learners)].map(|text| escaped(text));
        body.push_str(&format!("<h2>{title}</h2>\n<p class=\"dim\">{id}</p>\n<p>{facts}</p>\n"));
        let texts =
            |cells: &[String]| -> Vec<Cell> { cells.iter().map(|cell| Cell::text(cell)).collect() };
        let rows = lesson.questions.iter().map(|question| {
            let mut cells: Vec<Cell> = texts(&question_cells(question));
            cells.push(Cell::lines(wrong_answers(question)));
            cells
        });
        let head = ["Question", "Right at first", "In the end", "Hints", "Wrong answers"];
        section("Questions", &head, rows.collect(), Layout::Facts, &mut body);
        let rows = lesson.predictions.iter().map(|one| texts(&prediction_cells(one))).collect();
        section(
            "Predictions",
            &["Prediction", "Made by", "Outcome"],
            rows,
            Layout::Facts,
            &mut body,
        );
        let rows = lesson.checks.iter().map(|CheckReport { id, held, skipped }| {
            texts(&[id.clone(), held.to_string(), skipped.to_string()])
        });
        let head = ["Check", "Held for", "Could not be tried by"];
        section("Checks", &head, rows.collect(), Layout::Facts, &mut body);
    }
    let unopened = unopened(cohort);
    if !unopened.is_empty() {
        let list = escaped(&unopened.join(", "));
        body.push_str(&format!("<h2>Not opened</h2>\n<p>{list}</p>\n"));
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
