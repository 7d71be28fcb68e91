//! The keys that edit text, in a field of one line and in the editor of kernels: the part of the table below its
//! commands. A key that is a command at a place never reaches it.

use crate::key::{Direction, Key};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// A field of one line.
    Field,
    /// The editor of kernels.
    Editor,
}

use Surface::{Editor, Field};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextAction {
    Insert(char),
    Move(Direction),
    Select(Direction),
    PageUp,
    PageDown,
    DeleteBack,
    Delete,
    DeleteToStart,
    NewLine,
    Indent,
    Outdent,
    Accept,
    Cancel,
}

/// What a key does, and on which surfaces; characters are inserted on both.
const KEYS: &[(Key, &[Surface], TextAction)] = &[
    (Key::Left, &[Field, Editor], TextAction::Move(Direction::Left)),
    (Key::Right, &[Field, Editor], TextAction::Move(Direction::Right)),
    (Key::Home, &[Field, Editor], TextAction::Move(Direction::Home)),
    (Key::End, &[Field, Editor], TextAction::Move(Direction::End)),
    (Key::Backspace, &[Field, Editor], TextAction::DeleteBack),
    (Key::Delete, &[Field, Editor], TextAction::Delete),
    (Key::Ctrl('a'), &[Field], TextAction::Move(Direction::Home)),
    (Key::Ctrl('e'), &[Field], TextAction::Move(Direction::End)),
    (Key::Ctrl('u'), &[Field], TextAction::DeleteToStart),
    (Key::Enter, &[Field], TextAction::Accept),
    (Key::Esc, &[Field], TextAction::Cancel),
    (Key::Up, &[Editor], TextAction::Move(Direction::Up)),
    (Key::Down, &[Editor], TextAction::Move(Direction::Down)),
    (Key::PageUp, &[Editor], TextAction::PageUp),
    (Key::PageDown, &[Editor], TextAction::PageDown),
    (Key::Enter, &[Editor], TextAction::NewLine),
    (Key::Tab, &[Editor], TextAction::Indent),
    (Key::BackTab, &[Editor], TextAction::Outdent),
];

/// What a key does to text on a surface. In a field, which has no selection, Shift makes no difference.
pub fn text_action(key: Key, surface: Surface) -> Option<TextAction> {
    match (key, surface) {
        (Key::Char(c), _) => Some(TextAction::Insert(c)),
        (Key::Shift(direction), Editor) => Some(TextAction::Select(direction)),
        (Key::Shift(direction), Field) => text_action(direction.key(), Field),
        (key, surface) => {
            let row = KEYS.iter().find(|(k, places, _)| *k == key && places.contains(&surface));
            row.map(|(_, _, action)| *action)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_edits_in_one_way() {
        for surface in [Field, Editor] {
            let rows = KEYS.iter().filter(|(_, places, _)| places.contains(&surface));
            let keys: Vec<Key> = rows.map(|(key, _, _)| *key).collect();
            for (at, key) in keys.iter().enumerate() {
                assert!(!keys[at + 1..].contains(key), "{key} on {surface:?}");
            }
        }
    }
}
