//! What a text is after any keys.

use mlsys_run::storage::{Draft, MAX_DRAFT_BYTES};

use super::text::TextFull;
use super::{Editor, Subject, Then, Typed};
use crate::key::{Direction, Key};

/// An editor whose text is read.
fn read(text: &str) -> Editor {
    let mut editor = editor(text);
    settle(&mut editor);
    editor
}

fn settle(editor: &mut Editor) {
    if let Some(text) = editor.to_read(1) {
        assert_eq!(editor.take_complaints(1, text.read().complaints), None);
    }
}

fn editor(text: &str) -> Editor {
    let draft = Draft { lesson: "gpu/threads".parse().unwrap(), name: "mine".to_owned() };
    Editor::new(Subject::Question(0), draft, text, "")
}

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }
}

#[test]
fn typing_is_undone_and_redone() {
    const START: &str = "__global__ void f(float *a) {\n\ta[0] = 1.0f; // 日本語 e\u{301}\n}\n";
    let keys = [
        Key::Char('x'),
        Key::Char(' '),
        Key::Char('}'),
        Key::Char('語'),
        Key::Enter,
        Key::Tab,
        Key::BackTab,
        Key::Backspace,
        Key::Delete,
        Key::Up,
        Key::Down,
        Key::Left,
        Key::Right,
        Key::Home,
        Key::End,
        Key::PageUp,
        Key::PageDown,
        Key::Shift(Direction::Up),
        Key::Shift(Direction::Right),
        Key::Shift(Direction::End),
    ];
    for seed in 0..60 {
        let mut numbers = Numbers(seed);
        let mut editor = editor(START);
        for _ in 0..200 {
            match numbers.below(keys.len() + 3) {
                at if at < keys.len() => {
                    editor.key(keys[at], 5);
                }
                at if at == keys.len() => {
                    editor.text.cut();
                }
                at if at == keys.len() + 1 => {
                    editor.paste("two\r\nlines 語\n");
                }
                _ => editor.text.toggle_selection(),
            }
            // The cursor stands on a letter's edge, within the text, and on the screen's side of its column.
            let (line, column) = editor.text.cursor();
            let shown = editor.text.lines().nth(line).expect("the cursor's line is there");
            assert!(column <= super::text::width(shown), "seed {seed}");
            let (top, left) = editor.followed(7, 20);
            assert!((top..top + 7).contains(&line) && (left..left + 20).contains(&column));
        }
        let end = editor.text.as_str().to_owned();
        while editor.text.undo() {}
        assert_eq!(editor.text.as_str(), START, "seed {seed}");
        while editor.text.redo() {}
        assert_eq!(editor.text.as_str(), end, "seed {seed}");
    }
}

#[test]
fn replacing_the_text_is_one_bounded_change() {
    let mut editor = editor("aé語b");
    for other in ["aé語cb", "", "語語", "語a語", "\n\n", "e\u{301}"] {
        let before = editor.text.as_str().to_owned();
        assert_eq!(editor.become_text(other), Typed::Changed);
        assert_eq!(editor.text.as_str(), other);
        editor.text.undo();
        assert_eq!(editor.text.as_str(), before);
        editor.text.redo();
    }
    let longest = "x".repeat(MAX_DRAFT_BYTES);
    assert_eq!(editor.become_text(&longest), Typed::Changed);
    assert_eq!(editor.text.type_char('y'), Err(TextFull));
    assert_eq!(editor.key(Key::Enter, 1), Typed::TextFull);
    assert_eq!(editor.become_text(&format!("{longest}x")), Typed::TextFull);
    assert_eq!(editor.text.as_str(), longest);
    settle(&mut editor);
    assert!(!editor.complaints.is_empty());
    editor.next_complaint();
}

#[test]
fn ctrl_n_cycles_all_errors() {
    let mut editor = read("__global__ void f(float *a) {\n  a[0] = b;\n  a[1] = c;\n}\n");
    let lines: Vec<u32> = editor.complaints.iter().map(|c| c.place.line).collect();
    assert_eq!(lines, [2, 3]);
    let mut places = Vec::new();
    for _ in 0..3 {
        editor.next_complaint();
        places.push(editor.text.cursor());
    }
    assert_eq!(places, [(1, 9), (2, 9), (1, 9)]);
}

#[test]
fn a_jump_ends_the_selection() {
    let mut editor = read("__global__ void f(float *a) {\n  a[0] = b;\n}\n");
    editor.text.toggle_selection();
    editor.next_complaint();
    assert_eq!(editor.text.cursor().0, 1, "b is no name");
    assert!(!editor.text.is_selecting());
    editor.text.toggle_selection();
    editor.text.jump(0, 2);
    editor.key(Key::Char('x'), 5);
    assert!(editor.text.as_str().starts_with("__xglobal__ void f"));
}

#[test]
fn one_reading_at_a_time_and_only_the_newest_counts() {
    let mut editor = editor("__global__ void f(float *a) { a[0] = b; }");
    let first = editor.to_read(1).unwrap();
    assert!(!editor.is_read_or_then(Then::Run));
    editor.key(Key::Char(' '), 5);
    assert_eq!(editor.to_read(2), None, "one is being read");
    assert_eq!(editor.take_complaints(1, first.read().complaints), None, "the text has changed");
    assert_eq!((editor.complaints.len(), editor.is_being_read()), (1, true));
    let text = editor.to_read(2).unwrap();
    assert!(!editor.is_read_or_then(Then::Run));
    assert_eq!(editor.take_complaints(1, Vec::new()), None, "that is an earlier one");
    assert_eq!(editor.take_complaints(2, text.read().complaints), Some(Then::Run));
    assert_eq!((editor.complaints.len(), editor.is_being_read()), (1, false));
    assert!(editor.is_read_or_then(Then::NextComplaint));
}

#[test]
fn the_text_scrolls_back_as_soon_as_there_is_room() {
    let lines = |count: usize| "int i = 0;\n".repeat(count);
    let mut editor = editor(&format!("{}{}", lines(30), "x".repeat(50)));
    editor.text.jump(30, 50);
    editor.follow(10, 20);
    assert_eq!(editor.scroll, (21, 31));
    // Within the first screenful of its line.
    editor.text.jump(29, 10);
    editor.follow(10, 20);
    assert_eq!(editor.scroll, (21, 0));
    // Fewer lines than before.
    editor.become_text(&lines(8));
    editor.text.jump(7, 0);
    editor.follow(10, 20);
    assert_eq!(editor.scroll, (0, 0));
}
