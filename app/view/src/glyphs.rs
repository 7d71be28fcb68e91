//! The characters that pictures, marks and borders are made of, in one table for Unicode and one for ASCII.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlyphSet {
    /// Box drawing, blocks, shades and Braille dots.
    Unicode,
    /// The 95 printable characters that every terminal has.
    Ascii,
}

#[derive(Clone, Debug)]
pub struct Glyphs {
    pub set: GlyphSet,
    pub vertical: &'static str,
    pub horizontal: &'static str,
    /// Corners of a box: top left, top right, bottom left, bottom right.
    pub corners: [&'static str; 4],
    pub tick_left: &'static str,
    pub tick_below: &'static str,
    /// The line at a step where a knob was turned.
    pub change: &'static str,
    /// The line at a step where a value was not finite.
    pub not_finite: &'static str,
    /// The line at the step that charts point at.
    pub cursor: &'static str,
    /// Where that line stands on the axis.
    pub cursor_foot: &'static str,
    /// The value of a curve at that step.
    pub reading: &'static str,
    /// Stands for text that was cut off.
    pub ellipsis: &'static str,
    pub separator: &'static str,
    /// Points of a data set, by class; taken in turn.
    pub classes: [&'static str; 6],
    pub ascending: &'static str,
    pub descending: &'static str,
    /// Where the mark stands in a field.
    pub mark: &'static str,
    /// A point on the Pareto front.
    pub front: &'static str,
    /// A point of a lone curve, where a cell holds no dots; several curves are drawn with their letters.
    pub point: &'static str,
    /// A point of unsmoothed data, where a cell holds no dots.
    pub faint_point: &'static str,
    pub right: &'static str,
    pub wrong: &'static str,
    /// Before an entry of a list.
    pub bullet: &'static str,
    /// A task not done.
    pub open: &'static str,
    /// A task that needs another one first.
    pub locked: &'static str,
    pub running: &'static str,
    pub paused: &'static str,
    pub arrow: &'static str,
    /// The prefix of a millionth.
    pub micro: &'static str,
    /// From empty to full, for fields without colour.
    pub shades: &'static [&'static str],
    /// Bars that end inside a cell, from narrow to full.
    pub lengths: &'static [&'static str],
    /// Columns that end inside a cell, from low to full.
    pub heights: &'static [&'static str],
    /// A bar of a quantity that was computed, not measured.
    pub modelled: &'static str,
    /// What bars of a timeline are filled with, by class; taken in turn.
    pub fills: [&'static str; 6],
    /// Lines of a graph, light, heavy and double, by the sides at which they leave a cell: left 1, right 2, up 4, down 8.
    pub strokes: [[&'static str; 16]; 3],
    /// Corners of the box of what is given rather than computed, in the order of [`Glyphs::corners`].
    pub square: [&'static str; 4],
    /// Where a line of a graph arrives.
    pub arrival: &'static str,
    /// Along the edge that a walk goes forward, and back.
    pub forward: &'static str,
    /// Along the edge that a walk goes back.
    pub back: &'static str,
    /// Before a derivative.
    pub partial: &'static str,
}

const UNICODE: Glyphs = Glyphs {
    set: GlyphSet::Unicode,
    vertical: "│",
    horizontal: "─",
    corners: ["╭", "╮", "╰", "╯"],
    tick_left: "┤",
    tick_below: "┬",
    change: "┊",
    not_finite: "╳",
    cursor: "┃",
    cursor_foot: "┻",
    reading: "◆",
    ellipsis: "…",
    separator: " · ",
    classes: ["●", "✕", "▲", "■", "◆", "+"],
    ascending: "▲",
    descending: "▼",
    mark: "┼",
    front: "★",
    point: "•",
    faint_point: "·",
    right: "✓",
    wrong: "✗",
    bullet: "•",
    open: "○",
    locked: "◌",
    running: "▶",
    paused: "‖",
    arrow: "→",
    micro: "µ",
    shades: &[" ", "░", "▒", "▓", "█"],
    lengths: &["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"],
    heights: &["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    modelled: "▒",
    fills: ["█", "▓", "▒", "░", "═", "▪"],
    strokes: [
        [" ", "─", "─", "─", "│", "╯", "╰", "┴", "│", "╮", "╭", "┬", "│", "┤", "├", "┼"],
        [" ", "━", "━", "━", "┃", "┛", "┗", "┻", "┃", "┓", "┏", "┳", "┃", "┫", "┣", "╋"],
        [" ", "═", "═", "═", "║", "╝", "╚", "╩", "║", "╗", "╔", "╦", "║", "╣", "╠", "╬"],
    ],
    square: ["┌", "┐", "└", "┘"],
    arrival: "▸",
    forward: "▶",
    back: "◀",
    partial: "∂",
};

const ASCII: Glyphs = Glyphs {
    set: GlyphSet::Ascii,
    vertical: "|",
    horizontal: "-",
    corners: ["+", "+", "+", "+"],
    tick_left: "+",
    tick_below: "+",
    change: ":",
    not_finite: "!",
    cursor: "|",
    cursor_foot: "^",
    reading: "@",
    ellipsis: "~",
    separator: " | ",
    classes: ["o", "x", "^", "#", "*", "+"],
    ascending: "^",
    descending: "v",
    mark: "+",
    front: "@",
    point: "*",
    faint_point: ".",
    right: "+",
    wrong: "X",
    bullet: "*",
    open: "o",
    locked: "-",
    running: ">",
    paused: "=",
    arrow: "->",
    micro: "u",
    shades: &[" ", ".", ":", "+", "#"],
    lengths: &["#"],
    heights: &["_", ".", "-", "=", "+", "*", "#"],
    modelled: "=",
    fills: ["#", "=", "+", ":", "%", "o"],
    strokes: [
        [" ", "-", "-", "-", "|", "+", "+", "+", "|", "+", "+", "+", "|", "+", "+", "+"],
        [" ", "=", "=", "=", "H", "+", "+", "+", "H", "+", "+", "+", "H", "+", "+", "+"],
        [" ", "#", "#", "#", "#", "#", "#", "#", "#", "#", "#", "#", "#", "#", "#", "#"],
    ],
    square: [".", ".", "'", "'"],
    arrival: ">",
    forward: ">",
    back: "<",
    partial: "d",
};

impl Glyphs {
    pub fn new(set: GlyphSet) -> Self {
        match set {
            GlyphSet::Unicode => UNICODE,
            GlyphSet::Ascii => ASCII,
        }
    }

    /// The table that the terminal's type and the locale promise can be shown.
    pub fn detect(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let value = |name| variable(name).filter(|v| !v.is_empty());
        let term = value("TERM").unwrap_or_default();
        // The kernel's console has 512 glyphs, and Braille is not among them.
        if matches!(term.as_str(), "linux" | "dumb") {
            return ASCII;
        }
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(value);
        let locale = locale.unwrap_or_default().to_ascii_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") || value("WT_SESSION").is_some() {
            UNICODE
        } else {
            ASCII
        }
    }

    pub fn class(&self, class: u8) -> &'static str {
        self.classes[usize::from(class) % self.classes.len()]
    }

    /// The shade of a share from 0 to 1.
    pub fn shade(&self, share: f32) -> &'static str {
        step(self.shades, share)
    }

    /// The column of a share of a cell's height, from 0 to 1.
    pub fn height(&self, share: f32) -> &'static str {
        step(self.heights, share)
    }
}

fn step(glyphs: &[&'static str], share: f32) -> &'static str {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let place = (share * glyphs.len() as f32) as usize;
    glyphs[place.min(glyphs.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    fn set(pairs: &[(&str, &str)]) -> GlyphSet {
        Glyphs::detect(&|name| {
            let found = pairs.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
        .set
    }

    #[test]
    fn unicode_needs_a_locale_and_a_terminal_that_can() {
        use GlyphSet::{Ascii, Unicode};
        for (pairs, expected) in [
            (&[("LANG", "en_GB.UTF-8"), ("TERM", "xterm")][..], Unicode),
            (&[("LANG", "C.utf8")], Unicode),
            (&[("LANG", "en_GB.UTF-8"), ("LC_ALL", "C")], Ascii),
            (&[("LC_ALL", ""), ("LANG", "de_DE.UTF-8")], Unicode),
            (&[("LANG", "en_GB.UTF-8"), ("TERM", "linux")], Ascii),
            (&[("LANG", "en_GB.UTF-8"), ("TERM", "dumb")], Ascii),
            (&[("WT_SESSION", "1")], Unicode),
            (&[], Ascii),
        ] {
            assert_eq!(set(pairs), expected, "{pairs:?}");
        }
    }

    #[test]
    fn what_fills_one_cell_is_one_cell_wide() {
        for glyphs in [UNICODE, ASCII] {
            let single = [
                glyphs.vertical,
                glyphs.horizontal,
                glyphs.tick_left,
                glyphs.tick_below,
                glyphs.change,
                glyphs.not_finite,
                glyphs.cursor,
                glyphs.cursor_foot,
                glyphs.reading,
                glyphs.ellipsis,
                glyphs.right,
                glyphs.wrong,
                glyphs.modelled,
                glyphs.ascending,
                glyphs.descending,
                glyphs.mark,
                glyphs.front,
                glyphs.point,
                glyphs.faint_point,
                glyphs.arrival,
                glyphs.forward,
                glyphs.back,
                glyphs.partial,
            ];
            let tables = [glyphs.shades, glyphs.lengths, glyphs.heights];
            let all = single.iter().chain(tables.into_iter().flatten());
            let all = all.chain(glyphs.strokes.iter().flatten());
            let all = all.chain(&glyphs.square).chain(&glyphs.fills).chain(&glyphs.corners);
            for glyph in all.chain(&glyphs.classes) {
                assert_eq!(glyph.width(), 1, "{glyph}");
            }
        }
    }

    #[test]
    fn ascii_is_ascii_and_classes_differ() {
        // Whatever is added to the table is printed here.
        let said = format!("{ASCII:?}");
        assert!(said.is_ascii(), "{said}");
        for glyphs in [UNICODE, ASCII] {
            for (i, a) in glyphs.classes.iter().enumerate() {
                assert!(!glyphs.classes[i + 1..].contains(a), "{a}");
            }
        }
    }
}
