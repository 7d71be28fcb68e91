//! In which language lessons are shown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mlsys_lesson::{CourseFile, CourseFiles, Lesson, Parsed, read_translation, translated};

use crate::console::Console;
use crate::process::Failure;
use crate::storage;

/// The languages of a reader, the preferred one first; a lesson in none of them is shown in its original language.
#[derive(Clone, Debug, Default)]
pub struct Languages {
    tags: Vec<String>,
    /// The language that was asked for by name, not by the environment.
    asked: Option<String>,
}

impl Languages {
    /// The requested language, else that of the environment.
    pub fn detect(asked: Option<&str>, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let set = |name: &&str| variable(name).filter(|value| !value.is_empty());
        let named = match asked.filter(|asked| !asked.is_empty()) {
            Some(asked) => Some(asked.to_owned()),
            None => ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(set),
        };
        let Some(named) = named else { return Self::default() };
        // POSIX: language_TERRITORY.codeset@modifier.
        let plain = named.split_once(['.', '@']).map_or(named.as_str(), |(plain, _)| plain);
        let tag = plain.replace('_', "-");
        if matches!(tag.as_str(), "" | "C" | "POSIX") {
            return Self::default();
        }
        let main = tag.split_once('-').map(|(main, _)| main.to_owned());
        let asked = asked.filter(|asked| !asked.is_empty()).map(str::to_owned);
        Self { tags: [tag].into_iter().chain(main).collect(), asked }
    }

    /// Says so where no lesson is translated into the language that was asked for.
    pub fn check(&self, files: &CourseFiles, console: &mut Console) {
        let known: BTreeSet<&str> = files
            .keys()
            .filter_map(|path| translated(path))
            .map(|(_, language)| language)
            .collect();
        if let Some(asked) = &self.asked
            && !self.translate_some(files)
            && !self.reads("en")
        {
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            let known = if known.is_empty() { "none".to_owned() } else { known };
            console.warn(format_args!(
                "no lesson of this course is translated into '{asked}'; its translations: {known}"
            ));
        }
    }

    /// The translation in the most preferred language.
    fn best<T>(&self, mut translations: Vec<(&str, T)>) -> Option<T> {
        let at = self.tags.iter().find_map(|wanted| {
            translations.iter().position(|(language, _)| language.eq_ignore_ascii_case(wanted))
        })?;
        Some(translations.swap_remove(at).1)
    }

    /// Whether a lesson of a course is translated into one of them.
    pub fn translate_some(&self, files: &CourseFiles) -> bool {
        files.keys().filter_map(|path| translated(path)).any(|(_, language)| self.reads(language))
    }

    fn reads(&self, language: &str) -> bool {
        self.tags.iter().any(|wanted| language.eq_ignore_ascii_case(wanted))
    }

    /// A lesson in the reader's language, if its folder has a translation. An invalid one is left out with a warning.
    pub fn translate(&self, lesson: Lesson, files: &CourseFiles, console: &mut Console) -> Lesson {
        if self.tags.is_empty() {
            return lesson;
        }
        match self.read(&lesson, files) {
            None => lesson,
            Some(Ok(Parsed { lesson: Some(translated), .. })) => translated,
            Some(Ok(Parsed { lesson: None, diagnostics })) => {
                if let Some(first) = diagnostics.first() {
                    console.warn(format_args!(
                        "the translation {} is not valid and was left out; `mlsys lesson check` tells why",
                        first.file
                    ));
                }
                lesson
            }
            Some(Err(failure)) => {
                console.warn(failure);
                lesson
            }
        }
    }

    /// The file of the best translation of a lesson on disk.
    pub fn file_for(&self, lesson: &Lesson) -> Option<PathBuf> {
        let own = on_disk(Path::new(&lesson.source.file));
        self.best(own.iter().map(|(lang, path)| (lang.as_str(), path)).collect()).cloned()
    }

    fn read(&self, lesson: &Lesson, files: &CourseFiles) -> Option<Result<Parsed, Failure>> {
        if let Some(path) = path_in(lesson, files) {
            let file = self.best(translations_of(path, files))?;
            return Some(Ok(read_translation(&file.name, &file.bytes, lesson)));
        }
        self.file_for(lesson).map(|path| read_file(&path, lesson))
    }
}

/// The path of a lesson among the files of a course.
fn path_in<'f>(lesson: &Lesson, files: &'f CourseFiles) -> Option<&'f str> {
    let is_it = |(_, file): &(&String, &CourseFile)| file.name == lesson.source.file;
    files.iter().find(is_it).map(|(path, _)| path.as_str())
}

fn translations_of<'f>(path: &str, files: &'f CourseFiles) -> Vec<(&'f str, &'f CourseFile)> {
    let matching = |(other, file): (&'f String, &'f CourseFile)| {
        let (original, language) = translated(other)?;
        (original == path).then_some((language, file))
    };
    files.iter().filter_map(matching).collect()
}

/// The translations in the folder of a lesson file, by language, in the order of their names.
pub fn on_disk(path: &Path) -> Vec<(String, PathBuf)> {
    let name = path.file_name().and_then(|name| name.to_str());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let (Some(name), Ok(entries)) =
        (name, std::fs::read_dir(folder.unwrap_or_else(|| Path::new("."))))
    else {
        return Vec::new();
    };
    let mut found: Vec<_> = entries
        .flatten()
        .filter_map(|entry| {
            let other = entry.file_name();
            let (original, language) = translated(other.to_str()?)?;
            (original == name).then(|| (language.to_owned(), path.with_file_name(&other)))
        })
        .collect();
    found.sort();
    found
}

/// The lesson file that a translation belongs to, if it is one.
pub fn original_of(path: &Path) -> Option<PathBuf> {
    let (original, _) = translated(path.file_name()?.to_str()?)?;
    let original = path.with_file_name(original);
    original.is_file().then_some(original)
}

pub fn read_file(path: &Path, original: &Lesson) -> Result<Parsed, Failure> {
    let bytes = storage::read_bounded(path, "translation", mlsys_lesson::MAX_FILE_BYTES as u64)?;
    Ok(read_translation(&path.display().to_string(), &bytes, original))
}

/// Every translation of a lesson, of a course or on disk, as it reads, with the name of its file.
pub fn all(lesson: &Lesson, files: &CourseFiles) -> Result<Vec<(String, Parsed)>, Failure> {
    match path_in(lesson, files) {
        Some(path) => Ok(translations_of(path, files)
            .into_iter()
            .map(|(_, file)| {
                let parsed = read_translation(&file.name, &file.bytes, lesson);
                (file.name.clone(), parsed)
            })
            .collect()),
        None => on_disk(Path::new(&lesson.source.file))
            .iter()
            .map(|(_, path)| Ok((path.display().to_string(), read_file(path, lesson)?)))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(asked: Option<&str>, variables: &[(&str, &str)]) -> Vec<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Languages::detect(asked, &variable).tags
    }

    #[test]
    fn the_option_comes_before_the_environment() {
        let french = ("LANG", "fr_FR.UTF-8");
        for (asked, variables, expected) in [
            (None, vec![], vec![]),
            (None, vec![("LANG", "C.UTF-8")], vec![]),
            (None, vec![("LANG", "POSIX")], vec![]),
            (None, vec![french], vec!["fr-FR", "fr"]),
            (None, vec![french, ("LC_ALL", "")], vec!["fr-FR", "fr"]),
            (None, vec![french, ("LC_MESSAGES", "pt_BR")], vec!["pt-BR", "pt"]),
            (None, vec![french, ("LC_ALL", "C")], vec![]),
            (None, vec![("LANG", "de_DE@euro")], vec!["de-DE", "de"]),
            (Some("es"), vec![french], vec!["es"]),
            (Some(""), vec![french], vec!["fr-FR", "fr"]),
        ] {
            assert_eq!(detected(asked, &variables), expected, "{asked:?} {variables:?}");
        }
    }

    #[test]
    fn the_nearest_language_is_taken() {
        let languages = |tags: &[&str]| Languages {
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
            asked: None,
        };
        let there = || vec![("fr", 1), ("pt", 2), ("pt-BR", 3)];
        assert_eq!(languages(&["pt-br", "pt"]).best(there()), Some(3));
        assert_eq!(languages(&["pt-PT", "pt"]).best(there()), Some(2));
        assert_eq!(languages(&["de"]).best(there()), None);
        assert_eq!(languages(&[]).best(there()), None);
    }
}
