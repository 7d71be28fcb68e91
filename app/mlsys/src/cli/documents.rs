//! README and docs, held against the program.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mlsys_harness::sandbox::words;
use mlsys_lab::{Params, Settings, Tables};
use mlsys_registry::built_in;

use super::{Cli, Command, Lab};
use mlsys_run::library::Library;

/// README first.
fn documents() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path());
    let texts = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let all = [root.join("README.md")].into_iter().chain(texts);
    all.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// Every command that stands on a line of its own, and where.
fn commands() -> Vec<(String, Cli)> {
    let mut all = Vec::new();
    for (path, text) in documents() {
        let text = text.replace("\\\n", "");
        for line in text.lines().filter(|line| line.starts_with("    mlsys ")) {
            let place = format!("{}: {}", path.display(), line.trim());
            let read = Cli::read(command_words(line.trim()).into_iter().map(Into::into));
            let read = read.map_err(|error| format!("{place}\n{error}"));
            all.push((place, read.unwrap()));
        }
    }
    all
}

/// The words of a command, without its comment, behind a wide gap or a `#`, and without what its output goes into.
fn command_words(line: &str) -> Vec<String> {
    let command = line.split("   ").next().unwrap();
    let is_of_the_command = |word: &String| !["#", "|", ">"].contains(&word.as_str());
    words(command).into_iter().take_while(is_of_the_command).collect()
}

/// The first cell of each row of the table that begins so.
fn first_cells<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let lines = text.lines().skip_while(|line| !line.starts_with(heading));
    let rows = lines.skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.split('|').nth(1).unwrap().trim()).collect()
}

fn assert_resolves(lab: &Lab, place: &str) {
    let Some(kind) = &lab.kind else { return };
    let schema = built_in().find(kind).unwrap().schema();
    // A file of the reader's is not here.
    let set = lab.set.iter().map(String::as_str);
    let mut settings = Settings::from_pairs(set.filter(|set| !set.contains("=@"))).unwrap();
    if let Some(name) = &lab.preset {
        settings = schema.preset(name).unwrap().settings().overlaid(&settings);
    }
    let read = Params::resolve(schema, &settings, Tables::builtin(), None);
    assert!(read.is_ok(), "{place}: {read:?}");
}

#[test]
fn documented_commands_parse() {
    let mut labs = 0;
    for (place, cli) in commands() {
        if let Some(Command::Lab(lab)) = cli.command {
            labs += 1;
            assert_resolves(&lab, &place);
        }
    }
    assert!(labs > 80, "{labs}");
}

#[test]
fn documented_lessons_are_all_lessons() {
    let lessons = Library::built_in(built_in()).into_lessons();
    let fronts: Vec<_> = lessons.into_iter().map(|parsed| parsed.lesson.unwrap().front).collect();
    let titles: Vec<&str> = fronts.iter().map(|front| front.title.as_str()).collect();
    for page in ["course.md", "teaching.md"] {
        let (_, text) = documents().into_iter().find(|(path, _)| path.ends_with(page)).unwrap();
        assert_eq!(first_cells(&text, "| lesson |"), titles, "{page}");
    }
    let ids: BTreeSet<String> = fronts.iter().map(|front| front.id.to_string()).collect();
    let (_, plans) =
        documents().into_iter().find(|(path, _)| path.ends_with("teaching.md")).unwrap();
    let named = plans.split('`').skip(1).step_by(2).filter(|span| span.contains('/'));
    assert_eq!(named.filter(|id| !ids.contains(*id)).collect::<Vec<_>>(), [""; 0]);
    for (place, cli) in commands() {
        let mut named = Vec::new();
        if let Some(Command::Open(open)) = &cli.command {
            named.extend(&open.lesson);
        } else if let Some(Command::Run(run)) = &cli.command {
            named.extend(&run.lessons);
        }
        for name in named.into_iter().filter(|name| name.contains('/')) {
            assert!(ids.contains(name), "{place}: {name}");
        }
    }
}

/// Every file and folder of the workspace, but what is built or hidden.
fn paths(folder: &Path, all: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with('.') || name == "target" {
            continue;
        }
        all.push(format!("/{}", path.display()));
        if path.is_dir() {
            paths(&path, all);
        }
    }
}

#[test]
fn the_map_names_existing_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut there = Vec::new();
    paths(&root, &mut there);
    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let spans = map.split('`').skip(1).step_by(2);
    let named = spans.filter(|span| span.contains('/') || span.ends_with(".rs"));
    let named = named.filter(|span| !span.contains(['{', ' ', '=']));
    for name in named {
        let end = format!("/{}", name.trim_end_matches('/'));
        assert!(there.iter().any(|path| path.ends_with(&end)), "{name}");
    }
}

#[test]
fn the_list_of_labs_has_each_lab_once() {
    let (_, text) = documents().into_iter().find(|(path, _)| path.ends_with("labs.md")).unwrap();
    let listed = first_cells(&text, "| kind |");
    let listed = listed.iter().flat_map(|cell| cell.split(", "));
    let listed: Vec<&str> = listed.map(|name| name.trim_matches('`')).collect();
    let there: BTreeSet<&str> = built_in().iter().map(|lab| lab.schema().kind.as_str()).collect();
    assert_eq!(listed.len(), there.len());
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), there);
}
