use mlsys_lab::Frame;
use mlsys_lab::frame::Cell;

use super::model::{Drawing, Step};
use super::*;

const SMALL: &str = include_str!("tests/transfer.toml");

fn run(text: &str, set: &[&str]) -> Result<RunData, LabError> {
    let lab = ClosedForm::read(text).unwrap();
    lab.collect(&Settings::from_pairs(set.iter().copied()).unwrap()).unwrap()
}

/// Line, column in bytes and message of each problem.
fn told(text: &str) -> Vec<(usize, usize, String)> {
    let problems = ClosedForm::read(text).err().unwrap_or_default();
    let place = |problem: Problem| {
        let before = &text[..problem.place.start];
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, column + 1, problem.message)
    };
    problems.into_iter().map(place).collect()
}

#[test]
fn a_small_lab_answers_draws_and_writes_out() {
    let data = run(SMALL, &[]).unwrap();
    assert_eq!(data.metric("seconds"), Some(Value::Float(10.0)));
    let (_, Frame::Bars(bars)) = &data.frames["sizes"] else { panic!("the sizes are bars") };
    let drawn: Vec<_> =
        bars.bars.iter().map(|bar| (bar.label.as_str(), bar.value, bar.remark.as_str())).collect();
    let expected = [
        ("100 bytes", Some(1.0), ""),
        ("1000 bytes", Some(10.0), "this one"),
        ("5000 bytes", Some(50.0), ""),
    ];
    assert_eq!(drawn, expected);
    let (_, Frame::Table(steps)) = &data.frames["steps"] else { panic!("the steps are a table") };
    let row = ["seconds", "n/bandwidth", "1000/100"].map(Value::from);
    assert_eq!(steps.rows[0][..3], row);
}

/// Every panel of steps, those in panes among them.
fn steps_of(drawing: &Drawing) -> Vec<&Step> {
    match drawing {
        Drawing::Steps(rows) => rows.iter().map(|row| &row.what).collect(),
        Drawing::Panes(panes) => panes.iter().flat_map(|pane| steps_of(&pane.what.1)).collect(),
        Drawing::Bars { .. }
        | Drawing::Stacks { .. }
        | Drawing::Table { .. }
        | Drawing::Scatter { .. }
        | Drawing::Cells { .. } => Vec::new(),
    }
}

#[test]
fn every_step_of_every_lab_has_a_unit_or_is_said_to_be_a_pure_number() {
    let mut bare = Vec::new();
    // Rust builds these two.
    let built_here = |kind: &&str| !["graph", "lowering"].contains(kind);
    for kind in crate::FILES.iter().map(|(kind, _)| *kind).filter(built_here) {
        let lab = crate::lab(kind).unwrap();
        let drawings = lab.form.panels.iter().filter_map(|(_, picture)| picture.drawing.as_ref());
        let steps = drawings.flat_map(steps_of);
        let no_unit = steps.filter(|step| step.unit.is_none());
        bare.extend(no_unit.map(|step| format!("{kind}: {}", step.value.source)));
    }
    assert!(bare.is_empty(), "say their `unit`, empty for pure numbers: {bare:#?}");
}

#[test]
fn a_step_has_the_unit_of_its_metric_or_the_one_that_it_states() {
    let small = SMALL.replace("about = \"the time\"", "about = \"the time\"\nunit = \"s\"");
    let with = |of: &str| small.replace("[panel.steps]", &format!("[panel.steps]\nof = [{of}]"));
    let half = "{ label = 'half', value = 'n/2', unit = 'bytes' }";
    let data = run(&with(&format!("'seconds', {half}, 'n'")), &["bytes=2000000000"]).unwrap();
    let (_, Frame::Table(steps)) = &data.frames["steps"] else { panic!("the steps are a table") };
    let cells: Vec<String> = steps.rows.concat().iter().map(Value::to_string).collect();
    let expected = "seconds n/bandwidth 2e9/100 2e7 s half n/2 2e9/2 1e9 B n as given  2000000000 ";
    assert_eq!(cells.join(" "), expected);
    let wrong = with("{ label = 't', value = 'seconds', unit = 'hours' }");
    assert_eq!(told(&wrong)[0].2, "`seconds` is a metric with a unit of its own");
    // Where no step has a unit there is no column for it.
    let data = run(&with("'n'"), &[]).unwrap();
    let (_, Frame::Table(steps)) = &data.frames["steps"] else { panic!("the steps are a table") };
    assert_eq!(steps.columns, ["quantity", "formula", "with numbers", "value"]);
}

#[test]
fn the_keys_of_a_picture_choose_what_is_drawn() {
    let (start, rest) = SMALL.split_once("[panel.bars]").unwrap();
    let (_, steps) = rest.split_once("[[panel]]").unwrap();
    let bars = "[panel.bars]\nlabel = '{bytes}'\nvalue = 'seconds'\nfor = 'bytes'\nover = [1, 2]";
    let cells = "[panel.cells]\nkinds = [{ name = 'used', tone = 'first' }]\ngroup = 8\n\
                 cell = { for = 'lane', over = 'range(0, 2)', kind = 'if(lane > 0, 0)', text = '{lane}' }";
    for (picture, expected) in [
        (bars.to_owned(), "1 2 1000"),
        (format!("{bars}\nsort = '-bytes'"), "1000 2 1"),
        (format!("{bars}\nif = 'bytes > 1'"), "2 1000"),
        // Of three the two largest, in the order of the list.
        (format!("{bars}\nsort = '-bytes'\nfirst = 2"), "2 1000"),
        (cells.to_owned(), "0 - 1 2"),
        (format!("{cells}\nstart = 'bytes + 24'"), "1024 - 1 2"),
        (format!("{cells}\nfocus_row = '0'\nfocus_column = 'bytes - 998'"), "0 - 1 2 at 0 2"),
    ] {
        let data = run(&format!("{start}{picture}\n[[panel]]{steps}"), &[]).unwrap();
        let mut drawn: Vec<String> = Vec::new();
        if let Frame::Bars(bars) = &data.frames["sizes"].1 {
            drawn.extend(bars.bars.iter().map(|bar| bar.label.clone()));
        }
        if let Frame::Cells(cells) = &data.frames["sizes"].1 {
            let text = |cell: &Option<Cell>| cell.as_ref().map_or("-".into(), |c| c.text.clone());
            drawn.push(cells.first.to_string());
            drawn.extend(cells.rows[0].cells.iter().map(text));
            drawn.extend(cells.focus.map(|(row, column)| format!("at {row} {column}")));
        }
        assert_eq!(drawn.join(" "), expected, "{picture}");
    }
}

#[test]
fn contradictions_and_infinities_are_errors() {
    let error = run(SMALL, &["bandwidth=-1"]).unwrap_err();
    assert!(error.is_usage());
    assert_eq!(error.to_string(), "bandwidth: over -1 bytes/s nothing arrives");
    let text = SMALL.replace("holds = \"bandwidth > 0\"", "holds = \"true\"");
    let error = run(&text, &["bandwidth=0"]).unwrap_err().to_string();
    assert_eq!(error, "seconds is not finite: n/bandwidth = 1000/0");
}

#[test]
fn counts_are_exact_or_refused() {
    let text =
        SMALL.replace("type = \"float\"\nabout = \"the time\"", "type = \"int\"\nabout = \"\"");
    let text = text.replace("n/bandwidth", "n*n + 1");
    let data = run(&text, &["bytes=3000000001"]).unwrap();
    assert_eq!(data.metric("seconds"), Some(Value::Int(9_000_000_006_000_000_002)));
    let error = run(&text, &["bytes=4000000000"]).unwrap_err().to_string();
    assert!(error.starts_with("bytes: seconds would be beyond 2^63 - 1"), "{error}");
}

#[test]
fn all_mistakes_are_told_at_once_with_their_places() {
    let text = SMALL
        .replace("n/bandwidth", "n/bandwith")
        .replace("over = [100, 5000]", "over = [100, 5000]\nlenght = 3")
        .replace("holds = \"bandwidth > 0\"", "holds = \"bandwidth >\"")
        .replace("type = \"int\"", "type = \"whole\"")
        .replace("source = \"Hockney 1994\"\n", "");
    let told = told(&text);
    let expected = [
        (1, 1, "a lab has no `source`"),
        (8, 8, "`[[param]]` knows no `whole`"),
        (26, 12, "nothing is called `bandwith`"),
        (30, 21, "a value is missing at the end"),
    ];
    let found: Vec<_> = told.iter().map(|(l, c, m)| (*l, *c, m.as_str())).collect();
    for one in expected {
        assert!(found.contains(&one), "{one:?} is not in {found:#?}");
    }
    assert!(found.iter().any(|(_, _, m)| *m == "`bars` has no key `lenght`"), "{found:#?}");
    let problems = ClosedForm::read(&format!("zzzzzzzz = 1\n{SMALL}")).unwrap_err();
    let help = problems[0].help.as_deref().unwrap();
    assert!(help.starts_with("the keys are kind, title, about, source, module, "), "{help}");
}

#[test]
fn an_entry_that_does_not_read_hides_no_other_mistake() {
    for (from, to, expected) in [
        (
            "about = \"the time\"\nvalue = \"n",
            "value = \"m",
            "`[[metric]]` has no `about`; nothing is called `m`",
        ),
        ("about = \"what is sent\"", "", "`[[param]]` has no `about`"),
        ("default = 1000", "default = -1", "parameter 'bytes': -1 is outside 0 and above"),
        (
            "[[check]]",
            "[[preset]]\nname = 'a'\nabout = ''\nset = { byte = 1, bytes = 'x' }\n[[preset]]\nname = 'b'\nabout = ''\nset = { bandwidth = 'y' }\n[[check]]",
            "preset 'a': parameter 'byte': no such parameter; did you mean 'bytes'?; preset 'a': parameter 'bytes': expected int, found the text 'x'; preset 'b': parameter 'bandwidth': expected float, found the text 'y'",
        ),
        ("name = \"bytes\"", "", "`[[param]]` has no `name`; nothing is called `bytes`"),
        ("label = \"{bytes} bytes\"", "", "`bars` has no `label`"),
        ("[panel.bars]", "text = [{ if = \"true\" }]\n[panel.bars]", "`text` has no `words`"),
        ("kind = \"transfer\"", "", "a lab has no `kind`"),
    ] {
        let text = SMALL.replace(from, to).replace("value = \"seconds\"", "value = \"secnds\"");
        let messages: Vec<String> =
            told(&text).into_iter().map(|(_, _, message)| message).collect();
        assert_eq!(
            messages.join("; "),
            format!("{expected}; nothing is called `secnds`"),
            "{from}"
        );
    }
}

#[test]
fn a_metric_says_what_it_can_be() {
    let with = |keys: &str| {
        SMALL.replace("about = \"the time\"", &format!("{keys}\nabout = \"the time\""))
    };
    let metric = SMALL[..SMALL.find("[[metric]]").unwrap()].matches('\n').count() + 1;
    assert_eq!(told(&with("min = 2\nmax = 100")), []);
    for (keys, message) in [
        ("min = 2\nmax = 1", "`min` is 2, which is above `max`, 1"),
        ("min = nan", "`min` and `max` are numbers, and nan is none"),
    ] {
        assert_eq!(told(&with(keys)), [(metric, 1, message.to_owned())]);
    }
    let failures = |keys: &str| ClosedForm::read(&with(keys)).unwrap().failures();
    assert!(failures("min = 10").is_empty());
    assert_eq!(
        failures("max = 9"),
        ["with the defaults: metric seconds: 10 is outside 9 and below"]
    );
}

#[test]
fn what_would_be_endless_is_refused() {
    let circle = SMALL.replace("n = \"bytes\"", "n = \"m\"\nm = \"n\"");
    assert!(told(&circle).iter().any(|(_, _, m)| m == "`n` depends on itself"));
    let long = SMALL.replace(
        "over = [100, 5000]",
        "over = \"range(1, 4000)\"\nand = \"b\"\nin = \"range(1, 4000)\"",
    );
    let error = run(&long, &[]).unwrap_err().to_string();
    assert!(error.contains("too much work"), "{error}");
    let large = format!("{SMALL}# {}", "x".repeat(MAX_BYTES));
    assert!(told(&large)[0].2.contains("at most"));
    let many = "[[check]]\nholds = \"true\"\nmessage = \"\"\n".repeat(65);
    assert!(told(&format!("{SMALL}{many}")).iter().any(|(_, _, m)| m.contains("at most 64")));
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let text = SMALL.replace("title = \"Transfer\"", "title = \"\\u001b[31m\"");
    assert_eq!(told(&text), [(2, 9, "`title` has a control character".to_owned())]);
    let text = SMALL.replace("about = \"what is sent\"", "about = \"\\u202e\"");
    assert!(told(&text).iter().any(|(_, _, m)| m.contains("control character")));
}

/// Files broken at random are read or refused with places inside them, and what reads runs or fails in order.
#[test]
fn random_mutations_never_panic() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    let seeds = [
        SMALL,
        include_str!("../../labs/scaling.toml"),
        include_str!("../../labs/gpu-peak.toml"),
        include_str!("../../labs/distill-loss.toml"),
    ];
    let pieces = "\"|'|{|}|[[panel]]\n|if(|)|range(0, 1e9)|-1|run.|given.|0|= \"|9e999|own|/0|%0|^999|\
                  table(\"gpu\", gpu, \"sms\")|\u{1b}|é";
    let pieces: Vec<&str> = pieces.split('|').collect();
    for round in 0..400 {
        let mut text = seeds[round % seeds.len()].to_owned();
        for _ in 0..=random(4) {
            let mut at = random(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let mut end = (at + random(12)).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            text.replace_range(at..end, pieces[random(pieces.len())]);
        }
        match ClosedForm::read(&text) {
            Ok(lab) => drop(lab.failures()),
            Err(problems) => {
                assert!(!problems.is_empty());
                for problem in problems {
                    assert!(text.get(problem.place.clone()).is_some(), "{problem:?} in {text}");
                    assert!(!problem.message.chars().any(char::is_control), "{problem:?}");
                }
            }
        }
    }
}
