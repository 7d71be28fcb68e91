//! Text wrapped at spaces, plain or styled, and aligned in tables.

mod columns;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::canvas::cells;
pub(crate) use columns::{GAP, squeeze, total, unbroken, wrapped_columns};
pub use columns::{aligned, fitted, unfitted};

/// Wraps spans to a width; the first line starts with `first`, the others with `rest`, both counted in the width.
pub fn wrap_spans(
    spans: &[(String, Style)],
    width: usize,
    first: Span<'static>,
    rest: Span<'static>,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut line = Builder::new(first);
    for word in words(spans) {
        let wide: usize = word.iter().map(|(part, _)| part.width()).sum();
        if !line.is_empty && line.width + 1 + wide > width {
            lines.push(std::mem::replace(&mut line, Builder::new(rest.clone())).line);
        } else if let (false, Some((_, style))) = (line.is_empty, word.first()) {
            line.space(*style);
        }
        // Only a word wider than a whole line is cut.
        for (part, style) in &word {
            for c in part.chars() {
                let wide = c.width().unwrap_or(0);
                if line.width + wide > width && !line.is_empty {
                    lines.push(std::mem::replace(&mut line, Builder::new(rest.clone())).line);
                }
                line.push(c.encode_utf8(&mut [0; 4]), *style);
            }
        }
    }
    lines.push(line.line);
    lines
}

struct Builder {
    line: Line<'static>,
    width: usize,
    is_empty: bool,
}

impl Builder {
    fn new(prefix: Span<'static>) -> Self {
        let width = prefix.width();
        let spans = if width == 0 { Vec::new() } else { vec![prefix] };
        Self { line: Line::from(spans), width, is_empty: true }
    }

    /// A space before a word; it is underlined only inside an underlined phrase.
    fn space(&mut self, next: Style) {
        let inside = self.line.spans.last().is_some_and(|last| last.style == next);
        let style = Style { add_modifier: next.add_modifier - Modifier::UNDERLINED, ..next };
        self.push(" ", if inside { next } else { style });
    }

    fn push(&mut self, text: &str, style: Style) {
        self.is_empty = false;
        self.width += text.width();
        match self.line.spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(text),
            Some(_) | None => self.line.spans.push(Span::styled(text.to_owned(), style)),
        }
    }
}

/// Whether a space is inside a percentage, such as `12 %`, where no line ends.
fn is_percent(before: &str, after: &str) -> bool {
    before.ends_with(|c: char| c.is_ascii_digit()) && after.starts_with('%')
}

/// Words; one that changes its style on the way has several parts.
fn words(spans: &[(String, Style)]) -> Vec<Vec<(&str, Style)>> {
    let mut words: Vec<Vec<(&str, Style)>> = Vec::new();
    let mut after_space = true;
    for (text, style) in spans {
        for (index, part) in text.split([' ', '\n']).enumerate() {
            after_space |= index > 0;
            if part.is_empty() {
                continue;
            }
            let before = words.last().and_then(|word| word.last()).map_or("", |(text, _)| text);
            let is_percent = is_percent(before, part);
            match words.last_mut() {
                Some(word) if !after_space => word.push((part, *style)),
                Some(word) if is_percent => word.extend([(" ", *style), (part, *style)]),
                Some(_) | None => words.push(vec![(part, *style)]),
            }
            after_space = false;
        }
    }
    words
}

/// Breaks a line at spaces into rows of at most `width` columns; a longer word at its joints, such as those of
/// `block1.attention_norm` or `7.5e9*2`, and where there is none anywhere.
pub(crate) fn wrap(line: &str, width: u16) -> Vec<String> {
    let width = usize::from(width.max(1));
    let mut rows = vec![String::new()];
    let mut used = 0;
    let pieces = spaced_words(line).into_iter();
    let pieces = pieces.flat_map(|word| match word.trim_end().width() > width {
        true => joints(word),
        false => vec![word],
    });
    for word in pieces {
        let wide = word.trim_end().width();
        if used > 0 && used + wide > width {
            rows.push(String::new());
            used = 0;
        }
        for c in word.chars() {
            let wide = c.width().unwrap_or(0);
            if used + wide > width {
                if c == ' ' {
                    continue;
                }
                rows.push(String::new());
                used = 0;
            }
            if let Some(row) = rows.last_mut() {
                row.push(c);
            }
            used += wide;
        }
    }
    rows
}

/// Words, each with the space behind it.
fn spaced_words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    for (at, _) in line.match_indices(' ') {
        if !is_percent(&line[..at], &line[at + 1..]) {
            words.push(&line[start..=at]);
            start = at + 1;
        }
    }
    words.push(&line[start..]);
    words
}

/// The parts of a word up to each of its joints; a point or a sign inside a number is none.
pub(super) fn joints(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, c) in word.char_indices() {
        let (before, after) = (&word[..at], &word[at + c.len_utf8()..]);
        let in_number = after.starts_with(|c: char| c.is_ascii_digit())
            && before.ends_with(|c: char| c.is_ascii_digit() || c == 'e');
        // `tile[threadIdx.y]` is one part.
        let in_index = before.rfind('[') > before.rfind(']');
        let is_joint = match c {
            '_' | '/' | '*' | ',' | ']' => true,
            // One that opens a word stays with it, and an empty pair with its name.
            '(' => at > 0 && !after.starts_with(')'),
            '.' | '+' | '-' => !in_number && !in_index,
            _ => false,
        };
        if is_joint && !after.is_empty() {
            parts.push(&word[start..word.len() - after.len()]);
            start = word.len() - after.len();
        }
    }
    parts.push(&word[start..]);
    parts
}

/// The lines of a sentence; none if there is none.
pub(crate) fn sentence(text: &str, width: u16) -> Vec<String> {
    if text.is_empty() { Vec::new() } else { wrap(text, width) }
}

/// The first lines of a sentence; where there is no room for all, an ellipsis ends the last of them.
pub(crate) fn first_lines(text: &str, width: u16, rows: u16, ellipsis: &str) -> Vec<String> {
    let mut lines = sentence(text, width);
    let is_whole = lines.len() <= usize::from(rows);
    lines.truncate(rows.into());
    if let (Some(last), false) = (lines.last_mut(), is_whole) {
        let room = usize::from(width).saturating_sub(1 + ellipsis.width());
        while last.trim_end().width() > room {
            let words = last.trim_end().rfind(' ').unwrap_or(0);
            last.truncate(words);
        }
        last.truncate(last.trim_end().len());
        last.push(' ');
        last.push_str(ellipsis);
    }
    lines
}

/// The lines of the sentences and clauses for which there is room, from the first on: none of them is cut.
pub(crate) fn whole(text: &str, width: u16, rows: u16) -> Vec<String> {
    let fits = |text: &str| sentence(text, width).len() <= usize::from(rows);
    if fits(text) {
        return sentence(text, width);
    }
    let ends = text
        .match_indices([';', '.'])
        .map(|(at, _)| at)
        .filter(|at| text[at + 1..].starts_with(' '));
    let parts = ends.map(|at| text[..=at].trim_end_matches(';'));
    parts.rev().find(|part| fits(part)).map_or_else(Vec::new, |part| sentence(part, width))
}

pub(crate) fn rows(text: &str, width: u16) -> u16 {
    cells(sentence(text, width).len())
}

/// A text, or another where it is empty.
pub(crate) fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}

/// The rows of a line of code: what does not fit continues further in than the line begins.
pub fn wrap_code(line: &str, width: usize) -> Vec<String> {
    const FURTHER: usize = 4;
    if line.width() <= width {
        return vec![line.to_owned()];
    }
    let code = line.trim_start();
    let indent = (line.width() - code.width()).min(width / 2);
    let further = (indent + FURTHER).min(width / 2);
    let mut first = wrap(code, cells(width - indent));
    first.truncate(1);
    let begun = first.concat();
    let rest = code[begun.len()..].trim_start();
    let rest = wrap(rest, cells(width - further));
    let rows = first.iter().map(|row| (indent, row)).chain(rest.iter().map(|row| (further, row)));
    rows.map(|(indent, row)| format!("{}{}", " ".repeat(indent), row.trim_end())).collect()
}

/// A text as one line.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if mlsys_expr::steers_terminal(c) { ' ' } else { c }).collect()
}

/// A text that fits a cell: one line, and not without end.
pub fn cell(text: &str, longest: usize) -> String {
    let line = one_line(text);
    let mut characters = line.chars();
    let short: String = characters.by_ref().take(longest).collect();
    if characters.next().is_some() { format!("{short} …") } else { short }
}

/// A text as lines of at most `width` columns where its words allow, each after an indent.
pub fn wrapped(text: &str, width: usize, indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = line.width() + 1 + word.width();
        if !line.is_empty() && longer > width && !is_percent(&line, word) {
            lines.push(format!("{indent}{line}"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(format!("{indent}{line}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(spans: &[&str], width: usize) -> Vec<String> {
        let spans: Vec<_> = spans.iter().map(|s| ((*s).to_owned(), Style::new())).collect();
        wrap_spans(&spans, width, Span::raw(""), Span::raw(""))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn breaks_at_spaces_and_cuts_only_what_cannot_fit() {
        assert_eq!(text(&["one two three"], 7), ["one two", "three"]);
        assert_eq!(text(&["abcdefghij"], 4), ["abcd", "efgh", "ij"]);
        assert_eq!(text(&["a ", "b", "c d"], 3), ["a", "bc", "d"]);
        assert_eq!(text(&[""], 3), [""]);
    }

    #[test]
    fn a_percentage_stays_on_one_line() {
        assert_eq!(text(&["about 12 % of it"], 9), ["about", "12 % of", "it"]);
        assert_eq!(text(&["about ", "12", " % of it"], 8), ["about", "12 % of", "it"]);
        assert_eq!(wrap("about 12 % of it", 8), ["about ", "12 % of ", "it"]);
        assert_eq!(wrap("about a % b", 8), ["about a ", "% b"]);
        assert_eq!(wrapped("about 12 % of it", 8, ""), ["about 12 %", "of it"]);
    }

    #[test]
    fn wrapped_lines_fit_and_lose_no_letter() {
        let source = "the quick brown fox jumps over extraordinarily-long-hyphenated lazy dogs";
        for width in 1..40 {
            let lines = text(&[source], width);
            for line in &lines {
                assert!(line.chars().count() <= width, "{width}: {line:?}");
            }
            let letters: String = lines.concat().split(' ').collect();
            assert_eq!(letters, source.split(' ').collect::<String>());
        }
    }

    #[test]
    fn long_texts_are_cut_or_wrapped() {
        assert_eq!(cell("a\nb", 9), "a b");
        assert_eq!(cell("abcdef", 3), "abc …");
        assert_eq!(wrapped("one two three", 7, "  "), ["  one two", "  three"]);
        assert_eq!(wrapped("unbreakable", 3, ""), ["unbreakable"]);
    }

    #[test]
    fn code_continues_further_in() {
        assert_eq!(wrap_code("  int i = 0;", 20), ["  int i = 0;"]);
        let rows = wrap_code("    out[i] = a[i] + b[i] * c[i];", 24);
        assert_eq!(rows, ["    out[i] = a[i] + b[i]", "        * c[i];"]);
        for width in 1..40 {
            let line = "      int i = blockIdx.x * blockDim.x + threadIdx.x;";
            let rows = wrap_code(line, width);
            assert!(rows.iter().all(|row| row.width() <= width), "{width}: {rows:?}");
            assert_eq!(rows.concat().replace(' ', ""), line.replace(' ', ""));
        }
    }

    #[test]
    fn a_sentence_without_room_ends_with_an_ellipsis() {
        let text = "one two three four";
        assert_eq!(first_lines(text, 9, 2, "…"), ["one two ", "three …"]);
        assert_eq!(first_lines(text, 18, 1, "…"), ["one two three four"]);
        assert_eq!(first_lines(text, 3, 1, "…"), [" …"]);
        assert!(first_lines(text, 9, 0, "…").is_empty());
    }

    #[test]
    fn of_a_note_without_room_the_first_sentences_are_whole() {
        let note = "One wave of 0.5 ms; four more. The last is not full.";
        assert_eq!(whole(note, 60, 1), [note]);
        assert_eq!(whole(note, 40, 1), ["One wave of 0.5 ms; four more."]);
        assert_eq!(whole(note, 20, 1), ["One wave of 0.5 ms"]);
        assert_eq!(whole(note, 20, 2), ["One wave of 0.5 ms; ", "four more."]);
        assert!(whole(note, 9, 1).is_empty());
        assert!(whole("", 9, 0).is_empty());
    }

    #[test]
    fn wrapped_rows_fit_and_lose_only_spaces() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("", 4), [""]);
        let text = "the quick brown fox jumps over extraordinarily-long lazy dogs";
        for width in 1..30 {
            let rows = wrap(text, width);
            assert!(rows.iter().all(|r| r.chars().count() <= usize::from(width)), "{rows:?}");
            assert_eq!(rows.concat().replace(' ', ""), text.replace(' ', ""));
        }
    }
}
