//! Scripts in `tests/screens`: what a person does at a terminal, and what it receives.
//!
//! `## TITLE` begins a case; `%/` is its folder. `open COLUMNSxROWS ARGUMENTS` starts the program, with words such as
//! `LANG=C` before the arguments in its environment. A step waits for something, checks something, or does something;
//! texts have the escapes of Rust.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use mlsys_harness::sandbox::Sandbox;
use rustix::process::Signal;

use crate::sandbox;
use crate::screen::Screen;

/// Runs the cases of a script one after the other.
pub(crate) fn script(name: &str) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let text = fs::read_to_string(tests.join("screens").join(name)).unwrap();
    let (mut folder, mut screen) = (sandbox(), None);
    let mut file: Option<(String, String)> = None;
    for (line, number) in text.lines().zip(1..) {
        let place = format!("{name}:{number}: {line}");
        if let (Some(content), Some((file, text))) = (line.strip_prefix("  "), &mut file) {
            text.push_str(&format!("{content}\n"));
            folder.file(file, text);
            continue;
        }
        let (step, rest) = line.split_once(' ').unwrap_or((line, ""));
        let typed = rest.replace("%/", &folder.arg(""));
        let rest = unescaped(&typed);
        file = None;
        match step {
            "" => {}
            "##" => (folder, screen) = (sandbox(), None),
            "open" => screen = Some(open(&typed)),
            "file" => file = Some((rest, String::new())),
            "program" => {
                let mode = fs::Permissions::from_mode(0o755);
                fs::set_permissions(folder.path(&rest), mode).unwrap();
            }
            "copy" | "rename" | "edit" | "remove" => change(step, &rest, &folder),
            "quit" => screen.take().unwrap().quit(&rest),
            "kill" => screen.take().unwrap().kill(),
            "vanish" => assert_eq!(screen.take().unwrap().vanish(), rest.parse().ok(), "{place}"),
            _ => act(screen.as_mut().unwrap(), step, &rest, &place),
        }
    }
}

fn size(text: &str) -> (u16, u16) {
    let (columns, rows) = text.split_once('x').unwrap();
    (columns.parse().unwrap(), rows.parse().unwrap())
}

fn open(rest: &str) -> Screen {
    let (dimensions, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let (mut environment, mut line) = (Vec::new(), rest);
    while line.starts_with(char::is_uppercase) {
        let (word, more) = line.split_once(' ').unwrap_or((line, ""));
        let (name, value) = word.split_once('=').unwrap();
        environment.push((name.to_owned(), unescaped(value)));
        line = more;
    }
    let environment: Vec<_> = environment.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    Screen::open(size(dimensions), line, &environment)
}

fn change(step: &str, rest: &str, folder: &Sandbox) {
    let (name, more) = rest.split_once(' ').unwrap_or((rest, ""));
    match step {
        "copy" => {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(more);
            folder.file(name, fs::read(source).unwrap());
        }
        "rename" => fs::rename(folder.path(name), folder.path(more)).unwrap(),
        "remove" => fs::remove_file(folder.path(name)).unwrap(),
        _ => {
            let (old, new) = more.split_once(" => ").unwrap();
            folder.file(name, folder.read(name).replace(old, new));
        }
    }
}

fn act(screen: &mut Screen, step: &str, rest: &str, place: &str) {
    let holds = match step {
        "has" => screen.raw().contains(rest),
        "lacks" => !screen.raw().contains(rest),
        "hides" => !screen.shown().contains(rest),
        "ascii" => screen.shown().is_ascii(),
        "raw" => screen.is_raw(),
        "cooked" => !screen.is_raw(),
        "exit" => screen.exit_code() == rest.parse().ok(),
        "unread" => screen.unread().to_string() == rest,
        _ => {
            match step {
                "wait" => screen.wait_for(rest),
                "bytes" => screen.wait_for_bytes(rest),
                "keys" => screen.keys(rest),
                "ends" => screen.ends(rest.parse().unwrap()),
                "forget" => screen.forget(),
                "stopped" => screen.wait_until_stopped(),
                "restored" => screen.assert_restored(),
                "shell" => screen.as_a_shell_sets_it(),
                "nonblocking" => screen.set_nonblocking(),
                "quiet" => screen.read_until_quiet(Duration::from_millis(rest.parse().unwrap())),
                "signal" => screen.signal(signal(rest)),
                "job" => screen.signal_job(signal(rest)),
                "resize" => {
                    let (columns, rows) = size(rest);
                    screen.resize(columns, rows);
                }
                _ => assert_eq!(step, "", "{place}"),
            }
            true
        }
    };
    assert!(holds, "{place}: {}", screen.raw().escape_debug());
}

fn signal(name: &str) -> Signal {
    let signals =
        [Signal::TERM, Signal::TSTP, Signal::STOP, Signal::CONT, Signal::HUP, Signal::INT];
    let names = ["TERM", "TSTP", "STOP", "CONT", "HUP", "INT"];
    signals[names.iter().position(|known| *known == name).unwrap()]
}

/// The text with `\x1b`, `\r`, `\n` and `\\` read.
fn unescaped(text: &str) -> String {
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
