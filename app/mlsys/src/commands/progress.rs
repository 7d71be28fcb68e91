//! `mlsys progress`: answers and progress shown, exported and imported.

mod cohort;

use std::fs;
use std::path::Path;

use mlsys_lab::value::plural;
use mlsys_lesson::{Answer, Answers, Event, Grader, Lesson, LessonEnv, Progress, State, Verdict};
use serde_json::{Value as Json, json};

use crate::cli::{self, AnswerLimits, Listing};
use crate::context::Context;
use crate::grader::ProcessGrader;
use crate::table::Width;
use mlsys_run::files;
use mlsys_run::process::{Exit, Failure};
use mlsys_run::storage::ProgressLog;
use mlsys_run::submission;

pub fn run(asked: &cli::Progress, context: &mut Context<'_>) -> Result<Exit, Failure> {
    match asked {
        cli::Progress::Show(listing) => show(*listing, context),
        cli::Progress::Export { file } => export(file, context),
        cli::Progress::Import { file } => import(file, context),
        cli::Progress::Cohort(options) => cohort::run(options, context),
    }
}

fn show(listing: Listing, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let course = context.library()?.course(context.console)?;
    let progress = context.progress(&course.id)?;
    if listing.json {
        let lessons: Vec<Json> =
            course.lessons().iter().map(|lesson| object(lesson, &progress)).collect();
        context.console.line(json!({ "lessons": lessons }))?;
    } else {
        let rows: Vec<_> = course.lessons().iter().map(|lesson| row(lesson, &progress)).collect();
        context.console.lines(Width::of_output().table(&rows, ""))?;
    }
    Ok(Exit::Passed)
}

fn row(lesson: &Lesson, progress: &Progress) -> Vec<String> {
    let summary = progress.summary(lesson);
    vec![
        lesson.front.id.to_string(),
        state(summary.state).to_owned(),
        summary.words(),
        summary.points_words(),
    ]
}

fn object(lesson: &Lesson, progress: &Progress) -> Json {
    let summary = progress.summary(lesson);
    json!({
        "id": lesson.front.id.as_str(),
        "state": state(summary.state),
        "right": summary.right,
        "recorded": summary.recorded,
        "questions": summary.questions,
        "score": summary.points,
        "points": summary.of,
    })
}

fn state(state: State) -> &'static str {
    match state {
        State::New => "new",
        State::Started => "started",
        State::Completed => "completed",
    }
}

fn export(file: &Path, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let failed = |reason: String| {
        Failure::Usage(format!("'{}' cannot be written: {reason}", file.display()))
    };
    let course = context.library()?.course(context.console)?;
    let mut answers = context.progress(&course.id)?.answers().recorded_in(&course);
    if let Some(learner) = &context.learner {
        let (lessons, given) = (answers.lessons.len(), &answers.lessons);
        let given: usize = given.values().map(std::collections::BTreeMap::len).sum();
        context.console.note(format_args!(
            "submission of {learner} to {}: {} from {lessons} of {}",
            course.id,
            plural(given, "answer"),
            plural(course.lessons().len(), "lesson")
        ));
        answers = submission::sign(answers, learner.clone(), &course)
            .map_err(|error| failed(error.to_string()))?;
    }
    if context.learner.is_none() && answers.lessons.is_empty() {
        context.console.warn("nothing is answered yet in this course: the file has no answers");
    }
    let text = answers.to_json().map_err(|error| failed(error.to_string()))?;
    if file == Path::new("-") {
        context.console.raw(&text)?;
    } else {
        files::write_output(file, text.as_bytes())?;
    }
    Ok(Exit::Passed)
}

fn import(file: &Path, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let failed = |reason: String| Failure::Usage(format!("answers '{}': {reason}", file.display()));
    let bytes = fs::read(file).map_err(|error| failed(format!("cannot be read: {error}")))?;
    let answers = Answers::parse(&bytes).map_err(|error| failed(error.to_string()))?;
    let path = context.paths.as_ref()?.progress();
    let library = context.library()?;
    let course = library.course(context.console)?;
    answers.refuse_other_course(Some(&course.id)).map_err(|error| failed(error.to_string()))?;
    let (mut log, known, trouble) = ProgressLog::open(&path, &course.id);
    if let Some(trouble) = &trouble {
        context.console.warn(trouble);
    }
    let place = library.place().map(Path::to_owned);
    let limits = AnswerLimits::default();
    let grader = ProcessGrader { registry: context.registry, course: place, limits };
    let (mut imported, mut retained) = (0, 0);
    for (id, given) in &answers.lessons {
        let Some(lesson) = course.find(id) else {
            context
                .console
                .warn(format_args!("there is no lesson {id}; its answers were left out"));
            continue;
        };
        for stray in answers.strays(lesson) {
            context.console.warn(stray);
        }
        for (question, answer) in given {
            let Some((event, is_right)) = event(lesson, question, answer, &grader) else {
                continue;
            };
            let before = known.lesson(id).and_then(|lesson| lesson.answers.get(question));
            // The local answer is kept, unless only the imported one is right.
            if before.is_some_and(|before| before.right || !is_right) {
                retained += 1;
                continue;
            }
            log.append(&event)
                .map_err(|error| failed(format!("progress cannot be written: {error}")))?;
            imported += 1;
        }
    }
    if let Some(lost) = log.close() {
        return Err(failed(lost.to_string()));
    }
    let retained = match retained {
        0 => String::new(),
        retained => format!("; {} of this folder kept", plural(retained, "answer")),
    };
    context.console.note(format_args!("{} taken over{retained}", plural(imported, "answer")));
    Ok(Exit::Passed)
}

/// The event of an answer and whether it is right, graded without runs: an answer about values of a run counts once it is given again.
fn event(
    lesson: &Lesson,
    question: &str,
    answer: &Answer,
    grader: &dyn Grader,
) -> Option<(Event, bool)> {
    let asked = lesson.question(question)?;
    let grade = grader.grade(lesson, asked, answer, &LessonEnv::unrun(lesson));
    let right = grade.verdict == Verdict::Right;
    let event = Event::AnswerGiven {
        lesson: lesson.front.id.clone(),
        question: question.to_owned(),
        given: answer.clone(),
        right,
        points: grade.points,
    };
    Some((event, right))
}
