//! Runs of labs: equal ones once, and what they left for the lesson's expressions.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use mlsys_device::processor;
use mlsys_lab::control::Limits;
use mlsys_lab::device::{DeviceId, DeviceInfo};
use mlsys_lab::params::Params;
use mlsys_lesson::{DeviceFacts, LessonEnv};

use super::plan::{Place, Plan};
use crate::commands::World;
use mlsys_run::execute::{Finished, Order, execute, time_limit};
use mlsys_run::exit::Exit;
use mlsys_run::results::Verdict;
use mlsys_run::sources;

/// What became of a lab.
#[derive(Clone)]
pub enum Ran {
    /// It was run, on the device named; labs that answer at once have none.
    Finished(Rc<Finished>, Option<String>),
    /// It was not, and what that means.
    Not(Verdict),
}

/// The runs of one invocation.
pub struct Work {
    records: Option<PathBuf>,
    done: Vec<Done>,
}

/// A run that an equal one need not repeat.
struct Done {
    kind: String,
    params: Params,
    device: DeviceId,
    /// Of a lab that starts from another: its lesson, in which that other is.
    within: Option<String>,
    finished: Rc<Finished>,
}

impl Ran {
    /// Whether the lab did what it was to do.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Not(verdict) => verdict.clone(),
            Self::Finished(finished, _) => match finished.trouble() {
                None => Verdict::Passed,
                Some(trouble) => Verdict::Broken(trouble, finished.exit()),
            },
        }
    }
}

impl Work {
    /// No runs yet; records go into this folder, if there is one.
    pub fn new(records: Option<PathBuf>) -> Self {
        Self { records, done: Vec::new() }
    }

    /// Runs a lab, unless an equal run has been done.
    pub fn once(&mut self, lesson: &str, plan: &Plan<'_>, world: &mut World<'_>) -> Ran {
        let device = match device_of(plan) {
            Ok(device) => device,
            Err(verdict) => return Ran::Not(verdict),
        };
        let kind = &plan.schema().kind;
        let others = sources::named(plan.schema(), &plan.params);
        let within = (!others.is_empty()).then(|| lesson.to_owned());
        let equal = |done: &&Done| {
            done.kind == *kind
                && done.device == device.id
                && done.params == plan.params
                && done.within == within
        };
        if let Some(done) = self.done.iter().find(equal) {
            return Ran::Finished(Rc::clone(&done.finished), name_of(plan));
        }
        let ran = self.again(lesson, plan, world);
        if let Ran::Finished(finished, _) = &ran {
            let (kind, params, finished) = (kind.clone(), plan.params.clone(), Rc::clone(finished));
            self.done.push(Done { kind, params, device: device.id, within, finished });
        }
        ran
    }

    /// Runs a lab, whether or not an equal run has been done.
    pub fn again(&mut self, lesson: &str, plan: &Plan<'_>, world: &mut World<'_>) -> Ran {
        let device = match device_of(plan) {
            Ok(device) => device,
            Err(verdict) => return Ran::Not(verdict),
        };
        if world.interrupt.is_asked() {
            return Ran::Not(Verdict::Broken(
                "interrupted before it ran".to_owned(),
                Exit::Interrupted,
            ));
        }
        let limits = Limits { steps: None, time: Some(time_limit(plan.schema(), &device)) };
        let order = Order {
            label: &format!("{lesson} {}", plan.id),
            lab: plan.lab,
            params: plan.params.clone(),
            device,
            limits,
            lesson: Some((lesson, plan.id)),
            runs: self.records.as_deref(),
            sources: plan.sources.clone(),
        };
        Ran::Finished(Rc::new(execute(order, &world.interrupt, world.console)), name_of(plan))
    }
}

pub(super) fn device_of(plan: &Plan<'_>) -> Result<DeviceInfo, Verdict> {
    match &plan.place {
        Place::Anywhere => Ok(processor()),
        Place::On(device) => Ok(device.clone()),
        Place::Nowhere(missing) => Err(Verdict::Broken(missing.to_string(), Exit::DeviceMissing)),
        Place::Recording(missing) => Err(Verdict::Skipped(format!(
            "{missing}; on the screen a recording can stand in, which proves nothing here"
        ))),
    }
}

fn name_of(plan: &Plan<'_>) -> Option<String> {
    match &plan.place {
        Place::On(device) => Some(format!("{} ({})", device.id, device.name)),
        Place::Anywhere | Place::Nowhere(_) | Place::Recording(_) => None,
    }
}

/// What the lesson's expressions see.
pub fn env<'a>(
    plans: &'a [Plan<'a>],
    ran: &'a BTreeMap<&str, Ran>,
    facts: &'a Option<DeviceFacts>,
) -> LessonEnv<'a> {
    let mut env = LessonEnv::new();
    if let Some(facts) = facts {
        env = env.on(facts);
    }
    for plan in plans {
        env = match ran.get(plan.id) {
            Some(Ran::Finished(finished, _)) => {
                env.with_run(plan.id, plan.schema(), &finished.data)
            }
            Some(Ran::Not(verdict)) => {
                env.without_run(plan.id, verdict.reason().unwrap_or("it was not run"))
            }
            None => env.without_run(plan.id, "it was not run"),
        };
    }
    env
}
