//! Knobs that are typed and set by presets, and the line that opens what is on the screen.

use std::collections::BTreeSet;
use std::sync::Arc;

use mlsys_lab::params::Params;
use mlsys_lab::tables::Tables;
use mlsys_lab::value::Value;
use mlsys_lesson::{Event, Lesson, Sheet};
use mlsys_run::outcome::Outcome;
use mlsys_run::settings;

use super::{Bench, asked, read, started};
use crate::message::Effect;
use crate::own_page;
use crate::state::App;

fn values(bench: &Bench) -> Vec<(String, Option<Value>)> {
    let labs = &bench.page().labs;
    let knobs = labs.iter().flat_map(|lab| &lab.controls.knobs);
    knobs.map(|knob| (knob.name.clone(), knob.value.clone())).collect()
}

/// What the values after an option of the line are.
fn given(words: &[String], option: &str) -> Vec<String> {
    words.windows(2).filter(|pair| pair[0] == option).map(|pair| pair[1].clone()).collect()
}

fn with_lab_page(kind: &str, set: &[String]) -> Bench {
    let registry = mlsys_registry::built_in();
    let schema = registry.find(kind).unwrap().schema();
    let given = settings::for_lab(set).unwrap();
    let params = Params::resolve(schema, &given, Tables::builtin(), None).unwrap();
    let mut bench = Bench::new((120, 40));
    bench.app.open(own_page::lesson(schema, &params, registry).unwrap());
    bench
}

/// Opens what the line of a screen says, as the command line does.
fn opened_again(app: &App) -> Bench {
    let words = own_page::words(app);
    let set = given(&words, "--set");
    if words[1] == "lab" {
        return with_lab_page(&words[2], &set);
    }
    let mut bench = Bench::new((120, 40));
    let lesson = bench.app.course.lessons[0].lesson().clone();
    assert_eq!(words[1..3], ["open".to_owned(), lesson.front.id.to_string()]);
    bench.app.open_at(lesson, &settings::for_knobs(&set).unwrap()).unwrap();
    for device in given(&words, "--device") {
        bench.app.hardware.choice = device.parse().unwrap();
    }
    bench.app.session.seed = given(&words, "--seed").first().map(|seed| seed.parse().unwrap());
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
    let again = opened_again(&bench.app);
    assert_eq!(values(&again), values(&bench), "{line}");
    assert_eq!(own_page::line(&again.app), line);
}

#[test]
fn the_line_of_a_labs_own_page_opens_every_preset() {
    for lab in mlsys_registry::built_in().iter() {
        let schema = lab.schema();
        for index in 0..schema.presets.len() {
            let mut bench = with_lab_page(&schema.kind, &[]);
            bench.keys(&format!("P{}\n", "_".repeat(index)));
            let again = opened_again(&bench.app);
            let line = own_page::line(&bench.app);
            let (params, again) = (bench.lab().params().unwrap(), again.lab().params().unwrap());
            assert!(again.iter().eq(params.iter()), "{line}");
        }
    }
}

/// A knob of every type that knobs can have; other types are set on a lab's own page.
const EVERY_TYPE: &str = include_str!("types.md");

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
    let set = given(&own_page::words(&bench.app), "--set");
    assert_eq!(set.len(), typed.len());
    assert_eq!(values(&open(&set)), values(&bench));
}

#[test]
fn shells_read_the_line_back() {
    let set = ["expression=a = x*x; b = max(a, 1) # it's", "inputs.x=-2.5e-7"].map(str::to_owned);
    let bench = with_lab_page("graph", &set);
    let line = own_page::line(&bench.app);
    assert!(line.contains(r"--set 'expression=a = x*x; b = max(a, 1) # it'\''s'"), "{line}");
    let again = opened_again(&bench.app);
    let params = again.lab().params().unwrap();
    assert_eq!(params.text("expression").unwrap(), "a = x*x; b = max(a, 1) # it's");
    assert!(params.get("inputs").unwrap().to_string().contains("-2.5e-7"), "{line}");
}

#[test]
fn y_copies_and_shows_the_line() {
    Bench::in_lesson((40, 12)).follow(&[
        ("\t>\ty", "does: Copy(\"mlsys open systems/small --set run.learning_rate=0.02\")"),
        ("", "mlsys open systems/small --set \\ | \nrun.learning_rate=0.02"),
        ("\n", "no: mlsys open"),
    ]);
}

#[test]
fn impossible_knobs_are_refused() {
    let turn = |pair: &str| {
        let mut bench = Bench::new((120, 40));
        let lesson = bench.app.course.lessons[0].lesson().clone();
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
    bench.follow(&[
        ("«probed»:train a network\n", "diverging: a step size at which"),
        // The text `corpus` has no value.
        (" «trained»e", "does: all parameters at their defaults"),
        ("P", "Presets: Train a network"),
        ("___\n", "diverging: a step size"),
    ]);
    let lab = bench.lab();
    assert_eq!(lab.params().unwrap().float("learning_rate").unwrap(), 10.0);
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
    bench.follow(&[(&format!("{}\n", "_".repeat(barred)), "at: presets")]);
    assert!(bench.app.screen.notice.is_some());
    bench.keys(&format!("\u{1b}P{}\n", "_".repeat(free)));
    let lab = bench.lab();
    for (name, value) in &wanted {
        assert_eq!(lab.params().unwrap().get(name), Some(value));
    }
}

#[test]
fn a_calculator_answers_a_preset_once() {
    let effects = Bench::new((120, 40)).keys(":occupancy\nP_\n");
    let started: Vec<_> = asked!(effects, Effect::Start(start) => start).collect();
    assert_eq!(started.len(), 2, "the page, and the preset");
    assert_eq!(started[1].params.get("registers_per_thread"), Some(&Value::Int(128)));
}

#[test]
fn a_preset_asks_before_it_ends_a_run() {
    Bench::new((120, 40)).follow(&[
        ("«probed»:train a network\n «losses 7 7»P___\n", "y ends it and takes the preset"),
        ("n", "no: y ends it and takes the preset | busy"),
        ("P___\ny", "diverging: a step size | does: Abandon"),
    ]);
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
    bench.keys(&format!("\n\x15{text}\n"));
}

#[test]
fn a_table_and_the_knobs_of_its_entries_are_one() {
    let mut bench = graph((120, 40));
    assert_eq!(inputs(&bench), "{ x = 2, y = 3 }");
    // Down to `inputs.x`, and up by a quarter.
    bench.follow(&[("__>", "{ x = 2.25, y = 3 }")]);
    assert_eq!(inputs(&bench), "{ x = 2.25, y = 3 }");
    bench.keys("^");
    replace(&mut bench, "{ x = 5, y = 3, w = 1 }");
    assert_eq!(inputs(&bench), "{ w = 1, x = 5, y = 3 }");
    bench.follow(&[("", "inputs.x 5"), ("u", "inputs.x 2.25")]);
    assert_eq!(inputs(&bench), "{ x = 2.25, y = 3 }");
    // It asks before it takes a turn back.
    bench.keys("Ry");
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
    bench.follow(&[("\n> + 7777", "+ x*y + 7777")]);
    bench.keys("\n");
    let params = bench.lab().params().unwrap();
    assert_eq!(params.get("expression"), Some(&Value::from(format!("{long} + 7777"))));
}

/// Knobs of one chip, one of them with a list that lacks what another path of the chip has.
const SUPPLIED: &str = include_str!("supplied.md");

#[test]
fn a_knob_that_a_table_supplies_follows_what_is_chosen() {
    let (mut bench, _) = Bench::opening((120, 40), SUPPLIED);
    // The tensor cores of a multiprocessor, then its plain units.
    bench.follow(&[("\t", "units_per_sm 8 | at: lab"), ("<", "precision fp32*")]);
    bench.follow(&[
        ("", "units_per_sm 64 | no: units_per_sm 64*"),
        // The listed value below 64, undone, and what the tensor cores have.
        ("_<", "units_per_sm 16*"),
        ("u", "units_per_sm 64 | no: units_per_sm 64*"),
        ("^>", "units_per_sm 8 | no: units_per_sm 8*"),
    ]);
}

/// A question and a live lab that share a number, and a lab that answers at once.
const DRAWN: &str = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"Numbers\"\nminutes = 1\n+++\n\
    ```{question} q\ntype = \"numeric\"\nprompt = \"Weights of {w} numbers each?\"\n\
    vary = { w = [16, 24, 48] }\nanswer = \"w\"\n```\n\
    ```{lab} net\nkind = \"train\"\nset = { steps = 20 }\nvary = { width = \"q.w\" }\n\
    [knob.width]\nvalues = [16, 24, 32, 48]\n```\n\
    ```{predict} p\ntype = \"numeric\"\nprompt = \"Parameters?\"\nmetric = \"net.parameters\"\n```\n";

#[test]
fn a_lab_starts_with_the_learner_s_number() {
    let printed = read("b.md", DRAWN);
    let open = |lesson: Arc<Lesson>| {
        let mut bench = Bench::new((120, 40));
        bench.probed();
        bench.app.open(lesson);
        bench
    };
    let width = |bench: &Bench| bench.lab().params().unwrap().int("width").unwrap();
    assert_eq!(width(&open(printed.clone())), 16);
    let mut seen = BTreeSet::new();
    for learner in ["ann", "ben", "cy", "dora", "eve", "fay"] {
        let sheet = Sheet { salt: "2027".to_owned(), learner: learner.parse().unwrap() };
        let own = Arc::new(printed.drawn(&sheet));
        let number = own.question("q").unwrap().variants.as_ref().unwrap().drawn[0];
        let mut bench = open(own);
        bench.follow(&[("", &format!("Weights of {number} numbers | width"))]);
        assert_eq!(width(&bench), number as i64);
        let knob = &bench.lab().controls.knobs[0];
        assert_eq!((knob.value_text(), knob.is_turned()), (number.to_string(), false));
        // It is the lesson's own value: the line does not name it, and the run counts for the prediction.
        assert_eq!(own_page::line(&bench.app), "mlsys open a/b");
        let effects = bench.keys(&format!("\n{number}\nn"));
        assert!(asked!(effects, Effect::Save(Event::AnswerGiven { right: true, .. })));
        bench.keys("n\n5\n");
        let effects = bench.keys(" ");
        let start = started(&effects).unwrap();
        assert_eq!(start.params.int("width").unwrap(), number as i64);
        seen.insert(number as i64);
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
}

#[test]
fn the_error_under_a_knob_is_whole() {
    let text = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"Knobs\"\nminutes = 1\n+++\n\
        ```{lab} core\nkind = \"tensor-core\"\n[knob.numbers]\n[knob.depth]\n```\n";
    for size in [(80, 24), (120, 40), (200, 60)] {
        let mut bench = Bench::new(size);
        bench.probed();
        bench.app.open(read("b.md", text));
        bench.keys("\t\n16384\n");
        let left = crate::view::sides(size).lab.x;
        let rows = bench.screen();
        let rows = rows.lines().map(|row| row.chars().skip(left.into()).collect::<String>());
        let words: Vec<String> = rows.map(|row| row.trim().to_owned()).collect();
        let error =
            "parameter 'numbers': '16384' is not one of its values; there are: signed, positive";
        assert!(words.join(" ").contains(error), "{size:?}: {}", words.join("\n"));
    }
}

#[test]
fn a_knob_that_is_turned_after_a_run_says_when_it_counts() {
    let lab =
        |id: &str| format!("```{{lab}} {id}\nkind = \"train\"\n[knob.learning_rate]\n```\n\n");
    let front = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"Knobs\"\nminutes = 1\n+++\n";
    let text = [front, &lab("one"), &lab("two")].concat();
    let (mut bench, _) = Bench::opening((120, 40), &text);
    bench.follow(&[
        ("\t>", "no: takes effect"),
        (" «trained»", "no: takes effect"),
        (">", "learning_rate takes effect with the next run: space starts it"),
        // A run that is paused is not said to go on.
        ("  ] ", "'one' is paused: [ and ] go to it, x ends it"),
        ("[ ] ", "'one' is still running: [ and ] go to it, x ends it"),
    ]);
}

#[test]
fn two_values_turn_both_ways_and_an_end_is_told() {
    let text = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"B\"\nminutes = 1\n+++\n\
        ```{lab} run\nkind = \"train\"\n[knob.profile]\n[knob.width]\nvalues = [8, 16, 32]\n\
        [knob.depth]\nmax = 3\n```\n";
    let (mut bench, _) = Bench::opening((120, 40), text);
    bench.follow(&[
        ("\t>", "profile true"),
        (">", "profile false"),
        ("<", "profile true"),
        ("_>>>", "width 32"),
        (">", "width 32 is the last of 8, 16, 32: left turns it back"),
        ("<<<", "width 8 is the first of 8, 16, 32: right turns it back"),
        ("_>>>>", "depth 3 is as large as it goes: left turns it back"),
        ("<", "depth 2 | no: turns it back"),
    ]);
}
