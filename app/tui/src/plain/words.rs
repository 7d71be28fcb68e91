//! What a typed line means.

use mlsys_kernel::{Direction, Goal};
use mlsys_lab::nearest::nearest;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Read on, up to the next prediction, lab or question.
    Next,
    /// Go back to the one before.
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
    Lab(String),
    Checks,
    Lessons,
    Open(String),
    Help,
    Quit,
    Text(String),
}

pub struct Word {
    pub word: &'static str,
    pub more: &'static str,
    pub about: &'static str,
}

const fn word(word: &'static str, more: &'static str, about: &'static str) -> Word {
    Word { word, more, about }
}

pub const WORDS: &[Word] = &[
    word(
        "next",
        "",
        "read on to the next prediction, lab or question; an empty line does the same, and skips what is asked",
    ),
    word("back", "", "go back to the one before"),
    word("again", "", "say this one again"),
    word("list", "", "list predictions, labs and questions, with where they stand"),
    word("go", "NUMBER", "go to one by its number in that list"),
    word(
        "answer",
        "TEXT",
        "answer what is asked; the text alone does the same, unless it is one of these words",
    ),
    word(
        "edit",
        "",
        "write the kernel that is asked for, or that of the lab, in the editor that VISUAL or EDITOR names; answer @FILE takes one from a file",
    ),
    word("hint", "", "say one more hint"),
    word("run", "", "run the lab and wait for its end"),
    word("stop", "", "end the run and keep what it has reported"),
    word("set", "NAME VALUE", "turn a knob of the lab"),
    word("reset", "", "put all knobs back and forget the run"),
    word("save", "FILE", "save what the run has learned, as .safetensors or .bpk"),
    word("show", "", "say the lab's knobs and pictures"),
    word(
        "step",
        "",
        "go a step of the graph, the kernel or the messages on and say it; step back goes one back; in a kernel also step line, barrier, block, problem, breakpoint, end, each with back before it",
    ),
    word("thread", "NUMBER", "look at a thread of the kernel's block and follow its warp"),
    word("block", "NUMBER", "look at a block of the kernel"),
    word("variable", "NAME", "show a variable of the kernel in each lane"),
    word("breakpoint", "LINE", "set a breakpoint on a line of the kernel, or take it away"),
    word("lab", "NAME", "go to a lab by its name"),
    word("checks", "", "say what the checks come to"),
    word("lessons", "", "go back to the course and list its lessons"),
    word("open", "NUMBER or ID", "open a lesson"),
    word("help", "", "say this"),
    word("quit", "", "leave; everything is kept"),
];

/// Reads a line; what cannot be meant is an error that says what can.
pub fn read(line: &str) -> Result<Line, String> {
    let line = line.trim();
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let needs = |line: Line| {
        if rest.is_empty() {
            let known = WORDS.iter().find(|known| known.word == first);
            let more = known.map_or("", |known| known.more);
            Err(format!("write {first} {more}"))
        } else {
            Ok(line)
        }
    };
    let alone = |meant: Line| {
        // A text that begins with one of the words is an answer.
        if rest.is_empty() { meant } else { Line::Text(line.to_owned()) }
    };
    Ok(match first {
        "" => Line::Next,
        "next" | "skip" => alone(Line::Next),
        "back" => alone(Line::Back),
        "again" => alone(Line::Again),
        "list" => alone(Line::Activities),
        "edit" => alone(Line::Edit),
        "hint" => alone(Line::Hint),
        "run" => alone(Line::Run),
        "stop" => alone(Line::Stop),
        "reset" => alone(Line::Reset),
        "show" => alone(Line::Show),
        "step" if rest == "back" => Line::StepBack,
        "step" => match stride(rest) {
            Some((goal, way)) => Line::Walk(goal, way),
            None => alone(Line::StepOn),
        },
        "thread" | "block" | "breakpoint" => match (first, rest.parse()) {
            ("thread", Ok(number)) => Line::Thread(number),
            ("block", Ok(number)) => Line::Block(number),
            (_, Ok(line)) => Line::Breakpoint(line),
            (_, Err(_)) => Line::Text(line.to_owned()),
        },
        "variable" if !rest.is_empty() && !rest.contains(' ') => Line::Variable(rest.to_owned()),
        "checks" => alone(Line::Checks),
        "lessons" => alone(Line::Lessons),
        "help" | "?" => alone(Line::Help),
        "quit" | "exit" => alone(Line::Quit),
        "go" => needs(Line::Go(
            rest.parse()
                .map_err(|_| "write go NUMBER, with a number that list shows".to_owned())?,
        ))?,
        "answer" => needs(Line::Answer(rest.to_owned()))?,
        "save" => needs(Line::Save(rest.to_owned()))?,
        "lab" => needs(Line::Lab(rest.to_owned()))?,
        "open" => needs(Line::Open(rest.to_owned()))?,
        "set" => {
            let parts = rest.split_once('=').or_else(|| rest.split_once(char::is_whitespace));
            match parts {
                Some((name, value)) => Line::Set(name.trim().to_owned(), value.trim().to_owned()),
                None => return Err("write set NAME VALUE".to_owned()),
            }
        }
        _ => Line::Text(line.to_owned()),
    })
}

/// How far to go along a kernel, as it is said after `step`.
fn stride(rest: &str) -> Option<(Goal, Direction)> {
    let (way, what) = match rest.strip_prefix("back ") {
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
    Some((goal, way))
}

/// What to say to a text where nothing is asked.
pub fn not_understood(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    match nearest(first, WORDS.iter().map(|known| known.word)) {
        Some(near) => format!("'{first}' is not understood; did you mean {near}?"),
        None => format!("'{first}' is not understood here; help says what can be typed"),
    }
}
