//! Counts by formula, knobs, pictures, and what is refused.

use mlsys_lab::control::Command;
use mlsys_lab::{Frame, Value};
use mlsys_sim::inference::bytes_per_token;

use super::{generate, text};
use crate::generate::lab;
use crate::trial::{self, must_be_declared, number, values};

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
        let set = [
            format!("prompt_tokens={prompt}"),
            format!("generated_tokens={generated}"),
            format!("batch_size={batch}"),
            format!("cache_bits={bits}"),
            format!("kv_heads={kv_heads}"),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let data = generate(&set);
        let read = f64::from(prompt + generated - 1);
        assert_eq!(number(&data, "token_forwards"), read, "{set:?}");
        let bytes = f64::from(bits) / 8.0;
        let token = bytes_per_token(2.0, f64::from(kv_heads), 8.0, bytes);
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
}

fn turned(set: &[&str], knobs: &[(f64, &str, Value)]) -> mlsys_lab::RunData {
    let few = [&["training_steps=2"], set].concat();
    let mut knobs = knobs.to_vec();
    let lab = lab().unwrap();
    let (data, reason) = trial::answered(&lab, &few, |report| {
        let mlsys_lab::Report::Point { name, step, .. } = report else {
            return trial::Then::On;
        };
        let due =
            |(after, ..): &(f64, &str, Value)| &**name == "cache_bytes" && *after <= *step as f64;
        match knobs.iter().position(due) {
            Some(place) => {
                let (_, name, value) = knobs.remove(place);
                let name = name.to_owned();
                trial::Then::Order(Command::Set { name, value })
            }
            None => trial::Then::On,
        }
    });
    assert!(knobs.is_empty() && reason.is_none());
    data
}

#[test]
fn knobs_turn_between_tokens() {
    let fewer = turned(&["generated_tokens=40"], &[(5.0, "generated_tokens", Value::Int(9))]);
    assert_eq!(number(&fewer, "steps_done"), 9.0);
    let plain = generate(&["generated_tokens=30"]);
    let hot = turned(&["generated_tokens=30"], &[(10.0, "temperature", Value::Float(3.0))]);
    let (cold, hot_text) = (text(&plain), text(&hot));
    assert_eq!(
        cold.chars().take(10).collect::<String>(),
        hot_text.chars().take(10).collect::<String>()
    );
    assert_ne!(cold, hot_text);
    // What was drawn at random is no longer compared.
    assert_eq!(hot.metric("tokens_identical"), None);
    let drafts = turned(
        &["generated_tokens=30", "draft_width=8"],
        &[(6.0, "draft_tokens", Value::Int(1)), (20.0, "generated_tokens", Value::Int(24))],
    );
    assert_eq!(number(&drafts, "steps_done"), 24.0);
    assert_eq!(drafts.metric("tokens_identical"), Some(Value::Bool(true)));
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_is_trained() {
    let lab = lab().unwrap();
    for (set, said) in [
        (&["prompt="][..], "the prompt is empty"),
        (&["prompt=1+y"], "character 3 is 'y'"),
        (&["prompt_tokens=97"], "longer than the model's window"),
        (&["draft_width=12"], "a multiple of 8"),
        (&["batch_size=256", "generated_tokens=4096", "heads=16", "width=512"], "are free; make"),
    ] {
        // Nothing is trained: else so many steps would not end.
        for more in [&[][..], &["requests=3"]] {
            if more.is_empty() || set[0].starts_with("prompt") {
                let set = [&["training_steps=100000"], set, more].concat();
                let error = trial::try_run(&lab, &set).map(|_| ());
                let error = error.unwrap_err().to_string();
                assert!(error.contains(said), "{set:?}: {error}");
            }
        }
    }
}

#[test]
fn what_drafts_should_gain_follows_a_knob_that_was_turned() {
    let set = [
        "draft_width=16",
        "draft_tokens=8",
        "temperature=1",
        "generated_tokens=240",
        "compare=false",
    ];
    let data = turned(&set, &[(120.0, "draft_tokens", Value::Int(1))]);
    let [gained, expected] =
        ["tokens_per_target_run", "expected_tokens"].map(|name| number(&data, name));
    // With drafts of one token no pass gains more than two.
    assert!(gained > 2.0 && expected > 2.0, "{gained} {expected}");
    assert!((gained / expected - 1.0).abs() < 0.25, "{gained} {expected}");
}

#[test]
fn a_server_says_how_many_steps_it_takes_and_is_no_point_of_the_picture_of_batches() {
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
fn drafts_are_seen_before_they_are_judged_and_struck_out_after() {
    let mut standings = Vec::new();
    let set = ["training_steps=2", "draft_width=8", "temperature=1", "generated_tokens=30"];
    trial::answered(&lab().unwrap(), &set, |report| {
        if let mlsys_lab::Report::Frame { panel, frame, .. } = report
            && let Frame::Passage(passage) = frame.as_ref()
            && &**panel == "text"
        {
            let parts = passage.paragraphs.iter().flat_map(|of| &of.stretches);
            standings.extend(parts.map(|part| passage.standing(part).unwrap().name.clone()));
        }
        trial::Then::On
    });
    for name in ["prompt", "written", "drafted", "drafted, stayed", "struck out"] {
        assert!(standings.iter().any(|of| of == name), "{name}");
    }
}

#[test]
fn attention_adds_up_and_a_window_shows_no_more_than_it_holds() {
    let data = generate(&["generated_tokens=10", "window=6"]);
    let Some((_, Frame::HeatMap(map))) = data.frames.get("attention") else { panic!("no field") };
    assert_eq!((map.columns, map.rows), (6, 8));
    for row in map.cells.chunks(6) {
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{row:?}");
    }
}
