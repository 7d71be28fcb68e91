//! The line that opens what is on the screen opens just that.

use mlsys_lab::device::DeviceChoice;
use mlsys_lab::value::Value;

use super::Bench;
use crate::message::Effect;
use crate::own_page;
use mlsys_run::settings;

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

fn knobs(bench: &Bench) -> Vec<(String, Option<Value>)> {
    let labs = &bench.app.page.as_ref().unwrap().labs;
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
fn opened(line: &str, size: (u16, u16)) -> Bench {
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
    bench.keys("\t>_>_>]>");
    bench.keys("dd");
    bench.app.session.seed = Some(7);
    let line = own_page::line(&bench.app);
    assert!(line.ends_with("--device wgpu:0 --seed 7"), "{line}");
    let again = opened(&line, (120, 40));
    assert_eq!(knobs(&again), knobs(&bench), "{line}");
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
            let again = opened(&line, (120, 40));
            let params = |bench: &Bench| {
                let open = bench.app.page.as_ref().unwrap().lab().unwrap();
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
    let registry = mlsys_registry::built_in();
    let read = mlsys_lesson::read("types.md", EVERY_TYPE.as_bytes(), registry);
    let lesson = std::sync::Arc::new(read.lesson.unwrap());
    let open = |pairs: &[String]| {
        let mut bench = Bench::new((120, 40));
        let turns = settings::for_knobs(pairs).unwrap();
        bench.app.open_at(lesson.clone(), &turns).unwrap();
        bench
    };
    let typed =
        ["net.profile=true", "net.steps=1e3", "net.learning_rate=2.5e-7", "net.optimizer=sgd"];
    let bench = open(&typed.map(str::to_owned));
    let values: Vec<String> =
        knobs(&bench).into_iter().map(|(_, value)| value.unwrap().to_string()).collect();
    assert_eq!(values, ["true", "1000", "2.5e-7", "sgd"]);
    let options = Line::parse(&own_page::line(&bench.app));
    assert_eq!(options.set.len(), typed.len());
    assert_eq!(knobs(&open(&options.set)), knobs(&bench));
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
    bench.app.open(own_page::lesson(graph, &params).unwrap());
    let again = opened(&own_page::line(&bench.app), (120, 40));
    let lab = again.app.page.as_ref().unwrap().lab().unwrap();
    let params = lab.params().unwrap();
    assert_eq!(params.get("expression").unwrap().as_str(), Some(text));
    let inputs = format!("{:?}", params.get("inputs").unwrap());
    assert!(inputs.contains("-2.5e-7"), "{inputs}");
}

#[test]
fn y_copies_and_shows_the_line() {
    let mut bench = Bench::in_lesson((40, 12));
    let effects = bench.keys("\t>\ty");
    let copied = effects
        .iter()
        .find_map(|effect| if let Effect::Copy(line) = effect { Some(line.clone()) } else { None });
    assert_eq!(copied.as_deref(), Some("mlsys open systems/small --set run.learning_rate=0.02"));
    bench.shows("mlsys open systems/small --set \\");
    bench.shows("\nrun.learning_rate=0.02");
    bench.keys("\n");
    bench.hides("mlsys open");
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
