//! Knobs that are typed and set by presets, and the line that opens what is on the screen.

use mlsys_lab::device::DeviceChoice;
use mlsys_lab::value::Value;
use mlsys_run::outcome::Outcome;
use mlsys_run::settings;

use super::{Bench, asked, point, read};
use crate::message::Effect;
use crate::own_page;

/// The words a shell makes of a line: blanks part them, single quotes hold them together, a backslash stands for
/// what follows.
fn shell(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    let mut quoted = false;
    while let Some(c) = letters.next() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            c if quoted => word.get_or_insert_default().push(c),
            ' ' => words.extend(word.take()),
            '\\' => word.get_or_insert_default().extend(letters.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn values(bench: &Bench) -> Vec<(String, Option<Value>)> {
    let labs = &bench.page().labs;
    let knobs = labs.iter().flat_map(|lab| &lab.controls.knobs);
    knobs.map(|knob| (knob.name.clone(), knob.value.clone())).collect()
}

/// What a line asks for, as the command line reads it.
#[derive(Debug, Default)]
struct Line {
    command: String,
    name: String,
    set: Vec<String>,
    device: DeviceChoice,
    seed: Option<u64>,
}

impl Line {
    fn parse(line: &str) -> Self {
        let mut words = shell(line).into_iter();
        assert_eq!(words.next().as_deref(), Some("mlsys"));
        let (command, name) = (words.next().unwrap(), words.next().unwrap());
        let mut parsed = Self { command, name, ..Self::default() };
        while let (Some(option), Some(value)) = (words.next(), words.next()) {
            match option.as_str() {
                "--set" => parsed.set.push(value),
                "--device" => parsed.device = value.parse().unwrap(),
                "--seed" => parsed.seed = Some(value.parse().unwrap()),
                other => panic!("{other}"),
            }
        }
        parsed
    }
}

/// Opens what a line says, as the command line does.
fn opened_by(line: &str, size: (u16, u16)) -> Bench {
    let line = Line::parse(line);
    let mut bench = Bench::new(size);
    match line.command.as_str() {
        "open" => {
            let turns = settings::for_knobs(&line.set).unwrap();
            let lesson = bench.app.course.lessons[0].clone();
            assert_eq!(line.name, lesson.front.id.as_str());
            bench.app.open_at(lesson, &turns).unwrap();
            bench.app.hardware.choice = line.device;
            bench.app.session.seed = line.seed;
        }
        "lab" => {
            let registry = mlsys_registry::built_in();
            let schema = registry.find(&line.name).unwrap().schema();
            let given = settings::for_lab(&line.set).unwrap();
            let tables = mlsys_lab::tables::Tables::builtin();
            let params = mlsys_lab::params::Params::resolve(schema, &given, tables, None).unwrap();
            bench.app.open(own_page::lesson(schema, &params, mlsys_registry::built_in()).unwrap());
        }
        other => panic!("{other}"),
    }
    bench
}

#[test]
fn a_lesson_line_restores_its_knobs() {
    let mut bench = Bench::in_lesson((120, 40));
    assert_eq!(own_page::line(&bench.app), "mlsys open systems/small");
    // A number, a count, a name of each lab.
    bench.keys("\t>_>_>]>dd");
    bench.app.session.seed = Some(7);
    let line = own_page::line(&bench.app);
    assert!(line.ends_with("--device wgpu:0 --seed 7"), "{line}");
    let again = opened_by(&line, (120, 40));
    assert_eq!(values(&again), values(&bench), "{line}");
    assert_eq!(own_page::line(&again.app), line);
}

#[test]
fn the_line_of_a_labs_own_page_opens_every_preset() {
    for lab in mlsys_registry::built_in().iter() {
        let schema = lab.schema();
        for index in 0..schema.presets.len() {
            let mut bench = Bench::new((120, 40));
            bench.app.open(own_page::with_defaults(schema, mlsys_registry::built_in()).unwrap());
            bench.keys("P");
            bench.keys(&"_".repeat(index));
            bench.keys("\n");
            let line = own_page::line(&bench.app);
            let again = opened_by(&line, (120, 40));
            let params = |bench: &Bench| {
                let open = bench.lab();
                let params = open.params().unwrap();
                params
                    .iter()
                    .map(|(name, value)| (name.to_owned(), value.clone()))
                    .collect::<Vec<_>>()
            };
            assert_eq!(params(&again), params(&bench), "{line}");
        }
    }
}

/// A knob of every type that knobs can have; other types are set on a lab's own page.
const EVERY_TYPE: &str = r#"+++
format = 1
id = "systems/types"
title = "Types"
minutes = 1
+++
# Types

```{lab} net
kind = "train"
[knob.profile]
[knob.steps]
[knob.learning_rate]
[knob.optimizer]
```
"#;

#[test]
fn values_of_every_type_are_opened_and_copied() {
    let lesson = read("types.md", EVERY_TYPE);
    let open = |pairs: &[String]| {
        let mut bench = Bench::new((120, 40));
        let turns = settings::for_knobs(pairs).unwrap();
        bench.app.open_at(lesson.clone(), &turns).unwrap();
        bench
    };
    let typed =
        ["net.profile=true", "net.steps=1e3", "net.learning_rate=2.5e-7", "net.optimizer=sgd"];
    let bench = open(&typed.map(str::to_owned));
    let shown: Vec<String> =
        values(&bench).into_iter().map(|(_, value)| value.unwrap().to_string()).collect();
    assert_eq!(shown, ["true", "1000", "2.5e-7", "sgd"]);
    let options = Line::parse(&own_page::line(&bench.app));
    assert_eq!(options.set.len(), typed.len());
    assert_eq!(values(&open(&options.set)), values(&bench));
}

#[test]
fn shell_words_round_trip() {
    let mut bench = Bench::new((120, 40));
    let graph = mlsys_registry::built_in().find("graph").unwrap().schema();
    let text = "a = x*x; b = max(a, 1) # it's";
    let given = mlsys_lab::params::Settings::from_pairs([
        format!("expression={text}").as_str(),
        "inputs.x=-2.5e-7",
    ])
    .unwrap();
    let tables = mlsys_lab::tables::Tables::builtin();
    let params = mlsys_lab::params::Params::resolve(graph, &given, tables, None).unwrap();
    bench.app.open(own_page::lesson(graph, &params, mlsys_registry::built_in()).unwrap());
    let again = opened_by(&own_page::line(&bench.app), (120, 40));
    let lab = again.lab();
    let params = lab.params().unwrap();
    assert_eq!(params.get("expression").unwrap().as_str(), Some(text));
    let inputs = format!("{:?}", params.get("inputs").unwrap());
    assert!(inputs.contains("-2.5e-7"), "{inputs}");
}

#[test]
fn y_copies_and_shows_the_line() {
    let mut bench = Bench::in_lesson((40, 12));
    let effects = bench.keys("\t>\ty");
    let copied = asked!(effects, Effect::Copy(line) => line.as_str()).next();
    assert_eq!(copied, Some("mlsys open systems/small --set run.learning_rate=0.02"));
    bench.follow(&[
        ("", "mlsys open systems/small --set \\ | \nrun.learning_rate=0.02"),
        ("\n", "no: mlsys open"),
    ]);
}

#[test]
fn impossible_knobs_are_refused() {
    let turn = |pair: &str| {
        let mut bench = Bench::new((120, 40));
        let lesson = bench.app.course.lessons[0].clone();
        let turns = settings::for_knobs(&[pair.to_owned()]).unwrap();
        bench.app.open_at(lesson, &turns).unwrap_err().to_string()
    };
    for (pair, complaint) in [
        ("runn.width=64", "this lesson has no lab 'runn'; it has: run, "),
        ("run.widht=64", "lab 'run' has no knob 'widht'; it has: learning_rate, "),
        ("run.width=wide", "width"),
        ("run.learning_rate=1e9", "outside 0 to 100"),
        ("run.optimizer=adma", "adam"),
    ] {
        let error = turn(pair);
        assert!(error.contains(complaint), "{pair}: {error}");
    }
    assert!(settings::for_knobs(&["width=64".to_owned()]).is_err());
}

#[test]
fn presets_reopen_a_labs_page() {
    let mut bench = Bench::new((120, 40));
    bench.probed();
    bench.follow(&[(":train a network\n", "diverging: a step size at which")]);
    bench.keys(" ");
    bench.train(1.0);
    bench.follow(&[("P", "Presets: Train a network"), ("___\n", "diverging: a step size")]);
    let lab = bench.lab();
    assert_eq!(lab.params().unwrap().float("learning_rate").unwrap(), 30.0);
    assert_eq!(lab.others.earlier.len(), 1);
    assert_eq!(lab.run.state.word(), "ready");
}

#[test]
fn lessons_take_presets_their_knobs_allow() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.follow(&[("\t>\tP", "not here: this lesson has no knob for")]);
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
    let lab = bench.lab();
    for (name, value) in &wanted {
        assert_eq!(lab.params().unwrap().get(name), Some(value));
    }
}

#[test]
fn a_calculator_answers_a_preset_once() {
    let mut bench = Bench::new((120, 40));
    bench.keys(":occupancy\nP_");
    let effects = bench.keys("\n");
    let started: Vec<_> = asked!(effects, Effect::Start(start) => start).collect();
    assert_eq!(started.len(), 1);
    assert_eq!(started[0].params.get("registers_per_thread"), Some(&Value::Int(128)));
}

#[test]
fn a_preset_asks_before_it_ends_a_run() {
    let mut bench = Bench::new((120, 40));
    bench.probed();
    bench.keys(":train a network\n ");
    bench.report(vec![point("loss", 7, 0.5)], 100);
    bench.follow(&[
        ("P___\n", "y ends it and takes the preset"),
        ("n", "no: y ends it and takes the preset"),
    ]);
    assert!(bench.app.session.active.is_some());
    let effects = bench.keys("P___\ny");
    assert!(asked!(effects, Effect::Abandon));
    bench.shows("diverging: a step size");
}

fn graph(size: (u16, u16)) -> Bench {
    let mut bench = Bench::new(size);
    bench.keys(":computation graph\n\t");
    bench
}

fn inputs(bench: &Bench) -> String {
    bench.lab().params().unwrap().get("inputs").unwrap().to_string()
}

fn replace(bench: &mut Bench, text: &str) {
    bench.keys("\n\x15");
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
    bench.keys("Ry");
    // It asks before it takes a turn back.
    assert_eq!(inputs(&bench), "{ x = 2, y = 3 }");
}

#[test]
fn expression_errors_are_placed() {
    let mut bench = graph((80, 24));
    replace(&mut bench, "z = x*yy + q");
    let params = bench.lab().params().unwrap();
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
    bench.follow(&[("\n + 7777", "+ x*y + 7777")]);
    bench.keys("\n");
    let params = bench.lab().params().unwrap();
    assert_eq!(params.get("expression"), Some(&Value::from(format!("{long} + 7777"))));
}
