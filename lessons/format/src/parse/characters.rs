//! Characters that would do something to a terminal instead of being shown on it.

use mlsys_expr::{reorders, steers_terminal};

use crate::diagnostic::{Code, Place, Problems};

/// Whether a character has no place in a lesson: controls but line ends and tabs, and what reorders text.
pub(super) fn harmful(c: char) -> bool {
    steers_terminal(c) && !matches!(c, '\n' | '\r' | '\t')
}

/// Whether a text certainly has none of them and no carriage return, by its bytes alone, so that the whole of a
/// course is looked at in no time before the first frame.
fn is_plain(text: &str) -> bool {
    // Among the first bytes of longer characters, C2 begins the other controls and E2 what reorders text.
    let plain = |byte: &u8| {
        matches!(byte, b'\n' | b'\t' | 0x20..=0x7e | 0x80..=0xff) && !matches!(byte, 0xc2 | 0xe2)
    };
    text.as_bytes().iter().all(plain)
}

/// The text without escape sequences and control characters, its line ends plain newlines.
pub(super) fn harmless(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_escape(&mut rest),
            '\u{9b}' => skip_control_sequence(&mut rest),
            '\n' | '\t' => clean.push(c),
            c if steers_terminal(c) => {}
            c => clean.push(c),
        }
    }
    clean
}

/// Leaves out the rest of an escape sequence, but never beyond its line.
fn skip_escape(rest: &mut std::str::Chars<'_>) {
    let mut ahead = rest.clone();
    match ahead.next() {
        Some('[') => {
            *rest = ahead;
            skip_control_sequence(rest);
        }
        // A string (title, link, picture) up to BEL or ESC \.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            *rest = ahead;
            let mut ahead = rest.clone();
            while let Some(c) = ahead.next() {
                match c {
                    '\n' => return,
                    '\u{7}' | '\u{9c}' => break,
                    '\u{1b}' => {
                        ahead.next();
                        break;
                    }
                    _ => {}
                }
                *rest = ahead.clone();
            }
            *rest = ahead;
        }
        Some('\n') | None => {}
        Some(_) => *rest = ahead,
    }
}

fn skip_control_sequence(rest: &mut std::str::Chars<'_>) {
    let mut ahead = rest.clone();
    while let Some(c) = ahead.next() {
        match c {
            ' '..='?' => *rest = ahead.clone(),
            '@'..='~' => {
                *rest = ahead;
                return;
            }
            _ => return,
        }
    }
}

/// The text with every harmful character replaced by as many spaces as it has bytes, so that places stay right.
pub(super) fn blanked(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut blank = String::with_capacity(text.len());
    for c in text.chars() {
        if harmful(c) {
            blank.extend(std::iter::repeat_n(' ', c.len_utf8()));
        } else {
            blank.push(c);
        }
    }
    blank
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    /// They are left out with a warning; what reorders text is an error even here.
    Prose,
    /// A directive or the front matter.
    Directive,
}

/// Reports harmful characters.
pub(super) fn report(place: Place, problems: &mut Problems<'_>, context: Where) {
    let text = problems.source().slice(place);
    if is_plain(text) {
        return;
    }
    let at = |byte: usize, c: char| {
        let start = place.start + byte;
        Place::new(start, start + c.len_utf8())
    };
    // One message for each kind says it: a pasted terminal session has hundreds of escapes.
    if let Some((byte, c)) = text.char_indices().find(|&(_, c)| reorders(c)) {
        problems.error(
            Code::BidiOverride,
            at(byte, c),
            format!("U+{:04X} makes the text read in another order than it is written", c as u32),
            "remove it; right-to-left text needs no such character",
        );
    }
    let control = text.char_indices().find(|&(_, c)| harmful(c) && !reorders(c));
    if let Some((byte, c)) = control {
        let name = match c {
            '\u{1b}' => "an escape sequence".to_owned(),
            c => format!("the control character U+{:04X}", c as u32),
        };
        match context {
            Where::Prose => problems.warning(
                Code::ControlCharacter,
                at(byte, c),
                format!("{name} is left out of the text"),
                "remove it; Markdown has emphasis for what should stand out",
            ),
            Where::Directive => problems.error(
                Code::ControlCharacter,
                at(byte, c),
                format!("{name} is not allowed here"),
                "remove it",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_has_nothing_to_remove() {
        let characters = (0..=0xffff_u32).chain([0x1_f600]).filter_map(char::from_u32);
        for c in characters {
            let text = format!("a{c}b");
            if is_plain(&text) {
                assert!(!harmful(c) && c != '\r', "{c:?}");
            }
        }
        assert!(is_plain("Größe,\n\tα"));
    }
}
