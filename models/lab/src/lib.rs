//! What a lab is, and nothing about how one computes: typed parameters, metrics, reports, frames, control,
//! the device's name, the hardware tables and the expression language.
//!
//! A [`Lab`] takes [`Params`] and emits [`Report`]s; [`RunData`] collects them. The screen, the checks, the
//! records on disk and the JSON output all read that one collection, so none can disagree with another.
//!
//! This crate does no I/O and knows no back end and no terminal.

pub mod control;
pub mod device;
pub mod error;
pub mod frame;
pub mod lab;
mod label;
pub mod output;
pub mod params;
pub mod picture;
pub mod report;
pub mod schema;
pub mod tables;
pub mod value;

pub use mlsys_expr::{UnknownName, median, named_enum, nearest, random, reorders, steers_terminal};

pub use control::{Command, Control, Limits, NextStep, StopReason};
pub use device::{Backend, DeviceChoice, DeviceId, DeviceInfo};
pub use error::{LabError, ParamError};
pub use frame::Frame;
pub use lab::{Lab, Recipe, Registry, Run, UnknownKind};
pub use params::{Params, Settings};
pub use report::{Artifact, Report, RunData, Series, Sink};
pub use schema::Schema;
pub use tables::Tables;
pub use value::Value;
