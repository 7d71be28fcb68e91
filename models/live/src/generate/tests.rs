//! The lab from outside: what it promises of its numbers.

mod passes;

use mlsys_lab::{Frame, Report, RunData, Value};

use super::lab;
use crate::trial::{self, frame, must_be_declared, must_refuse, number, values};

/// A run with a barely trained model: the properties tested do not depend on training.
fn generate(set: &[&str]) -> RunData {
    let few = [&["training_steps=2", "context=96"], set].concat();
    trial::run(&lab().unwrap(), &few)
}

fn text(data: &RunData) -> String {
    data.metric("text").unwrap().as_str().unwrap().to_owned()
}

#[test]
fn cached_and_uncached_runs_write_the_same_text() {
    for set in [
        &[][..],
        &["cache=false"],
        &["draft_width=8"],
        &["batch_size=3", "kv_heads=1"],
        &["window=9", "kv_heads=4"],
        &["dataset=chain", "depth=1"],
    ] {
        let data = generate(&[&["generated_tokens=20", "prompt_tokens=7"], set].concat());
        assert_eq!(data.metric("tokens_identical"), Some(Value::Bool(true)), "{set:?}");
        assert!(number(&data, "max_logit_difference") <= 1e-4, "{set:?}");
    }
}

#[test]
fn fewer_bits_are_further_from_the_truth() {
    let of = |bits: &str| number(&generate(&["generated_tokens=12", bits]), "max_logit_difference");
    let [full, half, eight, four] =
        ["cache_bits=32", "cache_bits=16", "cache_bits=8", "cache_bits=4"].map(of);
    assert!(full < half && half < eight && eight < four, "{full} {half} {eight} {four}");
}

#[test]
fn the_same_seed_draws_the_same_tokens() {
    let of = |seed: &str| text(&generate(&["temperature=1", "generated_tokens=24", seed]));
    assert_eq!(of("seed=3"), of("seed=3"));
    assert_ne!(of("seed=3"), of("seed=4"));
    let data = generate(&["temperature=1", "generated_tokens=8"]);
    assert_eq!(data.metric("tokens_identical"), None);
    assert_eq!(values(&data, "cache_bytes").len(), 8);
}

#[test]
fn the_default_run_counts_what_the_contract_says() {
    let data = generate(&[]);
    assert_eq!(number(&data, "token_forwards"), 79.0);
    assert_eq!(*values(&data, "cache_bytes").last().unwrap(), 20224.0);
    assert_eq!(number(&data, "cache_scale_bytes"), 0.0);
    assert_eq!(number(&data, "steps_done"), 64.0);
    assert_eq!(values(&data, "decode_seconds").len(), 63);
    must_be_declared(&lab().unwrap(), &data);
    let without = generate(&["cache=false", "compare=false"]);
    assert_eq!(number(&without, "token_forwards"), 3040.0);
    assert_eq!(*values(&without, "cache_bytes").last().unwrap(), 0.0);
    // Reading a prompt at once does more with each byte than reading a token.
    assert!(number(&data, "prefill_intensity") > 4.0 * number(&data, "decode_intensity"));
}

#[test]
fn forwards_and_bytes_follow_their_formulas() {
    for (prompt, generated, batch, bits, kv_heads) in
        [(1, 1, 1, 32, 2), (5, 9, 2, 16, 1), (8, 4, 3, 8, 4), (3, 12, 1, 4, 2)]
    {
        let set = format!(
            "prompt_tokens={prompt} generated_tokens={generated} batch_size={batch} cache_bits={bits} kv_heads={kv_heads}"
        );
        let data = generate(&set.split(' ').collect::<Vec<_>>());
        let read = f64::from(prompt + generated - 1);
        assert_eq!(number(&data, "token_forwards"), read, "{set:?}");
        let bytes = f64::from(bits) / 8.0;
        // Keys and values, layers, heads, their width.
        let token = 2.0 * 2.0 * f64::from(kv_heads) * 8.0 * bytes;
        let kept = values(&data, "cache_bytes");
        assert_eq!(*kept.last().unwrap(), token * read * f64::from(batch), "{set:?}");
        assert_eq!(kept[0], token * f64::from(prompt * batch), "{set:?}");
        let scales =
            if bits < 16 { 4.0 * 2.0 * 2.0 * f64::from(kv_heads * batch) * read } else { 0.0 };
        assert_eq!(number(&data, "cache_scale_bytes"), scales, "{set:?}");
    }
    let data = generate(&["prompt_tokens=5", "generated_tokens=9", "cache=false", "compare=false"]);
    assert_eq!(number(&data, "token_forwards"), f64::from(5 * 9 + 9 * 8 / 2));
}

#[test]
fn operations_are_those_of_the_products() {
    // Block: 32 x (2 x 32 + 2 x 16 + 3 x 88) weights; head: 13 symbols.
    let (block, head) = (32.0 * 360.0, 32.0 * 13.0);
    let of = |new: f64, seen: f64| 2.0 * (2.0 * new * block + 4.0 * new * seen * 32.0) + 2.0 * head;
    let data = generate(&["generated_tokens=3"]);
    assert_eq!(values(&data, "forward_flops"), [of(16.0, 16.0), of(1.0, 17.0), of(1.0, 18.0)]);
    let data = generate(&["generated_tokens=3", "cache=false"]);
    assert_eq!(values(&data, "forward_flops"), [of(16.0, 16.0), of(17.0, 17.0), of(18.0, 18.0)]);
    // A window looks at no more than it holds.
    let data = generate(&["generated_tokens=3", "window=4"]);
    assert_eq!(values(&data, "forward_flops"), [of(16.0, 16.0), of(1.0, 4.0), of(1.0, 4.0)]);
    assert_eq!(values(&data, "cache_bytes"), [1024.0; 3]);
}

#[test]
fn drafts_are_counted_and_agree_with_the_formula() {
    let set = ["draft_width=16", "temperature=1", "generated_tokens=200", "compare=false"];
    let data = generate(&set);
    let (share, gained) =
        (number(&data, "acceptance_rate"), number(&data, "tokens_per_target_run"));
    assert!(share > 0.0 && share < 1.0, "{share}");
    // Rounds are independent but for the text they continue; their spread is at most 4 tokens wide.
    let rounds = 199.0 / gained;
    let error = 3.0 * 2.0 / rounds.sqrt();
    assert!((gained - number(&data, "expected_tokens")).abs() < error, "{gained} {error}");
    assert_eq!(number(&data, "steps_done"), 200.0);
    assert!(number(&data, "draft_forwards") >= 199.0 - rounds);
    must_be_declared(&lab().unwrap(), &data);
    // This run ends with a token that no draft was made for.
    assert_eq!(generate(&["draft_width=16"]).metric("decode_intensity"), None);
}

/// A run with knobs turned after as many tokens.
fn turned(set: &[&str], knobs: &[(u64, &str, Value)]) -> RunData {
    let few = [&["training_steps=2"], set].concat();
    trial::turned_by("cache_bytes", &lab().unwrap(), &few, knobs)
}

#[test]
fn knobs_turn_between_tokens() {
    let fewer = turned(&["generated_tokens=40"], &[(5, "generated_tokens", Value::Int(9))]);
    assert_eq!(number(&fewer, "steps_done"), 9.0);
    let plain = generate(&["generated_tokens=30"]);
    let hot = turned(&["generated_tokens=30"], &[(10, "temperature", Value::Float(3.0))]);
    let [cold, warm] = [&plain, &hot].map(|data| text(data).chars().collect::<Vec<char>>());
    assert_eq!(cold[..10], warm[..10]);
    assert_ne!(cold, warm);
    // What was drawn at random is no longer compared.
    assert_eq!(hot.metric("tokens_identical"), None);
    let drafts = turned(
        &["generated_tokens=30", "draft_width=8"],
        &[(6, "draft_tokens", Value::Int(1)), (20, "generated_tokens", Value::Int(24))],
    );
    assert_eq!(number(&drafts, "steps_done"), 24.0);
    assert_eq!(drafts.metric("tokens_identical"), Some(Value::Bool(true)));
}

#[test]
fn invalid_settings_are_refused_before_training() {
    // This many steps of training would not end.
    const LONG: &str = "training_steps=100000";
    let huge = ["batch_size=256", "generated_tokens=4096", "heads=16", "width=512"];
    must_refuse(
        &lab().unwrap(),
        &[
            (&[LONG, "prompt="], "the prompt is empty"),
            (&[LONG, "prompt=", "requests=3"], "the prompt is empty"),
            (&[LONG, "prompt=1+y"], "character 3 is 'y'"),
            (&[LONG, "prompt=1+y", "requests=3"], "character 3 is 'y'"),
            (&[LONG, "prompt_tokens=97"], "longer than the model's window"),
            (&[LONG, "prompt_tokens=97", "requests=3"], "longer than the model's window"),
            (&[LONG, "draft_width=12"], "a multiple of 8"),
            (&[LONG, "cache_bits=5"], "32, 16, 8 or 4 bits"),
            (&[LONG, "cache=false", "cache_bits=8"], "no numbers to be kept"),
            (&[LONG, "draft_width=16", "batch_size=2"], "set batch_size to 1"),
            (&[LONG, "requests=4", "cache_bits=8"], "without drafts"),
            (&[LONG, "requests=4", "draft_width=8"], "without drafts"),
            (&[LONG, "requests=256", "batch_size=256", "arrival_steps=9"], "to 8 at most"),
            (&[LONG, "width=30"], "set width to a multiple of 8"),
            (&[LONG, "kv_heads=3"], "set kv_heads to a divisor of heads"),
        ],
    );
    let error = trial::try_run(&lab().unwrap(), &[&[LONG][..], &huge].concat()).unwrap_err();
    assert!(error.to_string().contains("are free; make"), "{error}");
}

#[test]
fn server_reports_its_steps() {
    let set = ["requests=5", "batch_size=2", "generated_tokens=12"];
    for batching in ["continuous", "static"] {
        let own = format!("batching={batching}");
        let data = generate(&[&set[..], &[own.as_str()]].concat());
        let steps = number(&data, "steps_planned");
        assert_eq!(steps, number(&data, &format!("server_steps.{batching}")));
        assert_eq!(steps, number(&data, "steps_done"));
        assert!(number(&data, "tokens_per_second") > 0.0);
        assert!(data.metric("seconds_per_token").is_none());
        for panel in ["server", "pages", "text", "cache", "attention"] {
            assert!(data.frames.contains_key(panel), "{panel}");
        }
    }
    assert!(generate(&[]).metric("steps_planned").is_none());
}

#[test]
fn drafts_are_shown_then_struck_out() {
    let mut standings = Vec::new();
    let set = ["training_steps=2", "draft_width=8", "temperature=1", "generated_tokens=30"];
    trial::answered(&lab().unwrap(), &set, |report| {
        if let Report::Frame { panel, frame, .. } = report
            && let Frame::StyledText(passage) = frame.as_ref()
            && &**panel == "text"
        {
            let parts = passage.paragraphs.iter().flat_map(|of| &of.stretches);
            standings.extend(parts.map(|part| passage.standing(part).unwrap().name.clone()));
        }
        trial::Then::On
    });
    for name in ["prompt", "written", "drafted", "accepted", "rejected"] {
        assert!(standings.iter().any(|of| of == name), "{name}");
    }
}

#[test]
fn attention_sums_to_one_inside_its_window() {
    let data = generate(&["generated_tokens=10", "window=6"]);
    let Frame::HeatMap(map) = frame(&data, "attention") else { panic!("attention") };
    assert_eq!((map.columns, map.rows), (6, 8));
    for row in map.cells.chunks(6) {
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{row:?}");
    }
}
