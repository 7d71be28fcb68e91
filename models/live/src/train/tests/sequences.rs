//! Transformers on sequences.

use super::*;

/// A transformer so small that tests stay quick.
const TINY: &str = "model=transformer width=16 heads=2 kv_heads=1 depth=1 context=16 batch_size=8 \
    learning_rate=0.01 record_every=5";

fn tiny_set<'a>(more: &[&'a str]) -> Vec<&'a str> {
    over(&TINY.split(' ').collect::<Vec<_>>(), more)
}

fn tiny(more: &[&str]) -> RunData {
    train(&tiny_set(more))
}

#[test]
fn the_default_transformer_nears_the_entropy() {
    let set = ["dataset=chain", "model=transformer", "learning_rate=0.003"];
    let run = train(&[&set[..], &["steps=200", "batch_size=16"]].concat());
    let (loss, floor) = (number(&run, "validation_loss"), number(&run, "loss_floor"));
    assert!((floor - 1.1369).abs() < 1e-4, "{floor}");
    // 4992 held-out symbols: three standard errors of their -ln p are 0.03.
    assert!(loss <= floor + 0.15 && loss >= floor - 0.03, "{loss} {floor}");
    for (name, expected) in
        [("parameters", 27_296.0), ("samples_seen", 3200.0), ("epochs", 3200.0 * 32.0 / 20_000.0)]
    {
        assert_eq!(number(&run, name), expected, "{name}");
    }
    assert!((number(&run, "bigram_entropy") - floor).abs() < 0.03);
    assert!(number(&run, "unigram_entropy") > 3.0);
}

#[test]
fn tiny_transformer_beats_bigrams() {
    let run = tiny(&["dataset=text", "width=32", "steps=300", "evaluate_every=100"]);
    let losses = values(&run, "validation_loss");
    let (unigrams, bigrams) = (number(&run, "unigram_entropy"), number(&run, "bigram_entropy"));
    assert!(bigrams < unigrams - 0.5, "{bigrams} {unigrams}");
    assert!(losses[0] > unigrams, "{losses:?}");
    assert!(losses[losses.len() - 1] < bigrams - 0.1, "{losses:?} {bigrams}");
    let bits = number(&run, "bits_per_character");
    assert!((bits - number(&run, "validation_loss") / 2.0_f64.ln()).abs() < 1e-12);
    let sums = tiny(&["dataset=sums", "steps=150"]);
    assert!(number(&sums, "validation_loss") < number(&sums, "bigram_entropy"));
}

#[test]
fn one_seed_gives_one_series_and_one_picture() {
    let digits = vec!["dataset=digits", "learning_rate=0.003", "steps=40"];
    for settings in [digits, tiny_set(&["dataset=text", "steps=12"])] {
        let of = |seed| train(&[&settings[..], &[seed]].concat());
        let (one, other) = (of("seed=3"), of("seed=3"));
        assert_eq!(first_difference(&one, &other), None);
        assert_eq!(one.frames, other.frames);
        assert_ne!(first_difference(&one, &of("seed=4")), None);
    }
}

#[test]
fn what_is_computed_again_changes_no_gradient() {
    let elementwise = "recompute_unit=elementwise";
    let blocks = "recompute_unit=blocks";
    for (settings, units) in [
        (tiny_set(&["dataset=chain", "steps=10"]), &[elementwise, blocks][..]),
        (
            tiny_set(&["dataset=chain", "steps=5", "optimizer=adamw", "weight_decay=0.1"]),
            &[elementwise],
        ),
        (tiny_set(&["dataset=text", "steps=3", "depth=0"]), &[blocks]),
        (
            tiny_set(&["dataset=sums", "steps=3", "depth=3", "optimizer=momentum"]),
            &[elementwise, blocks],
        ),
        (vec!["dataset=digits", "learning_rate=0.003", "steps=10", "depth=2"], &[elementwise]),
        (vec!["dataset=digits", "model=cnn", "width=2", "steps=3"], &[elementwise]),
    ] {
        let kept = train(&settings);
        for unit in units {
            let recomputed = train(&[&settings[..], &["recompute=true", unit]].concat());
            assert_eq!(first_difference(&kept, &recomputed), None, "{settings:?} {unit}");
        }
    }
}

#[test]
fn transformer_metrics_match_the_schema() {
    for settings in [
        vec!["dataset=chain", "steps=2"],
        vec!["dataset=sums", "steps=2", "profile=true"],
        vec!["dataset=text", "steps=2", "peak_flops_per_second=1e12"],
        vec!["dataset=chain", "steps=2", "depth=0"],
    ] {
        let run = tiny(&settings);
        must_be_reported(&lab(), &run);
        let reported = |name: &str| run.metric(name).is_some();
        let has = |setting: &str| settings.contains(&setting);
        for (name, expected) in [
            ("tokens_per_second", true),
            ("unigram_entropy", true),
            ("bigram_entropy", true),
            ("loss_floor", has("dataset=chain")),
            ("bits_per_character", !has("dataset=chain")),
            ("forward_seconds", has("profile=true")),
            ("mfu", has("peak_flops_per_second=1e12")),
        ] {
            assert_eq!(reported(name), expected, "{settings:?}: {name}");
        }
    }
    for name in ["tokens_per_second", "bigram_entropy", "mfu"] {
        assert!(train(&["steps=1"]).metric(name).is_none(), "{name}");
    }
}

#[test]
fn a_transformer_draws_text_and_attention() {
    let run = tiny(&["dataset=sums", "steps=3"]);
    let names: Vec<&str> = run.frames.keys().map(|name| name.as_ref()).collect();
    let expected = "attention confusion logit-lens next-token text weight-spread weights";
    assert_eq!(names.join(" "), expected);
    let frame = |panel: &str| &run.frames[panel].1;
    let Frame::Text(text) = frame("text") else { panic!("no text") };
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("     0: "), "{text}");
    assert!(text.contains("\n     3: ") && text.contains("=|"), "{text}");
    let Frame::Panes(heads) = frame("attention") else { panic!("no panes") };
    assert_eq!(heads.len(), 2);
    for head in heads {
        let Frame::HeatMap(map) = &head.frame else { panic!("no map") };
        for (row, cells) in map.cells.chunks(map.columns).enumerate() {
            assert!((cells.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            assert!(cells[row + 1..].iter().all(|&ahead| ahead == 0.0), "{row}: {cells:?}");
        }
    }
    let Frame::Bars(next) = frame("next-token") else { panic!("no bars") };
    let marked: Vec<_> = next.bars.iter().filter(|bar| !bar.remark.is_empty()).collect();
    assert_eq!(marked.len(), 1, "{next:?}");
    let Frame::Table(lens) = frame("logit-lens") else { panic!("no table") };
    assert_eq!(lens.columns, ["reads", "after block 1", "comes next"]);
    assert!(lens.rows.iter().all(|row| row.len() == 3));
}

#[test]
fn generated_text_is_visible_after_the_prompt() {
    // Numbers are long: two of them, and the guess.
    let chain = tiny(&["dataset=chain", "steps=1"]);
    let Frame::Bars(next) = &chain.frames["next-token"].1 else { panic!("no bars") };
    assert!(next.bars.iter().all(|bar| bar.label.len() <= "10 10|10".len()), "{next:?}");
    // The tales have empty lines between them; a text begins with a letter.
    let text = tiny(&["dataset=text", "steps=1"]);
    let Frame::Text(written) = &text.frames["text"].1 else { panic!("no text") };
    assert!(written.contains("\n     1: When"), "{written}");
}

#[test]
fn small_perceptron_shows_weights_and_gradients() {
    let run = train(&["dataset=xor", "width=8", "initialization=zeros"]);
    let Frame::Panes(panes) = &run.frames["network"].1 else { panic!("no panes") };
    let titles: Vec<&str> = panes.iter().map(|pane| pane.title.as_str()).collect();
    assert_eq!(titles.len(), 6);
    assert_eq!(titles[..2], ["layer1 weights", "layer1 gradients"]);
    let Frame::HeatMap(first) = &panes[1].frame else { panic!("no map") };
    assert_eq!((first.rows, first.columns), (8, 3));
    // Nothing breaks the symmetry of zeros: no gradient reaches the first layer.
    assert!(first.cells.iter().all(|&cell| cell == 0.0));
    assert!(values(&run, "gradient_norm.layer1").iter().all(|norm| *norm == 0.0));
    assert!(number(&run, "accuracy") <= 0.65);
    assert!(!train(&["steps=1", "width=40"]).frames.contains_key("network"));
}

#[test]
fn mismatched_models_and_data_are_refused() {
    must_refuse(
        &lab(),
        &[
            (&["model=cnn"], "dataset, model: "),
            (&["model=cnn"], "digits"),
            (&["dataset=text"], "set model to transformer"),
            (&["dataset=chain", "model=cnn"], "set model to transformer"),
            (&["model=transformer"], "set dataset to chain, sums or text"),
            (&["dataset=digits", "model=transformer"], "set dataset to chain"),
            (&["dataset=chain", "model=transformer", "width=30"], "width"),
            (&["dataset=chain", "model=transformer", "heads=3"], "width"),
            (&["dataset=chain", "model=transformer", "kv_heads=3"], "kv_heads"),
            (
                &["dataset=chain", "model=transformer", "samples=10"],
                "10 tokens are less than one sequence of 32",
            ),
            (&["recompute=true", "recompute_unit=blocks"], "recompute_unit, model: "),
            (&["dataset=text", "model=transformer", "corpus="], "corpus: the text is empty"),
            (
                &["dataset=text", "model=transformer", "corpus=too short"],
                "corpus: the text has 9 characters",
            ),
            (
                &["dataset=text", "model=transformer", "corpus=\u{1}PNG"],
                "line 1, column 1 holds the character U+0001",
            ),
        ],
    );
    let huge =
        ["dataset=chain", "model=transformer", "batch_size=4096", "context=1024", "depth=32"];
    let words = ["GB are free", "width, depth, context or batch_size"];
    assert!(!refused(&lab(), &huge, &words));
    // Without recompute its unit is ignored.
    train(&["steps=1", "recompute_unit=blocks"]);
}

#[test]
fn own_corpus_is_learned() {
    let own = format!("corpus={}", "so it goes, and on it goes. ".repeat(40));
    let run = tiny(&["dataset=text", "steps=40", &own]);
    assert!(number(&run, "validation_loss") < number(&run, "unigram_entropy"));
}
