//! Lessons without a screen: every lab is run, every prediction measured, every check tried, every answer graded.

mod ends;
mod grade;
mod plan;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use grade::{check_item, predict_item, question_items};
use mlsys_lab::device::DeviceChoice;
use mlsys_lab::params::Settings;
use mlsys_lab::schema::Draw;
use mlsys_lesson::Lesson;
use mlsys_run::outcome::Outcome;
use mlsys_run::process::Failure;
use mlsys_run::results::{Comparison, Item, Kind, LessonResult, Results};
use mlsys_run::settings;
use mlsys_view::attempts::{FinishedRun, RunComparison, lines};
use plan::{Plan, Ran, Work};

use crate::context::Context;

pub use grade::{Graders, HardwareRule};

/// What to run lessons with.
pub struct Request {
    pub device: DeviceChoice,
    /// The seed that was asked for; else each lesson's own.
    pub seed: Option<u64>,
    /// Parameters that were asked for, by the lab's name in its lesson.
    pub set: BTreeMap<String, Settings>,
    pub data_dir: Option<PathBuf>,
    /// Worker processes, as `--workers` names them, for labs that split their work.
    pub workers: Option<String>,
    /// What becomes of hardware checks that fail each time.
    pub hardware: HardwareRule,
    pub graders: Graders,
    /// The folder for records of the runs; none keeps none.
    pub records: Option<PathBuf>,
}

/// Runs lessons one after the other. What was typed wrong is told before anything runs.
pub fn run(
    lessons: &[Lesson],
    request: &Request,
    context: &mut Context<'_>,
) -> Result<Results, Failure> {
    plan::refuse_unknown_labs(lessons, &request.set)?;
    let mut plans = Vec::new();
    for lesson in lessons {
        plans.push(plan::of_lesson(lesson, request, context)?);
    }
    let splits = |plan: &Plan<'_>| settings::takes_workers(plan.schema());
    if request.workers.is_some() && !plans.iter().flatten().any(splits) {
        return Err(Failure::usage(
            "--workers changes nothing here: no lab of these lessons splits its work over workers",
        ));
    }
    let mut work = Work::new(request.records.clone());
    let mut results = Results::default();
    for (lesson, plan) in lessons.iter().zip(plans) {
        if context.interrupt.is_asked() {
            break;
        }
        results.lessons.push(run_lesson(lesson, &plan, request, &mut work, context));
    }
    Ok(results)
}

fn run_lesson(
    lesson: &Lesson,
    plan: &[Plan<'_>],
    request: &Request,
    work: &mut Work,
    context: &mut Context<'_>,
) -> LessonResult {
    let id = lesson.front.id.as_str();
    let mut items = Vec::new();
    let mut ran = BTreeMap::new();
    for plan in plan {
        let started = Instant::now();
        let one = work.once(id, plan, context);
        items.push(lab_item(plan, &one, started.elapsed()));
        ran.insert(plan.id, one);
    }
    let facts = plan::device_facts(plan, context);
    let comparisons = comparisons(lesson, plan, &ran);
    let env = plan::env(plan, &ran, &facts);
    items.extend(lesson.predictions().map(|predict| predict_item(predict, &env)));
    let setting =
        grade::Setting { lesson: id, plan, ran: &ran, facts: &facts, rule: request.hardware };
    items.extend(lesson.checks().map(|check| check_item(check, setting, work, context)));
    items.extend(question_items(lesson, &request.graders, &env, context.registry));
    LessonResult {
        id: id.to_owned(),
        title: lesson.front.title.clone(),
        seed: request.seed.unwrap_or(lesson.front.seed),
        items,
        comparisons,
    }
}

fn lab_item(plan: &Plan<'_>, ran: &Ran, elapsed: Duration) -> Item {
    let (device, metrics) = match ran {
        Ran::Finished(finished, device) => {
            let metrics = finished.data.metrics();
            let metrics =
                metrics.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            (device.clone(), metrics)
        }
        Ran::Not(_) => (None, BTreeMap::new()),
    };
    Item {
        id: plan.id.to_owned(),
        about: plan.schema().kind.clone(),
        kind: Kind::Lab { device, metrics },
        verdict: ran.verdict(),
        elapsed,
    }
}

/// What breaks when each knob of a lesson's labs is put to its ends.
pub fn knob_troubles(
    lesson: &Lesson,
    request: &Request,
    context: &mut Context<'_>,
) -> Result<Vec<KnobFailure>, Failure> {
    let plans = plan::of_lesson(lesson, request, context)?;
    let mut troubles = Vec::new();
    for (directive, plan) in lesson.labs().zip(&plans) {
        let found = ends::troubles(directive, plan, lesson.front.seed, context);
        troubles.extend(found.into_iter().map(|message| KnobFailure {
            line: lesson.source.line(directive.place.start),
            message,
        }));
    }
    Ok(troubles)
}

/// Something that breaks, and the line of the directive that leads to it.
pub struct KnobFailure {
    pub line: usize,
    /// What breaks, and how.
    pub message: String,
}

/// The pictures of several runs that any lab of the lesson declares, each once.
pub fn comparisons(
    lesson: &Lesson,
    plans: &[Plan<'_>],
    ran: &BTreeMap<&str, Ran>,
) -> Vec<Comparison> {
    let finished = plans.iter().filter_map(|plan| match ran.get(plan.id)? {
        Ran::Finished(finished, _) if matches!(finished.outcome, Outcome::Finished) => {
            let params = plan.params.iter();
            let params = params.map(|(name, value)| (name.to_owned(), value.clone()));
            let of = (Some(lesson.front.id.to_string()), plan.id.to_owned());
            let data = &finished.data;
            Some(Arc::new(FinishedRun::new(plan.schema(), of, params.collect(), Vec::new(), data)))
        }
        Ran::Finished(..) | Ran::Not(_) => None,
    });
    let all: Vec<Arc<FinishedRun>> = finished.collect();
    let mut found: Vec<Comparison> = Vec::new();
    for plan in plans {
        let panels = plan.schema().panels.iter();
        for panel in panels.filter(|panel| panel.draw == Draw::Attempts) {
            if found.iter().any(|one| one.panel == panel.name) {
                continue;
            }
            let company = RunComparison { all: &all, own: None, goals: lesson.goals(&panel.name) };
            let lines = lines(plan.schema(), panel, &company);
            if !lines.is_empty() {
                found.push(Comparison { panel: panel.name.clone(), lines });
            }
        }
    }
    found
}
