//! Kind `graph`: a result that is NaN or infinite fails the run and names the place where it was born.

use mlsys_lab::{Frame, RunData, Settings, Value};

use crate::errors::error;
use crate::run::{run, run_into};

#[test]
fn graph_names_the_metric_that_is_not_finite_and_where_it_was_born() {
    for (set, metric, reason) in [
        (
            &["expression=a = log(x); b = 2*a; b + y", "inputs.x=-1", "inputs.y=1"][..],
            "node.a",
            "log(x) at column 5 with x = -1 is NaN",
        ),
        (
            &["expression=exp(x) - 1", "inputs.x=1000"],
            "value",
            "exp(x) at column 1 with x = 1000 is inf",
        ),
        (
            &["expression=relu(sqrt(x))", "inputs.x=-4"],
            "value",
            "sqrt(x) at column 6 with x = -4 is NaN",
        ),
        (
            &["expression=max(sqrt(x), 0)", "inputs.x=-4"],
            "value",
            "sqrt(x) at column 5 with x = -4 is NaN",
        ),
        (
            &["expression=sqrt(x)", "inputs.x=0"],
            "grad.x",
            "the local derivative of sqrt(x) at column 1 with x = 0 is inf",
        ),
        (
            &["expression=a = 3*x; b = sqrt(a); 2*b", "inputs.x=0"],
            "adjoint.a",
            "the local derivative of sqrt(a) at column 14 with a = 0 is inf",
        ),
        // The value is a plain 0; only the way back meets infinity.
        (
            &["expression=1/(1 + exp(x))", "inputs.x=1000"],
            "grad.x",
            "the local derivative of exp(x) at column 8 with x = 1000 is inf",
        ),
        (
            &["expression=x^y", "inputs.x=-2", "inputs.y=2"],
            "grad.y",
            "the local derivative of x^y at column 1 with x = -2, y = 2 is NaN",
        ),
        (&["expression=1e308*x", "inputs.x=1", "learning_rate=100"], "updated.x", "too large"),
    ] {
        let error = error("graph", set);
        assert!(!error.is_usage(), "{set:?}: {error}");
        let message = error.to_string();
        assert!(message.starts_with(&format!("{metric} is not finite")), "{set:?}: {message}");
        assert!(message.contains(reason), "{set:?}: {message}");
    }
}

#[test]
fn infinities_that_reach_no_metric_are_no_error() {
    for (set, metric, value) in [
        // A branch that is not used has no say, not even by 0 times infinity.
        (&["expression=a = sqrt(x); y", "inputs.x=0", "inputs.y=3"][..], "grad.x", 0.0),
        (&["expression=1/exp(1000) + y", "inputs.y=3"], "value", 3.0),
        (&["expression=x^3", "inputs.x=-2"], "grad.x", 12.0),
    ] {
        let settings = Settings::from_pairs(set.iter().copied()).expect("name=value");
        match run("graph", &settings) {
            Ok(data) => {
                assert_eq!(data.metric(metric).and_then(|v| v.as_f64()), Some(value), "{set:?}")
            }
            Err(error) => panic!("{set:?}: {error}"),
        }
    }
}

#[test]
fn a_graph_that_fails_reports_no_metric_but_shows_where_it_broke() {
    let set = ["expression=a = log(x); 2*a", "inputs.x=-1"];
    let settings = Settings::from_pairs(set).expect("name=value");
    let mut data = RunData::default();
    assert!(run_into(&mut data, "graph", &settings).is_err());
    assert!(data.metrics().is_empty());
    let Some((_, Frame::Table(table))) = data.frames.get("values") else {
        panic!("the values stand in a table");
    };
    let values: Vec<&Value> = table.rows.iter().map(|row| &row[2]).collect();
    assert_eq!(values, [&Value::Float(-1.0), &"NaN".into(), &"NaN".into()]);
}

#[test]
fn a_machine_that_does_nothing_fails_instead_of_answering() {
    for (kind, set, metric) in [
        ("roofline", &["bandwidth_bytes_per_second=0"][..], "ridge_intensity"),
        ("roofline", &["peak_flops_per_second=0"], "fraction_of_peak"),
        ("roofline", &["flops=1", "bytes=0"], "intensity"),
        ("prefill-decode", &["utilization=0"], "prefill_seconds"),
        ("prefill-decode", &["bandwidth_bytes_per_second=0"], "weight_seconds"),
        ("doubling-time", &["months=0"], "factor_per_year"),
        ("scaling", &["measured_speedup=0"], "karp_flatt_serial_fraction"),
        ("scaling", &["baseline_seconds=1", "seconds=0"], "measured_speedup"),
        ("checkpoint-interval", &["failures_per_device_day=0"], "mean_seconds_between_failures"),
        ("checkpoint-interval", &["checkpoint_seconds=0"], "lost_fraction"),
        ("supercomputer", &["rpeak_flops_per_second=0"], "linpack_efficiency"),
        ("gpu-peak", &["baseline_flops_per_second=0"], "ratio"),
        ("gpu-peak", &["clock_hertz=1e308"], "flops_per_second"),
        ("training-compute", &["utilization=0"], "device_hours"),
        ("training-compute", &["device_hours=0"], "achieved_flops_per_second"),
        ("training-compute", &["peak_flops_per_second=0"], "utilization"),
        ("training-compute", &["parameters=1e300"], "flops"),
        ("scaling-law", &["parameter_exponent=0", "token_exponent=0"], "optimal_parameters"),
        ("scaling-law", &["flops=0"], "optimal_tokens"),
        ("parallel-plan", &["matmul_efficiency=0"], "compute_seconds"),
        ("parallel-plan", &["peak_flops_per_second=0"], "mfu"),
        ("scaling-law", &["parameter_coefficient=0"], "optimal_tokens"),
    ] {
        let error = error(kind, set);
        assert!(!error.is_usage(), "{kind} {set:?}: {error}");
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("{metric} is not finite")),
            "{kind} {set:?}: {message}"
        );
    }
}
