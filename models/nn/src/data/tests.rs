use crate::data::*;

const GENERATED: [Dataset; 5] =
    [Dataset::Spiral, Dataset::Moons, Dataset::Circles, Dataset::Xor, Dataset::Digits];

fn made(config: &DataConfig) -> Halves {
    labelled(load(config).expect("generated data cannot fail"))
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Halves {
    pub(super) train: Labelled,
    pub(super) held_out: Labelled,
}

pub(super) fn labelled(data: Data) -> Halves {
    match (data.train, data.held_out) {
        (Examples::Labelled(train), Examples::Labelled(held_out)) => Halves { train, held_out },
        other => panic!("a sequence: {other:?}"),
    }
}

fn small(dataset: Dataset) -> DataConfig {
    DataConfig { samples: 60, ..DataConfig::new(dataset, 1) }
}

/// FNV-1a over the bits of inputs and labels.
fn fingerprint(examples: &Labelled) -> u64 {
    let inputs = examples.inputs.iter().map(|input| u64::from(input.to_bits()));
    let labels = examples.labels.iter().map(|&label| label as u64);
    inputs
        .chain(labels)
        .fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3))
}

#[test]
fn the_data_of_a_seed_are_fixed_for_ever() {
    // Recorded at the first release. If this fails, every recorded series of every learner has changed.
    let fixed = [
        0x9390_98ba_8c9a_7e3a,
        0xae8c_ab63_25f0_315d,
        0xc552_9365_c871_a649,
        0x91ab_e134_8018_e9f7,
        0xf8f0_a537_9876_1cb9,
    ];
    let fingerprints = GENERATED.map(|dataset| fingerprint(&made(&small(dataset)).train));
    assert_eq!(fingerprints, fixed, "{fingerprints:#018x?}");
}

#[test]
fn data_sets_have_their_shape_and_balanced_classes() {
    for dataset in GENERATED {
        let data = made(&small(dataset));
        assert_eq!(data.train.len(), 60);
        assert_eq!(data.held_out.len(), dataset.held_out_samples());
        for examples in [&data.train, &data.held_out] {
            let config = small(dataset);
            assert_eq!(examples.features, config.features());
            assert_eq!(examples.inputs.len(), examples.len() * config.features());
            let classes = config.classes().expect("points and digits have classes");
            for class in 0..classes as i32 {
                let count = examples.labels.iter().filter(|&&label| label == class).count();
                assert_eq!(count * classes, examples.len(), "{dataset:?}");
            }
        }
    }
}

#[test]
fn seeds_and_halves_have_their_own_examples_and_more_samples_keep_the_first_ones() {
    for dataset in GENERATED {
        let few = made(&small(dataset));
        let length = few.train.inputs.len();
        let other = made(&DataConfig { seed: 2, ..small(dataset) });
        assert_ne!(few.train.inputs, other.train.inputs, "{dataset:?}");
        assert_ne!(few.train.inputs, few.held_out.inputs[..length], "{dataset:?}");
        let many = made(&DataConfig { samples: 95, ..small(dataset) });
        assert_eq!(few.train.inputs, many.train.inputs[..length], "{dataset:?}");
        assert_eq!(few.train.labels, many.train.labels[..60], "{dataset:?}");
        assert_eq!(few.held_out, many.held_out, "{dataset:?}");
        assert!(made(&DataConfig { samples: 0, ..small(dataset) }).train.is_empty());
    }
}

#[test]
fn noise_scales_the_same_deviates() {
    for dataset in [Dataset::Spiral, Dataset::Moons, Dataset::Circles, Dataset::Xor] {
        let [clean, some, double] =
            [0.0, 0.1, 0.2].map(|noise| made(&DataConfig { noise, ..small(dataset) }).train.inputs);
        let deviates: Vec<f32> =
            some.iter().zip(&clean).map(|(noisy, clean)| noisy - clean).collect();
        let spread = (deviates.iter().map(|d| d * d).sum::<f32>() / deviates.len() as f32).sqrt();
        assert!((spread - 0.1).abs() < 0.02, "{dataset:?} {spread}");
        for ((double, clean), deviate) in double.iter().zip(&clean).zip(&deviates) {
            assert!((double - clean - 2.0 * deviate).abs() < 1e-6, "{dataset:?}");
        }
    }
}

#[test]
fn points_without_noise_lie_where_their_formula_says() {
    let clean = |dataset| made(&DataConfig { noise: 0.0, ..small(dataset) }).train;
    for dataset in [Dataset::Spiral, Dataset::Moons, Dataset::Circles, Dataset::Xor] {
        assert!(clean(dataset).inputs.iter().all(|x| x.abs() <= 1.0), "{dataset:?}");
    }
    let circles = clean(Dataset::Circles);
    let xor = clean(Dataset::Xor);
    let spiral = clean(Dataset::Spiral);
    for index in 0..60 {
        let radius =
            |examples: &Labelled| examples.input(index).iter().map(|x| x * x).sum::<f32>().sqrt();
        let expected = if circles.labels[index] == 0 { 1.0 } else { 0.5 };
        assert!((radius(&circles) - expected).abs() < 1e-6);
        let [x, y] = [xor.input(index)[0], xor.input(index)[1]];
        assert_eq!(x * y < 0.0, xor.labels[index] == 1, "({x}, {y})");
        // Back from the radius to the angle: arm k starts at half a turn times k and makes 1.75 turns.
        let turns = 1.75 * (radius(&spiral) - 0.1) / 0.9 + 0.5 * spiral.labels[index] as f32;
        let (sine, cosine) = (turns * std::f32::consts::TAU).sin_cos();
        let [x, y] = [spiral.input(index)[0], spiral.input(index)[1]];
        assert!((x * sine - y * cosine).abs() < 1e-5 && x * cosine + y * sine > 0.0, "({x}, {y})");
    }
}

#[test]
fn a_batch_is_gathered_in_the_order_of_its_indices() {
    let inputs = vec![0.0, 1.0, 10.0, 11.0, 20.0, 21.0];
    let examples = Labelled { inputs, labels: vec![5, 6, 7], features: 2 };
    let (inputs, labels) = examples.gather(&[2, 0, 2]);
    assert_eq!(
        (&inputs[..], &labels[..]),
        (&[20.0, 21.0, 0.0, 1.0, 20.0, 21.0][..], &[7, 5, 7][..])
    );
    assert_eq!(examples.gather(&[]), (vec![], vec![]));
}

fn sequences(config: &DataConfig) -> (Sequence, Sequence, Language) {
    let data = load(config).expect("generated sequences cannot fail");
    match (data.train, data.held_out, data.language) {
        (Examples::Sequence(train), Examples::Sequence(held_out), Some(language)) => {
            (train, held_out, language)
        }
        other => panic!("no sequence: {other:?}"),
    }
}

fn text(corpus: &str) -> DataConfig {
    DataConfig { corpus: Some(corpus.to_owned()), context: 4, ..DataConfig::new(Dataset::Text, 1) }
}

#[test]
fn chain_entropy_matches_the_stated_rate() {
    let config = DataConfig { samples: 100_000, symbols: 16, ..DataConfig::new(Dataset::Chain, 3) };
    let (train, held_out, language) = sequences(&config);
    let floor = language.floor.expect("the chain's rate is known");
    assert!((floor - 1.1369).abs() < 1e-4, "{floor}");
    // Bigram cost on another walk; a draw's -ln p varies by 0.75, so the mean of 5000 has a standard error of 0.011.
    assert!((language.bigram_entropy - floor).abs() < 0.035, "{}", language.bigram_entropy);
    assert!(language.unigram_entropy > 2.0, "{}", language.unigram_entropy);
    // No symbol has a fifth successor, and the two walks differ.
    let mut followers = vec![std::collections::BTreeSet::new(); 16];
    for pair in train.tokens.windows(2).chain(held_out.tokens.windows(2)) {
        followers[pair[0] as usize].insert(pair[1]);
    }
    assert!(followers.iter().all(|followers| followers.len() <= 4));
    assert_ne!(train.tokens[..1000], held_out.tokens[..1000]);
}

#[test]
fn data_of_a_seed_never_changes() {
    // Recorded at the first release, as for points and digits.
    let first = |dataset| {
        let (train, _, language) = sequences(&DataConfig::new(dataset, 1));
        language.vocabulary.text(&train.tokens[..24])
    };
    assert_eq!(first(Dataset::Sums), "38+21=59\n92+41=133\n4+44=");
    assert_eq!(
        first(Dataset::Chain),
        "50 7 4 5 5 54 11 58 23 46 48 30 32 37 58 9 18 28 3 41 39 53 4 28"
    );
}

#[test]
fn held_out_sums_are_never_trained_on() {
    let (train, held_out, language) = sequences(&DataConfig::new(Dataset::Sums, 1));
    let lines = |sequence: &Sequence| -> std::collections::BTreeSet<String> {
        let text = language.vocabulary.text(&sequence.tokens);
        // The last line may be cut off.
        let whole = &text[..=text.rfind('\n').expect("a line")];
        whole.lines().map(str::to_owned).collect()
    };
    let (train, held_out) = (lines(&train), lines(&held_out));
    for line in train.iter().chain(&held_out) {
        let (sum, result) = line.split_once('=').expect("an equals sign");
        let (a, b) = sum.split_once('+').expect("a plus sign");
        let number = |text: &str| text.parse::<u32>().expect("a number");
        assert_eq!(number(a) + number(b), number(result), "{line}");
    }
    assert!(train.len() > 5000 && held_out.len() > 300);
    assert!(train.is_disjoint(&held_out));
}

#[test]
fn the_last_tenth_of_the_tales_is_held_out() {
    let config = DataConfig::new(Dataset::Text, 1);
    let (train, held_out, language) = sequences(&config);
    let all = include_str!("../../../../assets/corpus/tales.txt");
    assert!(all.is_ascii());
    assert_eq!(language.vocabulary.len(), config.classes().expect("a text"));
    let again =
        language.vocabulary.text(&train.tokens) + &language.vocabulary.text(&held_out.tokens);
    assert_eq!(again, all);
    assert_eq!(held_out.tokens.len(), all.len() / 10);
    // What the corpus's README states.
    assert_eq!(format!("{:.2}", language.unigram_entropy), "2.97");
    assert_eq!(format!("{:.2}", language.bigram_entropy), "2.19");
}

#[test]
fn more_samples_keep_the_first_tokens() {
    for dataset in [Dataset::Chain, Dataset::Sums, Dataset::Text] {
        let of = |samples| sequences(&DataConfig { samples, ..DataConfig::new(dataset, 1) });
        let ((few, held_out, _), (many, same, _)) = (of(500), of(700));
        assert_eq!(few.tokens, many.tokens[..500], "{dataset:?}");
        assert_eq!(held_out, same, "{dataset:?}");
    }
}

#[test]
fn a_text_of_ones_own_is_taken_whatever_its_alphabet() {
    let (train, held_out, language) = sequences(&text("Ça va? Très bien!\r\nÇa va.\r\n"));
    assert_eq!(held_out.tokens.len(), 5);
    let whole =
        language.vocabulary.text(&train.tokens) + &language.vocabulary.text(&held_out.tokens);
    assert_eq!(whole, "Ça va? Très bien!\nÇa va.\n");
}

#[test]
fn short_or_binary_texts_are_refused() {
    let many: String = (0x4e00..0x4e00 + 1100).filter_map(char::from_u32).collect();
    for (corpus, words) in [
        ("", "is empty"),
        (" \n\n ", "is empty"),
        ("abcdefghi", "9 characters; with context 4 it needs at least 10"),
        ("first\nPNG\u{1a}", "line 2, column 4 holds the character U+001A"),
        ("a\u{fffd}", "U+FFFD"),
        (&many, "1100 different characters"),
    ] {
        let error = load(&text(corpus)).expect_err(words).to_string();
        assert!(error.contains(words), "{corpus:?}: {error}");
    }
    assert!(load(&text("abcdefghij")).is_ok());
    let few = DataConfig { samples: 10, ..DataConfig::new(Dataset::Chain, 1) };
    let error = load(&few).expect_err("too few").to_string();
    assert!(error.contains("10 tokens are less than one sequence of 32"), "{error}");
}
