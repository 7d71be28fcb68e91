//! Arithmetic on colours: what a terminal colour looks like, the nearest one a terminal has, and contrast.

use std::fmt;

use ratatui::style::{Color, Style};

use crate::theme::{ColorDepth, GRAPHICS, Palette, TEXT, Theme};

/// Red, green and blue, 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// The sixteen named colours as xterm shows them, in the order of their numbers.
const NAMED: [Rgb; 16] = [
    Rgb(0, 0, 0),
    Rgb(205, 0, 0),
    Rgb(0, 205, 0),
    Rgb(205, 205, 0),
    Rgb(0, 0, 238),
    Rgb(205, 0, 205),
    Rgb(0, 205, 205),
    Rgb(229, 229, 229),
    Rgb(127, 127, 127),
    Rgb(255, 0, 0),
    Rgb(0, 255, 0),
    Rgb(255, 255, 0),
    Rgb(92, 92, 255),
    Rgb(255, 0, 255),
    Rgb(0, 255, 255),
    Rgb(255, 255, 255),
];

/// The six levels of each channel in the 256-colour cube.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// What a terminal colour looks like, in xterm's shades; the terminal's own default counts as black.
pub fn to_rgb(color: Color) -> Rgb {
    match color {
        Color::Rgb(r, g, b) => Rgb(r, g, b),
        Color::Indexed(i) => indexed(i),
        Color::Reset | Color::Black => NAMED[0],
        Color::Red => NAMED[1],
        Color::Green => NAMED[2],
        Color::Yellow => NAMED[3],
        Color::Blue => NAMED[4],
        Color::Magenta => NAMED[5],
        Color::Cyan => NAMED[6],
        Color::Gray => NAMED[7],
        Color::DarkGray => NAMED[8],
        Color::LightRed => NAMED[9],
        Color::LightGreen => NAMED[10],
        Color::LightYellow => NAMED[11],
        Color::LightBlue => NAMED[12],
        Color::LightMagenta => NAMED[13],
        Color::LightCyan => NAMED[14],
        Color::White => NAMED[15],
    }
}

fn indexed(i: u8) -> Rgb {
    match i {
        0..16 => NAMED[usize::from(i)],
        16..232 => {
            let i = usize::from(i - 16);
            Rgb(LEVELS[i / 36], LEVELS[i / 6 % 6], LEVELS[i % 6])
        }
        232.. => {
            let level = 8 + 10 * (i - 232);
            Rgb(level, level, level)
        }
    }
}

/// The colour as a terminal of this depth can show it.
pub(super) fn fit(color: Color, depth: ColorDepth) -> Color {
    match depth {
        ColorDepth::TrueColor => color,
        ColorDepth::Ansi256 => Color::Indexed(nearest(to_rgb(color), 16)),
        ColorDepth::Ansi16 if color == Color::Rgb(0, 0, 0) => Color::Black,
        ColorDepth::Ansi16 if color == Color::Rgb(255, 255, 255) => Color::White,
        // The palettes of this depth are made of named colours.
        ColorDepth::Ansi16 => color,
        ColorDepth::None => Color::Reset,
    }
}

/// The nearest of the 256 colours from number `first` on.
fn nearest(Rgb(r, g, b): Rgb, first: u8) -> u8 {
    let distance = |i: &u8| {
        let Rgb(x, y, z) = indexed(*i);
        square(r, x) + square(g, y) + square(b, z)
    };
    (first..=255).min_by_key(distance).unwrap_or(first)
}

fn square(a: u8, b: u8) -> u32 {
    let difference = u32::from(a.abs_diff(b));
    difference * difference
}

/// The colour at a share of the way along evenly spaced stops.
pub(super) fn between(stops: &[Color], share: f32) -> Color {
    let at = share * stops.len().saturating_sub(1) as f32;
    let first = (at as usize).min(stops.len().saturating_sub(2));
    let (Some(&low), Some(&high)) = (stops.get(first), stops.get(first + 1)) else {
        return stops.first().copied().unwrap_or_default();
    };
    let (Rgb(r, g, b), Rgb(x, y, z)) = (to_rgb(low), to_rgb(high));
    let mix = |a: u8, b: u8| {
        (f32::from(a) + (f32::from(b) - f32::from(a)) * (at - first as f32)).round() as u8
    };
    Color::Rgb(mix(r, x), mix(g, y), mix(b, z))
}

/// Contrast of two colours, 1 to 21, as WCAG 2.1 defines it.
pub(super) fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Relative luminance of an sRGB colour, 0 to 1, as WCAG 2.1 defines it.
fn luminance(Rgb(r, g, b): Rgb) -> f64 {
    let linear = |channel: u8| {
        let c = f64::from(channel) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// A role that stands out too little.
#[derive(Clone, Debug, PartialEq)]
pub struct Faint {
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
            let contrast = contrast(to_rgb(style.fg?), behind);
            (contrast < least).then_some(Faint { role, depth: theme.depth, contrast, least })
        })
        .collect()
}
