//! Whole runs: what is declared is reported, and the record is true.

use super::super::Capture;
use mlsys_lab::control::Limits;
use mlsys_lab::{Control, DeviceId, Lab, LabError, Params, Run, RunData, Settings, Tables};

/// A run on the CPU.
fn try_capture(set: &[&str]) -> Result<RunData, LabError> {
    let lab = Capture::new().unwrap();
    let settings = Settings::from_pairs(set.iter().copied()).unwrap();
    let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None)
        .unwrap_or_else(|error| panic!("{set:?}: {error:?}"));
    let mut data = RunData::default();
    lab.run(&mut Run {
        params,
        device: DeviceId::CPU,
        sink: &mut data,
        control: Control::free(Limits::default(), Default::default()),
    })?;
    Ok(data)
}

/// A run on the CPU that must end well.
fn capture(set: &[&str]) -> RunData {
    try_capture(set).unwrap_or_else(|error| panic!("{set:?}: {error}"))
}

fn number(data: &RunData, name: &str) -> f64 {
    let found = data.metric(name).and_then(|value| value.as_f64());
    found.unwrap_or_else(|| panic!("no metric {name}"))
}

/// Small networks of each kind, with what makes their graphs differ.
const NETWORKS: [&[&str]; 6] = [
    &["layers=[20, 16, 16, 4]", "batch_size=8"],
    &["layers=[6, 3]", "batch_size=2", "activation=identity"],
    &["layers=[20, 16, 4]", "batch_size=8", "activation=gelu"],
    &[
        "model=cnn",
        "width=2",
        "depth=3",
        "batch_size=2",
        "activation=silu",
    ],
    &["model=transformer", "width=16", "context=8", "batch_size=2"],
    &[
        "model=transformer",
        "width=16",
        "kv_heads=4",
        "depth=1",
        "context=1",
        "batch_size=3",
    ],
];

#[test]
fn every_network_reports_what_is_declared_and_draws_every_panel() {
    let lab = Capture::new().unwrap();
    let schema = lab.schema();
    for set in NETWORKS {
        let data = capture(set);
        let reported = data.metrics();
        for metric in &schema.metrics {
            let found = match metric.name.strip_suffix('*') {
                Some(stem) => reported.keys().any(|name| name.starts_with(stem)),
                None => reported.contains_key(metric.name.as_str()),
            };
            assert!(found, "{set:?}: {} is not reported", metric.name);
        }
        for name in reported.keys() {
            assert!(schema.metric(name).is_some(), "{set:?}: {name}");
        }
        for panel in &schema.panels {
            let drawn = data.frames.contains_key(panel.name.as_str());
            assert!(drawn, "{set:?}: {} is not drawn", panel.name);
        }
    }
}

#[test]
fn the_record_done_again_is_the_network_and_its_gradient_is_the_slope() {
    for set in NETWORKS {
        let data = capture(set);
        let replay = number(&data, "replay_difference");
        assert!(replay <= 1e-6, "{set:?}: {replay}");
        let slopes = number(&data, "gradient_check_error");
        assert!(slopes <= 1e-3, "{set:?}: {slopes}");
        assert_eq!(number(&data, "steps_done"), 9.0, "{set:?}");
    }
}
