//! What the terminal's events mean.

use crate::key::Key;
use crate::message::{Gesture, Message};

/// A key from a terminal event, for the input thread.
pub(crate) fn message_of(event: crossterm::event::Event) -> Option<Message> {
    use crossterm::event::Event;
    match event {
        Event::Key(key) => Key::from_event(key).map(Message::Key),
        Event::Paste(text) => Some(Message::Paste(text)),
        Event::Resize(width, height) => Some(Message::Resize { width, height }),
        Event::Mouse(mouse) => gesture(mouse),
        Event::FocusGained | Event::FocusLost => None,
    }
}

fn gesture(mouse: crossterm::event::MouseEvent) -> Option<Message> {
    use crossterm::event::{MouseButton, MouseEventKind};
    let gesture = match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => Gesture::Press,
        MouseEventKind::Drag(MouseButton::Left) => Gesture::Drag,
        MouseEventKind::ScrollUp => Gesture::WheelUp,
        MouseEventKind::ScrollDown => Gesture::WheelDown,
        MouseEventKind::Down(MouseButton::Middle | MouseButton::Right)
        | MouseEventKind::Drag(MouseButton::Middle | MouseButton::Right)
        | MouseEventKind::Up(_)
        | MouseEventKind::Moved
        | MouseEventKind::ScrollLeft
        | MouseEventKind::ScrollRight => return None,
    };
    Some(Message::Mouse { gesture, column: mouse.column, row: mouse.row })
}
