//! The colours themselves.

use ratatui::style::Color;

use super::rgb;
use super::{Background, ColorDepth};

/// Colours by role, before they are fitted to a terminal.
#[derive(Debug)]
pub(super) struct Palette {
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
    pub(super) heat: &'static [Color],
    /// From nothing to everything.
    pub(super) amount: &'static [Color],
}

impl Palette {
    /// The palette of a background; the sixteen named colours have tables of their own.
    pub(super) fn of(background: Background, depth: ColorDepth) -> &'static Self {
        match (background, depth) {
            (Background::Dark, ColorDepth::Ansi16) => &DARK_16,
            (Background::Light, ColorDepth::Ansi16) => &LIGHT_16,
            (Background::Dark, ColorDepth::TrueColor | ColorDepth::Ansi256 | ColorDepth::None) => {
                &DARK
            }
            (Background::Light, ColorDepth::TrueColor | ColorDepth::Ansi256 | ColorDepth::None) => {
                &LIGHT
            }
        }
    }

    /// A curve's colour, half way to the background.
    pub(super) fn faint(&self, color: Color) -> Color {
        if matches!(color, Color::Rgb(..)) {
            rgb::between(&[self.background, color], 0.42)
        } else {
            // Named colours cannot be mixed.
            self.previous
        }
    }
}

const fn hex(rgb: u32) -> Color {
    Color::from_u32(rgb)
}

static DARK: Palette = Palette {
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
    border: hex(0x47_5163),
    previous: hex(0x6b_7484),
    curves: [
        hex(0x4f_a8ff),
        hex(0xff_a657),
        hex(0x7f_d88f),
        hex(0xe5_8fd8),
        hex(0xe6_d35c),
        hex(0x6f_e0dc),
    ],
    heat: &[hex(0x2a_6fc4), hex(0x26_2b36), hex(0xb8_5a12)],
    amount: &[hex(0x1a_1f29), hex(0x1f_63b5)],
};

static LIGHT: Palette = Palette {
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
    border: hex(0xb4_bbc6),
    previous: hex(0x9a_a3b0),
    curves: [
        hex(0x0b_62b8),
        hex(0xb4_5309),
        hex(0x1a_7f37),
        hex(0x8a_2380),
        hex(0x7a_6a00),
        hex(0x07_666c),
    ],
    heat: &[hex(0x6f_b1f2), hex(0xf3_f3f0), hex(0xf2_a65a)],
    amount: &[hex(0xf3_f5f8), hex(0x7f_b6ee)],
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
    curves: [
        Color::LightCyan,
        Color::LightYellow,
        Color::LightGreen,
        Color::LightMagenta,
        Color::White,
        Color::LightRed,
    ],
    heat: &[Color::Blue, Color::DarkGray, Color::Red],
    amount: &[Color::Black, Color::Blue],
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
    curves: [
        Color::Blue,
        Color::Red,
        Color::Magenta,
        Color::Black,
        Color::Blue,
        Color::Red,
    ],
    heat: &[Color::LightCyan, Color::White, Color::LightYellow],
    amount: &[Color::White, Color::LightCyan],
};
