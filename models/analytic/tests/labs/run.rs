//! Running one lab as the command line does.

use std::sync::{Arc, LazyLock};

use mlsys_lab::control::{Control, Limits};
use mlsys_lab::{DeviceId, Lab, LabError, Params, Registry, Run, RunData, Settings, Tables};

static REGISTRY: LazyLock<Registry> =
    LazyLock::new(|| Registry::new(mlsys_analytic::labs().expect("every schema reads")));

/// The lab of a kind.
pub(crate) fn lab(kind: &str) -> &'static dyn Lab {
    REGISTRY.find(kind).expect("a kind of this crate")
}

/// Everything one run reports; of several unusable parameters the first.
pub(crate) fn run(kind: &str, settings: &Settings) -> Result<RunData, LabError> {
    let mut data = RunData::default();
    run_into(&mut data, kind, settings)?;
    Ok(data)
}

/// Runs and keeps what was reported before an error.
pub(crate) fn run_into(
    data: &mut RunData,
    kind: &str,
    settings: &Settings,
) -> Result<(), LabError> {
    let lab = lab(kind);
    let params = Params::resolve(lab.schema(), settings, Tables::builtin(), None)
        .map_err(|errors| LabError::Param(errors.into_iter().next().expect("an error")))?;
    lab.run(&mut Run {
        params,
        device: DeviceId::CPU,
        sink: data,
        control: Control::free(Limits::default(), Arc::default()),
    })
}
