//! Arithmetic on colours: what a terminal colour looks like, the nearest one a terminal has, and contrast.

use std::fmt;

use ratatui::style::Color;

use crate::theme::{ColorDepth, GRAPHICS, Palette, TEXT, Theme};

/// Red, green and blue, 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// The sixteen named colours as xterm shows them, in the order of their numbers.
const NAMED: [u32; 16] = [
    0x00_0000, 0xcd_0000, 0x00_cd00, 0xcd_cd00, 0x00_00ee, 0xcd_00cd, 0x00_cdcd, 0xe5_e5e5,
    0x7f_7f7f, 0xff_0000, 0x00_ff00, 0xff_ff00, 0x5c_5cff, 0xff_00ff, 0x00_ffff, 0xff_ffff,
];

/// The six levels of each channel in the 256-colour cube.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// What a terminal colour looks like, in xterm's shades; the terminal's own default counts as black.
pub fn to_rgb(color: Color) -> Rgb {
    match color {
        Color::Rgb(r, g, b) => Rgb(r, g, b),
        Color::Indexed(i) => indexed(i),
        Color::Reset | Color::Black => indexed(0),
        Color::Red => indexed(1),
        Color::Green => indexed(2),
        Color::Yellow => indexed(3),
        Color::Blue => indexed(4),
        Color::Magenta => indexed(5),
        Color::Cyan => indexed(6),
        Color::Gray => indexed(7),
        Color::DarkGray => indexed(8),
        Color::LightRed => indexed(9),
        Color::LightGreen => indexed(10),
        Color::LightYellow => indexed(11),
        Color::LightBlue => indexed(12),
        Color::LightMagenta => indexed(13),
        Color::LightCyan => indexed(14),
        Color::White => indexed(15),
    }
}

fn indexed(i: u8) -> Rgb {
    match i {
        0..16 => {
            let [_, r, g, b] = NAMED[usize::from(i)].to_be_bytes();
            Rgb(r, g, b)
        }
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
        ColorDepth::Ansi256 => Color::Indexed(nearest(to_rgb(color))),
        ColorDepth::Ansi16 if color == Color::Rgb(0, 0, 0) => Color::Black,
        ColorDepth::Ansi16 if color == Color::Rgb(255, 255, 255) => Color::White,
        // The palettes of this depth are made of named colours.
        ColorDepth::Ansi16 => color,
        ColorDepth::None => Color::Reset,
    }
}

/// The nearest of the 256 colours; the first sixteen differ from terminal to terminal.
fn nearest(Rgb(r, g, b): Rgb) -> u8 {
    let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    let distance = |i: &u8| {
        let Rgb(x, y, z) = indexed(*i);
        square(r, x) + square(g, y) + square(b, z)
    };
    (16..=255).min_by_key(distance).unwrap_or(16)
}

/// The colour at a share of the way along evenly spaced stops.
pub(super) fn between(stops: &[Color], share: f32) -> Color {
    let at = share * stops.len().saturating_sub(1) as f32;
    let first = (at as usize).min(stops.len().saturating_sub(2));
    let (Some(&low), Some(&high)) = (stops.get(first), stops.get(first + 1)) else {
        return stops.first().copied().unwrap_or(Color::Reset);
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

/// A role that has too little contrast with what is behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct LowContrast {
    pub role: String,
    pub depth: ColorDepth,
    pub contrast: f64,
    /// The least contrast that it should have.
    pub least: f64,
}

impl fmt::Display for LowContrast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { role, contrast, least, .. } = self;
        let depth = self.depth.name();
        let what = if *least >= TEXT { "text" } else { "graphics" };
        write!(
            f,
            "`{role}` has a contrast of {contrast:.2}:1 with what is behind it at {depth}; \
             {what} needs {least}:1 to be seen by everybody"
        )
    }
}

/// The roles of a palette with too little contrast, at every depth at which its own colours are shown.
pub fn low_contrast(palette: &Palette) -> Vec<LowContrast> {
    let mut found: Vec<LowContrast> = Vec::new();
    for depth in [ColorDepth::TrueColor, ColorDepth::Ansi256] {
        for role in low_contrast_of(&Theme::with(palette, depth)) {
            // What is too faint in all colours is so in fewer.
            if !found.iter().any(|other| other.role == role.role) {
                found.push(role);
            }
        }
    }
    found
}

/// The roles of a theme with too little contrast.
pub fn low_contrast_of(theme: &Theme) -> Vec<LowContrast> {
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
    let mut found = Vec::new();
    // A curve's letter stands in its colour, and that is text.
    for (named, name, numbered, least) in [
        (&text[..], "curves", theme.curves, TEXT),
        (&graphics[..], "unsmoothed curves", theme.faint, GRAPHICS),
    ] {
        let named = named.iter().map(|(name, style)| ((*name).to_owned(), *style));
        let numbered = (1..).zip(numbered).map(|(place, style)| (format!("{name} {place}"), style));
        for (role, style) in named.chain(numbered) {
            let behind = style.bg.map_or(behind, to_rgb);
            let contrast = style.fg.map(|color| contrast(to_rgb(color), behind));
            if let Some(contrast) = contrast.filter(|contrast| *contrast < least) {
                found.push(LowContrast { role, depth: theme.depth, contrast, least });
            }
        }
    }
    found
}
