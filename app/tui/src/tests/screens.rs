//! Whole screens: at some sizes with styles against files, and at every size in every look for the absence of panics.

use mlsys_lab::{Report, steers_terminal};
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::theme::{Background, ColorDepth, Look, Theme};
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use ratatui::prelude::*;
use std::thread;

use super::{Bench, losses};
use crate::message::Message;
use crate::view;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

#[test]
fn the_pages_look_as_they_did() {
    for size in SIZES {
        let mut bench = Bench::new(size);
        bench.follow(&[("«probed»", "looks: course"), ("\n", "looks: lesson")]);
        bench.keys("\n0.9\n ");
        bench.report(losses(1..=120), 400);
        bench.follow(&[
            ("", "looks: running"),
            ("«trained»n", "looks: finished"),
            ("?", "looks: help"),
            (":la", "looks: palette"),
        ]);
    }
    Bench::in_lesson((40, 12)).follow(&[
        ("", "looks: lesson"),
        ("?", "looks: help"),
        (":s", "looks: palette"),
        ("\u{1b}x", "looks: reason"),
    ]);
    for size in [(40, 12), (80, 24), (120, 40)] {
        Bench::in_lesson(size).follow(&[
            ("P_", "looks: presets"),
            ("\u{1b}\t>y", "looks: line"),
            ("\u{1b}:stop", "looks: refused"),
        ]);
    }
}

#[test]
fn no_footer_cuts_a_word_or_loses_the_way_out() {
    let mut bench = Bench::in_lesson((120, 24));
    for script in ["", "n", "\t", "?", ":", "\u{1b}\u{1b}"] {
        bench.keys(script);
        let words: Vec<&str> = crate::command::TABLE
            .iter()
            .flat_map(|row| row.label.split(' '))
            .chain(["run", "again", "pause", "go", "on"])
            .collect();
        for width in (24..130).step_by(5) {
            bench.send(Message::Resize { width, height: 24 });
            let screen = bench.screen();
            let footer = screen.lines().last().unwrap();
            let keys = crate::command::TABLE.iter().flat_map(|row| row.keys);
            let keys: Vec<String> = keys.map(ToString::to_string).collect();
            for word in footer.split_whitespace() {
                let known = words.contains(&word) || keys.iter().any(|key| key == word);
                assert!(known, "{word:?} at {width}: {footer}");
            }
            let out = ["back", "quit"].iter().any(|way| footer.ends_with(way));
            assert!(out, "at {width}: {footer}");
        }
    }
}

#[test]
fn a_terminal_too_small_says_so() {
    let bench = Bench::in_lesson((20, 5));
    bench.shows("too small");
}

/// What is typed to come to each page, each from a lesson that has just been opened.
const PAGES: &[&str] = &[
    // The course and its filter.
    "\u{1b}",
    "\u{1b}/sm",
    // The lesson: reading, answering, a complaint, both sides, a knob's value, pictures.
    "",
    "\n0.9",
    "nnn\ntwelve\n",
    "\t",
    "\t\n5",
    "\t\t",
    "\t\tz",
    "w",
    // What lies over it: help, palette, search, glossary, presets, steps, a question.
    "?",
    ":la",
    "/s",
    "K",
    "P",
    "S",
    "i",
];

fn looks() -> Vec<Look> {
    let look = |(background, depth, set)| Look {
        theme: Theme::new(background, depth),
        glyphs: Glyphs::new(set),
    };
    let looks = [
        (Background::Dark, ColorDepth::TrueColor, GlyphSet::Unicode),
        (Background::Light, ColorDepth::Ansi256, GlyphSet::Unicode),
        (Background::Dark, ColorDepth::Ansi16, GlyphSet::Ascii),
        (Background::Light, ColorDepth::None, GlyphSet::Ascii),
    ];
    looks.map(look).into()
}

/// Without optimization a page is drawn at every twelfth size, another twelfth for each page; else at all of them.
const EVERY: usize = if cfg!(debug_assertions) { 12 } else { 1 };

/// Lessons as they stand before, while and after a lab runs, on the page that keys lead to.
fn benches(keys: &str) -> Vec<Bench> {
    let states = ["", "  «losses 1 40»", "\n0.9\n «trained»"];
    let benches = states.map(|state| {
        let mut bench = Bench::in_lesson((120, 40));
        bench.keys(state);
        bench.keys(keys);
        bench
    });
    benches.into()
}

fn draw(bench: &mut Bench, look: &Look, (width, height): (u16, u16)) {
    bench.app.screen.look = look.clone();
    bench.send(Message::Resize { width, height });
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view::draw(&bench.app, frame)).unwrap();
    let buffer = terminal.backend().buffer();
    for cell in buffer.content() {
        let is_plain = (cell.fg, cell.bg) == (Color::Reset, Color::Reset);
        assert!(is_plain || look.theme.depth != ColorDepth::None);
    }
}

/// Draws a page at sizes up to 60 by 30 in one look and state in turn, and at some large sizes in all.
fn everywhere(page: usize, keys: &str) {
    let looks = looks();
    let mut benches = benches(keys);
    let mut turn = page;
    let sizes = (0..=60_u16).flat_map(|width| (0..=30_u16).map(move |height| (width, height)));
    for (place, (width, height)) in sizes.enumerate() {
        // Twelve does not divide the number of heights, so that every page meets every width and every height.
        if (place + page).is_multiple_of(EVERY) {
            turn += 1;
            let look = &looks[turn % looks.len()];
            let bench = turn / looks.len() % benches.len();
            draw(&mut benches[bench], look, (width, height));
        }
    }
    for size in [(300, 100), (101, 13), (99, 40)] {
        for bench in &mut benches {
            turn += 1;
            draw(bench, &looks[turn % looks.len()], size);
        }
    }
}

#[test]
fn pages_draw_at_every_size_and_look() {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for share in 0..cores {
            scope.spawn(move || {
                for (page, keys) in PAGES.iter().enumerate().skip(share).step_by(cores) {
                    everywhere(page, keys);
                }
            });
        }
    });
}

#[test]
fn shrunken_screens_are_drawn() {
    for keys in PAGES {
        for mut bench in benches(keys) {
            for ((width, height), drawn) in
                [((120, 40), (30, 8)), ((30, 8), (120, 40)), ((200, 9), (25, 60))]
            {
                bench.send(Message::Resize { width, height });
                let (width, height) = drawn;
                let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
                terminal.draw(|frame| view::draw(&bench.app, frame)).unwrap();
            }
        }
    }
}

#[test]
fn nothing_a_run_says_steers_the_terminal() {
    let said = "loss\u{202e}4.1\u{2066} \u{1b}[2J\u{9b}2J";
    for size in SIZES {
        let mut bench = Bench::in_lesson(size);
        bench.keys("\n0.9\n ");
        bench.report(vec![Report::Status(said.into())], 10);
        bench.shows("4.1");
        let steers = |cell: &Cell| cell.symbol().contains(steers_terminal);
        assert!(!bench.buffer().content().iter().any(steers), "{size:?}:\n{}", bench.screen());
    }
}
