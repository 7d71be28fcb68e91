//! Characters that are pictures rather than letters, as shapes in a cell from 0 to 1.

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Filled rectangles (left, top, right, bottom) of an opacity.
    Fills(Vec<[f32; 4]>, f32),
    Lines(Vec<[f32; 4]>),
    Dots(Vec<[f32; 2]>),
}

impl Shape {
    pub(crate) fn from_symbol(symbol: &str) -> Option<Self> {
        let mut chars = symbol.chars();
        let (Some(c), None) = (chars.next(), chars.next()) else { return None };
        match c {
            '▀' => Some(Self::fill([0.0, 0.0, 1.0, 0.5])),
            '▐' => Some(Self::fill([0.5, 0.0, 1.0, 1.0])),
            '■' | '▪' => Some(Self::fill([0.15, 0.3, 0.85, 0.7])),
            '\u{2581}'..='\u{2588}' => {
                let eighths = (c as u32 - 0x2580) as f32;
                Some(Self::fill([0.0, 1.0 - eighths / 8.0, 1.0, 1.0]))
            }
            '\u{2589}'..='\u{258f}' => {
                let eighths = (0x2590 - c as u32) as f32;
                Some(Self::fill([0.0, 0.0, eighths / 8.0, 1.0]))
            }
            '░' => Some(Self::Fills(vec![WHOLE], 0.25)),
            '▒' => Some(Self::Fills(vec![WHOLE], 0.5)),
            '▓' => Some(Self::Fills(vec![WHOLE], 0.75)),
            '\u{2800}'..='\u{28ff}' => Some(Self::Dots(braille(c as u32 - 0x2800))),
            _ => lines(c).map(Self::Lines),
        }
    }

    fn fill(part: [f32; 4]) -> Self {
        Self::Fills(vec![part], 1.0)
    }
}

/// The outline of the mark of a class about the middle of its cell, in pixels.
pub(crate) fn mark(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "●" => "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
        "✕" => "M-5 -3l2 -2l3 3l3 -3l2 2l-3 3l3 3l-2 2l-3 -3l-3 3l-2 -2l3 -3z",
        "▲" => "M0 -5.5l5 9h-10z",
        "■" => "M-4 -4h8v8h-8z",
        "◆" => "M0 -5.5l5 5.5l-5 5.5l-5 -5.5z",
        _ => return None,
    })
}

const WHOLE: [f32; 4] = [0.0, 0.0, 1.0, 1.0];

/// The raised dots of a Braille pattern; bits number the dots as Unicode does.
fn braille(bits: u32) -> Vec<[f32; 2]> {
    const PLACES: [(u8, u8); 8] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];
    let raised = PLACES.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
    raised
        .map(|(_, (column, row))| [0.25 + 0.5 * f32::from(*column), 0.125 + 0.25 * f32::from(*row)])
        .collect()
}

/// The strokes of box drawing and of the marks that are drawn with them.
fn lines(c: char) -> Option<Vec<[f32; 4]>> {
    const UP: [f32; 4] = [0.5, 0.0, 0.5, 0.5];
    const DOWN: [f32; 4] = [0.5, 0.5, 0.5, 1.0];
    const LEFT: [f32; 4] = [0.0, 0.5, 0.5, 0.5];
    const RIGHT: [f32; 4] = [0.5, 0.5, 1.0, 0.5];
    // A quarter turn, as three strokes: from the middle of one side to the middle of another.
    let corner = |across: f32, down: f32| {
        let (x, y) = (0.5 + across * 0.28, 0.5 + down * 0.14);
        vec![[0.5 + across * 0.5, 0.5, x, 0.5], [x, 0.5, 0.5, y], [0.5, y, 0.5, 0.5 + down * 0.5]]
    };
    let dashes = |count: u8| {
        let at = move |i: u8, part: f32| (f32::from(i) + part) / f32::from(count);
        (0..count).map(move |i| (at(i, 0.2), at(i, 0.7)))
    };
    Some(match c {
        '─' | '━' | '═' => vec![LEFT, RIGHT],
        '│' | '┃' | '║' => vec![UP, DOWN],
        '╭' => corner(1.0, 1.0),
        '╮' => corner(-1.0, 1.0),
        '╰' => corner(1.0, -1.0),
        '╯' => corner(-1.0, -1.0),
        '┌' | '┏' | '╔' => vec![DOWN, RIGHT],
        '┐' | '┓' | '╗' => vec![DOWN, LEFT],
        '└' | '┗' | '╚' => vec![UP, RIGHT],
        '┘' | '┛' | '╝' => vec![UP, LEFT],
        '├' | '┣' | '╠' => vec![UP, DOWN, RIGHT],
        '┤' | '┫' | '╣' => vec![UP, DOWN, LEFT],
        '┬' | '┳' | '╦' => vec![DOWN, LEFT, RIGHT],
        '┴' | '┻' | '╩' => vec![UP, LEFT, RIGHT],
        '┼' | '╋' | '╬' => vec![UP, DOWN, LEFT, RIGHT],
        '┊' => dashes(4).map(|(from, to)| [0.5, from, 0.5, to]).collect(),
        '╌' => dashes(2).map(|(from, to)| [from, 0.5, to, 0.5]).collect(),
        '╳' => vec![[0.0, 0.25, 1.0, 0.75], [0.0, 0.75, 1.0, 0.25]],
        '✕' => vec![[0.2, 0.35, 0.8, 0.65], [0.2, 0.65, 0.8, 0.35]],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_fill_what_their_names_say() {
        let one = |c: &str| match Shape::from_symbol(c) {
            Some(Shape::Fills(parts, _)) => parts[0],
            other => panic!("{c}: {other:?}"),
        };
        assert_eq!(one("▀"), [0.0, 0.0, 1.0, 0.5]);
        assert_eq!(one("▄"), [0.0, 0.5, 1.0, 1.0]);
        assert_eq!(one("█"), WHOLE);
        assert_eq!(one("▏"), [0.0, 0.0, 0.125, 1.0]);
        assert_eq!(one("▉"), [0.0, 0.0, 0.875, 1.0]);
        assert_eq!(one("▁"), [0.0, 0.875, 1.0, 1.0]);
    }

    #[test]
    fn every_braille_dot_has_its_place() {
        assert_eq!(Shape::from_symbol("⠁"), Some(Shape::Dots(vec![[0.25, 0.125]])));
        assert_eq!(Shape::from_symbol("⢀"), Some(Shape::Dots(vec![[0.75, 0.875]])));
        assert_eq!(braille(0xff).len(), 8);
    }

    #[test]
    fn letters_are_left_to_the_font() {
        assert_eq!(Shape::from_symbol("a"), None);
        assert_eq!(Shape::from_symbol("✓"), None);
        assert_eq!(Shape::from_symbol("ab"), None);
    }
}
