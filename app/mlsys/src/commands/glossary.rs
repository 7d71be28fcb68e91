//! `mlsys glossary`: the course's vocabulary.

use serde_json::{Value as Json, json};

use crate::cli::AskGlossary;
use mlsys_run::console::Console;
use mlsys_run::exit::{Exit, Failure};
use mlsys_run::glossary::{Glossary, Term};
use mlsys_view::table::wrapped;

/// Columns of a definition, easy to read and whole on a narrow screen.
const WIDTH: usize = 76;

/// Prints one term, or all.
pub fn run(asked: &AskGlossary, console: &mut Console) -> Result<Exit, Failure> {
    let glossary = Glossary::builtin();
    let shown = match &asked.term {
        None => (0..glossary.terms().len()).collect(),
        Some(name) => chosen(glossary, name)?,
    };
    let terms = shown.iter().filter_map(|&index| glossary.terms().get(index));
    if asked.listing.json {
        let terms: Vec<Json> = terms.map(object).collect();
        console.line(json!({ "terms": terms }))?;
        return Ok(Exit::Passed);
    }
    for (index, term) in terms.enumerate() {
        if index > 0 {
            console.line("")?;
        }
        for line in lines(term) {
            console.line(line)?;
        }
    }
    Ok(Exit::Passed)
}

/// The term of that name, else all in whose names it occurs.
fn chosen(glossary: &Glossary, name: &str) -> Result<Vec<usize>, Failure> {
    if let Some(index) = glossary.named(name) {
        return Ok(vec![index]);
    }
    let found = glossary.searched(name);
    if !found.is_empty() && !name.trim().is_empty() {
        return Ok(found);
    }
    let shown = name.escape_debug();
    Err(Failure::Usage(match glossary.nearest(name) {
        Some(near) => format!("the glossary has no term '{shown}'; did you mean '{near}'?"),
        None => format!("the glossary has no term '{shown}'; `mlsys glossary` prints them all"),
    }))
}

fn lines(term: &Term) -> Vec<String> {
    let mut head = term.name.clone();
    if !term.aliases.is_empty() {
        head.push_str(&format!("  (also: {})", term.aliases.join(", ")));
    }
    let mut lines = vec![head];
    lines.extend(wrapped(&term.about, WIDTH, "  "));
    let mut more = format!("lesson {}", term.lesson);
    if !term.see.is_empty() {
        more.push_str(&format!("; see {}", term.see.join(", ")));
    }
    if let Some(source) = &term.source {
        more.push_str(&format!("; {source}"));
    }
    lines.extend(wrapped(&more, WIDTH, "  "));
    lines
}

fn object(term: &Term) -> Json {
    json!({
        "name": term.name,
        "aliases": term.aliases,
        "about": term.about,
        "lesson": term.lesson,
        "see": term.see,
        "source": term.source,
    })
}
