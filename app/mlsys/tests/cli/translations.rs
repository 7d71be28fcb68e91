//! Lessons in other languages: a skeleton to fill, checks, and the reader's language.

use std::fs;

use crate::help::Folder;

const LESSON: &str = r#"+++
format = 1
id = "tests/small"
title = "Small"
minutes = 1
+++
# Small

```{question} q1
type = "choice"
prompt = "Which?"
answer = "this"
[[wrong]]
value = "that"
say = "Not that."
```
"#;

const FRENCH: &str = r#"+++
format = 1
id = "tests/small"
lang = "fr"
title = "Petit"
+++
# Petit

```{question} q1
prompt = "Lequel ?"
choices = ["celui-ci", "celui-là"]
say = ["Pas celui-là."]
```
"#;

#[test]
fn a_skeleton_is_written_once_and_passes_its_check() {
    let folder = Folder::new();
    let lesson = folder.file("small.md", LESSON);
    let told = folder.run(&["lesson", "translate", &lesson, "fr"]);
    let path = folder.path("small.fr.md");
    let told = told.did();
    assert!(told.contains(&format!("lesson check {}", path.display())), "{told}");
    let text = fs::read_to_string(&path).unwrap();
    for part in ["lang = \"fr\"", "of = \"", "\"this\",\n  \"that\",", "Not that."] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(!text.contains("answer"), "{text}");
    let path = path.display().to_string();
    let ended = folder.run(&["lesson", "check", "--no-run", &path]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), ""), "{ended:?}");
    assert!(ended.err.contains("small.fr.md: good"), "{ended:?}");
    assert!(ended.err.contains("1 lesson checked"), "{ended:?}");
    folder.run(&["lesson", "translate", &lesson, "fr"]).refused(2, &["nothing is overwritten"]);
    folder.run(&["lesson", "translate", &lesson, "../fr"]).refused(2, &["is no language"]);
}

#[test]
fn a_translation_is_checked_with_its_lesson() {
    let folder = Folder::new();
    let lesson = folder.file("small.md", LESSON);
    for (text, code, said) in [
        (FRENCH.to_owned(), 0, "small.fr.md: good"),
        (FRENCH.replace("q1", "q2"), 2, "error[extra-id]"),
        (FRENCH.replace("lang = \"fr\"", "lang = \"fr\"\nminutes = 3"), 2, "error[inherited-key]"),
        (FRENCH.replace("title", "of = \"12345678\"\ntitle"), 0, "warning[stale-translation]"),
        (FRENCH.replace("say = [\"Pas celui-là.\"]\n", ""), 0, "warning[untranslated]"),
    ] {
        folder.file("small.fr.md", text);
        for named in [lesson.clone(), folder.path("").display().to_string()] {
            let ended = folder.run(&["lesson", "check", "--no-run", &named]);
            assert_eq!(ended.code, Some(code), "{ended:?}");
            assert!(ended.err.contains(said), "{said} is missing in {ended:?}");
            assert!(ended.err.contains("1 lesson checked"), "{ended:?}");
        }
    }
}

#[test]
fn the_reader_s_language_is_shown_where_there_is_one() {
    let folder = Folder::new();
    let title = |variables: &[(&str, &str)], arguments: &[&str]| {
        let mut command = folder.command(&["list", "--json"]);
        let command = command.args(arguments).envs(variables.iter().copied());
        let ended = crate::help::Ended::of(command.output().unwrap());
        let lessons = ended.json()["lessons"].clone();
        let lessons = lessons.as_array().unwrap().iter();
        let mut found = lessons.filter(|lesson| lesson["id"] == "systems/training-loop");
        found.next().unwrap()["title"].as_str().unwrap().to_owned()
    };
    let french = "Cinq lignes qui font tourner un centre de calcul";
    let english = "Five lines that keep a data centre busy";
    for (variables, arguments, expected) in [
        (vec![], vec![], english),
        (vec![("LANG", "fr_CA.UTF-8")], vec![], french),
        (vec![("LANG", "fr_FR.UTF-8"), ("LC_ALL", "C")], vec![], english),
        (vec![("LANG", "fr_FR.UTF-8")], vec!["--lang", "en"], english),
        (vec![("MLSYS_LANG", "fr")], vec![], french),
        (vec![], vec!["--lang", "fr"], french),
        (vec![], vec!["--lang", "tlh"], english),
    ] {
        assert_eq!(title(&variables, &arguments), expected, "{variables:?} {arguments:?}");
    }
}
