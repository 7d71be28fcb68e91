//! An experiment in a lesson.

use mlsys_lab::device::Backend;
use mlsys_lab::named_enum;
use mlsys_lab::params::{Given, Settings};
use mlsys_lab::value::Value;

use crate::diagnostic::{Located, Place};
use crate::model::drawn::Varied;

/// An experiment: a kind of lab, its settings, its knobs and its panels.
#[derive(Clone, Debug, PartialEq)]
pub struct LabDirective {
    /// Its name in this lesson, with which expressions begin.
    pub id: String,
    pub kind: Located<String>,
    /// A title in place of the kind's own.
    pub title: Option<String>,
    /// Devices it may run on, in the order of preference.
    pub devices: Vec<DeviceName>,
    /// Parameters that differ from the kind's defaults.
    pub set: Vec<Setting>,
    /// Parameters that learners draw; each has its number in `set`.
    pub vary: Vec<Varied>,
    /// Parameters the learner may turn, in file order.
    pub knobs: Vec<Knob>,
    /// Pictures that are shown, in file order; all the kind's own if none is named.
    pub panels: Vec<PanelRef>,
    pub kernel: Disclosure,
    /// Metrics shown below the pictures, in file order.
    pub metrics: Vec<Located<String>>,
    /// Where it stands, fences included.
    pub place: Place,
}

/// Whether the learner may open the lab's kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disclosure {
    #[default]
    Open,
    Closed,
}

/// A parameter that a lesson sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub name: String,
    pub value: Value,
    /// Where the name stands.
    pub place: Place,
    /// Where the value stands.
    pub value_place: Place,
}

/// A parameter that the learner may turn; it may narrow the kind's own range, never widen it.
#[derive(Clone, Debug, PartialEq)]
pub struct Knob {
    pub param: String,
    /// The only values it takes here.
    pub values: Option<Vec<Value>>,
    /// Smallest value here.
    pub min: Option<f64>,
    /// Largest value here.
    pub max: Option<f64>,
    /// Where it stands at first, if not at what `set` or the kind says.
    pub default: Option<Value>,
    /// Where it stands in the file.
    pub place: Place,
}

/// A picture of the lab.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelRef {
    /// The kind's name for it.
    pub name: String,
    /// A title in place of that name.
    pub title: Option<String>,
    /// What the learner is to reach in it, in file order.
    pub goals: Vec<Goal>,
    /// The question that has to be answered before it is shown.
    pub until: Option<Located<String>>,
    /// Where the name stands.
    pub place: Place,
}

/// What a run in a panel over several runs is to reach, counted from what all of them are compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// What it is called, such as "silver".
    pub name: String,
    /// How many times better along the first axis.
    pub ratio: f64,
    /// How much worse along the second at most.
    pub loss: f64,
    /// Where its name stands.
    pub place: Place,
}

named_enum! {
    /// A device a lab may run on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum DeviceName {
        /// NVIDIA's CUDA.
        Cuda = "cuda",
        /// Vulkan, Metal or Direct3D.
        Wgpu = "wgpu",
        Cpu = "cpu",
        /// A recorded run: next to a live one, or alone where there is no other device. It earns no points.
        Replay = "replay",
    }
}

impl LabDirective {
    /// The parameters set, with the knobs' starting values over them.
    pub fn settings(&self) -> Settings {
        let mut knobs = Settings::new();
        for knob in &self.knobs {
            if let Some(value) = &knob.default {
                knobs.push(&knob.param, Given::Value(value.clone()));
            }
        }
        settings(&self.set).overlaid(&knobs)
    }

    /// The back ends it may run on, in the order of preference.
    pub fn backends(&self) -> Vec<Backend> {
        self.devices.iter().filter_map(|device| device.backend()).collect()
    }

    /// Whether a recorded run may accompany or replace a live one.
    pub fn may_replay(&self) -> bool {
        self.devices.contains(&DeviceName::Replay)
    }
}

/// What these settings set.
pub(crate) fn settings(set: &[Setting]) -> Settings {
    let mut settings = Settings::new();
    for setting in set {
        settings.push(&setting.name, Given::Value(setting.value.clone()));
    }
    settings
}

impl DeviceName {
    /// The back end, if something runs at all.
    pub const fn backend(self) -> Option<Backend> {
        match self {
            Self::Cuda => Some(Backend::Cuda),
            Self::Wgpu => Some(Backend::Wgpu),
            Self::Cpu => Some(Backend::Cpu),
            Self::Replay => None,
        }
    }
}
