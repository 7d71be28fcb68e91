//! Scripts of tests: a file of cases that begin with `## TITLE`, each in a folder of its own that is called `%/`.
//!
//! Every other line is a step. These write files, in every script:
//!
//! - `file NAME` with the indented lines after it
//! - `copy NAME SOURCE`: a file or folder below the folder of sources, or by its whole path
//! - `edit NAME OLD => NEW`, `rename NAME OTHER`, `remove NAME`, and `program NAME`, which makes it one

use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;

/// Runs the cases one after the other; `act` does what no step here does, with a state that each case begins anew.
pub fn run<S: Default>(
    script: &Path,
    sources: &Path,
    sandbox: fn() -> Sandbox,
    act: fn(&mut S, &Sandbox, &str, &str),
) {
    let text = fs::read_to_string(script).unwrap();
    let (mut state, mut folder) = (S::default(), sandbox());
    let mut file: Option<(String, String)> = None;
    for (line, number) in text.lines().zip(1..) {
        // The last of these is the line of a script that fails.
        println!("{}:{number}: {line}", script.display());
        if let (Some(content), Some((name, text))) = (line.strip_prefix("  "), &mut file) {
            *text += &format!("{content}\n");
            folder.file(name, text);
            continue;
        }
        let (step, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.replace("%/", &folder.arg(""));
        file = (step == "file").then(|| (rest.clone(), String::new()));
        match step {
            "" => {}
            "##" => (state, folder) = (S::default(), sandbox()),
            "file" | "copy" | "edit" | "rename" | "remove" | "program" => {
                change(step, &unescaped(&rest), &folder, sources);
            }
            _ => act(&mut state, &folder, step, &rest),
        }
    }
}

fn change(step: &str, rest: &str, folder: &Sandbox, sources: &Path) {
    let (name, more) = rest.split_once(' ').unwrap_or((rest, ""));
    let path = folder.path(name);
    match step {
        "file" => {
            folder.file(name, more);
        }
        "copy" => copy(name, &sources.join(more), folder),
        "rename" => fs::rename(path, folder.path(more)).unwrap(),
        "remove" => fs::remove_file(path).unwrap(),
        "edit" => {
            let ((old, new), before) = (more.split_once(" => ").unwrap(), folder.read(name));
            assert!(before.contains(old), "there is no {old} in {before}");
            folder.file(name, before.replace(old, new));
        }
        _ => {
            #[cfg(unix)]
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
    }
}

fn copy(name: &str, source: &Path, folder: &Sandbox) {
    let Ok(entries) = fs::read_dir(source) else {
        folder.file(name, fs::read(source).unwrap());
        return;
    };
    for entry in entries.map(Result::unwrap) {
        let inside = format!("{name}/{}", entry.file_name().to_str().unwrap());
        copy(&inside, &entry.path(), folder);
    }
}

/// The words `NAME=VALUE` that a command line begins with, and the rest of it.
pub fn variables(mut line: &str) -> (Vec<(&str, String)>, &str) {
    let mut variables = Vec::new();
    while let Some((name, rest)) = line.split_once('=')
        && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    {
        let (value, more) = rest.split_once(' ').unwrap_or((rest, ""));
        variables.push((name, unescaped(value)));
        line = more;
    }
    (variables, line)
}

/// The text with `\x1b`, `\r`, `\n` and `\\` read.
pub fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap().to_owned();
    while let Some(part) = parts.next() {
        match part.chars().next() {
            Some('x') => {
                plain.push(char::from(u8::from_str_radix(&part[1..3], 16).unwrap()));
                plain += &part[3..];
            }
            Some('r') => plain += &format!("\r{}", &part[1..]),
            Some('n') => plain += &format!("\n{}", &part[1..]),
            _ => plain += &format!("\\{}", parts.next().unwrap()),
        }
    }
    plain
}
