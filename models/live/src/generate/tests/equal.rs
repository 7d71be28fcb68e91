//! However a text is read, the scores are the same.

use super::{config, decoder, generate, text, transformer};
use crate::generate::beside::{Beside, Density, Same};
use crate::generate::cache::Bits;
use crate::generate::decoder::{Caching, Decoder};
use crate::generate::writer::{Turn, Wish, Writer};
use crate::trial::{number, values};
use burn::tensor::{Device, Int, Tensor, TensorData};
use mlsys_lab::Value;
use mlsys_nn::nets::{Network, TransformerConfig};
use mlsys_nn::random::Stream;

const CACHED: Caching = Caching::Kept(Bits::Full);

fn tokens(count: usize, stream: &mut Stream) -> Vec<i32> {
    (0..count).map(|_| stream.below(13) as i32).collect()
}

/// The scores after the last token of each sequence.
fn last(decoder: &mut Decoder, new: &[Vec<i32>]) -> Vec<Vec<f32>> {
    let pass = decoder.read(new, 1).unwrap();
    pass.scores.into_iter().map(|mut places| places.remove(0)).collect()
}

fn difference(a: &[Vec<f32>], b: &[Vec<f32>]) -> f32 {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Heads, key/value heads, numbers of a head, blocks.
const SHAPES: [[usize; 4]; 5] =
    [[4, 2, 8, 2], [4, 4, 4, 1], [4, 1, 4, 3], [1, 1, 2, 1], [6, 3, 2, 2]];

fn shape([heads, kv_heads, head, depth]: [usize; 4]) -> TransformerConfig {
    config(heads, kv_heads, head, depth)
}

#[test]
fn a_text_read_at_once_piece_by_piece_and_by_the_model_itself_scores_the_same() {
    let mut stream = Stream::new(1, "test");
    for sizes in SHAPES {
        let config = shape(sizes);
        let rows: Vec<Vec<i32>> = (0..2).map(|_| tokens(17, &mut stream)).collect();
        let flat = TensorData::new(rows.concat(), [2, 17]);
        let network = Network::Transformer(transformer(&config, 7));
        let whole = Tensor::<2, Int>::from_data(flat, &Device::flex());
        let logits = network.forward(whole, mlsys_nn::nets::Activation::Relu);
        let logits: Vec<f32> = logits.into_data().iter::<f32>().collect();
        let expected: Vec<Vec<f32>> =
            [16, 33].iter().map(|row| logits[row * 13..(row + 1) * 13].to_vec()).collect();
        for caching in [CACHED, Caching::Nothing] {
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
            decoder.settle();
            all.extend(last(&mut decoder, &[piece.to_vec()]));
            decoder.trim();
            let kept = decoder.kept().map(|kept| kept.len());
            let most = window.unwrap_or(usize::MAX).min(6 + place);
            assert!(kept.is_none_or(|kept| kept == most), "{kept:?} {most}");
        }
        all
    };
    for window in [1, 3, 6, 20, 50] {
        let [cached, whole] = [CACHED, Caching::Nothing].map(|caching| read(caching, Some(window)));
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
    for caching in [CACHED, Caching::Nothing] {
        let mut decoder = decoder(&config, caching, Some(5));
        last(&mut decoder, &[text[..6].to_vec()]);
        last(&mut decoder, std::slice::from_ref(&wrong));
        decoder.cut(6);
        let found = last(&mut decoder, &[text[6..].to_vec()]);
        let mut straight = super::decoder(&config, caching, Some(5));
        let expected = last(&mut straight, std::slice::from_ref(&text));
        assert!(difference(&found, &expected) < 1e-4, "{caching:?}");
    }
}

fn written(writer: &mut Writer, wish: Wish) -> Vec<Vec<i32>> {
    while writer.written() < wish.generated {
        writer.turn(wish).unwrap();
    }
    writer.rows().to_vec()
}

#[test]
fn each_row_of_a_batch_is_what_it_would_be_alone() {
    let mut stream = Stream::new(4, "test");
    let config = shape(SHAPES[4]);
    let rows: Vec<Vec<i32>> = (0..3).map(|_| tokens(5, &mut stream)).collect();
    let wish = Wish { temperature: 0.0, drafted: 0, generated: 12 };
    let together = Writer::new(decoder(&config, CACHED, None), rows.clone(), 1);
    let together = written(&mut { together }, wish);
    for (row, expected) in rows.into_iter().zip(together) {
        let mut alone = Writer::new(decoder(&config, CACHED, None), vec![row], 1);
        assert_eq!(written(&mut alone, wish), [expected]);
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
        (3, Caching::Nothing, None),
        (16, CACHED, None),
    ] {
        let prompt = tokens(5, &mut stream);
        let wish = Wish { temperature: 0.0, drafted, generated: 21 };
        let mut plain = Writer::new(decoder(&large, caching, window), vec![prompt.clone()], 1);
        let expected = written(&mut plain, wish);
        let drafter =
            Decoder::new(transformer(&small, 9), small.clone(), &Device::flex(), caching, window);
        let with = Writer::new(decoder(&large, caching, window), vec![prompt], 1);
        let found = written(&mut with.with_drafter(drafter, 1), wish);
        assert_eq!(found, expected, "{drafted} {caching:?} {window:?}");
    }
}

#[test]
fn a_model_that_drafts_for_itself_is_never_refused() {
    let config = shape(SHAPES[0]);
    for temperature in [0.0, 1.0] {
        let wish = Wish { temperature, drafted: 4, generated: 31 };
        let writer = Writer::new(decoder(&config, CACHED, None), vec![vec![1, 2, 3]], 1);
        let mut writer = writer.with_drafter(decoder(&config, CACHED, None), 1);
        while writer.written() < wish.generated {
            if let Turn::Judge { gain, accepted, judged } = writer.turn(wish).unwrap() {
                // Both see the same scores up to rounding, which decides once in a million.
                assert_eq!((accepted, judged, gain.tokens), (4, 4, 5));
            }
        }
        // The first token, and six rounds of five.
        assert_eq!(writer.written(), 31);
    }
}

#[test]
fn tokens_drawn_with_drafts_have_the_models_own_frequencies() {
    let (large, small) = (config(2, 1, 4, 1), config(1, 1, 4, 1));
    // The token after a prompt and one more, drawn many times over: its own frequencies, and those with drafts.
    let prompt = vec![3, 1, 4];
    let mut counts = vec![[0.0_f64; 2]; 13];
    let draws = 1500;
    let wish = Wish { temperature: 1.0, drafted: 2, generated: 3 };
    for seed in 0..draws {
        let plain = Writer::new(decoder(&large, CACHED, None), vec![prompt.clone()], seed);
        let drafter =
            Decoder::new(transformer(&small, 9), small.clone(), &Device::flex(), CACHED, None);
        let with = Writer::new(decoder(&large, CACHED, None), vec![prompt.clone()], seed + draws);
        let with = with.with_drafter(drafter, seed + draws);
        for (way, mut writer) in [plain, with].into_iter().enumerate() {
            let rows = written(&mut writer, wish);
            counts[rows[0][4] as usize][way] += 1.0;
        }
    }
    // Two samples of one distribution: the sum of (a - b)² / (a + b), with 12 degrees of freedom.
    let chi: f64 =
        counts.iter().filter(|[a, b]| a + b > 0.0).map(|[a, b]| (a - b).powi(2) / (a + b)).sum();
    assert!(chi < 32.9, "{chi} {counts:?}");
}

#[test]
fn the_lab_says_that_both_ways_wrote_the_same() {
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
fn of_a_long_text_fewer_and_fewer_tokens_go_through_the_model_again() {
    let config = shape(SHAPES[0]);
    let wish = Wish { temperature: 0.0, drafted: 0, generated: 120 };
    // Tokens that are compared, and operations of that, if it has so much to spend.
    let compared = |caching, plenty| {
        let mut writer = Writer::new(decoder(&config, CACHED, None), vec![vec![1, 2, 3]], 1);
        let mut beside = Beside::new(decoder(&config, caching, None), plenty);
        let (mut places, mut flops) = (Vec::new(), 0);
        while writer.written() < wish.generated {
            let (Turn::Prefill(gain) | Turn::Decode(gain)) = writer.turn(wish).unwrap() else {
                panic!("nobody drafts here");
            };
            for cost in beside.follow(writer.rows(), &gain, 0.0).unwrap() {
                places.push(writer.written());
                flops += cost.flops;
            }
        }
        assert!(beside.worst() < 1e-4);
        assert_eq!(beside.same(), Same::Always);
        (places, flops, beside.density())
    };
    let (all, flops, density) = compared(Caching::Nothing, u64::MAX);
    assert_eq!((all.len(), density), (120, Density::All));
    let (few, less, density) = compared(Caching::Nothing, flops / 20);
    assert_eq!(density, Density::Few);
    let begin = few.windows(2).take_while(|pair| pair[1] == pair[0] + 1);
    assert!((20..40).contains(&begin.count()), "{few:?}");
    assert!(few.last() > Some(&110) && less < flops / 4, "{few:?}");
    // With a cache each costs as much as in the run.
    let (all, _, density) = compared(CACHED, 1);
    assert_eq!((all.len(), density), (120, Density::All));
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
