//! `mlsys grade`: learners' submissions as a gradebook, each graded in a process of its own.

mod report;
mod tables;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use mlsys_lesson::{Course, LearnerId, Lesson};
use mlsys_run::console::{Console, shown_path};
use mlsys_run::process::{Exit, Failure};
use mlsys_run::submission::{GradedFile, GradedSubmission, LessonJob, SubmissionJob, version_of};
use mlsys_run::{files, library};
use mlsys_view::text::one_line;
use serde::Serialize;

use super::run::{completed, grading_course};
use crate::cli::Grade;
use crate::context::Context;
use crate::grader::grade_file;
use crate::reports;
use crate::runner::{Runs, known_draws, runs_for_grading, together};

/// What came of all files.
#[derive(Serialize)]
struct Gradebook {
    course: String,
    title: String,
    /// Whether grading was interrupted, so that files are missing.
    interrupted: bool,
    /// By learner.
    learners: Vec<Graded>,
    /// Files without grades, and why.
    refused: Vec<Refused>,
    /// Files in place of which a later one of the same learner counts.
    replaced: Vec<Refused>,
}

#[derive(Serialize)]
struct Graded {
    file: String,
    points: f64,
    of: u32,
    #[serde(flatten)]
    submission: GradedSubmission,
}

#[derive(Serialize)]
struct Refused {
    file: String,
    reason: String,
}

pub fn run(options: &Grade, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let outputs = outputs(&options.output)?;
    let files = files(&options.submissions)?;
    let started = SystemTime::now();
    let (place, job, title, lessons) = job(options, context)?;
    let jobs = options
        .jobs
        .unwrap_or_else(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
    let limits = options.limits;
    let interrupt = context.interrupt.clone();
    let grade = |index: usize, console: &mut Console| {
        let file = &files[index];
        if interrupt.is_asked() {
            return None;
        }
        console.progress(|| format!("grading {} of {}", index + 1, files.len()));
        let graded = grade_file(file, &job, place.as_deref(), limits);
        // What a signal to the whole group has ended was not the file's fault.
        (!interrupt.is_asked()).then(|| (file.clone(), graded))
    };
    let graded = together::run((files.len(), jobs), context.console, grade);
    let interrupted = interrupt.is_asked();
    let book = gradebook(graded, interrupted, job.course.to_string(), title);
    let json = serde_json::to_string_pretty(&book).map_err(|error| Failure::Run(error.to_string()));
    let texts = [tables::csv(&book), json? + "\n", tables::html(&book)];
    for (path, text) in outputs.iter().zip(texts) {
        files::write_output(path, text.as_bytes())?;
    }
    reports::write(&options.report, &report::results(&book, &lessons, started), context.console)?;
    for Refused { file, reason } in &book.refused {
        context.console.note(format_args!("not graded: {file}: {reason}"));
    }
    let paths = outputs.iter().map(|path| path.display().to_string());
    for line in tables::summary(&book).into_iter().chain(paths) {
        // Standard output may be a report.
        if options.report.iter().any(|target| target.file.is_none()) {
            context.console.note(line);
        } else {
            context.console.line(line)?;
        }
    }
    Ok(match (interrupted, book.refused.is_empty()) {
        (true, _) => {
            let done = book.learners.len() + book.refused.len();
            context.console.note(format_args!("interrupted: {done} of {} files", files.len()));
            Exit::Interrupted
        }
        (false, true) => Exit::Passed,
        (false, false) => Exit::CheckFailed,
    })
}

/// The table, JSON and the page, by the name of the table.
fn outputs(table: &Path) -> Result<[PathBuf; 3], Failure> {
    let outputs = ["csv", "json", "html"].map(|ending| table.with_extension(ending));
    if outputs[0] != table {
        return Err(Failure::Usage(format!(
            "-o {}: name the table, such as grades.csv; grades.json and grades.html are written next to it",
            table.display()
        )));
    }
    Ok(outputs)
}

/// The most files that are graded at once; more are another folder, such as a home folder.
const MOST_FILES: usize = 20_000;

/// The files that were named and those in folders that were named, hidden ones and links left out.
fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in named {
        if path.is_dir() {
            collect(path, &mut files)?;
        } else {
            files.push(path.clone());
        }
    }
    if files.is_empty() {
        let named: Vec<String> = named.iter().map(|path| path.display().to_string()).collect();
        return Err(Failure::Usage(format!("there are no files in {}", named.join(", "))));
    }
    Ok(files)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    for (entry, kind) in library::folder::entries(folder)? {
        let name = entry.file_name().map(|name| name.to_string_lossy());
        if name.is_none_or(|name| name.starts_with('.')) {
            continue;
        }
        if kind.is_dir() {
            collect(&entry, files)?;
        } else if kind.is_file() {
            files.push(entry);
        }
        if files.len() > MOST_FILES {
            return Err(Failure::Usage(format!(
                "'{}' has more than {MOST_FILES} files; grade them in parts",
                folder.display()
            )));
        }
    }
    Ok(())
}

/// What all files are graded by: the complete course, and its place if it is not the built-in one.
fn job(
    options: &Grade,
    context: &mut Context<'_>,
) -> Result<(Option<PathBuf>, SubmissionJob, String, Vec<Lesson>), Failure> {
    let (library, key) = grading_course(options.key.as_deref(), context)?;
    let mut lessons = library.all(context.console)?;
    let Course { id, title, salt, grading, .. } = library.course(context.console)?;
    if let Some(key) = key {
        let complete = lessons.into_iter().map(|lesson| completed(lesson, &key, context.registry));
        lessons = complete.collect::<Result<_, Failure>>()?;
    }
    let is_withheld = |lesson: &&Lesson| lesson.questions().any(|asked| asked.kind.is_withheld());
    if let Some(lesson) = lessons.iter().find(is_withheld) {
        return Err(Failure::Usage(format!(
            "the lesson {} has no answers to grade by: --key names the complete course, or the key",
            lesson.front.id
        )));
    }
    context.listen();
    let request = runs_for_grading(options.machine.device, options.machine.seed, context);
    let runs = Runs::new(None);
    let mut jobs = Vec::new();
    for lesson in &lessons {
        jobs.push(LessonJob {
            text: lesson.source.text.clone(),
            version: version_of(lesson),
            known: known_draws(lesson, &request, &runs, context)?,
            executed: lesson.questions().filter(|question| question.is_executed()).count(),
        });
    }
    let received = options.received;
    let job = SubmissionJob { course: id, salt, rules: grading, received, lessons: jobs };
    Ok((library.place().map(Path::to_owned), job, title, lessons))
}

/// Of several files of one learner the one that was exported last counts.
fn gradebook(
    files: Vec<(PathBuf, GradedFile)>,
    interrupted: bool,
    course: String,
    title: String,
) -> Gradebook {
    let (mut refused, mut replaced) = (Vec::new(), Vec::new());
    let mut learners: BTreeMap<LearnerId, Graded> = BTreeMap::new();
    for (file, graded) in files {
        let file = shown_path(&file);
        let submission = match graded {
            GradedFile::Graded(submission) => submission,
            GradedFile::Refused(reason) => {
                refused.push(Refused { file, reason: one_line(&reason) });
                continue;
            }
        };
        let (points, of) = (submission.points(), submission.of());
        let newer = Graded { file, points, of, submission };
        let id = newer.submission.learner.clone();
        let exported = |graded: &Graded| graded.submission.exported;
        let older = match learners.get_mut(&id) {
            Some(known) if exported(known) <= exported(&newer) => std::mem::replace(known, newer),
            Some(_) => newer,
            None => {
                learners.insert(id, newer);
                continue;
            }
        };
        let counts = learners.get(&id).map_or("", |graded| graded.file.as_str());
        let reason = format!("{counts} counts: the same learner has exported it later");
        replaced.push(Refused { file: older.file, reason });
    }
    let learners = learners.into_values().collect();
    Gradebook { course, title, interrupted, learners, refused, replaced }
}
