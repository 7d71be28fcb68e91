//! The keys mlsys knows, apart from any terminal library.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Ctrl(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    /// A key that moves, with Shift: it selects where there is a text to select in.
    Shift(Direction),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
}

/// The keys without a letter, as terminals and as people call them.
const NAMED: [(KeyCode, Key, &str); 15] = [
    (KeyCode::Enter, Key::Enter, "enter"),
    (KeyCode::Esc, Key::Esc, "esc"),
    (KeyCode::Tab, Key::Tab, "tab"),
    (KeyCode::BackTab, Key::BackTab, "shift-tab"),
    (KeyCode::Backspace, Key::Backspace, "backspace"),
    (KeyCode::Delete, Key::Delete, "delete"),
    (KeyCode::Up, Key::Up, "up"),
    (KeyCode::Down, Key::Down, "down"),
    (KeyCode::Left, Key::Left, "left"),
    (KeyCode::Right, Key::Right, "right"),
    (KeyCode::PageUp, Key::PageUp, "pgup"),
    (KeyCode::PageDown, Key::PageDown, "pgdn"),
    (KeyCode::Home, Key::Home, "home"),
    (KeyCode::End, Key::End, "end"),
    (KeyCode::Char(' '), Key::Char(' '), "space"),
];

impl Direction {
    const ALL: [Self; 6] = [Self::Up, Self::Down, Self::Left, Self::Right, Self::Home, Self::End];

    pub fn key(self) -> Key {
        match self {
            Self::Up => Key::Up,
            Self::Down => Key::Down,
            Self::Left => Key::Left,
            Self::Right => Key::Right,
            Self::Home => Key::Home,
            Self::End => Key::End,
        }
    }
}

impl Key {
    /// The key of a terminal event, unless it is one that means nothing here.
    pub fn from_event(event: KeyEvent) -> Option<Self> {
        // Keys with Alt are the terminal's or the window manager's, and no command of ours.
        if event.kind == KeyEventKind::Release || event.modifiers.contains(KeyModifiers::ALT) {
            return None;
        }
        if let KeyCode::Char(c) = event.code {
            let is_control = event.modifiers.contains(KeyModifiers::CONTROL);
            return Some(if is_control {
                Self::Ctrl(c.to_ascii_lowercase())
            } else {
                Self::Char(c)
            });
        }
        let key = NAMED.iter().find(|(code, _, _)| *code == event.code).map(|(_, key, _)| *key)?;
        let is_shifted = event.modifiers.contains(KeyModifiers::SHIFT);
        let direction = Direction::ALL.into_iter().find(|way| is_shifted && way.key() == key);
        Some(direction.map_or(key, Self::Shift))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, _, name)) = NAMED.iter().find(|(_, key, _)| key == self) {
            return f.write_str(name);
        }
        if let Self::Ctrl(c) = self {
            write!(f, "ctrl-{}", Self::Char(*c))
        } else if let Self::Shift(way) = self {
            write!(f, "shift-{}", way.key())
        } else if let Self::Char(c) = self {
            write!(f, "{c}")
        } else {
            Ok(())
        }
    }
}
