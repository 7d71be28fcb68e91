//! The learner's own themes: whether they can be used, and whether every role can be seen.

use std::path::Path;

use serde_json::{Value as Json, json};

use mlsys_run::console::harmless;
use mlsys_view::theme::{choice, contrast};

/// A theme of the learner's own, and what is to be said about it.
pub struct Own {
    name: String,
    trouble: Vec<String>,
}

/// Reads the themes in a folder.
pub fn own(folder: Option<&Path>) -> Vec<Own> {
    let built_in = choice::names(None);
    let names = choice::names(folder).into_iter();
    names
        .filter(|name| !built_in.contains(name))
        .map(|name| {
            let trouble = match choice::find(&name, folder) {
                Ok(palette) => {
                    let faint = contrast::faint(&palette);
                    faint.iter().map(ToString::to_string).collect()
                }
                Err(error) => vec![error.to_string()],
            };
            Own { name, trouble }
        })
        .collect()
}

impl Own {
    /// As rows of a table.
    pub fn rows(&self) -> Vec<Vec<String>> {
        if self.trouble.is_empty() {
            return vec![vec![harmless(&self.name), "can be used and seen".to_owned()]];
        }
        let rows = self.trouble.iter();
        rows.map(|trouble| vec![harmless(&self.name), harmless(trouble)]).collect()
    }

    /// As JSON.
    pub fn json(&self) -> Json {
        json!({ "name": self.name, "trouble": self.trouble })
    }
}
