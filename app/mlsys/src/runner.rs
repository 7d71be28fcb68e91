//! Lessons without a screen: every lab is run, every prediction measured, every check tried, every answer graded.

mod grade;
mod known;
mod plan;
pub mod together;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use grade::{check_item, predict_item, question_items};
use mlsys_lab::Registry;
use mlsys_lab::control::{Limits, StopReason};
use mlsys_lab::device::{DeviceChoice, DeviceInfo};
use mlsys_lab::params::{Params, Settings};
use mlsys_lab::schema::{Draw, Label, Param, Type};
use mlsys_lab::tables::Tables;
use mlsys_lab::value::Value;
use mlsys_lesson::{Knob, Lesson};
use mlsys_run::console::Console;
use mlsys_run::outcome::Outcome;
use mlsys_run::process::{Failure, Interrupt};
use mlsys_run::results::{Comparison, Ending, Item, Kind, LessonResult, Results};
use mlsys_run::session::{RunRequest, execute};
use mlsys_run::settings;
use mlsys_run::storage::Paths;
use mlsys_view::attempts::{FinishedRun, RunComparison, lines};
use plan::{Plan, Ran};
use together::Machine;

use crate::context::Context;

pub use grade::{Graders, HardwareRule};
pub use known::{known_draws, runs_for_grading};
pub use plan::Runs;

pub struct Request {
    pub device: DeviceChoice,
    /// Without one each lesson has its own.
    pub seed: Option<u64>,
    /// Parameters by the lab's name in its lesson.
    pub set: BTreeMap<String, Settings>,
    pub data_dir: Option<PathBuf>,
    /// Worker processes, as `--workers` names them, for labs that split their runs.
    pub workers: Option<String>,
    pub hardware: HardwareRule,
    pub graders: Graders,
    /// Lessons at a time, of those that measure no time.
    pub jobs: NonZeroUsize,
    /// The folder for records of the runs; none keeps none.
    pub records: Option<PathBuf>,
}

/// What a lesson needs of its surroundings while it runs.
pub struct Worker<'a> {
    interrupt: &'a Interrupt,
    registry: &'a Registry,
    machine: &'a Machine,
    /// The folder of saved runs, in which lab `device-peak` left the highest rate measured on a device.
    saved: Option<&'a Path>,
    console: &'a mut Console,
}

/// Runs lessons; wrong options are refused before anything runs.
pub fn run(
    lessons: &[Lesson],
    request: &Request,
    context: &mut Context<'_>,
) -> Result<Results, Failure> {
    plan::refuse_unknown_labs(lessons, &request.set)?;
    let mut plans = Vec::new();
    for lesson in lessons {
        plans.push(plan::plan_lesson(lesson, request, context)?);
    }
    let splits = |plan: &Plan<'_>| settings::takes_workers(plan.schema());
    if request.workers.is_some() && !plans.iter().flatten().any(splits) {
        return Err(Failure::usage(
            "--workers changes nothing here: no lab of these lessons splits its work over workers",
        ));
    }
    let (runs, machine) = (Runs::new(request.records.clone()), Machine::default());
    let (interrupt, registry) = (&context.interrupt, context.registry);
    let saved = context.paths.as_ref().ok().map(Paths::runs);
    let job = |index: usize, console: &mut Console| {
        if interrupt.is_asked() {
            return None;
        }
        let saved = saved.as_deref();
        let mut worker = Worker { interrupt, registry, machine: &machine, saved, console };
        Some(run_lesson(&lessons[index], &plans[index], request, &runs, &mut worker))
    };
    let started = SystemTime::now();
    let results = together::run((lessons.len(), request.jobs), context.console, job);
    let is_missing = |lesson: &&Lesson| {
        let id = lesson.front.id.as_str();
        interrupt.is_asked() && !results.iter().any(|result: &LessonResult| result.id == id)
    };
    let missing = lessons.iter().filter(is_missing).map(|lesson| lesson.front.id.to_string());
    let missing: Vec<String> = missing.collect();
    let ending =
        if interrupt.is_asked() { Ending::Interrupted { missing } } else { Ending::Complete };
    Ok(Results { lessons: results, started: Some(started), ending, lost: runs.lost() })
}

fn run_lesson(
    lesson: &Lesson,
    plan: &[Plan<'_>],
    request: &Request,
    runs: &Runs,
    worker: &mut Worker<'_>,
) -> LessonResult {
    let id = lesson.front.id.as_str();
    let mut items = Vec::new();
    let mut ran = BTreeMap::new();
    for plan in plan {
        let started = Instant::now();
        let one = runs.once(id, plan, worker);
        if lesson.lab(plan.id).is_some() {
            items.push(lab_item(lesson, plan, &one, started.elapsed()));
        }
        ran.insert(plan.id, one);
    }
    let facts = plan::device_facts(plan, worker.saved);
    let comparisons = comparisons(lesson, plan, &ran);
    let env = plan::env(plan, &ran, &facts);
    let problems = match request.graders {
        Graders::Stated => mlsys_lesson::self_test(lesson, &env, worker.registry),
        Graders::Learner { .. } => Vec::new(),
    };
    let predictions = lesson.predictions();
    items.extend(predictions.map(|predict| predict_item(lesson, predict, &env, &problems)));
    let setting = grade::Setting { lesson, plan, ran: &ran, facts: &facts, rule: request.hardware };
    items.extend(lesson.checks().map(|check| check_item(check, setting, runs, worker)));
    items.extend(question_items(lesson, &request.graders, &env, &problems, worker.registry));
    LessonResult {
        id: id.to_owned(),
        file: lesson.source.file.clone(),
        title: lesson.front.title.clone(),
        seed: request.seed.unwrap_or(lesson.front.seed),
        items,
        comparisons,
    }
}

fn lab_item(lesson: &Lesson, plan: &Plan<'_>, ran: &Ran, elapsed: Duration) -> Item {
    let place = lesson.lab(plan.id).map_or(0, |lab| lab.place.start);
    let (device, metrics) = match ran {
        Ran::Finished(finished, device) => {
            let labelled = |(name, value): (&str, Value)| {
                let metric = plan.schema().metric(name);
                let label = metric.map_or(Label::Computed, |metric| plan.schema().label(metric));
                (name.to_owned(), (label, value))
            };
            let metrics = finished.data.metrics().into_iter().map(labelled).collect();
            (device.clone(), metrics)
        }
        Ran::Not(_) => (None, BTreeMap::new()),
    };
    Item {
        id: plan.id.to_owned(),
        about: plan.schema().kind.clone(),
        line: lesson.source.line(place),
        column: 1,
        why: None,
        kind: Kind::Lab { device, metrics },
        verdict: ran.verdict(),
        elapsed,
    }
}

/// The pictures of several runs that any lab of the lesson declares, each once.
fn comparisons(lesson: &Lesson, plans: &[Plan<'_>], ran: &BTreeMap<&str, Ran>) -> Vec<Comparison> {
    let finished = plan::of_labs(lesson, plans).filter_map(|plan| match ran.get(plan.id)? {
        Ran::Finished(finished, _)
            if matches!(finished.outcome, Outcome::Finished | Outcome::Diverged(..)) =>
        {
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
            let company = RunComparison {
                all: &all,
                goals: lesson.goals(&panel.name),
                ..RunComparison::default()
            };
            let lines = lines(plan.schema(), panel, &company);
            if !lines.is_empty() {
                found.push(Comparison { panel: panel.name.clone(), lines });
            }
        }
    }
    found
}

/// The steps and time of a live lab with a knob at its end: enough to fail where it cannot start.
const LIMITS: Limits = Limits { steps: Some(3), time: Some(Duration::from_secs(1)) };

/// What breaks when each knob of a lesson's labs is set to its ends, the others where they start.
pub fn knob_failures(
    lesson: &Lesson,
    request: &Request,
    context: &mut Context<'_>,
) -> Result<Vec<KnobFailure>, Failure> {
    let plans = plan::plan_lesson(lesson, request, context)?;
    let mut failures = Vec::new();
    for (directive, plan) in lesson.labs().zip(&plans) {
        let (Ok(device), schema) = (plan::device_of(plan), plan.schema()) else { continue };
        for knob in &directive.knobs {
            let ends = schema.param(&knob.param).map_or_else(Vec::new, |param| ends(knob, param));
            for end in ends {
                if context.interrupt.is_asked() {
                    return Ok(failures);
                }
                let label = format!("{} {} = {end}", directive.id, knob.param);
                let settings = directive.settings().turned(schema, &knob.param, end.clone());
                let seed = Some(lesson.front.seed);
                let failure = match Params::resolve(schema, &settings, Tables::builtin(), seed) {
                    Err(errors) => {
                        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                        Some(errors.join("; "))
                    }
                    Ok(params) => failure_of_run(&label, plan, params, device.clone(), context),
                };
                failures.extend(failure.map(|why| KnobFailure {
                    line: lesson.source.line(directive.place.start),
                    message: format!("lab {} with {} = {end}: {why}", directive.id, knob.param),
                }));
            }
        }
    }
    Ok(failures)
}

/// Something that breaks, and the line of the directive that leads to it.
pub struct KnobFailure {
    /// From 1.
    pub line: usize,
    pub message: String,
}

fn failure_of_run(
    label: &str,
    plan: &Plan<'_>,
    params: Params,
    device: DeviceInfo,
    context: &mut Context<'_>,
) -> Option<String> {
    let request = RunRequest {
        label,
        lab: plan.lab,
        params,
        device,
        limits: LIMITS,
        lesson: None,
        runs: None,
        sources: plan.sources.clone(),
    };
    let finished = execute(request, &context.interrupt, context.console);
    // Three steps may take longer than the second they get.
    let is_slow = matches!(finished.outcome, Outcome::Stopped(StopReason::TimeLimit));
    finished.trouble().filter(|_| !is_slow)
}

/// The ends of a knob: smallest and largest, or each of its names, which have no order.
fn ends(knob: &Knob, param: &Param) -> Vec<Value> {
    if let Some(values) = &knob.values {
        return match values.as_slice() {
            [first, .., last] if first.as_f64().is_some() => vec![first.clone(), last.clone()],
            values => values.to_vec(),
        };
    }
    let numbers = |ends: [Option<f64>; 2]| ends.into_iter().flatten().map(Value::Float).collect();
    match param.ty {
        Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Type::Enum => match &param.values_from {
            Some(table) => Tables::builtin().names(table).into_iter().map(Value::from).collect(),
            None => param.values.iter().map(|name| Value::from(name.as_str())).collect(),
        },
        Type::Int | Type::Float => numbers([knob.min.or(param.min), knob.max.or(param.max)]),
        // A knob for one entry of a table has the ends that the lesson gives it.
        Type::Table => numbers([knob.min, knob.max]),
        Type::String | Type::Array => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::schema::Schema;
    use mlsys_lesson::Place;

    fn schema() -> Schema {
        Schema::parse(
            "kind='t'\ntitle='t'\nmodule='t'\nabout='t'\nsource='t'\n\
             [[param]]\nname='n'\ntype='int'\nmin=1.0\nmax=9.0\nabout=''\n\
             [[param]]\nname='name'\ntype='enum'\nvalues=['a','b']\nabout=''\n\
             [[param]]\nname='open'\ntype='float'\nmin=0.0\nabout=''\n\
             [[param]]\nname='flag'\ntype='bool'\nabout=''",
        )
        .unwrap()
    }

    fn knob(param: &str) -> Knob {
        Knob {
            param: param.to_owned(),
            values: None,
            min: None,
            max: None,
            default: None,
            place: Place::default(),
        }
    }

    #[test]
    fn knob_ends_come_from_lesson_then_parameter() {
        let schema = schema();
        let ends_of = |knob: Knob| ends(&knob, schema.param(&knob.param).unwrap());
        assert_eq!(ends_of(knob("n")), [Value::Float(1.0), Value::Float(9.0)]);
        assert_eq!(
            ends_of(Knob { max: Some(4.0), ..knob("n") }),
            [Value::Float(1.0), Value::Float(4.0)]
        );
        assert_eq!(ends_of(knob("name")), [Value::from("a"), Value::from("b")]);
        assert_eq!(
            ends_of(Knob { values: Some(vec!["b".into()]), ..knob("name") }),
            [Value::from("b")]
        );
        let values = Some(vec![Value::Int(1), Value::Int(2), Value::Int(4)]);
        assert_eq!(ends_of(Knob { values, ..knob("n") }), [Value::Int(1), Value::Int(4)]);
        assert_eq!(ends_of(knob("open")), [Value::Float(0.0)]);
        assert_eq!(ends_of(knob("flag")), [Value::Bool(false), Value::Bool(true)]);
    }
}
