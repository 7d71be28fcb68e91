//! Answers to questions of every type, and lessons that try their own.

use std::collections::{BTreeMap, BTreeSet};

use mlsys_lesson::{
    Answer, Key, Lesson, LessonEnv, QuestionKind, Verdict, new_lesson, overflow, parse, read,
    read_number, read_translation, self_test, skeleton, withheld,
};

use crate::support::{cases, everything, json, lesson, registry, with_body};

#[test]
fn answers_are_graded_by_their_type() {
    let lesson = everything();
    for case in include_str!("../cases/answers.txt").lines() {
        let mut cells = case.split(" | ");
        let [question, verdict, given] = [(); 3].map(|()| cells.next().unwrap());
        let question = lesson.question(question).unwrap();
        let grade = question.grade(&json(given), &LessonEnv::unrun(&lesson), &registry());
        assert_eq!(format!("{:?}", grade.verdict), verdict, "{case}: {grade:?}");
        let feedback = grade.feedback.as_deref();
        match cells.next() {
            Some(wanted) => assert!(feedback.unwrap().contains(wanted), "{case}: {feedback:?}"),
            None => assert_eq!(feedback, None, "{case}"),
        }
        let points = if grade.verdict == Verdict::Right { question.points } else { 0 };
        assert_eq!(grade.points, points);
    }
}

#[test]
fn each_wrong_choice_is_told_why() {
    let lesson = lesson(
        "{question} q\ntype = \"multiple\"\nprompt = \"Which are even?\"\nanswer = [\"2\", \"4\"]\n\
         wrong = [{ value = \"3\", say = \"3 is odd.\" }, { value = \"5\", say = \"So is 5.\" }]",
    );
    let question = lesson.question("q").unwrap();
    let given = Answer::Many(["2", "3", "5"].map(str::to_owned).to_vec());
    let grade = question.grade(&given, &LessonEnv::new(), &registry());
    assert_eq!(grade.feedback.as_deref(), Some("3 is odd. So is 5."));
}

#[test]
fn tolerances_hold_at_their_edges() {
    let verdict = |tolerance: &str, given: &str| {
        let text = format!(
            "{{question}} q\ntype = \"numeric\"\nprompt = \"?\"\nanswer = 0.3\n{tolerance}"
        );
        let lesson = lesson(&text);
        let question = lesson.question("q").unwrap();
        question.grade(&Answer::One(given.into()), &LessonEnv::new(), &registry()).verdict
    };
    for (tolerance, given, right) in [
        ("", "0.3", true),
        ("", "0.1 + 0.2", true),
        ("", "0.3000001", false),
        ("tolerance = { rel = 0.1 }", "0.33", true),
        ("tolerance = { rel = 0.1 }", "0.27", true),
        ("tolerance = { rel = 0.1 }", "0.3301", false),
        ("tolerance = { abs = 0.1 }", "0.4", true),
        ("tolerance = { abs = 0.1 }", "0.41", false),
        ("tolerance = { abs = 0.1 }", "-0.3", false),
    ] {
        let wanted = if right { Verdict::Right } else { Verdict::Wrong };
        assert_eq!(verdict(tolerance, given), wanted, "{tolerance} {given}");
    }
}

#[test]
fn numbers_are_read_as_people_write_them() {
    for (text, value) in [
        ("1_000", 1000.0),
        ("1e9", 1e9),
        ("-3", -3.0),
        ("2*512^3/(3*512^2*4)", 512.0 / 6.0),
        ("  7 ", 7.0),
        ("log2(8)", 3.0),
    ] {
        assert_eq!(read_number(text), Ok(value), "{text}");
    }
    for text in ["", "_1", "1_", "1__0", "x", "\"a\"", "1 < 2", "nan", "1e999", "1,000", "2y/z"] {
        assert!(read_number(text).is_err(), "{text}");
    }
}

#[test]
fn choices_are_shuffled_reproducibly() {
    let lesson = everything();
    let id = &lesson.front.id;
    for question in lesson.questions() {
        let shown = question.shown_choices(id);
        assert_eq!(shown, question.shown_choices(id));
        let distinct: BTreeSet<_> = shown.iter().collect();
        assert_eq!(distinct.len(), shown.len());
    }
    let count = |name: &str| lesson.question(name).unwrap().shown_choices(id).len();
    assert_eq!([count("choice"), count("multiple"), count("match"), count("order")], [3, 3, 3, 3]);
    let mut firsts = BTreeSet::new();
    for name in 0..40 {
        let text = format!(
            "{{question}} q{name}\ntype = \"order\"\nprompt = \"?\"\nanswer = [\"a\", \"b\"]"
        );
        let lesson = self::lesson(&text);
        let shown = lesson.questions().next().unwrap().shown_choices(&lesson.front.id);
        assert_eq!(shown, ["b", "a"]);
        let text = format!(
            "{{question}} q{name}\ntype = \"choice\"\nprompt = \"?\"\nanswer = \"a\"\nwrong = [{{ value = \"b\", say = \"n\" }}]"
        );
        let lesson = self::lesson(&text);
        firsts.insert(
            lesson.questions().next().unwrap().shown_choices(&lesson.front.id)[0].to_owned(),
        );
    }
    assert_eq!(firsts.len(), 2, "the right choice is not always at one place");
}

fn without_answers() -> Lesson {
    let text = withheld(&everything());
    let parsed = read("w.md", text.as_bytes(), &registry());
    assert_eq!(parsed.diagnostics, [], "{text}");
    parsed.lesson.unwrap()
}

#[test]
fn a_withheld_lesson_asks_the_same_without_answers() {
    let (whole, given) = (everything(), without_answers());
    assert_eq!(given.points(), whole.points());
    for (question, asked) in whole.questions().zip(given.questions()) {
        assert_eq!(
            (&asked.id, &asked.prompt, &asked.hints),
            (&question.id, &question.prompt, &question.hints)
        );
        assert_eq!(asked.kind.ty(), question.kind.ty());
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
    let key = Key::new("mine".parse().unwrap(), [&whole]);
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
    let stranger = Key::new("mine".parse().unwrap(), []);
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

/// No table has this key, so that the help on it names those that the table has.
const STRANGE: &str = "zzzzzzzz = 0";

/// The text with the strange key in each table, and the tables' places in the schema by their lines.
fn with_strange_keys(text: &str, root: &str) -> (String, BTreeMap<usize, String>) {
    let (mut lines, mut tables) = (Vec::new(), BTreeMap::new());
    let mut directive = String::new();
    for line in text.lines() {
        let fence = line.trim_start_matches(['`', '~']).strip_prefix('{');
        let list = line.strip_prefix("[[").and_then(|line| line.strip_suffix("]]"));
        let name = fence.and_then(|fence| fence.split_once('}')).map(|(name, _)| name);
        let name = name.or(lines.is_empty().then_some("front_matter"));
        let inside = match (name, list) {
            (Some(name), _) => {
                directive = format!("{root}/{name}");
                String::new()
            }
            (None, Some(path)) => {
                path.split('.').map(|key| format!("/properties/{key}/items")).collect()
            }
            (None, None) if line.starts_with("[knob.") => {
                "/properties/knob/additionalProperties".to_owned()
            }
            (None, None) if line == "[tolerance]" => "/properties/tolerance".to_owned(),
            (None, None) => {
                lines.push(line);
                continue;
            }
        };
        lines.extend([line, STRANGE]);
        let term = (list == Some("term")).then(|| "/$defs/terms/items".to_owned());
        tables.insert(lines.len(), term.unwrap_or(format!("{directive}{inside}")));
    }
    (lines.join("\n"), tables)
}

#[test]
fn json_schema_has_the_keys_of_every_table() {
    const OTHERS: &str = "+++\n[[term]]\n+++\n```{lab} a\n[[panel]]\n[[panel.goal]]\n```\n\
        ```{question} b\ntype = \"numeric\"\n[tolerance]\n```\n";
    let (whole, given, registry) = (everything(), without_answers(), registry());
    let kernel = with_body(include_str!("../lessons/reverse.md"));
    let translation = skeleton(&whole, "fr");
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (text, root) in [
        (whole.source.text.as_str(), "/$defs"),
        (&given.source.text, "/$defs"),
        (&kernel, "/$defs"),
        (OTHERS, "/$defs"),
        (&translation, "/$defs/translation/properties"),
    ] {
        let (text, tables) = with_strange_keys(text, root);
        let parsed = match root {
            "/$defs" => read("l.md", text.as_bytes(), &registry),
            _ => read_translation("l.fr.md", text.as_bytes(), &whole),
        };
        for problem in parsed.diagnostics.iter().filter(|d| d.source_line == STRANGE) {
            let help = problem.help.as_deref().unwrap();
            let keys = help.strip_prefix("its keys are: ").into_iter();
            let keys = keys.flat_map(|keys| keys.split(", "));
            let table = known.entry(tables[&problem.line].clone()).or_default();
            table.extend(keys.map(str::to_owned));
        }
    }
    let schema = mlsys_lesson::json_schema(&registry);
    for (table, keys) in &known {
        let properties = schema.pointer(&format!("{table}/properties")).unwrap();
        let listed: BTreeSet<String> = properties.as_object().unwrap().keys().cloned().collect();
        assert_eq!(listed, *keys, "{table}");
    }
    assert!(known.len() >= 20, "{:?}", known.keys());
    // A key that a question cannot have, with its answer or without it, stands there as `false`.
    for lesson in [whole, given] {
        for asked in lesson.questions() {
            let text = lesson.source.slice(asked.place);
            let inside: Vec<&str> = text.lines().filter(|line| !line.starts_with("```")).collect();
            let table: toml::Table = inside.join("\n").parse().unwrap();
            let part = if asked.kind.is_withheld() { "then" } else { "else" };
            let refused = &schema["$defs"]["question"][part]["properties"];
            assert!(table.keys().all(|key| refused.get(key).is_none()), "{refused} {text}");
        }
    }
}

#[test]
fn stated_answers_are_tried() {
    let registry = registry();
    let good = everything();
    assert_eq!(self_test(&good, &LessonEnv::unrun(&good), &registry), []);
    for (expected, question) in cases(include_str!("../cases/stated-answers.txt")) {
        let lesson = lesson(&format!("{{question}} q\nprompt = \"?\"\n{question}"));
        let found = self_test(&lesson, &LessonEnv::unrun(&lesson), &registry);
        let codes: Vec<_> = found.iter().map(|d| d.code.name()).collect();
        assert_eq!(codes.join(", "), expected, "{question}");
    }
}

#[test]
fn the_lesson_to_start_from_is_sound() {
    let registry = registry();
    for title in ["My \"first\" \\ lesson", "Übung #1"] {
        let text = new_lesson(&"mine/first".parse().unwrap(), title);
        let parsed = read("new.md", text.as_bytes(), &registry);
        let told: Vec<_> = parsed.diagnostics.iter().map(ToString::to_string).collect();
        let lesson = parsed.lesson.unwrap_or_else(|| panic!("{}", told.join("\n")));
        assert_eq!(told, [""; 0]);
        assert_eq!(lesson.front.title, title);
        assert_eq!(self_test(&lesson, &LessonEnv::unrun(&lesson), &registry), []);
        assert_eq!(overflow(&lesson), []);
        let kinds = [
            lesson.labs().count(),
            lesson.predictions().count(),
            lesson.questions().count(),
            lesson.checks().count(),
        ];
        assert_eq!(kinds, [2, 2, 1, 2]);
    }
}

#[test]
fn too_wide_code_and_tables_are_reported() {
    let wide = "x".repeat(77);
    let front = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"t\"\nminutes = 1\n+++\n\n";
    let text = format!("{front}{wide}\n\n```\nok\n{wide}\n```\n\n| {wide} |\n");
    let lesson = parse("t.md", &text).lesson.unwrap();
    let found: Vec<_> =
        overflow(&lesson).iter().map(|d| (d.code.name(), d.line, d.is_error())).collect();
    assert_eq!(found, [("overflow", 12, false), ("overflow", 15, false)]);
    // A title that the list of lessons cuts, where it stands.
    let long = text.replace("title = \"t\"", &format!("title = \"{}\"", "t".repeat(49)));
    let found = overflow(&parse("t.md", &long).lesson.unwrap());
    assert_eq!((found[0].code.name(), found[0].line, found[0].column), ("overflow", 4, 10));
}

#[test]
fn lesson_terms_are_unique() {
    let lesson = |terms: &str| {
        format!(
            "+++\nformat = 1\nid = \"m/l\"\ntitle = \"T\"\nminutes = 1\n{terms}\n+++\n# T\n\nText.\n"
        )
    };
    let term =
        |name: &str, about: &str| format!("[[term]]\nname = \"{name}\"\nabout = \"{about}\"\n");
    let registry = registry();
    let read = |text: String| read("l.md", text.as_bytes(), &registry);
    let good = read(lesson(&format!("{}aliases = [\"b\"]\n", term("a", "First."))));
    let front = good.lesson.unwrap().front;
    assert_eq!((front.terms[0].name.as_str(), front.terms[0].aliases.len()), ("a", 1));
    let codes = |text: String| {
        let parsed = read(text);
        parsed.diagnostics.iter().map(|d| d.code.name()).collect::<Vec<_>>()
    };
    assert_eq!(codes(lesson(&(term("a", "One.") + &term("A", "Two.")))), ["duplicate-id"]);
    assert_eq!(codes(lesson(&term("a", &"x".repeat(301)))), ["bad-value"]);
    assert_eq!(codes(lesson("[[term]]\nname = \"a\"\n")), ["missing-key"]);
}
