//! Checks and predictions against what runs have shown.

use mlsys_lab::Registry;
use mlsys_lab::report::{Report, RunData};
use mlsys_lab::schema::{Panel, Schema};
use mlsys_lesson::{
    DeviceFacts, LessonEnv, PanelTexts, distant_reveals, italic_products, numbered_starts, parse,
    presumptions, spoilers, telling_lengths, unseen_metrics,
};
use mlsys_view::panel::texts;

use crate::support::{cases, course, everything, json, lesson, registry, with_body};

fn run(accuracies: &[f64]) -> RunData {
    let mut data = RunData::default();
    for (step, &value) in (1..).zip(accuracies) {
        data.apply(Report::Point { name: "accuracy".into(), step, value });
    }
    data.apply(Report::Scalar { name: "parameters".into(), value: 1218_i64.into() });
    data
}

#[test]
fn checks_report_actual_and_expected_values() {
    let (registry, run) = (registry(), run(&[0.5, 0.61]));
    let schema = |kind: &str| registry.find(kind).unwrap().schema();
    let mut sizes = RunData::default();
    for (name, value) in [
        ("limiters", mlsys_lab::Value::Array(vec!["warps".into(), "blocks".into()])),
        ("sizes", mlsys_lab::Value::Array(vec![4_i64.into(), 8_i64.into()])),
    ] {
        sizes.apply(Report::Scalar { name: name.into(), value });
    }
    let device =
        DeviceFacts { name: "flex".into(), backend: "cpu".into(), ..DeviceFacts::default() };
    let env = LessonEnv::new()
        .with_run("run", schema("train"), &run)
        .with_run("chip", schema("occupancy"), &sizes)
        .without_run("big", "no CUDA device was found")
        .on(&device);
    for (expected, assert) in cases(include_str!("../cases/checks.txt")) {
        let (class, outcome) = expected.split_once(' ').unwrap();
        let lesson = lesson(&format!("{{check}} c\nassert = \"{assert}\"\nclass = \"{class}\""));
        let found = lesson.checks().next().unwrap().evaluate(&env);
        assert_eq!(format!("{found:?}"), outcome, "{assert}");
    }
}

#[test]
fn a_prediction_is_compared_with_theory_and_measurement() {
    let lesson = everything();
    let registry = registry();
    let statement = |accuracies: &[f64], given: &str| {
        let run = run(accuracies);
        let env = LessonEnv::new().with_run("run", registry.find("train").unwrap().schema(), &run);
        let predict = lesson.predictions().next().unwrap();
        predict.compare(&json(given), &env).map(|comparison| comparison.statement)
    };
    for (numbers, wanted) in cases(include_str!("../cases/predictions.txt")) {
        let (measured, given) = numbers.split_once(' ').unwrap();
        assert_eq!(statement(&[measured.parse().unwrap()], given).unwrap(), wanted);
    }
    assert!(statement(&[1.0], "\"much\"").unwrap_err().to_string().contains("write a number"));
    assert!(statement(&[], "1").unwrap_err().to_string().contains("did not report it"));
    let choice = lesson.predictions().nth(1).unwrap();
    let said = |given: &str| choice.compare(&json(given), &LessonEnv::new()).map(|c| c.statement);
    assert_eq!(said("\"Warps\"").unwrap(), "Right: \"warps\".");
    assert!(said("\"registers\"").unwrap().ends_with("; the answer is \"warps\"."));
    assert!(said("\"blocks\"").unwrap_err().to_string().contains("registers, warps"));
}

#[test]
fn a_baseline_has_no_more_digits_than_the_measurement_next_to_it() {
    let (registry, run) = (registry(), run(&[0.763_431]));
    let env = LessonEnv::new().with_run("run", registry.find("train").unwrap().schema(), &run);
    let lesson = lesson(
        "{predict} p\ntype = \"numeric\"\nprompt = \"?\"\nmetric = \"run.accuracy\"\n\
         theory = \"100*run.accuracy\"\ntheory_label = \"baseline\"",
    );
    let compared = lesson.predictions().next().unwrap().compare(&json("1"), &env).unwrap();
    assert_eq!(compared.theory.as_deref(), Some("76.3"));
}

#[test]
fn parts_of_a_check_have_values() {
    let (registry, run) = (registry(), run(&[0.5, 0.61]));
    let schema = registry.find("train").unwrap().schema();
    let env = LessonEnv::new()
        .with_run("run", schema, &run)
        .without_run("big", "no CUDA device was found");
    let parts = |assert: &str| -> Vec<String> {
        let lesson = lesson(&format!("{{check}} c\nassert = \"{assert}\""));
        let check = lesson.checks().next().unwrap().clone();
        let parts = check.assert.parts(&env).into_iter();
        parts.map(|part| format!("{}: {}", part.source, part.value)).collect()
    };
    assert_eq!(
        parts("run.accuracy > 0.6 and 2*run.parameters == run.parameters"),
        [
            "run.accuracy > 0.6: true",
            "run.accuracy: 0.61",
            "2*run.parameters == run.parameters: false",
            "2*run.parameters: 2436",
            "run.parameters: 1218",
        ]
    );
    assert_eq!(
        parts("close(run.accuracy, big.accuracy, 0.1)"),
        [
            "close(run.accuracy, big.accuracy, 0.1): no value yet: no CUDA device was found",
            "run.accuracy: 0.61",
            "big.accuracy: no value yet: no CUDA device was found",
        ]
    );
}

#[test]
fn an_answer_that_stands_above_its_question_is_an_error_where_it_stands() {
    let registry = registry();
    let question = |keys: &str| {
        format!(
            "\n```{{question}} q\ntype = \"numeric\"\nprompt = \"How many of 2048?\"\n{keys}\n```\n"
        )
    };
    let knob = "```{lab} a\nkind = \"train\"\nset = { steps = 1218 }\n[knob.width]\nvalues = [16, 450]\n```\n";
    for (above, keys, expected) in [
        ("There are 1,218 weights.", "answer = 1218", vec![(7, 11)]),
        ("There are\n*1218* weights, 1218 in all.", "answer = 1218", vec![(8, 2)]),
        ("They take 1.22e3 bytes.", "answer = 1218", vec![(7, 11)]),
        ("They take 4.87 kB.", "answer = 4872\nunit = \"bytes\"", vec![(7, 11)]),
        ("They take 4.87 kB.", "answer = 4.872\nunit = \"KB\"", vec![(7, 11)]),
        ("A third is 0.333.", "answer = \"1/3\"", vec![(7, 12)]),
        ("A third is 0.333.", "answer = \"1/3\"\nshown = \"why not\"", vec![]),
        // Short numbers are everywhere; with their unit they tell.
        ("There are 64 here.", "answer = 64", vec![]),
        ("There are 64 here.", "answer = 64\nunit = \"warps\"", vec![]),
        ("There are 64 warps.", "answer = 64\nunit = \"warps\"", vec![(7, 11)]),
        ("A rate of 450 GB/s.", "answer = 450\nunit = \"GB/s\"", vec![(7, 11)]),
        // What the question gives is no secret, and a name is no number.
        ("Out of 2048.", "answer = 2048", vec![]),
        ("An RTX1218.", "answer = 1218", vec![]),
        (knob, "answer = 1218", vec![(9, 17)]),
        (
            "```{question} p\ntype = \"text\"\nprompt = \"Of 1218?\"\nanswer = \"a\"\n```\n",
            "answer = 1218",
            vec![(9, 14)],
        ),
        // Everything that a directive above it shows: what is said to what came out, options, checks, titles.
        (
            "```{predict} p\ntype = \"numeric\"\nprompt = \"?\"\nanswer = 2\n[[outcome]]\nwhen = \"1 < 2\"\nsay = \"So 1218.\"\n```\n",
            "answer = 1218",
            vec![(13, 11)],
        ),
        (
            "```{question} p\ntype = \"choice\"\nprompt = \"?\"\nanswer = \"1218\"\nwrong = [{ value = \"1\", say = \"n\" }]\n```\n",
            "answer = 1218",
            vec![(10, 11)],
        ),
        ("```{check} c\nassert = \"1218 > 2\"\n```\n", "answer = 1218", vec![(8, 11)]),
        (
            "```{lab} a\nkind = \"train\"\ntitle = \"All 1218\"\n```\n",
            "answer = 1218",
            vec![(9, 14)],
        ),
    ] {
        let text = with_body(&format!("{above}\n{}", question(keys)));
        let lesson = parse("t.md", &text).lesson.unwrap();
        let found: Vec<_> =
            spoilers(&lesson, &registry, &texts).iter().map(|one| (one.line, one.column)).collect();
        assert_eq!(found, expected, "{above} {keys}");
    }
    let below = with_body(&format!("Look.\n{}There are 1218.\n", question("answer = 1218")));
    assert_eq!(spoilers(&parse("t.md", &below).lesson.unwrap(), &registry, &texts), []);
}

/// The lab computes 312 TFLOP/s, in its table, as its metric and as its headline.
#[test]
fn an_answer_in_a_panel_a_metric_or_the_headline_is_an_error_unless_it_waits() {
    let registry = Registry::on_demand(mlsys_analytic::labs());
    let found = |lab: &str, asked: &str| -> Vec<String> {
        let question = |id: &str| {
            format!(
                "```{{question}} {id}\ntype = \"numeric\"\nprompt = \"?\"\nanswer = \"311.87e12\"\nunit = \"FLOP/s\"\n```\n"
            )
        };
        let set = "set = { gpu = \"a100-sxm4-40gb\", precision = \"fp16-tensor\" }";
        let lab = format!("```{{lab}} a\nkind = \"gpu-peak\"\n{set}\n{lab}```\n");
        let asked: String = asked.split(' ').map(question).collect();
        let lesson = parse("t.md", &with_body(&(lab + &asked))).lesson.unwrap();
        let told = spoilers(&lesson, &registry, &texts);
        told.iter().map(|one| format!("{} {}", one.line, one.message)).collect()
    };
    let waiting = "[[panel]]\nname = \"steps\"\nuntil = \"q\"\n";
    // All panels are shown where none is named.
    assert_eq!(found("", "q").len(), 1, "{:?}", found("", "q"));
    assert_eq!(found(&waiting.replace("until = \"q\"\n", ""), "q").len(), 1);
    // Held back until q is answered, the panel tells what stands below q and nothing above.
    assert_eq!(found(waiting, "q"), [""; 0]);
    assert_eq!(found(&waiting.replace('q', "r"), "q r"), [""; 0]);
    let told = found(waiting, "q r");
    assert!(
        matches!(told.as_slice(), [one] if one.contains("panel steps of lab a gives the answer of `r`")),
        "{told:?}"
    );
    let told = found(&format!("metrics = [\"flops_per_second\"]\n{waiting}"), "q");
    assert!(
        matches!(told.as_slice(), [one] if one.contains("the metric `flops_per_second`")),
        "{told:?}"
    );
}

#[test]
fn an_explanation_that_states_what_a_machine_will_show_is_warned_of() {
    let registry = registry();
    let found = |metric: &str, explain: &str| -> Vec<(usize, usize)> {
        let text = with_body(&format!(
            "```{{lab}} t\nkind = \"train\"\n```\n\n```{{predict}} p\ntype = \"numeric\"\nprompt = \"Of 1218?\"\nmetric = \"t.{metric}\"\nexplain = \"{explain}\"\n```\n"
        ));
        let told = presumptions(&parse("t.md", &text).lesson.unwrap(), &registry);
        told.iter().map(|one| (one.line, one.column)).collect()
    };
    assert_eq!(found("seconds_per_step", "It takes 4.37 seconds."), [(15, 21)]);
    assert_eq!(found("seconds_per_step", "2 of the 1218 in 50 %."), []);
    assert_eq!(found("parameters", "It has 4370 of them, 437 here."), []);
    let outcome = |say: &str| {
        let when = "[[outcome]]\nwhen = \"t.seconds_per_step < 0.125\"";
        found("seconds_per_step", &format!("x\"\n{when}\nsay = \"{say}"))
    };
    assert_eq!(outcome("It takes 4.37 seconds."), [(18, 17)]);
    assert_eq!(outcome("Below 0.125 s it is fast."), []);
}

#[test]
fn a_product_that_markdown_draws_as_italics_is_warned_of() {
    let found = |say: &str| -> Vec<(usize, usize)> {
        let text = with_body(&format!(
            "Two *words*, 2 * 3 * 4, and `2*3*4`.\n\n```{{question}} q\ntype = \"numeric\"\nprompt = \"?\"\nanswer = 1\n[[wrong]]\nvalue = 2\nsay = \"{say}\"\n```\n"
        ));
        let told = italic_products(&parse("t.md", &text).lesson.unwrap());
        told.iter().map(|one| (one.line, one.column)).collect()
    };
    assert_eq!(found("It has 64*64*9 weights."), [(15, 15)]);
    assert_eq!(found("The rule of y = x*z in *x*, `2*3*4`."), []);
    assert_eq!(found("**Two** *of* 2 * 3 * 4."), []);
}

#[test]
fn a_text_that_is_drawn_as_an_item_is_warned_of() {
    let found = |explain: &str, why: &str| -> Vec<(usize, usize)> {
        let text = with_body(&format!(
            "1. One\n\n```{{question}} q\ntype = \"numeric\"\nprompt = \"Of 3.\"\nanswer = 1\nexplain = {explain}\n```\n\n```{{check}} c\nassert = \"1 < 2\"\nwhy = \"{why}\"\n```\n"
        ));
        let told = numbered_starts(&parse("t.md", &text).lesson.unwrap());
        told.iter().map(|one| (one.line, one.column)).collect()
    };
    assert_eq!(found("\"153. It is the ridge.\"", "7) x"), [(13, 12), (18, 8)]);
    assert_eq!(found("\"\"\"\n153. It is the ridge.\"\"\"", "x"), [(14, 1)]);
    assert_eq!(found("\"1. Read.\\n2. Write.\"", "**7**. x"), []);
    assert_eq!(found("\"1.5 of 3.\"", "2 .. 3"), []);
}

#[test]
fn a_metric_that_is_nowhere_on_the_screen_is_warned_of() {
    let registry = Registry::on_demand(mlsys_analytic::labs());
    let found = |keys: &str, said: &str| -> Vec<String> {
        let lab = format!("```{{lab}} a\nkind = \"occupancy\"\n{keys}```\n");
        let text = with_body(&format!("First `occupancy`.\n\n{lab}\n{said}\n"));
        let told = unseen_metrics(&parse("t.md", &text).lesson.unwrap(), &registry, &drawn);
        told.iter().map(|one| format!("{}:{} {}", one.line, one.column, one.message)).collect()
    };
    fn drawn(_: &Schema, panel: &Panel, _: &RunData) -> PanelTexts {
        PanelTexts { texts: vec![format!("{} of limited by", panel.name)], rows: Vec::new() }
    }
    let one = "[[panel]]\nname = \"slots\"\n";
    let expected = "no panel that the lesson shows of lab `a` has the metric `warps_per_sm`";
    assert_eq!(found(one, "Look at `warps_per_sm`, `limited_by`."), [format!("15:10 {expected}")]);
    assert_eq!(
        found(&format!("metrics = [\"warps_per_sm\"]\n{one}"), "Look at `warps_per_sm`."),
        [""; 0]
    );
    assert_eq!(found(one, "```\n`warps_per_sm`\n```"), [""; 0]);
}

#[test]
fn a_prediction_far_above_its_lab_is_warned_of() {
    let found = |keys: &str, between: &str| -> Vec<String> {
        let text = with_body(&format!(
            "```{{predict}} p\ntype = \"choice\"\nprompt = \"?\"\nchoices = [\"x\", \"y\"]\nanswer = \"x\"\n{keys}```\n\n{between}\n\n```{{lab}} a\nkind = \"occupancy\"\n```\n"
        ));
        let told = distant_reveals(&parse("t.md", &text).lesson.unwrap());
        told.iter().map(|one| one.message.clone()).collect()
    };
    let far = "## One\n\nText.\n\n### Two";
    assert_eq!(found("", far), ["`p` is revealed by the next lab, `a`, which is 2 headings below"]);
    assert_eq!(found("lab = \"a\"\n", far), [""; 0]);
    assert_eq!(found("", "## One\n\n    # two\n\n#three"), [""; 0]);
}

#[test]
fn a_course_whose_right_options_are_the_longest_is_told() {
    let lesson = |longest: usize| {
        let question = |at: usize| {
            let answer = if at < longest { "a longer one" } else { "short" };
            format!(
                "```{{question}} q{at}\ntype = \"choice\"\nprompt = \"?\"\nanswer = \"{answer}\"\nwrong = [{{ value = \"also short\", say = \"n\" }}]\n```\n"
            )
        };
        let text = with_body(&(0..6).map(question).collect::<String>());
        parse("t.md", &text).lesson.unwrap()
    };
    assert_eq!([0, 2, 3].map(|longest| telling_lengths([&lesson(longest)]).len()), [0, 0, 3]);
}

#[test]
fn the_built_in_course_gives_no_answer_away() {
    let registry = Registry::on_demand(mlsys_analytic::labs());
    let lessons = course();
    let found: Vec<String> = lessons
        .iter()
        .flat_map(|lesson| spoilers(lesson, &registry, &texts))
        .chain(telling_lengths(&lessons))
        .chain(lessons.iter().flat_map(|lesson| presumptions(lesson, &registry)))
        .chain(lessons.iter().flat_map(italic_products))
        .chain(lessons.iter().flat_map(distant_reveals))
        .chain(lessons.iter().flat_map(numbered_starts))
        .chain(lessons.iter().flat_map(|lesson| unseen_metrics(lesson, &registry, &texts)))
        .map(|problem| problem.to_string())
        .collect();
    assert!(found.is_empty(), "{}\n{} in all", found.join("\n\n"), found.len());
}
