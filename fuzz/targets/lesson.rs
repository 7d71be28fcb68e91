//! Any bytes as a lesson file, then answers after a byte 0xff: read, compared with the labs, printed, graded.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mlsys_fuzz::{LABS, is_printable};
use mlsys_lesson::{Answer, Lesson, LessonEnv, Parsed, Progress, overflow, read, self_test};

fuzz_target!(|data: &[u8]| {
    let end = data.iter().position(|&byte| byte == 0xff);
    let (file, answers) = end.map_or((data, &[][..]), |end| (&data[..end], &data[end + 1..]));
    let parsed = read("f.md", file, &LABS);
    told(file, &parsed);
    let Some(lesson) = parsed.lesson else { return };
    let text = String::from_utf8_lossy(answers).into_owned();
    graded(&lesson, &text);
    let env = LessonEnv::unrun(&lesson);
    for diagnostic in self_test(&lesson, &env, &LABS).iter().chain(&overflow(&lesson)) {
        is_printable(&diagnostic.to_string());
    }
    Progress::default().summary(&lesson);
});

/// Every diagnostic of a file has a place in it and can be printed.
fn told(file: &[u8], parsed: &Parsed) {
    let lines = file.iter().filter(|&&byte| byte == b'\n').count() + 1;
    for diagnostic in &parsed.diagnostics {
        assert!((1..=lines).contains(&diagnostic.line));
        assert!(diagnostic.column >= 1 && diagnostic.length >= 1);
        assert!(!diagnostic.message.is_empty());
        is_printable(&diagnostic.to_string());
    }
    let refused = parsed.diagnostics.iter().any(|diagnostic| diagnostic.is_error());
    assert_eq!(parsed.lesson.is_none(), refused);
}

/// Every question and prediction takes the stated answer and any other without harm.
fn graded(lesson: &Lesson, text: &str) {
    let env = LessonEnv::unrun(lesson);
    let mut answers = vec![
        Answer::One(text.to_owned()),
        Answer::Many(text.split(';').map(str::to_owned).collect()),
    ];
    answers.extend(serde_json::from_str::<Answer>(text));
    for question in lesson.questions() {
        question.shown_choices(&lesson.front.id);
        for given in answers.iter().chain([&question.stated_answer()]) {
            let grade = question.grade(given, &env, &LABS);
            assert!(grade.points <= question.points);
        }
    }
    for predict in lesson.predictions() {
        for given in &answers {
            if predict.accepts(given).is_ok() {
                let _ = predict.compare(given, &env);
            }
        }
    }
    for check in lesson.checks() {
        check.evaluate(&env);
    }
}
