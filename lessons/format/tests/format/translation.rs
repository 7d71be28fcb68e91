//! Translations: texts from one file, everything else from the other.

use mlsys_lesson::{
    Answer, Block, Lesson, LessonEnv, Parsed, QuestionKind, read, read_translation, skeleton,
};

use crate::support::{cases, everything, json, registry};

const ORIGINAL: &str = include_str!("../lessons/translation/original.md");

const FRENCH: &str = include_str!("../lessons/translation/original.fr.md");

fn original() -> Lesson {
    read("b.md", ORIGINAL.as_bytes(), &registry()).lesson.unwrap()
}

fn translated(text: &str) -> Parsed {
    read_translation("b.fr.md", text.as_bytes(), &original())
}

/// Code and line of everything that is wrong with the French text after a change.
fn found(part: &str, by: &str) -> Vec<(&'static str, usize)> {
    assert!(FRENCH.contains(part), "{part:?}");
    let parsed = translated(&FRENCH.replace(part, by));
    for diagnostic in &parsed.diagnostics {
        assert_eq!(diagnostic.file, "b.fr.md");
        assert!(diagnostic.help.is_some(), "{diagnostic}");
    }
    let told = parsed.diagnostics.iter();
    told.map(|d| (d.code.name(), d.line)).collect()
}

fn prose(lesson: &Lesson) -> Vec<&str> {
    let texts = lesson.blocks.iter().filter_map(|block| match block {
        Block::Prose(prose) => Some(prose.markdown.as_str()),
        Block::Notes(notes) => Some(notes.markdown.as_str()),
        Block::Lab(_) | Block::Predict(_) | Block::Question(_) | Block::Check(_) => None,
    });
    texts.collect()
}

#[test]
fn a_translation_supplies_texts_only() {
    let parsed = translated(FRENCH);
    assert_eq!(parsed.diagnostics, []);
    let lesson = parsed.lesson.unwrap();
    assert_eq!(lesson.front.title, "Une leçon");
    assert_eq!(lesson.front.lang.as_deref(), Some("fr"));
    assert_eq!(lesson.front.minutes, 5);
    assert_eq!(
        prose(&lesson),
        [
            "# D'abord\n\nAvant le laboratoire.",
            "Pour les enseignants.",
            "Entre les deux.",
            "Derniers mots."
        ]
    );
    let lab = lesson.lab("run").unwrap();
    assert_eq!(lab.kind.value, "train");
    assert_eq!(lab.title.as_deref(), Some("Une exécution"));
    assert_eq!(lab.panels[0].title.as_deref(), Some("Perte"));
    let q = lesson.question("q").unwrap();
    assert_eq!((q.prompt.as_str(), q.points), ("Lequel ?", 2));
    assert_eq!((q.label("red"), q.label("blue")), ("rouge", "bleu"));
    assert_eq!(q.hints, ["chaud"]);
}

#[test]
fn grades_and_answers_are_the_same_in_both_languages() {
    let (original, french) = (original(), translated(FRENCH).lesson.unwrap());
    let registry = registry();
    let grade = |lesson: &Lesson, id: &str, given: &str| {
        let env = LessonEnv::unrun(lesson);
        lesson.question(id).unwrap().grade(&json(given), &env, &registry)
    };
    assert_eq!(grade(&original, "q", "\"red\"").points, 2);
    assert_eq!(grade(&french, "q", "\"red\"").points, 2);
    let wrong = grade(&french, "q", "\"blue\"");
    assert_eq!(wrong.feedback.as_deref(), Some("Plus froid."));
    let id = &original.front.id;
    assert_eq!(
        original.question("q").unwrap().shown_choices(id),
        french.question("q").unwrap().shown_choices(id),
        "the letters stand for the same choices"
    );
    // Answers in French are right, and so is the original's word.
    for (lesson, word, points) in
        [(&french, "\"dégradé\"", 1), (&french, "\"gradient\"", 1), (&original, "\"dégradé\"", 0)]
    {
        assert_eq!(grade(lesson, "t", word).points, points, "{word}");
    }
}

#[test]
fn missing_translations_fall_back_with_a_warning() {
    for (expected, change) in cases(include_str!("../cases/translation-warnings.txt")) {
        let (part, by) = change.split_once("\n=>\n").unwrap();
        let found = found(part, by);
        let places = found.iter().map(|(code, line)| format!("{code} {line}"));
        assert_eq!(places.collect::<Vec<_>>().join(", "), expected, "{by}");
        assert!(translated(&FRENCH.replace(part, by)).lesson.is_some(), "{by}");
    }
    let without = FRENCH.replace(
        "```{question} t\nprompt = \"Comment cela s'appelle-t-il ?\"\naccept = [\"dégradé\", \"gradient\"]\n```\n",
        "",
    );
    let parsed = translated(&without);
    let message = &parsed.diagnostics[0].message;
    assert!(message.contains("{question} t is not translated"), "{message}");
    assert!(message.contains("line 36 of the original"), "{message}");
    assert_eq!(parsed.lesson.unwrap().question("t").unwrap().prompt, "What is it called?");
}

#[test]
fn keys_of_the_original_are_errors_in_a_translation() {
    for (expected, change) in cases(include_str!("../cases/translation-errors.txt")) {
        let (part, by) = change.split_once("\n=>\n").unwrap();
        let found = found(part, by);
        let places = found.iter().map(|(code, line)| format!("{code} {line}"));
        assert_eq!(places.collect::<Vec<_>>().join(", "), expected, "{by}");
        assert!(translated(&FRENCH.replace(part, by)).lesson.is_none(), "{by}");
    }
}

#[test]
fn a_skeleton_has_everything_and_is_a_valid_translation() {
    let original = everything();
    let text = skeleton(&original, "fr");
    let parsed = read_translation("everything.fr.md", text.as_bytes(), &original);
    let told: Vec<_> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    assert!(told.is_empty(), "{}\n{text}", told.join("\n"));
    let mut same = parsed.lesson.unwrap();
    assert_eq!(prose(&same), prose(&original));
    for question in same.questions() {
        for (text, label) in &question.wording {
            assert_eq!(text, label);
        }
    }
    same.front.lang = None;
    for block in &mut same.blocks {
        match block {
            Block::Question(question) => {
                question.wording.clear();
                if let QuestionKind::Text { accept, .. } = &mut question.kind {
                    accept.pop();
                }
            }
            Block::Predict(predict) => predict.wording.clear(),
            Block::Prose(_) | Block::Notes(_) | Block::Lab(_) | Block::Check(_) => {}
        }
    }
    let texts = |lesson: &Lesson| -> Vec<Block> {
        let blocks = lesson.blocks.iter();
        let directives = blocks.filter(|block| block.id().is_some());
        directives.cloned().collect()
    };
    assert_eq!(texts(&same), texts(&original));
}

#[test]
fn comparisons_speak_the_reader_s_language() {
    let text = ORIGINAL.replace(
        "```{check} c\n",
        "```{predict} p\ntype = \"choice\"\nprompt = \"?\"\nchoices = [\"up\", \"down\"]\nanswer = \"up\"\n```\n\n```{check} c\n",
    );
    let original = read("b.md", text.as_bytes(), &registry()).lesson.unwrap();
    let french = FRENCH.replace(
        "```{check} c\n",
        "```{predict} p\nprompt = \"?\"\nchoices = [\"monte\", \"baisse\"]\n```\n\n```{check} c\n",
    );
    let parsed = read_translation("b.fr.md", french.as_bytes(), &original);
    assert_eq!(parsed.diagnostics, []);
    let lesson = parsed.lesson.unwrap();
    let predict = lesson.predictions().next().unwrap();
    let said = predict.compare(&Answer::One("down".to_owned()), &LessonEnv::unrun(&lesson));
    let statement = said.unwrap().statement;
    assert!(statement.contains("baisse") && statement.contains("monte"), "{statement}");
}
