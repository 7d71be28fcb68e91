//! Questions before something would be lost.

use super::palette::Target;

/// What is asked before it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirm {
    /// Ending the run and putting the knobs back.
    Reset,
    /// Leaving the lesson while its run goes on.
    Leave,
    /// Going elsewhere while the lesson's run goes on.
    Go(Target),
    /// Opening a lab's own page anew with the preset of this place in its list, while its run goes on.
    Preset(usize),
    /// Leaving mlsys while a run goes on.
    Quit,
}

impl Confirm {
    /// The question.
    pub fn sentence(&self) -> &'static str {
        match self {
            Self::Reset => "reset: y puts the knobs back and ends the run, any other key keeps",
            Self::Leave => {
                "a run goes on: y ends it and goes back to the course, any other key stays"
            }
            Self::Go(_) => "a run goes on: y ends it and leaves this lesson, any other key stays",
            Self::Preset(_) => "a run goes on: y ends it and takes the preset, any other key keeps",
            Self::Quit => {
                "a run goes on: y or ctrl-c again ends it and leaves mlsys, any other key stays"
            }
        }
    }
}
