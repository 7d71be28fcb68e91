//! Plans of labs (parameters, device, sources), settled before anything runs, and their runs: equal ones run once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mlsys_device::processor;
use mlsys_lab::control::Limits;
use mlsys_lab::device::{Backend, DeviceChoice, DeviceId, DeviceInfo, NoDevice};
use mlsys_lab::lab::Lab;
use mlsys_lab::nearest::nearest;
use mlsys_lab::params::{Params, Settings};
use mlsys_lab::schema::{Class, Schema};
use mlsys_lab::tables::Tables;
use mlsys_lesson::{DeviceFacts, LabDirective, Lesson, LessonEnv, Setting, Target};
use mlsys_run::devices::recorded_peak;
use mlsys_run::outcome::CompletedRun;
use mlsys_run::process::{Exit, Failure, Loss};
use mlsys_run::results::Verdict;
use mlsys_run::session::{RunRequest, execute, time_limit};
use mlsys_run::settings;
use mlsys_run::sources::{self, Earlier, Sources};
use mlsys_run::storage::Paths;

use super::together::Sharing;
use super::{Request, Worker};
use crate::context::Context;

pub struct Plan<'a> {
    /// The lab's, or that of a try, which is the run of its lab with knobs turned.
    pub id: &'a str,
    pub lab: &'static dyn Lab,
    pub params: Params,
    pub place: Place,
    pub sharing: Sharing,
    pub sources: Sources,
}

#[derive(Clone, Debug)]
pub enum Place {
    /// It answers at once, anywhere.
    Anywhere,
    On(DeviceInfo),
    Nowhere(NoDevice),
    /// Nowhere, and the lesson allows a recording in its place, which is not run.
    Recording(NoDevice),
}

impl Plan<'_> {
    pub fn schema(&self) -> &'static Schema {
        self.lab.schema()
    }

    /// The lab as later ones of the lesson may start from it.
    fn for_later(&self) -> Earlier {
        Earlier { id: self.id.to_owned(), lab: self.lab, params: self.params.clone() }
    }
}

pub fn plan_lesson<'a>(
    lesson: &'a Lesson,
    request: &Request,
    context: &Context<'_>,
) -> Result<Vec<Plan<'a>>, Failure> {
    let planned = lesson
        .labs()
        .map(|directive| plan_lab(lesson, &directive.id, (directive, &[]), request, context));
    let mut plans: Vec<Plan<'a>> = planned.collect::<Result<_, Failure>>()?;
    let all: Vec<Earlier> = plans.iter().map(Plan::for_later).collect();
    for (index, plan) in plans.iter_mut().enumerate() {
        let (earlier, others) = all.split_at(index);
        plan.sources = Sources {
            earlier: earlier.to_vec(),
            others: others.iter().map(|lab| lab.id.clone()).collect(),
            runs: context.paths.as_ref().ok().map(Paths::runs),
            store: context.store.clone(),
            ..Sources::new(context.registry)
        };
    }
    for attempt in lesson.predictions() {
        let Some((directive, turn)) = lesson.turned(attempt) else { continue };
        let mut plan = plan_lab(lesson, &attempt.id, (directive, turn), request, context)?;
        if let Some(own) = plans.iter().find(|own| own.id == directive.id) {
            plan.sources = own.sources.clone();
        }
        plans.push(plan);
    }
    Ok(plans)
}

/// A lab of the lesson, with the knobs turned that a try turns.
fn plan_lab<'a>(
    lesson: &Lesson,
    id: &'a str,
    (directive, turn): (&LabDirective, &[Setting]),
    request: &Request,
    context: &Context<'_>,
) -> Result<Plan<'a>, Failure> {
    let lab = context.registry.find(&directive.kind.value)?;
    let schema = lab.schema();
    let mut asked = request.set.get(&directive.id).cloned().unwrap_or_else(Settings::new);
    if settings::takes_data_dir(schema) {
        settings::set_data_dir(&mut asked, request.data_dir.as_deref());
    }
    if settings::takes_workers(schema) {
        settings::set_workers(&mut asked, request.workers.as_deref());
    }
    let turned = turn.iter().fold(directive.settings(), |settings, knob| {
        settings.turned(schema, &knob.name, knob.value.clone())
    });
    let settings = seeded(turned, request.seed).overlaid(&asked);
    let seed = request.seed.unwrap_or(lesson.front.seed);
    let params =
        Params::resolve(schema, &settings, Tables::builtin(), Some(seed)).map_err(|errors| {
            settings::failure(&format!("{} of {}", directive.id, lesson.front.id), &errors)
        })?;
    let place = if schema.uses_device(&params) {
        place(directive, request.device, context)
    } else {
        Place::Anywhere
    };
    let sharing = sharing(lesson, id, schema, &place);
    Ok(Plan { id, lab, params, place, sharing, sources: Sources::new(context.registry) })
}

/// Exclusive for a lab on a GPU, for one that only measures, and for one of which the lesson judges what a clock or a
/// counter of the machine gives.
fn sharing(lesson: &Lesson, lab: &str, schema: &Schema, place: &Place) -> Sharing {
    let targets = lesson.predictions().filter_map(|predict| match &predict.target {
        Target::Metric(formula) | Target::Answer(formula) => Some(&formula.expr),
        Target::Choice(_) => None,
    });
    let checks = lesson.checks().map(|check| (check.class, &check.assert.expr));
    let mut judged = checks.chain(targets.map(|expr| (Class::Exact, expr)));
    let is_measured = |metric: Option<&str>| {
        let metric = metric.and_then(|name| schema.metric(name));
        metric.is_some_and(|metric| metric.class == Class::Hardware)
    };
    let is_judged = judged.any(|(class, expr)| {
        expr.names().iter().any(|(name, _)| {
            let name = name.to_string();
            let (own, metric) =
                name.split_once('.').map_or((&*name, None), |(own, metric)| (own, Some(metric)));
            own == lab && (class == Class::Hardware || is_measured(metric))
        })
    });
    let on_gpu = matches!(place, Place::On(device) if device.id.backend != Backend::Cpu);
    let only_measures = schema.metrics.iter().all(|metric| metric.class == Class::Hardware)
        && !schema.metrics.is_empty();
    if is_judged || on_gpu || only_measures { Sharing::Exclusive } else { Sharing::Shared }
}

/// The labs as the lesson has them, without those of tries.
pub fn of_labs<'p, 'a>(
    lesson: &'p Lesson,
    plans: &'p [Plan<'a>],
) -> impl Iterator<Item = &'p Plan<'a>> {
    plans.iter().filter(|plan| lesson.lab(plan.id).is_some())
}

/// A lesson's settings under a `--seed`, which is stronger than a seed that the lesson sets.
fn seeded(settings: Settings, seed: Option<u64>) -> Settings {
    if seed.is_none() {
        return settings;
    }
    let mut others = Settings::new();
    for (name, given) in settings.iter().filter(|(name, _)| *name != "seed") {
        others.push(name, given.clone());
    }
    others
}

fn place(directive: &LabDirective, choice: DeviceChoice, context: &Context<'_>) -> Place {
    let acceptable = directive.backends();
    let choice = match (choice, acceptable.as_slice()) {
        // Nothing but the processor will do: no driver needs to be asked.
        (DeviceChoice::Auto, [Backend::Cpu]) => DeviceChoice::Exactly(DeviceId::CPU),
        (choice, _) => choice,
    };
    match context.devices.choose(choice, &acceptable) {
        Ok(device) => Place::On(device),
        Err(missing) if choice == DeviceChoice::Auto && directive.may_replay() => {
            Place::Recording(missing)
        }
        Err(missing) => Place::Nowhere(missing),
    }
}

/// Refuses settings for labs that none of the lessons has.
pub fn refuse_unknown_labs(
    lessons: &[Lesson],
    set: &BTreeMap<String, Settings>,
) -> Result<(), Failure> {
    let known: BTreeSet<&str> =
        lessons.iter().flat_map(Lesson::labs).map(|lab| lab.id.as_str()).collect();
    match set.keys().find(|lab| !known.contains(lab.as_str())) {
        None => Ok(()),
        Some(lab) => {
            let hint = match nearest(lab, known.iter().copied()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("there are: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
            };
            Err(Failure::Usage(format!(
                "--set {}: no lesson here has a lab of that name; {hint}",
                lab.escape_debug()
            )))
        }
    }
}

/// The device that the lesson's expressions speak of: the one its labs run on.
pub fn device_facts(plans: &[Plan<'_>], saved: Option<&Path>) -> Option<DeviceFacts> {
    plans.iter().find_map(|plan| match &plan.place {
        Place::On(device) => Some(DeviceFacts {
            name: device.name.clone(),
            backend: device.id.backend.name().to_owned(),
            memory_bytes: device.memory_bytes,
            peak_flops_per_second: saved.and_then(|runs| recorded_peak(runs, &device.name)),
        }),
        Place::Anywhere | Place::Nowhere(_) | Place::Recording(_) => None,
    })
}

/// What became of a lab.
#[derive(Clone)]
pub enum Ran {
    /// It was run, on the device named; labs that answer at once have none.
    Finished(Arc<CompletedRun>, Option<String>),
    /// It was not run, with the resulting verdict.
    Not(Verdict),
}

pub struct Runs {
    records: Option<PathBuf>,
    done: Mutex<Vec<Done>>,
    /// The first record that is not whole.
    lost: Mutex<Option<Loss>>,
}

/// A run that an equal one need not repeat.
struct Done {
    kind: String,
    params: Params,
    device: DeviceId,
    /// Of a lab that starts from another: its lesson, in which that other is.
    within: Option<String>,
    finished: Arc<CompletedRun>,
}

impl Ran {
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

impl Runs {
    /// Records go into this folder, if there is one.
    pub fn new(records: Option<PathBuf>) -> Self {
        Self { records, done: Mutex::default(), lost: Mutex::default() }
    }

    pub fn lost(&self) -> Option<Loss> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn done(&self) -> MutexGuard<'_, Vec<Done>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a lab, unless an equal run has been done; of two lessons that want one at the same time, both run it.
    pub fn once(&self, lesson: &str, plan: &Plan<'_>, worker: &mut Worker<'_>) -> Ran {
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
        if let Some(done) = self.done().iter().find(equal) {
            return Ran::Finished(Arc::clone(&done.finished), name_of(plan));
        }
        let ran = self.again(lesson, plan, worker);
        if let Ran::Finished(finished, _) = &ran {
            let (kind, params, finished) =
                (kind.clone(), plan.params.clone(), Arc::clone(finished));
            self.done().push(Done { kind, params, device: device.id, within, finished });
        }
        ran
    }

    /// Runs a lab, whether or not an equal run has been done.
    pub fn again(&self, lesson: &str, plan: &Plan<'_>, worker: &mut Worker<'_>) -> Ran {
        let device = match device_of(plan) {
            Ok(device) => device,
            Err(verdict) => return Ran::Not(verdict),
        };
        if worker.interrupt.is_asked() {
            let reason = "interrupted before it ran".to_owned();
            return Ran::Not(Verdict::Broken(reason, Exit::Interrupted));
        }
        let limits = Limits { steps: None, time: Some(time_limit(plan.schema(), &device)) };
        let order = RunRequest {
            label: &format!("{lesson} {}", plan.id),
            lab: plan.lab,
            params: plan.params.clone(),
            device,
            limits,
            lesson: Some((lesson, plan.id)),
            runs: self.records.as_deref(),
            sources: plan.sources.clone(),
        };
        let run = || execute(order, worker.interrupt, worker.console);
        let finished = worker.machine.with(plan.sharing, run);
        if let Some(loss) = &finished.lost {
            self.lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(loss.clone());
        }
        Ran::Finished(Arc::new(finished), name_of(plan))
    }
}

pub fn device_of(plan: &Plan<'_>) -> Result<DeviceInfo, Verdict> {
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
    let mut env = facts.iter().fold(LessonEnv::new(), LessonEnv::on);
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
