//! The shape of the code: which crate may use which, and that imports inside a crate form no circle.
//!
//! ARCHITECTURE.md lists what each crate uses; that list is compared with the manifests, so that the map stays true.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Module = Vec<String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn members() -> Vec<PathBuf> {
    let manifest: toml::Table =
        fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let members = manifest["workspace"]["members"].as_array().unwrap();
    members.iter().map(|member| root().join(member.as_str().unwrap())).collect()
}

fn manifest(member: &Path) -> toml::Table {
    fs::read_to_string(member.join("Cargo.toml")).unwrap().parse().unwrap()
}

fn name(manifest: &toml::Table) -> &str {
    manifest["package"]["name"].as_str().unwrap()
}

#[test]
fn the_map_lists_the_crates_that_each_crate_uses() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows =
        text.lines().skip_while(|line| !line.starts_with("| folder | crate | uses |")).skip(2);
    let mut listed = BTreeMap::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let uses = cells[3].split(", ").filter(|name| !name.is_empty() && *name != "-");
        listed.insert(cells[2].to_owned(), uses.map(str::to_owned).collect::<BTreeSet<_>>());
    }
    let mut found = BTreeMap::new();
    for member in members() {
        let manifest = manifest(&member);
        let uses = manifest.get("dependencies").and_then(toml::Value::as_table);
        let uses = uses.into_iter().flat_map(toml::Table::keys);
        let uses = uses.filter_map(|name| name.strip_prefix("mlsys-")).map(str::to_owned);
        found.insert(name(&manifest).trim_start_matches("mlsys-").to_owned(), uses.collect());
    }
    assert_eq!(listed, found);
}

#[test]
fn the_map_and_the_readme_are_short() {
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
    let words = read("ARCHITECTURE.md").split_whitespace().count();
    assert!(words <= 1_800, "ARCHITECTURE.md has {words} words");
    let lines = read("README.md").lines().count();
    assert!(lines <= 100, "README.md has {lines} lines");
}

/// Source files of a crate by module path, without tests.
fn modules(folder: &Path, path: &Module, all: &mut BTreeMap<Module, PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let stem = file.file_stem().unwrap().to_str().unwrap().to_owned();
        if stem.ends_with("tests") {
            continue;
        }
        let mut module = path.clone();
        if !["lib", "main", "mod"].contains(&stem.as_str()) {
            module.push(stem);
        }
        if file.is_dir() {
            modules(&file, &module, all);
        } else if file.extension().is_some_and(|ending| ending == "rs") {
            all.insert(module, file);
        }
    }
}

/// The paths that a source file names, relative to the crate: `crate::a::B`, `super::c`, and groups of them in braces.
fn imports(source: &str, module: &Module) -> BTreeSet<Module> {
    let before_tests = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = before_tests.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code = lines.collect::<Vec<_>>().join(" ");
    let mut all = BTreeSet::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let inside = code[..at].chars().next_back();
            if inside.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
                continue;
            }
            tree(&code[at..], module, &mut all);
        }
    }
    all
}

/// Reads one path with its groups, `a::{b, c::{d}}`; returns what is left of the text.
fn tree<'a>(mut text: &'a str, from: &Module, all: &mut BTreeSet<Module>) -> &'a str {
    let mut path = from.clone();
    loop {
        text = text.trim_start();
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        match &text[..end] {
            "crate" => path.clear(),
            "super" => {
                path.pop();
            }
            "self" | "" => {}
            name => path.push(name.to_owned()),
        }
        text = &text[end..];
        match text.strip_prefix("::") {
            Some(rest) if rest.starts_with('{') => {
                text = &rest[1..];
                while !text.trim_start().starts_with('}') && !text.trim_start().is_empty() {
                    text = tree(text, &path, all).trim_start();
                    text = text
                        .strip_prefix(',')
                        .unwrap_or_else(|| text.trim_start_matches(|c| c != ',' && c != '}'));
                }
                return text.trim_start().strip_prefix('}').unwrap_or(text);
            }
            Some(rest) => text = rest,
            None => {
                all.insert(path);
                return text;
            }
        }
    }
}

#[test]
fn imports_form_no_circle() {
    let mut circles = Vec::new();
    for member in members() {
        let mut files = BTreeMap::new();
        modules(&member.join("src"), &Module::new(), &mut files);
        let mut uses: BTreeMap<&Module, BTreeSet<&Module>> = BTreeMap::new();
        for (module, file) in &files {
            let source = fs::read_to_string(file).unwrap();
            let named = imports(&source, module).into_iter().filter_map(|mut path| {
                while !path.is_empty() && !files.contains_key(&path) {
                    path.pop();
                }
                files.get_key_value(&path).map(|(path, _)| path)
            });
            // A module may use its own children: that is what they are for.
            let named = named.filter(|path| !path.is_empty() && !path.starts_with(module));
            uses.insert(module, named.collect());
        }
        // What uses nothing that is left is in no circle.
        loop {
            let free: Vec<&Module> =
                uses.iter().filter(|(_, to)| to.is_empty()).map(|(m, _)| *m).collect();
            if free.is_empty() {
                break;
            }
            for module in free {
                uses.remove(module);
                for to in uses.values_mut() {
                    to.remove(module);
                }
            }
        }
        // Nor is what only leads to a circle.
        loop {
            let used: BTreeSet<&Module> = uses.values().flatten().copied().collect();
            let before = uses.len();
            uses.retain(|module, _| used.contains(module));
            if uses.len() == before {
                break;
            }
        }
        if !uses.is_empty() {
            let names: Vec<String> = uses
                .iter()
                .map(|(from, to)| {
                    let to: Vec<String> = to.iter().map(|path| path.join("::")).collect();
                    format!("{} -> {}", from.join("::"), to.join(", "))
                })
                .collect();
            circles.push(format!("{}:\n  {}", name(&manifest(&member)), names.join("\n  ")));
        }
    }
    assert!(circles.is_empty(), "modules import each other:\n{}", circles.join("\n"));
}

/// Every Rust file of the repository.
fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                sources(&path, all);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            all.push(path);
        }
    }
}

/// Lines that break a rule, as `file:line: text`.
fn breaches(rule: impl Fn(usize, &str) -> bool) -> Vec<String> {
    let mut files = Vec::new();
    sources(&root(), &mut files);
    assert!(files.len() > 100, "only {} files were found", files.len());
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let named = file.strip_prefix(root()).unwrap().display().to_string();
        let lines = text.lines().enumerate().filter(|(index, line)| rule(index + 1, line));
        found.extend(lines.map(|(index, line)| format!("{named}:{}: {}", index + 1, line.trim())));
    }
    found
}

#[test]
fn a_file_is_read_to_its_end() {
    let long = breaches(|number, _| number == 401);
    assert!(long.is_empty(), "files with more than 400 lines:\n{}", long.join("\n"));
}

#[test]
fn comments_and_names_say_the_mechanism() {
    let vague = ["who-ever", "some-body", "no-body", "any-body", "be-side", "so- many"];
    let vague = vague.map(|word| word.replace('-', ""));
    let is_letter = |c: char| c.is_alphabetic();
    let found = breaches(|_, line| {
        let line = line.to_lowercase();
        vague.iter().any(|word| {
            line.match_indices(word.as_str()).any(|(at, _)| {
                let after = line[at + word.len()..].chars().next();
                !line[..at].ends_with(is_letter) && !after.is_some_and(is_letter)
            })
        })
    });
    assert!(found.is_empty(), "name the thing that acts:\n{}", found.join("\n"));
}

/// A build of these workspaces would otherwise begin with a lock file that cargo refuses.
#[test]
fn lock_files_of_the_other_workspaces_are_current() {
    let manifests = members().iter().map(|member| manifest(member)).collect::<Vec<_>>();
    for lock in ["fuzz/Cargo.lock", "models/lowering/Cargo.lock"] {
        let text: toml::Table = fs::read_to_string(root().join(lock)).unwrap().parse().unwrap();
        for package in text["package"].as_array().unwrap() {
            let own = manifests.iter().find(|own| name(own) == package["name"].as_str().unwrap());
            let Some(dependencies) = own.and_then(|own| own.get("dependencies")) else { continue };
            let is_needed = |dependency: &toml::Value| {
                dependency.get("optional").and_then(toml::Value::as_bool) != Some(true)
            };
            let needed = dependencies.as_table().unwrap().iter();
            let needed = needed.filter(|(_, dependency)| is_needed(dependency));
            let needed: BTreeSet<&str> = needed.map(|(name, _)| name.as_str()).collect();
            let locked = package.get("dependencies").and_then(toml::Value::as_array);
            let locked = locked.into_iter().flatten().filter_map(toml::Value::as_str);
            let locked: BTreeSet<&str> =
                locked.filter_map(|entry| entry.split(' ').next()).collect();
            assert_eq!(locked, needed, "{lock}: {:?}", package["name"]);
        }
    }
}
