//! Mistakes in questions, predictions and checks.

use crate::support::{RUN, found, with_body};

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
