//! Whole screens: at three sizes with styles against files, and at every size for the absence of panics.

use super::{Bench, point};
use crate::ui::message::Message;
use crate::ui::snapshot;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn compare(name: &str, screen: &ratatui::buffer::Buffer) {
    snapshot::compare("tests/snapshots", name, screen);
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
        let reports = (1..=120)
            .map(|step| point("loss", step, 0.7 / step as f64))
            .collect();
        bench.report(reports, 400);
        compare(&name("running"), &bench.buffer());
        bench.train(1.0);
        bench.keys("n");
        compare(&name("finished"), &bench.buffer());
        bench.keys("?");
        compare(&name("help"), &bench.buffer());
    }
}

#[test]
fn no_size_and_no_page_makes_drawing_fail() {
    let mut bench = Bench::in_lesson((120, 40));
    let scripts = [
        "", "\n0.9\n ", "\t", "\n5", "\u{1b}n", "nn\n", "?", "?\u{1b}",
    ];
    for script in scripts {
        bench.keys(script);
        for width in (1..=210).step_by(13) {
            for height in (1..=64).step_by(7) {
                bench.app.update(Message::Resize { width, height });
                assert_eq!(bench.buffer().area.width, width);
            }
        }
    }
}

#[test]
fn a_terminal_too_small_says_so() {
    let bench = Bench::in_lesson((20, 5));
    bench.shows("too small");
}
