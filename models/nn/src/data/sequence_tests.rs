use super::*;

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
fn a_long_walk_over_the_chain_has_the_entropy_rate_that_is_stated() {
    let config = DataConfig { samples: 100_000, symbols: 16, ..DataConfig::new(Dataset::Chain, 3) };
    let (train, held_out, language) = sequences(&config);
    let floor = language.floor.expect("the chain's rate is known");
    assert!((floor - 1.1369).abs() < 1e-4, "{floor}");
    // What bigrams cost on another walk, once their counts are good. A draw's -ln p varies by 0.75, so the mean of 5000
    // has a standard error of 0.011.
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
fn the_sums_of_a_seed_are_fixed_for_ever_and_so_is_its_chain() {
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
fn sums_are_right_and_those_held_out_are_never_trained_on() {
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
fn more_samples_keep_the_first_tokens_and_the_half_held_out() {
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
fn what_is_no_text_or_too_short_is_refused_with_the_reason() {
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
