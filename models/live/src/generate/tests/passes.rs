//! The parts together: what is written does not depend on how it is split into passes.

use burn::tensor::{Device, Int, Tensor, TensorData};
use mlsys_nn::data::Vocabulary;
use mlsys_nn::networks::{
    Architecture, Initialization, Network, Transformer, TransformerConfig, Variant,
};
use mlsys_nn::random::Stream;

use crate::generate::costs::Comparator;
use crate::generate::decoder::{Bits, Decoder};
use crate::generate::generator::{Generator, Knobs, Phase};
use crate::generate::schedule::{self, Batching, Server};
use crate::generate::server::{Service, Serving};

fn shape([heads, kv_heads, head, depth]: [usize; 4]) -> TransformerConfig {
    let width = heads * head;
    let ffn = TransformerConfig::gated(width);
    let variant = Variant::default();
    TransformerConfig { vocab: 13, width, depth, heads, kv_heads, ffn, context: 32, variant }
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
        // What can be looked at then is the step that filled most pages.
        let (step, pages) = &serving.fullest;
        assert!((1..=serving.schedule.steps.len()).contains(step));
        assert_eq!(pages.iter().flatten().count(), serving.pool.owners().len());
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
