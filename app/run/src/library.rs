//! Where lessons come from: the built-in course, another one in a folder or an archive, and single files.

pub mod labs;
pub mod languages;

use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use mlsys_lab::Registry;
use mlsys_lab::nearest::nearest;
use mlsys_lesson::{
    COURSE_FILE, Course, CourseFile, CourseFiles, CourseId, Diagnostic, LearnerId, Lesson,
    MAX_FILE_BYTES, Outline, Parsed, ParsedCourse, Sheet,
};

use crate::archive;
use crate::console::Console;
use crate::process::Failure;
use crate::storage::read_bounded;
use languages::Languages;

/// The files of the built-in course by their paths in it.
static BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/library.rs"));

pub struct Library {
    /// Where they were found; the built-in course was found nowhere.
    place: Option<PathBuf>,
    files: CourseFiles,
    /// The labs there are with those of the course.
    registry: &'static Registry,
    /// What is wrong with the course's own labs.
    wrong_labs: Vec<Diagnostic>,
    /// The learner that its numbers are drawn for; none for the printed ones.
    sheet: Option<Sheet>,
}

impl Library {
    pub fn built_in(registry: &'static Registry) -> Self {
        let file = |&(path, text): &(&'static str, &'static str)| {
            let file = CourseFile {
                // A built-in lesson is known by its id.
                name: path.strip_suffix(".md").unwrap_or(path).to_owned(),
                bytes: text.as_bytes().into(),
            };
            (path.to_owned(), file)
        };
        Self {
            place: None,
            files: BUILT_IN.iter().map(file).collect(),
            registry,
            wrong_labs: Vec::new(),
            sheet: None,
        }
    }

    /// The course in a folder, or in an archive.
    ///
    /// `built_in` are the labs of mlsys; those of the course join them for the rest of the program.
    pub fn open(path: &Path, built_in: &'static Registry) -> Result<Self, Failure> {
        let files = if path.is_file() { archive::open(path)? } else { folder_files(path)? };
        let (labs, wrong_labs) = labs::in_course(&files, built_in);
        let registry =
            if labs.is_empty() { built_in } else { Box::leak(Box::new(built_in.with(labs))) };
        Ok(Self { place: Some(path.to_owned()), files, registry, wrong_labs, sheet: None })
    }

    /// The course with a learner's numbers in its questions.
    pub fn for_learner(self, learner: &LearnerId) -> Self {
        let sheet = self.sheet(learner);
        Self { sheet: Some(sheet), ..self }
    }

    /// What a learner's numbers depend on in this course.
    pub fn sheet(&self, learner: &LearnerId) -> Sheet {
        Sheet { salt: mlsys_lesson::salt(&self.files), learner: learner.clone() }
    }

    fn drawn(&self, parsed: Parsed) -> Parsed {
        let Some(sheet) = &self.sheet else { return parsed };
        Parsed { lesson: parsed.lesson.map(|lesson| lesson.drawn(sheet)), ..parsed }
    }

    /// Its folder or archive; none for the built-in course.
    pub fn place(&self) -> Option<&Path> {
        self.place.as_deref()
    }

    pub fn name(&self) -> String {
        match &self.place {
            None => "the built-in course".to_owned(),
            Some(place) => format!("the course '{}'", place.display()),
        }
    }

    fn how_to_check(&self) -> String {
        match &self.place {
            None => "`mlsys lesson check --library` tells why".to_owned(),
            Some(place) => format!("`mlsys course check {}` tells why", place.display()),
        }
    }

    /// The id of the course, if its `course.toml` is valid.
    pub fn id(&self) -> Option<CourseId> {
        self.parsed().id().cloned()
    }

    /// The course as it reads, with all that is wrong with it.
    pub fn parsed(&self) -> ParsedCourse {
        let mut parsed = mlsys_lesson::read_course(&self.files, self.registry);
        parsed.diagnostics.extend(self.wrong_labs.iter().cloned());
        let lessons = std::mem::take(&mut parsed.lessons).into_iter();
        parsed.lessons = lessons.map(|(path, parsed)| (path, self.drawn(parsed))).collect();
        parsed
    }

    /// Its lessons as they read, in order.
    pub fn into_lessons(self) -> Vec<Parsed> {
        let parsed = self.parsed().lessons.into_iter();
        parsed.map(|(_, parsed)| parsed).collect()
    }

    /// The labs there are with those of the course.
    pub fn registry(&self) -> &'static Registry {
        self.registry
    }

    pub fn files(&self) -> &CourseFiles {
        &self.files
    }

    /// The course with its lessons in the reader's language, where they are translated.
    pub fn course_in(
        &self,
        languages: &Languages,
        console: &mut Console,
    ) -> Result<Course, Failure> {
        let course = self.course(console)?;
        Ok(course.map_lessons(|lesson| languages.translate(lesson, &self.files, console)))
    }

    /// What the page of the course shows. The built-in lessons, which a test reads, are read when they are opened; of
    /// another course, and in another language, all are read now, so that what is wrong is said before the screen is taken.
    pub fn outline(
        &self,
        languages: &Languages,
        console: &mut Console,
    ) -> Result<Outline, Failure> {
        if self.place.is_none()
            && !languages.translate_some(&self.files)
            && let Some(outline) = Outline::of_sound(&self.files, self.sheet.as_ref())
        {
            return Ok(outline);
        }
        Ok(self.course_in(languages, console)?.into())
    }

    /// The course; the app lives on without a lesson that is not valid, but not without a `course.toml` that is.
    pub fn course(&self, console: &mut Console) -> Result<Course, Failure> {
        let parsed = self.parsed();
        for (_, lesson) in &parsed.lessons {
            if let (None, Some(first)) = (&lesson.lesson, lesson.diagnostics.first()) {
                console.warn(format_args!(
                    "the lesson {} is not valid and was left out; {}",
                    first.file,
                    self.how_to_check()
                ));
            }
        }
        // What is wrong between lessons is for their authors.
        self.sound(parsed, console)
    }

    fn sound(&self, parsed: ParsedCourse, console: &mut Console) -> Result<Course, Failure> {
        if parsed.id().is_none() {
            print_diagnostics(&parsed.diagnostics, console);
        }
        let course = parsed.into_course();
        course.ok_or_else(|| Failure::Usage(format!("{} is not valid", self.name())))
    }

    /// Reads a lesson that is named by its id or by the path of its file.
    pub fn read(&self, name: &str) -> Result<Parsed, Failure> {
        self.read_printed(name).map(|parsed| self.drawn(parsed))
    }

    fn read_printed(&self, name: &str) -> Result<Parsed, Failure> {
        let read = |file: &CourseFile| mlsys_lesson::read(&file.name, &file.bytes, self.registry);
        if let Some(file) = self.files.get(&format!("{name}.md")) {
            let parsed = read(file);
            // A file may be called like another lesson.
            if parsed.lesson.as_ref().is_none_or(|lesson| lesson.front.id.as_str() == name) {
                return Ok(parsed);
            }
        }
        let path = Path::new(name);
        if path.exists() {
            return read_file(path, self.registry);
        }
        if let Some(file) = self.files.get(name).filter(|_| name.ends_with(".md")) {
            return Ok(read(file));
        }
        let parsed = self.parsed();
        let mut ids = Vec::new();
        for (_, parsed) in parsed.lessons {
            match &parsed.lesson {
                Some(lesson) if lesson.front.id.as_str() == name => return Ok(parsed),
                Some(lesson) => ids.push(lesson.front.id.to_string()),
                None => {}
            }
        }
        Err(unknown(name, &ids))
    }

    /// Reads lessons that are to be run; the mistakes of all of them are printed before anything runs.
    pub fn valid<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
        console: &mut Console,
    ) -> Result<Vec<Lesson>, Failure> {
        let mut read = Vec::new();
        for name in names {
            read.push((name.to_owned(), self.read(name)?));
        }
        valid(read, console)
    }

    pub fn all(&self, console: &mut Console) -> Result<Vec<Lesson>, Failure> {
        let mut parsed = self.parsed();
        let lessons = std::mem::take(&mut parsed.lessons);
        let is_whole = !parsed.diagnostics.iter().any(Diagnostic::is_error);
        self.sound(parsed, console)?;
        let lessons = valid(lessons, console)?;
        let (name, how) = (self.name(), self.how_to_check());
        let refused = || Failure::Usage(format!("{name} is not valid; {how}; nothing was run"));
        is_whole.then_some(lessons).ok_or_else(refused)
    }
}

fn unknown(name: &str, ids: &[String]) -> Failure {
    let path = Path::new(name);
    let shown = name.escape_debug();
    let looks_like_a_path =
        path.is_absolute() || name.starts_with('.') || path.extension().is_some();
    Failure::Usage(if looks_like_a_path {
        format!("there is no file '{shown}'")
    } else {
        match nearest(name, ids.iter().map(String::as_str)) {
            Some(id) => format!("there is no lesson '{shown}'; did you mean '{id}'?"),
            None => format!(
                "there is no lesson '{shown}', and no file of that name; `mlsys list` shows the lessons"
            ),
        }
    })
}

fn valid(read: Vec<(String, Parsed)>, console: &mut Console) -> Result<Vec<Lesson>, Failure> {
    let mut lessons = Vec::new();
    let mut invalid = Vec::new();
    for (name, parsed) in read {
        print_diagnostics(&parsed.diagnostics, console);
        match parsed.lesson {
            Some(lesson) => lessons.push(lesson),
            None => invalid.push(name),
        }
    }
    if invalid.is_empty() {
        return Ok(lessons);
    }
    let names = invalid.join(", ");
    let names = names.escape_debug();
    Err(Failure::Usage(format!("not a valid lesson: {names}; nothing was run")))
}

pub fn read_file(path: &Path, registry: &Registry) -> Result<Parsed, Failure> {
    let bytes = read_bounded(path, "lesson", MAX_FILE_BYTES as u64)?;
    Ok(mlsys_lesson::read(&path.display().to_string(), &bytes, registry))
}

pub fn print_diagnostics<'d>(
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    console: &mut Console,
) {
    for diagnostic in diagnostics {
        console.note(format_args!("{diagnostic}\n"));
    }
}

/// The most files in a course; more are another folder, such as a home folder.
const MOST_FILES: usize = 2_000;

/// The texts of a course that lies in a folder: `course.toml`, Markdown and licences. Hidden folders and links are passed over.
fn folder_files(folder: &Path) -> Result<CourseFiles, Failure> {
    let course = folder.join(COURSE_FILE);
    if !folder.is_dir() {
        return Err(Failure::Usage(format!(
            "there is no course '{}': no such folder or file",
            folder.display()
        )));
    }
    if !course.is_file() {
        return Err(Failure::Usage(format!(
            "'{}' is no course: there is no {COURSE_FILE} in it; `mlsys course new FOLDER` writes a course to start from",
            folder.display()
        )));
    }
    let mut files = CourseFiles::new();
    collect(folder, "", &mut files)?;
    Ok(files)
}

/// The contents of a folder in the order of their names.
pub fn entries(folder: &Path) -> Result<Vec<(PathBuf, FileType)>, Failure> {
    let read = || {
        let entries = fs::read_dir(folder)?.map(|entry| {
            let entry = entry?;
            Ok((entry.path(), entry.file_type()?))
        });
        entries.collect::<io::Result<Vec<_>>>()
    };
    let mut entries = read().map_err(|error| {
        Failure::Usage(format!("'{}' cannot be read: {error}", folder.display()))
    })?;
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(entries)
}

fn collect(folder: &Path, prefix: &str, files: &mut CourseFiles) -> Result<(), Failure> {
    for (entry, kind) in entries(folder)? {
        let name = entry.file_name().and_then(|name| name.to_str());
        let Some(name) = name.filter(|name| !name.starts_with('.')) else { continue };
        let path = format!("{prefix}{name}");
        if kind.is_dir() {
            collect(&entry, &format!("{path}/"), files)?;
        } else if kind.is_file() && belongs(&path) {
            if files.len() == MOST_FILES {
                return Err(Failure::Usage(format!(
                    "'{}' has more than {MOST_FILES} texts, which is no course",
                    folder.display()
                )));
            }
            let bytes = read_bounded(&entry, "file of a course", MAX_FILE_BYTES as u64)?;
            let name = entry.display().to_string();
            files.insert(path, CourseFile { name, bytes: bytes.into() });
        }
    }
    Ok(())
}

/// Whether a file can be part of a course.
fn belongs(path: &str) -> bool {
    path == COURSE_FILE
        || path.ends_with(".md")
        || path.starts_with("LICENSE")
        || labs::is_lab(path)
}

#[cfg(test)]
mod tests {
    use super::{Library, Outline, languages};

    #[test]
    fn built_in_course_is_complete_and_valid() {
        let library = Library::built_in(mlsys_registry::built_in());
        let parsed = library.parsed();
        let diagnostics: Vec<String> = parsed.all_diagnostics().map(ToString::to_string).collect();
        assert_eq!(diagnostics, [""; 0]);
        let count = parsed.lessons.len();
        let course = parsed.into_course().unwrap();
        assert_eq!(course.id, mlsys_lesson::CourseId::built_in());
        let outline = Outline::of_sound(library.files(), None).unwrap();
        assert_eq!((&*outline.modules, outline.lessons.len()), (course.modules(), count));
        for (listed, lesson) in outline.lessons.iter().zip(course.lessons()) {
            assert_eq!((&listed.front, listed.lesson().as_ref()), (&lesson.front, lesson));
        }
        for lesson in course.lessons() {
            let module =
                course.modules().iter().find(|module| module.id == lesson.front.id.module());
            assert!(module.is_some(), "{}", lesson.front.id);
        }
    }

    #[test]
    fn every_built_in_translation_can_be_used() {
        let library = Library::built_in(mlsys_registry::built_in());
        let mut read = 0;
        for lesson in library.parsed().into_course().unwrap().lessons() {
            for (file, parsed) in languages::all(lesson, library.files()).unwrap() {
                let diagnostics: Vec<_> =
                    parsed.diagnostics.iter().map(ToString::to_string).collect();
                assert!(parsed.lesson.is_some(), "{file}: {}", diagnostics.join("\n"));
                read += 1;
            }
        }
        assert!(read > 0);
    }
}
