//! The one table of commands: dispatch, footer, help and palette all read it; and the keys that edit text.

pub mod table;

use mlsys_kernel::Goal;
use mlsys_view::panel::Inspect;

use crate::key::{Direction, Key};

pub use table::TABLE;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Run,
    Step,
    Steps,
    ToTheEnd,
    Freeze,
    Undo,
    Redo,
    Edit,
    Outside,
    Select,
    Cut,
    CopyText,
    PasteText,
    NextComplaint,
    Search,
    Glossary,
    Yes,
    Reset,
    Stop,
    Move(Motion),
    Less,
    More,
    Enter,
    NextActivity,
    PreviousActivity,
    SwitchSide,
    PreviousSide,
    NextPanel,
    FullScreen,
    Inspect(Inspect),
    Fold,
    FoldAll,
    Walk(Goal, mlsys_kernel::Direction),
    Choose(Choice),
    Breakpoint,
    Fault,
    Sort,
    FilterRows,
    Export,
    SaveWeights,
    EarlierRuns,
    Tempo,
    Words,
    NextLab,
    PreviousLab,
    Hint,
    Instructor,
    Problems,
    Records,
    Device,
    Help,
    Palette,
    Presets,
    Mouse,
    CopyLine,
    Back,
    Quit,
    Suspend,
}

macro_rules! places {
    ($($place:ident $word:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Place { $($place),* }

        impl Place {
            pub const ALL: [Self; 17] = [$(Self::$place),*];

            pub fn word(self) -> &'static str {
                match self { $(Self::$place => $word),* }
            }
        }
    };
}

places! {
    Course "course",
    Text "text",
    Lab "lab",
    Picture "picture",
    Kernel "kernel",
    Help "help",
    Presets "presets",
    Line "line",
    Palette "palette",
    Confirm "question",
    Steps "steps",
    Search "search",
    Filter "filter",
    Rows "rows",
    Weights "file of weights",
    Glossary "glossary",
    Records "recorded runs",
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    Up,
    Down,
    PageUp,
    PageDown,
    Top,
    Bottom,
}

impl Motion {
    /// The place among `0..=last` that this leads to; `half` is half a screen.
    pub fn from(self, at: usize, half: usize, last: usize) -> usize {
        match self {
            Self::Up => at.saturating_sub(1),
            Self::Down => at.saturating_add(1).min(last),
            Self::PageUp => at.saturating_sub(half),
            Self::PageDown => at.saturating_add(half).min(last),
            Self::Top => 0,
            Self::Bottom => last,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    NextLane,
    PreviousLane,
    NextWarp,
    NextBlock,
    PreviousBlock,
    NextVariable,
}

/// What must hold for a command to do anything; [`crate::state::App::available`] says why it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Activity,
    Activities,
    Lab,
    OtherLab,
    Steps,
    Knob,
    Picture,
    Chart,
    Smooth,
    /// The chosen picture is a chart, a graph or a timeline: what has parts that can be looked at closer.
    Space,
    /// The chosen picture is a chart, or a graph with a walk; from the knobs any picture of the lab is such a graph.
    Points,
    /// The chosen picture has a part to go to: what needs Space, or a kernel.
    Parts,
    Kernel,
    /// A kernel that failed, or a refuted proof.
    Fault,
    Groups,
    Table,
    EarlierRun,
    OtherPicture,
    Running,
    Reported,
    Weights,
    Turned,
    Undone,
    Free,
    Changed,
    Written,
    Hint,
    Preset,
    Devices,
    Instructor,
    Problems,
}

/// How long a row holds out in a footer that grows narrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    Kept,
    First,
    Usual,
    Rare,
}

pub struct Binding {
    pub command: Command,
    pub keys: &'static [Key],
    pub places: &'static [Place],
    pub needs: &'static [Need],
    pub rank: Rank,
    pub label: &'static str,
    pub help: &'static str,
}

impl Binding {
    pub fn keys_text(&self) -> String {
        let keys: Vec<_> = self.keys.iter().map(ToString::to_string).collect();
        keys.join(" ")
    }
}

pub fn find(key: Key, place: Place) -> Option<Command> {
    at(place).find(|binding| binding.keys.contains(&key)).map(|binding| binding.command)
}

pub fn at(place: Place) -> impl Iterator<Item = &'static Binding> {
    TABLE.iter().filter(move |binding| binding.places.contains(&place))
}

/// Where text is edited: a key that is no command of the place edits the text there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    Field,
    Editor,
}

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

const BOTH: &[Surface] = &[Surface::Field, Surface::Editor];
const FIELD: &[Surface] = &[Surface::Field];
const EDITOR: &[Surface] = &[Surface::Editor];

/// What a key does, and on which surfaces; characters are inserted on both.
const KEYS: &[(Key, &[Surface], TextAction)] = &[
    (Key::Left, BOTH, TextAction::Move(Direction::Left)),
    (Key::Right, BOTH, TextAction::Move(Direction::Right)),
    (Key::Home, BOTH, TextAction::Move(Direction::Home)),
    (Key::End, BOTH, TextAction::Move(Direction::End)),
    (Key::Backspace, BOTH, TextAction::DeleteBack),
    (Key::Delete, BOTH, TextAction::Delete),
    (Key::Ctrl('a'), FIELD, TextAction::Move(Direction::Home)),
    (Key::Ctrl('e'), FIELD, TextAction::Move(Direction::End)),
    (Key::Ctrl('u'), FIELD, TextAction::DeleteToStart),
    (Key::Enter, FIELD, TextAction::Accept),
    (Key::Esc, FIELD, TextAction::Cancel),
    (Key::Up, EDITOR, TextAction::Move(Direction::Up)),
    (Key::Down, EDITOR, TextAction::Move(Direction::Down)),
    (Key::PageUp, EDITOR, TextAction::PageUp),
    (Key::PageDown, EDITOR, TextAction::PageDown),
    (Key::Enter, EDITOR, TextAction::NewLine),
    (Key::Tab, EDITOR, TextAction::Indent),
    (Key::BackTab, EDITOR, TextAction::Outdent),
];

/// What a key does to text on a surface. In a field, which has no selection, Shift makes no difference.
pub fn text_action(key: Key, surface: Surface) -> Option<TextAction> {
    match (key, surface) {
        (Key::Char(c), _) => Some(TextAction::Insert(c)),
        (Key::Shift(direction), Surface::Editor) => Some(TextAction::Select(direction)),
        (Key::Shift(direction), Surface::Field) => text_action(direction.key(), Surface::Field),
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
    fn no_key_does_two_things_at_one_place() {
        for place in Place::ALL {
            let mut seen = Vec::new();
            for binding in at(place) {
                for key in binding.keys {
                    assert!(!seen.contains(key), "{key} at {place:?}");
                    seen.push(*key);
                }
            }
        }
    }

    #[test]
    fn every_place_can_be_left_and_explained() {
        for place in Place::ALL {
            let explained = find(Key::Char('?'), place) == Some(Command::Help);
            let typing = "Palette Confirm Steps Search Filter Rows Weights Glossary Kernel";
            let letters_are_typed = typing.split(' ').any(|name| name == format!("{place:?}"));
            assert_ne!(explained, letters_are_typed, "{place:?}");
            assert_eq!(find(Key::Ctrl('c'), place), Some(Command::Quit));
            assert!(find(Key::Esc, place).is_some());
        }
    }

    #[test]
    fn every_row_has_a_key_a_place_and_words() {
        for row in TABLE {
            assert!(!row.keys.is_empty() && !row.places.is_empty(), "{}", row.help);
            assert!(!row.label.is_empty() && !row.help.is_empty());
        }
    }

    #[test]
    fn each_key_edits_in_one_way() {
        for surface in [Surface::Field, Surface::Editor] {
            let rows = KEYS.iter().filter(|(_, places, _)| places.contains(&surface));
            let keys: Vec<Key> = rows.map(|(key, _, _)| *key).collect();
            for (at, key) in keys.iter().enumerate() {
                assert!(!keys[at + 1..].contains(key), "{key} on {surface:?}");
            }
        }
    }
}
