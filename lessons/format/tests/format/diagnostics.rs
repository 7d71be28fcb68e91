//! Every mistake has its code, its line and its column.

mod labs;
mod questions;

use crate::support::{folder, found, registry, with_body};
use mlsys_lesson::read;

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
fn ten_errors_are_told_at_once_as_a_compiler_tells_them() {
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
