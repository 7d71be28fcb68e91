use super::*;

const SCHEMA: &str = r#"
kind = "sample"
title = "Sample"
module = "test"
about = "a lab for tests"
source = "none"
[[param]]
name = "gpu"
type = "enum"
values_from = "gpu"
optional = true
about = "chip"
[[param]]
name = "sms"
type = "int"
from = "gpu.sms"
default = 80
min = 1
about = "multiprocessors"
[[param]]
name = "rate"
type = "float"
default = 0.5
min = 0.0
max = 1.0
about = "a share"
[[param]]
name = "mode"
type = "enum"
values = ["fast", "slow"]
default = "fast"
about = "a name"
[[param]]
name = "inputs"
type = "table"
default = { x = 2.0, y = 3.0 }
about = "inputs"
[[param]]
name = "seed"
type = "int"
default = 1
min = 0
about = "seed"
"#;

fn resolve(pairs: &[&str]) -> Result<Params, Vec<String>> {
    let schema = Schema::parse(SCHEMA).unwrap();
    let settings = Settings::from_pairs(pairs.iter().copied()).unwrap();
    Params::resolve(&schema, &settings, Tables::builtin(), None)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

#[test]
fn a_value_set_wins_over_the_table_and_the_table_over_the_default() {
    let plain = resolve(&[]).unwrap();
    assert_eq!(plain.int("sms").unwrap(), 80);
    assert_eq!(plain.origin("sms"), Some(&Origin::Default));
    let chip = resolve(&["gpu=a100-sxm4-40gb"]).unwrap();
    assert_eq!(chip.int("sms").unwrap(), 108);
    let set = resolve(&["gpu=a100-sxm4-40gb", "sms=1e2"]).unwrap();
    assert_eq!(set.int("sms").unwrap(), 100);
}

#[test]
fn setting_one_entry_replaces_the_whole_default_table() {
    let params = resolve(&["inputs.z=7"]).unwrap();
    let entries = BTreeMap::from([("z".to_owned(), Value::Float(7.0))]);
    assert_eq!(params.get("inputs"), Some(&Value::Table(entries)));
}

#[test]
fn the_runs_seed_fills_an_unset_seed_only() {
    let schema = Schema::parse(SCHEMA).unwrap();
    let seeded = |pairs: &[&str]| {
        let settings = Settings::from_pairs(pairs.iter().copied()).unwrap();
        let params = Params::resolve(&schema, &settings, Tables::builtin(), Some(9)).unwrap();
        params.int("seed").unwrap()
    };
    assert_eq!(seeded(&[]), 9);
    assert_eq!(seeded(&["seed=3"]), 3);
}

#[test]
fn every_error_is_reported_and_says_what_would_do() {
    let errors = resolve(&["sns=1", "rate=2", "mode=fats", "sms=1.5", "inputs.x=a"]).unwrap_err();
    assert_eq!(
        errors,
        [
            "parameter 'sns': no such parameter; did you mean 'sms'?",
            "parameter 'rate': 2 is outside 0 to 1",
            "parameter 'mode': 'fats' is not one of its values; did you mean 'fast'?",
            "parameter 'sms': expected int, found the number 1.5",
            "parameter 'inputs.x': expected float, found 'a'",
        ]
    );
}

#[test]
fn odd_texts_are_errors_and_never_panics() {
    for text in ["", "nan", "inf", "1 # c", "1\nw = 2", "[", "\"", "true", "1e400"] {
        let pair = format!("rate={text}");
        let result = resolve(&[pair.as_str()]);
        let is_number = matches!(text, "1 # c");
        assert_eq!(result.is_ok(), is_number, "{text:?}: {result:?}");
    }
}

#[test]
fn a_knob_on_one_entry_leaves_the_other_entries_of_its_table() {
    let schema = Schema::parse(SCHEMA).unwrap();
    for (set, expected) in [
        (vec![], "{ x = 7, y = 3 }"),
        (vec!["inputs={ a = 1, x = 0 }"], "{ a = 1, x = 7 }"),
        (vec!["inputs.y=4", "inputs.z=5"], "{ x = 7, y = 4, z = 5 }"),
    ] {
        let settings = Settings::from_pairs(set.iter().copied()).unwrap();
        let turned = settings.turned(&schema, "inputs.x", Value::Float(7.0));
        let params = Params::resolve(&schema, &turned, Tables::builtin(), None).unwrap();
        assert_eq!(params.get("inputs").unwrap().to_string(), expected);
    }
    let settings = Settings::from_pairs(["rate=0.1"]).unwrap();
    let turned = settings.turned(&schema, "rate", Value::Float(0.9));
    let params = Params::resolve(&schema, &turned, Tables::builtin(), None).unwrap();
    assert_eq!(params.float("rate").unwrap(), 0.9);
}

#[test]
fn what_an_entry_supplies_follows_another_entry_unless_somebody_set_it() {
    let schema = Schema::parse(
        r#"
        kind = "k"
        title = "t"
        module = "m"
        about = "a"
        source = "s"
        [[param]]
        name = "link"
        type = "enum"
        values_from = "link"
        default = "nvlink2"
        about = "a"
        [[param]]
        name = "bandwidth"
        type = "float"
        from = "link.bandwidth_bytes_per_second"
        about = "a"
        [[param]]
        name = "latency"
        type = "float"
        from = "link.latency_seconds"
        about = "a"
        "#,
    )
    .unwrap();
    let settings = Settings::from_pairs(["latency=0.5"]).unwrap();
    let mut params = Params::resolve(&schema, &settings, Tables::builtin(), None).unwrap();
    assert_eq!(params.float("bandwidth").unwrap(), 1.5e11);
    let other = Value::Text("nvlink4".to_owned());
    params.turn(&schema, Tables::builtin(), "link", other);
    assert_eq!(params.float("bandwidth").unwrap(), 4.5e11);
    assert_eq!(params.float("latency").unwrap(), 0.5);
}
