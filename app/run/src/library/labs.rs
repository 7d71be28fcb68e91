//! The labs that a course brings: `labs/*.toml`, each a closed form.

use mlsys_analytic::closed_form::{ClosedForm, Mistake};
use mlsys_lab::{Lab, Registry};
use mlsys_lesson::{Code, CourseFiles, Diagnostic, Place, Source};

const MAX_LABS: usize = 64;

pub fn is_lab(path: &str) -> bool {
    path.strip_prefix("labs/").is_some_and(|name| name.ends_with(".toml") && !name.contains('/'))
}

/// The labs among the files of a course, and all that is wrong with them.
pub fn in_course(files: &CourseFiles, built_in: &Registry) -> (Vec<Box<dyn Lab>>, Vec<Diagnostic>) {
    let (mut labs, mut diagnostics): (Vec<Box<dyn Lab>>, Vec<Diagnostic>) = Default::default();
    for (path, file) in files.iter().filter(|(path, _)| is_lab(path)) {
        let (lab, problems) = read(&file.name, &file.bytes, built_in);
        diagnostics.extend(problems);
        let Some(lab) = lab else { continue };
        let kind = &lab.schema().kind;
        let (name, bytes) = (&file.name, &file.bytes);
        if labs.len() == MAX_LABS {
            let message = format!("a course has at most {MAX_LABS} labs");
            let error = file_diagnostic(path, bytes, Code::TooLarge, message, "remove some");
            diagnostics.push(error);
            break;
        }
        if labs.iter().any(|other| other.schema().kind == *kind) {
            let message = format!("another lab of this course is called `{kind}`");
            let help = "give it a kind of its own";
            diagnostics.push(file_diagnostic(name, bytes, Code::DuplicateId, message, help));
            continue;
        }
        labs.push(Box::new(lab));
    }
    (labs, diagnostics)
}

/// A lab from its file, and all that is wrong with it; a kind that mlsys has itself is an error.
pub fn read(
    name: &str,
    bytes: &[u8],
    built_in: &Registry,
) -> (Option<ClosedForm>, Vec<Diagnostic>) {
    let refuse = |bytes: &[u8], code: Code, message: String, help: &str| {
        (None, vec![file_diagnostic(name, bytes, code, message, help)])
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        let message = "the file is not UTF-8 text".to_owned();
        return refuse(&[], Code::NotText, message, "save it as UTF-8");
    };
    match ClosedForm::read(text) {
        Ok(lab) => {
            let kind = &lab.schema().kind;
            if built_in.find(kind).is_ok() {
                let message = format!("mlsys has a lab `{kind}` of its own");
                let help = "choose another kind; lessons could not tell the two apart";
                return refuse(bytes, Code::DuplicateId, message, help);
            }
            (Some(lab), Vec::new())
        }
        Err(problems) => {
            let source = Source { file: name.to_owned(), text: text.to_owned() };
            let diagnostic = |problem: mlsys_analytic::closed_form::Problem| {
                let place = Place::new(problem.place.start, problem.place.end);
                let error = source.error(code(problem.mistake), place, problem.message);
                Diagnostic { help: problem.help, ..error }
            };
            (None, problems.into_iter().map(diagnostic).collect())
        }
    }
}

/// What goes wrong when a lab runs with its defaults and with each preset.
pub fn failures(name: &str, bytes: &[u8], lab: &ClosedForm) -> Vec<Diagnostic> {
    let help = "what follows from defaults and presets must have values";
    lab.failures()
        .into_iter()
        .map(|message| file_diagnostic(name, bytes, Code::NoValue, message, help))
        .collect()
}

/// A problem with a file as a whole, placed at its `kind`.
fn file_diagnostic(
    name: &str,
    bytes: &[u8],
    code: Code,
    message: String,
    help: &str,
) -> Diagnostic {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let after_newlines = text.match_indices('\n').map(|(at, _)| at + 1);
    let mut starts = [0].into_iter().chain(after_newlines);
    let start = starts.find(|&start| text[start..].starts_with("kind"));
    let line = start.and_then(|start| text[start..].lines().next());
    let (start, length) = (start.unwrap_or(0), line.map_or(1, str::len));
    let source = Source { file: name.to_owned(), text };
    source.error(code, Place::new(start, start + length), message).help(help)
}

fn code(mistake: Mistake) -> Code {
    match mistake {
        Mistake::TooLarge => Code::TooLarge,
        Mistake::ControlCharacter => Code::ControlCharacter,
        Mistake::Toml => Code::Toml,
        Mistake::UnknownKey => Code::UnknownKey,
        Mistake::MissingKey => Code::MissingKey,
        Mistake::WrongType => Code::WrongType,
        Mistake::BadValue => Code::BadValue,
        Mistake::DuplicateId => Code::DuplicateId,
        Mistake::Contradiction => Code::Contradiction,
        Mistake::Expression => Code::Expression,
        Mistake::UnknownName => Code::UnknownName,
    }
}
