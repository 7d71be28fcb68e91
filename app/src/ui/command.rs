//! The one table of commands: dispatch, footer and help all read it.

use super::key::Key;

/// Something a person can tell the app to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Start the lab, pause it, or go on.
    Run,
    /// One optimizer step, then pause.
    Step,
    /// Forget the run and put the knobs back.
    Reset,
    /// End the run and keep what it has shown.
    Stop,
    /// Choose the knob above, or scroll up.
    Up,
    /// Choose the knob below, or scroll down.
    Down,
    /// Turn the knob down.
    Less,
    /// Turn the knob up.
    More,
    /// Open the lesson, answer the question, or type a knob's value.
    Enter,
    /// Go to the next prediction, lab or question.
    NextActivity,
    /// Go to the one before.
    PreviousActivity,
    /// Move between text and lab.
    SwitchSide,
    /// Show the lab's next picture.
    NextPanel,
    /// Run at a pace that can be watched, or at full speed.
    Tempo,
    /// Say the pictures in words, or draw them again.
    Words,
    /// Show the lesson's next lab.
    NextLab,
    /// Show the lesson's lab before.
    PreviousLab,
    /// Show one more hint.
    Hint,
    /// Half a screen up.
    PageUp,
    /// Half a screen down.
    PageDown,
    /// To the top.
    Top,
    /// To the bottom.
    Bottom,
    /// Use the next usable device.
    Device,
    /// This page.
    Help,
    /// Back to the course, or out of a field.
    Back,
    /// Leave mlsys.
    Quit,
    /// Stop as a job of the shell.
    Suspend,
}

/// Where the keys go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The list of lessons.
    Course,
    /// The text of a lesson.
    Text,
    /// The lab of a lesson.
    Lab,
    /// The help page.
    Help,
}

/// One row of the table.
pub struct Binding {
    /// What it does.
    pub command: Command,
    /// The keys that do it.
    pub keys: &'static [Key],
    /// Where they do it.
    pub places: &'static [Place],
    /// The word in the footer.
    pub label: &'static str,
    /// The sentence in the help.
    pub help: &'static str,
}

use Place::{Course, Help, Lab, Text};

const READING: &[Place] = &[Text, Lab];
const ALL: &[Place] = &[Course, Text, Lab, Help];

/// All commands; the footer shows them in this order and drops them from the end.
pub const TABLE: &[Binding] = &[
    row(
        Command::Run,
        &[Key::Char(' ')],
        READING,
        "run/pause",
        "start the lab, pause it, go on",
    ),
    row(
        Command::Enter,
        &[Key::Enter],
        &[Course],
        "open",
        "open the lesson",
    ),
    row(
        Command::Enter,
        &[Key::Enter],
        &[Text],
        "answer",
        "answer the marked question, or go to the marked lab",
    ),
    row(
        Command::Enter,
        &[Key::Enter],
        &[Lab],
        "type value",
        "type a value for the marked knob",
    ),
    row(
        Command::NextActivity,
        &[Key::Char('n')],
        READING,
        "next",
        "go to the next prediction, lab or question",
    ),
    row(
        Command::Less,
        &[Key::Left, Key::Char('-')],
        &[Lab],
        "less",
        "turn the marked knob down; while it runs if the knob is live",
    ),
    row(
        Command::More,
        &[Key::Right, Key::Char('+'), Key::Char('=')],
        &[Lab],
        "more",
        "turn the marked knob up",
    ),
    row(
        Command::SwitchSide,
        &[Key::Tab, Key::BackTab],
        READING,
        "text/lab",
        "move between the text and the lab",
    ),
    row(
        Command::Help,
        &[Key::Char('?')],
        ALL,
        "help",
        "show or leave this page",
    ),
    row(
        Command::Back,
        &[Key::Esc, Key::Char('q')],
        &[Text, Lab, Help],
        "back",
        "back to the course; runs stop, answers are kept",
    ),
    row(
        Command::Quit,
        &[Key::Char('q'), Key::Esc],
        &[Course],
        "quit",
        "leave mlsys",
    ),
    row(
        Command::Step,
        &[Key::Char('s')],
        READING,
        "step",
        "do one step, then pause",
    ),
    row(
        Command::Hint,
        &[Key::Char('h')],
        &[Text],
        "hint",
        "show one more hint for the marked question",
    ),
    row(
        Command::NextPanel,
        &[Key::Char('v')],
        READING,
        "view",
        "show the lab's next picture large",
    ),
    row(
        Command::Tempo,
        &[Key::Char('f')],
        READING,
        "full speed",
        "run at full speed, or again at a pace that can be watched",
    ),
    row(
        Command::Words,
        &[Key::Char('w')],
        READING,
        "in words",
        "say the pictures in words, or draw them again",
    ),
    row(
        Command::NextLab,
        &[Key::Char(']')],
        READING,
        "next lab",
        "show the lesson's next lab",
    ),
    row(
        Command::PreviousLab,
        &[Key::Char('[')],
        READING,
        "last lab",
        "show the lesson's lab before",
    ),
    row(
        Command::Stop,
        &[Key::Char('x')],
        READING,
        "stop",
        "end the run and keep what it has shown",
    ),
    row(
        Command::Reset,
        &[Key::Char('R')],
        READING,
        "reset",
        "end the run and put the knobs back; the last run stays as a dim curve",
    ),
    row(
        Command::Device,
        &[Key::Char('d')],
        ALL,
        "device",
        "use the next usable device for new runs",
    ),
    row(
        Command::PreviousActivity,
        &[Key::Char('p')],
        READING,
        "previous",
        "go to the prediction, lab or question before",
    ),
    row(
        Command::Up,
        &[Key::Up, Key::Char('k')],
        ALL,
        "up",
        "scroll up, or mark the lesson or knob above",
    ),
    row(
        Command::Down,
        &[Key::Down, Key::Char('j')],
        ALL,
        "down",
        "scroll down, or mark the lesson or knob below",
    ),
    row(
        Command::PageUp,
        &[Key::PageUp, Key::Ctrl('u')],
        ALL,
        "page up",
        "half a screen up",
    ),
    row(
        Command::PageDown,
        &[Key::PageDown, Key::Ctrl('d')],
        ALL,
        "page down",
        "half a screen down",
    ),
    row(
        Command::Top,
        &[Key::Home, Key::Char('g')],
        ALL,
        "top",
        "to the top",
    ),
    row(
        Command::Bottom,
        &[Key::End, Key::Char('G')],
        ALL,
        "bottom",
        "to the bottom",
    ),
    row(
        Command::Quit,
        &[Key::Ctrl('c')],
        ALL,
        "quit",
        "leave mlsys from anywhere",
    ),
    row(
        Command::Suspend,
        &[Key::Ctrl('z')],
        ALL,
        "suspend",
        "stop as a job of the shell; fg brings it back",
    ),
];

const fn row(
    command: Command,
    keys: &'static [Key],
    places: &'static [Place],
    label: &'static str,
    help: &'static str,
) -> Binding {
    Binding {
        command,
        keys,
        places,
        label,
        help,
    }
}

/// The command of a key at a place.
pub fn find(key: Key, place: Place) -> Option<Command> {
    at(place)
        .find(|binding| binding.keys.contains(&key))
        .map(|binding| binding.command)
}

/// The rows of a place.
pub fn at(place: Place) -> impl Iterator<Item = &'static Binding> {
    TABLE
        .iter()
        .filter(move |binding| binding.places.contains(&place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_does_two_things_at_one_place() {
        for place in [Course, Text, Lab, Help] {
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
        for place in [Course, Text, Lab, Help] {
            assert_eq!(find(Key::Char('?'), place), Some(Command::Help));
            assert_eq!(find(Key::Ctrl('c'), place), Some(Command::Quit));
            assert!(find(Key::Esc, place).is_some());
        }
    }
}
