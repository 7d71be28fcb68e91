//! The place in a text, kept while the text changes: a line that stands once in both versions keeps its row.

use std::collections::HashMap;

use super::super::app::App;
use super::super::document;
use super::super::page::Page;
use super::super::view;

/// The lines of a page's text as they stand on the screen.
pub(super) fn lines(page: &Page, app: &App) -> Vec<String> {
    let (width, _) = view::text_size(app.size);
    document::build(page, width, &app.look).lines.iter().map(ToString::to_string).collect()
}

/// Where the new text is to be scrolled to, so that what was read stays where it was.
///
/// Of all lines that both texts have exactly once, such as headings and the heads of activities, the one nearest to
/// the top of the screen holds. A text without any such line begins at its first.
/// Whoever is at the first line stays there.
pub(super) fn scroll(old: &[String], scroll: usize, new: &[String]) -> usize {
    if scroll == 0 {
        return 0;
    }
    let (in_old, in_new) = (places(old), places(new));
    let anchors = in_old.iter().filter_map(|(line, old)| {
        let (old, new) = ((*old)?, in_new.get(line).copied().flatten()?);
        Some((old, new))
    });
    // On a tie the line below the top wins: it is on the screen, the one above is not.
    let nearest = anchors.min_by_key(|(old, _)| (old.abs_diff(scroll), *old < scroll));
    match nearest {
        Some((old, new)) => (new + scroll).saturating_sub(old),
        None => 0,
    }
}

/// Each line that says something, with its place if it has only one.
fn places(lines: &[String]) -> HashMap<&str, Option<usize>> {
    let mut places = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim();
        if line.chars().any(char::is_alphanumeric) {
            places.entry(line).and_modify(|place| *place = None).or_insert(Some(at));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::scroll;

    fn lines(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_is_read_stays_where_it_is() {
        let old = lines("a b c d e f g h");
        for (top, new, expected) in [
            (4, "a b c d e f g h", 4),
            (4, "new new a b c d e f g h", 6),
            (4, "c d e f g h", 2),
            // The line at the top was rewritten: the one below it holds.
            (4, "a b c d x f g h", 4),
            // And so were all below it.
            (4, "a 1 2 b c d x y z", 6),
            // A line that stands twice holds nothing.
            (4, "e e a b c d e f g h", 6),
            (0, "new a b c", 0),
            (4, "nothing stayed", 0),
        ] {
            assert_eq!(scroll(&old, top, &lines(new)), expected, "{top} {new}");
        }
    }
}
