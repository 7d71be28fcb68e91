use super::*;

fn plain(markdown: &str, width: usize) -> Vec<String> {
    let signs = Signs { bullet: "-", quote: "|", rule: "-" };
    render(markdown, width, Styles::default(), signs, None)
        .iter()
        .map(|line| line.to_string().trim_end().to_owned())
        .collect()
}

#[test]
fn blocks_become_lines() {
    let text = plain("# Title\n\nSome *soft* text\nover lines.\n\n- one\n", 40);
    assert_eq!(text, ["Title", "", "Some soft text over lines.", "", "- one"]);
    let lists = plain("- one\n- two\n  1. deep\n\n> said\n", 40);
    assert_eq!(lists, ["- one", "- two", "  1. deep", "", "| said"]);
    assert_eq!(plain("| a | bb |\n|---|---:|\n| 1 | 2 |\n", 40), ["a  bb", "-----", "1   2"]);
    assert_eq!(plain("```\nlet x = 1;\n```\n", 40), ["  let x = 1;"]);
    assert_eq!(plain("see [docs](there)", 40), ["see docs (there)"]);
    let links = "| [a](to) | [b](b) |\n|---|:-:|\n| 1 | `2` |\n\nthen";
    let lines = ["a (to)  b", "---------", "1       2", "", "then"];
    assert_eq!(plain(links, 40), lines);
}

#[test]
fn code_and_tables_wrap() {
    let code = plain("```\nfloat x = a[i] + b[i];\n```\n", 16);
    assert_eq!(code, ["  float x = a[i]", "      + b[i];"]);
    let table = plain("| method | what it moves |\n|---|---|\n| ring | all of it twice |\n", 18);
    assert_eq!(
        table,
        [
            "method  what it",
            "        moves",
            "------------------",
            "ring    all of it",
            "        twice"
        ]
    );
}

#[test]
fn first_use_of_a_term_is_marked() {
    let finder = |text: &str| {
        let find = |(term, name): (usize, &&str)| {
            text.match_indices(*name).map(|(at, _)| (at..at + name.len(), term)).collect::<Vec<_>>()
        };
        let mut found: Vec<_> =
            ["loss", "batch sizes", "gradient"].iter().enumerate().flat_map(find).collect();
        found.sort_by_key(|(range, _)| range.start);
        found
    };
    let signs = Signs { bullet: "-", quote: "|", rule: "-" };
    let markdown = "# A gradient\n\nThe loss, `loss` and\nloss, and **batch\nsizes**.\n\n- a loss\n\n```\nloss\n```";
    let lines = render(markdown, 60, Styles::default(), signs, Some(&finder));
    let spans = lines.iter().skip(1).flat_map(|line| &line.spans);
    let marked: Vec<&str> = spans
        .filter(|span| span.style.add_modifier.contains(Modifier::UNDERLINED))
        .map(|span| span.content.as_ref())
        .collect();
    assert_eq!(marked, ["loss", "batch sizes", "loss"]);
}

#[test]
fn any_text_renders_at_any_width() {
    let nasty = "# a\n* b\n  * c\n```\nx\n| y | z |\n<b>\n[l](m)\n> - q\n***";
    for width in 0..60 {
        assert!(!plain(nasty, width).is_empty());
    }
}
