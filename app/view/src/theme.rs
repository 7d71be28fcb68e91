//! Every colour of the program, as a table of named roles for dark and light screens and four colour depths.
//!
//! Colour is never the only carrier of a meaning: what a role says is also said by a glyph, a letter or a word.

pub mod color;
pub mod file;
mod palette;
#[cfg(test)]
mod tests;

use ratatui::style::{Color, Modifier, Style};

use crate::glyphs::Glyphs;
pub use crate::theme::color::{Rgb, to_rgb};
pub use crate::theme::palette::Palette;

/// The least contrast of text with what is behind it (WCAG 2.1, success criterion 1.4.3).
pub const TEXT: f64 = 4.5;
/// The least contrast of what a picture needs to be understood (WCAG 2.1, success criterion 1.4.11).
pub const GRAPHICS: f64 = 3.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorDepth {
    TrueColor,
    /// The colour cube and grey ramp of xterm.
    Ansi256,
    /// The sixteen named colours, in the terminal's own shades.
    Ansi16,
    /// No colour: bold, dim, underlined and reversed text only.
    None,
}

impl ColorDepth {
    /// The depth that the environment promises; `NO_COLOR` wins over everything.
    pub fn detect(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let value = |name| variable(name).unwrap_or_default();
        let term = value("TERM");
        let color_term = value("COLORTERM").to_ascii_lowercase();
        if !value("NO_COLOR").is_empty() || term == "dumb" {
            Self::None
        } else if matches!(color_term.as_str(), "truecolor" | "24bit")
            || term.ends_with("-direct")
            || !value("WT_SESSION").is_empty()
        {
            Self::TrueColor
        } else if term.contains("256color") {
            Self::Ansi256
        } else {
            Self::Ansi16
        }
    }

    /// The name that `mlsys doctor` prints.
    pub fn name(self) -> &'static str {
        match self {
            Self::TrueColor => "24-bit colour",
            Self::Ansi256 => "256 colours",
            Self::Ansi16 => "16 colours",
            Self::None => "no colour",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    Dark,
    Light,
}

impl Background {
    /// On which side of a colour black and white stand out equally.
    pub fn from_color(color: Rgb) -> Self {
        let (black, white) = (Rgb(0, 0, 0), Rgb(255, 255, 255));
        match color::contrast(color, white) >= color::contrast(color, black) {
            true => Self::Dark,
            false => Self::Light,
        }
    }

    /// The background that terminals announce in `COLORFGBG` as `foreground;background`; dark where none does.
    pub fn detect(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let announced = variable("COLORFGBG");
        match announced.as_deref().and_then(|colors| colors.rsplit(';').next()) {
            Some("7" | "15") => Self::Light,
            Some(_) | None => Self::Dark,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Look {
    pub theme: Theme,
    pub glyphs: Glyphs,
}

#[derive(Clone, Debug)]
pub struct Theme {
    /// The depth these styles were made for.
    pub depth: ColorDepth,
    /// The whole screen, before anything is drawn on it.
    pub screen: Style,
    pub text: Style,
    /// Text of less weight: units, remarks, axes.
    pub dim: Style,
    pub title: Style,
    pub accent: Style,
    pub good: Style,
    pub bad: Style,
    pub warn: Style,
    pub key: Style,
    pub selection: Style,
    pub code: Style,
    pub border: Style,
    /// The border of the part that has the keyboard.
    pub focus: Style,
    pub previous: Style,
    /// Curves, by their place in the legend; taken in turn.
    pub curves: [Style; 6],
    /// The unsmoothed data behind a curve of the same place.
    pub faint: [Style; 6],
    palette: Palette,
}

impl Theme {
    /// The table for one background and depth.
    pub fn new(background: Background, depth: ColorDepth) -> Self {
        Self::from_palette(Palette::for_background(background, depth), depth)
    }

    /// The table for the colours of a theme; where there are sixteen, those of its background.
    pub fn with(palette: &Palette, depth: ColorDepth) -> Self {
        match depth {
            ColorDepth::Ansi16 => {
                Self::new(Background::from_color(to_rgb(palette.background[0])), depth)
            }
            ColorDepth::TrueColor | ColorDepth::Ansi256 | ColorDepth::None => {
                Self::from_palette(palette, depth)
            }
        }
    }

    fn from_palette(palette: &Palette, depth: ColorDepth) -> Self {
        let plain = Style::new();
        let colored = depth != ColorDepth::None;
        let fg =
            |[color]: [Color; 1]| if colored { plain.fg(color::fit(color, depth)) } else { plain };
        // Where there is no colour, weight takes its place.
        let or =
            |style: Style, modifier| if colored { style } else { style.add_modifier(modifier) };
        let faint = |color| or(fg([palette.faint(color, depth)]), Modifier::DIM);
        Self {
            depth,
            screen: match depth {
                ColorDepth::TrueColor | ColorDepth::Ansi256 => {
                    fg(palette.text).bg(color::fit(palette.background[0], depth))
                }
                ColorDepth::Ansi16 | ColorDepth::None => plain,
            },
            text: fg(palette.text),
            dim: or(fg(palette.dim), Modifier::DIM),
            title: fg(palette.title).add_modifier(Modifier::BOLD),
            accent: or(fg(palette.accent), Modifier::BOLD),
            good: fg(palette.good),
            bad: or(fg(palette.bad), Modifier::BOLD),
            warn: or(fg(palette.warn), Modifier::UNDERLINED),
            key: fg(palette.accent).add_modifier(Modifier::BOLD),
            selection: match colored {
                true => fg(palette.selected).bg(color::fit(palette.accent[0], depth)),
                false => plain.add_modifier(Modifier::REVERSED),
            },
            code: fg(palette.code),
            border: or(fg(palette.border), Modifier::DIM),
            focus: or(fg(palette.accent), Modifier::BOLD),
            previous: or(fg(palette.previous), Modifier::DIM),
            curves: palette.curves.map(|color| fg([color])),
            faint: palette.curves.map(faint),
            palette: *palette,
        }
    }

    pub fn curve(&self, place: usize) -> Style {
        self.curves[place % self.curves.len()]
    }

    /// The colour of a share of a diverging scale, from 0 to 1; absent where there is no colour.
    pub fn heat(&self, share: f32) -> Option<Color> {
        self.scale(&self.palette.heat, share)
    }

    /// The colour of a share of a scale that starts at nothing; absent where there is no colour.
    pub fn amount(&self, share: f32) -> Option<Color> {
        self.scale(&self.palette.amount, share)
    }

    /// The colour of a grey pixel, 0 black; absent where there is no colour.
    pub fn grey(&self, level: u8) -> Option<Color> {
        match self.depth {
            ColorDepth::TrueColor | ColorDepth::Ansi256 => {
                Some(color::fit(Color::Rgb(level, level, level), self.depth))
            }
            ColorDepth::Ansi16 => Some(match level {
                0..64 => Color::Black,
                64..144 => Color::DarkGray,
                144..216 => Color::Gray,
                216.. => Color::White,
            }),
            ColorDepth::None => None,
        }
    }

    pub fn on(&self, field: Option<Color>) -> Style {
        let Some(field) = field else { return self.text };
        let white = Rgb(255, 255, 255);
        let is_white = color::contrast(to_rgb(field), white) >= TEXT;
        let ink = if is_white { Color::Rgb(255, 255, 255) } else { Color::Rgb(0, 0, 0) };
        Style::new().fg(color::fit(ink, self.depth)).bg(field)
    }

    /// The colours that stand for "no colour set", foreground and background, where a picture must choose.
    pub fn defaults(&self) -> (Rgb, Rgb) {
        let ink = self.screen.fg.unwrap_or(self.palette.text[0]);
        (to_rgb(ink), to_rgb(self.screen.bg.unwrap_or(self.palette.background[0])))
    }

    fn scale(&self, stops: &[Color], share: f32) -> Option<Color> {
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 };
        match self.depth {
            ColorDepth::TrueColor | ColorDepth::Ansi256 => {
                Some(color::fit(color::between(stops, share), self.depth))
            }
            ColorDepth::Ansi16 => {
                let place = (share * stops.len() as f32) as usize;
                Some(stops[place.min(stops.len() - 1)])
            }
            ColorDepth::None => None,
        }
    }
}
