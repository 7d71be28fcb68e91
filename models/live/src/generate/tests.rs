//! The lab from outside and its parts together: what it promises of its numbers.

use super::schedule::{self, Batching, Server};
use burn::tensor::{Device, Int, Tensor, TensorData};
use mlsys_lab::{Frame, RunData, Value};
use mlsys_nn::data::Vocabulary;
use mlsys_nn::networks::{Architecture, Initialization, Network, Transformer, TransformerConfig};
use mlsys_nn::random::Stream;

use super::costs::Comparator;
use super::decoder::{Bits, Decoder};
use super::generator::{Generator, Knobs, Phase};
use super::lab;
use super::server::*;
use crate::trial::{self, frame, must_be_declared, must_refuse, number, values};

/// A run with a barely trained model: the properties tested do not depend on training.
fn generate(set: &[&str]) -> RunData {
    let few = [&["training_steps=2", "context=96"], set].concat();
    trial::run(&lab().unwrap(), &few)
}

fn text(data: &RunData) -> String {
    data.metric("text").unwrap().as_str().unwrap().to_owned()
}

fn shape([heads, kv_heads, head, depth]: [usize; 4]) -> TransformerConfig {
    let width = heads * head;
    let ffn = TransformerConfig::gated(width);
    TransformerConfig { vocab: 13, width, depth, heads, kv_heads, ffn, context: 32 }
}

fn transformer(config: &TransformerConfig, seed: u64) -> Transformer {
    let all = Architecture::Transformer(config.clone());
    let network = all.init(Initialization::He, seed, &Device::flex());
    let Network::Transformer(transformer) = network else { panic!("no transformer") };
    transformer
}

fn decoder(config: &TransformerConfig, cached: Option<Bits>, window: Option<usize>) -> Decoder {
    let network = transformer(config, 7);
    Decoder::new(network, config.clone(), &Device::flex(), cached, window)
}

const CACHED: Option<Bits> = Some(Bits::Full);

fn tokens(count: usize, stream: &mut Stream) -> Vec<i32> {
    (0..count).map(|_| stream.below(13) as i32).collect()
}

fn last(decoder: &mut Decoder, new: &[Vec<i32>]) -> Vec<Vec<f32>> {
    decoder.read(new, 1).unwrap().scores.into_iter().map(|mut places| places.remove(0)).collect()
}

fn difference(a: &[Vec<f32>], b: &[Vec<f32>]) -> f32 {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Heads, key/value heads, numbers of a head, blocks.
const SHAPES: [[usize; 4]; 5] =
    [[4, 2, 8, 2], [4, 4, 4, 1], [4, 1, 4, 3], [1, 1, 2, 1], [6, 3, 2, 2]];

#[test]
fn cached_and_uncached_scores_agree() {
    let mut stream = Stream::new(1, "test");
    for sizes in SHAPES {
        let config = shape(sizes);
        let rows: Vec<Vec<i32>> = (0..2).map(|_| tokens(17, &mut stream)).collect();
        let flat = TensorData::new(rows.concat(), [2, 17]);
        let network = Network::Transformer(transformer(&config, 7));
        let whole = Tensor::<2, Int>::from_data(flat, &Device::flex());
        let logits = network.forward(whole, mlsys_nn::networks::Activation::Relu);
        let logits: Vec<f32> = logits.into_data().iter::<f32>().collect();
        let expected: Vec<Vec<f32>> =
            [16, 33].iter().map(|row| logits[row * 13..(row + 1) * 13].to_vec()).collect();
        for caching in [CACHED, None] {
            // Random cuts, and one token at a time at the end.
            let mut decoder = decoder(&config, caching, None);
            let mut begin = 0;
            let mut found = Vec::new();
            while begin < 17 {
                let end =
                    if begin < 10 { (begin + 1 + stream.below(6)).min(10) } else { begin + 1 };
                let new: Vec<Vec<i32>> = rows.iter().map(|row| row[begin..end].to_vec()).collect();
                found = last(&mut decoder, &new);
                begin = end;
            }
            assert!(difference(&found, &expected) < 1e-4, "{sizes:?} {caching:?}");
        }
    }
}

#[test]
fn a_window_cuts_the_cache_and_changes_nothing_else() {
    let mut stream = Stream::new(2, "test");
    let config = shape(SHAPES[0]);
    let row = tokens(20, &mut stream);
    let read = |caching, window: Option<usize>| {
        let mut decoder = decoder(&config, caching, window);
        let mut all = Vec::new();
        for (place, piece) in
            [&row[..6], &row[6..7]].into_iter().chain(row[7..].chunks(1)).enumerate()
        {
            decoder.evict_before_next();
            all.extend(last(&mut decoder, &[piece.to_vec()]));
            decoder.evict_before_last();
            let kept = decoder.kept().map(|kept| kept.len());
            let most = window.unwrap_or(usize::MAX).min(6 + place);
            assert!(kept.is_none_or(|kept| kept == most), "{kept:?} {most}");
        }
        all
    };
    for window in [1, 3, 6, 20, 50] {
        let [cached, whole] = [CACHED, None].map(|caching| read(caching, Some(window)));
        assert!(difference(&cached, &whole) < 1e-4, "{window}");
        let full = read(CACHED, None);
        // As long as the text it is no window.
        assert_eq!(difference(&cached, &full) < 1e-4, window >= 20, "{window}");
    }
}

#[test]
fn what_is_taken_back_leaves_no_trace() {
    let mut stream = Stream::new(3, "test");
    let config = shape(SHAPES[0]);
    let (text, wrong) = (tokens(9, &mut stream), tokens(4, &mut stream));
    for caching in [CACHED, None] {
        let mut decoder = decoder(&config, caching, Some(5));
        last(&mut decoder, &[text[..6].to_vec()]);
        last(&mut decoder, std::slice::from_ref(&wrong));
        decoder.truncate(6);
        let found = last(&mut decoder, &[text[6..].to_vec()]);
        let mut straight = self::decoder(&config, caching, Some(5));
        let expected = last(&mut straight, std::slice::from_ref(&text));
        assert!(difference(&found, &expected) < 1e-4, "{caching:?}");
    }
}

fn written(generator: &mut Generator, knobs: Knobs) -> Vec<Vec<i32>> {
    while generator.written() < knobs.generated {
        generator.step(knobs).unwrap();
    }
    generator.rows.to_vec()
}

#[test]
fn each_row_of_a_batch_is_what_it_would_be_alone() {
    let mut stream = Stream::new(4, "test");
    let config = shape(SHAPES[4]);
    let rows: Vec<Vec<i32>> = (0..3).map(|_| tokens(5, &mut stream)).collect();
    let knobs = Knobs { temperature: 0.0, drafted: 0, generated: 12 };
    let together = Generator::new(decoder(&config, CACHED, None), rows.clone(), 1);
    let together = written(&mut { together }, knobs);
    for (row, expected) in rows.into_iter().zip(together) {
        let mut alone = Generator::new(decoder(&config, CACHED, None), vec![row], 1);
        assert_eq!(written(&mut alone, knobs), [expected]);
    }
}

#[test]
fn drafts_do_not_change_the_likeliest_text() {
    let mut stream = Stream::new(5, "test");
    let (large, small) = (shape(SHAPES[0]), shape(SHAPES[3]));
    for (drafted, caching, window) in [
        (1, CACHED, None),
        (4, CACHED, None),
        (4, CACHED, Some(6)),
        (3, None, None),
        (16, CACHED, None),
    ] {
        let prompt = tokens(5, &mut stream);
        let knobs = Knobs { temperature: 0.0, drafted, generated: 21 };
        let mut plain = Generator::new(decoder(&large, caching, window), vec![prompt.clone()], 1);
        let expected = written(&mut plain, knobs);
        let drafter =
            Decoder::new(transformer(&small, 9), small.clone(), &Device::flex(), caching, window);
        let with = Generator::new(decoder(&large, caching, window), vec![prompt], 1);
        let found = written(&mut with.with_drafter(drafter, 1), knobs);
        assert_eq!(found, expected, "{drafted} {caching:?} {window:?}");
    }
}

#[test]
fn a_model_that_drafts_for_itself_is_never_refused() {
    let config = shape(SHAPES[0]);
    for temperature in [0.0, 1.0] {
        let knobs = Knobs { temperature, drafted: 4, generated: 31 };
        let generator = Generator::new(decoder(&config, CACHED, None), vec![vec![1, 2, 3]], 1);
        let mut generator = generator.with_drafter(decoder(&config, CACHED, None), 1);
        while generator.written() < knobs.generated {
            let step = generator.step(knobs).unwrap();
            if step.phase == Phase::Judge {
                // Both see the same scores up to rounding, which decides once in a million.
                assert_eq!((step.accepted, step.judged, step.tokens), (4, 4, 5));
            }
        }
        // The first token, and six rounds of five.
        assert_eq!(generator.written(), 31);
    }
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
    let plain = generate(&["generated_tokens=20"]);
    assert_eq!(text(&plain), text(&generate(&["generated_tokens=20", "cache=false"])));
    assert_eq!(text(&plain), text(&generate(&["generated_tokens=20", "draft_width=16"])));
}

#[test]
fn comparison_of_long_texts_is_sparse() {
    let config = shape(SHAPES[0]);
    let knobs = Knobs { temperature: 0.0, drafted: 0, generated: 120 };
    // Tokens that are compared, and operations of that, if it has so much to spend.
    let compared = |caching, plenty| {
        let mut generator = Generator::new(decoder(&config, CACHED, None), vec![vec![1, 2, 3]], 1);
        let mut comparator = Comparator::new(decoder(&config, caching, None), plenty);
        let (mut places, mut flops) = (Vec::new(), 0);
        while generator.written() < knobs.generated {
            let new = generator.step(knobs).unwrap();
            for cost in comparator.follow(&generator.rows, &new, 0.0).unwrap() {
                places.push(generator.written());
                flops += cost.flops;
            }
        }
        assert!(comparator.worst < 1e-4);
        assert_eq!(comparator.same, Some(true));
        (places, flops, comparator.is_sparse)
    };
    let (all, flops, is_sparse) = compared(None, u64::MAX);
    assert_eq!((all.len(), is_sparse), (120, false));
    let (few, less, is_sparse) = compared(None, flops / 20);
    assert!(is_sparse);
    let begin = few.windows(2).take_while(|pair| pair[1] == pair[0] + 1);
    assert!((20..40).contains(&begin.count()), "{few:?}");
    assert!(few.last() > Some(&110) && less < flops / 4, "{few:?}");
    // With a cache each costs as much as in the run.
    let (all, _, is_sparse) = compared(CACHED, 1);
    assert_eq!((all.len(), is_sparse), (120, false));
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
}

/// A run with knobs turned after as many tokens.
fn turned(set: &[&str], knobs: &[(u64, &str, Value)]) -> RunData {
    let mut knobs = knobs.to_vec();
    let few = [&["training_steps=2"], set].concat();
    let (data, reason) = trial::answered(&lab().unwrap(), &few, |report| {
        let mlsys_lab::Report::Point { name, step, .. } = report else { return trial::Then::On };
        let is_due = |(after, ..): &mut (u64, _, _)| &**name == "cache_bytes" && *after <= *step;
        let due = knobs.extract_if(.., is_due);
        trial::Then::Orders(due.map(|(_, name, value)| trial::turn(name, value)).collect())
    });
    assert!(knobs.is_empty() && reason.is_none());
    data
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
        if let mlsys_lab::Report::Frame { panel, frame, .. } = report
            && let Frame::StyledText(passage) = frame.as_ref()
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
fn attention_sums_to_one_inside_its_window() {
    let data = generate(&["generated_tokens=10", "window=6"]);
    let Frame::HeatMap(map) = frame(&data, "attention") else { panic!("attention") };
    assert_eq!((map.columns, map.rows), (6, 8));
    for row in map.cells.chunks(6) {
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{row:?}");
    }
}

#[test]
fn each_request_is_answered_as_if_it_were_alone() {
    let config = shape([4, 2, 4, 2]);
    let mut stream = Stream::new(6, "test");
    let prompts: Vec<Vec<i32>> = (0..6).map(|_| tokens(6, &mut stream)).collect();
    let requests = schedule::requests(6, [6, 9], 1, 4);
    for (batching, window) in
        [(Batching::Continuous, None), (Batching::Static, None), (Batching::Continuous, Some(4))]
    {
        let mut serving = Serving::new(Service {
            network: transformer(&config, 7),
            config: config.clone(),
            vocabulary: Vocabulary::numbers(13),
            device: Device::flex(),
            window,
            server: Server { batching, slots: 3, page: 4, longest: [6, 9] },
            requests: requests.clone(),
            prompts: prompts.clone(),
            temperature: 0.0,
            seed: 1,
        });
        for _ in 0..serving.schedule.steps.len() {
            serving.step().unwrap();
        }
        assert!(serving.pool.owners().iter().all(Option::is_none));
        for (at, of) in requests.iter().enumerate() {
            let prompt = prompts[at][..of.prompt].to_vec();
            let mut alone = Generator::new(decoder(&config, CACHED, window), vec![prompt], 1);
            let knobs = Knobs { temperature: 0.0, drafted: 0, generated: of.answer };
            assert_eq!(
                written(&mut alone, knobs)[0],
                serving.texts[at],
                "{at} {batching:?} {window:?}"
            );
        }
    }
}
