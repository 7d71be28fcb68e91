//! The built-in course, and courses that include its lessons.

use std::collections::BTreeMap;

use mlsys_lesson::CourseFile;

use super::{COURSE_FILE, Library, Outline, built_in_files, languages, version_of};

const INCLUDING: &str = r#"format = 1
id = "mine"
title = "Mine"
about = "a"
module = [{ id = "m", title = "M", lessons = ["gpu/coalescing"] }]
lesson = [{ built_in = "gpu/coalescing", requires = [] }]
"#;

#[test]
fn another_version_of_a_built_in_lesson_is_said() {
    let file =
        CourseFile { name: "c.tar.gz/course.toml".to_owned(), bytes: INCLUDING.as_bytes().into() };
    let mut library = Library {
        files: [(COURSE_FILE.to_owned(), file)].into(),
        built_in: built_in_files(),
        ..Library::built_in(mlsys_registry::built_in())
    };
    let course = library.parsed().into_course().unwrap();
    let lesson = &course.lessons()[0];
    for (version, expected) in [(version_of(lesson), 0), ("another".to_owned(), 1)] {
        library.packed_with = BTreeMap::from([(lesson.front.id.clone(), version)]);
        let parsed = library.parsed();
        assert_eq!(parsed.diagnostics.len(), expected);
        for told in parsed.diagnostics {
            assert!(!told.is_error());
            assert_eq!(
                (told.file.as_str(), told.line, told.column),
                ("c.tar.gz/course.toml", 6, 24)
            );
            assert!(told.message.contains("`gpu/coalescing` asks something else"));
        }
    }
}

#[test]
fn built_in_course_is_complete_and_valid() {
    let library = Library::built_in(mlsys_registry::built_in());
    let parsed = library.parsed();
    let diagnostics: Vec<String> = parsed.all_diagnostics().map(ToString::to_string).collect();
    assert_eq!(diagnostics, [""; 0]);
    let count = parsed.lessons.len();
    let course = parsed.into_course().unwrap();
    assert_eq!(course.id, mlsys_lesson::CourseId::built_in());
    assert_eq!(course.lessons().len(), count);
    let outline = Outline::of_sound(library.files(), None, mlsys_registry::built_in()).unwrap();
    assert_eq!((&*outline.modules, outline.lessons.len()), (course.modules(), count));
    for (listed, lesson) in outline.lessons.iter().zip(course.lessons()) {
        assert_eq!((&listed.front, listed.lesson().as_ref()), (&lesson.front, lesson));
    }
    for lesson in course.lessons() {
        let module = course.modules().iter().find(|module| module.id == lesson.front.id.module());
        assert!(module.is_some(), "{}", lesson.front.id);
    }
}

#[test]
fn percentages_of_the_course_have_a_space_before_their_sign() {
    let library = Library::built_in(mlsys_registry::built_in());
    let mut count = 0;
    for lesson in library.parsed().into_course().unwrap().lessons() {
        for line in lesson.source.text.lines() {
            count += line.matches(" %").count();
            // A remainder, as in `lane*7%32`, has a number behind the sign.
            let closed = line.match_indices('%').filter(|(at, _)| {
                let (before, after) = (&line[..*at], &line[at + 1..]);
                before.ends_with(|c: char| c.is_ascii_digit() || c == '}')
                    && !after.starts_with(|c: char| c.is_alphanumeric() || c == '(')
            });
            assert_eq!(closed.count(), 0, "{}: {line}", lesson.front.id);
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn every_built_in_translation_can_be_used() {
    let library = Library::built_in(mlsys_registry::built_in());
    let mut read = 0;
    for lesson in library.parsed().into_course().unwrap().lessons() {
        for (file, parsed) in languages::all(lesson, library.files()).unwrap() {
            let diagnostics: Vec<_> = parsed.diagnostics.iter().map(ToString::to_string).collect();
            assert!(parsed.lesson.is_some(), "{file}: {}", diagnostics.join("\n"));
            read += 1;
        }
    }
    assert!(read > 0);
}
