//! The line that an error is about, with carets under the place: the one way in which expressions and lesson files show
//! their errors.
//!
//! annotate-snippets draws the same but decides the whole layout: a bar before each help, another expansion of tabs.
//! The layouts here are documented, and an expression's error has its place in its first line.

/// Characters of a long line that are shown.
const WIDTH: usize = 100;

/// A part of a line that fits a terminal, and the carets for the line below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// As much of the line as fits, harmless to print.
    pub line: String,
    /// Spaces up to the place, then at least one caret.
    pub mark: String,
}

impl Excerpt {
    /// The part of `line` around the `length` characters that begin after `before` characters.
    pub fn new(line: &str, before: usize, length: usize) -> Self {
        let count = line.chars().count();
        let at = before.min(count);
        let start = if at < WIDTH { 0 } else { at - WIDTH / 2 };
        let line: String = line.chars().skip(start).take(WIDTH).map(printable).collect();
        let room = (count - start).min(WIDTH).saturating_sub(at - start);
        let carets = "^".repeat(length.min(room).max(1));
        Self { line, mark: format!("{}{carets}", " ".repeat(at - start)) }
    }
}

/// One column for each character: a tab is a space, and what would move or recolour the terminal is replaced.
fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() || reorders(c) => '\u{fffd}',
        c => c,
    }
}

/// Whether a character reorders the text around it, so that a line reads otherwise than it is.
pub const fn reorders(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stand_under_the_place() {
        for (line, before, length, shown, mark) in [
            ("a + bc", 4, 2, "a + bc", "    ^^"),
            ("a +", 3, 0, "a +", "   ^"),
            ("é\t\u{1b}?", 3, 1, "é \u{fffd}?", "   ^"),
            ("a + b", 4, 9, "a + b", "    ^"),
            ("", 7, 1, "", "^"),
        ] {
            let expected = Excerpt { line: shown.to_owned(), mark: mark.to_owned() };
            assert_eq!(Excerpt::new(line, before, length), expected);
        }
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let line = format!("{}?{}", "a".repeat(300), "b".repeat(300));
        let excerpt = Excerpt::new(&line, 300, 200);
        assert_eq!(excerpt.line, format!("{}?{}", "a".repeat(50), "b".repeat(49)));
        assert_eq!(excerpt.mark, format!("{}{}", " ".repeat(50), "^".repeat(50)));
    }
}
