//! Lessons without a screen: every lab is run, every prediction measured, every check tried, every answer graded.

mod check;
mod compare;
mod ends;
mod plan;
mod predict;
mod question;
mod work;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mlsys_lab::device::DeviceChoice;
use mlsys_lab::params::Settings;
use mlsys_lesson::Lesson;

use crate::commands::World;
use mlsys_run::exit::Failure;
use mlsys_run::results::{Item, Kind, LessonResult, Results};
use mlsys_run::settings;

pub use check::HardwareRule;
use plan::Plan;
pub use question::Graders;
use work::{Ran, Work};

/// What to run lessons with.
pub struct Request {
    /// The device that was asked for.
    pub device: DeviceChoice,
    /// The seed that was asked for; else each lesson's own.
    pub seed: Option<u64>,
    /// Parameters that were asked for, by the lab's name in its lesson.
    pub set: BTreeMap<String, Settings>,
    /// The folder of data files.
    pub data_dir: Option<PathBuf>,
    /// Worker processes, as `--workers` names them, for labs that split their work.
    pub workers: Option<String>,
    /// What becomes of hardware checks that fail each time.
    pub hardware: HardwareRule,
    /// Whose answers are graded.
    pub graders: Graders,
    /// The folder for records of the runs; none keeps none.
    pub records: Option<PathBuf>,
}

/// Runs lessons one after the other. What was typed wrong is told before anything runs.
pub fn run(
    lessons: &[Lesson],
    request: &Request,
    world: &mut World<'_>,
) -> Result<Results, Failure> {
    plan::refuse_unknown_labs(lessons, &request.set)?;
    let mut plans = Vec::new();
    for lesson in lessons {
        plans.push(plan::of_lesson(lesson, request, world)?);
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
        if world.interrupt.is_asked() {
            break;
        }
        results.lessons.push(run_lesson(lesson, &plan, request, &mut work, world));
    }
    Ok(results)
}

fn run_lesson(
    lesson: &Lesson,
    plan: &[Plan<'_>],
    request: &Request,
    work: &mut Work,
    world: &mut World<'_>,
) -> LessonResult {
    let id = lesson.front.id.as_str();
    let mut items = Vec::new();
    let mut ran = BTreeMap::new();
    for plan in plan {
        let started = Instant::now();
        let one = work.once(id, plan, world);
        items.push(lab_item(plan, &one, started.elapsed()));
        ran.insert(plan.id, one);
    }
    let facts = plan::device_facts(plan, world);
    let comparisons = compare::comparisons(lesson, plan, &ran);
    let env = work::env(plan, &ran, &facts);
    items.extend(lesson.predictions().map(|predict| predict::item(predict, &env)));
    let setting =
        check::Setting { lesson: id, plan, ran: &ran, facts: &facts, rule: request.hardware };
    items.extend(lesson.checks().map(|check| check::item(check, setting, work, world)));
    items.extend(question::items(lesson, &request.graders, &env));
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
    world: &mut World<'_>,
) -> Result<Vec<Trouble>, Failure> {
    let plans = plan::of_lesson(lesson, request, world)?;
    let mut troubles = Vec::new();
    for (directive, plan) in lesson.labs().zip(&plans) {
        let found = ends::troubles(directive, plan, lesson.front.seed, world);
        troubles.extend(
            found.into_iter().map(|message| Trouble {
                line: lesson.source.line(directive.place.start),
                message,
            }),
        );
    }
    Ok(troubles)
}

/// Something that breaks, and the line of the directive that leads to it.
pub struct Trouble {
    /// The line, from 1.
    pub line: usize,
    /// What breaks, and how.
    pub message: String,
}
