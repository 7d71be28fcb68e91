//! The rows of the table, and the table as a page to read: a command is a variant of `Command`, a row here and an arm in `update.rs`.

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
        "start, pause or resume the lab; in a picture with steps, play or pause them";
    Enter: [Enter] in &[Course], rank First =>
        "open", "open the lesson";
    Enter: [Enter] in &[Text], needs [Activity], rank First =>
        "answer",
        "answer the marked question, or go to the marked lab; the letter of an option begins the answer too";
    Enter: [Enter] in &[Lab], needs [Knob], rank First =>
        "type value", "type a value for the marked knob";
    NextActivity: [Char('n')] in READING, needs [Activities], rank First =>
        "next", "read on to the next guess, lab or question";
    Less: [Left, Char('-')] in &[Lab], needs [Knob] =>
        "less", "turn the marked knob down; while it runs if the knob is live";
    More: [Right, Char('+'), Char('=')] in &[Lab], needs [Knob] =>
        "more", "turn the marked knob up";
    SwitchSide: [Tab] in READING, rank First =>
        "side", "move the focus: text, knobs, chosen picture";
    PreviousSide: [BackTab] in READING, rank Rare =>
        "side back",
        "move the focus backwards: text, chosen picture, knobs";
    Inspect(Inspect::Left): [Left] in &[Picture], needs [Picture] =>
        "cursor",
        "move the mark left; in charts the cursor of all charts; in a picture with steps, one step back";
    Inspect(Inspect::Right): [Right] in &[Picture], needs [Picture], rank Rare =>
        "cursor", "move the mark or the cursor right; in a picture with steps, one step forward";
    Sort: [Enter] in &[Picture], needs [Table], rank First =>
        "sort",
        "sort the table by the marked column, the smallest first; again, the largest; again, not at all";
    Fold: [Char('c')] in &[Picture], needs [Groups], rank First =>
        "fold", "fold the group of the graph's selected node into one box, or unfold it";
    FoldAll: [Char('C')] in &[Picture], needs [Groups] =>
        "fold all", "fold all groups of the graph, or unfold them";
    Inspect(Inspect::NextPoint): [Char('.')] in &[Text, Lab], needs [Points], rank First =>
        "step on",
        "step forward in the graph, kernel or messages while the focus is elsewhere";
    Inspect(Inspect::PreviousPoint): [Char(',')] in &[Text, Lab], needs [Points] =>
        "step back",
        "step back in the graph, kernel or messages while the focus is elsewhere";
    Walk(Goal::Line, Forward): [Char(')')] in READING, needs [Kernel] =>
        "next line", "run the kernel to the warp's next source line";
    Walk(Goal::Line, Backward): [Char('(')] in READING, needs [Kernel], rank Rare =>
        "previous line", "go back in the kernel to the warp's previous source line";
    Walk(Goal::Barrier, Forward): [Char('}')] in READING, needs [Kernel] =>
        "next barrier", "run the kernel until a block has passed a barrier";
    Walk(Goal::Barrier, Backward): [Char('{')] in READING, needs [Kernel], rank Rare =>
        "previous barrier", "go back in the kernel to the previous passed barrier";
    Walk(Goal::Problem, Forward): [Char('*')] in READING, needs [Kernel] =>
        "next problem", "run the kernel to the next fault";
    Walk(Goal::Problem, Backward): [Char('#')] in READING, needs [Kernel], rank Rare =>
        "previous problem", "go back in the kernel to the previous fault";
    Breakpoint: [Char('H')] in &[Picture], needs [Kernel], rank Rare =>
        "breakpoint", "set or remove a breakpoint on the marked line of the kernel";
    Walk(Goal::Breakpoint, Forward): [Char('N')] in READING, needs [Kernel], rank Rare =>
        "run on", "run the kernel to the next breakpoint";
    Walk(Goal::Breakpoint, Backward): [Char('B')] in READING, needs [Kernel], rank Rare =>
        "run back", "go back in the kernel to the previous breakpoint";
    Fault: [Char('L')] in READING, needs [Fault] =>
        "fault",
        "open the launch that failed a question's test, or that refutes a proof, where it goes wrong; again, or esc, goes back";
    Fault: [Ctrl('l')] in &[Kernel], needs [Fault], rank First =>
        "fault", "open the launch that failed a test, where it goes wrong; L or esc there goes back";
    Choose(NextLane): [Char('a')] in READING, needs [Kernel], rank Rare =>
        "lane", "show the next lane of the kernel's warp";
    Choose(PreviousLane): [Char('A')] in READING, needs [Kernel], rank Rare =>
        "previous lane", "show the previous lane of the kernel's warp";
    Choose(NextWarp): [Char('W')] in READING, needs [Kernel], rank Rare =>
        "warp",
        "show the next warp of the kernel's block and follow it; 0 follows the running warp";
    Choose(NextBlock): [Char('b')] in READING, needs [Kernel], rank Rare =>
        "block", "show the kernel's next block and follow its warp";
    Choose(PreviousBlock): [Char('D')] in READING, needs [Kernel], rank Rare =>
        "previous block", "show the kernel's previous block and follow its warp";
    Choose(NextVariable): [Char('V')] in READING, needs [Kernel], rank Rare =>
        "variable", "show the kernel's next variable in each lane";
    FilterRows: [Char('/')] in &[Picture], needs [Table] =>
        "filter", "show the rows with a text, or with a value that compares, such as memory > 20";
    Inspect(Inspect::Closer): [Char('+'), Char('=')] in &[Picture], needs [Space] =>
        "closer",
        "show half as many steps, around the cursor or the newest; in a graph, larger boxes";
    Inspect(Inspect::Wider): [Char('-')] in &[Picture], needs [Space] =>
        "wider", "show twice as many steps; in a graph, smaller boxes";
    Inspect(Inspect::Fit): [Char('0')] in &[Picture], needs [Parts] =>
        "all/follow",
        "show all steps, or follow the newest; in a graph, follow the walk again; in a kernel, the running warp";
    Inspect(Inspect::LogAxis): [Char('l')] in &[Picture], needs [Chart] =>
        "log", "switch the value axis between logarithmic and linear";
    Inspect(Inspect::Smooth): [Char('m')] in &[Picture], needs [Smooth] =>
        "smooth",
        "smooth the curves or show them raw; noisy ones begin smoothed over the raw curve; in a timeline, colour by label, such as the microbatch, or by kind";
    EarlierRuns: [Char('o')] in &[Lab, Picture], needs [EarlierRun] =>
        "earlier runs", "draw the newest earlier run, all, or none behind the curves; of a kernel, what the launch before cost";
    Inspect(Inspect::PreviousPoint): [Char(',')] in &[Picture], needs [Points], rank Rare =>
        "previous point",
        "move the cursor to the previous recorded step, or step back in a graph or kernel";
    Inspect(Inspect::NextPoint): [Char('.')] in &[Picture], needs [Points], rank Rare =>
        "next point",
        "move the cursor to the next recorded step, or step forward in a graph or kernel";
    Inspect(Inspect::Earlier): [Char('<')] in &[Picture], needs [Parts], rank Rare =>
        "earlier steps",
        "show earlier steps; in a graph, select a box further left; in a kernel, go back to the end of a block";
    Inspect(Inspect::Later): [Char('>')] in &[Picture], needs [Parts], rank Rare =>
        "later steps",
        "show later steps, at the last one follow the run; in a graph, select a box further right; in a kernel, go on to the end of a block";
    Help: [Char('?')] in &[Course, Text, Lab, Picture, Help, Presets, Records, Line], rank Kept =>
        "help", "show all keys, or leave them";
    Palette: [Char(':'), Ctrl('p')] in PAGES, rank First =>
        "find", "find a command, lesson, lab or run by some of its letters";
    Back: [Esc, Char('q')] in &[Text, Lab, Picture, Help, Presets, Records], rank Kept =>
        "back",
        "return to the course, or close what lies over the page; runs stop, answers are kept";
    Back: [Esc, Enter, Char('q'), Char('y')] in &[Line], rank Kept =>
        "back", "close the line; it stays in the clipboard";
    Back: [Esc] in &[Palette], rank Kept =>
        "back", "close the palette without doing anything";
    Enter: [Enter] in &[Presets], rank First =>
        "apply", "turn the knobs to the marked preset";
    Enter: [Enter] in &[Palette], rank First =>
        "open", "run or open the marked entry";
    Quit: [Char('q'), Esc] in &[Course], rank Kept =>
        "quit", "leave mlsys";
    Step: [Char('s')] in READING, needs [Lab, Steps, Free] =>
        "step", "run one step, then pause";
    Steps: [Char('S')] in READING, needs [Lab, Steps, Free] =>
        "n steps", "run a typed number of steps, then pause";
    ToTheEnd: [Char('E')] in READING, needs [Lab, Steps, Free] =>
        "to the end", "run to the last step at full speed";
    Freeze: [Char('F')] in READING, needs [Lab, Steps, Reported] =>
        "freeze", "freeze the pictures while the run continues; again lets them catch up";
    Undo: [Char('u')] in READING, needs [Lab, Turned] =>
        "undo", "undo the last knob change, live if the knob is live";
    Redo: [Char('U')] in READING, needs [Lab, Undone] =>
        "redo", "redo the last undone knob change";
    Search: [Char('/')] in &[Text, Lab] =>
        "search",
        "search the text; enter and down go to the next match, up to the previous one, esc stays there";
    Search: [Char('/')] in &[Course] =>
        "search", "list the lessons with these words in title, id or subject";
    Glossary: [Char('K')] in PAGES =>
        "glossary", "explain the terms on the screen";
    Yes: [Char('y')] in &[Confirm], rank Kept =>
        "yes", "confirm; any other key cancels";
    Enter: [Enter] in &[Steps], rank Kept =>
        "run", "run that many steps";
    Enter: [Enter] in &[Search], rank Kept =>
        "next", "go to the next match";
    Enter: [Enter] in &[Filter], rank Kept =>
        "open", "open the marked lesson";
    Enter: [Enter] in &[Rows], rank Kept =>
        "filter", "show these rows only";
    Enter: [Enter] in &[Glossary], rank First =>
        "show", "show the marked term, or the marked related one";
    Enter: [Enter] in &[Weights], rank Kept =>
        "save", "save the weights in this file";
    Back: [Esc] in &[Confirm, Steps, Filter, Rows, Weights, Glossary], rank Kept =>
        "back", "close the question, field or glossary without doing anything";
    Back: [Esc] in &[Search], rank Kept =>
        "stay", "close the search and stay there";
    Hint: [Char('h')] in &[Text], needs [Hint] =>
        "hint", "show one more hint for the marked question";
    Edit: [Char('t')] in READING, needs [Written] =>
        "edit kernel", "edit the lab's kernel and run it";
    Run: [Ctrl('s')] in &[Kernel], rank First =>
        "run",
        "run the question's tests on the kernel, or run the lab with it";
    Back: [Esc] in &[Kernel], rank Kept =>
        "leave", "close the editor; the text is kept";
    Undo: [Ctrl('u')] in &[Kernel], rank First =>
        "undo", "undo the last change of the text";
    Redo: [Ctrl('r')] in &[Kernel] =>
        "redo", "redo the last undone change";
    NextComplaint: [Ctrl('n')] in &[Kernel] =>
        "next error", "go to the next error in the text";
    Outside: [Ctrl('o')] in &[Kernel] =>
        "own editor", "open the text in the editor that VISUAL or EDITOR names";
    Hint: [Ctrl('t')] in &[Kernel], needs [Hint] =>
        "hint", "show one more hint for the question";
    Reset: [Ctrl('b')] in &[Kernel] =>
        "begin again", "return to the original text; undo restores yours";
    Select: [Ctrl(' ')] in &[Kernel], rank Rare =>
        "select",
        "begin or end a selection; shift and the arrows select too";
    Cut: [Ctrl('x')] in &[Kernel] =>
        "cut", "cut the selection, or the whole line";
    CopyText: [Ctrl('y')] in &[Kernel], rank Rare =>
        "copy", "copy the selection, or the whole line";
    PasteText: [Ctrl('v')] in &[Kernel] =>
        "paste", "paste what was cut or copied last";
    Help: [Ctrl('g')] in &[Kernel], rank Kept =>
        "help", "show all keys, or leave them";
    Palette: [Ctrl('p')] in &[Kernel], rank Rare =>
        "find", "find a command, lesson, lab or run by some of its letters";
    NextPanel: [Char('v')] in READING, needs [OtherPicture] =>
        "view", "enlarge the lab's next picture";
    FullScreen: [Char('z')] in READING, needs [Picture] =>
        "full screen", "show the chosen picture on the whole screen; again, or esc, ends that";
    Export: [Char('e')] in READING, needs [Picture], rank Rare =>
        "export", "write the chosen picture as SVG and its values as CSV into the data folder";
    SaveWeights: [Ctrl('s')] in READING, needs [Lab, Weights], rank Rare =>
        "save weights",
        "save the weights of the finished run: as .safetensors, which model_from of another lab and other programs read, or as .bpk";
    Tempo: [Char('f')] in READING =>
        "full speed", "run at full speed, or again at a visible pace";
    Words: [Char('w')] in READING, needs [Lab] =>
        "in words", "describe the pictures in words, or draw them again";
    NextLab: [Char(']')] in READING, needs [OtherLab] =>
        "next lab", "show the lesson's next lab";
    PreviousLab: [Char('[')] in READING, needs [OtherLab], rank Rare =>
        "previous lab", "show the lesson's previous lab";
    Stop: [Char('x')] in READING, needs [Running] =>
        "stop", "stop the run and keep its results";
    Reset: [Char('R')] in READING, needs [Lab, Changed] =>
        "reset", "stop the run and reset the knobs; the last run stays as a dim curve";
    Instructor: [Char('i')] in READING, needs [Instructor], rank Rare =>
        "instructor", "show notes, answers and settings that students do not see, or hide them";
    Problems: [Char('!')] in ALL, needs [Problems], rank Rare =>
        "problems", "list the errors of the previewed lesson file";
    Device: [Char('d')] in PAGES, needs [Devices] =>
        "device", "use the next usable device for new runs";
    Presets: [Char('P')] in READING, needs [Lab, Preset] =>
        "presets", "choose a preset of the lab";
    Mouse: [Char('M')] in PAGES, rank Rare =>
        "mouse",
        "capture the mouse to choose and scroll, or release it to select text in the terminal";
    CopyLine: [Char('y')] in &[Course, Text, Lab, Picture] =>
        "copy line", "copy and show the command line that opens this screen";
    PreviousActivity: [Char('p')] in READING, needs [Activities], rank Rare =>
        "previous", "go to the previous prediction, lab or question";
    Move(Up): [Up, Char('k')] in PAGES, rank Rare =>
        "up", "scroll up, or mark the lesson, knob or part of the picture above";
    Move(Down): [Down, Char('j')] in PAGES, rank Rare =>
        "down", "scroll down, or mark the lesson, knob or part of the picture below";
    Move(PageUp): [PageUp, Ctrl('u')] in PAGES, rank Rare =>
        "page up", "half a screen up";
    Move(PageDown): [PageDown, Ctrl('d')] in PAGES, rank Rare =>
        "page down", "half a screen down";
    Move(Top): [Home, Char('g')] in PAGES, rank Rare =>
        "top", "to the top";
    Move(Bottom): [End, Char('G')] in PAGES, rank Rare =>
        "bottom", "to the bottom";
    Move(Up): [Up, Ctrl('p')] in LISTS, rank Rare =>
        "up", "mark the entry above, or go to the previous match";
    Move(Down): [Down, Ctrl('n')] in LISTS, rank Rare =>
        "down", "mark the entry below, or go to the next match";
    Move(PageUp): [PageUp] in LISTS, rank Rare =>
        "page up", "mark the entry half a screen above";
    Move(PageDown): [PageDown] in LISTS, rank Rare =>
        "page down", "mark the entry half a screen below";
    Records: [Char('r')] in &[Text, Lab, Picture, Records], needs [Lab], rank Rare =>
        "recorded",
        "list recorded runs of this lab, to draw one behind the curves or to replay it; or close the list";
    Enter: [Enter] in &[Records], rank First =>
        "behind curves", "draw the marked run behind the curves";
    Run: [Char(' ')] in &[Records], rank First =>
        "replay", "replay the marked run; f changes its speed";
    Quit: [Ctrl('c')] in &Place::ALL, rank Rare =>
        "quit", "leave mlsys from anywhere";
    Suspend: [Ctrl('z')] in &Place::ALL, rank Rare =>
        "suspend", "suspend as a job of the shell; fg resumes it";
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
