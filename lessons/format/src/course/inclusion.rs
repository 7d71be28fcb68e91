//! Built-in lessons that a course includes, with what it changes in them.

use mlsys_lab::nearest::nearest;

use super::{Reading, is_lesson_path};
use crate::diagnostic::{Code, Diagnostic, Located, Place, Source};
use crate::model::{
    GradingRules, Inclusion, Lesson, LessonId, LessonRules, ListedInclusion, ListedModule, Manifest,
};
use crate::parse::{Parsed, read};
use crate::validate::start_values;

impl Manifest {
    /// The table of a built-in lesson that the course includes.
    pub(super) fn inclusion(&self, id: &str) -> Option<&ListedInclusion> {
        self.inclusions.iter().find(|inclusion| inclusion.built_in.value.as_str() == id)
    }

    /// The text that says what a lesson requires: the course's for a built-in lesson with requirements of the course.
    pub(super) fn requiring<'a>(&'a self, lesson: &'a Lesson) -> &'a Source {
        let inclusion = lesson.included.as_ref().and(self.inclusion(lesson.front.id.as_str()));
        match inclusion.and_then(|inclusion| inclusion.requires.as_ref()) {
            Some(_) => &self.source,
            None => &lesson.source,
        }
    }
}

impl Reading<'_> {
    /// Tables `[[lesson]]` that name no built-in lesson, one twice, or one that no module lists.
    pub(super) fn inclusions(&mut self) {
        let manifest = self.manifest;
        for (at, inclusion) in manifest.inclusions.iter().enumerate() {
            let ListedInclusion { built_in: id, .. } = inclusion;
            let path = ListedModule::path_of(id.value.as_str());
            let mut listed = manifest.modules.iter().flat_map(|module| &module.lessons);
            let earlier = manifest.inclusions.iter().take(at);
            if !self.built_in.contains_key(&path) {
                let message = format!("mlsys has no built-in lesson `{}`", id.value);
                let known = self.built_in.keys().filter(|path| is_lesson_path(path));
                let known = known.map(|path| path.trim_end_matches(".md"));
                let help = match nearest(id.value.as_str(), known) {
                    Some(known) => format!("did you mean \"{known}\"?"),
                    None => "`mlsys list` without --course shows them all".to_owned(),
                };
                self.error(Code::UnknownLesson, id, message, &help);
            } else if earlier.clone().any(|other| other.built_in.value == id.value) {
                let message = format!("the built-in lesson `{}` is included twice", id.value);
                self.error(Code::DuplicateId, id, message, "make one table of the two");
            } else if self.files.contains_key(&path) {
                let message = format!(
                    "the course has a file {path} of its own, and includes the built-in lesson"
                );
                let help = "remove this [[lesson]], or give your lesson another id";
                self.error(Code::DuplicateId, id, message, help);
            } else if !listed.any(|listed| listed.value == id.value.as_str()) {
                let message = format!("no module lists the built-in lesson `{}`", id.value);
                let warning = manifest.source.warning(Code::UnlistedFile, id.place, message);
                let help = "add its id to the lessons of a [[module]], or remove this [[lesson]]";
                self.problems.push(warning.help(help));
            }
        }
    }

    /// A built-in lesson as the course includes it; without lesson where a mistake in its table was told.
    pub(super) fn included(&self, path: &str, inclusion: &ListedInclusion) -> Parsed {
        let file = self.built_in.get(path).filter(|_| !self.files.contains_key(path));
        let parsed = file.map(|file| read(&file.name, &file.bytes, self.registry));
        let Some(mut lesson) = parsed.and_then(|parsed| parsed.lesson) else {
            return Parsed { lesson: None, diagnostics: Vec::new() };
        };
        let source = &self.manifest.source;
        let (start, diagnostics) = start_values(&lesson, source, self.registry, &inclusion.set);
        if let Some(requires) = &inclusion.requires {
            lesson.front.requires.clone_from(requires);
        }
        lesson.include(Inclusion { place: inclusion.built_in.place, start });
        Parsed { lesson: diagnostics.is_empty().then_some(lesson), diagnostics }
    }

    /// Leaves out what built-in lessons require that the course does not have: its author decides what comes before.
    pub(super) fn leave_out_requirements(&mut self) {
        let ids: Vec<String> = self
            .read
            .iter()
            .map(|(path, parsed)| match &parsed.lesson {
                Some(lesson) => lesson.front.id.to_string(),
                None => path.trim_end_matches(".md").to_owned(),
            })
            .collect();
        let source = &self.manifest.source;
        for lesson in self.read.iter_mut().filter_map(|(_, parsed)| parsed.lesson.as_mut()) {
            let Some(Inclusion { place, .. }) = lesson.included else { continue };
            let id = &lesson.front.id;
            let inclusion = self.manifest.inclusion(id.as_str());
            if inclusion.is_none_or(|inclusion| inclusion.requires.is_some()) {
                continue;
            }
            let is_there =
                |required: &Located<LessonId>| ids.iter().any(|id| id == required.value.as_str());
            let absent = lesson.front.requires.iter().filter(|required| !is_there(required));
            self.problems.extend(absent.map(|required| not_here(id, required, place, source)));
            lesson.front.requires.retain(is_there);
        }
    }
}

fn not_here(
    id: &LessonId,
    required: &Located<LessonId>,
    place: Place,
    source: &Source,
) -> Diagnostic {
    let message = format!(
        "the built-in lesson `{id}` requires `{}`, which this course lacks",
        required.value
    );
    let warning = source.warning(Code::LessonOrder, place, message);
    warning.help("include that one too, or say what comes before this one: requires = []")
}

/// The rules of a built-in lesson, where its table says otherwise than the course.
pub(super) fn own_rules(
    manifest: &Manifest,
    rules: &mut GradingRules,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for ListedInclusion { built_in: id, due, late, attempts, .. } in &manifest.inclusions {
        let listed = manifest.grading.due.iter().any(|(listed, _)| listed.value == id.value);
        if due.is_some() && listed {
            let message = format!("[grading.due] says another date for `{}`", id.value);
            let error = manifest.source.error(Code::Contradiction, id.place, message);
            diagnostics.push(error.help("keep one of the two dates"));
        }
        let general = *rules.of(&id.value);
        let own = LessonRules {
            due: due.or(general.due),
            late: late.or(general.late),
            attempts: attempts.or(general.attempts),
            ..general
        };
        if late.is_some() && own.due.is_none() {
            let message = format!("`late` has no effect: `{}` is not due", id.value);
            let warning = manifest.source.warning(Code::Contradiction, id.place, message);
            diagnostics.push(warning.help("add due = 2027-03-01T23:59:00Z to this [[lesson]]"));
        }
        rules.lessons.insert(id.value.clone(), own);
    }
}
