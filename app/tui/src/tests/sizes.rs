//! Every page at every size in every look, for the absence of panics.

use std::thread;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

use super::{Bench, point};
use crate::message::Message;
use crate::view;
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::theme::{Background, ColorDepth, Look, Theme};

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
    let mut looks = Vec::new();
    for (background, depth, set) in [
        (Background::Dark, ColorDepth::TrueColor, GlyphSet::Unicode),
        (Background::Light, ColorDepth::Ansi256, GlyphSet::Unicode),
        (Background::Dark, ColorDepth::Ansi16, GlyphSet::Ascii),
        (Background::Light, ColorDepth::None, GlyphSet::Ascii),
    ] {
        looks.push(Look { theme: Theme::new(background, depth), glyphs: Glyphs::new(set) });
    }
    looks
}

/// Without optimization a page is drawn at every twelfth size, another twelfth for each page; else at all of them.
const EVERY: usize = if cfg!(debug_assertions) { 12 } else { 1 };

/// Lessons as they stand before, while and after a lab runs, on the page that keys lead to.
fn benches(keys: &str) -> Vec<Bench> {
    let ready = Bench::in_lesson((120, 40));
    let mut running = Bench::in_lesson((120, 40));
    running.keys("  ");
    running.report((1..=40).map(|s| point("loss", s, 0.7 / s as f64)).collect(), 400);
    let mut done = Bench::in_lesson((120, 40));
    done.keys("\n0.9\n ");
    done.train(1.0);
    let mut benches = vec![ready, running, done];
    for bench in &mut benches {
        bench.keys(keys);
    }
    benches
}

fn draw(bench: &mut Bench, look: &Look, (width, height): (u16, u16)) {
    bench.app.screen.look = look.clone();
    bench.app.update(Message::Resize { width, height });
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view::draw(&bench.app, frame)).unwrap();
    let buffer = terminal.backend().buffer();
    for cell in buffer.content() {
        match look.theme.depth {
            ColorDepth::None => {
                assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset));
            }
            ColorDepth::TrueColor | ColorDepth::Ansi256 | ColorDepth::Ansi16 => {}
        }
    }
}

/// Draws a page at sizes up to 60 by 30, each in one of the looks and one of the states in turn, and at some
/// large sizes in all of them.
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
            for (laid_out, drawn) in
                [((120, 40), (30, 8)), ((30, 8), (120, 40)), ((200, 9), (25, 60))]
            {
                let (width, height) = laid_out;
                bench.app.update(Message::Resize { width, height });
                let (width, height) = drawn;
                let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
                terminal.draw(|frame| view::draw(&bench.app, frame)).unwrap();
            }
        }
    }
}
