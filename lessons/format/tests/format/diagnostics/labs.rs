//! Mistakes in the directive of a lab: kinds, parameters, knobs, panels, devices.

use crate::support::{found, with_body};

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
