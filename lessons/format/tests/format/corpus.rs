//! Cheats and unusual right answers to every kernel question of the built-in course.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use mlsys_lab::Registry;
use mlsys_lesson::{Answer, Lesson, LessonEnv, QuestionType, Verdict, parse};

struct Entry<'t> {
    right: bool,
    name: &'t str,
    /// What the feedback on a wrong one contains.
    said: &'t str,
    text: &'t str,
}

/// `//= right NAME`, or `//= wrong NAME: FEEDBACK`, and the kernel up to the next.
fn entries(file: &str) -> Vec<Entry<'_>> {
    let parts = file.split("//= ").skip(1);
    parts
        .map(|part| {
            let (head, text) = part.split_once('\n').unwrap();
            let right = head.starts_with("right ");
            let head = head.strip_prefix("right ").or(head.strip_prefix("wrong ")).unwrap();
            let (name, said) = head.split_once(':').unwrap_or((head, ""));
            Entry { right, name, said: said.trim(), text }
        })
        .collect()
}

fn kernel_lessons(folder: &Path) -> Vec<Lesson> {
    let mut found = Vec::new();
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            found.extend(kernel_lessons(&path));
            continue;
        }
        if path.extension().is_none_or(|end| end != "md") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        if text.contains("type = \"kernel\"") {
            let parsed = parse(&path.display().to_string(), &text);
            found.push(parsed.lesson.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics)));
        }
    }
    found
}

#[test]
fn cheats_get_nothing_and_unusual_right_answers_everything() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let registry = Registry::on_demand(mlsys_analytic::labs());
    let mut files: BTreeSet<String> = fs::read_dir(root.join("tests/kernels"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut problems = Vec::new();
    for lesson in kernel_lessons(&root.join("../library")) {
        let (_, short) = lesson.front.id.as_str().rsplit_once('/').unwrap();
        let env = LessonEnv::unrun(&lesson);
        for question in lesson.questions().filter(|q| q.kind.ty() == QuestionType::Kernel) {
            let name = format!("{short}.{}.cu", question.id);
            if !files.remove(&name) {
                problems.push(format!("{name} is missing"));
                continue;
            }
            let file = fs::read_to_string(root.join("tests/kernels").join(&name)).unwrap();
            let entries = entries(&file);
            let count = |right: bool| entries.iter().filter(|entry| entry.right == right).count();
            assert!(count(true) >= 3 && count(false) >= 5, "{name} has too few kernels");
            let mut graded = vec![(question.stated_answer(), true, "the answer", "")];
            graded.extend(entries.iter().map(|entry| {
                (Answer::One(entry.text.to_owned()), entry.right, entry.name, entry.said)
            }));
            for (answer, right, what, said) in graded {
                let grade = question.grade(&answer, &env, &registry);
                let feedback = grade.feedback.unwrap_or_default();
                let (verdict, points) =
                    if right { (Verdict::Right, question.points) } else { (Verdict::Wrong, 0) };
                if (grade.verdict, grade.points) != (verdict, points) || !feedback.contains(said) {
                    problems.push(format!("{name}, {what}: {:?}: {feedback}", grade.verdict));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert_eq!(files, BTreeSet::new(), "files without a question");
}
