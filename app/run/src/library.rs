//! Where lessons come from: the built-in course, another one in a folder or an archive, and single files.

pub mod folder;
pub mod labs;
pub mod languages;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mlsys_lab::Registry;
use mlsys_lab::nearest::nearest;
use mlsys_lesson::{
    COURSE_FILE, Code, Course, CourseFile, CourseFiles, CourseId, Diagnostic, LearnerId, Lesson,
    LessonId, MAX_FILE_BYTES, Outline, Parsed, ParsedCourse, Sheet, Source,
};

use crate::archive::{self, Archive};
use crate::console::Console;
use crate::process::Failure;
use crate::storage::read_bounded;
use crate::submission::version_of;
use folder::folder_files;
use languages::Languages;

/// The files of the built-in course by their paths in it.
static BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/library.rs"));

pub struct Library {
    /// Where they were found; the built-in course was found nowhere.
    place: Option<PathBuf>,
    files: CourseFiles,
    /// The files of the built-in course, which another one may include.
    built_in: CourseFiles,
    /// The built-in lessons that a packed course includes, with the versions it was packed with.
    packed_with: BTreeMap<LessonId, String>,
    /// The labs there are with those of the course.
    registry: &'static Registry,
    /// What is wrong with the course's own labs.
    wrong_labs: Vec<Diagnostic>,
    /// The learner that its numbers are drawn for; none for the printed ones.
    sheet: Option<Sheet>,
}

impl Library {
    pub fn built_in(registry: &'static Registry) -> Self {
        Self {
            place: None,
            files: built_in_files(),
            built_in: CourseFiles::new(),
            packed_with: BTreeMap::new(),
            registry,
            wrong_labs: Vec::new(),
            sheet: None,
        }
    }

    /// The course in a folder, or in an archive.
    ///
    /// `built_in` are the labs of mlsys; those of the course join them for the rest of the program.
    pub fn open(path: &Path, built_in: &'static Registry) -> Result<Self, Failure> {
        let Archive { files, built_in: packed_with } = if path.is_file() {
            archive::open(path)?
        } else {
            Archive { files: folder_files(path)?, built_in: BTreeMap::new() }
        };
        let (labs, wrong_labs) = labs::in_course(&files, built_in);
        let registry =
            if labs.is_empty() { built_in } else { Box::leak(Box::new(built_in.with(labs))) };
        Ok(Self {
            place: Some(path.to_owned()),
            files,
            built_in: built_in_files(),
            packed_with,
            registry,
            wrong_labs,
            sheet: None,
        })
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
        let mut parsed = mlsys_lesson::read_course(&self.files, &self.built_in, self.registry);
        parsed.diagnostics.extend(self.wrong_labs.iter().cloned());
        let lessons = std::mem::take(&mut parsed.lessons).into_iter();
        parsed.lessons = lessons.map(|(path, parsed)| (path, self.drawn(parsed))).collect();
        let others = self.other_versions(&parsed);
        parsed.diagnostics.extend(others);
        parsed
    }

    /// Built-in lessons that ask something else than those the course was packed with.
    fn other_versions(&self, parsed: &ParsedCourse) -> Vec<Diagnostic> {
        let Some(file) = self.files.get(COURSE_FILE).filter(|_| !self.packed_with.is_empty())
        else {
            return Vec::new();
        };
        let text = String::from_utf8_lossy(&file.bytes).into_owned();
        let source = Source { file: file.name.clone(), text };
        let other = |(_, parsed): &(String, Parsed)| {
            let lesson = parsed.lesson.as_ref()?;
            let place = lesson.included.as_ref()?.place;
            let id = &lesson.front.id;
            let packed = self.packed_with.get(id)?;
            let message = format!(
                "the built-in lesson `{id}` asks something else here than in the mlsys that packed this course"
            );
            let help = "use that version of mlsys, or have the course packed again with this one; \
                answers given with one are not graded with the other";
            let warning = source.warning(Code::OtherVersion, place, message).help(help);
            (*packed != version_of(lesson)).then_some(warning)
        };
        parsed.lessons.iter().filter_map(other).collect()
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

    /// The files that a lesson's translations are among.
    pub fn files_of(&self, lesson: &Lesson) -> &CourseFiles {
        if lesson.included.is_some() { &self.built_in } else { &self.files }
    }

    /// The course with its lessons in the reader's language, where they are translated.
    pub fn course_in(
        &self,
        languages: &Languages,
        console: &mut Console,
    ) -> Result<Course, Failure> {
        let course = self.course(console)?;
        languages.check(&self.files, console);
        Ok(course.map_lessons(|lesson| {
            let files = self.files_of(&lesson);
            languages.translate(lesson, files, console)
        }))
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
            && let Some(outline) =
                Outline::of_sound(&self.files, self.sheet.as_ref(), self.registry)
        {
            languages.check(&self.files, console);
            return Ok(outline);
        }
        Ok(self.course_in(languages, console)?.into())
    }

    /// The course; the app lives on without a lesson that is not valid, but not without a `course.toml` that is.
    pub fn course(&self, console: &mut Console) -> Result<Course, Failure> {
        let parsed = self.parsed();
        for (path, lesson) in &parsed.lessons {
            if lesson.lesson.is_none() {
                let file = lesson.diagnostics.first().map_or(path, |first| &first.file);
                console.warn(format_args!(
                    "the lesson {path} is not valid and was left out, see {file}; {}",
                    self.how_to_check()
                ));
            }
        }
        for other in parsed.diagnostics.iter().filter(|one| one.code == Code::OtherVersion) {
            console.warn(format_args!(
                "{}; {}",
                other.message,
                other.help.as_deref().unwrap_or_default()
            ));
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

fn built_in_files() -> CourseFiles {
    let file = |&(path, text): &(&'static str, &'static str)| {
        let file = CourseFile {
            // A built-in lesson is known by its id.
            name: path.strip_suffix(".md").unwrap_or(path).to_owned(),
            bytes: text.as_bytes().into(),
        };
        (path.to_owned(), file)
    };
    BUILT_IN.iter().map(file).collect()
}

#[cfg(test)]
mod tests;
