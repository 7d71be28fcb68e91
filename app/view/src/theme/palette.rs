//! The colours themselves, by role.

use std::slice::from_mut;

use ratatui::style::Color;

use crate::theme::color::{between, contrast, fit, to_rgb};
use crate::theme::{Background, ColorDepth, GRAPHICS};

/// Colours by role, before they are fitted to a terminal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Palette {
    pub(super) background: Color,
    pub(super) text: Color,
    pub(super) dim: Color,
    pub(super) title: Color,
    pub(super) accent: Color,
    pub(super) good: Color,
    pub(super) bad: Color,
    pub(super) warn: Color,
    pub(super) code: Color,
    pub(super) selected: Color,
    pub(super) border: Color,
    pub(super) previous: Color,
    pub(super) curves: [Color; 6],
    /// Low, middle, high. Blue and orange stay apart for every common kind of colour blindness.
    pub(super) heat: [Color; 3],
    /// From nothing to everything.
    pub(super) amount: [Color; 2],
}

/// A role of the palette as theme files have it.
pub(super) struct Role {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// Its colours: one, or as many as the role has.
    pub(super) colors: fn(&mut Palette) -> &mut [Color],
}

/// All roles, in the order in which theme files list them.
pub(super) const ROLES: &[Role] = &[
    role("background", "the screen", |p| from_mut(&mut p.background)),
    role("text", "running text", |p| from_mut(&mut p.text)),
    role("dim", "units, remarks, axes", |p| from_mut(&mut p.dim)),
    role("title", "headings", |p| from_mut(&mut p.title)),
    role("accent", "what the eye should find first", |p| from_mut(&mut p.accent)),
    role("good", "right, passed, finished", |p| from_mut(&mut p.good)),
    role("bad", "wrong, failed, not finite", |p| from_mut(&mut p.bad)),
    role("warn", "a change, a caution", |p| from_mut(&mut p.warn)),
    role("code", "code and formulas", |p| from_mut(&mut p.code)),
    role("selected", "text on a field of the accent colour", |p| from_mut(&mut p.selected)),
    role("border", "lines between things", |p| from_mut(&mut p.border)),
    role("previous", "a curve of an earlier run", |p| from_mut(&mut p.previous)),
    role("curves", "curves, by their place in the legend", |p| &mut p.curves),
    role("heat", "a field from low over its middle to high", |p| &mut p.heat),
    role("amount", "a field from nothing to everything", |p| &mut p.amount),
];

const fn role(
    name: &'static str,
    about: &'static str,
    colors: fn(&mut Palette) -> &mut [Color],
) -> Role {
    Role { name, about, colors }
}

impl Palette {
    /// The palette of a background; the sixteen named colours have tables of their own.
    pub(super) fn of(background: Background, depth: ColorDepth) -> &'static Self {
        match (background, depth == ColorDepth::Ansi16) {
            (Background::Dark, true) => &DARK_16,
            (Background::Light, true) => &LIGHT_16,
            (Background::Dark, false) => &DARK,
            (Background::Light, false) => &LIGHT,
        }
    }

    /// A curve's colour, as near to the background as it can go and still be seen.
    pub(super) fn faint(&self, color: Color, depth: ColorDepth) -> Color {
        if !matches!(color, Color::Rgb(..)) {
            // Named colours cannot be mixed.
            return self.previous;
        }
        let behind = to_rgb(fit(self.background, depth));
        let is_seen = |mixed: &Color| contrast(to_rgb(fit(*mixed, depth)), behind) >= GRAPHICS;
        (42..100)
            .map(|percent| between(&[self.background, color], percent as f32 / 100.0))
            .find(is_seen)
            .unwrap_or(color)
    }
}

const fn hex(rgb: u32) -> Color {
    Color::from_u32(rgb)
}

const fn hexes<const N: usize>(rgb: [u32; N]) -> [Color; N] {
    let mut colors = [Color::Reset; N];
    let mut place = 0;
    while place < N {
        colors[place] = hex(rgb[place]);
        place += 1;
    }
    colors
}

pub(super) static DARK: Palette = Palette {
    background: hex(0x0f_1218),
    text: hex(0xd8_dee9),
    dim: hex(0x8f_96a0),
    title: hex(0xff_ffff),
    accent: hex(0x7c_c4ff),
    good: hex(0x7f_d88f),
    bad: hex(0xff_7b7b),
    warn: hex(0xf0_c060),
    code: hex(0xa5_d6ff),
    selected: hex(0x0f_1218),
    border: hex(0x5d_687b),
    previous: hex(0x6b_7484),
    curves: hexes([0x4f_a8ff, 0xff_a657, 0x7f_d88f, 0xe5_8fd8, 0xe6_d35c, 0x6f_e0dc]),
    heat: hexes([0x2a_6fc4, 0x26_2b36, 0xb8_5a12]),
    amount: hexes([0x1a_1f29, 0x1f_63b5]),
};

pub(super) static LIGHT: Palette = Palette {
    background: hex(0xfd_fdfb),
    text: hex(0x1f_2430),
    dim: hex(0x60_666f),
    title: hex(0x00_0000),
    accent: hex(0x0b_62b8),
    good: hex(0x1a_7f37),
    bad: hex(0xc0_2626),
    warn: hex(0x8a_5a00),
    code: hex(0x0a_4a8a),
    selected: hex(0xff_ffff),
    border: hex(0x8b_929c),
    previous: hex(0x84_8b96),
    curves: hexes([0x0b_62b8, 0xb4_5309, 0x1a_7f37, 0x8a_2380, 0x7a_6a00, 0x07_666c]),
    heat: hexes([0x6f_b1f2, 0xf3_f3f0, 0xf2_a65a]),
    amount: hexes([0xf3_f5f8, 0x7f_b6ee]),
};

// Only the named colours that are readable in xterm's own shades; the glyphs tell the rest apart.
static DARK_16: Palette = Palette {
    background: Color::Black,
    text: Color::Gray,
    dim: Color::DarkGray,
    title: Color::White,
    accent: Color::LightCyan,
    good: Color::LightGreen,
    bad: Color::LightRed,
    warn: Color::LightYellow,
    code: Color::LightCyan,
    selected: Color::Black,
    border: Color::DarkGray,
    previous: Color::DarkGray,
    curves: {
        use Color::{LightCyan, LightGreen, LightMagenta, LightRed, LightYellow, White};
        [LightCyan, LightYellow, LightGreen, LightMagenta, White, LightRed]
    },
    heat: [Color::Blue, Color::DarkGray, Color::Red],
    amount: [Color::Black, Color::Blue],
};

static LIGHT_16: Palette = Palette {
    background: Color::White,
    text: Color::Black,
    dim: Color::Black,
    title: Color::Black,
    accent: Color::Blue,
    good: Color::Blue,
    bad: Color::Red,
    warn: Color::Magenta,
    code: Color::Blue,
    selected: Color::White,
    border: Color::DarkGray,
    previous: Color::DarkGray,
    curves: [Color::Blue, Color::Red, Color::Magenta, Color::Black, Color::Blue, Color::Red],
    heat: [Color::LightCyan, Color::White, Color::LightYellow],
    amount: [Color::White, Color::LightCyan],
};
