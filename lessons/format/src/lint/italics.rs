//! Products that Markdown takes for emphasis.

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::lint::spoiler::texts;
use crate::model::{Block, Lesson};

/// A warning for each text with two stars between letters or digits, as in `64*64*9`, outside code and formulas: what
/// stands between them is drawn in italics, and the stars are not drawn at all.
pub fn italic_products(lesson: &Lesson) -> Vec<Diagnostic> {
    let found = lesson.blocks.iter().flat_map(|block| {
        let replies = block.as_question().map_or_else(Vec::new, |question| question.kind.says());
        let texts = texts(block).into_iter().chain(replies);
        texts.filter_map(move |text| Some((block, product(text)?)))
    });
    found.map(|(block, product)| warning(lesson, block, product)).collect()
}

/// The first product in a paragraph that has two stars between letters or digits.
fn product(text: &str) -> Option<&str> {
    let mut is_fenced = false;
    text.lines().find_map(|line| {
        is_fenced ^= line.starts_with("```");
        let is_code = is_fenced || line.starts_with("    ");
        if is_code { None } else { product_in(line) }
    })
}

/// The word with the first star between letters or digits, if its line has another such star.
fn product_in(line: &str) -> Option<&str> {
    let (mut is_code, mut braces, mut before) = (false, 0_usize, ' ');
    let mut stars = Vec::new();
    let mut chars = line.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        match char {
            '`' => is_code = !is_code,
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            '*' if !is_code && braces == 0 && before.is_alphanumeric() => {
                let after = chars.peek().is_some_and(|&(_, next)| next.is_alphanumeric());
                stars.extend(after.then_some(at));
            }
            _ => {}
        }
        before = char;
    }
    let [first, _, ..] = stars[..] else { return None };
    let start = line[..first].rfind(char::is_whitespace).map_or(0, |at| at + 1);
    line[start..].split_whitespace().next()
}

fn warning(lesson: &Lesson, block: &Block, product: &str) -> Diagnostic {
    let whole = block.place().unwrap_or(Place::new(0, lesson.source.text.len()));
    let place = lesson.source.slice(whole).find(product).map_or(whole, |at| {
        let start = whole.start + at;
        Place::new(start, start + product.len())
    });
    let message = format!("Markdown draws the stars of `{product}` as italics");
    let help = "write it with \u{b7}, with spaces around the stars, or in backticks";
    lesson.source.warning(Code::ItalicProduct, place, message).help(help)
}
