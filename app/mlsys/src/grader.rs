//! Answers that are executed, such as kernels, are graded in a process of their own, with limits of time and memory: one
//! that hangs or fills the memory loses its own points, and the report has all the others.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mlsys_expr::Env;
use mlsys_lab::Registry;
use mlsys_lesson::{Answer, Grade, Grader, GradingJob, Lesson, Question, Verdict};
use mlsys_run::child;
use mlsys_run::process::{Exit, Failure};
use mlsys_run::storage::read_bounded;
use mlsys_run::submission::{GradedFile, SubmissionJob};
use serde::de::DeserializeOwned;

use crate::cli::{AnswerLimits, GradeFile, ProcessLimits};
use crate::context::Context;

/// Grades answers that are executed in other processes, the others here.
pub struct ProcessGrader<'a> {
    pub registry: &'a Registry,
    /// The course whose labs may grade an answer.
    pub course: Option<PathBuf>,
    pub limits: AnswerLimits,
}

impl Grader for ProcessGrader<'_> {
    fn grade(&self, lesson: &Lesson, question: &Question, given: &Answer, env: &dyn Env) -> Grade {
        if !question.is_executed() {
            return question.grade(given, env, self.registry);
        }
        let job = GradingJob::new(lesson, question, given, env);
        self.elsewhere(&job).unwrap_or_else(|error| {
            let verdict = match error {
                GradingError::Endless { .. }
                | GradingError::Memory { .. }
                | GradingError::Died { .. } => Verdict::Wrong,
                // Not the answer's fault.
                GradingError::Process(_) | GradingError::Json(_) => Verdict::Malformed,
            };
            let feedback = Some(error.to_string());
            Grade { verdict, feedback, points: 0, parts: None, failed: Vec::new() }
        })
    }
}

/// Why a process gave no grade; `what` it was to grade.
#[derive(Debug, thiserror::Error)]
enum GradingError {
    #[error(
        "the grading of this {what} was stopped after {seconds} s: does it contain a loop that never ends? --answer-seconds allows more"
    )]
    Endless { what: &'static str, seconds: u64 },
    #[error(
        "the grading of this {what} needed more than {memory} MiB of memory; --answer-memory allows more"
    )]
    Memory { what: &'static str, memory: u64 },
    #[error("the grading of this {what} ended without a grade: {how}")]
    Died { what: &'static str, how: String },
    #[error("this answer could not be graded in a process of its own: {0}")]
    Process(#[from] io::Error),
    #[error("this answer could not be given to a process of its own: {0}")]
    Json(#[from] serde_json::Error),
}

impl ProcessGrader<'_> {
    fn elsewhere(&self, job: &GradingJob) -> Result<Grade, GradingError> {
        let process = GradingProcess {
            what: "answer",
            arguments: vec!["grade-answer".into()],
            file: None,
            seconds: self.limits.answer_seconds,
            memory: self.limits.answer_memory,
        };
        Ok(serde_json::from_slice(&process.run(self.course.as_deref(), serde_json::to_vec(job)?)?)?)
    }
}

/// Grades a file in a process of its own; what is wrong with the file, or with its answers, becomes a sentence.
pub fn grade_file(
    file: &Path,
    job: &SubmissionJob,
    course: Option<&Path>,
    limits: AnswerLimits,
) -> GradedFile {
    let AnswerLimits { answer_seconds, answer_memory: memory } = limits;
    let executed = job.lessons.iter().map(|lesson| lesson.executed as u64).sum::<u64>();
    let arguments =
        vec!["grade-file".into(), "--answer-seconds".into(), answer_seconds.to_string().into()];
    let seconds = OWN_SECONDS + executed * answer_seconds;
    let process = GradingProcess { what: "file", arguments, file: Some(file), seconds, memory };
    let graded = serde_json::to_vec(job).map_err(GradingError::from).and_then(|job| {
        let graded = process.run(course, job)?;
        Ok(serde_json::from_slice(&graded)?)
    });
    graded.unwrap_or_else(|error| GradedFile::Refused(error.to_string()))
}

/// Seconds that a file may take without its answers that are executed.
const OWN_SECONDS: u64 = 60;

/// This program with a hidden command, which grades the job on its standard input.
struct GradingProcess<'a> {
    what: &'static str,
    arguments: Vec<OsString>,
    /// Given behind `--`, so that no name is read as an option.
    file: Option<&'a Path>,
    seconds: u64,
    memory: u64,
}

impl GradingProcess<'_> {
    fn run(self, course: Option<&Path>, job: Vec<u8>) -> Result<Vec<u8>, GradingError> {
        let Self { what, arguments, file, seconds, memory } = self;
        let mut command = Command::new(env::current_exe()?);
        command.env_remove("MLSYS_COURSE");
        if let Some(course) = course {
            command.arg("--course").arg(course);
        }
        command.args(arguments).args(["--seconds", &seconds.to_string()]);
        command.args(["--memory", &memory.to_string()]);
        if let Some(file) = file {
            command.arg("--").arg(file);
        }
        match child::run(command, job, Duration::from_secs(seconds))? {
            None => Err(GradingError::Endless { what, seconds }),
            Some(ended) if ended.status.success() => Ok(ended.out),
            // What Rust says before it aborts.
            Some(ended) if ended.err.contains("memory allocation of") => {
                Err(GradingError::Memory { what, memory })
            }
            Some(ended) => {
                let said =
                    ended.err.lines().next().map_or_else(String::new, |line| format!(": {line}"));
                Err(GradingError::Died { what, how: format!("{}{said}", ended.status) })
            }
        }
    }
}

/// The process that grades one answer: a job on standard input, its grade on standard output.
pub fn grade_one(limits: ProcessLimits, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let job: GradingJob = read_job(limits, context)?;
    let grade = job.run(context.registry);
    let grade = grade.ok_or_else(|| Failure::usage("the lesson has no such question"))?;
    let grade = serde_json::to_string(&grade).map_err(|error| Failure::Run(error.to_string()))?;
    context.console.line(grade)?;
    Ok(Exit::Passed)
}

/// The process that grades one file: a job on standard input, what came of the file on standard output.
pub fn grade_own_file(asked: &GradeFile, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let ProcessLimits { memory, .. } = asked.process;
    let limits = AnswerLimits { answer_seconds: asked.answer_seconds, answer_memory: memory };
    let job: SubmissionJob = read_job(asked.process, context)?;
    let grader =
        ProcessGrader { registry: context.registry, course: context.course.clone(), limits };
    let graded = match read_bounded(&asked.file, "submission", MAX_SUBMISSION_BYTES) {
        Ok(bytes) => job.run(&bytes, &grader, context.registry),
        Err(failure) => GradedFile::Refused(failure.to_string()),
    };
    let graded = serde_json::to_string(&graded).map_err(|error| Failure::Run(error.to_string()))?;
    context.console.line(graded)?;
    Ok(Exit::Passed)
}

/// The largest file of answers.
const MAX_SUBMISSION_BYTES: u64 = 16 << 20;

/// Sets the limits of this process, reads its job, and opens the course, so that its labs are known.
fn read_job<J: DeserializeOwned>(
    limits: ProcessLimits,
    context: &mut Context<'_>,
) -> Result<J, Failure> {
    restrict(limits).map_err(|error| Failure::Run(format!("limits cannot be set: {error}")))?;
    let job = serde_json::from_reader(BufReader::new(io::stdin()));
    let job = job
        .map_err(|error| Failure::Usage(format!("standard input is nothing to grade: {error}")))?;
    if context.course.is_some() {
        context.library()?;
    }
    Ok(job)
}

/// Sets the limits of this process: memory that it writes to, and time of the processor, should its parent have died.
#[cfg(unix)]
fn restrict(ProcessLimits { seconds, memory }: ProcessLimits) -> rustix::io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = |resource, most: u64| {
        let hard = getrlimit(resource).maximum;
        let most = Some(hard.map_or(most, |hard| hard.min(most)));
        setrlimit(resource, Rlimit { current: most, maximum: most })
    };
    // On Linux what is mapped from files, such as the program, does not count as data; elsewhere only the heap would.
    let memory_of = if cfg!(target_os = "linux") { Resource::Data } else { Resource::As };
    limit(Resource::Cpu, seconds.saturating_add(1))?;
    limit(memory_of, memory.saturating_mul(1 << 20))
}

#[cfg(not(unix))]
fn restrict(_: ProcessLimits) -> io::Result<()> {
    Ok(())
}
