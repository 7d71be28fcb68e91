//! The highest rate measured on each device: what expressions of lessons call `device.peak_flops_per_second`.

use std::collections::BTreeMap;
use std::path::Path;

use mlsys_lab::device::DeviceInfo;
use mlsys_lab::params::Params;
use mlsys_lab::report::RunData;

use crate::record;

/// The lab that measures it.
const LAB: &str = "device-peak";

/// The metric that tells it.
const METRIC: &str = "peak_flops_per_second";

/// The arithmetic that counts, by parameter `precision`: other rates are no peak of what labs here compute.
const PRECISION: (&str, &str) = ("precision", "fp32");

/// Rates in flop/s, by the device's name.
pub type Peaks = BTreeMap<String, f64>;

/// What the newest finished run kept in a folder has measured on a device.
pub fn recorded(runs: &Path, device: &str) -> Option<f64> {
    record::newest_metric(runs, LAB, device, PRECISION, METRIC)
}

/// What is recorded of each of these devices.
pub fn of_devices(runs: &Path, devices: &[DeviceInfo]) -> Peaks {
    let names = devices.iter().map(|device| &device.name);
    names.filter_map(|name| Some((name.clone(), recorded(runs, name)?))).collect()
}

/// What a run has measured, if it is one that measures it.
pub fn measured_by(kind: &str, params: &Params, data: &RunData) -> Option<f64> {
    let (param, value) = PRECISION;
    let fits = kind == LAB && params.text(param).ok() == Some(value);
    fits.then(|| data.metric(METRIC)?.as_f64()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::{Settings, Tables, Value};

    #[test]
    fn only_single_precision_of_the_lab_that_measures_counts() {
        let lab = mlsys_registry::registry().find(LAB).unwrap();
        assert!(lab.schema().metric(METRIC).is_some());
        let mut data = RunData::default();
        data.scalars.insert(METRIC.into(), Value::Float(2e11));
        let params = |set: &str| {
            let settings = Settings::from_pairs([set]).unwrap();
            Params::resolve(lab.schema(), &settings, Tables::builtin(), None).unwrap()
        };
        let fp32 = params("precision=fp32");
        assert_eq!(measured_by(LAB, &fp32, &data), Some(2e11));
        assert_eq!(measured_by(LAB, &params("precision=fp16"), &data), None);
        assert_eq!(measured_by("matmul-bench", &fp32, &data), None);
        assert_eq!(measured_by(LAB, &fp32, &RunData::default()), None);
    }
}
