use super::words::{Line, WORDS, not_understood, read};

#[test]
fn words_are_read_and_other_texts_are_answers() {
    let text = |text: &str| Ok(Line::Text(text.to_owned()));
    for (line, meant) in [
        ("", Ok(Line::Next)),
        ("  next \r\n", Ok(Line::Next)),
        ("go 3", Ok(Line::Go(3))),
        ("set learning_rate 0.1", Ok(Line::Set("learning_rate".into(), "0.1".into()))),
        ("set run.width = 8", Ok(Line::Set("run.width".into(), "8".into()))),
        ("answer run", Ok(Line::Answer("run".into()))),
        ("open systems/training-loop", Ok(Line::Open("systems/training-loop".into()))),
        ("b a c", text("b a c")),
        ("2*512^3", text("2*512^3")),
        ("run the optimizer", text("run the optimizer")),
        ("Next", text("Next")),
        ("go", Err("write go NUMBER, with a number that list shows".to_owned())),
        ("set x", Err("write set NAME VALUE".to_owned())),
        ("answer", Err("write answer TEXT".to_owned())),
    ] {
        assert_eq!(read(line), meant, "{line:?}");
    }
}

#[test]
fn every_word_that_help_lists_is_understood() {
    for known in WORDS {
        let line = match known.more {
            "" => known.word.to_owned(),
            "NUMBER" | "LINE" => format!("{} 1", known.word),
            more => format!("{} {more}", known.word),
        };
        assert!(!matches!(read(&line), Ok(Line::Text(_)) | Err(_)), "{line}");
    }
    assert_eq!(not_understood("hnit"), "'hnit' is not understood; did you mean hint?");
}
