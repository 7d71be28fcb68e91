//! Arbitrary bytes as a translation of a lesson with one of everything: diagnosed, graded, and never with other answers.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mlsys_fuzz::{LABS, is_printable};
use mlsys_lesson::{Lesson, LessonEnv, overflow, read, read_translation, skeleton};

static ORIGINAL: LazyLock<Lesson> = LazyLock::new(|| {
    let text = include_bytes!("../seeds/original.md");
    let parsed = read("original.md", text, &LABS);
    parsed.lesson.expect("the original is valid")
});

fuzz_target!(|data: &[u8]| {
    let original = &*ORIGINAL;
    let parsed = read_translation("original.fr.md", data, original);
    let lines = data.iter().filter(|&&byte| byte == b'\n').count() + 1;
    for diagnostic in &parsed.diagnostics {
        assert!((1..=lines).contains(&diagnostic.line));
        assert!(diagnostic.column >= 1 && diagnostic.length >= 1);
        is_printable(&diagnostic.to_string());
    }
    let refused = parsed.diagnostics.iter().any(|diagnostic| diagnostic.is_error());
    assert_eq!(parsed.lesson.is_none(), refused);
    let Some(lesson) = parsed.lesson else { return };
    let ids = |lesson: &Lesson| -> Vec<String> {
        let ids = lesson.blocks.iter().filter_map(|block| block.id());
        ids.map(str::to_owned).collect()
    };
    assert_eq!(ids(&lesson), ids(original));
    let env = LessonEnv::unrun(original);
    for (own, stated) in lesson.questions().zip(original.questions()) {
        let answer = stated.stated_answer();
        assert_eq!(own.stated_answer(), answer);
        assert_eq!(own.shown_choices(&lesson.front.id), stated.shown_choices(&original.front.id));
        let points =
            |question: &mlsys_lesson::Question| question.grade(&answer, &env, &LABS).points;
        assert_eq!(points(own), points(stated));
    }
    overflow(&lesson);
    let _ = skeleton(&lesson, "fr");
});
