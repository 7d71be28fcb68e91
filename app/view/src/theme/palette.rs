//! The colours themselves, by role.

use ratatui::style::Color::{self, *};

use crate::theme::color::{between, contrast, fit, to_rgb};
use crate::theme::{Background, ColorDepth, GRAPHICS};

pub(super) struct Role {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) colors: fn(&mut Palette) -> &mut [Color],
}

/// The table of all roles: the number of colours, the meaning, the colours on a dark and on a light screen, and those where
/// the terminal has only the sixteen named colours.
macro_rules! roles {
    ($($name:ident[$count:literal] $about:literal:
       $dark:expr, $light:expr, $dark_16:expr, $light_16:expr;)*) => {
        /// Colours by role, before they are fitted to a terminal.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Palette { $(pub(super) $name: [Color; $count],)* }
        /// All roles, in the order in which theme files list them.
        pub(super) const ROLES: &[Role] = &[
            $(Role { name: stringify!($name), about: $about, colors: |p| &mut p.$name },)*
        ];
        pub(super) static DARK: Palette = Palette { $($name: colors($dark),)* };
        pub(super) static LIGHT: Palette = Palette { $($name: colors($light),)* };
        static DARK_16: Palette = Palette { $($name: $dark_16,)* };
        static LIGHT_16: Palette = Palette { $($name: $light_16,)* };
    };
}

const fn colors<const N: usize>(rgb: [u32; N]) -> [Color; N] {
    let mut colors = [Reset; N];
    let mut place = 0;
    while place < N {
        colors[place] = Color::from_u32(rgb[place]);
        place += 1;
    }
    colors
}

// Of the named colours only those that are readable in xterm's own shades; the glyphs tell the rest apart.
roles! {
    background[1] "the screen": [0x0f_1218], [0xfd_fdfb], [Black], [White];
    text[1] "running text": [0xd8_dee9], [0x1f_2430], [Gray], [Black];
    dim[1] "units, remarks, axes": [0x8f_96a0], [0x60_666f], [DarkGray], [Black];
    title[1] "headings": [0xff_ffff], [0x00_0000], [White], [Black];
    accent[1] "what the eye should find first": [0x7c_c4ff], [0x0b_62b8], [LightCyan], [Blue];
    good[1] "right, passed, finished": [0x7f_d88f], [0x1a_7f37], [LightGreen], [Blue];
    bad[1] "wrong, failed, not finite": [0xff_7b7b], [0xc0_2626], [LightRed], [Red];
    warn[1] "a change, a caution": [0xf0_c060], [0x8a_5a00], [LightYellow], [Magenta];
    code[1] "code and formulas": [0xa5_d6ff], [0x0a_4a8a], [LightCyan], [Blue];
    selected[1] "text on a field of the accent colour": [0x0f_1218], [0xff_ffff], [Black], [White];
    border[1] "lines between things": [0x5d_687b], [0x8b_929c], [DarkGray], [DarkGray];
    previous[1] "a curve of an earlier run": [0x6b_7484], [0x84_8b96], [DarkGray], [DarkGray];
    curves[6] "curves, by their place in the legend":
        [0x4f_a8ff, 0xff_a657, 0x7f_d88f, 0xe5_8fd8, 0xe6_d35c, 0x6f_e0dc],
        [0x0b_62b8, 0xb4_5309, 0x1a_7f37, 0x8a_2380, 0x7a_6a00, 0x07_666c],
        [LightCyan, LightYellow, LightGreen, LightMagenta, White, LightRed],
        [Blue, Red, Magenta, Black, Blue, Red];
    // Blue and orange stay apart for every common kind of colour blindness.
    heat[3] "a field from low over its middle to high":
        [0x2a_6fc4, 0x26_2b36, 0xb8_5a12], [0x6f_b1f2, 0xf3_f3f0, 0xf2_a65a],
        [Blue, DarkGray, Red], [LightCyan, White, LightYellow];
    amount[2] "a field from nothing to everything":
        [0x1a_1f29, 0x1f_63b5], [0xf3_f5f8, 0x7f_b6ee], [Black, Blue], [White, LightCyan];
}

impl Palette {
    /// The palette of a background; the sixteen named colours have tables of their own.
    pub(super) fn for_background(background: Background, depth: ColorDepth) -> &'static Self {
        match (background, depth == ColorDepth::Ansi16) {
            (Background::Dark, true) => &DARK_16,
            (Background::Light, true) => &LIGHT_16,
            (Background::Dark, false) => &DARK,
            (Background::Light, false) => &LIGHT,
        }
    }

    /// A curve's colour, as near to the background as it can go and still be seen.
    pub(super) fn faint(&self, color: Color, depth: ColorDepth) -> Color {
        if !matches!(color, Rgb(..)) {
            // Named colours cannot be mixed.
            return self.previous[0];
        }
        let [background] = self.background;
        let behind = to_rgb(fit(background, depth));
        let is_seen = |mixed: &Color| contrast(to_rgb(fit(*mixed, depth)), behind) >= GRAPHICS;
        (42..100)
            .map(|percent| between(&[background, color], percent as f32 / 100.0))
            .find(is_seen)
            .unwrap_or(color)
    }
}
