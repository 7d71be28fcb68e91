//! Bytes from the terminal as events: keys, pasted text, and the terminal's answers to questions.
//!
//! The terminal answers in the stream of keys, late and in pieces if it is far away. So the bytes are read here and
//! not by a library that knows keys only: to it, the colour of the background would be a dozen keys that were never typed.

#[cfg(test)]
mod tests;

use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
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
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Said> {
        self.pending.extend_from_slice(bytes);
        let mut said = Vec::new();
        let mut done = 0;
        loop {
            let rest = &self.pending[done..];
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
    let control = |c| Step::Took(1, Some(key(KeyCode::Char(char::from(c)), KeyModifiers::CONTROL)));
    match *bytes {
        [] => Step::More,
        [0x1b, ..] => escape(bytes),
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
    let have = &bytes[..count.min(bytes.len())];
    match std::str::from_utf8(have).map(|text| text.chars().next()) {
        Ok(Some(c)) if !c.is_control() => Letter::Whole(c, count),
        // Whole so far, but cut off.
        Err(error) if error.error_len().is_none() => Letter::Part,
        Ok(_) | Err(_) => Letter::No,
    }
}

/// Longer than any sequence or answer that means something here; what is longer is passed over.
const LONGEST: usize = 256;

/// The sequence that a stream begins with; its first byte is an escape.
fn escape(bytes: &[u8]) -> Step {
    match bytes.get(1) {
        None => Step::More,
        Some(b'[') => control_sequence(bytes),
        Some(b'O') => single_shift(bytes),
        Some(b']' | b'P' | b'_' | b'^' | b'X') => string(bytes),
        // The first was the key; the second may begin something.
        Some(0x1b) => Step::Took(1, Some(key(KeyCode::Esc, KeyModifiers::NONE))),
        Some(_) => match letter(&bytes[1..]) {
            Letter::Whole(c, count) => Step::Took(1 + count, Some(character(c, KeyModifiers::ALT))),
            Letter::Part => Step::More,
            Letter::No => Step::Took(2, None),
        },
    }
}

/// `ESC O` and a letter: function and arrow keys of some terminals.
fn single_shift(bytes: &[u8]) -> Step {
    let Some(&end) = bytes.get(2) else { return Step::More };
    let code = match end {
        b'P'..=b'S' => Some(KeyCode::F(end - b'P' + 1)),
        b'M' => Some(KeyCode::Enter),
        0x1b => return Step::Took(2, None),
        end => arrow(end),
    };
    Step::Took(3, code.map(|code| key(code, KeyModifiers::NONE)))
}

fn arrow(end: u8) -> Option<KeyCode> {
    Some(match end {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'Z' => KeyCode::BackTab,
        _ => return None,
    })
}

/// `ESC [`, parameters, and a letter.
fn control_sequence(bytes: &[u8]) -> Step {
    let body = &bytes[2..];
    // The kernel's console names its function keys with a second bracket and a letter.
    if body.first() == Some(&b'[') {
        return if body.len() > 1 { Step::Took(4, None) } else { Step::More };
    }
    let Some(end) = body.iter().position(|byte| !matches!(byte, 0x20..=0x3f)) else {
        return if bytes.len() > LONGEST { Step::Took(bytes.len(), None) } else { Step::More };
    };
    let (parameters, letter) = (&body[..end], body[end]);
    if !matches!(letter, 0x40..=0x7e) {
        // Something else begins in its middle.
        return Step::Took(2 + end, None);
    }
    let length = 2 + end + 1;
    let Ok(parameters) = std::str::from_utf8(parameters) else { return Step::Took(length, None) };
    if letter == b'M' && parameters.is_empty() {
        // The mouse as terminals told it long ago, in three bytes of its own.
        return if bytes.len() < length + 3 { Step::More } else { Step::Took(length + 3, None) };
    }
    if (letter, parameters) == (b'~', "200") {
        return Step::Paste(length);
    }
    Step::Took(length, meaning(parameters, letter))
}

fn meaning(parameters: &str, letter: u8) -> Option<Said> {
    if let Some(mouse) = parameters.strip_prefix('<') {
        return self::mouse(mouse, letter).map(|event| Said::Event(Event::Mouse(event)));
    }
    if parameters.starts_with('?') {
        // What kind of terminal it is: asked for because every terminal answers that.
        return (letter == b'c').then_some(Said::Fence);
    }
    let mut numbers = parameters
        .split(';')
        // Behind a colon stand details of a key that mean nothing here.
        .map(|number| number.split_once(':').map_or(number, |(number, _)| number))
        .map(|number| number.parse::<u32>().ok());
    let first = numbers.next().flatten();
    let modifiers = modifiers(numbers.next().flatten().unwrap_or(1));
    let code = match letter {
        b'~' => match first? {
            1 | 7 => KeyCode::Home,
            2 => KeyCode::Insert,
            3 => KeyCode::Delete,
            4 | 8 => KeyCode::End,
            5 => KeyCode::PageUp,
            6 => KeyCode::PageDown,
            n @ 11..=15 => KeyCode::F(n as u8 - 10),
            n @ 17..=21 => KeyCode::F(n as u8 - 11),
            n @ 23..=24 => KeyCode::F(n as u8 - 12),
            _ => return None,
        },
        b'P' | b'Q' | b'S' => KeyCode::F(letter - b'P' + 1),
        b'u' => match first.and_then(char::from_u32)? {
            '\u{1b}' => KeyCode::Esc,
            '\r' => KeyCode::Enter,
            '\t' => KeyCode::Tab,
            '\u{7f}' => KeyCode::Backspace,
            c if c.is_control() => return None,
            c => return Some(character(c, modifiers)),
        },
        b'I' => return Some(Said::Event(Event::FocusGained)),
        b'O' => return Some(Said::Event(Event::FocusLost)),
        letter => arrow(letter)?,
    };
    Some(key(code, modifiers))
}

/// Shift, Alt and Ctrl as terminals count them: one more than the sum of 1, 2 and 4.
fn modifiers(number: u32) -> KeyModifiers {
    let bits = number.saturating_sub(1);
    let mut modifiers = KeyModifiers::NONE;
    modifiers.set(KeyModifiers::SHIFT, bits & 1 != 0);
    modifiers.set(KeyModifiers::ALT, bits & 2 != 0);
    modifiers.set(KeyModifiers::CONTROL, bits & 4 != 0);
    modifiers
}

/// Button, column and row, counted from 1, and whether it went down or up.
fn mouse(text: &str, letter: u8) -> Option<MouseEvent> {
    let mut numbers = text.split(';').map(|number| number.parse::<u16>().ok());
    let (button, column, row) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let which = match button & 3 {
        0 => MouseButton::Left,
        1 => MouseButton::Middle,
        _ => MouseButton::Right,
    };
    let (moved, wheel) = (button & 32 != 0, button & 64 != 0);
    let kind = match (letter, wheel, button & 3) {
        (b'M', true, 0) => MouseEventKind::ScrollUp,
        (b'M', true, 1) => MouseEventKind::ScrollDown,
        (b'M', true, 2) => MouseEventKind::ScrollLeft,
        (b'M', true, _) => MouseEventKind::ScrollRight,
        (b'M', false, 3) => MouseEventKind::Moved,
        (b'M', false, _) if moved => MouseEventKind::Drag(which),
        (b'M', false, _) => MouseEventKind::Down(which),
        (b'm', _, _) => MouseEventKind::Up(which),
        _ => return None,
    };
    let (column, row) = (column.saturating_sub(1), row.saturating_sub(1));
    Some(MouseEvent { kind, column, row, modifiers: modifiers(1 + u32::from(button >> 2 & 7)) })
}

/// A text of the terminal's own, up to a bell or `ESC \`.
fn string(bytes: &[u8]) -> Step {
    let body = &bytes[2..];
    let Some(end) = body.iter().position(|byte| matches!(byte, 0x07 | 0x18 | 0x1a | 0x1b)) else {
        return if bytes.len() > LONGEST { Step::Took(bytes.len(), None) } else { Step::More };
    };
    let length = match (body[end], body.get(end + 1)) {
        (0x1b, None) => return Step::More,
        (0x1b, Some(b'\\')) => end + 2,
        // Cut off: something else begins.
        (0x1b, Some(_)) => return Step::Took(2 + end, None),
        _ => end + 1,
    };
    let text = std::str::from_utf8(&body[..end]).ok();
    let background = match bytes.get(1) {
        Some(b']') => text.and_then(|text| text.strip_prefix("11;")).and_then(color),
        Some(_) | None => None,
    };
    Step::Took(2 + length, background.map(Said::Background))
}

/// A colour as terminals write it: `rgb:` and three numbers of one to four hexadecimal digits, or `#rrggbb`.
fn color(text: &str) -> Option<Rgb> {
    let channel = |digits: &str| {
        let most = 16_u32.checked_pow(u32::try_from(digits.len()).ok()?)? - 1;
        let value = u32::from_str_radix(digits, 16).ok()?;
        (1..=4).contains(&digits.len()).then(|| (value * 255 / most) as u8)
    };
    if let Some(digits) = text.strip_prefix('#').filter(|digits| digits.len() == 6) {
        let part = |from: usize| channel(digits.get(from..from + 2)?);
        return Some(Rgb(part(0)?, part(2)?, part(4)?));
    }
    let numbers = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?;
    let mut numbers = numbers.split('/').map(channel);
    Some(Rgb(numbers.next()??, numbers.next()??, numbers.next()??))
}
