//! Every mistake has its code, its line and its column.

use mlsys_lesson::read;

use crate::support::{RUN, cases, folder, found, registry, with_body};

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

/// Tries the cases of a file, each wrapped into a lesson.
fn holds(text: &str, wrap: impl Fn(&str) -> String) {
    for (expected, body) in cases(text) {
        let found = found(&wrap(body));
        let places = found.iter().map(|(code, line, column)| format!("{code} {line}:{column}"));
        let places = places.collect::<Vec<_>>().join(", ");
        let places = if places.is_empty() { "none" } else { &places };
        assert_eq!(places, expected, "{body}");
    }
}

#[test]
fn every_mistake_has_its_place() {
    holds(include_str!("../cases/front-matter.txt"), str::to_owned);
    holds(include_str!("../cases/fences.txt"), with_body);
    let lab = |body: &str| with_body(&format!("```{{lab}} run\n{body}\n```\n"));
    holds(include_str!("../cases/labs.txt"), lab);
    let question =
        |body: &str| with_body(&format!("```{{question}} q\nprompt = \"?\"\n{body}\n```\n"));
    holds(include_str!("../cases/questions.txt"), question);
    // The directive begins on line 10, after the lab.
    let after_lab = |body: &str| with_body(&format!("{RUN}```{body}\n```\n"));
    holds(include_str!("../cases/predictions-and-checks.txt"), after_lab);
}

#[test]
fn panels_wait_for_questions_predictions_and_tries() {
    let of = |until: &str| {
        found(&with_body(&format!(
            "```{{lab}} run\nkind = \"train\"\n[knob.learning_rate]\n[[panel]]\nname = \"loss-curve\"\nuntil = \"{until}\"\n```\n\
             ```{{predict}} guess\ntype = \"numeric\"\nprompt = \"?\"\nmetric = \"run.loss\"\n```\n\
             ```{{try}} turned\nlab = \"run\"\nset = {{ learning_rate = 1.0 }}\ntype = \"numeric\"\nprompt = \"?\"\nmetric = \"turned.loss\"\n```\n\
             ```{{question}} asked\ntype = \"numeric\"\nprompt = \"?\"\nanswer = 1\n```\n\
             ```{{check}} holds\nassert = \"run.steps_done > 0\"\n```\n"
        )))
    };
    for until in ["guess", "turned", "asked"] {
        assert_eq!(of(until), [], "{until}");
    }
    for until in ["run", "holds", "gess"] {
        assert_eq!(of(until), [("unknown-name", 12, 9)], "{until}");
    }
}

#[test]
fn a_broken_directive_still_defines_its_name() {
    let body = "```{lab} run\nkind = \n```\n```{check} c\nassert = \"run.loss < 1\"\n```\n";
    assert_eq!(found(&with_body(body)), [("toml", 8, 8)]);
}

#[test]
fn model_from_names_an_earlier_lab() {
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
    // A file is read by no lesson.
    for file in ["../w.safetensors", "w.bpk", "/tmp/model/", "//host/share/w"] {
        let lab = format!(
            "{RUN}```{{lab}} half\nkind = \"prune-model\"\nset = {{ model_from = \"{file}\" }}\n```\n"
        );
        let parsed = read("t.md", with_body(&lab).as_bytes(), &registry());
        let told = parsed.diagnostics[0].to_string();
        assert!(parsed.lesson.is_none() && told.contains("on the learner's machine"), "{told}");
    }
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
