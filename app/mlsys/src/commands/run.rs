//! `mlsys run`: lessons without a screen; `--key` adds the answers that learners were not given.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::SystemTime;
use std::{fs, thread};

use mlsys_lab::Registry;
use mlsys_lesson::{Answers, CourseId, Key, LearnerId, Lesson, Parsed};
use mlsys_run::library::Library;
use mlsys_run::process::{Exit, Failure};
use mlsys_run::results::{Ending, Results};
use mlsys_run::settings;
use mlsys_run::storage::read_bounded;

use crate::cli::{RunLessons, Shard};
use crate::context::Context;
use crate::reports;
use crate::runner::{self, Graders, HardwareRule, Request};

/// Runs lessons, writes the reports, and says how it went.
pub fn run(options: &RunLessons, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let started = SystemTime::now();
    let (library, key) = grading_course(options.key.as_deref(), context)?;
    let lessons = if options.all {
        let all = library.all(context.console);
        all.and_then(|all| chosen(all, options.filter.as_deref(), options.shard))
    } else {
        library.valid(options.lessons.iter().map(String::as_str), context.console)
    };
    let mut lessons = match lessons {
        Ok(lessons) => lessons,
        Err(failure) => {
            // A report of an earlier run would be taken for that of this one.
            let ending = Ending::Refused(failure.to_string());
            let results = Results { started: Some(started), ending, ..Results::default() };
            let files = options.report.iter().filter(|target| target.file.is_some());
            reports::write(&files.cloned().collect::<Vec<_>>(), &results, context.console)?;
            return Err(failure);
        }
    };
    if lessons.is_empty() {
        context.console.note("no lesson falls to this shard: there are more shards than lessons");
    }
    if let Some(key) = key {
        let completed = lessons.into_iter().map(|lesson| completed(lesson, &key, context.registry));
        lessons = completed.collect::<Result<_, Failure>>()?;
    }
    let graders = graders(options, &lessons, &library, context)?;
    if let Some(learner) = learner(&graders).or(context.learner.as_ref()) {
        let sheet = library.sheet(learner);
        lessons = lessons.iter().map(|lesson| lesson.drawn(&sheet)).collect();
    }
    let request = Request {
        device: options.machine.device,
        seed: options.machine.seed,
        set: settings::for_lesson(&options.set)?,
        data_dir: options.data_dir.clone(),
        workers: context.workers.clone(),
        hardware: if options.strict_hardware { HardwareRule::Fail } else { HardwareRule::Report },
        graders,
        jobs: options
            .jobs
            .unwrap_or_else(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)),
        records: context.runs(),
    };
    context.listen();
    let results = runner::run(&lessons, &request, context)?;
    reports::write(&options.report, &results, context.console)?;
    let exit = results.exit();
    let reports_to_stdout = options.report.iter().any(|target| target.file.is_none());
    print_summary(&results, exit, reports_to_stdout, context)?;
    Ok(results.lost.as_ref().map_or(exit, |loss| exit.and(loss.exit())))
}

/// The lessons with the filter's text in their id or title, and of them those of the shard.
fn chosen(
    lessons: Vec<Lesson>,
    filter: Option<&str>,
    shard: Option<Shard>,
) -> Result<Vec<Lesson>, Failure> {
    let filter = filter.unwrap_or_default().to_lowercase();
    let contains = |text: &str| text.to_lowercase().contains(&filter);
    let fits =
        |lesson: &Lesson| contains(lesson.front.id.as_str()) || contains(&lesson.front.title);
    let fitting: Vec<Lesson> = lessons.into_iter().filter(fits).collect();
    if fitting.is_empty() {
        return Err(Failure::Usage(format!(
            "--filter {filter}: no lesson's id or title contains it"
        )));
    }
    let Some(Shard { index, of }) = shard else { return Ok(fitting) };
    let part = fitting.into_iter().skip(index - 1).step_by(of);
    Ok(part.collect())
}

/// The summary: a result where the lessons could be run, else a message, which leaves standard output empty.
fn print_summary(
    results: &Results,
    exit: Exit,
    reports_to_stdout: bool,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let is_result = match exit {
        Exit::Passed | Exit::CheckFailed => !reports_to_stdout,
        Exit::Interrupted | Exit::Usage | Exit::DeviceMissing | Exit::RunFailed => false,
    };
    for line in reports::summary_lines(results) {
        if is_result {
            context.console.line(line)?;
        } else {
            context.console.note(line);
        }
    }
    if exit == Exit::Interrupted {
        context.console.note("interrupted");
    }
    Ok(())
}

/// The learner that handed the answers in.
fn learner(graders: &Graders) -> Option<&LearnerId> {
    match graders {
        Graders::Learner { answers, .. } => answers.submission.as_ref().map(|one| &one.learner),
        Graders::Stated => None,
    }
}

/// A learner's answers, or the lessons' own; answers to unknown questions are a warning.
fn graders(
    options: &RunLessons,
    lessons: &[Lesson],
    library: &Library,
    context: &mut Context<'_>,
) -> Result<Graders, Failure> {
    let Some(file) = &options.answers else { return Ok(Graders::Stated) };
    let failed = |reason: String| Failure::Usage(format!("answers '{}': {reason}", file.display()));
    let bytes = fs::read(file).map_err(|error| failed(format!("cannot be read: {error}")))?;
    let answers = Answers::parse(&bytes).map_err(|error| failed(error.to_string()))?;
    answers
        .refuse_other_course(library.id().as_ref())
        .map_err(|error| failed(error.to_string()))?;
    for stray in lessons.iter().flat_map(|lesson| answers.strays(lesson)) {
        context.console.warn(stray);
    }
    let course = library.place().map(Path::to_owned);
    Ok(Graders::Learner { answers, course, limits: options.limits })
}

const MAX_KEY_BYTES: u64 = 16 << 20;

/// The course that grades, and the key to its answers where it has none.
pub fn grading_course(
    key: Option<&Path>,
    context: &mut Context<'_>,
) -> Result<(Library, Option<Key>), Failure> {
    let Some(path) = key else { return Ok((context.library()?, None)) };
    let failed = |error: KeyError| Failure::Usage(format!("the key '{}': {error}", path.display()));
    let is_course =
        path.is_dir() || read_bounded(path, "key", MAX_KEY_BYTES)?.starts_with(&[0x1f, 0x8b]);
    if is_course {
        let complete = context.open_course(path)?;
        if context.course.is_some() {
            same_course(complete.id(), context.library()?.id()).map_err(failed)?;
        }
        return Ok((complete, None));
    }
    let key = Key::parse(&read_bounded(path, "key", MAX_KEY_BYTES)?);
    let key = key.map_err(|error| failed(error.into()))?;
    let library = context.library()?;
    same_course(Some(key.course.clone()), library.id()).map_err(failed)?;
    Ok((library, Some(key)))
}

#[derive(Debug, thiserror::Error)]
enum KeyError {
    #[error(
        "it is of the course {0}, and the lessons are of the course {1}; name the right course with --course"
    )]
    OtherCourse(CourseId, CourseId),
    #[error(transparent)]
    Unreadable(#[from] mlsys_lesson::KeyError),
}

fn same_course(theirs: Option<CourseId>, own: Option<CourseId>) -> Result<(), KeyError> {
    match (theirs, own) {
        (Some(theirs), Some(own)) if theirs != own => Err(KeyError::OtherCourse(theirs, own)),
        (Some(_) | None, _) => Ok(()),
    }
}

pub fn completed(lesson: Lesson, key: &Key, registry: &Registry) -> Result<Lesson, Failure> {
    if !lesson.questions().any(|question| question.kind.is_withheld()) {
        return Ok(lesson);
    }
    let text = key.complete(&lesson).map_err(|error| Failure::Usage(error.to_string()))?;
    let file = &lesson.source.file;
    let Parsed { lesson: complete, diagnostics } =
        mlsys_lesson::read(file, text.as_bytes(), registry);
    complete.ok_or_else(|| {
        let first: String = diagnostics.iter().take(1).map(ToString::to_string).collect();
        Failure::Usage(format!("the key's answers for {} do not read: {first}", lesson.front.id))
    })
}
