//! The rows of the table, and the table as a page to read: a command is a row here and an arm in `update.rs`.

use mlsys_kernel::Direction::{Backward, Forward};
use mlsys_kernel::Goal;
use mlsys_view::panel::Inspect;

use super::Choice::{NextBlock, NextLane, NextVariable, NextWarp, PreviousBlock, PreviousLane};
use super::Motion::{Bottom, Down, PageDown, PageUp, Top, Up};
use super::Place::{
    Confirm, Course, Filter, Glossary, Help, Kernel, Lab, Line, Palette, Picture, Presets, Records,
    Rows, Search, Steps, Text, Weights,
};
use super::{Binding, Command, Need, Place, Rank};
use crate::key::Key;

const READING: &[Place] = &[Text, Lab, Picture];
const PAGES: &[Place] = &[Course, Text, Lab, Picture, Help, Presets, Records];
const LISTS: &[Place] = &[Palette, Search, Filter, Glossary];
/// All places but the kernel: its text takes all letters.
const ALL: &[Place] = &[
    Course, Text, Lab, Picture, Help, Presets, Line, Palette, Confirm, Steps, Search, Filter, Rows,
    Weights, Glossary, Records,
];

/// `COMMAND: [KEYS] in PLACES, needs [NEEDS], rank RANK => LABEL, HELP;`
macro_rules! table {
    (@rank) => { Rank::Usual };
    (@rank $rank:ident) => { Rank::$rank };
    ($($command:ident $(($($argument:expr),*))? : [$($key:ident $(($letter:literal))?),*]
        in $places:expr $(, needs [$($need:ident),*])? $(, rank $rank:ident)? =>
        $label:literal, $help:literal;)*) => {
        &[$(Binding {
            command: Command::$command $(($($argument),*))?,
            keys: &[$(Key::$key $(($letter))?),*],
            places: $places,
            needs: &[$($(Need::$need),*)?],
            rank: table!(@rank $($rank)?),
            label: $label,
            help: $help,
        }),*]
    };
}

/// All commands; footer, help and palette show them in this order where nothing else ranks them.
pub const TABLE: &[Binding] = table! {
    Run: [Char(' ')] in READING, needs [Lab, Free], rank First =>
        "run/pause",
        "start the lab, pause it, go on; in a picture that has steps let them go on by themselves, or pause them";
    Enter: [Enter] in &[Course], rank First =>
        "open", "open the lesson";
    Enter: [Enter] in &[Text], needs [Activity], rank First =>
        "answer", "answer the marked question, or go to the marked lab";
    Enter: [Enter] in &[Lab], needs [Knob], rank First =>
        "type value", "type a value for the marked knob";
    NextActivity: [Char('n')] in READING, needs [Activities], rank First =>
        "next", "go to the next prediction, lab or question";
    Less: [Left, Char('-')] in &[Lab], needs [Knob] =>
        "less", "turn the marked knob down; while it runs if the knob is live";
    More: [Right, Char('+'), Char('=')] in &[Lab], needs [Knob] =>
        "more", "turn the marked knob up";
    SwitchSide: [Tab] in READING, rank First =>
        "side", "go from the text to the knobs, to the chosen picture, and back to the text";
    PreviousSide: [BackTab] in READING, rank Rare =>
        "side back",
        "go the other way round: from the text to the picture, to the knobs, to the text";
    Inspect(Inspect::Left): [Left] in &[Picture], needs [Picture] =>
        "cursor",
        "move the mark of the picture left; in charts the cursor of all at once; in a picture that has steps one back";
    Inspect(Inspect::Right): [Right] in &[Picture], needs [Picture], rank Rare =>
        "cursor", "move the mark or the cursor right; in a picture that has steps one on";
    Sort: [Enter] in &[Picture], needs [Table], rank First =>
        "sort",
        "sort the table by the marked column, the smallest first; again, the largest; again, not at all";
    Fold: [Char('c')] in &[Picture], needs [Groups], rank First =>
        "fold", "fold the group of the graph's selected node into one box, or unfold it";
    FoldAll: [Char('C')] in &[Picture], needs [Groups] =>
        "fold all", "fold all groups of the graph, or unfold them";
    Inspect(Inspect::NextPoint): [Char('.')] in &[Text, Lab], needs [Points], rank First =>
        "step on",
        "go a step of the graph, the kernel or the messages on, from the text and the knobs";
    Inspect(Inspect::PreviousPoint): [Char(',')] in &[Text, Lab], needs [Points] =>
        "step back",
        "go a step of the graph, the kernel or the messages back, from the text and the knobs";
    Walk(Goal::Line, Forward): [Char(')')] in READING, needs [Kernel] =>
        "next line", "go on in the kernel until the warp comes to another line";
    Walk(Goal::Line, Backward): [Char('(')] in READING, needs [Kernel], rank Rare =>
        "previous line", "go back in the kernel to where the warp came to a line";
    Walk(Goal::Barrier, Forward): [Char('}')] in READING, needs [Kernel] =>
        "next barrier", "go on in the kernel until a block has passed a barrier";
    Walk(Goal::Barrier, Backward): [Char('{')] in READING, needs [Kernel], rank Rare =>
        "previous barrier", "go back in the kernel to where a block had passed a barrier";
    Walk(Goal::Problem, Forward): [Char('*')] in READING, needs [Kernel] =>
        "next problem", "go on in the kernel until something goes wrong";
    Walk(Goal::Problem, Backward): [Char('#')] in READING, needs [Kernel], rank Rare =>
        "previous problem", "go back in the kernel to where something went wrong";
    Breakpoint: [Char('H')] in &[Picture], needs [Kernel], rank Rare =>
        "breakpoint", "set a breakpoint on the marked line of the kernel, or take it away";
    Walk(Goal::Breakpoint, Forward): [Char('N')] in READING, needs [Kernel], rank Rare =>
        "run on", "go on in the kernel until a warp comes to a breakpoint";
    Walk(Goal::Breakpoint, Backward): [Char('B')] in READING, needs [Kernel], rank Rare =>
        "run back", "go back in the kernel to where a warp came to a breakpoint";
    Choose(NextLane): [Char('a')] in READING, needs [Kernel], rank Rare =>
        "lane", "look at the next lane of the kernel's warp";
    Choose(PreviousLane): [Char('A')] in READING, needs [Kernel], rank Rare =>
        "previous lane", "look at the previous lane";
    Choose(NextWarp): [Char('W')] in READING, needs [Kernel], rank Rare =>
        "warp",
        "look at the next warp of the kernel's block and follow it; 0 follows the warp that goes";
    Choose(NextBlock): [Char('b')] in READING, needs [Kernel], rank Rare =>
        "block", "look at the kernel's next block and follow its warp";
    Choose(PreviousBlock): [Char('D')] in READING, needs [Kernel], rank Rare =>
        "previous block", "look at the kernel's previous block and follow its warp";
    Choose(NextVariable): [Char('V')] in READING, needs [Kernel], rank Rare =>
        "variable", "show the kernel's next variable in each lane";
    FilterRows: [Char('/')] in &[Picture], needs [Table] =>
        "filter", "show the rows with a text, or with a value that compares, such as memory > 20";
    Inspect(Inspect::Closer): [Char('+'), Char('=')] in &[Picture], needs [Space] =>
        "closer",
        "show half as many steps, about the cursor or the newest; in a graph larger boxes";
    Inspect(Inspect::Wider): [Char('-')] in &[Picture], needs [Space] =>
        "wider", "show twice as many steps; in a graph smaller boxes";
    Inspect(Inspect::Fit): [Char('0')] in &[Picture], needs [Parts] =>
        "all/follow",
        "show all steps, or follow the newest; in a graph follow the walk again; in a kernel the warp that goes";
    Inspect(Inspect::LogAxis): [Char('l')] in &[Picture], needs [Chart] =>
        "log", "make the axis of values logarithmic, or linear again";
    Inspect(Inspect::Smooth): [Char('m')] in &[Picture], needs [Smooth] =>
        "smooth",
        "smooth the curves, or show them as they are; noisy ones begin smoothed, the raw curve behind; in a timeline colour by label, such as the microbatch, or by kind";
    EarlierRuns: [Char('o')] in &[Lab, Picture], needs [EarlierRun] =>
        "earlier runs", "put the newest earlier run, all, or none behind the curves";
    Inspect(Inspect::PreviousPoint): [Char(',')] in &[Picture], needs [Points], rank Rare =>
        "previous point",
        "move the cursor to the previous recorded step, or go a step of a graph or a kernel back";
    Inspect(Inspect::NextPoint): [Char('.')] in &[Picture], needs [Points], rank Rare =>
        "next point",
        "move the cursor to the next recorded step, or go a step of a graph or a kernel on";
    Inspect(Inspect::Earlier): [Char('<')] in &[Picture], needs [Parts], rank Rare =>
        "earlier steps",
        "show earlier steps; in a graph select a box further left; in a kernel back to the end of a block";
    Inspect(Inspect::Later): [Char('>')] in &[Picture], needs [Parts], rank Rare =>
        "later steps",
        "show later steps, at the last one the chart follows the run; in a graph select a box further right; in a kernel on to the end of a block";
    Help: [Char('?')] in &[Course, Text, Lab, Picture, Help, Presets, Records, Line], rank Kept =>
        "help", "show all keys, or leave them";
    Palette: [Char(':'), Ctrl('p')] in PAGES, rank First =>
        "find", "find a command, lesson, lab or run by some of its letters";
    Back: [Esc, Char('q')] in &[Text, Lab, Picture, Help, Presets, Records], rank Kept =>
        "back",
        "back to the course, or out of what lies over the page; runs stop, answers are kept";
    Back: [Esc, Enter, Char('q'), Char('y')] in &[Line], rank Kept =>
        "back", "leave the line; it stays in the clipboard";
    Back: [Esc] in &[Palette], rank Kept =>
        "back", "leave the palette; nothing is done";
    Enter: [Enter] in &[Presets], rank First =>
        "take it", "turn the knobs to the marked preset";
    Enter: [Enter] in &[Palette], rank First =>
        "do it", "do or open what is marked in the palette";
    Quit: [Char('q'), Esc] in &[Course], rank Kept =>
        "quit", "leave mlsys";
    Step: [Char('s')] in READING, needs [Lab, Steps, Free] =>
        "step", "do one step, then pause";
    Steps: [Char('S')] in READING, needs [Lab, Steps, Free] =>
        "n steps", "do as many steps as you type, then pause";
    ToTheEnd: [Char('E')] in READING, needs [Lab, Steps, Free] =>
        "to the end", "go on to the last step at full speed";
    Freeze: [Char('F')] in READING, needs [Lab, Steps, Reported] =>
        "freeze", "keep the pictures as they are while the run goes on; again lets them catch up";
    Undo: [Char('u')] in READING, needs [Lab, Turned] =>
        "undo", "take the last turn of a knob back, live if the knob is";
    Redo: [Char('U')] in READING, needs [Lab, Undone] =>
        "redo", "do the turn of a knob again that was taken back";
    Search: [Char('/')] in &[Text, Lab] =>
        "search",
        "search the text; enter and down go to the next place, up to the previous one, esc stays there";
    Search: [Char('/')] in &[Course] =>
        "search", "list the lessons with these words in title, id or subject";
    Glossary: [Char('K')] in PAGES =>
        "glossary", "say what the terms on the screen mean";
    Yes: [Char('y')] in &[Confirm], rank Kept =>
        "yes", "do what is asked about; any other key does not";
    Enter: [Enter] in &[Steps], rank Kept =>
        "do them", "do the steps";
    Enter: [Enter] in &[Search], rank Kept =>
        "next", "go to the next place that has the words";
    Enter: [Enter] in &[Filter], rank Kept =>
        "open", "open the marked lesson";
    Enter: [Enter] in &[Rows], rank Kept =>
        "filter", "show these rows only";
    Enter: [Enter] in &[Glossary], rank First =>
        "show", "show the marked term by itself, or the related one that is marked";
    Enter: [Enter] in &[Weights], rank Kept =>
        "save", "save the weights in this file";
    Back: [Esc] in &[Confirm, Steps, Filter, Rows, Weights, Glossary], rank Kept =>
        "back", "leave the question, the field or the glossary; nothing is done";
    Back: [Esc] in &[Search], rank Kept =>
        "end here", "leave the search and stay where it led";
    Hint: [Char('h')] in &[Text], needs [Hint] =>
        "hint", "show one more hint for the marked question";
    Edit: [Char('t')] in READING, needs [Written] =>
        "edit kernel", "write the shown lab's kernel and run it as it is written";
    Run: [Ctrl('s')] in &[Kernel], rank First =>
        "run",
        "run the tests of the kernel that answers a question, or the lab with the kernel as it stands";
    Back: [Esc] in &[Kernel], rank Kept =>
        "leave", "leave the kernel; its text is kept";
    Undo: [Ctrl('u')] in &[Kernel], rank First =>
        "undo", "take the last change of the text back";
    Redo: [Ctrl('r')] in &[Kernel] =>
        "redo", "do the change again that was taken back";
    NextComplaint: [Ctrl('n')] in &[Kernel] =>
        "next error", "go to the next thing that is wrong with the text";
    Outside: [Ctrl('o')] in &[Kernel] =>
        "own editor", "open the text in the editor that VISUAL or EDITOR names";
    Hint: [Ctrl('t')] in &[Kernel], needs [Hint] =>
        "hint", "show one more hint for the question that the kernel answers";
    Reset: [Ctrl('b')] in &[Kernel] =>
        "begin again", "go back to the text that stood there at first; undo brings yours back";
    Select: [Ctrl(' ')] in &[Kernel], rank Rare =>
        "select",
        "begin a selection, which moving extends, or end it; shift and the arrows select too";
    Cut: [Ctrl('x')] in &[Kernel] =>
        "cut", "take out the selection, or the whole line";
    CopyText: [Ctrl('y')] in &[Kernel], rank Rare =>
        "copy", "copy the selection, or the whole line";
    PasteText: [Ctrl('v')] in &[Kernel] =>
        "paste", "put in what was cut or copied last";
    Help: [Ctrl('g')] in &[Kernel], rank Kept =>
        "help", "show all keys, or leave them";
    Palette: [Ctrl('p')] in &[Kernel], rank Rare =>
        "find", "find a command, lesson, lab or run by some of its letters";
    NextPanel: [Char('v')] in READING, needs [OtherPicture] =>
        "view", "show the lab's next picture large";
    FullScreen: [Char('z')] in READING, needs [Picture] =>
        "full screen", "give the whole screen to the chosen picture; again, or esc, takes it back";
    Export: [Char('e')] in READING, needs [Picture], rank Rare =>
        "export", "write the chosen picture as SVG and its values as CSV into the data folder";
    SaveWeights: [Ctrl('s')] in READING, needs [Lab, Weights], rank Rare =>
        "save weights",
        "save what the run that has ended learned: as .safetensors, which model_from of another lab and other programs open, or as .bpk";
    Tempo: [Char('f')] in READING =>
        "full speed", "run at full speed, or again at a pace that can be watched";
    Words: [Char('w')] in READING, needs [Lab] =>
        "in words", "say the pictures in words, or draw them again";
    NextLab: [Char(']')] in READING, needs [OtherLab] =>
        "next lab", "show the lesson's next lab";
    PreviousLab: [Char('[')] in READING, needs [OtherLab], rank Rare =>
        "previous lab", "show the lesson's previous lab";
    Stop: [Char('x')] in READING, needs [Running] =>
        "stop", "end the run and keep what it has shown";
    Reset: [Char('R')] in READING, needs [Lab, Changed] =>
        "reset", "end the run and put the knobs back; the last run stays as a dim curve";
    Instructor: [Char('i')] in READING, needs [Instructor], rank Rare =>
        "instructor", "show notes, answers and settings that students do not see, or hide them";
    Problems: [Char('!')] in ALL, needs [Problems], rank Rare =>
        "problems", "show all that is wrong with the lesson file that is previewed";
    Device: [Char('d')] in PAGES, needs [Devices] =>
        "device", "use the next usable device for new runs";
    Presets: [Char('P')] in READING, needs [Lab, Preset] =>
        "presets", "choose among settings of the lab that are worth looking at";
    Mouse: [Char('M')] in PAGES, rank Rare =>
        "mouse",
        "let the mouse choose and scroll, or give it back to the terminal for selecting text";
    CopyLine: [Char('y')] in &[Course, Text, Lab, Picture] =>
        "copy line", "copy the command line that opens what is on the screen, and show it";
    PreviousActivity: [Char('p')] in READING, needs [Activities], rank Rare =>
        "previous", "go to the previous prediction, lab or question";
    Move(Up): [Up, Char('k')] in PAGES, rank Rare =>
        "up", "scroll up, or mark the lesson, the knob or the picture's part above";
    Move(Down): [Down, Char('j')] in PAGES, rank Rare =>
        "down", "scroll down, or mark the lesson, the knob or the picture's part below";
    Move(PageUp): [PageUp, Ctrl('u')] in PAGES, rank Rare =>
        "page up", "half a screen up";
    Move(PageDown): [PageDown, Ctrl('d')] in PAGES, rank Rare =>
        "page down", "half a screen down";
    Move(Top): [Home, Char('g')] in PAGES, rank Rare =>
        "top", "to the top";
    Move(Bottom): [End, Char('G')] in PAGES, rank Rare =>
        "bottom", "to the bottom";
    Move(Up): [Up, Ctrl('p')] in LISTS, rank Rare =>
        "up", "mark another entry, or go to the previous place";
    Move(Down): [Down, Ctrl('n')] in LISTS, rank Rare =>
        "down", "mark another entry, or go to the next place";
    Move(PageUp): [PageUp] in LISTS, rank Rare =>
        "page up", "mark an entry further away";
    Move(PageDown): [PageDown] in LISTS, rank Rare =>
        "page down", "mark an entry further away";
    Records: [Char('r')] in &[Text, Lab, Picture, Records], needs [Lab], rank Rare =>
        "recorded",
        "list recorded runs of this lab: to put one behind the curves, or to replay one; or leave the list";
    Enter: [Enter] in &[Records], rank First =>
        "behind curves", "put the marked run behind the curves";
    Run: [Char(' ')] in &[Records], rank First =>
        "replay", "replay the marked run; f changes its speed";
    Quit: [Ctrl('c')] in &Place::ALL, rank Rare =>
        "quit", "leave mlsys from anywhere";
    Suspend: [Ctrl('z')] in &Place::ALL, rank Rare =>
        "suspend", "stop as a job of the shell; fg brings it back";
};

/// The pages, as against what lies over them.
const ON_A_PAGE: [Place; 5] = [Course, Text, Lab, Picture, Kernel];

/// Rows that hold at the same places, and the words for these.
pub struct Section {
    pub title: String,
    pub rows: Vec<&'static Binding>,
}

/// The table by places: where most keys hold first, then each page, then what lies over them.
pub fn sections() -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for row in TABLE {
        let title = title(row);
        match sections.iter_mut().find(|section| section.title == title) {
            Some(section) => section.rows.push(row),
            None => sections.push(Section { title, rows: vec![row] }),
        }
    }
    sections.sort_by_key(|section| {
        let places = section.rows.first().map_or(&[][..], |row| row.places);
        let home = Place::ALL.iter().position(|place| places.contains(place));
        let over = !places.iter().any(|place| ON_A_PAGE.contains(place));
        (over, std::cmp::Reverse(places.len()), home)
    });
    sections
}

fn title(row: &Binding) -> String {
    let pages: Vec<&str> = ON_A_PAGE
        .iter()
        .filter(|place| row.places.contains(place))
        .map(|place| place.word())
        .collect();
    match pages.as_slice() {
        [] => {
            let over: Vec<&str> = row.places.iter().map(|place| place.word()).collect();
            format!("Over a page: {}", over.join(", "))
        }
        ["course", "text", "lab", "picture", ..] => "On every page".to_owned(),
        ["kernel"] => "In a kernel that is being written".to_owned(),
        ["text", "lab", "picture"] => "In a lesson".to_owned(),
        pages => format!("On a page: {}", pages.join(", ")),
    }
}

pub fn markdown() -> String {
    let mut page = String::from(
        "# Keys\n\nThis page is made from the table of commands that the workbench itself reads: \
         `mlsys keys --markdown` prints it, and a test fails where it has fallen behind.\n\n\
         `?` shows the keys of the place you are at, `:` finds any command by some letters of its name.\n",
    );
    for Section { title, rows } in sections() {
        page.push_str(&format!(
            "\n## {title}\n\n| keys | command | what it does |\n| --- | --- | --- |\n"
        ));
        for row in rows {
            let keys: Vec<String> = row.keys.iter().map(|key| format!("`{key}`")).collect();
            let keys = keys.join(" ").replace('|', "\\|");
            page.push_str(&format!("| {keys} | {} | {} |\n", row.label, row.help));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_page_of_keys_is_that_of_the_table() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/keys.md");
        if std::env::var_os("MLSYS_BLESS").is_some() {
            std::fs::write(&file, markdown()).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap();
        assert!(
            kept == markdown(),
            "docs/keys.md has fallen behind: MLSYS_BLESS=1 cargo test writes it anew"
        );
    }

    #[test]
    fn every_row_stands_in_one_section() {
        let rows: usize = sections().iter().map(|section| section.rows.len()).sum();
        assert_eq!(rows, TABLE.len());
    }
}
