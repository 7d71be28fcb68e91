//! No bytes make the reader panic, and whatever it says about them can be printed.

use mlsys_lab::random::SplitMix64;
use mlsys_lesson::{
    LessonEnv, MAX_DIRECTIVES, MAX_FILE_BYTES, Progress, overflow, parse, parse_bytes, read,
    self_test,
};

use crate::support::{RUN, folder, found, registry, with_body};

/// Everything that is done with an untrusted file.
fn survive(bytes: &[u8]) {
    let registry = registry();
    let parsed = read("f.md", bytes, &registry);
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
    for diagnostic in &parsed.diagnostics {
        assert!((1..=lines).contains(&diagnostic.line));
        assert!(diagnostic.column >= 1 && diagnostic.length >= 1);
        assert!(!diagnostic.message.is_empty());
        let printed = diagnostic.to_string();
        assert!(!printed.chars().any(|c| c.is_control() && c != '\n'), "{printed:?}");
    }
    match parsed.lesson {
        Some(lesson) => {
            self_test(&lesson, &LessonEnv::unrun(&lesson), &registry);
            overflow(&lesson);
            for question in lesson.questions() {
                question.shown_choices(&lesson.front.id);
            }
        }
        None => {
            assert!(parsed.diagnostics.iter().any(|d| d.is_error()), "refused without a reason")
        }
    }
}

#[test]
fn arbitrary_bytes() {
    let mut random = SplitMix64(1);
    for _ in 0..400 {
        let length = random.below(300);
        let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        survive(&bytes);
        survive(&[b"+++\n", bytes.as_slice()].concat());
    }
}

#[test]
fn pieces_of_lessons_in_any_order() {
    const SHORT: [&str; 24] = [
        "+++", "\n", "\n\n", "```", "~~~", "````", "{lab}", "{check}", "{notes}", " run",
        "\"2^3\"", "[", "]", "{", "}", "=", "\"", "\"\"\"", "#", "é", "\u{202e}", "\r\n", "\t",
        "'''",
    ];
    const LONG: [&str; 12] = [
        "{question}",
        "{predict}",
        "kind = \"train\"",
        "type = \"numeric\"",
        "type = \"choice\"",
        "answer = ",
        "[[wrong]]",
        "[knob.width]",
        "\u{1b}[2J",
        "set = { a = 1 }",
        "assert = \"run.loss < 1\"",
        "format = 1\nid = \"a/b\"\ntitle = \"t\"\nminutes = 1\n",
    ];
    let pieces = [&SHORT[..], &LONG].concat();
    let mut random = SplitMix64(2);
    for _ in 0..1500 {
        let count = random.below(40);
        let mut text = String::new();
        if random.below(2) == 0 {
            text.push_str("+++\nformat = 1\nid = \"a/b\"\ntitle = \"t\"\nminutes = 1\n+++\n");
        }
        for _ in 0..count {
            text.push_str(random.pick(&pieces));
        }
        survive(text.as_bytes());
    }
}

#[test]
fn a_valid_lesson_with_bytes_changed_lost_or_doubled() {
    let valid = std::fs::read(folder("valid").join("everything.md")).unwrap();
    let mut random = SplitMix64(3);
    for _ in 0..600 {
        let mut bytes = valid.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            let end = (at + random.below(30)).min(bytes.len());
            match random.below(4) {
                0 => bytes[at] = random.bits() as u8,
                1 => bytes.truncate(at.max(1)),
                2 => drop(bytes.drain(at..end)),
                _ => {
                    let doubled = bytes[at..end].to_vec();
                    bytes.splice(at..at, doubled);
                }
            }
        }
        survive(&bytes);
    }
}

#[test]
fn a_valid_lesson_cut_at_any_line() {
    let valid = std::fs::read_to_string(folder("valid").join("everything.md")).unwrap();
    for (at, _) in valid.match_indices('\n') {
        survive(&valid.as_bytes()[..at]);
    }
}

#[test]
fn arbitrary_logs() {
    let mut random = SplitMix64(4);
    for _ in 0..300 {
        let length = random.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        Progress::replay(&bytes);
    }
}

#[test]
fn columns_count_characters_not_bytes() {
    let body = "```{check} c\nassert = \"\u{e9}\u{e9}\u{e9}\" \nwhy = 3\n```\n";
    assert_eq!(found(&with_body(body)), [("expression", 8, 11), ("wrong-type", 9, 7)]);
    let crlf = with_body(&format!("{RUN}```{{check}} c\nassert = \"rum.loss > 1\"\n```\n"))
        .replace('\n', "\r\n");
    assert_eq!(found(&crlf), [("unknown-name", 11, 11)]);
    let marked = format!("\u{feff}{}", with_body(RUN));
    assert_eq!(found(&marked), []);
}

#[test]
fn terminal_control_characters_are_removed_or_refused() {
    let text = with_body("before \u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}after\u{9b}2J\u{8}\n");
    assert_eq!(found(&text), [("control-character", 7, 8)]);
    let prose = parse("t.md", &text).lesson.unwrap();
    let mlsys_lesson::Block::Prose(prose) = &prose.blocks[0] else { panic!("prose") };
    assert_eq!(prose.markdown, "before red after");
    assert_eq!(found(&with_body("a\u{202e}b\n")), [("bidi-override", 7, 2)]);
    let check = "```{check} c\nassert = \"1 < 2\" # \u{1b}[2J\nwhy = \"\u{2066}\"\n```\n";
    let codes: Vec<_> = found(&with_body(check)).iter().map(|(code, ..)| *code).collect();
    assert!(codes.contains(&"control-character") && codes.contains(&"bidi-override"), "{codes:?}");
    for diagnostic in parse("t.md", &with_body(check)).diagnostics {
        let told = diagnostic.to_string();
        assert!(!told.chars().any(|c| c.is_control() && c != '\n'), "{told:?}");
    }
}

#[test]
fn files_that_are_no_lessons_are_refused_with_a_reason() {
    let code = |bytes: &[u8]| {
        let parsed = parse_bytes("f", bytes);
        assert!(parsed.lesson.is_none());
        parsed.diagnostics[0].code.name()
    };
    assert_eq!(code(b"\x7fELF\x02\x01\x01\0\0\0"), "not-text");
    assert_eq!(code(b"+++\n\xff\xfe\n"), "not-text");
    assert_eq!(code(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "not-text");
    assert_eq!(code(&vec![b' '; MAX_FILE_BYTES + 1]), "too-large");
    let message = parse_bytes("f", b"+++\nab\xff\n").diagnostics[0].to_string();
    assert!(message.contains("line 2") && message.contains("0xff"), "{message}");
}

#[test]
fn directives_depth_and_messages_are_limited() {
    let many: String = (0..=MAX_DIRECTIVES)
        .map(|i| format!("```{{check}} c{i}\nassert = 'device.name == \"a\"'\n```\n"))
        .collect();
    let codes: Vec<_> = found(&with_body(&many)).iter().map(|(code, ..)| *code).collect();
    assert_eq!(codes, ["too-many-directives"]);
    let deep =
        format!("```{{check}} c\nassert = \"{}1{}\"\n```\n", "(".repeat(500), ")".repeat(500));
    assert_eq!(found(&with_body(&deep))[0].0, "expression");
    let nested =
        format!("```{{lab}} run\nkind = \"train\"\nset = {{ a = {} }}\n```\n", "[".repeat(5000));
    assert_eq!(found(&with_body(&nested))[0].0, "toml");
    let noisy = format!("```{{lab}} run\n{}\n```\n", "x = \n".repeat(1000));
    let all = found(&with_body(&noisy));
    assert!(all.len() < 100, "{}", all.len());
    assert_eq!(all.last().unwrap().0, "too-many-problems");
}

#[test]
fn hostile_files_get_a_bounded_answer() {
    let repeated = |piece: &str| piece.repeat(100_000 / piece.len());
    let lab = |body: String| with_body(&format!("```{{lab}} run\n{body}\n```\n"));
    let question = |body: String| {
        let head = "type = \"multiple\"\nprompt = \"?\"";
        with_body(&format!("```{{question}} q\n{head}\n{body}\n```\n"))
    };
    let keys: String = (0..8000).map(|i| format!("k{i} = 1\n")).collect();
    let texts: String = (0..9000).map(|i| format!("\"k{i}\",")).collect();
    for (text, first) in [
        (lab(repeated("x = \n")), "toml"),
        (lab(repeated("[")), "toml"),
        (lab(keys), "missing-key"),
        (question(format!("answer = [{texts}]")), "too-large"),
        (with_body(&repeated("```{notes}\n")), "unclosed-fence"),
        (with_body(&repeated("    ```{notes}\n")), "unknown-directive"),
        (with_body(&repeated("\u{1b}]")), "control-character"),
        (repeated("+++\n"), "missing-key"),
    ] {
        let all = found(&text);
        assert_eq!(all[0].0, first);
        assert!(all.len() <= 61, "{}", all.len());
    }
}
