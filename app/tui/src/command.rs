//! The one table of commands: dispatch, footer, help and palette all read it.

pub mod editing;
mod place;
pub mod reference;
mod table;

use mlsys_kernel::{Direction, Goal};

use mlsys_view::panel::Inspect;

use super::key::Key;

pub use place::Place;
pub use table::TABLE;

/// Something a person can tell the app to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Start the lab, pause it, or go on.
    Run,
    /// One optimizer step, then pause.
    Step,
    /// The typed number of steps, then pause.
    Steps,
    /// Go on to the last step at full speed.
    ToTheEnd,
    /// Keep the pictures as they are while the run goes on, or let them catch up.
    Freeze,
    /// Take the last turn of a knob back, or the last change of a text.
    Undo,
    /// Do the turn or the change again that was taken back.
    Redo,
    /// Write the kernel of the shown lab.
    Edit,
    /// Write the kernel in the learner's own editor.
    Outside,
    /// Begin a selection in the text, or end it.
    Select,
    /// Take the selection or a line out of the text.
    Cut,
    /// Take a copy of the selection or of a line.
    CopyText,
    /// Put in what was cut or copied.
    PasteText,
    /// Go to the next thing that is wrong with the text.
    NextComplaint,
    /// Search the lesson, or filter the list of lessons.
    Search,
    /// Say what the terms on the screen mean.
    Glossary,
    /// Answer a question with yes.
    Yes,
    /// Forget the run and put the knobs back; in a text, begin again with what stood there at first.
    Reset,
    /// End the run and keep what it has shown.
    Stop,
    /// Move the mark, or scroll.
    Move(Motion),
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
    /// Go from the text to the knobs, to the pictures, and back.
    SwitchSide,
    /// The other way round.
    PreviousSide,
    /// Show the lab's next picture.
    NextPanel,
    /// Give the whole screen to the chosen picture, or take it back.
    FullScreen,
    /// Look at the chosen picture in another way.
    Inspect(Inspect),
    /// Fold the group of the selected node of a graph, or unfold it.
    Fold,
    /// Fold all groups of a graph, or unfold them.
    FoldAll,
    /// Go along the lab's kernel to the next place of a kind, or the one before.
    Walk(Goal, Direction),
    /// Look at another part of the lab's kernel.
    Choose(Choice),
    /// Set a breakpoint on the marked line of the kernel, or take it away.
    Breakpoint,
    /// Sort the table by its marked column, the other way, or not.
    Sort,
    /// Show some rows of the table only.
    FilterRows,
    /// Write the chosen picture into files.
    Export,
    /// Save what the run has learned as a file.
    SaveWeights,
    /// Show the newest earlier run, all, or none behind the curves.
    EarlierRuns,
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
    /// Show the lesson as instructors see it, or as students do.
    Instructor,
    /// Show all that is wrong with the followed lesson file.
    Problems,
    /// The recorded runs of this lab.
    Records,
    /// Use the next usable device.
    Device,
    /// The page of all commands.
    Help,
    /// Everything that can be done or opened, by name.
    Palette,
    /// Settings of the lab that are worth looking at.
    Presets,
    /// Take the mouse, or give it back to the terminal.
    Mouse,
    /// Copy and show the command line that opens what is on the screen.
    CopyLine,
    /// Back to the course, or out of what lies over it.
    Back,
    /// Leave mlsys.
    Quit,
    /// Stop as a job of the shell.
    Suspend,
}

/// A way to move through lines, lessons or knobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// One up.
    Up,
    /// One down.
    Down,
    /// Half a screen up.
    PageUp,
    /// Half a screen down.
    PageDown,
    /// To the first.
    Top,
    /// To the last.
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

/// What of a kernel is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The next lane of the warp.
    NextLane,
    /// The lane before.
    PreviousLane,
    /// The next warp of the block.
    NextWarp,
    /// The next block.
    NextBlock,
    /// The block before.
    PreviousBlock,
    /// The next variable in each lane.
    NextVariable,
}

/// What must hold for a command to do anything; [`super::app::App::available`] says why it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A prediction, lab or question is marked and still open.
    Activity,
    /// The lesson has something to go to.
    Activities,
    /// The lesson has a lab.
    Lab,
    /// The lesson has a second lab.
    OtherLab,
    /// The lab goes through steps.
    Steps,
    /// The lab has a knob.
    Knob,
    /// The lab has a picture.
    Picture,
    /// The chosen picture is a chart.
    Chart,
    /// The chosen picture is a chart or a timeline.
    Smooth,
    /// The chosen picture is a chart, a graph or a timeline: what has parts that can be looked at closer.
    Space,
    /// The chosen picture is a chart, or a graph with a walk; from the knobs any picture of the lab is such a graph.
    Points,
    /// The chosen picture has a part to go to: what needs Space, or a kernel.
    Parts,
    /// The lab has a kernel that can be stepped through.
    Kernel,
    /// The chosen picture is a graph with groups.
    Groups,
    /// The chosen picture is a table.
    Table,
    /// There is a run before the one on the screen.
    EarlierRun,
    /// The lab has a second picture.
    OtherPicture,
    /// A run is going on.
    Running,
    /// The lab has reported something.
    Reported,
    /// The lab's run has ended and left a trained network.
    Weights,
    /// A knob was turned.
    Turned,
    /// A turn of a knob was taken back.
    Undone,
    /// No other lab's run is going on.
    Free,
    /// There is a run to forget or a knob to put back.
    Changed,
    /// The shown lab runs a kernel with editable text.
    Written,
    /// The marked question has a hint that has not been shown.
    Hint,
    /// The lab has presets.
    Preset,
    /// The devices are known.
    Devices,
    /// Instructors may see what students do not.
    Instructor,
    /// Something is wrong with the followed lesson file.
    Problems,
}

/// How long a row holds out in a footer that grows narrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// It is always there: help and the way out.
    Kept,
    /// Among the first.
    First,
    /// Like most.
    Usual,
    /// Where there is room left over.
    Rare,
}

/// One row of the table.
pub struct Binding {
    /// What it does.
    pub command: Command,
    /// The keys that do it.
    pub keys: &'static [Key],
    /// Where they do it.
    pub places: &'static [Place],
    /// What must hold.
    pub needs: &'static [Need],
    /// Its place in a narrow footer.
    pub rank: Rank,
    /// The word in the footer.
    pub label: &'static str,
    /// The sentence in the help.
    pub help: &'static str,
}

impl Binding {
    /// Its keys as a person reads them.
    pub fn keys_text(&self) -> String {
        let keys: Vec<_> = self.keys.iter().map(ToString::to_string).collect();
        keys.join(" ")
    }
}

/// The command of a key at a place.
pub fn find(key: Key, place: Place) -> Option<Command> {
    at(place).find(|binding| binding.keys.contains(&key)).map(|binding| binding.command)
}

/// The rows of a place.
pub fn at(place: Place) -> impl Iterator<Item = &'static Binding> {
    TABLE.iter().filter(move |binding| binding.places.contains(&place))
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
            let letters_are_typed = matches!(
                place,
                Place::Palette
                    | Place::Confirm
                    | Place::Steps
                    | Place::Search
                    | Place::Filter
                    | Place::Rows
                    | Place::Weights
                    | Place::Glossary
                    | Place::Kernel
            );
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
}
