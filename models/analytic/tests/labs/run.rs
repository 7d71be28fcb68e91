//! Running one lab as the command line does.

use std::sync::{Arc, LazyLock};

use mlsys_lab::control::{Control, Limits};
use mlsys_lab::{DeviceId, Lab, LabError, Params, Registry, Run, RunData, Settings, Tables};

pub(crate) static REGISTRY: LazyLock<Registry> =
    LazyLock::new(|| Registry::on_demand(mlsys_analytic::labs()));

pub(crate) fn lab(kind: &str) -> &'static dyn Lab {
    REGISTRY.find(kind).expect("a kind of this crate")
}

/// Settings from `name=value`.
pub(crate) fn settings(set: &[impl AsRef<str>]) -> Settings {
    Settings::from_pairs(set.iter().map(AsRef::as_ref)).expect("name=value")
}

/// What a run reports, also before an error; of several unusable parameters the first is the error.
pub(crate) fn run_lab(
    lab: &dyn Lab,
    device: DeviceId,
    settings: &Settings,
) -> (RunData, Result<(), LabError>) {
    let mut data = RunData::default();
    let ended = Params::resolve(lab.schema(), settings, Tables::builtin(), None)
        .map_err(|errors| LabError::Param(errors.into_iter().next().expect("an error")))
        .and_then(|params| {
            let control = Control::free(Limits::default(), Arc::default());
            lab.run(&mut Run { params, device, sink: &mut data, control })
        });
    (data, ended)
}

pub(crate) fn run(kind: &str, settings: &Settings) -> Result<RunData, LabError> {
    let (data, ended) = run_lab(lab(kind), DeviceId::CPU, settings);
    ended.map(|()| data)
}

/// The same of a run that must succeed.
pub(crate) fn ran(kind: &str, set: &[impl AsRef<str>]) -> RunData {
    run(kind, &settings(set)).unwrap_or_else(|error| {
        let set: Vec<&str> = set.iter().map(AsRef::as_ref).collect();
        panic!("{kind} {set:?}: {error}")
    })
}

pub(crate) fn number(data: &RunData, name: &str) -> f64 {
    data.metric(name).and_then(|value| value.as_f64()).unwrap_or_else(|| panic!("no {name}"))
}
