//! Looking at charts: cursor, zoom, scales, smoothing, earlier runs and the whole screen.
use mlsys_run::outcome::Outcome;

use super::{Bench, point};
use crate::command::Place;
use crate::state::Side;

const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (120, 40)];

impl Bench {
    /// A lesson after the run of its first lab, with a chart chosen and the keys on it.
    fn at_chart(size: (u16, u16)) -> Self {
        let mut bench = Self::in_lesson(size);
        bench.keys("  ");
        bench.learn(0.7, 400);
        bench.go_to(Place::Picture);
        bench
    }

    /// A run of this many steps that ends well: a smooth loss and accuracies every ten steps.
    fn learn(&mut self, from: f64, steps: u64) {
        let mut reports = Vec::new();
        for step in 1..=steps {
            let loss = from * (-(step as f64) / 80.0).exp();
            reports.push(point("loss", step, loss));
            if step % 10 == 0 {
                reports.push(point("validation_loss", step, loss * 1.5));
            }
        }
        self.report(reports, 700);
        self.end(Outcome::Finished);
    }
}

#[test]
fn tab_goes_round_text_knobs_and_picture() {
    let places = [("\t", "at: lab"), ("\t", "at: picture"), ("\t", "at: text")];
    Bench::in_lesson((80, 24)).follow(&places);
}

#[test]
fn charts_share_one_cursor() {
    Bench::at_chart((120, 40)).follow(&[
        ("<", "step 400:"),
        ("<<<", "step 382: | validation_loss 0.009084 nats (step 380)"),
        (",", "step 381:"),
        ("..", "step 383:"),
        ("g", "step 1: | validation_loss not yet"),
        // It stays where it is in another chart, another side, and in words; esc takes it away first.
        ("w", "At the cursor, step 1: loss 0.6913"),
        ("w\u{1b}", "no: step 1: | at: picture"),
        ("\u{1b}", "at: course"),
    ]);
}

#[test]
fn zoom_goes_about_the_cursor_and_back_to_all() {
    Bench::at_chart((126, 40)).follow(&[
        ("+", "newest 200 steps"),
        ("g", "steps 1-200"),
        ("+", "steps 1-100"),
        ("«key >»", "steps 25-124"),
        ("«key <»«key <»", "steps 1-100"),
        ("w", "loss went from 0.6913 nats at step 1 to | Shown: | steps 1-100."),
        ("w0", "no: steps 1-100"),
        ("0", "newest 100 steps"),
        ("--", "no: newest"),
    ]);
}

#[test]
fn a_chart_that_follows_goes_along_with_the_run() {
    let mut bench = Bench::at_chart((120, 40));
    bench.follow(&[
        ("0", "newest 100 steps"),
        (" «losses 1 150»", "newest 100 steps | loss 0.004667 nats"),
        ("«losses 151 170»", "loss 0.004118 nats"),
        // A step out of sight brings the window back to it; later steps lead to the newest again.
        ("g", "steps 1-100"),
        (&"«key >»".repeat(20), "newest 100 steps"),
    ]);
}

#[test]
fn scale_and_smoothing_are_the_pictures_own() {
    let mut bench = Bench::at_chart((120, 40));
    let before = bench.screen();
    bench.follow(&[("l", "0.01┤")]);
    bench.keys("l");
    assert_eq!(bench.screen(), before);
    bench.follow(&[
        ("m", "all curves are smoothed"),
        ("g", "(line smoothed)"),
        ("m", "no curve is smoothed | no: (line smoothed)"),
    ]);
}

#[test]
fn earlier_runs_are_named_by_what_differs() {
    let mut bench = Bench::at_chart((120, 40));
    bench.follow(&[("", "validation_loss"), (" ", "a loss, earlier | 1 run 1")]);
    let mut bench = Bench::at_chart((120, 40));
    // The second run has another learning rate, the third another width too.
    bench.keys("\t\t> ");
    bench.learn(0.6, 400);
    bench.shows("1 run 1: learning_rate 0.01");
    bench.keys("_> ");
    bench.learn(0.5, 400);
    bench.follow(&[
        ("", "1 run 2: width 32 | no: run 1:"),
        ("o", "2 earlier runs are behind the curves | 2 run 1: learning_rate 0.01, width 32"),
        ("\tg", "2 run 1: learning_rate 0.01, width 32: a 0.6913 nats"),
        ("o", "no: run 2"),
        ("o", "1 run 2: width 32 | no: run 1:"),
    ]);
}

#[test]
fn pictures_go_full_screen_from_any_side() {
    for size in SIZES {
        for side in ["", "\t", "\t\t"] {
            let mut bench = Bench::in_lesson(size);
            bench.keys(&format!("  {side}"));
            let before = bench.screen();
            bench.follow(&[("z", "loss-curve | no: A small lesson ──")]);
            bench.keys("z");
            assert_eq!(bench.screen(), before);
            bench.keys("z\u{1b}");
            assert_eq!(bench.screen(), before);
            // Another side is not hidden behind the picture.
            bench.keys("zn");
            let page = bench.page();
            assert_eq!((page.side, page.full_screen), (Side::Text, None));
        }
    }
}

#[test]
fn what_is_no_chart_says_so() {
    let rows = [("vl", "the chosen picture is no chart"), ("vl", "no: no chart")];
    Bench::at_chart((80, 24)).follow(&rows);
}

#[test]
fn charts_look_as_they_did() {
    for size in SIZES {
        let mut bench = Bench::at_chart(size);
        bench.keys(" ");
        bench.learn(0.5, 300);
        bench.follow(&[("", "looks: picture")]);
        bench.follow(&[("z<<<<<", "looks: cursor")]);
        bench.follow(&[("+l", "looks: zoomed")]);
    }
}
