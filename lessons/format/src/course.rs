//! The course: modules, the order of their lessons, and what comes before what.

use mlsys_lab::nearest::nearest;

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Lesson, LessonId};

/// A module of the course.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module {
    /// The part of a lesson's id before the slash.
    pub name: &'static str,
    /// What a person reads.
    pub title: &'static str,
    /// What it is about.
    pub about: &'static str,
}

/// The modules in the order of the course.
pub const MODULES: [Module; 6] = [
    Module {
        name: "systems",
        title: "Systems",
        about: "why machine learning is a systems problem: work, growth, chips, big machines, energy",
    },
    Module {
        name: "graphs",
        title: "Graphs",
        about: "what a framework records and why training needs so much memory",
    },
    Module {
        name: "gpu",
        title: "GPU",
        about: "threads, warps, memory and the software stack above them",
    },
    Module {
        name: "roofline",
        title: "Roofline",
        about: "bounds, measurements, and the memory wall",
    },
    Module {
        name: "parallel",
        title: "Parallel training",
        about: "networks, collectives, and every way to split a training run",
    },
    Module {
        name: "efficiency",
        title: "Efficiency",
        about: "fewer bits, fewer weights, fewer operations; generation",
    },
];

/// Lessons in the order in which they are best taken.
#[derive(Clone, Debug, Default)]
pub struct Course {
    lessons: Vec<Lesson>,
}

impl Course {
    /// Orders lessons by module, and within a module each after those it requires, else as given; of two lessons with
    /// one id the first stays. What is wrong between the lessons comes beside the course.
    pub fn new(lessons: Vec<Lesson>) -> (Self, Vec<Diagnostic>) {
        let mut problems = Vec::new();
        let mut waiting: Vec<Lesson> = Vec::new();
        for lesson in lessons {
            match waiting
                .iter()
                .find(|other| other.front.id == lesson.front.id)
            {
                None => waiting.push(lesson),
                Some(first) => problems.push(duplicate(&lesson, first)),
            }
        }
        problems.extend(requirements(&waiting));
        // A stable sort keeps the given order; lessons of nobody's module come last.
        waiting.sort_by_key(|lesson| module_index(&lesson.front.id));
        let mut ordered: Vec<Lesson> = Vec::with_capacity(waiting.len());
        while !waiting.is_empty() {
            let ready = |lesson: &Lesson| {
                let requires = &lesson.front.requires;
                let same_module = |id: &LessonId| id.module() == lesson.front.id.module();
                !waiting.iter().any(|other| {
                    same_module(&other.front.id)
                        && requires.iter().any(|r| r.value == other.front.id)
                })
            };
            let module = waiting.first().map(|lesson| module_index(&lesson.front.id));
            let next = waiting
                .iter()
                .position(|lesson| Some(module_index(&lesson.front.id)) == module && ready(lesson));
            // Lessons that require each other are left in the order given.
            ordered.push(waiting.remove(next.unwrap_or(0)));
        }
        (Self { lessons: ordered }, problems)
    }

    /// The lessons in order.
    pub fn lessons(&self) -> &[Lesson] {
        &self.lessons
    }

    /// The lesson of an id.
    pub fn find(&self, id: &LessonId) -> Option<&Lesson> {
        self.lessons.iter().find(|lesson| lesson.front.id == *id)
    }

    /// The id nearest to a misspelt one.
    pub fn nearest(&self, id: &str) -> Option<&LessonId> {
        let nearest = nearest(
            id,
            self.lessons.iter().map(|lesson| lesson.front.id.as_str()),
        )?;
        let found = self
            .lessons
            .iter()
            .find(|lesson| lesson.front.id.as_str() == nearest);
        found.map(|lesson| &lesson.front.id)
    }

    /// The lessons of a module, in order.
    pub fn of_module(&self, module: &str) -> impl Iterator<Item = &Lesson> {
        self.lessons
            .iter()
            .filter(move |lesson| lesson.front.id.module() == module)
    }

    /// What a lesson would be wrong about between the lessons of this course, as an author's own file.
    pub fn check(&self, lesson: &Lesson) -> Vec<Diagnostic> {
        let others = self
            .lessons
            .iter()
            .filter(|other| other.front.id != lesson.front.id);
        let all: Vec<Lesson> = others.chain([lesson]).cloned().collect();
        let file = &lesson.source.file;
        requirements(&all)
            .into_iter()
            .filter(|problem| problem.file == *file)
            .collect()
    }
}

fn module_index(id: &LessonId) -> usize {
    MODULES
        .iter()
        .position(|module| module.name == id.module())
        .unwrap_or(MODULES.len())
}

fn duplicate(lesson: &Lesson, first: &Lesson) -> Diagnostic {
    let message = format!(
        "the lesson `{}` is already in {}",
        lesson.front.id, first.source.file
    );
    let error = lesson
        .source
        .error(Code::DuplicateId, lesson.front.place, message);
    error.help("give one of the two another id")
}

/// Requirements that do not exist, and cycles, each told once.
fn requirements(lessons: &[Lesson]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for lesson in lessons {
        for required in &lesson.front.requires {
            if lessons.iter().any(|other| other.front.id == required.value) {
                continue;
            }
            let message = format!("there is no lesson `{}`", required.value);
            let ids = lessons.iter().map(|other| other.front.id.as_str());
            let help = match nearest(required.value.as_str(), ids) {
                Some(id) => format!("did you mean \"{id}\"?"),
                None => "`mlsys list` shows them all".to_owned(),
            };
            let error = lesson
                .source
                .error(Code::UnknownLesson, required.place, message);
            problems.push(error.help(help));
        }
    }
    problems.extend(cycles(lessons));
    problems
}

fn cycles(lessons: &[Lesson]) -> Vec<Diagnostic> {
    let mut left: Vec<&Lesson> = lessons.iter().collect();
    let mut problems = Vec::new();
    while let Some(&start) = left.first() {
        // Follow requirements among what is left until a lesson has none there, or comes again.
        let mut path = vec![start];
        while let Some(&at) = path.last() {
            let next = at.front.requires.iter().find_map(|required| {
                let lesson = left.iter().find(|other| other.front.id == required.value)?;
                Some((*lesson, required.place))
            });
            let Some((next, place)) = next else {
                left.retain(|lesson| lesson.front.id != at.front.id);
                break;
            };
            if let Some(first) = path.iter().position(|seen| seen.front.id == next.front.id) {
                let cycle = path.get(first..).unwrap_or_default();
                let names: Vec<_> = cycle
                    .iter()
                    .chain([&next])
                    .map(|l| l.front.id.as_str())
                    .collect();
                let message = format!("lessons require each other: {}", names.join(" -> "));
                let error = at.source.error(Code::Cycle, place, message);
                problems.push(error.help("remove one of these requirements"));
                left.retain(|lesson| !cycle.iter().any(|other| other.front.id == lesson.front.id));
                break;
            }
            path.push(next);
        }
    }
    problems
}
