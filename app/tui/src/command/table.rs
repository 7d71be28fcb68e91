//! The rows of the table: a command is a row here and an arm in `update.rs`.

use mlsys_kernel::{Direction, Goal};

use super::{Binding, Choice, Command, Motion, Need, Place, Rank};
use crate::key::Key;
use mlsys_view::panel::Inspect;

use Place::{
    Confirm, Course, Filter, Glossary, Help, Kernel, Lab, Line, Palette, Picture, Presets, Records,
    Rows, Search, Steps, Text, Weights,
};

const READING: &[Place] = &[Text, Lab, Picture];
const PAGES: &[Place] = &[Course, Text, Lab, Picture, Help, Presets, Records];
/// Overlays with a list and a text field.
const LISTS: &[Place] = &[Palette, Search, Filter, Glossary];
const ANYWHERE: &[Place] = &[
    Course, Text, Lab, Picture, Kernel, Help, Presets, Line, Palette, Confirm, Steps, Search,
    Filter, Rows, Weights, Glossary, Records,
];
/// The same but for the text that takes all letters.
const ALL: &[Place] = &[
    Course, Text, Lab, Picture, Help, Presets, Line, Palette, Confirm, Steps, Search, Filter, Rows,
    Weights, Glossary, Records,
];

/// All commands; footer, help and palette show them in this order where nothing else ranks them.
pub const TABLE: &[Binding] = &[
    row(
        Command::Run,
        &[Key::Char(' ')],
        READING,
        "run/pause",
        "start the lab, pause it, go on; in a picture that has steps let them go on by themselves, or pause them",
    )
    .needs(&[Need::Lab, Need::Free])
    .rank(Rank::First),
    row(
        Command::Enter,
        &[Key::Enter],
        &[Course],
        "open",
        "open the lesson",
    )
    .rank(Rank::First),
    row(
        Command::Enter,
        &[Key::Enter],
        &[Text],
        "answer",
        "answer the marked question, or go to the marked lab",
    )
    .needs(&[Need::Activity])
    .rank(Rank::First),
    row(
        Command::Enter,
        &[Key::Enter],
        &[Lab],
        "type value",
        "type a value for the marked knob",
    )
    .needs(&[Need::Knob])
    .rank(Rank::First),
    row(
        Command::NextActivity,
        &[Key::Char('n')],
        READING,
        "next",
        "go to the next prediction, lab or question",
    )
    .needs(&[Need::Activities])
    .rank(Rank::First),
    row(
        Command::Less,
        &[Key::Left, Key::Char('-')],
        &[Lab],
        "less",
        "turn the marked knob down; while it runs if the knob is live",
    )
    .needs(&[Need::Knob]),
    row(
        Command::More,
        &[Key::Right, Key::Char('+'), Key::Char('=')],
        &[Lab],
        "more",
        "turn the marked knob up",
    )
    .needs(&[Need::Knob]),
    row(
        Command::SwitchSide,
        &[Key::Tab],
        READING,
        "side",
        "go from the text to the knobs, to the chosen picture, and back to the text",
    )
    .rank(Rank::First),
    row(
        Command::PreviousSide,
        &[Key::BackTab],
        READING,
        "side back",
        "go the other way round: from the text to the picture, to the knobs, to the text",
    )
    .rank(Rank::Rare),
    row(
        Command::Inspect(Inspect::Left),
        &[Key::Left],
        &[Picture],
        "cursor",
        "move the mark of the picture left; in charts the cursor of all at once; in a picture that has steps one back",
    )
    .needs(&[Need::Picture]),
    row(
        Command::Inspect(Inspect::Right),
        &[Key::Right],
        &[Picture],
        "cursor",
        "move the mark or the cursor right; in a picture that has steps one on",
    )
    .needs(&[Need::Picture])
    .rank(Rank::Rare),
    row(
        Command::Sort,
        &[Key::Enter],
        &[Picture],
        "sort",
        "sort the table by the marked column, the smallest first; again, the largest; again, not at all",
    )
    .needs(&[Need::Table])
    .rank(Rank::First),
    row(
        Command::Fold,
        &[Key::Char('c')],
        &[Picture],
        "fold",
        "fold the group of the graph's selected node into one box, or unfold it",
    )
    .needs(&[Need::Groups])
    .rank(Rank::First),
    row(
        Command::FoldAll,
        &[Key::Char('C')],
        &[Picture],
        "fold all",
        "fold all groups of the graph, or unfold them",
    )
    .needs(&[Need::Groups]),
    row(
        Command::Inspect(Inspect::NextPoint),
        &[Key::Char('.')],
        &[Text, Lab],
        "step on",
        "go a step of the graph, the kernel or the messages on, from the text and the knobs",
    )
    .needs(&[Need::Points])
    .rank(Rank::First),
    row(
        Command::Inspect(Inspect::PreviousPoint),
        &[Key::Char(',')],
        &[Text, Lab],
        "step back",
        "go a step of the graph, the kernel or the messages back, from the text and the knobs",
    )
    .needs(&[Need::Points]),
    row(
        Command::Walk(Goal::Line, Direction::Forward),
        &[Key::Char(')')],
        READING,
        "next line",
        "go on in the kernel until the warp comes to another line",
    )
    .needs(&[Need::Kernel]),
    row(
        Command::Walk(Goal::Line, Direction::Backward),
        &[Key::Char('(')],
        READING,
        "line before",
        "go back in the kernel to where the warp came to a line",
    )
    .needs(&[Need::Kernel])
    .rank(Rank::Rare),
    row(
        Command::Walk(Goal::Barrier, Direction::Forward),
        &[Key::Char('}')],
        READING,
        "next barrier",
        "go on in the kernel until a block has passed a barrier",
    )
    .needs(&[Need::Kernel]),
    row(
        Command::Walk(Goal::Barrier, Direction::Backward),
        &[Key::Char('{')],
        READING,
        "barrier before",
        "go back in the kernel to where a block had passed a barrier",
    )
    .needs(&[Need::Kernel])
    .rank(Rank::Rare),
    row(
        Command::Walk(Goal::Problem, Direction::Forward),
        &[Key::Char('*')],
        READING,
        "next problem",
        "go on in the kernel until something goes wrong",
    )
    .needs(&[Need::Kernel]),
    row(
        Command::Walk(Goal::Problem, Direction::Backward),
        &[Key::Char('#')],
        READING,
        "problem before",
        "go back in the kernel to where something went wrong",
    )
    .needs(&[Need::Kernel])
    .rank(Rank::Rare),
    row(
        Command::Breakpoint,
        &[Key::Char('H')],
        &[Picture],
        "breakpoint",
        "set a breakpoint on the marked line of the kernel, or take it away",
    )
    .needs(&[Need::Kernel])
    .rank(Rank::Rare),
    row(
        Command::Walk(Goal::Breakpoint, Direction::Forward),
        &[Key::Char('N')],
        READING,
        "run on",
        "go on in the kernel until a warp comes to a breakpoint",
    )
    .needs(&[Need::Kernel])
    .rank(Rank::Rare),
    row(
        Command::Walk(Goal::Breakpoint, Direction::Backward),
        &[Key::Char('B')],
        READING,
        "run back",
        "go back in the kernel to where a warp came to a breakpoint",
    )
    .needs(&[Need::Kernel])
    .rank(Rank::Rare),
    row(
        Command::Choose(Choice::NextLane),
        &[Key::Char('a')],
        READING,
        "lane",
        "look at the next lane of the kernel's warp",
    )
    .needs(&[Need::Kernel])
    .rank(Rank::Rare),
    row(
        Command::Choose(Choice::PreviousLane),
        &[Key::Char('A')],
        READING,
        "lane before",
        "look at the lane before",
    )
    .needs(&[Need::Kernel])
    .rank(Rank::Rare),
    row(
        Command::Choose(Choice::NextWarp),
        &[Key::Char('W')],
        READING,
        "warp",
        "look at the next warp of the kernel's block and follow it; 0 follows whichever goes",
    )
    .needs(&[Need::Kernel])
    .rank(Rank::Rare),
    row(
        Command::Choose(Choice::NextBlock),
        &[Key::Char('b')],
        READING,
        "block",
        "look at the kernel's next block and follow its warp",
    )
    .needs(&[Need::Kernel])
    .rank(Rank::Rare),
    row(
        Command::Choose(Choice::PreviousBlock),
        &[Key::Char('D')],
        READING,
        "block before",
        "look at the kernel's block before and follow its warp",
    )
    .needs(&[Need::Kernel])
    .rank(Rank::Rare),
    row(
        Command::Choose(Choice::NextVariable),
        &[Key::Char('V')],
        READING,
        "variable",
        "show the kernel's next variable in each lane",
    )
    .needs(&[Need::Kernel])
    .rank(Rank::Rare),
    row(
        Command::FilterRows,
        &[Key::Char('/')],
        &[Picture],
        "filter",
        "show the rows that have a text or whose column compares, such as memory > 20",
    )
    .needs(&[Need::Table]),
    row(
        Command::Inspect(Inspect::Closer),
        &[Key::Char('+'), Key::Char('=')],
        &[Picture],
        "closer",
        "show half as many steps, about the cursor or the newest; in a graph larger boxes",
    )
    .needs(&[Need::Space]),
    row(
        Command::Inspect(Inspect::Wider),
        &[Key::Char('-')],
        &[Picture],
        "wider",
        "show twice as many steps; in a graph smaller boxes",
    )
    .needs(&[Need::Space]),
    row(
        Command::Inspect(Inspect::Fit),
        &[Key::Char('0')],
        &[Picture],
        "all/follow",
        "show all steps, or follow the newest; in a graph follow the walk again; in a kernel whichever warp goes",
    )
    .needs(&[Need::Parts]),
    row(
        Command::Inspect(Inspect::LogAxis),
        &[Key::Char('l')],
        &[Picture],
        "log",
        "make the axis of values logarithmic, or linear again",
    )
    .needs(&[Need::Chart]),
    row(
        Command::Inspect(Inspect::Smooth),
        &[Key::Char('m')],
        &[Picture],
        "smooth",
        "smooth the curves, or show them as they are; noisy ones begin smoothed, the raw curve behind; in a timeline colour by label, such as the microbatch, or by kind",
    )
    .needs(&[Need::Smooth]),
    row(
        Command::EarlierRuns,
        &[Key::Char('o')],
        &[Lab, Picture],
        "earlier runs",
        "put the newest earlier run, all, or none behind the curves",
    )
    .needs(&[Need::EarlierRun]),
    row(
        Command::Inspect(Inspect::PreviousPoint),
        &[Key::Char(',')],
        &[Picture],
        "point before",
        "move the cursor to the recorded step before, or go a step of a graph or a kernel back",
    )
    .needs(&[Need::Points])
    .rank(Rank::Rare),
    row(
        Command::Inspect(Inspect::NextPoint),
        &[Key::Char('.')],
        &[Picture],
        "next point",
        "move the cursor to the next recorded step, or go a step of a graph or a kernel on",
    )
    .needs(&[Need::Points])
    .rank(Rank::Rare),
    row(
        Command::Inspect(Inspect::Earlier),
        &[Key::Char('<')],
        &[Picture],
        "earlier steps",
        "show earlier steps; in a graph select a box further left; in a kernel back to the end of a block",
    )
    .needs(&[Need::Parts])
    .rank(Rank::Rare),
    row(
        Command::Inspect(Inspect::Later),
        &[Key::Char('>')],
        &[Picture],
        "later steps",
        "show later steps, at the last one the chart follows the run; in a graph select a box further right; in a kernel on to the end of a block",
    )
    .needs(&[Need::Parts])
    .rank(Rank::Rare),
    row(
        Command::Help,
        &[Key::Char('?')],
        &[Course, Text, Lab, Picture, Help, Presets, Records, Line],
        "help",
        "show all keys, or leave them",
    )
    .rank(Rank::Kept),
    row(
        Command::Palette,
        &[Key::Char(':'), Key::Ctrl('p')],
        PAGES,
        "find",
        "find a command, lesson, lab or run by some of its letters",
    )
    .rank(Rank::First),
    row(
        Command::Back,
        &[Key::Esc, Key::Char('q')],
        &[Text, Lab, Picture, Help, Presets, Records],
        "back",
        "back to the course, or out of what lies over the page; runs stop, answers are kept",
    )
    .rank(Rank::Kept),
    row(
        Command::Back,
        &[Key::Esc, Key::Enter, Key::Char('q'), Key::Char('y')],
        &[Line],
        "back",
        "leave the line; it stays in the clipboard",
    )
    .rank(Rank::Kept),
    row(
        Command::Back,
        &[Key::Esc],
        &[Palette],
        "back",
        "leave the palette; nothing is done",
    )
    .rank(Rank::Kept),
    row(
        Command::Enter,
        &[Key::Enter],
        &[Presets],
        "take it",
        "turn the knobs to the marked preset",
    )
    .rank(Rank::First),
    row(
        Command::Enter,
        &[Key::Enter],
        &[Palette],
        "do it",
        "do or open what is marked in the palette",
    )
    .rank(Rank::First),
    row(
        Command::Quit,
        &[Key::Char('q'), Key::Esc],
        &[Course],
        "quit",
        "leave mlsys",
    )
    .rank(Rank::Kept),
    row(
        Command::Step,
        &[Key::Char('s')],
        READING,
        "step",
        "do one step, then pause",
    )
    .needs(&[Need::Lab, Need::Steps, Need::Free]),
    row(
        Command::Steps,
        &[Key::Char('S')],
        READING,
        "n steps",
        "do as many steps as you type, then pause",
    )
    .needs(&[Need::Lab, Need::Steps, Need::Free]),
    row(
        Command::ToTheEnd,
        &[Key::Char('E')],
        READING,
        "to the end",
        "go on to the last step at full speed",
    )
    .needs(&[Need::Lab, Need::Steps, Need::Free]),
    row(
        Command::Freeze,
        &[Key::Char('F')],
        READING,
        "freeze",
        "keep the pictures as they are while the run goes on; again lets them catch up",
    )
    .needs(&[Need::Lab, Need::Steps, Need::Reported]),
    row(
        Command::Undo,
        &[Key::Char('u')],
        READING,
        "undo",
        "take the last turn of a knob back, live if the knob is",
    )
    .needs(&[Need::Lab, Need::Turned]),
    row(
        Command::Redo,
        &[Key::Char('U')],
        READING,
        "redo",
        "do the turn of a knob again that was taken back",
    )
    .needs(&[Need::Lab, Need::Undone]),
    row(
        Command::Search,
        &[Key::Char('/')],
        &[Text, Lab],
        "search",
        "search the text; enter and down go to the next place, up to the one before, esc stays there",
    ),
    row(
        Command::Search,
        &[Key::Char('/')],
        &[Course],
        "search",
        "list the lessons whose title, id or subject has the words",
    ),
    row(
        Command::Glossary,
        &[Key::Char('K')],
        PAGES,
        "glossary",
        "say what the terms on the screen mean",
    ),
    row(
        Command::Yes,
        &[Key::Char('y')],
        &[Confirm],
        "yes",
        "do what is asked about; any other key does not",
    )
    .rank(Rank::Kept),
    row(
        Command::Enter,
        &[Key::Enter],
        &[Steps],
        "do them",
        "do the steps",
    )
    .rank(Rank::Kept),
    row(
        Command::Enter,
        &[Key::Enter],
        &[Search],
        "next",
        "go to the next place that has the words",
    )
    .rank(Rank::Kept),
    row(
        Command::Enter,
        &[Key::Enter],
        &[Filter],
        "open",
        "open the marked lesson",
    )
    .rank(Rank::Kept),
    row(
        Command::Enter,
        &[Key::Enter],
        &[Rows],
        "filter",
        "show these rows only",
    )
    .rank(Rank::Kept),
    row(
        Command::Enter,
        &[Key::Enter],
        &[Glossary],
        "show",
        "show the marked term by itself, or the related one that is marked",
    )
    .rank(Rank::First),
    row(
        Command::Enter,
        &[Key::Enter],
        &[Weights],
        "save",
        "save the weights in this file",
    )
    .rank(Rank::Kept),
    row(
        Command::Back,
        &[Key::Esc],
        &[Confirm, Steps, Filter, Rows, Weights, Glossary],
        "back",
        "leave the question, the field or the glossary; nothing is done",
    )
    .rank(Rank::Kept),
    row(
        Command::Back,
        &[Key::Esc],
        &[Search],
        "end here",
        "leave the search and stay where it led",
    )
    .rank(Rank::Kept),
    row(
        Command::Hint,
        &[Key::Char('h')],
        &[Text],
        "hint",
        "show one more hint for the marked question",
    )
    .needs(&[Need::Hint]),
    row(
        Command::Edit,
        &[Key::Char('t')],
        READING,
        "edit kernel",
        "write the shown lab's kernel and run it as it is written",
    )
    .needs(&[Need::Written]),
    row(
        Command::Run,
        &[Key::Ctrl('s')],
        &[Kernel],
        "run",
        "run the tests of the kernel that answers a question, or the lab with the kernel as it stands",
    )
    .rank(Rank::First),
    row(
        Command::Back,
        &[Key::Esc],
        &[Kernel],
        "leave",
        "leave the kernel; its text is kept",
    )
    .rank(Rank::Kept),
    row(
        Command::Undo,
        &[Key::Ctrl('u')],
        &[Kernel],
        "undo",
        "take the last change of the text back",
    )
    .rank(Rank::First),
    row(
        Command::Redo,
        &[Key::Ctrl('r')],
        &[Kernel],
        "redo",
        "do the change again that was taken back",
    ),
    row(
        Command::NextComplaint,
        &[Key::Ctrl('n')],
        &[Kernel],
        "next error",
        "go to the next thing that is wrong with the text",
    ),
    row(
        Command::Outside,
        &[Key::Ctrl('o')],
        &[Kernel],
        "own editor",
        "open the text in the editor that VISUAL or EDITOR names",
    ),
    row(
        Command::Hint,
        &[Key::Ctrl('t')],
        &[Kernel],
        "hint",
        "show one more hint for the question that the kernel answers",
    )
    .needs(&[Need::Hint]),
    row(
        Command::Reset,
        &[Key::Ctrl('b')],
        &[Kernel],
        "begin again",
        "go back to the text that stood there at first; undo brings yours back",
    ),
    row(
        Command::Select,
        &[Key::Ctrl(' ')],
        &[Kernel],
        "select",
        "begin a selection, which moving extends, or end it; shift and the arrows select too",
    )
    .rank(Rank::Rare),
    row(
        Command::Cut,
        &[Key::Ctrl('x')],
        &[Kernel],
        "cut",
        "take out the selection, or the whole line",
    ),
    row(
        Command::CopyText,
        &[Key::Ctrl('y')],
        &[Kernel],
        "copy",
        "copy the selection, or the whole line",
    )
    .rank(Rank::Rare),
    row(
        Command::PasteText,
        &[Key::Ctrl('v')],
        &[Kernel],
        "paste",
        "put in what was cut or copied last",
    ),
    row(
        Command::Help,
        &[Key::Ctrl('g')],
        &[Kernel],
        "help",
        "show all keys, or leave them",
    )
    .rank(Rank::Kept),
    row(
        Command::Palette,
        &[Key::Ctrl('p')],
        &[Kernel],
        "find",
        "find a command, lesson, lab or run by some of its letters",
    )
    .rank(Rank::Rare),
    row(
        Command::NextPanel,
        &[Key::Char('v')],
        READING,
        "view",
        "show the lab's next picture large",
    )
    .needs(&[Need::OtherPicture]),
    row(
        Command::FullScreen,
        &[Key::Char('z')],
        READING,
        "full screen",
        "give the whole screen to the chosen picture; again, or esc, takes it back",
    )
    .needs(&[Need::Picture]),
    row(
        Command::Export,
        &[Key::Char('e')],
        READING,
        "export",
        "write the chosen picture as SVG and its values as CSV into the data folder",
    )
    .needs(&[Need::Picture])
    .rank(Rank::Rare),
    row(
        Command::SaveWeights,
        &[Key::Ctrl('s')],
        READING,
        "save weights",
        "save what the run that has ended learned: as .safetensors, which model_from of another lab and other programs open, or as .bpk",
    )
    .needs(&[Need::Lab, Need::Weights])
    .rank(Rank::Rare),
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
    )
    .needs(&[Need::Lab]),
    row(
        Command::NextLab,
        &[Key::Char(']')],
        READING,
        "next lab",
        "show the lesson's next lab",
    )
    .needs(&[Need::OtherLab]),
    row(
        Command::PreviousLab,
        &[Key::Char('[')],
        READING,
        "last lab",
        "show the lesson's lab before",
    )
    .needs(&[Need::OtherLab])
    .rank(Rank::Rare),
    row(
        Command::Stop,
        &[Key::Char('x')],
        READING,
        "stop",
        "end the run and keep what it has shown",
    )
    .needs(&[Need::Running]),
    row(
        Command::Reset,
        &[Key::Char('R')],
        READING,
        "reset",
        "end the run and put the knobs back; the last run stays as a dim curve",
    )
    .needs(&[Need::Lab, Need::Changed]),
    row(
        Command::Instructor,
        &[Key::Char('i')],
        READING,
        "instructor",
        "show notes, answers and settings that students do not see, or hide them",
    )
    .needs(&[Need::Instructor])
    .rank(Rank::Rare),
    row(
        Command::Problems,
        &[Key::Char('!')],
        ALL,
        "problems",
        "show all that is wrong with the lesson file that is previewed",
    )
    .needs(&[Need::Problems])
    .rank(Rank::Rare),
    row(
        Command::Device,
        &[Key::Char('d')],
        PAGES,
        "device",
        "use the next usable device for new runs",
    )
    .needs(&[Need::Devices]),
    row(
        Command::Presets,
        &[Key::Char('P')],
        READING,
        "presets",
        "choose among settings of the lab that are worth looking at",
    )
    .needs(&[Need::Lab, Need::Preset]),
    row(
        Command::Mouse,
        &[Key::Char('M')],
        PAGES,
        "mouse",
        "let the mouse choose and scroll, or give it back to the terminal for selecting text",
    )
    .rank(Rank::Rare),
    row(
        Command::CopyLine,
        &[Key::Char('y')],
        &[Course, Text, Lab, Picture],
        "copy line",
        "copy the command line that opens what is on the screen, and show it",
    ),
    row(
        Command::PreviousActivity,
        &[Key::Char('p')],
        READING,
        "previous",
        "go to the prediction, lab or question before",
    )
    .needs(&[Need::Activities])
    .rank(Rank::Rare),
    row(
        Command::Move(Motion::Up),
        &[Key::Up, Key::Char('k')],
        PAGES,
        "up",
        "scroll up, or mark the lesson, the knob or the picture's part above",
    )
    .rank(Rank::Rare),
    row(
        Command::Move(Motion::Down),
        &[Key::Down, Key::Char('j')],
        PAGES,
        "down",
        "scroll down, or mark the lesson, the knob or the picture's part below",
    )
    .rank(Rank::Rare),
    row(
        Command::Move(Motion::PageUp),
        &[Key::PageUp, Key::Ctrl('u')],
        PAGES,
        "page up",
        "half a screen up",
    )
    .rank(Rank::Rare),
    row(
        Command::Move(Motion::PageDown),
        &[Key::PageDown, Key::Ctrl('d')],
        PAGES,
        "page down",
        "half a screen down",
    )
    .rank(Rank::Rare),
    row(
        Command::Move(Motion::Top),
        &[Key::Home, Key::Char('g')],
        PAGES,
        "top",
        "to the top",
    )
    .rank(Rank::Rare),
    row(
        Command::Move(Motion::Bottom),
        &[Key::End, Key::Char('G')],
        PAGES,
        "bottom",
        "to the bottom",
    )
    .rank(Rank::Rare),
    row(
        Command::Move(Motion::Up),
        &[Key::Up, Key::Ctrl('p')],
        LISTS,
        "up",
        "mark another entry, or go to the place before",
    )
    .rank(Rank::Rare),
    row(
        Command::Move(Motion::Down),
        &[Key::Down, Key::Ctrl('n')],
        LISTS,
        "down",
        "mark another entry, or go to the next place",
    )
    .rank(Rank::Rare),
    row(
        Command::Move(Motion::PageUp),
        &[Key::PageUp],
        LISTS,
        "page up",
        "mark an entry further away",
    )
    .rank(Rank::Rare),
    row(
        Command::Move(Motion::PageDown),
        &[Key::PageDown],
        LISTS,
        "page down",
        "mark an entry further away",
    )
    .rank(Rank::Rare),
    row(
        Command::Records,
        &[Key::Char('r')],
        &[Text, Lab, Picture, Records],
        "recorded",
        "list recorded runs of this lab: to put one behind the curves, or to replay one; or leave the list",
    )
    .needs(&[Need::Lab])
    .rank(Rank::Rare),
    row(
        Command::Enter,
        &[Key::Enter],
        &[Records],
        "behind curves",
        "put the marked run behind the curves",
    )
    .rank(Rank::First),
    row(
        Command::Run,
        &[Key::Char(' ')],
        &[Records],
        "replay",
        "replay the marked run; f changes its speed",
    )
    .rank(Rank::First),
    row(
        Command::Quit,
        &[Key::Ctrl('c')],
        ANYWHERE,
        "quit",
        "leave mlsys from anywhere",
    )
    .rank(Rank::Rare),
    row(
        Command::Suspend,
        &[Key::Ctrl('z')],
        ANYWHERE,
        "suspend",
        "stop as a job of the shell; fg brings it back",
    )
    .rank(Rank::Rare),
];

impl Binding {
    const fn needs(mut self, needs: &'static [Need]) -> Self {
        self.needs = needs;
        self
    }

    const fn rank(mut self, rank: Rank) -> Self {
        self.rank = rank;
        self
    }
}

const fn row(
    command: Command,
    keys: &'static [Key],
    places: &'static [Place],
    label: &'static str,
    help: &'static str,
) -> Binding {
    Binding { command, keys, places, needs: &[], rank: Rank::Usual, label, help }
}
