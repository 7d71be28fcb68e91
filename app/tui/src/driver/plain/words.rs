//! What a typed line means.

use mlsys_kernel::{Direction, Goal};
use mlsys_lab::nearest::nearest;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Next,
    Back,
    Again,
    Activities,
    Go(usize),
    Answer(String),
    Edit,
    Hint,
    Run,
    Stop,
    Set(String, String),
    Reset,
    Save(String),
    Show,
    StepOn,
    StepBack,
    Walk(Goal, Direction),
    Thread(u32),
    Block(u32),
    Variable(String),
    Breakpoint(u32),
    Fault,
    Lab(String),
    Checks,
    Lessons,
    Open(String),
    Help,
    Quit,
    /// None of these: an answer where something is asked.
    Text(String),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    #[error("write {word} {more}")]
    Incomplete { word: String, more: &'static str },
    #[error("write go NUMBER, with a number that list shows")]
    NoNumber,
}

/// A word that can be typed, what follows it, and what it does, as help lists them.
pub const WORDS: &[(&str, &str, &str)] = &[
    (
        "next",
        "",
        "read on to the next prediction, lab or question; an empty line does the same, and skips what is asked",
    ),
    ("back", "", "go back to the previous one"),
    ("again", "", "say this one again"),
    ("list", "", "list predictions, labs and questions, with where they stand"),
    ("go", "NUMBER", "go to one by its number in that list"),
    (
        "answer",
        "TEXT",
        "answer what is asked; the text alone does the same, unless it is one of these words",
    ),
    (
        "edit",
        "",
        "write the kernel that is asked for, or that of the lab, in the editor that VISUAL or EDITOR names; answer @FILE takes one from a file",
    ),
    ("hint", "", "say one more hint"),
    ("run", "", "run the lab and wait for its end"),
    ("stop", "", "end the run and keep what it has reported"),
    ("set", "NAME VALUE", "turn a knob of the lab"),
    ("reset", "", "put all knobs back and forget the run"),
    ("save", "FILE", "save what the run has learned, as .safetensors or .bpk"),
    ("show", "", "say the lab's knobs and pictures"),
    (
        "step",
        "",
        "go a step of the graph, the kernel or the messages on and say it; step back goes one back; in a kernel also step line, barrier, block, problem, breakpoint, end, each with back before it",
    ),
    ("thread", "NUMBER", "look at a thread of the kernel's block and follow its warp"),
    ("block", "NUMBER", "look at a block of the kernel"),
    ("variable", "NAME", "show a variable of the kernel in each lane"),
    ("breakpoint", "LINE", "set a breakpoint on a line of the kernel, or take it away"),
    (
        "fault",
        "",
        "open the launch that failed a test of the kernel, or that refutes the proof, where it goes wrong; again goes back",
    ),
    ("lab", "NAME", "go to a lab by its name"),
    ("checks", "", "say what the checks come to"),
    ("lessons", "", "go back to the course and list its lessons"),
    ("open", "NUMBER or ID", "open a lesson"),
    ("help", "", "say this"),
    ("quit", "", "leave; everything is kept"),
];

/// Words that mean something only when they stand alone.
const ALONE: &[(&str, Line)] = &[
    ("", Line::Next),
    ("next", Line::Next),
    ("skip", Line::Next),
    ("back", Line::Back),
    ("again", Line::Again),
    ("list", Line::Activities),
    ("edit", Line::Edit),
    ("hint", Line::Hint),
    ("run", Line::Run),
    ("stop", Line::Stop),
    ("reset", Line::Reset),
    ("show", Line::Show),
    ("fault", Line::Fault),
    ("step", Line::StepOn),
    ("checks", Line::Checks),
    ("lessons", Line::Lessons),
    ("help", Line::Help),
    ("?", Line::Help),
    ("quit", Line::Quit),
    ("exit", Line::Quit),
];

/// Reads a line; a text that only begins with one of the words is an answer.
pub fn read(line: &str) -> Result<Line, LineError> {
    let line = line.trim();
    let text = || Line::Text(line.to_owned());
    if let Some((_, meant)) = ALONE.iter().find(|(word, _)| *word == line) {
        return Ok(meant.clone());
    }
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let incomplete = || {
        let known = WORDS.iter().find(|(word, _, _)| *word == first);
        let more = known.map_or("", |(_, more, _)| *more);
        LineError::Incomplete { word: first.to_owned(), more }
    };
    let needed = || if rest.is_empty() { Err(incomplete()) } else { Ok(rest.to_owned()) };
    let number = |meant: fn(u32) -> Line| rest.parse().map_or_else(|_| text(), meant);
    Ok(match first {
        "step" if rest == "back" => Line::StepBack,
        "step" => stride(rest).map_or_else(text, |(goal, way)| Line::Walk(goal, way)),
        "thread" => number(Line::Thread),
        "block" => number(Line::Block),
        "breakpoint" => number(Line::Breakpoint),
        "variable" if !rest.is_empty() && !rest.contains(' ') => Line::Variable(rest.to_owned()),
        "go" => Line::Go(rest.parse().map_err(|_| LineError::NoNumber)?),
        "answer" => Line::Answer(needed()?),
        "save" => Line::Save(needed()?),
        "lab" => Line::Lab(needed()?),
        "open" => Line::Open(needed()?),
        "set" => {
            let parts = rest.split_once('=').or_else(|| rest.split_once(char::is_whitespace));
            let (name, value) = parts.ok_or_else(incomplete)?;
            Line::Set(name.trim().to_owned(), value.trim().to_owned())
        }
        _ => text(),
    })
}

/// How far to go along a kernel, as it is said after `step`.
fn stride(rest: &str) -> Option<(Goal, Direction)> {
    let (direction, what) = match rest.strip_prefix("back ") {
        Some(what) => (Direction::Backward, what.trim()),
        None => (Direction::Forward, rest),
    };
    let goal = match what {
        "line" => Goal::Line,
        "barrier" => Goal::Barrier,
        "block" => Goal::Block,
        "problem" => Goal::Problem,
        "breakpoint" => Goal::Breakpoint,
        "end" => Goal::End,
        "start" => return Some((Goal::End, Direction::Backward)),
        _ => return None,
    };
    Some((goal, direction))
}

pub fn not_understood(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or("");
    match nearest(first, WORDS.iter().map(|(word, _, _)| *word)) {
        Some(near) => format!("'{first}' is not understood; did you mean {near}?"),
        None => format!("'{first}' is not understood here; help says what can be typed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_other_texts_are_answers() {
        let text = |text: &str| Line::Text(text.to_owned());
        for (line, meant) in [
            ("", Line::Next),
            ("  next \r\n", Line::Next),
            ("go 3", Line::Go(3)),
            ("set learning_rate 0.1", Line::Set("learning_rate".into(), "0.1".into())),
            ("set run.width = 8", Line::Set("run.width".into(), "8".into())),
            ("answer run", Line::Answer("run".into())),
            ("open systems/training-loop", Line::Open("systems/training-loop".into())),
            ("b a c", text("b a c")),
            ("2*512^3", text("2*512^3")),
            ("run the optimizer", text("run the optimizer")),
            ("Next", text("Next")),
        ] {
            assert_eq!(read(line), Ok(meant), "{line:?}");
        }
        for (line, complaint) in [
            ("go", "write go NUMBER, with a number that list shows"),
            ("set x", "write set NAME VALUE"),
            ("answer", "write answer TEXT"),
        ] {
            assert_eq!(read(line).unwrap_err().to_string(), complaint);
        }
    }

    #[test]
    fn every_word_that_help_lists_is_understood() {
        for (word, more, _) in WORDS {
            let line = match *more {
                "NUMBER" | "LINE" => format!("{word} 1"),
                more => format!("{word} {more}"),
            };
            assert!(!matches!(read(&line), Ok(Line::Text(_)) | Err(_)), "{line}");
        }
        assert_eq!(not_understood("hnit"), "'hnit' is not understood; did you mean hint?");
    }
}
