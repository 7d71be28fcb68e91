//! One lab of the open lesson: its knobs, its run, and what the run has shown.

pub mod comparison;
pub mod history;
pub mod knob;
mod pictures;
mod rate;

use std::time::Duration;

use mlsys_lab::device::DeviceId;
use mlsys_lab::frame::{Frame, kernel::Kernel};
use mlsys_lab::params::{Given, ParamError, Params, Settings, allowed};
use mlsys_lab::report::{Report, RunData};
use mlsys_lab::schema::{Draw, Type};
use mlsys_lab::tables::Tables;
use mlsys_lab::value::Value;
use mlsys_lab::{Registry, Schema};
use mlsys_lesson::{Disclosure, LabDirective};
use mlsys_view::earlier::{self, Earlier, Overlay};
use mlsys_view::kernel::KernelDebugger;
use mlsys_view::panel::{Focus, FrameView, Origin, Scene, View};

use crate::records::Replay;
use comparison::Attempts;
use history::History;
pub use knob::Knob;
pub use pictures::{Listed, Pictures};
pub use rate::Rate;

pub struct LabState {
    pub id: String,
    pub title: String,
    pub schema: &'static Schema,
    pub settings: Settings,
    pub seed: u64,
    pub controls: Controls,
    pub run: RunState,
    pub pictures: Pictures,
    pub others: OtherRuns,
    /// Metrics that the lesson wants below the pictures.
    pub metrics: Vec<String>,
    pub disclosure: Disclosure,
    /// Where the learner is in the lab's kernel, for all its pictures.
    pub debugger: Option<KernelDebugger>,
    pub own_kernel: Option<OwnKernel>,
}

#[derive(Default)]
pub struct Controls {
    pub knobs: Vec<Knob>,
    pub marked: usize,
    pub history: History,
}

#[derive(Default)]
pub struct RunState {
    pub state: RunStatus,
    pub data: RunData,
    /// Whether `data` is still the answer before the one under way.
    pub superseded: bool,
    pub begun_with: Vec<(String, Value)>,
    pub begun_params: Option<Params>,
    /// The knobs that were not where the lesson has them as it began.
    pub turned_at_start: Vec<(String, Value)>,
    /// Whether a knob has left the lesson's value.
    pub explored: bool,
    pub device: Option<DeviceId>,
    /// The recorded run that is shown in place of one, which never counts.
    pub replay: Option<Replay>,
    pub elapsed: Duration,
    /// When, in the run's time, pictures were last asked for.
    pub pictured: Duration,
    pub rate: Rate,
}

#[derive(Default)]
pub struct OtherRuns {
    /// The runs before the newest, the newest first.
    pub earlier: Vec<Earlier>,
    pub retired: u64,
    pub overlay: Overlay,
    pub finished: Attempts,
    /// The last run that finished with the lesson's own values: what predictions and checks are held against.
    pub reference: Option<RunData>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum RunStatus {
    #[default]
    Ready,
    Running,
    Paused,
    Finished,
    Diverged(String),
    Stopped,
    Failed(String),
}

impl RunStatus {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Finished => "finished",
            Self::Diverged(_) => "diverged",
            Self::Stopped => "stopped",
            Self::Failed(_) => "failed",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnKernel {
    /// The example that it began as; with another one it means nothing.
    pub example: String,
    pub text: String,
}

impl LabState {
    /// Without knobs and pictures, before its first run.
    pub fn empty(id: &str, title: &str, schema: &'static Schema) -> Self {
        let views = schema.panels.iter().map(View::new).collect();
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            schema,
            settings: Settings::new(),
            seed: 0,
            controls: Controls::default(),
            run: RunState::default(),
            pictures: Pictures { views, ..Pictures::default() },
            others: OtherRuns::default(),
            metrics: Vec::new(),
            disclosure: Disclosure::Open,
            debugger: None,
            own_kernel: None,
        }
    }

    /// The parameters of the next run, knobs included.
    pub fn params(&self) -> Result<Params, Vec<ParamError>> {
        let settings = self.turned(self.controls.knobs.iter());
        self.resolved(&match self.own_text() {
            Some(own) => settings.turned(self.schema, "source", own.text.as_str().into()),
            None => settings,
        })
    }

    pub(crate) fn resolved(&self, settings: &Settings) -> Result<Params, Vec<ParamError>> {
        Params::resolve(self.schema, settings, Tables::builtin(), Some(self.seed))
    }

    pub fn lesson_params(&self) -> Result<Params, Vec<ParamError>> {
        self.resolved(&self.settings)
    }

    /// The lesson's settings with those of the given knobs that were turned.
    fn turned<'k>(&self, knobs: impl Iterator<Item = &'k Knob>) -> Settings {
        knobs.filter(|knob| knob.is_turned()).fold(self.settings.clone(), |settings, knob| {
            match &knob.value {
                Some(value) => settings.turned(self.schema, &knob.name, value.clone()),
                None => settings,
            }
        })
    }

    /// Planned steps of the run: metric `steps_planned`, else the last change during the run, else the parameter.
    pub fn steps(&self) -> Option<i64> {
        if let Some(Value::Int(planned)) = self.run.data.metric("steps_planned") {
            return Some(planned);
        }
        let param = self.schema.steps.as_deref().unwrap_or("steps");
        let mut changes = self.run.data.changes.iter().rev();
        match changes.find(|change| change.name == param).map(|change| &change.value) {
            Some(Value::Int(steps)) => Some(*steps),
            Some(_) => None,
            None => self.params().ok()?.int(param).ok(),
        }
    }

    /// Makes the newest run an earlier one and the lab ready for the next.
    pub fn begin(&mut self) {
        let mut last = std::mem::take(&mut self.run);
        let kept = match last.data.series.is_empty() {
            // Data of the run before it was kept then.
            true if last.superseded => None,
            true => Earlier::of_launch(&last.data, &self.others.earlier),
            false => Some(std::mem::take(&mut last.data)),
        };
        if let Some(data) = kept {
            self.others.retired += 1;
            let name = || format!("run {}", self.others.retired);
            let name = last.replay.map_or_else(name, |replay| replay.origin);
            earlier::keep(&mut self.others.earlier, Earlier::new(name, last.begun_with, data));
        }
        self.others.finished.left = None;
        self.pictures.frozen = None;
        let knobs = self.controls.knobs.iter();
        self.run = RunState {
            state: RunStatus::Running,
            begun_with: knobs.clone().map(Knob::named_value).collect(),
            turned_at_start: knobs.filter(|knob| knob.is_turned()).map(Knob::named_value).collect(),
            explored: self.own_text().is_some() || self.is_turned(),
            ..RunState::default()
        };
        if !self.schema.is_live() {
            // The answer to come is a moment away: until then the last one stays, so that nothing flickers.
            (self.run.data, self.run.begun_params) = (last.data, last.begun_params);
            self.run.superseded = true;
        }
        for run in &mut self.others.earlier {
            run.relabel(&self.run.begun_with);
        }
    }

    pub fn chosen(&self) -> Option<usize> {
        self.pictures.after(0)
    }

    pub fn draws(&self) -> Option<Draw> {
        Some(self.schema.panels.get(self.chosen()?)?.draw)
    }

    pub fn chosen_view(&mut self) -> Option<&mut View> {
        let index = self.chosen()?;
        self.pictures.views.get_mut(index)
    }

    /// What the pictures show: the newest reports, or those at which the view was frozen.
    pub fn shown(&self) -> &RunData {
        self.pictures.frozen.as_deref().unwrap_or(&self.run.data)
    }

    pub fn frame(&self, index: usize) -> Option<&Frame> {
        let name = self.schema.panels.get(index)?.name.as_str();
        self.shown().frames.get(name).map(|(_, frame)| frame)
    }

    pub fn scene(&self, index: usize) -> Option<Scene<'_>> {
        Some(Scene {
            schema: self.schema,
            panel: self.schema.panels.get(index)?,
            title: self.pictures.title(index),
            data: self.shown(),
            earlier: self.behind(index),
            view: self.pictures.views.get(index)?,
            cursor: self.pictures.cursor,
            focus: Focus::Aside,
            origin: self.run.replay.as_ref().map_or(Origin::Here, |_| Origin::Recorded),
            walk: self.debugger.as_ref(),
            comparison: self.company(Some(index)),
            drawn: self.others.finished.drawn.get(index),
        })
    }

    /// The lab's kernel, as its pictures that can be stepped through have it.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.pictures.panels.iter().filter_map(|&index| self.frame(index)?.kernel())
    }

    pub fn kernel(&self) -> Option<&Kernel> {
        self.kernels().next()
    }

    /// Takes a kernel that was launched anew into the walk, which keeps its place where it can.
    fn follow_kernel(&mut self) {
        let mut walk = self.debugger.take();
        if let Some(kernel) = self.kernel() {
            match &mut walk {
                Some(walk) => walk.renew(kernel),
                None => walk = Some(KernelDebugger::new(kernel)),
            }
        }
        self.debugger = walk;
    }

    pub fn receive(&mut self, reports: Vec<Report>) {
        let (superseded, data) = (std::mem::take(&mut self.run.superseded), &mut self.run.data);
        let before = if superseded { std::mem::take(data) } else { RunData::default() };
        for report in reports {
            self.watch(&report);
            self.run.data.apply(report);
        }
        for (panel, view) in self.schema.panels.iter().zip(&mut self.pictures.views) {
            let name = panel.name.as_str();
            let (before, now) = (before.frames.get(name), self.run.data.frames.get(name));
            if let (Some((_, before)), Some((_, now))) = (before, now) {
                if is_of_something_else(before, now) {
                    view.frame = FrameView::default();
                }
                view.frame.hold(before, now);
            }
        }
        self.follow_kernel();
        self.run.rate.update(self.run.elapsed, self.run.data.step);
    }

    /// Compares a picture that comes with the one that it replaces.
    fn watch(&mut self, report: &Report) {
        let Report::Frame { panel, frame, .. } = report else { return };
        let Some((_, before)) = self.run.data.frames.get(panel) else { return };
        let place = self.schema.panels.iter().position(|one| one.name == **panel);
        if let Some(view) = place.and_then(|place| self.pictures.views.get_mut(place)) {
            view.frame.watch(before, frame);
        }
    }

    /// The names of those given panels that draw frames sent on request; others draw metrics.
    pub fn pictures_of_the_lab(&self, panels: &[usize]) -> impl Iterator<Item = &'static str> {
        let schema = self.schema;
        let panels = panels.iter().filter_map(|&index| schema.panels.get(index));
        panels.filter(|panel| panel.draw == Draw::Frame).map(|panel| panel.name.as_str())
    }

    /// The example that the lab runs and its text without the learner's changes; none if it runs no kernel.
    pub fn kernel_text(&self) -> Option<(String, String)> {
        if self.schema.kind != "kernel" {
            return None;
        }
        let params = self.resolved(&self.turned(self.controls.knobs.iter())).ok()?;
        let example = params.get("example").and_then(Value::as_str)?;
        let given = params.get("source").and_then(Value::as_str);
        let source = given.or_else(|| mlsys_kernel::example(example))?;
        Some((example.to_owned(), source.to_owned()))
    }

    /// The learner's own text, where it is of the example that the knobs choose.
    fn own_text(&self) -> Option<&OwnKernel> {
        let own = self.own_kernel.as_ref()?;
        self.kernel_text().filter(|(example, _)| *example == own.example).map(|_| own)
    }
}

/// Whether a table has other columns than before, or a plane other axes: sorting and marks do not carry over.
fn is_of_something_else(before: &Frame, now: &Frame) -> bool {
    match (before, now) {
        (Frame::Table(before), Frame::Table(now)) => before.columns != now.columns,
        (Frame::Scatter(before), Frame::Scatter(now)) => {
            (&before.x.name, &before.y.name) != (&now.x.name, &now.y.name)
        }
        _ => false,
    }
}

pub(super) fn lab(
    directive: &LabDirective,
    seed: u64,
    registry: &'static Registry,
) -> Option<LabState> {
    let schema = registry.find(&directive.kind.value).ok()?.schema();
    let settings = directive.settings();
    let params = Params::resolve(schema, &settings, Tables::builtin(), Some(seed)).ok()?;
    let knobs = directive.knobs.iter().filter_map(|knob| {
        let param = schema.param(&knob.param)?;
        let value = match (params.get(&param.name), knob.param.split_once('.')) {
            (Some(Value::Table(entries)), Some((_, entry))) => entries.get(entry).cloned(),
            (value, _) => value.cloned(),
        };
        let of_type = || match param.ty {
            Type::Enum => allowed(param, Tables::builtin()).into_iter().map(Value::Text).collect(),
            Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Type::Int | Type::Float | Type::String | Type::Array | Type::Table => Vec::new(),
        };
        // A lesson may write 1 for 1.0: the value that it begins with is to be found among these.
        let typed = |value: &Value| {
            Params::check(schema, &knob.param, Given::Value(value.clone()))
                .unwrap_or_else(|_| value.clone())
        };
        let listed = knob.values.as_ref().map(|values| values.iter().map(typed).collect());
        Some(Knob {
            name: knob.param.clone(),
            param,
            initial: value.clone(),
            value,
            values: listed.unwrap_or_else(of_type),
            range: (knob.min.or(param.min), knob.max.or(param.max)),
        })
    });
    let place = |name: &str| schema.panels.iter().position(|panel| panel.name == name);
    let named = directive.panels.iter().filter_map(|panel| {
        let until = panel.until.as_ref().map(|until| until.value.clone());
        Some(Listed { title: panel.title.clone(), until, ..Listed::untitled(place(&panel.name)?) })
    });
    let mut listed: Vec<Listed> = named.collect();
    if listed.is_empty() {
        listed.extend((0..schema.panels.len()).map(Listed::untitled));
    }
    let title = directive.title.as_deref().unwrap_or(&schema.title);
    let mut lab = LabState::empty(&directive.id, title, schema);
    (lab.settings, lab.seed) = (settings, seed);
    lab.disclosure = directive.kernel;
    lab.metrics.extend(directive.metrics.iter().map(|metric| metric.value.clone()));
    lab.controls.knobs = knobs.collect();
    lab.pictures.panels = listed.iter().map(|listed| listed.panel).collect();
    lab.pictures.listed = listed;
    Some(lab)
}
