//! The lab `lowering` from outside: what it counts, and what it says to settings that it has no form for.

use mlsys_lab::{Settings, Value};

use crate::errors::error;
use crate::run::run;

fn metric(set: &[&str], name: &str) -> Option<Value> {
    let settings = Settings::from_pairs(set.iter().copied()).expect("name=value");
    let data = run("lowering", &settings).expect("a run");
    data.metrics().get(name).cloned()
}

#[test]
fn six_forms_and_eleven_translators() {
    assert_eq!(metric(&[], "targets_compiled"), Some(Value::Int(6)));
    assert_eq!(metric(&[], "compilers_without_ir"), Some(Value::Int(30)));
    assert_eq!(metric(&[], "compilers_with_ir"), Some(Value::Int(11)));
    let with_ptx = ["targets=[\"cuda\", \"ptx\", \"cuda\"]"];
    assert_eq!(metric(&with_ptx, "targets_compiled"), Some(Value::Int(1)));
}

#[test]
fn an_index_is_held_against_the_length_where_the_source_does() {
    for (kernel, checked) in [("kernel=relu", true), ("kernel=matmul-tile", false)] {
        for target in ["cubecl_ir", "wgsl", "spirv", "cuda", "hip", "metal"] {
            let found = metric(&[kernel], &format!("bounds_checked.{target}"));
            assert_eq!(found, Some(Value::Bool(checked)), "{kernel} {target}");
        }
    }
}

#[test]
fn what_there_is_no_form_for_is_told() {
    for (set, said) in [
        ("threads_per_block=65", "32, 64, 128 and 256"),
        ("vector_width=3", "1 or 4"),
        ("targets=[\"cud\"]", "'cud' is none of cubecl-ir, wgsl"),
        ("targets=[7]", "7 is no name"),
    ] {
        let error = error("lowering", &[set]);
        assert!(error.is_usage(), "{set}");
        assert!(error.to_string().contains(said), "{set}: {error}");
    }
}
