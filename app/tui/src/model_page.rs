//! The page of a language model: what its config.json comes to, and the labs that open with it, their model set.

use std::fmt::Write as _;
use std::sync::Arc;

use mlsys_lab::Registry;
use mlsys_lab::params::{Given, Params, Settings};
use mlsys_lab::tables::Tables;
use mlsys_lab::value::toml_string;
use mlsys_lesson::Lesson;
use mlsys_run::model::{LabFit, ModelFile, Section, model_param};

use crate::own_page::{self, MODELS};

/// The page of a model that is in the tables of this process; none if its name cannot stand in a lesson.
pub fn lesson(file: &ModelFile, registry: &Registry) -> Option<Arc<Lesson>> {
    let fits = file.labs(Tables::builtin(), registry);
    let mut text = begin(&file.name);
    let _ = writeln!(text, "A model of the family {}.\n", file.about());
    text.extend(file.sections().iter().map(section));
    text += "## Labs with this model\n\n";
    text += "`n` goes to the next lab and `enter` to its knobs; `esc` leads back.\n\n";
    for fit in fits.iter().filter(|fit| fit.lacks.is_none()) {
        text += &lab(fit, &file.name, registry)?;
    }
    let lacking = fits.iter().filter_map(|fit| Some((fit, fit.lacks.as_ref()?)));
    let lacking: String =
        lacking.map(|(fit, lacks)| format!("- {}: {}\n", fit.title, one_line(lacks))).collect();
    if !lacking.is_empty() {
        let _ = write!(text, "## Labs that it does not fit\n\n{lacking}");
    }
    read(&file.name, &text, registry)
}

/// The page of a file that is no configuration, with all that is wrong with it.
pub fn refused(name: &str, problems: &[String], registry: &Registry) -> Option<Arc<Lesson>> {
    let mut text = begin(name);
    text += "No model can be read from this file:\n\n";
    text.extend(problems.iter().map(|problem| format!("- {}\n", escaped(&one_line(problem)))));
    text += "\nMend the file and open it again.\n";
    read(name, &text, registry)
}

fn read(name: &str, text: &str, registry: &Registry) -> Option<Arc<Lesson>> {
    let parsed = mlsys_lesson::read(&format!("model {name}"), text.as_bytes(), registry);
    parsed.lesson.map(Arc::new)
}

fn begin(name: &str) -> String {
    let title = toml_string(name);
    format!(
        "+++\nformat = 1\nid = \"{MODELS}/{}\"\ntitle = {title}\nminutes = 1\n+++\n# {}\n\n",
        slug(name),
        escaped(name)
    )
}

/// A name as a lesson's id has it.
fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let text: String = name.chars().map(plain).collect();
    let words: Vec<&str> = text.split('-').filter(|word| !word.is_empty()).collect();
    // The end of a path tells more than its beginning.
    let mut slug = String::new();
    for word in words.iter().rev() {
        if !slug.is_empty() && slug.len() + word.len() > 40 {
            break;
        }
        slug = if slug.is_empty() { (*word).to_owned() } else { format!("{word}-{slug}") };
    }
    let slug: String = slug.chars().take(50).collect();
    match slug.chars().next() {
        None => "model".to_owned(),
        Some(c) if c.is_ascii_digit() => format!("model-{slug}"),
        Some(_) => slug,
    }
}

/// Name, value and what fits next to them in a table; formulas below it.
fn section(section: &Section) -> String {
    let is_share = |note: &str| note.chars().count() <= 12;
    let shares = section.rows.iter().any(|row| !row.note.is_empty() && is_share(&row.note));
    let (head, rule) =
        if shares { ("| | | |", "|---|---:|---:|") } else { ("| | |", "|---|---:|") };
    let mut text = format!("## {}\n\n{head}\n{rule}\n", section.title);
    for row in &section.rows {
        let _ = write!(text, "| {} | {} |", row.name, row.value);
        text += &if shares && is_share(&row.note) {
            format!(" {} |\n", row.note)
        } else if shares {
            " |\n".to_owned()
        } else {
            "\n".to_owned()
        };
    }
    text.push('\n');
    for row in section.rows.iter().filter(|row| !is_share(&row.note)) {
        let _ = writeln!(text, "- {}: {}", row.name, escaped(&row.note));
    }
    text.push('\n');
    text
}

fn lab(fit: &LabFit, name: &str, registry: &Registry) -> Option<String> {
    let schema = registry.find(&fit.kind).ok()?.schema();
    let mut settings = Settings::new();
    settings.push(&model_param(schema)?.name, Given::Text(name.to_owned()));
    let params = Params::resolve(schema, &settings, Tables::builtin(), None).ok()?;
    let id = fit.kind.replace('-', "_");
    Some(format!("{}\n\n{}\n", schema.about, own_page::directive(&id, schema, &params)?))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text with the signs of Markdown escaped.
fn escaped(text: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
        if "\\`*_[]<>|#".contains(c) {
            plain.push('\\');
        }
        plain.push(c);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_ids() {
        for (name, slug) in [
            ("config.json", "config-json"),
            ("./Llama 3/config.json", "llama-3-config-json"),
            (
                "/a/very/long/path/to/some/folder/of/models/config.json",
                "path-to-some-folder-of-models-config-json",
            ),
            ("\u{fc}/..", "model"),
            ("./7b/c.json", "model-7b-c-json"),
        ] {
            assert_eq!(super::slug(name), slug);
        }
    }

    #[test]
    fn a_refused_file_says_all_that_is_wrong_with_it() {
        let problems =
            ["a.json: hidden_size is \"4\"\n at line 2".to_owned(), "a.json: *".to_owned()];
        let page = refused("a_b.json", &problems, mlsys_registry::built_in()).unwrap();
        assert!(
            page.source
                .text
                .contains("- a.json: hidden\\_size is \"4\" at line 2\n- a.json: \\*\n")
        );
        assert_eq!((page.labs().count(), own_page::is_model(&page)), (0, true));
    }
}
