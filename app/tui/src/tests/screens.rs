//! Whole screens: at three sizes with styles against files, and at every size for the absence of panics.

use super::{Bench, point};
use crate::message::Message;
use mlsys_harness::snapshot;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

pub(super) fn compare(name: &str, screen: &ratatui::buffer::Buffer) {
    snapshot::compare(concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/snapshots"), name, screen);
}

#[test]
fn the_pages_look_as_they_did() {
    for size in SIZES {
        let name = |page: &str| format!("{page}-{}x{}", size.0, size.1);
        let mut bench = Bench::new(size);
        bench.probed();
        compare(&name("course"), &bench.buffer());
        bench.keys("\n");
        compare(&name("lesson"), &bench.buffer());
        bench.keys("\n0.9\n ");
        let reports = (1..=120).map(|step| point("loss", step, 0.7 / step as f64)).collect();
        bench.report(reports, 400);
        compare(&name("running"), &bench.buffer());
        bench.train(1.0);
        bench.keys("n");
        compare(&name("finished"), &bench.buffer());
        bench.keys("?");
        compare(&name("help"), &bench.buffer());
        bench.keys(":la");
        compare(&name("palette"), &bench.buffer());
    }
}

#[test]
fn small_screens_have_help_and_palette() {
    let size = (40, 12);
    let name = |page: &str| format!("{page}-{}x{}", size.0, size.1);
    let mut bench = Bench::in_lesson(size);
    compare(&name("lesson"), &bench.buffer());
    bench.keys("?");
    compare(&name("help"), &bench.buffer());
    bench.keys(":s");
    compare(&name("palette"), &bench.buffer());
    bench.keys("\u{1b}x");
    compare(&name("reason"), &bench.buffer());
}

#[test]
fn presets_and_line_screens() {
    for size in [(40, 12), (80, 24), (120, 40)] {
        let name = |page: &str| format!("{page}-{}x{}", size.0, size.1);
        let mut bench = Bench::in_lesson(size);
        bench.keys("P_");
        compare(&name("presets"), &bench.buffer());
        bench.keys("\u{1b}\t>y");
        compare(&name("line"), &bench.buffer());
        bench.keys("\u{1b}:stop");
        compare(&name("refused"), &bench.buffer());
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
            bench.app.update(Message::Resize { width, height: 24 });
            let screen = bench.screen();
            let footer = screen.lines().last().unwrap_or_default();
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
