//! `mlsys lesson check`, `course check` and `lab check`: everything that is wrong with lessons, courses and labs, in one go.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use mlsys_analytic::closed_form::MAX_BYTES;
use mlsys_lab::value::plural;
use mlsys_lab::{Lab, Registry};
use mlsys_lesson::{CourseFiles, Diagnostic, LabDirective, Lesson, LessonEnv, Parsed};

use crate::cli::{CheckLessons, Machine};
use crate::context::Context;
use crate::runner::{self, Graders, HardwareRule, Request};
use mlsys_run::library::{self, Library, labs, languages};
use mlsys_run::process::{Exit, Failure};
use mlsys_run::results::{LessonResult, Verdict};
use mlsys_run::storage::read_bounded;

#[derive(Clone, Copy, Debug)]
pub struct Trial {
    pub depth: Depth,
    pub machine: Machine,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The files are read and their answers tried.
    Read,
    Run,
}

/// Reads, compares, tries and runs the lessons, and tells all that is wrong with any of them.
pub fn lessons(options: &CheckLessons, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let trial = Trial {
        depth: if options.no_run { Depth::Read } else { Depth::Run },
        machine: options.machine,
    };
    if options.library {
        return course(&context.library()?, trial, context);
    }
    context.listen();
    let read = files(&options.paths, context.registry)?;
    let found = report_parsed(&read, context);
    try_lessons(&read, None, found, trial, context)
}

/// Does the same with a course, including its `course.toml`.
pub fn course(library: &Library, trial: Trial, context: &mut Context<'_>) -> Result<Exit, Failure> {
    context.listen();
    let parsed = library.parsed();
    let mut found = Findings::default();
    for diagnostic in parsed.all_diagnostics() {
        found.report(diagnostic, context);
    }
    for (path, file) in library.files().iter().filter(|(path, _)| labs::is_lab(path)) {
        let (lab, _) = labs::read(path, &file.bytes, context.built_in);
        for problem in lab.iter().flat_map(|lab| labs::failures(&file.name, &file.bytes, lab)) {
            found.report(&problem, context);
        }
    }
    let read: Vec<Parsed> = parsed.lessons.into_iter().map(|(_, read)| read).collect();
    let lessons = read.iter().filter_map(|parsed| parsed.lesson.as_ref());
    for diagnostic in mlsys_lesson::telling_lengths(lessons) {
        found.report(&diagnostic, context);
    }
    try_lessons(&read, Some(library), found, trial, context)
}

/// What is wrong with lessons as they read, and in which files.
struct Findings {
    exit: Exit,
    files: BTreeSet<String>,
}

impl Default for Findings {
    fn default() -> Self {
        Self { exit: Exit::Passed, files: BTreeSet::new() }
    }
}

impl Findings {
    fn report(&mut self, diagnostic: &Diagnostic, context: &mut Context<'_>) {
        report(diagnostic, context, &mut self.exit);
        if diagnostic.is_error() {
            self.files.insert(diagnostic.file.clone());
        }
    }
}

fn try_lessons(
    read: &[Parsed],
    course: Option<&Library>,
    found: Findings,
    trial: Trial,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let request = Request {
        device: trial.machine.device,
        seed: trial.machine.seed,
        set: BTreeMap::new(),
        data_dir: None,
        workers: None,
        hardware: HardwareRule::Report,
        graders: Graders::Stated,
        jobs: NonZeroUsize::MIN,
        records: None,
    };
    let elsewhere = CourseFiles::new();
    let (mut exit, mut passed) = (found.exit, Vec::new());
    for parsed in read {
        let Some(lesson) = &parsed.lesson else { continue };
        if lesson.included.as_ref().is_some_and(|included| included.start.is_empty()) {
            passed.push(format!("{}: built in, unchanged", lesson.source.file));
            continue;
        }
        let mut own = check(lesson, trial.depth, &request, context)?;
        let files = course.map_or(&elsewhere, |course| course.files_of(lesson));
        for (file, translation) in languages::all(lesson, files)? {
            for diagnostic in &translation.diagnostics {
                report(diagnostic, context, &mut own);
            }
            if translation.lesson.is_some() {
                passed.push(format!("{file}: good"));
            }
        }
        exit = exit.and(own);
        if own == Exit::Passed && !found.files.contains(&lesson.source.file) {
            passed.push(format!("{}: good", lesson.source.file));
        }
        if context.interrupt.is_asked() {
            return Err(Failure::Interrupted(String::new()));
        }
    }
    for line in passed {
        context.console.note(line);
    }
    context.console.note(format_args!("{} checked", plural(read.len(), "lesson")));
    Ok(exit)
}

fn files(paths: &[PathBuf], registry: &Registry) -> Result<Vec<Parsed>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = files.len();
            lesson_files(path, &mut files)?;
            if files.len() == before {
                return Err(Failure::Usage(format!(
                    "there are no lesson files (*.md) in '{}'",
                    path.display()
                )));
            }
        } else {
            files.push(path.clone());
        }
    }
    // A translation is checked with its lesson.
    for file in &mut files {
        if let Some(original) = languages::original_of(file) {
            *file = original;
        }
    }
    let mut seen = BTreeSet::new();
    files.retain(|file| seen.insert(file.clone()));
    files.iter().map(|path| library::read_file(path, registry)).collect()
}

/// Markdown files in a folder and its folders, in the order of their names; links are not followed.
fn lesson_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    for (path, kind) in library::folder::entries(folder)? {
        if kind.is_dir() {
            lesson_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    Ok(())
}

/// Prints the mistakes inside the lessons and between them.
fn report_parsed(read: &[Parsed], context: &mut Context<'_>) -> Findings {
    let mut found = Findings::default();
    for diagnostic in read.iter().flat_map(|parsed| &parsed.diagnostics) {
        found.report(diagnostic, context);
    }
    let own: Vec<&Lesson> = read.iter().filter_map(|parsed| parsed.lesson.as_ref()).collect();
    let mut lessons: Vec<Lesson> = own.iter().copied().cloned().collect();
    // An author may require built-in lessons; a file with the id of one replaces it.
    let replaced = |lesson: &Lesson| own.iter().any(|mine| mine.front.id == lesson.front.id);
    lessons.extend(
        Library::built_in(context.built_in)
            .into_lessons()
            .into_iter()
            .filter_map(|parsed| parsed.lesson)
            .filter(|lesson| !replaced(lesson)),
    );
    let is_own = |problem: &Diagnostic| own.iter().any(|lesson| lesson.source.file == problem.file);
    for problem in mlsys_lesson::between(&lessons).iter().filter(|problem| is_own(problem)) {
        found.report(problem, context);
    }
    found
}

fn report(diagnostic: &Diagnostic, context: &mut Context<'_>, exit: &mut Exit) {
    context.console.note(format_args!("{diagnostic}\n"));
    if diagnostic.is_error() {
        *exit = exit.and(Exit::Usage);
    }
}

/// What only a lesson that reads can be wrong about.
fn check(
    lesson: &Lesson,
    depth: Depth,
    request: &Request,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let mut exit = Exit::Passed;
    let spoilers = mlsys_lesson::spoilers(lesson, context.registry, &mlsys_view::panel::texts);
    let variants = mlsys_lesson::variants(lesson, context.registry, &mlsys_view::panel::texts);
    let presumptions = mlsys_lesson::presumptions(lesson, context.registry);
    let italics = mlsys_lesson::italic_products(lesson);
    let overflow = mlsys_lesson::overflow(lesson).into_iter();
    let reveals = mlsys_lesson::distant_reveals(lesson);
    let starts = mlsys_lesson::numbered_starts(lesson);
    let unseen = mlsys_lesson::unseen_metrics(lesson, context.registry, &mlsys_view::panel::texts);
    let remarks =
        presumptions.into_iter().chain(italics).chain(reveals).chain(starts).chain(unseen);
    for diagnostic in overflow.chain(spoilers).chain(remarks).chain(variants) {
        report(&diagnostic, context, &mut exit);
    }
    if depth == Depth::Read {
        let env = LessonEnv::unrun(lesson);
        for diagnostic in mlsys_lesson::self_test(lesson, &env, context.registry) {
            report(&diagnostic, context, &mut exit);
        }
        return Ok(exit);
    }
    let file = &lesson.source.file;
    let results = runner::run(std::slice::from_ref(lesson), request, context)?;
    for result in &results.lessons {
        exit = exit.and(report_results(lesson, result, "", context));
    }
    for drawn in live_draws(lesson, context.registry) {
        let results = runner::run(std::slice::from_ref(&drawn), request, context)?;
        for result in &results.lessons {
            let with = format!(" with {}", drawn.lab_numbers_in_words());
            exit = exit.and(report_results(&drawn, result, &with, context));
        }
    }
    for trouble in runner::knob_failures(lesson, request, context)? {
        context
            .console
            .note(format_args!("error: {}\n --> {file}:{}\n", trouble.message, trouble.line));
        exit = exit.and(Exit::Usage);
    }
    Ok(exit)
}

/// The lesson with each number that its live labs draw: what is checked without a run has been with all draws.
fn live_draws(lesson: &Lesson, registry: &Registry) -> Vec<Lesson> {
    let is_live = |lab: &LabDirective| {
        registry.find(&lab.kind.value).is_ok_and(|found| found.schema().is_live())
    };
    let draws = lesson.labs().any(|lab| !lab.vary.is_empty() && is_live(lab));
    if draws { lesson.covering_lab_draws() } else { Vec::new() }
}

fn report_results(
    lesson: &Lesson,
    result: &LessonResult,
    with: &str,
    context: &mut Context<'_>,
) -> Exit {
    let mut exit = Exit::Passed;
    for item in &result.items {
        let what = format!("{} {}{with}", item.kind.word(), item.id);
        let place = format!(" --> {}:{}:{}", lesson.source.file, item.line, item.column);
        match &item.verdict {
            Verdict::Passed => {}
            Verdict::Failed(reason) => {
                let why = item.why.iter().map(|why| format!("\n = {why}")).collect::<String>();
                context.console.note(format_args!("error: {what}: {reason}\n{place}{why}\n"));
                exit = exit.and(Exit::CheckFailed);
            }
            // That this machine lacks a device says nothing about the lesson.
            Verdict::Broken(reason, Exit::DeviceMissing)
            | Verdict::Skipped(reason)
            | Verdict::Unstable(reason) => {
                context
                    .console
                    .note(format_args!("note: {what} was not tried: {reason}\n{place}\n"));
            }
            Verdict::Broken(reason, broken) => {
                context.console.note(format_args!("error: {what}: {reason}\n{place}\n"));
                exit = exit.and(*broken);
            }
        }
    }
    exit
}

/// Reads each file, runs the valid labs with their defaults and presets, and reports all mistakes.
pub fn labs(paths: &[PathBuf], context: &mut Context<'_>) -> Result<Exit, Failure> {
    let mut exit = Exit::Passed;
    for path in paths {
        let name = path.display().to_string();
        let bytes = read_bounded(path, "lab", MAX_BYTES as u64)?;
        let (lab, mut problems) = labs::read(&name, &bytes, context.built_in);
        if let Some(lab) = &lab {
            problems.extend(labs::failures(&name, &bytes, lab));
        }
        library::print_diagnostics(&problems, context.console);
        if problems.iter().any(Diagnostic::is_error) {
            exit = exit.and(Exit::Usage);
        } else if let Some(lab) = lab {
            let schema = lab.schema();
            context.console.line(format_args!(
                "{name}: the lab {} reads and runs: {} parameters, {} metrics, {} panels",
                schema.kind,
                schema.params.len(),
                schema.metrics.len(),
                schema.panels.len()
            ))?;
        }
    }
    Ok(exit)
}
