//! The schema of a lab: its parameters, metrics and panels, from one TOML file.

mod attempts;
mod label;
mod range;
mod read;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use crate::frame::Scale;
pub use crate::label::Label;
use crate::named_enum;
use crate::nearest::nearest;
pub use crate::schema::attempts::{Attempts, Form, Term, Told};
pub use crate::schema::range::{OutOfRange, Range};
use crate::value::Value;

/// Everything about a lab but its computation; the source of validation, knobs, help and documentation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// The name that lessons and the command line use, such as `thread-index`.
    pub kind: String,
    /// The name a person reads.
    pub title: String,
    /// The module of the course it belongs to.
    pub module: String,
    /// What it shows and why that matters, in two or three sentences.
    pub about: String,
    /// Inputs, in the order they are shown.
    #[serde(rename = "param", default)]
    pub params: Vec<Param>,
    /// Outputs, in the order they are shown.
    #[serde(rename = "metric", default)]
    pub metrics: Vec<Metric>,
    /// Pictures of its state.
    #[serde(rename = "panel", default)]
    pub panels: Vec<Panel>,
    /// Settings worth looking at, by name.
    #[serde(rename = "preset", default)]
    pub presets: Vec<Preset>,
    /// The formulas behind the metrics, for analytic labs.
    pub formula: Option<String>,
    /// Where formulas, figures and ideas come from.
    pub source: String,
    /// What published figures get wrong, or what users must be told.
    #[serde(rename = "note", default)]
    pub notes: Vec<String>,
    /// Seconds a run with all defaults takes on two CPU cores; absent for labs that answer at once.
    pub budget: Option<f64>,
    /// For labs that answer at once: the setting at which a run needs a device all the same.
    pub device: Option<DeviceNeed>,
    /// What its runs leave for others, such as `network`.
    pub yields: Option<String>,
    /// The parameter that says how many steps a run takes, where it is not `steps`.
    pub steps: Option<String>,
    /// The panel, a table, that `mlsys lab KIND` prints in full besides the metrics.
    pub prints: Option<String>,
    /// The one metric that stands in the status line while the lab runs and after.
    pub headline: Option<Headline>,
}

/// The metric that matters most, and the few words it has in the status line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Headline {
    /// The metric, one of the lab's.
    pub metric: String,
    /// What it is called there, such as "gradient difference".
    pub label: String,
    /// What its size is called where it is below zero, such as a loss that stands for an accuracy.
    pub below_zero: Option<String>,
}

/// When a lab that answers at once needs a device: whenever a parameter is not what it is without one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceNeed {
    pub param: String,
    /// Its value without a device.
    pub unless: Value,
}

/// A typed input of a lab.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// Its unit, in SI base units.
    pub unit: Option<String>,
    /// Its value if it is not set.
    pub default: Option<Value>,
    /// The table field that supplies its value, such as `gpu.sms`.
    pub from: Option<String>,
    /// Whether it may stay unset.
    #[serde(default)]
    pub optional: bool,
    /// Smallest value, inclusive.
    pub min: Option<f64>,
    /// Largest value, inclusive.
    pub max: Option<f64>,
    /// The names an enum may take.
    #[serde(default)]
    pub values: Vec<String>,
    /// The table that supplies an enum's names.
    pub values_from: Option<String>,
    /// Whether it may change while the run goes on.
    #[serde(default)]
    pub live: bool,
    /// What a table's entries may be.
    #[serde(default)]
    pub entries: Entries,
    /// Whether only the command line may set it, because it names something on the user's machine.
    #[serde(default)]
    pub command_line_only: bool,
    /// Its value names a run, or a file, and the lab is given what that run has left: an artifact of this kind.
    pub artifact: Option<String>,
    /// Parameters that have no effect while it has a value, unless they are set themselves: what it names decides.
    #[serde(default)]
    pub decides: Vec<String>,
    /// What it means.
    pub about: String,
}

/// What the entries of a table parameter may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Entries {
    /// Numbers.
    #[default]
    Numbers,
    /// Numbers and texts, and tables of them, which become dotted names.
    Texts,
}

named_enum! {
    /// The type of a parameter or metric.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Type {
        /// A whole number; a float with a whole value is taken too.
        Int = "int",
        /// A real number.
        Float = "float",
        Bool = "bool",
        /// Free text.
        String = "string",
        /// One of a closed set of names.
        Enum = "enum",
        /// A list, possibly nested.
        Array = "array",
        /// Named numbers.
        Table = "table",
    }
}

named_enum! {
    /// How far a metric can be trusted to repeat.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Class {
        /// The same on every machine.
        #[default]
        Exact = "exact",
        /// A function of parameters and seed up to floating-point summation order.
        Seeded = "seeded",
        /// Computed by a device: right on every one, and absent without one.
        Device = "device",
        /// Measured on the machine at hand.
        Hardware = "hardware",
    }
}

/// A named output of a lab; a name ending in `.*` is a family with one member per input, node or layer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// Its unit, in SI base units.
    pub unit: Option<String>,
    /// Smallest value, inclusive, where its unit does not imply it; `-inf` for none.
    pub min: Option<f64>,
    /// Largest value, inclusive.
    pub max: Option<f64>,
    /// How far it repeats.
    #[serde(default)]
    pub class: Class,
    /// Where its value comes from, if its class does not say it.
    pub label: Option<Label>,
    /// Whether it is recorded over steps.
    #[serde(default)]
    pub series: bool,
    /// The condition under which it is there at all.
    pub when: Option<String>,
    /// What it means.
    pub about: String,
}

/// A picture a lab offers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// Its name.
    pub name: String,
    /// What it shows, in words.
    pub shows: String,
    /// How it is drawn.
    #[serde(default)]
    pub draw: Draw,
    /// The metrics that a line or bar panel draws, families included.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// Whether the vertical axis (or the bars) are logarithmic.
    #[serde(default)]
    pub scale: Scale,
    /// Where the numbers of its picture come from, if the metrics do not say it: one word, or several where the picture
    /// says which number has which.
    #[serde(default, deserialize_with = "label::one_or_several")]
    pub label: Vec<Label>,
    /// The other runs it compares with, if any; curves have them in the background.
    pub attempts: Option<Attempts>,
}

/// Where a panel's picture comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Draw {
    /// A frame of the panel's name, sent by the lab.
    #[default]
    Frame,
    /// Curves of its metrics over steps; a metric without a series is a level line.
    Line,
    /// The latest values of its metrics as bars.
    Bars,
    /// The latest values of its metrics as a table.
    Table,
    /// Runs that have ended, this one among them, as [`Attempts`] says.
    Attempts,
}

/// A schema text that does not read, or contradicts itself: a mistake in the program, caught by its tests.
#[derive(Debug, thiserror::Error)]
#[error("schema of lab '{kind}': {message}")]
pub struct SchemaError {
    /// The lab.
    pub kind: String,
    /// What is wrong.
    pub message: String,
}

impl Schema {
    /// Whether its runs take time and can be steered; other labs answer at once.
    pub fn is_live(&self) -> bool {
        self.budget.is_some()
    }

    /// The parameter of this name; `inputs.x` finds the table `inputs`.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|p| p.name == name).or_else(|| {
            let (table, _) = name.split_once('.')?;
            self.params.iter().find(|p| p.name == table && p.ty == Type::Table)
        })
    }

    /// The metric of this name, or the family it is a member of.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|m| m.name == name).or_else(|| {
            self.metrics.iter().find(|m| {
                m.name.strip_suffix('*').is_some_and(|stem| {
                    name.strip_prefix(stem).is_some_and(|member| !member.is_empty())
                })
            })
        })
    }

    /// The panel of this name.
    pub fn panel(&self, name: &str) -> Option<&Panel> {
        self.panels.iter().find(|p| p.name == name)
    }

    /// The preset of a name.
    pub fn preset(&self, name: &str) -> Result<&Preset, UnknownPreset> {
        let found = self.presets.iter().find(|preset| preset.name == name);
        found.ok_or_else(|| UnknownPreset {
            kind: self.kind.clone(),
            name: name.escape_debug().to_string(),
            known: self.presets.iter().map(|p| p.name.clone()).collect(),
        })
    }

    /// What a panel of this name says of runs of this lab.
    pub fn attempts(&self, panel: &str) -> Option<&Attempts> {
        self.panel(panel)?.attempts.as_ref()
    }

    /// Whether any panel shows several runs.
    pub fn compares_runs(&self) -> bool {
        self.panels.iter().any(|panel| panel.attempts.is_some())
    }

    /// The nearest parameter to a misspelt name.
    pub fn nearest_param(&self, name: &str) -> Option<&str> {
        nearest(name, self.params.iter().map(|p| p.name.as_str()))
    }

    /// The nearest metric to a misspelt name.
    pub fn nearest_metric(&self, name: &str) -> Option<&str> {
        nearest(name, self.metrics.iter().map(|m| m.name.as_str()))
    }
}

/// A named starting point: what it sets, and what there is to see.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// Its name, such as `sgd-too-slow`.
    pub name: String,
    /// What it shows, in one sentence.
    pub about: String,
    /// The parameters it sets; all others keep their defaults.
    pub set: BTreeMap<String, Value>,
}

/// A preset that a lab does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("lab {kind} has no preset '{name}'; {}", known_text(.known))]
pub struct UnknownPreset {
    /// The lab.
    pub kind: String,
    pub name: String,
    /// The names there are.
    pub known: Vec<String>,
}

fn known_text(known: &[String]) -> String {
    if known.is_empty() {
        "it has none".to_owned()
    } else {
        format!("it has: {}", known.join(", "))
    }
}
