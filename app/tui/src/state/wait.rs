//! What the learner waits for, and for how long.

/// Something that takes time before anything moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    Devices,
    /// What the run says it is doing, such as compiling kernels.
    Preparing(String),
    /// A pause was asked for in the middle of a step.
    Pause,
    /// The end was asked for in the middle of a step.
    Stop,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub what: Wait,
    pub seconds: u64,
}

impl Waiting {
    /// Seconds after which a run that was asked to end is said not to answer.
    pub const TIMEOUT: u64 = 5;

    /// Whether it is about a run that was asked to end long ago.
    pub fn is_unanswered(&self) -> bool {
        self.what == Wait::Stop && self.seconds >= Self::TIMEOUT
    }

    /// The words for it. A step that is over at once is not worth a word.
    pub fn words(&self) -> Option<String> {
        let seconds = self.seconds;
        let what = match &self.what {
            Wait::Devices => "looking for devices",
            Wait::Preparing(what) => what,
            Wait::Pause | Wait::Stop if seconds == 0 => return None,
            Wait::Pause => "waiting for the step to finish",
            Wait::Stop if self.is_unanswered() => {
                return Some(format!(
                    "it does not answer for {seconds} s: x again leaves it behind"
                ));
            }
            Wait::Stop => "ending: waiting for the step to finish",
        };
        Some(match seconds {
            0 => what.to_owned(),
            seconds => format!("{what}, {seconds} s"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_say_their_seconds() {
        let words = |what: Wait, seconds| Waiting { what, seconds }.words();
        let compiling = || Wait::Preparing("compiling kernels".to_owned());
        assert_eq!(words(compiling(), 0).as_deref(), Some("compiling kernels"));
        assert_eq!(words(compiling(), 7).as_deref(), Some("compiling kernels, 7 s"));
        assert_eq!(words(Wait::Pause, 0), None);
        assert_eq!(words(Wait::Pause, 2).as_deref(), Some("waiting for the step to finish, 2 s"));
        let unanswered = words(Wait::Stop, Waiting::TIMEOUT).unwrap();
        assert!(unanswered.contains("leaves it behind"), "{unanswered}");
    }
}
