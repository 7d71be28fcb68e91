//! Scripts in `tests/screens`: what a person does at a terminal, and what it receives.
//!
//! `open COLUMNSxROWS ARGUMENTS` starts the program, with words such as `LANG=C` before the arguments in its environment.
//! A step waits for something, checks something, or does something; texts have the escapes of Rust. Steps with files are
//! those of `mlsys_harness::script`.

use std::path::Path;
use std::time::Duration;

use mlsys_harness::sandbox::Sandbox;
use mlsys_harness::script::{run, unescaped, variables};
use rustix::process::Signal;

use crate::sandbox;
use crate::screen::Screen;

pub(crate) fn script(name: &str) {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    run(&package.join("tests/screens").join(name), package, sandbox, act);
}

fn size(text: &str) -> (u16, u16) {
    let (columns, rows) = text.split_once('x').unwrap();
    (columns.parse().unwrap(), rows.parse().unwrap())
}

fn act(screen: &mut Option<Screen>, _: &Sandbox, step: &str, rest: &str) {
    let text = unescaped(rest);
    match step {
        "open" => {
            let (dimensions, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            let (environment, line) = variables(rest);
            let environment: Vec<_> = environment.iter().map(|(n, v)| (*n, v.as_str())).collect();
            *screen = Some(Screen::open(size(dimensions), line, &environment));
        }
        "quit" => screen.take().unwrap().quit(&text),
        "kill" => screen.take().unwrap().kill(),
        "vanish" => assert_eq!(screen.take().unwrap().vanish(), text.parse().ok()),
        _ => on_screen(screen.as_mut().unwrap(), step, &text),
    }
}

fn on_screen(screen: &mut Screen, step: &str, rest: &str) {
    let holds = match step {
        "has" => screen.raw().contains(rest),
        "lacks" => !screen.raw().contains(rest),
        "hides" => !screen.shown().contains(rest),
        "ascii" => screen.shown().is_ascii(),
        "raw" => screen.becomes_raw(),
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
                _ => assert_eq!(step, ""),
            }
            true
        }
    };
    assert!(holds, "{}", screen.raw().escape_debug());
}

fn signal(name: &str) -> Signal {
    let signals =
        [Signal::TERM, Signal::TSTP, Signal::STOP, Signal::CONT, Signal::HUP, Signal::INT];
    let names = ["TERM", "TSTP", "STOP", "CONT", "HUP", "INT"];
    signals[names.iter().position(|known| *known == name).unwrap()]
}
