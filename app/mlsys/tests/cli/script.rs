//! Scripts in `tests/scripts`: what is typed, and what must come of it.
//!
//! `$ LINE` runs the program, which must succeed; after `$1` it must end with exit code 1, and after `$2` or `$3` refuse:
//! with nothing on standard output. Words such as `LANG=fr` before the arguments go into its environment. On the lines
//! after it stands what is expected, with the escapes of Rust:
//!
//! - `type LINE ; LINE`, before it: what is typed into it
//! - `out TEXT`, `err TEXT`: standard output or error contains it; `not TEXT`: neither does
//! - `starts TEXT`, `ends TEXT`: standard output does; `twice TEXT`: contains it twice; `once TEXT`: standard error once
//! - `narrow N`: no line of standard output is longer; `lines N`: it has this many; `none`: it is empty; `silent`: standard error is
//! - `row WORDS`: a line of standard output begins with these words, however far apart; `*` is any, and `$` the end
//! - `json /POINTER VALUE`: its value in the JSON on standard output; `*` is anything but null
//! - `records N`: the runs recorded so far
//! - `has NAME TEXT`, `lacks NAME TEXT`, `missing NAME`, `same NAME OTHER`: of files, which `mlsys_harness::script` writes

use std::fs;
use std::path::Path;

use mlsys_harness::sandbox::{Ended, Sandbox, type_in, words};
use mlsys_harness::script::{run, unescaped, variables};
use serde_json::Value;

use crate::sandbox;

macro_rules! scripts {
    ($($name:ident)+) => {$(
        #[test]
        fn $name() {
            let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
            let script = tests.join(concat!("scripts/", stringify!($name), ".txt"));
            run(&script, &tests.join("files"), sandbox, act);
        }
    )+};
}

scripts! { cohort courses grading inclusion labs lessons models plain runs tools weights workers }

#[derive(Default)]
struct Case {
    ended: Option<Ended>,
    /// The standard input of the next command.
    typed: String,
}

fn act(case: &mut Case, folder: &Sandbox, step: &str, rest: &str) {
    if let Some(code) = step.strip_prefix('$') {
        let (variables, line) = variables(rest);
        let ended = type_in(folder.command(line).envs(variables), &std::mem::take(&mut case.typed));
        let code = if code.is_empty() { 0 } else { code.parse().unwrap() };
        assert_eq!(ended.code, Some(code), "{ended:?}");
        assert!(!matches!(code, 2 | 3) || ended.out.is_empty(), "{ended:?}");
        assert!(!ended.err.contains("panicked"), "{ended:?}");
        case.ended = Some(ended);
        return;
    }
    let text = unescaped(rest);
    if step == "type" {
        case.typed += &format!("{}\n", text.replace(" ; ", "\n"));
        return;
    }
    let (name, content) = text.split_once(' ').unwrap_or((&text, ""));
    let Ended { out, err, .. } = case.ended.as_ref().unwrap();
    let holds = match step {
        "out" => out.contains(&text),
        "err" => err.contains(&text),
        "not" => !out.contains(&text) && !err.contains(&text),
        "starts" => out.starts_with(&text),
        "ends" => out.trim_end().ends_with(&text),
        "twice" => out.matches(&text).count() == 2,
        "once" => err.matches(&text).count() == 1,
        "narrow" => out.lines().all(|line| line.len() <= text.parse().unwrap()),
        "lines" => out.lines().count().to_string() == text,
        "none" => out.is_empty(),
        "silent" => err.is_empty(),
        "row" => out.lines().any(|line| begins_with(line, &words(&text))),
        "json" => {
            let json: Value = serde_json::from_str(out).unwrap();
            match (json.pointer(name).unwrap_or(&Value::Null), content) {
                (found, "*") => !found.is_null(),
                (found, value) => *found == serde_json::from_str::<Value>(value).unwrap(),
            }
        }
        "records" => folder.records().len().to_string() == text,
        "has" => folder.read(name).contains(content),
        "lacks" => !folder.read(name).contains(content),
        "missing" => !folder.path(name).exists(),
        "same" => fs::read(folder.path(name)).unwrap() == fs::read(folder.path(content)).unwrap(),
        _ => false,
    };
    assert!(holds, "{:?}", case.ended);
}

fn begins_with(line: &str, wanted: &[String]) -> bool {
    let found: Vec<String> = words(line).into_iter().chain(["$".to_owned()]).collect();
    let fits = |(wanted, found): (&String, &String)| wanted == "*" || wanted == found;
    found.len() >= wanted.len() && wanted.iter().zip(&found).all(fits)
}
