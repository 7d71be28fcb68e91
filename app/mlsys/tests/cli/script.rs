//! Scripts in `tests/scripts`: what is typed, and what must come of it.
//!
//! `## TITLE` begins a case, in a folder of its own that is called `%/`. `$ LINE` runs the program, which must succeed;
//! after `$1` it must end with exit code 1, and after `$2` to `$4` refuse: with nothing on standard output. Words such as
//! `LANG=fr` before the arguments go into its environment. On the lines after it stands what is expected:
//!
//! - `type LINE ; LINE`, before it: what is typed into it
//! - `out TEXT`, `err TEXT`: standard output or error contains it (`\n` is a line end); `not TEXT`: neither does
//! - `ends TEXT`: standard output ends with it; `twice TEXT`: contains it twice; `once TEXT`: standard error once; `narrow N`: no line of standard output is longer
//! - `row WORDS`: a line of standard output begins with these words, however far apart
//! - `none`: standard output is empty; `lines N`: it has this many lines
//! - `json /POINTER VALUE`: its value in the JSON on standard output; `*` is anything but null
//! - `records N`: the runs recorded so far
//!
//! Files: `file NAME` with the indented lines after it, `copy NAME SOURCE`, a file or folder of `tests/files`, `edit NAME OLD => NEW`,
//! and `has NAME TEXT`, `lacks NAME TEXT`, `missing NAME`.

use std::path::Path;
use std::{fs, mem};

use mlsys_harness::sandbox::{Ended, Sandbox, type_in, words};
use serde_json::Value;

use crate::sandbox;

/// Runs the cases of a script one after the other.
pub(crate) fn script(name: &str) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let text = fs::read_to_string(tests.join("scripts").join(name)).unwrap();
    let mut case = Case {
        folder: sandbox(),
        place: String::new(),
        ended: None,
        file: None,
        typed: String::new(),
    };
    for (line, number) in text.lines().zip(1..) {
        case.place = format!("{name}:{number}: {line}");
        if let (Some(content), Some((file, lines))) = (line.strip_prefix("  "), &mut case.file) {
            lines.push(content.to_owned());
            case.folder.file(file, lines.join("\n"));
        } else if let Some(title) = line.strip_prefix("## ") {
            assert!(!title.is_empty());
            (case.folder, case.ended) = (sandbox(), None);
        } else if let Some((step, rest)) = line.split_once(' ') {
            case.file = None;
            let rest = rest.replace("%/", &case.folder.arg(""));
            match step.strip_prefix('$') {
                Some(code) => case.run(code, &rest),
                None => case.step(step, &rest, &tests.join("files")),
            }
        } else if line == "none" {
            assert_eq!(case.ended().out, "", "{}", case.place);
        } else {
            assert_eq!(line, "", "{}", case.place);
        }
    }
}

struct Case {
    folder: Sandbox,
    place: String,
    ended: Option<Ended>,
    /// A file and its lines so far.
    file: Option<(String, Vec<String>)>,
    /// The standard input of the next command.
    typed: String,
}

impl Case {
    fn run(&mut self, code: &str, line: &str) {
        let is_variable = |word: &&str| word.contains('=') && word.starts_with(char::is_uppercase);
        let variables = line.split(' ').take_while(is_variable).map(|word| {
            let (name, value) = word.split_once('=').unwrap();
            (name, value)
        });
        let length: usize =
            line.split(' ').take_while(is_variable).map(|word| word.len() + 1).sum();
        let mut command = self.folder.command(&line[length..]);
        let ended = type_in(command.envs(variables), &mem::take(&mut self.typed));
        let code = if code.is_empty() { 0 } else { code.parse().unwrap() };
        assert_eq!(ended.code, Some(code), "{}: {ended:?}", self.place);
        assert!(code < 2 || ended.out.is_empty(), "{}: {ended:?}", self.place);
        assert!(!ended.err.contains("panicked"), "{}: {ended:?}", self.place);
        self.ended = Some(ended);
    }

    fn copy(&self, name: &str, source: &Path) {
        let Ok(folder) = fs::read_dir(source) else {
            self.folder.file(name, fs::read(source).unwrap());
            return;
        };
        for entry in folder.map(Result::unwrap) {
            let inside = format!("{name}/{}", entry.file_name().to_str().unwrap());
            self.copy(&inside, &entry.path());
        }
    }

    fn ended(&self) -> &Ended {
        self.ended.as_ref().unwrap()
    }

    fn step(&mut self, step: &str, rest: &str, files: &Path) {
        let text = rest.replace("\\n", "\n");
        let (name, content) = text.split_once(' ').unwrap_or((&text, ""));
        let holds = match step {
            "out" => self.ended().out.contains(&text),
            "err" => self.ended().err.contains(&text),
            "not" => !self.ended().out.contains(&text) && !self.ended().err.contains(&text),
            "type" => {
                self.typed += &text.replace(" ; ", "\n");
                self.typed.push('\n');
                true
            }
            "ends" => self.ended().out.trim_end().ends_with(&text),
            "twice" => self.ended().out.matches(&text).count() == 2,
            "once" => self.ended().err.matches(&text).count() == 1,
            "narrow" => self.ended().out.lines().all(|line| line.len() <= text.parse().unwrap()),
            "row" => self.ended().out.lines().any(|line| words(line).starts_with(&words(&text))),
            "lines" => self.ended().out.lines().count().to_string() == text,
            "json" => {
                let json: Value = serde_json::from_str(&self.ended().out).unwrap();
                match (json.pointer(name).unwrap_or(&Value::Null), content) {
                    (found, "*") => !found.is_null(),
                    (found, value) => *found == serde_json::from_str::<Value>(value).unwrap(),
                }
            }
            "records" => self.folder.records().len().to_string() == text,
            "has" => self.folder.read(name).contains(content),
            "lacks" => !self.folder.read(name).contains(content),
            "file" => {
                self.folder.file(name, content);
                self.file = Some((name.to_owned(), Vec::new()));
                true
            }
            "missing" => !self.folder.path(name).exists(),
            "copy" => {
                self.copy(name, &files.join(content));
                true
            }
            "edit" => {
                let (old, new) = content.split_once(" => ").unwrap();
                let before = self.folder.read(name);
                self.folder.file(name, before.replace(old, new));
                before.contains(old)
            }
            _ => false,
        };
        assert!(holds, "{}: {:?}", self.place, self.ended);
    }
}
