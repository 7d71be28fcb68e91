//! An answer that a picture writes, whatever kind of picture it is.

use std::collections::BTreeSet;

use mlsys_lab::frame::Frame;
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::schema::Schema;
use mlsys_lab::{LabError, Registry};
use mlsys_lesson::{parse, spoilers};
use mlsys_view::panel::texts;

use crate::support::with_body;

const SCHEMA: &str = r#"
kind = "planted"
title = "A picture"
module = "gpu"
about = "shows what it is given"
source = "test"
panel = [{ name = "picture", shows = "what it is given", label = "computed" }]
"#;

struct Planted {
    schema: Schema,
    frame: Frame,
}

impl Lab for Planted {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        run.frame("picture", self.frame.clone());
        Ok(())
    }
}

/// The messages to a lesson that shows a lab's panel and asks for this answer.
fn told(registry: &Registry, lab: &str, answer: &str) -> Vec<String> {
    let question = format!("```{{question}} q\n{answer}\nprompt = \"?\"\n```\n");
    let lab = format!("```{{lab}} a\n{lab}\n```\n");
    let read = parse("t.md", &with_body(&(lab + &question)));
    let told: Vec<_> = read.diagnostics.iter().map(ToString::to_string).collect();
    let lesson = read.lesson.unwrap_or_else(|| panic!("{told:?}"));
    spoilers(&lesson, registry, &texts).into_iter().map(|one| one.message).collect()
}

fn planted(frame: Frame, answer: &str) -> Vec<String> {
    let schema = Schema::parse(SCHEMA).unwrap();
    let registry = Registry::new(vec![Box::new(Planted { schema, frame })]);
    told(&registry, "kind = \"planted\"\n[[panel]]\nname = \"picture\"", answer)
}

/// Each kind of frame; a new one does not compile until it is here.
fn kind(frame: &Frame) -> &'static str {
    match frame {
        Frame::HeatMap(_) => "heat-map",
        Frame::Bars(_) => "bars",
        Frame::Stacks(_) => "stacks",
        Frame::Histogram(_) => "histogram",
        Frame::BoxPlot(_) => "box-plot",
        Frame::Scatter(_) => "scatter",
        Frame::Table(_) => "table",
        Frame::Cells(_) => "cells",
        Frame::Images(_) => "images",
        Frame::Graph(_) => "graph",
        Frame::Timeline(_) => "timeline",
        Frame::MessageTrace(_) => "exchange",
        Frame::FrameSequence(_) => "film",
        Frame::Kernel(_) => "kernel",
        Frame::Panes(_) => "panes",
        Frame::StyledText(_) => "passage",
        Frame::Text(_) => "text",
    }
}

/// Pictures that hold 31,187 somewhere.
const PICTURES: &str = r#"[
{"heat-map": {"columns": 2, "rows": 1, "cells": [0, 31187], "low": 0, "high": 31187, "x": [0, 2], "y": [0, 1],
  "column_labels": ["a", "b"], "row_labels": ["c"], "points": [], "legend": "bytes"}},
{"heat-map": {"columns": 2, "rows": 1, "cells": [0, 1], "low": 0, "high": 1, "x": [0, 2], "y": [0, 1],
  "column_labels": ["a", "31187"], "row_labels": ["c"], "points": [], "legend": "share"}},
{"bars": {"unit": "bytes", "scale": "linear", "bars": [{"label": "a", "value": 31187, "remark": ""}]}},
{"stacks": {"unit": "bytes", "parts": ["p", "q"], "note": "",
  "stacks": [{"label": "a", "values": [31000, 187], "remark": ""}]}},
{"histogram": {"quantity": "weight", "unit": "", "edges": [0, 1, 2], "scale": "linear",
  "first": {"name": "", "counts": [3, 1]}, "levels": [{"at": 1, "label": "31187"}], "marked": ""}},
{"box-plot": {"quantity": "31187 values", "unit": "", "scale": "linear", "groups": []}},
{"scatter": {"x": {"name": "size"}, "y": {"name": "loss"}, "points": [{"x": 1, "y": 2, "label": "31187"}]}},
{"table": {"columns": ["a"], "rows": [[1], [31187]]}},
{"cells": {"kinds": [{"name": "used", "tone": "first"}], "rows": [{"label": "a", "cells": [{"kind": 0}], "remark": "31187"}]}},
{"images": {"width": 1, "height": 1, "images": [{"pixels": [9], "label": "31187", "verdict": "unjudged"}]}},
{"graph": {"nodes": [{"label": "a", "operation": "31187 * x"}]}},
{"timeline": {"unit": "s", "lanes": ["a"], "classes": ["c"], "spans": [], "marks": [{"at": 3, "label": "31187"}]}},
{"exchange": {"what": "gradient", "ranks": 2, "note": "31187 bytes"}},
{"film": {"stills": [{"title": "a", "frame": {"text": "31187"}}], "cover": 0}},
{"panes": [{"title": "a", "frame": {"text": "31187"}}]},
{"passage": {"standings": [], "paragraphs": [{"label": "", "stretches": [{"standing": 0, "text": "31187"}]}]}},
{"text": "31187"}
]"#;

#[test]
fn an_answer_in_any_kind_of_picture_is_found() {
    let frames: Vec<Frame> = serde_json::from_str(PICTURES).unwrap();
    for frame in &frames {
        let found = planted(frame.clone(), "type = \"numeric\"\nanswer = 31187");
        let is_told = |one: &String| one.contains("panel picture of lab a gives the answer of `q`");
        assert!(found.len() == 1 && found.iter().all(is_told), "{frame:?} {found:?}");
        let other = planted(frame.clone(), "type = \"numeric\"\nanswer = 31287");
        assert_eq!(other, [""; 0], "{frame:?}");
    }
    // Pictures of a kernel come from a launch.
    let kinds: BTreeSet<_> = frames.iter().map(kind).chain(["kernel"]).collect();
    assert_eq!(kinds.len(), 17, "{kinds:?}");
}

#[test]
fn an_answer_in_a_picture_of_a_kernel_is_found() {
    let kernels = Registry::on_demand(mlsys_analytic::labs());
    for (set, panel, answer) in [
        ("example = \"transpose-tile\"", "source", "8016"),
        ("example = \"transpose-tile\"", "source", "1440"),
        ("example = \"transpose-tile\"", "memory", "128"),
        ("example = \"transpose-tile\"", "grid", "992"),
        ("example = \"vector-add-unguarded\", elements = 1237", "problems", "2164"),
        ("example = \"vector-add-unguarded\", elements = 1237", "problems", "1239"),
    ] {
        let panel = format!("kind = \"kernel\"\nset = {{ {set} }}\n[[panel]]\nname = \"{panel}\"");
        let found = |answer: &str| {
            told(&kernels, &panel, &format!("type = \"numeric\"\nanswer = {answer}"))
        };
        assert_eq!(found(answer).len(), 1, "{set} {panel} {answer}");
        assert_eq!(found("73331"), [""; 0], "{panel}");
    }
}

/// A list is told by one of its numbers, and by all of them next to each other.
#[test]
fn an_answer_that_is_a_list_is_found() {
    let row = r#"{"cells": {"kinds": [{"name": "x", "tone": "text"}],
        "rows": [{"label": "a", "cells": [{"kind": 0, "text": "4"}, {"kind": 0, "text": "15"}, {"kind": 0, "text": "2"}]}]}}"#;
    let table = r#"{"table": {"columns": ["a", "b"], "rows": [[4, 7], [15, 8], [2, 9]]}}"#;
    for frame in [row, table] {
        let found = |answer: &str| {
            let answer = format!("type = \"list\"\nanswer = {answer}");
            planted(serde_json::from_str(frame).unwrap(), &answer).len()
        };
        assert_eq!(found("[4, 15, 2]"), 1, "{frame}");
        assert_eq!(found("[15, 2, 4]"), 0, "{frame}");
        assert_eq!(found("[1234, 15]"), 0, "{frame}");
        // Numbers that count up stand along every axis.
        assert_eq!(found("[7, 8, 9]"), 0, "{frame}");
    }
    let one =
        planted(Frame::Text("There are 1234.".into()), "type = \"list\"\nanswer = [1234, 15]");
    assert_eq!(one.len(), 1, "{one:?}");
    for (above, answer, expected) in [
        ("The parts are 12, 15 and 2.", "[12, 15, 2]", 1),
        ("The parts are 12, 2 and 15.", "[12, 15, 2]", 0),
        ("The parts are 12, 15 and 2.", "[12, 15, 2]\nshown = \"the order is asked for\"", 0),
    ] {
        let question = format!(
            "\n```{{question}} q\ntype = \"list\"\nanswer = {answer}\nprompt = \"?\"\n```\n"
        );
        let lesson = parse("t.md", &with_body(&format!("{above}\n{question}"))).lesson.unwrap();
        assert_eq!(
            spoilers(&lesson, &Registry::new(Vec::new()), &texts).len(),
            expected,
            "{answer}"
        );
    }
}
