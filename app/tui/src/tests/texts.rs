//! Knobs that are typed: expressions, tables and their entries.

use mlsys_lab::value::Value;

use super::Bench;
use crate::state::lab::LabState;
use mlsys_run::outcome::Outcome;

fn graph(size: (u16, u16)) -> Bench {
    let mut bench = Bench::new(size);
    bench.keys(":computation graph\n");
    bench.keys("\t");
    bench
}

fn lab(bench: &Bench) -> &LabState {
    bench.app.page.as_ref().unwrap().lab().unwrap()
}

fn inputs(bench: &Bench) -> String {
    lab(bench).params().unwrap().get("inputs").unwrap().to_string()
}

fn replace(bench: &mut Bench, text: &str) {
    bench.keys("\n");
    bench.app.update(crate::message::Message::Key(crate::key::Key::Ctrl('u')));
    bench.keys(text);
    bench.keys("\n");
}

#[test]
fn a_table_and_the_knobs_of_its_entries_are_one() {
    let mut bench = graph((120, 40));
    assert_eq!(inputs(&bench), "{ x = 2, y = 3 }");
    // Down to `inputs.x`, and up by a quarter.
    bench.keys("__>");
    assert_eq!(inputs(&bench), "{ x = 2.25, y = 3 }");
    bench.shows("{ x = 2.25, y = 3 }");
    bench.keys("^");
    replace(&mut bench, "{ x = 5, y = 3, w = 1 }");
    assert_eq!(inputs(&bench), "{ w = 1, x = 5, y = 3 }");
    bench.shows("inputs.x 5");
    bench.keys("u");
    assert_eq!(inputs(&bench), "{ x = 2.25, y = 3 }");
    bench.shows("inputs.x 2.25");
    // It asks before it takes a turn back.
    bench.keys("Ry");
    assert_eq!(inputs(&bench), "{ x = 2, y = 3 }");
}

#[test]
fn expression_errors_are_placed() {
    let mut bench = graph((80, 24));
    replace(&mut bench, "z = x*yy + q");
    let params = lab(&bench).params().unwrap();
    assert_eq!(params.get("expression"), Some(&Value::from("z = x*yy + q")));
    let message = "parameter 'expression': `yy` is neither assigned nor an input, at column 7\n  z = x*yy + q\n        ^^";
    bench.end(Outcome::Failed(mlsys_lab::LabError::Expression {
        param: "expression".to_owned(),
        message: message.trim_start_matches("parameter 'expression': ").to_owned(),
    }));
    let screen = bench.screen();
    let place = |text: &str| {
        let line = screen.lines().find(|line| line.contains(text)).unwrap();
        line.find(text).unwrap()
    };
    assert_eq!(place("^^"), place("  z = x*yy") + "  z = x*".len(), "{screen}");
}

/// A text that is longer than its row slides, so that what is typed can be seen.
#[test]
fn a_long_expression_slides_under_the_cursor() {
    let mut bench = graph((80, 24));
    let long = format!("z = x{}", " + x*y".repeat(30));
    replace(&mut bench, &long);
    bench.keys("\n + 7777");
    bench.shows("+ x*y + 7777");
    bench.keys("\n");
    let params = lab(&bench).params().unwrap();
    assert_eq!(params.get("expression"), Some(&Value::from(format!("{long} + 7777"))));
}
