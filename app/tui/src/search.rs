//! Looking for words in the lines of a lesson, across line ends.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthChar;

use crate::list::TextField;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    pub entry: TextField,
    /// The first line shown when the search began.
    pub from: usize,
    pub at: usize,
}

impl Search {
    pub fn new(from: usize) -> Self {
        Self { entry: TextField::over_the_page(""), from, at: 0 }
    }
}

/// A place where what is looked for stands: on one line, or on several in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit(pub Vec<Piece>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub line: usize,
    pub from: usize,
    pub to: usize,
}

struct Letter {
    c: char,
    line: usize,
    column: usize,
}

/// Stands between what no search crosses: blocks of text.
const GAP: char = '\n';

/// All places of a text, from top to bottom. Small letters stand for capitals too; capitals for themselves.
///
/// `edges` are the signs that cards and quotes have at the left of each line: they are no part of the text.
pub fn hits(lines: &[Line<'_>], wanted: &str, edges: &[&str]) -> Vec<Hit> {
    let wanted: Vec<char> = squeezed(wanted).chars().collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let exact = wanted.iter().any(|c| c.is_uppercase());
    let fold = |c: char| if exact { c } else { small(c) };
    let letters = letters(lines, edges);
    let mut hits = Vec::new();
    let mut at = 0;
    while let Some(window) = letters.get(at..at + wanted.len()) {
        if window.iter().map(|l| fold(l.c)).eq(wanted.iter().map(|&c| fold(c))) {
            hits.push(Hit(pieces(window)));
            at += wanted.len();
        } else {
            at += 1;
        }
    }
    hits
}

/// The words of lines as running text, as terms are looked for in it.
pub fn running_text(lines: &[Line<'_>], edges: &[&str]) -> String {
    letters(lines, edges).iter().map(|letter| letter.c).collect()
}

pub fn mark(line: &mut Line<'static>, piece: Piece, style: Style) {
    let mut column = 0;
    let mut spans: Vec<Span<'static>> = Vec::with_capacity(line.spans.len() + 2);
    for span in std::mem::take(&mut line.spans) {
        for c in span.content.chars() {
            let inside = (piece.from..piece.to).contains(&column);
            let style = if inside { span.style.patch(style) } else { span.style };
            match spans.last_mut() {
                Some(last) if last.style == style => last.content.to_mut().push(c),
                Some(_) | None => spans.push(Span::styled(c.to_string(), style)),
            }
            column += c.width().unwrap_or(0);
        }
    }
    line.spans = spans;
}

fn small(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// Runs of spaces as one, none at the front.
fn squeezed(text: &str) -> String {
    let mut squeezed = String::new();
    for c in text.chars() {
        let c = if c.is_whitespace() { ' ' } else { c };
        if c != ' ' || !squeezed.is_empty() && !squeezed.ends_with(' ') {
            squeezed.push(c);
        }
    }
    squeezed
}

/// The letters of all lines, one space between two lines of a block and a gap between blocks.
fn letters(lines: &[Line<'_>], edges: &[&str]) -> Vec<Letter> {
    let mut letters: Vec<Letter> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let mut column = 0;
        let mut begun = false;
        for c in line.spans.iter().flat_map(|span| span.content.chars()) {
            let here = column;
            column += c.width().unwrap_or(0);
            let is_edge = !begun && edges.iter().any(|edge| edge.starts_with(c));
            let space = c.is_whitespace() || is_edge;
            if space && (!begun || letters.last().is_some_and(|last| last.c == ' ')) {
                continue;
            }
            begun = true;
            letters.push(Letter { c: if space { ' ' } else { c }, line: index, column: here });
        }
        while letters.last().is_some_and(|last| last.c == ' ' && last.line == index) {
            letters.pop();
        }
        let end = if begun { ' ' } else { GAP };
        letters.push(Letter { c: end, line: index, column });
    }
    letters
}

fn pieces(window: &[Letter]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for letter in window {
        let to = letter.column + letter.c.width().unwrap_or(0);
        match pieces.last_mut() {
            Some(last) if last.line == letter.line => last.to = to,
            Some(_) | None => pieces.push(Piece { line: letter.line, from: letter.column, to }),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Modifier;

    fn found(text: &[&str], wanted: &str) -> Vec<Vec<(usize, usize, usize)>> {
        let lines: Vec<Line<'_>> = text.iter().map(|line| Line::from(*line)).collect();
        hits(&lines, wanted, &["│"])
            .into_iter()
            .map(|hit| hit.0.iter().map(|p| (p.line, p.from, p.to)).collect())
            .collect()
    }

    #[test]
    fn search_uses_smart_case() {
        let text = ["Loss and loss"];
        assert_eq!(found(&text, "loss"), [[(0, 0, 4)], [(0, 9, 13)]]);
        assert_eq!(found(&text, "Loss"), [[(0, 0, 4)]]);
        assert!(found(&text, "LOSS").is_empty());
        assert!(found(&text, " ").is_empty());
        assert!(found(&text, "").is_empty());
    }

    #[test]
    fn phrases_cross_lines_but_not_blocks() {
        let text = ["│ the learning", "│   rate is small", "", "learning", "", "rate"];
        assert_eq!(found(&text, "learning  rate"), [[(0, 6, 15), (1, 4, 8)]]);
        assert_eq!(found(&text, "rate").len(), 2);
    }

    #[test]
    fn columns_count_wide_letters_twice() {
        assert_eq!(found(&["漢字 loss"], "loss"), [[(0, 5, 9)]]);
    }

    #[test]
    fn a_mark_changes_the_style_of_its_columns_alone() {
        let mut line = Line::from(vec![Span::raw("the lo"), Span::raw("ss falls")]);
        let piece = Piece { line: 0, from: 4, to: 8 };
        mark(&mut line, piece, Style::new().add_modifier(Modifier::REVERSED));
        let marked: Vec<&str> = line
            .spans
            .iter()
            .filter(|span| span.style.add_modifier.contains(Modifier::REVERSED))
            .map(|span| span.content.as_ref())
            .collect();
        assert_eq!(marked, ["loss"]);
        assert_eq!(line.to_string(), "the loss falls");
    }
}
