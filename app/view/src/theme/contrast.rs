//! Whether a theme can be read: the contrast of each role with what is behind it.

use std::fmt;

use ratatui::style::Style;

use super::{ColorDepth, GRAPHICS, Palette, TEXT, Theme, rgb, to_rgb};

/// A role that stands out too little.
#[derive(Clone, Debug, PartialEq)]
pub struct Faint {
    /// The role.
    pub role: String,
    /// At how many colours.
    pub depth: ColorDepth,
    /// Its contrast with what is behind it.
    pub contrast: f64,
    /// The least it should have.
    pub least: f64,
}

impl fmt::Display for Faint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.least >= TEXT { "text" } else { "graphics" };
        write!(
            f,
            "`{}` has a contrast of {:.2}:1 with what is behind it at {}; {what} needs {}:1 to be seen by everybody",
            self.role,
            self.contrast,
            self.depth.name(),
            self.least
        )
    }
}

/// The roles of a theme that stand out too little, at every depth at which its own colours are shown.
pub fn faint(palette: &Palette) -> Vec<Faint> {
    let mut found: Vec<Faint> = Vec::new();
    for depth in [ColorDepth::TrueColor, ColorDepth::Ansi256] {
        for faint in faint_in(&Theme::with(palette, depth)) {
            // What is too faint in all colours is so in fewer.
            if !found.iter().any(|other| other.role == faint.role) {
                found.push(faint);
            }
        }
    }
    found
}

/// The roles that stand out too little as a terminal shows them.
pub fn faint_in(theme: &Theme) -> Vec<Faint> {
    let (_, behind) = theme.defaults();
    let text = [
        ("text", theme.text),
        ("dim", theme.dim),
        ("title", theme.title),
        ("accent", theme.accent),
        ("good", theme.good),
        ("bad", theme.bad),
        ("warn", theme.warn),
        ("key", theme.key),
        ("code", theme.code),
        ("focus", theme.focus),
        ("selected", theme.selection),
    ];
    let graphics = [("border", theme.border), ("previous", theme.previous)];
    let numbered = |name: &str, styles: &[Style]| -> Vec<(String, Style)> {
        let name = |index| format!("{name} {}", index + 1);
        let styles = styles.iter().enumerate();
        styles.map(|(index, style)| (name(index), *style)).collect()
    };
    let named = |(name, style): (&str, Style)| (name.to_owned(), style);
    // A curve's letter stands in its colour, and that is text.
    let text = text.into_iter().map(named).chain(numbered("curves", &theme.curves));
    let graphics =
        graphics.into_iter().map(named).chain(numbered("unsmoothed curves", &theme.faint));
    let least = text.map(|role| (role, TEXT)).chain(graphics.map(|role| (role, GRAPHICS)));
    least
        .filter_map(|((role, style), least)| {
            let behind = style.bg.map_or(behind, to_rgb);
            let contrast = rgb::contrast(to_rgb(style.fg?), behind);
            (contrast < least).then_some(Faint { role, depth: theme.depth, contrast, least })
        })
        .collect()
}
