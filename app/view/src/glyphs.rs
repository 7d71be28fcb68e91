//! The characters that pictures, marks and borders are made of, in one table for Unicode and one for ASCII.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlyphSet {
    /// Box drawing, blocks, shades and Braille dots.
    Unicode,
    /// The 95 printable characters that every terminal has.
    Ascii,
}

type Glyph = &'static str;

/// The table of all characters: each with its type, its Unicode form and its ASCII form.
macro_rules! glyphs {
    ($($(#[$about:meta])* $name:ident: $type:ty = $unicode:expr, $ascii:expr;)*) => {
        #[derive(Clone, Debug)]
        pub struct Glyphs {
            pub set: GlyphSet,
            $($(#[$about])* pub $name: $type,)*
        }
        const UNICODE: Glyphs = Glyphs { set: GlyphSet::Unicode, $($name: $unicode,)* };
        const ASCII: Glyphs = Glyphs { set: GlyphSet::Ascii, $($name: $ascii,)* };
    };
}

glyphs! {
    vertical: Glyph = "│", "|";
    horizontal: Glyph = "─", "-";
    /// Corners of a box: top left, top right, bottom left, bottom right.
    corners: [Glyph; 4] = ["╭", "╮", "╰", "╯"], ["+", "+", "+", "+"];
    tick_left: Glyph = "┤", "+";
    tick_below: Glyph = "┬", "+";
    /// The line at a step where a knob was turned.
    change: Glyph = "┊", ":";
    /// The line at a step where a value was not finite.
    not_finite: Glyph = "╳", "!";
    /// The line at the step that charts point at.
    cursor: Glyph = "┃", "|";
    /// Where that line stands on the axis.
    cursor_foot: Glyph = "┻", "^";
    /// The value of a curve at that step.
    reading: Glyph = "◆", "@";
    /// Where a text is cut.
    ellipsis: Glyph = "…", "~";
    /// Where something goes on that can be seen by a key: the end of a sentence, the next columns.
    more: Glyph = "…", "~";
    separator: Glyph = " · ", " | ";
    /// Points of a data set, by class; taken in turn.
    classes: [Glyph; 6] = ["●", "✕", "▲", "■", "◆", "+"], ["o", "x", "^", "#", "*", "+"];
    ascending: Glyph = "▲", "^";
    descending: Glyph = "▼", "v";
    /// Where the mark stands in a field.
    mark: Glyph = "┼", "+";
    front: Glyph = "★", "@";
    /// A point of a lone curve, where a cell holds no dots; several curves are drawn with their letters.
    point: Glyph = "•", "*";
    /// A point of unsmoothed data, where a cell holds no dots.
    faint_point: Glyph = "·", ".";
    right: Glyph = "✓", "+";
    wrong: Glyph = "✗", "X";
    bullet: Glyph = "•", "*";
    open: Glyph = "○", "o";
    /// A task that needs another one first.
    locked: Glyph = "◌", "-";
    running: Glyph = "▶", ">";
    paused: Glyph = "‖", "=";
    arrow: Glyph = "→", "->";
    micro: Glyph = "µ", "u";
    /// From empty to full, for fields without colour.
    shades: &'static [Glyph] = &[" ", "░", "▒", "▓", "█"], &[" ", ".", ":", "+", "#"];
    /// Bars that end inside a cell, from narrow to full.
    lengths: &'static [Glyph] = &["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"], &["#"];
    /// Columns that end inside a cell, from low to full.
    heights: &'static [Glyph] = &["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"], &["_", ".", "-", "=", "+", "*", "#"];
    /// A bar of a quantity that was computed, not measured.
    modelled: Glyph = "▒", "=";
    /// What bars of a timeline are filled with, by class; taken in turn.
    fills: [Glyph; 6] = ["█", "▓", "▒", "░", "═", "▪"], ["#", "=", "+", ":", "%", "o"];
    /// Lines of a graph, light, heavy and double, by the sides at which they leave a cell: left 1, right 2, up 4, down 8.
    strokes: [[Glyph; 16]; 3] = [
        [" ", "─", "─", "─", "│", "╯", "╰", "┴", "│", "╮", "╭", "┬", "│", "┤", "├", "┼"],
        [" ", "━", "━", "━", "┃", "┛", "┗", "┻", "┃", "┓", "┏", "┳", "┃", "┫", "┣", "╋"],
        [" ", "═", "═", "═", "║", "╝", "╚", "╩", "║", "╗", "╔", "╦", "║", "╣", "╠", "╬"],
    ], [
        [" ", "-", "-", "-", "|", "+", "+", "+", "|", "+", "+", "+", "|", "+", "+", "+"],
        [" ", "=", "=", "=", "H", "+", "+", "+", "H", "+", "+", "+", "H", "+", "+", "+"],
        [" ", "#", "#", "#", "#", "#", "#", "#", "#", "#", "#", "#", "#", "#", "#", "#"],
    ];
    /// Corners of the box of what is given rather than computed, in the order of [`Glyphs::corners`].
    square: [Glyph; 4] = ["┌", "┐", "└", "┘"], [".", ".", "'", "'"];
    arrival: Glyph = "▸", ">";
    /// Along the edge that a walk goes forward, and back.
    forward: Glyph = "▶", ">";
    /// Along the edge that a walk goes back.
    back: Glyph = "◀", "<";
    partial: Glyph = "∂", "d";
}

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
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(value);
        let is_unicode = locale.is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        });
        // The kernel's console has 512 glyphs, and Braille is not among them.
        match value("TERM").as_deref() {
            Some("linux" | "dumb") => ASCII,
            Some(_) | None if is_unicode || value("WT_SESSION").is_some() => UNICODE,
            Some(_) | None => ASCII,
        }
    }

    pub fn class(&self, class: u8) -> &'static str {
        self.classes[usize::from(class) % self.classes.len()]
    }

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
            let Glyphs { vertical, horizontal, tick_left, tick_below, change, .. } = glyphs;
            let Glyphs { not_finite, cursor, cursor_foot, reading, ellipsis, more, .. } = glyphs;
            let Glyphs { right, wrong, modelled, ascending, descending, mark, .. } = glyphs;
            let Glyphs { front, point, faint_point, arrival, forward, back, partial, .. } = glyphs;
            let lines = [vertical, horizontal, tick_left, tick_below, change, cursor, cursor_foot];
            let signs =
                [not_finite, reading, ellipsis, more, right, wrong, modelled, mark, front, point];
            let arrows = [ascending, descending, faint_point, arrival, forward, back, partial];
            let single = lines.into_iter().chain(signs).chain(arrows).collect::<Vec<_>>();
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
