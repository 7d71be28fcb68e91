//! Transformers on sequences, as typed.

use crate::help::Folder;

const QUICK: [&str; 14] = [
    "lab",
    "train",
    "--device",
    "cpu",
    "--set",
    "model=transformer",
    "--set",
    "width=16",
    "--set",
    "context=8",
    "--set",
    "batch_size=4",
    "--set",
    "steps=3",
];

fn quick<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&QUICK[..], more].concat()
}

#[test]
fn a_transformer_trains_on_the_tales_and_says_what_it_is_compared_with() {
    let folder = Folder::new();
    let json = folder
        .run(&quick(&["--set", "dataset=text", "--json"]))
        .json();
    let metric = |name: &str| json["metrics"][name].as_f64().unwrap();
    assert!(metric("bigram_entropy") < metric("unigram_entropy"));
    assert!(metric("bits_per_character") > metric("validation_loss"));
    assert!(metric("tokens_per_second") > 0.0);
    assert!(json["metrics"]["loss_floor"].is_null());
    let plain = folder.run(&quick(&["--set", "dataset=chain"]));
    assert!(plain.did().contains("loss_floor") && plain.did().contains("1.13692"));
}

#[test]
fn a_text_may_come_from_a_file_and_what_is_none_is_refused() {
    let folder = Folder::new();
    let corpus = |name: &str, content: &[u8]| format!("corpus=@{}", folder.file(name, content));
    let own = corpus("own.txt", "la dee da, la dee dum. ".repeat(40).as_bytes());
    let text = ["--set", "dataset=text", "--json", "--set"];
    let json = folder
        .run(&quick(&[&text[..], &[own.as_str()]].concat()))
        .json();
    assert!(json["metrics"]["validation_loss"].is_number());
    for (content, said) in [
        (&b""[..], "corpus: the text is empty"),
        (b"short", "corpus: the text has 5 characters"),
        (b"\x89PNG\r\n\x1a\n\0\xff", "corpus"),
        (
            b"GIF89a\x01\0\x01",
            "line 1, column 7 holds the character U+0001",
        ),
    ] {
        let given = corpus("other.txt", content);
        folder
            .run(&quick(&[&text[..], &[given.as_str()]].concat()))
            .refused(2, &[said]);
    }
}

#[test]
fn data_that_a_model_cannot_read_are_refused_with_a_way_out() {
    let folder = Folder::new();
    for (setting, said) in [
        ("dataset=spiral", "set dataset to chain, sums or text"),
        ("dataset=digits", "set dataset to chain, sums or text"),
    ] {
        folder.run(&quick(&["--set", setting])).refused(2, &[said]);
    }
    folder
        .run(&["lab", "train", "--device", "cpu", "--set", "dataset=text"])
        .refused(2, &["dataset, model", "set model to transformer"]);
}
