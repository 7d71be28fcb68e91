//! Lessons without their answers, and keys.

use std::collections::BTreeSet;

use crate::support::{everything, registry};
use mlsys_lesson::{Answer, Key, Lesson, LessonEnv, QuestionKind, Verdict, read, withheld};

fn without_answers() -> Lesson {
    let text = withheld(&everything());
    let parsed = read("w.md", text.as_bytes(), &registry());
    assert_eq!(parsed.diagnostics, [], "{text}");
    parsed.lesson.unwrap()
}

#[test]
fn a_lesson_without_answers_asks_the_same_and_tells_nothing() {
    let (whole, given) = (everything(), without_answers());
    assert_eq!(given.points(), whole.points());
    for (question, asked) in whole.questions().zip(given.questions()) {
        assert_eq!(
            (&asked.id, &asked.prompt, &asked.hints),
            (&question.id, &question.prompt, &question.hints)
        );
        assert_eq!(asked.kind.name(), question.kind.name());
        assert!(asked.kind.is_withheld() && asked.explain.is_none());
        let sorted = |question: &mlsys_lesson::Question| {
            let mut shown: Vec<String> =
                question.shown_choices(&whole.front.id).into_iter().map(str::to_owned).collect();
            shown.sort();
            shown
        };
        assert_eq!(sorted(asked), sorted(question), "{}", question.id);
        // What is right is recorded like what is wrong.
        let grade = asked.grade(&question.stated_answer(), &LessonEnv::new(), &registry());
        let is_number =
            matches!(question.kind, QuestionKind::Numeric { .. } | QuestionKind::List { .. });
        if !is_number {
            assert_eq!((grade.verdict, grade.points), (Verdict::Recorded, 0), "{}", question.id);
        }
        let nonsense = asked.grade(&Answer::Many(Vec::new()), &LessonEnv::new(), &registry());
        assert_eq!(nonsense.verdict, Verdict::Malformed, "{}", question.id);
    }
    let text = &given.source.text;
    for secret in ["say =", "answer =", "tolerance", "explain =", "{notes}", "[[pair]]", "accept ="]
    {
        let allowed = whole.predictions().any(|p| whole.source.slice(p.place).contains(secret));
        assert!(allowed || !text.contains(secret), "{secret} in {text}");
    }
    // What is withheld once is withheld again to the same.
    assert_eq!(withheld(&given), *text);
}

#[test]
fn a_key_makes_it_whole_again_and_fits_no_other() {
    let (whole, given) = (everything(), without_answers());
    let key = Key::of("mine".parse().unwrap(), [&whole]);
    let key = Key::parse(key.to_json().unwrap().as_bytes()).unwrap();
    let text = key.complete(&given).unwrap();
    let complete = read("c.md", text.as_bytes(), &registry()).lesson.unwrap();
    for (question, back) in whole.questions().zip(complete.questions()) {
        assert_eq!(whole.source.slice(question.place), complete.source.slice(back.place));
    }
    let changed = given.source.text.replacen("points = 3", "points = 30", 1);
    assert_ne!(changed, given.source.text);
    let changed = read("w.md", changed.as_bytes(), &registry()).lesson.unwrap();
    let told = key.complete(&changed).unwrap_err().to_string();
    assert!(told.contains("of another version"), "{told}");
    let stranger = Key::of("mine".parse().unwrap(), []);
    assert!(stranger.complete(&given).unwrap_err().to_string().contains("no answers for it"));
    for (bytes, said) in [("", "no key"), ("{}", "no key"), ("{\"format\": 7}", "format 7")] {
        let told = Key::parse(bytes.as_bytes()).unwrap_err().to_string();
        assert!(told.contains(said), "{told}");
    }
}

#[test]
fn a_withheld_question_has_no_other_keys() {
    let front = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"t\"\nminutes = 1\n+++\n";
    for (body, said) in [
        ("type = \"numeric\"\nwithheld = true\nanswer = 3", "`answer` means nothing"),
        ("type = \"choice\"\nwithheld = true", "has no `choices`"),
        ("type = \"choice\"\nwithheld = true\nchoices = [\"a\"]", "nothing to choose"),
        ("type = \"match\"\nwithheld = true\nchoices = [\"a\"]", "has no `left`"),
        ("type = \"text\"\nwithheld = 1", "`withheld` is a whole number"),
    ] {
        let text = format!("{front}```{{question}} q\nprompt = \"p\"\n{body}\n```\n");
        let parsed = read("w.md", text.as_bytes(), &registry());
        let told: Vec<_> = parsed.diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert!(told.iter().any(|told| told.contains(said)), "{body}: {told:?}");
    }
}

#[test]
fn the_json_schema_knows_every_key_of_a_question_with_and_without_its_answer() {
    let schema = mlsys_lesson::json_schema(&registry());
    let question = &schema["$defs"]["question"];
    let mut seen = BTreeSet::new();
    for lesson in [everything(), without_answers()] {
        for asked in lesson.questions() {
            let text = lesson.source.slice(asked.place);
            let inside: Vec<&str> = text.lines().filter(|line| !line.starts_with("```")).collect();
            let table: toml::Table = inside.join("\n").parse().unwrap();
            let part = if asked.kind.is_withheld() { "then" } else { "else" };
            for key in table.keys() {
                assert!(question["properties"].get(key).is_some(), "{key}\n{text}");
                // A key that the case forbids stands there as `false`.
                assert_eq!(question[part]["properties"].get(key), None, "{key}\n{text}");
            }
            seen.extend(table.into_iter().map(|(key, _)| key));
        }
    }
    for key in ["withheld", "choices", "left", "pair", "answer"] {
        assert!(seen.contains(key), "{key}: {seen:?}");
    }
}
