//! No bytes make the reader panic, and whatever it says about them can be printed.

use crate::support::{folder, registry};
use mlsys_lesson::{LessonEnv, Progress, overflow, read, self_test};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Everything that is done with a file somebody hands over.
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
    let mut random = Random(1);
    for _ in 0..400 {
        let length = random.below(300);
        let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        survive(&bytes);
        survive(&[b"+++\n", bytes.as_slice()].concat());
    }
}

#[test]
fn pieces_of_lessons_in_any_order() {
    const PIECES: [&str; 36] = [
        "+++",
        "\n",
        "\n\n",
        "```",
        "~~~",
        "````",
        "{lab}",
        "{question}",
        "{check}",
        "{predict}",
        "{notes}",
        " run",
        "kind = \"train\"",
        "type = \"numeric\"",
        "type = \"choice\"",
        "answer = ",
        "\"2^3\"",
        "[",
        "]",
        "{",
        "}",
        "[[wrong]]",
        "[knob.width]",
        "=",
        "\"",
        "\"\"\"",
        "#",
        "é",
        "\u{1b}[2J",
        "\u{202e}",
        "\r\n",
        "\t",
        "set = { a = 1 }",
        "assert = \"run.loss < 1\"",
        "format = 1\nid = \"a/b\"\ntitle = \"t\"\nminutes = 1\n",
        "'''",
    ];
    let mut random = Random(2);
    for _ in 0..1500 {
        let count = random.below(40);
        let mut text = String::new();
        if random.below(2) == 0 {
            text.push_str("+++\nformat = 1\nid = \"a/b\"\ntitle = \"t\"\nminutes = 1\n+++\n");
        }
        for _ in 0..count {
            text.push_str(PIECES[random.below(PIECES.len())]);
        }
        survive(text.as_bytes());
    }
}

#[test]
fn a_valid_lesson_with_bytes_changed_lost_or_doubled() {
    let valid = std::fs::read(folder("valid").join("everything.md")).unwrap();
    let mut random = Random(3);
    for _ in 0..600 {
        let mut bytes = valid.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            let end = (at + random.below(30)).min(bytes.len());
            match random.below(4) {
                0 => bytes[at] = random.next() as u8,
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
    let mut random = Random(4);
    for _ in 0..300 {
        let length = random.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        Progress::replay(&bytes);
    }
}
