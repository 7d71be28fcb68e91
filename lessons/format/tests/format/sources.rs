//! Labs that start from what an earlier one has left.

use crate::support::{RUN, found, registry, with_body};
use mlsys_lesson::read;

#[test]
fn a_lab_starts_from_one_before_it_that_leaves_what_it_needs() {
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
