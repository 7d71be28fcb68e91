//! Bytes from the terminal as events: keys, pasted text, and the terminal's answers to questions.
//!
//! The terminal answers in the stream of keys, late and in pieces if it is far away. So the bytes are read here and
//! not by a library that knows keys only: to it, the colour of the background would be a dozen keys that were never typed.

mod sequence;
#[cfg(test)]
mod tests;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

use mlsys_view::theme::Rgb;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Event(Event),
    Background(Rgb),
    /// Every question put before this answer has been answered, or never will be.
    Fence,
}

#[derive(Debug, Default)]
pub struct Decoder {
    pending: Vec<u8>,
    pasting: bool,
}

/// Where a pasted text ends.
const PASTE_END: &[u8] = b"\x1b[201~";
/// So much pasted text is passed on without waiting for its end.
const PASTE_PIECE: usize = 64 * 1024;

/// What the first bytes of a stream are.
enum Step {
    More,
    /// This many bytes, and their meaning, if they have one here.
    Took(usize, Option<Said>),
    /// This many bytes, after which text is pasted.
    Paste(usize),
}

impl Decoder {
    /// Takes bytes in and tells what has become complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Said> {
        self.pending.extend_from_slice(bytes);
        let mut said = Vec::new();
        let mut done = 0;
        loop {
            let rest = self.pending.get(done..).unwrap_or_default();
            let step = if self.pasting { pasted(rest) } else { first(rest) };
            match step {
                Step::More => break,
                Step::Took(count, what) => {
                    self.pasting = false;
                    done += count;
                    said.extend(what);
                }
                Step::Paste(count) => {
                    self.pasting = true;
                    done += count;
                }
            }
        }
        self.pending.drain(..done);
        said
    }

    /// Whether more bytes decide what the last ones were.
    pub fn is_waiting(&self) -> bool {
        !self.pending.is_empty() && !self.pasting
    }

    /// No more bytes have come in time: a lone escape was the key, and half a sequence is nothing.
    pub fn give_up(&mut self) -> Vec<Said> {
        let pending = std::mem::take(&mut self.pending);
        match pending.as_slice() {
            [0x1b] => vec![key(KeyCode::Esc, KeyModifiers::NONE)],
            _ => Vec::new(),
        }
    }
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Said {
    Said::Event(Event::Key(KeyEvent::new(code, modifiers)))
}

fn character(c: char, modifiers: KeyModifiers) -> Said {
    let shift = if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
    key(KeyCode::Char(c), modifiers | shift)
}

fn pasted(bytes: &[u8]) -> Step {
    let text =
        |bytes: &[u8]| Some(Said::Event(Event::Paste(String::from_utf8_lossy(bytes).into_owned())));
    let end = bytes.windows(PASTE_END.len()).position(|window| window == PASTE_END);
    match end {
        Some(end) => Step::Took(end + PASTE_END.len(), text(&bytes[..end])),
        // More than can be typed: the end mark was lost, and keys must not be part of the text for ever.
        None if bytes.len() > PASTE_PIECE => Step::Took(bytes.len(), text(bytes)),
        None => Step::More,
    }
}

fn first(bytes: &[u8]) -> Step {
    let took = |code| Step::Took(1, Some(key(code, KeyModifiers::NONE)));
    let control = |c: u8| {
        let code = KeyCode::Char(char::from(c));
        Step::Took(1, Some(key(code, KeyModifiers::CONTROL)))
    };
    match *bytes {
        [] => Step::More,
        [0x1b, ..] => sequence::escape(bytes),
        [b'\r', ..] => took(KeyCode::Enter),
        [b'\t', ..] => took(KeyCode::Tab),
        // Which of the two the key sends is the terminal's choice.
        [0x7f | 0x08, ..] => took(KeyCode::Backspace),
        [0, ..] => control(b' '),
        [c @ 1..=0x1a, ..] => control(c - 1 + b'a'),
        [c @ 0x1c..=0x1f, ..] => control(c - 0x1c + b'4'),
        [_, ..] => match letter(bytes) {
            Letter::Whole(c, count) => Step::Took(count, Some(character(c, KeyModifiers::NONE))),
            Letter::Part => Step::More,
            Letter::No => Step::Took(1, None),
        },
    }
}

enum Letter {
    Whole(char, usize),
    Part,
    No,
}

fn letter(bytes: &[u8]) -> Letter {
    let count = match bytes.first() {
        Some(0..=0x7f) => 1,
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        Some(_) | None => return Letter::No,
    };
    let have = bytes.get(..count.min(bytes.len())).unwrap_or_default();
    match std::str::from_utf8(have) {
        Ok(text) => text.chars().next().map_or(Letter::No, |c| {
            if c.is_control() { Letter::No } else { Letter::Whole(c, count) }
        }),
        // Whole so far, but cut off.
        Err(error) if error.error_len().is_none() => Letter::Part,
        Err(_) => Letter::No,
    }
}
