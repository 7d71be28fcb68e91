//! Presets of labs, on their own pages and in lessons.

use mlsys_lab::value::Value;

use super::{Bench, point};
use crate::message::Effect;

#[test]
fn presets_reopen_a_labs_page() {
    let mut bench = Bench::new((120, 40));
    bench.probed();
    bench.keys(":train a network\n");
    bench.shows("diverging: a step size at which");
    bench.keys(" ");
    bench.train(1.0);
    bench.keys("P");
    bench.shows("Presets: Train a network");
    bench.keys("___\n");
    bench.shows("diverging: a step size");
    let page = bench.app.page.as_ref().unwrap();
    let lab = page.lab().unwrap();
    assert_eq!(lab.params().unwrap().float("learning_rate").unwrap(), 30.0);
    assert_eq!(lab.others.earlier.len(), 1);
    assert_eq!(lab.run.state.word(), "ready");
}

#[test]
fn lessons_take_presets_their_knobs_allow() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys("\t>\tP");
    bench.shows("not here: this lesson has no knob for");
    let presets = bench.app.presets();
    let free = presets.iter().position(|(_, refused)| refused.is_none()).unwrap();
    let barred = presets.iter().position(|(_, refused)| refused.is_some()).unwrap();
    let wanted = presets[free].0.set.clone();
    bench.keys(&"_".repeat(barred));
    bench.keys("\n");
    assert!(bench.app.screen.notice.is_some() && bench.app.overlay.is_some());
    bench.keys("\u{1b}P");
    bench.keys(&"_".repeat(free));
    bench.keys("\n");
    let lab = bench.app.page.as_ref().unwrap().lab().unwrap();
    for (name, value) in &wanted {
        assert_eq!(lab.params().unwrap().get(name), Some(value));
    }
}

#[test]
fn a_calculator_answers_a_preset_once() {
    let mut bench = Bench::new((120, 40));
    bench.keys(":occupancy\n");
    bench.keys("P_");
    let effects = bench.keys("\n");
    let started: Vec<_> = effects
        .iter()
        .filter_map(|effect| if let Effect::Start(start) = effect { Some(start) } else { None })
        .collect();
    assert_eq!(started.len(), 1);
    assert_eq!(started[0].params.get("registers_per_thread"), Some(&Value::Int(128)));
}

#[test]
fn a_preset_asks_before_it_ends_a_run() {
    let mut bench = Bench::new((120, 40));
    bench.probed();
    bench.keys(":train a network\n ");
    bench.report(vec![point("loss", 7, 0.5)], 100);
    bench.keys("P___\n");
    bench.shows("y ends it and takes the preset");
    bench.keys("n");
    bench.hides("y ends it and takes the preset");
    assert!(bench.app.session.active.is_some());
    let effects = bench.keys("P___\ny");
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Abandon)));
    bench.shows("diverging: a step size");
}
