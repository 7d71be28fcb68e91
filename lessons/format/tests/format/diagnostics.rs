//! Every mistake has its code, its line and its column.

use mlsys_lesson::read;

use crate::support::{RUN, folder, found, registry, with_body};

#[test]
fn every_valid_sample_is_valid() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder("valid")).unwrap() {
        let path = entry.unwrap().path();
        let parsed = read(&path.to_string_lossy(), &std::fs::read(&path).unwrap(), &registry());
        let told: Vec<_> = parsed.diagnostics.iter().map(ToString::to_string).collect();
        assert!(parsed.lesson.is_some() && told.is_empty(), "{}", told.join("\n"));
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn ten_errors_are_printed_at_once() {
    let text = std::fs::read(folder("invalid").join("ten-errors.md")).unwrap();
    let parsed = read("ten-errors.md", &text, &registry());
    assert!(parsed.lesson.is_none());
    let told: Vec<_> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    let expected = std::fs::read_to_string(folder("invalid").join("ten-errors.txt")).unwrap();
    assert_eq!(told.join("\n\n") + "\n", expected);
    let codes: std::collections::BTreeSet<_> = parsed.diagnostics.iter().map(|d| d.code).collect();
    assert!(codes.len() >= 10, "{codes:?}");
}

#[test]
fn front_matter() {
    for (text, expected) in [
        ("", vec![("front-matter", 1, 1)]),
        ("# Title\n", vec![("front-matter", 1, 1)]),
        ("\n\n# Title\n", vec![("front-matter", 3, 1)]),
        ("+++\nformat = 1\n", vec![("front-matter", 1, 1)]),
        (
            "+++\n+++\n",
            vec![
                ("missing-key", 1, 1),
                ("missing-key", 1, 1),
                ("missing-key", 1, 1),
                ("missing-key", 1, 1),
            ],
        ),
        (
            "+++\nformat = 2\nid = \"a/b\"\ntitle = \"t\"\nminutes = 0\n+++\n",
            vec![("unknown-format", 2, 10), ("bad-value", 5, 11)],
        ),
        (
            "+++\nformat = 1\nid = \"b\"\ntitle = \"\"\nminutes = 1\nrequires = [\"a/b\", \"C\", 3]\n+++\n",
            vec![("bad-id", 3, 6), ("bad-value", 4, 9), ("wrong-type", 6, 25)],
        ),
        (
            "+++\nformat = 1\nid = \"a/b\"\nid = \"a/c\"\ntitle = t\nminutes = 1\n+++\n",
            vec![("toml", 4, 1), ("toml", 5, 9)],
        ),
    ] {
        assert_eq!(found(text), expected, "{text}");
    }
}

#[test]
fn fences_and_ids() {
    for (body, expected) in [
        ("```{notes}\n```\n", vec![]),
        ("```{lab}\nkind = \"train\"\n```\n", vec![("bad-id", 7, 1)]),
        ("```{lab} Run\nkind = \"train\"\n```\n", vec![("bad-id", 7, 10)]),
        ("```{lab} device\nkind = \"train\"\n```\n", vec![("bad-id", 7, 10)]),
        ("```{lab run\nkind = \"train\"\n```\n", vec![("unknown-directive", 7, 5)]),
        ("```{figure} f\n```\n", vec![("unknown-directive", 7, 5)]),
        ("```{lab} run\nkind = \"train\"\n", vec![("unclosed-fence", 7, 1)]),
        ("```python\nx\n```{notes}\n```\n", vec![("unclosed-fence", 7, 1)]),
        (
            "```{lab} a\nkind = \"train\"\n\n```{lab} b\nkind = \"trian\"\n```\n",
            vec![("unclosed-fence", 7, 1), ("unknown-kind", 11, 8)],
        ),
        (
            "```{lab} a\nkind = \"train\"\n```\n~~~{lab} a\nkind = \"train\"\n~~~\n",
            vec![("duplicate-id", 10, 10)],
        ),
        ("    ```{lab} a\n    kind = 1\n", vec![("unknown-directive", 7, 5)]),
    ] {
        assert_eq!(found(&with_body(body)), expected, "{body}");
    }
}

#[test]
fn names_of_a_directive_that_does_not_read_are_not_unknown() {
    let body = "```{lab} run\nkind = \n```\n```{check} c\nassert = \"run.loss < 1\"\n```\n";
    assert_eq!(found(&with_body(body)), [("toml", 8, 8)]);
}

#[test]
fn labs() {
    let lab = |body: &str| with_body(&format!("```{{lab}} run\n{body}\n```\n"));
    for (body, expected) in [
        ("kind = \"occupancy\"", vec![]),
        ("title = \"x\"", vec![("missing-key", 7, 1)]),
        ("kind = 3", vec![("wrong-type", 8, 8)]),
        ("kind = \"occupncy\"", vec![("unknown-kind", 8, 8)]),
        ("kind = \"train\"\nset = { widht = 3 }", vec![("unknown-param", 9, 9)]),
        ("kind = \"train\"\nset = { width = 0 }", vec![("bad-param", 9, 17)]),
        ("kind = \"train\"\nset = { dataset = \"spirl\" }", vec![("bad-param", 9, 19)]),
        ("kind = \"train\"\nset = { data_dir = \"/etc\" }", vec![("bad-param", 9, 9)]),
        ("kind = \"train\"\nset = { width = 1979-05-27 }", vec![("bad-value", 9, 17)]),
        ("kind = \"train\"\nset = { learning_rate = inf }", vec![("bad-value", 9, 25)]),
        ("kind = \"train\"\nknobs = [\"width\"]", vec![("unknown-key", 9, 1)]),
        ("kind = \"train\"\n[knob.widht]", vec![("unknown-param", 9, 7)]),
        ("kind = \"train\"\n[knob.data_dir]", vec![("bad-knob", 9, 7)]),
        ("kind = \"train\"\n[knob.learning_rate]\nmax = 1000", vec![("bad-knob", 9, 7)]),
        (
            "kind = \"train\"\n[knob.learning_rate]\nmin = 1\nmax = 0.1",
            vec![("contradiction", 10, 7), ("bad-knob", 9, 7)],
        ),
        ("kind = \"train\"\n[knob.learning_rate]\nmin = 0.1", vec![("bad-knob", 9, 7)]),
        ("kind = \"train\"\n[knob.learning_rate]\nmin = 0.1\ndefault = 0.2", vec![]),
        ("kind = \"train\"\n[knob.dataset]\nvalues = [\"moon\"]", vec![("bad-knob", 9, 7)]),
        ("kind = \"train\"\n[knob.dataset]\nmin = 1", vec![("bad-knob", 9, 7)]),
        ("kind = \"train\"\n[knob.width]\nvalues = []", vec![("bad-knob", 9, 7)]),
        ("kind = \"graph\"\n[knob.expression]", vec![]),
        ("kind = \"graph\"\n[knob.\"inputs.x\"]\nmin = 0\n[knob.inputs]", vec![]),
        ("kind = \"graph\"\n[knob.\"inputs.w\"]", vec![("bad-knob", 9, 7)]),
        ("kind = \"graph\"\n[knob.\"inputs.x\"]\ndefault = 1", vec![("bad-knob", 9, 7)]),
        ("kind = \"graph\"\n[knob.\"inputs.x\"]\nvalues = [0, 1]", vec![("bad-knob", 9, 7)]),
        ("kind = \"train\"\n[[panel]]\nname = \"loss\"", vec![("unknown-panel", 10, 8)]),
        ("kind = \"train\"\n[[panel]]\ntitle = \"x\"", vec![("missing-key", 9, 1)]),
        (
            "kind = \"train\"\n[[panel]]\nname = \"runs\"\ngoal = [{ name = \"gold\", ratio = 2, loss = 0.1 }]",
            vec![],
        ),
        (
            "kind = \"train\"\n[[panel]]\nname = \"runs\"\ngoal = [{ name = \"gold\", ratio = 0, loss = -1 }]",
            vec![("bad-value", 11, 34), ("bad-value", 11, 44)],
        ),
        (
            "kind = \"train\"\n[[panel]]\nname = \"runs\"\ngoal = [{ name = \"gold\", ratio = 2 }]",
            vec![("missing-key", 11, 9)],
        ),
        (
            "kind = \"train\"\n[[panel]]\nname = \"loss-curve\"\ngoal = [{ name = \"gold\", ratio = 2, loss = 0 }]",
            vec![("contradiction", 11, 18)],
        ),
        ("kind = \"train\"\ndevices = []", vec![("bad-value", 9, 1)]),
        (
            "kind = \"train\"\ndevices = [\"cuda\", \"gpu\", \"cuda\"]",
            vec![("bad-value", 9, 20), ("bad-value", 9, 27)],
        ),
    ] {
        let mut expected = expected;
        expected.sort_by_key(|&(_, line, column)| (line, column));
        assert_eq!(found(&lab(body)), expected, "{body}");
    }
}

#[test]
fn questions() {
    let question =
        |body: &str| with_body(&format!("```{{question}} q\nprompt = \"?\"\n{body}\n```\n"));
    for (body, expected) in [
        ("answer = 3", vec![("missing-key", 7, 1), ("unknown-key", 9, 1)]),
        ("type = \"numbr\"\nanswer = 3", vec![("bad-value", 9, 8)]),
        ("type = \"kernel\"\nanswer = 3", vec![("missing-key", 7, 1), ("wrong-type", 10, 10)]),
        ("type = \"numeric\"", vec![("missing-key", 7, 1)]),
        ("type = \"numeric\"\nanswer = \"2*(3\"", vec![("expression", 10, 13)]),
        ("type = \"numeric\"\nanswer = \"run.loss\"", vec![("unknown-name", 10, 11)]),
        ("type = \"numeric\"\nanswer = 3\npoints = -1", vec![("bad-value", 11, 10)]),
        ("type = \"numeric\"\nanswer = 3\ntolerance = 0.1", vec![("wrong-type", 11, 13)]),
        ("type = \"numeric\"\nanswer = 3\ntolerance = {}", vec![("bad-value", 11, 13)]),
        (
            "type = \"numeric\"\nanswer = 3\ntolerance = { rel = 1, abs = 2 }",
            vec![("contradiction", 11, 30)],
        ),
        ("type = \"numeric\"\nanswer = 3\ntolerance = { rel = -1 }", vec![("bad-value", 11, 21)]),
        ("type = \"numeric\"\nanswer = 3\n[[wrong]]\nvalue = 4", vec![("missing-key", 11, 1)]),
        ("type = \"choice\"\nanswer = \"a\"", vec![("missing-key", 7, 1), ("bad-value", 10, 10)]),
        (
            "type = \"choice\"\nanswer = \"a\"\nunit = \"s\"\n[[wrong]]\nvalue = \"a\"\nsay = \"b\"",
            vec![("unknown-key", 11, 1), ("bad-value", 13, 9), ("bad-value", 10, 10)],
        ),
        ("type = \"multiple\"\nanswer = []", vec![("bad-value", 7, 1), ("bad-value", 7, 1)]),
        ("type = \"match\"\n[[pair]]\nleft = \"a\"\nright = \"b\"", vec![("bad-value", 10, 3)]),
        ("type = \"order\"\nanswer = [\"a\", \"b\", \"a\"]", vec![("bad-value", 10, 21)]),
        (
            "type = \"order\"\nanswer = [\"a\", \"b\"]\n[[wrong]]\nvalue = [\"a\"]\nsay = \"x\"",
            vec![("bad-value", 12, 1)],
        ),
        ("type = \"list\"\nanswer = []", vec![("bad-value", 10, 1)]),
        ("type = \"text\"\nanswer = \"a\\u001b[31m\"", vec![("control-character", 10, 10)]),
        (
            "type = \"expression\"\nlab = \"graph\"\naccept = \"answer.valu > 1\"\nanswer = \"x\"",
            vec![("unknown-name", 11, 11)],
        ),
        (
            "type = \"expression\"\nlab = \"train\"\naccept = \"answer.loss > 1\"\nanswer = \"x\"",
            vec![("bad-value", 10, 7), ("unknown-param", 10, 7)],
        ),
    ] {
        let mut expected = expected;
        expected.sort_by_key(|&(_, line, column)| (line, column));
        assert_eq!(found(&question(body)), expected, "{body}");
    }
}

#[test]
fn predictions_and_checks() {
    // The directive begins on line 10, after the lab.
    for (body, expected) in [
        ("{predict} p\ntype = \"numeric\"\nprompt = \"?\"", vec![("missing-key", 10, 1)]),
        (
            "{predict} p\ntype = \"numeric\"\nprompt = \"?\"\nmetric = \"run.loss\"\nanswer = 1",
            vec![("contradiction", 14, 1)],
        ),
        (
            "{predict} p\ntype = \"number\"\nprompt = \"?\"\nmetric = \"run.loss\"",
            vec![("bad-value", 11, 8)],
        ),
        (
            "{predict} p\ntype = \"choice\"\nprompt = \"?\"\nanswer = \"c\"\nchoices = [\"a\", \"b\"]",
            vec![("bad-value", 13, 10)],
        ),
        (
            "{predict} p\ntype = \"numeric\"\nprompt = \"?\"\nmetric = \"run.loss\"\ntheory = \"run.lss\"",
            vec![("unknown-name", 14, 11)],
        ),
        ("{check} c\nclass = \"exact\"", vec![("missing-key", 10, 1)]),
        (
            "{check} c\nassert = \"run.parameters == 1\"\nclass = \"exakt\"",
            vec![("bad-value", 12, 9)],
        ),
        ("{check} c\nassert = \"run == 1\"", vec![("unknown-name", 11, 11)]),
        ("{check} c\nassert = \"rum.loss == 1\"", vec![("unknown-name", 11, 11)]),
        ("{check} c\nassert = \"run.loss + device.memory > 1\"", vec![("unknown-name", 11, 22)]),
        ("{check} c\nassert = \"mean(run.parameters) > 1\"", vec![("wrong-type", 11, 16)]),
        (
            "{check} c\nassert = \"run.seconds_per_step > 1\"\nclass = \"seeded\"",
            vec![("contradiction", 11, 11)],
        ),
        ("{check} c\nassert = \"run.gradient_norm.layer2 > 1\"\nclass = \"seeded\"", vec![]),
    ] {
        assert_eq!(found(&with_body(&format!("{RUN}```{body}\n```\n"))), expected, "{body}");
    }
}

#[test]
fn a_lab_starts_from_an_earlier_lab_with_the_right_artifact() {
    let of = |before: &str, name: &str, after: &str| {
        found(&with_body(&format!(
            "{before}```{{lab}} half\nkind = \"prune-model\"\nset = {{ model_from = \"{name}\" }}\n```\n{after}"
        )))
    };
    let occupancy = "```{lab} occ\nkind = \"occupancy\"\n```\n";
    assert_eq!(of(RUN, "run", ""), []);
    // No such lab, a later one, itself, and one that leaves nothing.
    assert_eq!(of(RUN, "base", ""), [("bad-param", 12, 22)]);
    assert_eq!(of("", "run", RUN), [("bad-param", 9, 22)]);
    assert_eq!(of(RUN, "half", ""), [("bad-param", 12, 22)]);
    assert_eq!(of(occupancy, "occ", ""), [("bad-param", 12, 22)]);
    // A recorded run is there for its owner alone, who is warned.
    assert_eq!(of(RUN, "2026-01-02T03-04-05.678Z-train-1", ""), [("bad-param", 12, 22)]);
    let text = with_body(&format!(
        "{RUN}```{{lab}} half\nkind = \"prune-model\"\n[knob.model_from]\ndefault = \"run\"\nvalues = [\"run\", \"rum\"]\n```\n"
    ));
    assert_eq!(found(&text), [("bad-param", 12, 7)]);
    let parsed = read("t.md", text.as_bytes(), &registry());
    let told = parsed.diagnostics[0].to_string();
    assert!(
        told.contains("there is no lab `rum` before this one")
            && told.contains("did you mean `run`?"),
        "{told}"
    );
}
