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
    let json = folder.run(&quick(&["--set", "dataset=text", "--json"])).json();
    let metric = |name: &str| json["metrics"][name].as_f64().unwrap();
    assert!(metric("bigram_entropy") < metric("unigram_entropy"));
    assert!(metric("bits_per_character") > metric("validation_loss"));
    assert!(metric("tokens_per_second") > 0.0);
    assert!(json["metrics"]["mfu"].is_null() && json["metrics"]["exact_match"].is_null());
    assert!(json["metrics"]["loss_floor"].is_null());
    let sums = folder.run(&quick(&["--set", "dataset=sums", "--json"])).json();
    assert_eq!(sums["metrics"]["exact_match"], 0.0);
    let plain = folder.run(&quick(&["--set", "dataset=chain"]));
    assert!(plain.did().contains("loss_floor") && plain.did().contains("1.13692"));
}

#[test]
fn a_text_may_come_from_a_file_and_what_is_none_is_refused() {
    let folder = Folder::new();
    let corpus = |name: &str, content: &[u8]| format!("corpus=@{}", folder.file(name, content));
    let own = corpus("own.txt", "la dee da, la dee dum. ".repeat(40).as_bytes());
    let text = ["--set", "dataset=text", "--json", "--set"];
    let json = folder.run(&quick(&[&text[..], &[own.as_str()]].concat())).json();
    assert!(json["metrics"]["validation_loss"].is_number());
    let many: String = ('\u{4e00}'..'\u{5400}').collect();
    let refused = |given: &str, said: &[&str]| {
        let done = folder.run(&quick(&[&text[..], &[given]].concat()));
        done.refused(2, said);
    };
    for (content, said) in [
        (&b""[..], "corpus: the text is empty; give one of at least"),
        (b" \n\n ", "corpus: the text is empty; give one of at least"),
        (b"short", "the text has 5 characters; with context 8 it needs at least 18"),
        (
            "a".repeat(500).as_bytes(),
            "'a' over and over, and nothing else: there is nothing to foretell; give a text of words",
        ),
        (
            many.as_bytes(),
            "the text has 1536 different characters, and each is a token of its own; 1024 at most",
        ),
        (b"\x89PNG\r\n\x1a\n\0\xff", "line 1, column 1 holds the byte 0x89"),
        (
            b"un caf\xe9 au lait",
            "line 1, column 7 holds the byte 0xE9, which UTF-8 does not have there; give a plain text, saved as UTF-8",
        ),
        (b"GIF89a\x01\0\x01", "line 1, column 7 holds the character U+0001"),
    ] {
        // Which file it is stands in every sentence.
        refused(&corpus("other.txt", content), &[said, "other.txt'"]);
    }
    let here = folder.path("").display().to_string();
    refused(&format!("corpus=@{here}"), &["is a folder; name a file"]);
    refused("corpus=@no/such.txt", &["'no/such.txt' cannot be read", "name a file that is there"]);
    refused("corpus=@@book.txt", &["'@book.txt' is taken for the text itself"]);
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
