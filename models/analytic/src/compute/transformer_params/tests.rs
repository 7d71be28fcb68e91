//! Counts against a second way to count, and the limits of 64 bits.

use mlsys_lab::{Settings, Tables};

use super::*;

fn params(set: &[&str]) -> Params {
    let settings = Settings::from_pairs(set.iter().copied()).unwrap();
    let lab = TransformerParams::new().unwrap();
    Params::resolve(lab.schema(), &settings, Tables::builtin(), None).unwrap()
}

fn count(set: &[&str]) -> Result<(Transformer, Count), LabError> {
    let model = Transformer::read(&params(set))?;
    let count = Count::of(&model)?;
    Ok((model, count))
}

#[test]
fn the_parts_sum_to_the_whole_and_to_the_published_count_of_every_tabled_model() {
    let tables = Tables::builtin();
    let mut counted = 0;
    for name in tables.names("model") {
        // Entries with the dimensions of their attention alone have no count.
        let Some(Value::Int(published)) = tables.field("model", name, "parameters") else {
            continue;
        };
        let (_, count) = count(&[&format!("model={name}")]).unwrap();
        assert_eq!(count.total, published, "{name}");
        let parts: i64 = count.weights.iter().map(Weight::all).sum();
        assert_eq!(parts, count.total, "{name}");
        counted += 1;
    }
    assert!(counted >= 10, "{counted}");
}

#[test]
fn equation_2_of_megatron_counts_the_same_gpts() {
    for (l, h, a, v, s) in [(24_i64, 2304_i64, 24, 51200, 2048), (2, 64, 4, 100, 16)] {
        let set = [
            "architecture=gpt".to_owned(),
            format!("layers={l}"),
            format!("hidden={h}"),
            format!("heads={a}"),
            format!("vocab={v}"),
            format!("context={s}"),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let (_, count) = count(&set).unwrap();
        // P = 12 l h^2 (1 + 13/(12 h) + (V + s)/(12 l h)), which leaves out the last norm.
        let equation = 12 * l * h * h + 13 * l * h + (v + s) * h;
        assert_eq!(count.total, equation + 2 * h);
    }
}

#[test]
fn fewer_key_value_heads_shrink_two_of_four_matrices() {
    let (_, own) = count(&["model=llama-3-8b", "kv_heads=32"]).unwrap();
    let (_, shared) = count(&["model=llama-3-8b"]).unwrap();
    assert_eq!(shared.attention * 8, own.attention * 5);
}

#[test]
fn the_rule_applies_when_it_is_asked_for_and_a_width_is_kept_otherwise() {
    for (set, ffn) in [
        (&["model=llama-3-8b"][..], 14336),
        (&["model=llama-3-8b", "ffn_multiplier=1.3"], 14336),
        (&["model=llama-3-8b", "ffn_multiple_of=256"], 11008),
        (&["model=llama-3-8b", "ffn_multiple_of=1024", "ffn_multiplier=1.3"], 14336),
        (&["model=llama-3-8b", "ffn=6144"], 6144),
        (&["model=gpt2", "ffn_multiple_of=1000"], 3072),
        (&["architecture=gpt", "hidden=64", "heads=4"], 256),
        // The MLP of the transformer that mlsys trains.
        (&["hidden=32", "heads=4", "ffn_multiple_of=8"], 88),
    ] {
        assert_eq!(count(set).unwrap().0.ffn, ffn, "{set:?}");
    }
}

#[test]
fn the_transformer_that_mlsys_trains_has_27296_weights() {
    let lab = TransformerParams::new().unwrap();
    let preset = lab.schema().preset("tiny-llama").unwrap().settings();
    let params = Params::resolve(lab.schema(), &preset, Tables::builtin(), None).unwrap();
    let model = Transformer::read(&params).unwrap();
    assert_eq!(Count::of(&model).unwrap().total, 27296);
}

#[test]
fn what_changes_nothing_is_said() {
    let said = |set: &[&str]| ignored(&params(set));
    assert!(said(&["model=llama-3-8b"]).is_none());
    assert!(said(&["ffn_multiple_of=64"]).is_none());
    let text = said(&["model=llama-3-8b", "ffn_multiplier=1.3"]).unwrap();
    assert!(text.starts_with("ffn_multiplier changes nothing while ffn is given"), "{text}");
    let text = said(&["model=gpt2", "ffn_multiple_of=8"]).unwrap();
    assert!(text.ends_with("architecture llama"), "{text}");
}
