//! Pictures that are looked at closely, and taken along as files.

use super::Bench;
use crate::key::Key;
use crate::message::{Effect, Message};
use mlsys_harness::reading::{parsed, well_formed};
use mlsys_run::storage::Export;

fn exported(effects: &[Effect]) -> Option<&Export> {
    effects.iter().find_map(|effect| {
        if let Effect::Export(export) = effect { Some(export.as_ref()) } else { None }
    })
}

#[test]
fn export_writes_the_view_as_svg_and_csv() {
    let mut bench = Bench::in_lesson((120, 60));
    assert!(exported(&bench.keys("e")).is_none());
    bench.shows("the picture 'loss-curve' has nothing to show yet: run the lab first");
    bench.keys("  ");
    bench.train(1.0);
    let effects = bench.keys("e");
    let export = exported(&effects).unwrap();
    assert_eq!(export.name, "systems/small-loss-curve");
    let texts = well_formed(&export.svg).join("\n");
    assert!(texts.contains("lesson systems/small"), "{texts}");
    assert!(texts.contains("seed 1 · on a cpu (cpu)"), "{texts}");
    assert_eq!(parsed(&export.csv).len(), 401);

    // Half of the steps, on a logarithmic axis.
    let effects = bench.keys("\t\t+le");
    let export = exported(&effects).unwrap();
    assert_eq!(parsed(&export.csv).len(), 201);
    assert!(well_formed(&export.svg).contains(&"0.01".to_owned()));
}

fn with_table() -> Bench {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("  ");
    let row = |name: &str, x: f64| (format!("gradient_norm.{name}"), x);
    let norms = [row("layer1", 0.5), row("layer2", 0.02), row("layer3", 3.0)];
    let reports = norms.iter().map(|(name, x)| super::point(name, 1, *x));
    bench.report(reports.collect(), 10);
    bench.train(1.0);
    bench
}

#[test]
fn arrows_mark_bars() {
    let mut bench = with_table();
    // To the picture, and on to the bars.
    bench.keys("\t\tv");
    bench.keys(">");
    bench.shows("layer1: 0.5");
    bench.keys("__");
    bench.shows("layer3: 3");
    bench.keys("_");
    bench.shows("layer3: 3");
    bench.keys("z");
    bench.shows("layer3: 3");
    bench.keys("\u{1b}");
    bench.shows("layer3: 3");
    bench.keys("\u{1b}");
    bench.hides("layer3: 3");
    bench.shows("A small lesson");
    // What is for tables and for charts says so.
    bench.keys("\n");
    bench.shows("the chosen picture is no table: v goes to the next one");
    bench.keys("+");
    bench.shows("the chosen picture is no chart, graph or timeline: v goes to the next one");
}

/// The occupancy lab of the lesson, with a table in the panel that is chosen.
fn in_table() -> Bench {
    use mlsys_lab::frame::{Frame, Table};
    use mlsys_lab::report::Report;
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("\t]");
    let page = bench.app.page.as_mut().unwrap();
    let lab = page.lab_mut().unwrap();
    let chosen = lab.chosen().unwrap();
    let row = |name: &str, memory: i64| vec![name.into(), memory.into()];
    let table = Table {
        columns: ["device", "memory (GB)"].map(str::to_owned).to_vec(),
        rows: vec![row("A100", 80), row("H200", 141), row("T4", 16)],
        ..Table::default()
    };
    let panel = lab.schema.panels[chosen].name.as_str().into();
    bench.report(vec![Report::Frame { panel, step: 0, frame: Box::new(Frame::Table(table)) }], 1);
    bench.end(mlsys_run::outcome::Outcome::Finished);
    bench.keys("\tz");
    bench
}

fn erase(bench: &mut Bench) {
    for _ in 0..20 {
        bench.app.update(Message::Key(Key::Backspace));
    }
}

/// The names of the devices, as the screen lists them.
fn devices(bench: &Bench) -> Vec<&'static str> {
    let screen = bench.screen();
    let mut found: Vec<(usize, &str)> = ["A100 ", "H200 ", "T4 "]
        .into_iter()
        .filter_map(|name| Some((screen.find(name)?, name.trim())))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name).collect()
}

#[test]
fn a_table_is_sorted_by_its_marked_column() {
    let mut bench = in_table();
    assert_eq!(devices(&bench), ["A100", "H200", "T4"]);
    bench.keys(">>\n");
    bench.shows("sorted by memory (GB), smallest first");
    assert_eq!(devices(&bench), ["T4", "A100", "H200"]);
    bench.shows("memory (GB) ▲");
    bench.keys("\n");
    assert_eq!(devices(&bench), ["H200", "A100", "T4"]);
    bench.shows("memory (GB) ▼");
    bench.keys("\n");
    bench.shows("rows stand as the lab sent them");
    assert_eq!(devices(&bench), ["A100", "H200", "T4"]);
}

#[test]
fn tables_filter_by_text_and_comparison() {
    let mut bench = in_table();
    bench.keys("/");
    bench.shows("a text that a cell has, or column > 3; empty shows all");
    bench.keys("memory % 20\n");
    bench.shows("no row is like that");
    bench.keys("/");
    erase(&mut bench);
    bench.keys("speed = 20\n");
    bench.shows("there is no column 'speed'; there are: device, memory (GB)");
    erase(&mut bench);
    bench.keys("h2\n");
    assert_eq!(devices(&bench), ["H200"]);
    bench.shows("1 of 3 rows: h2");
    bench.keys("/\u{1b}");
    assert_eq!(devices(&bench), ["H200"]);
    // Sorted and filtered, the file still has every row.
    let effects = bench.keys("e");
    let export = exported(&effects).unwrap();
    assert_eq!(parsed(&export.csv).len(), 4);
    bench.keys("w");
    bench.shows("1 of 3 rows: h2: device H200, memory (GB) 141");
}
