//! The values that answers are held against, where labs give them.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use mlsys_lab::device::DeviceChoice;
use mlsys_lesson::{KnownNames, Lesson, LessonEnv};
use mlsys_run::process::Failure;
use mlsys_run::storage::Paths;

use super::together::Machine;
use super::{Graders, HardwareRule, Request, Runs, Worker, plan};
use crate::context::Context;

/// How labs are run for the values that answers are compared with.
pub fn runs_for_grading(device: DeviceChoice, seed: Option<u64>, context: &Context<'_>) -> Request {
    Request {
        device,
        seed,
        set: BTreeMap::new(),
        data_dir: None,
        workers: context.workers.clone(),
        hardware: HardwareRule::Report,
        graders: Graders::Stated,
        jobs: NonZeroUsize::MIN,
        records: None,
    }
}

/// The values that answers are held against, for each draw of the labs that give them.
pub fn known_draws(
    lesson: &Lesson,
    request: &Request,
    runs: &Runs,
    context: &mut Context<'_>,
) -> Result<Vec<KnownNames>, Failure> {
    let named = KnownNames::for_lesson(lesson, &LessonEnv::unrun(lesson));
    let Some(draws) = lesson.lab_draws(&named.labs()) else {
        let id = &lesson.front.id;
        let reason = "the answers name metrics of labs that learners draw in too many ways";
        return Err(Failure::Usage(format!(
            "the lesson {id}: {reason}; `mlsys lesson check` tells"
        )));
    };
    if draws.len() == 1 {
        return Ok(vec![known_names(lesson, request, runs, context)?]);
    }
    // Labs that start from a drawn one have equal settings in each draw: runs are not shared.
    draws.iter().map(|drawn| known_names(drawn, request, &Runs::new(None), context)).collect()
}

/// The values that a lesson's questions refer to, from one run of each lab that they name.
fn known_names(
    lesson: &Lesson,
    request: &Request,
    runs: &Runs,
    context: &mut Context<'_>,
) -> Result<KnownNames, Failure> {
    let unrun = KnownNames::for_lesson(lesson, &LessonEnv::unrun(lesson));
    if unrun.labs().is_empty() {
        return Ok(unrun);
    }
    let plans = plan::plan_lesson(lesson, request, context)?;
    let paths = context.paths.as_ref().ok().map(Paths::runs);
    let mut worker = Worker {
        interrupt: &context.interrupt,
        registry: context.registry,
        machine: &Machine::default(),
        saved: paths.as_deref(),
        console: context.console,
    };
    let mut ran = BTreeMap::new();
    for plan in plans.iter().filter(|plan| unrun.labs().contains(plan.id)) {
        ran.insert(plan.id, runs.once(lesson.front.id.as_str(), plan, &mut worker));
    }
    let facts = plan::device_facts(&plans, paths.as_deref());
    Ok(KnownNames::for_lesson(lesson, &plan::env(&plans, &ran, &facts)))
}
