//! What the terminal can show.

use std::env;
use std::io::{self, IsTerminal};

use serde_json::{Value as Json, json};

use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::theme::ColorDepth;

/// What was found out about the terminal.
pub struct Terminal {
    kind: Option<String>,
    size: Option<(u16, u16)>,
    colors: ColorDepth,
    glyphs: GlyphSet,
}

impl Terminal {
    /// Asks the environment, and the terminal for its size where there is one.
    pub fn detect() -> Self {
        let variable = |name: &str| env::var(name).ok();
        let size = io::stdout().is_terminal().then(crossterm::terminal::size);
        Self {
            kind: variable("TERM").filter(|term| !term.is_empty()),
            size: size.and_then(Result::ok),
            colors: ColorDepth::detect(&variable),
            glyphs: Glyphs::detect(&variable).set,
        }
    }

    /// As rows of a table.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let size = match self.size {
            Some((columns, rows)) => format!("{columns} columns, {rows} rows"),
            None => "standard output is not a terminal".to_owned(),
        };
        let kind = self.kind.clone().unwrap_or_else(|| "TERM is not set".to_owned());
        [
            ("type", kind),
            ("size", size),
            ("colours", self.colors.name().to_owned()),
            ("glyphs", self.glyph_name().to_owned()),
        ]
        .map(|(name, value)| vec![name.to_owned(), value])
        .to_vec()
    }

    /// As JSON.
    pub fn json(&self) -> Json {
        json!({
            "type": self.kind,
            "columns": self.size.map(|(columns, _)| columns),
            "rows": self.size.map(|(_, rows)| rows),
            "colours": self.colors.name(),
            "glyphs": self.glyph_name(),
        })
    }

    fn glyph_name(&self) -> &'static str {
        match self.glyphs {
            GlyphSet::Unicode => "Unicode",
            GlyphSet::Ascii => "ASCII",
        }
    }
}
