//! Answers that a lab evaluates.

use std::sync::Arc;

use mlsys_expr::{Env, LookupError, Value, evaluate};
use mlsys_lab::control::{Control, Limits};
use mlsys_lab::device::DeviceId;
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::params::{Given, Params, Settings};
use mlsys_lab::report::{FrameTrigger, Report, RunData, Sink};
use mlsys_lab::{LabError, Registry, Tables};

use crate::check::{first_false, shown};
use crate::env::LessonEnv;
use crate::grade::answer::Judgement;
use crate::model::{Formula, Setting, Wrong, settings};

/// What the lab is asked to do with a learner's text.
pub(super) struct Task<'q> {
    pub(super) kind: &'q str,
    pub(super) param: &'q str,
    pub(super) set: &'q [Setting],
    pub(super) accept: &'q Formula,
}

/// `answer.NAME` is a metric of the answer's own run, everything else a name of the lesson.
pub(super) struct AnswerEnv<'a> {
    pub(super) answer: LessonEnv<'a>,
    pub(super) lesson: &'a dyn Env,
}

impl Env for AnswerEnv<'_> {
    fn lookup(&self, name: &str) -> Result<Value, LookupError> {
        if name.starts_with("answer.") {
            self.answer.lookup(name)
        } else {
            self.lesson.lookup(name)
        }
    }
}

pub(super) fn judge(
    text: &str,
    task: &Task<'_>,
    wrong: &[Wrong<String>],
    env: &dyn Env,
    registry: &Registry,
) -> Judgement {
    let lab = match registry.find(task.kind) {
        Ok(lab) => lab,
        Err(error) => return Judgement::Malformed(error.to_string()),
    };
    let mut answer = Settings::new();
    answer.push(task.param, Given::Value(text.into()));
    let data = match run_unseen(lab, &settings(task.set).overlaid(&answer)) {
        Ok(data) => data,
        Err(error) => return Judgement::Malformed(error.to_string()),
    };
    let answer = LessonEnv::new().with_run("answer", lab.schema(), &data);
    let env = AnswerEnv { answer, lesson: env };
    match evaluate(&task.accept.expr, &env) {
        Ok(Value::Bool(true)) => Judgement::Right,
        Ok(Value::Number(x)) if x != 0.0 => Judgement::Right,
        Ok(Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Series(_)) => {
            let stated = wrong.iter().find(|wrong| squeezed(&wrong.value) == squeezed(text));
            Judgement::Wrong(match stated {
                Some(stated) => Some(stated.say.clone()),
                None => not_as_asked(task.accept, &env),
            })
        }
        // The learner's text reads but lacks what the condition is about, such as an input.
        Err(error) => Judgement::Wrong(Some(error.to_string())),
    }
}

/// What the answer's run gave in the first condition that does not hold, without what is asked for: that may be the
/// answer.
fn not_as_asked(accept: &Formula, env: &dyn Env) -> Option<String> {
    let mut values: Vec<String> = Vec::new();
    for (name, _) in first_false(&accept.expr, env).names() {
        let own = name.as_str().strip_prefix("answer.");
        if let (Some(own), Ok(value)) = (own, env.lookup(name.as_str())) {
            values.push(format!("{own} is {}", shown(&value)));
        }
    }
    (!values.is_empty()).then(|| format!("not as asked: {}", values.join(", ")))
}

/// Runs a lab to its end, on the CPU.
pub(crate) fn run_once(lab: &dyn Lab, settings: &Settings) -> Result<RunData, LabError> {
    let mut data = RunData::default();
    run_into(lab, settings, &mut data)?;
    Ok(data)
}

/// The same without pictures, some of which cost more than the run.
pub(super) fn run_unseen(lab: &dyn Lab, settings: &Settings) -> Result<RunData, LabError> {
    let (data, end) = run_seen(lab, settings, &[]);
    end.map(|()| data)
}

/// The same with these pictures; a run that fails may have drawn some before.
pub(super) fn run_seen(
    lab: &dyn Lab,
    settings: &Settings,
    panels: &[&str],
) -> (RunData, Result<(), LabError>) {
    let mut seen = Seen { data: RunData::default(), panels };
    let end = run_into(lab, settings, &mut seen);
    (seen.data, end)
}

struct Seen<'a> {
    data: RunData,
    panels: &'a [&'a str],
}

impl Sink for Seen<'_> {
    fn report(&mut self, report: Report) {
        self.data.report(report);
    }

    fn wants_frame(&mut self, panel: &str, _: FrameTrigger) -> bool {
        self.panels.contains(&panel)
    }
}

fn run_into(lab: &dyn Lab, settings: &Settings, sink: &mut dyn Sink) -> Result<(), LabError> {
    let schema = lab.schema();
    let params = Params::resolve(schema, settings, Tables::builtin(), None).map_err(|errors| {
        let names = errors.iter().map(|error| error.param.as_str());
        let messages: Vec<_> = errors.iter().map(ToString::to_string).collect();
        LabError::contradiction(names, messages.join("; "))
    })?;
    let control = Control::free(Limits::default(), Arc::default());
    lab.run(&mut Run { params, device: DeviceId::CPU, sink, control })
}

pub(super) fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
