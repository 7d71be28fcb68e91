//! The workbench line by line, from a pipe.

use std::io::Write;
use std::process::{Command, Stdio};

use mlsys_lesson::{Block, Lesson, Question, QuestionKind};

use super::help::{Ended, Folder, records};

const LIBRARY: &str = include_str!("../../../../lessons/library/systems/training-loop.md");

pub fn type_in(folder: &Folder, arguments: &[&str], lines: &str) -> Ended {
    type_to(&mut folder.command(arguments), lines)
}

fn type_to(command: &mut Command, lines: &str) -> Ended {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A program that has ended early reads no more, and the test says so by what it printed.
    let _ = stdin.write_all(lines.as_bytes());
    drop(stdin);
    Ended::of(child.wait_with_output().unwrap())
}

fn lesson() -> Lesson {
    let registry = mlsys_registry::registry();
    let parsed = mlsys_lesson::read("training-loop.md", LIBRARY.as_bytes(), registry);
    parsed.lesson.unwrap()
}

/// What a learner types to answer rightly: letters where options are shown.
fn right_answer(lesson: &Lesson, question: &Question) -> String {
    let options = question.shown_choices(&lesson.front.id);
    let letters = |answers: &[String]| {
        let letter = |answer: &String| {
            let at = options.iter().position(|option| option == answer).unwrap();
            char::from(b'a' + u8::try_from(at).unwrap()).to_string()
        };
        answers.iter().map(letter).collect::<Vec<_>>().join(" ")
    };
    match &question.kind {
        QuestionKind::Numeric { answer, .. } => answer.source.clone(),
        QuestionKind::Choice { answer, .. } => letters(std::slice::from_ref(answer)),
        QuestionKind::Multiple { answer, .. } | QuestionKind::Order { answer, .. } => {
            letters(answer)
        }
        QuestionKind::Match { pairs, .. } => {
            let rights: Vec<String> = pairs.iter().map(|pair| pair.right.clone()).collect();
            letters(&rights)
        }
        QuestionKind::List { answer, .. } => {
            let items: Vec<&str> = answer.iter().map(|item| item.source.as_str()).collect();
            items.join(", ")
        }
        QuestionKind::Expression { answer, .. } => answer.value.clone(),
        QuestionKind::Text { answer, .. } => answer.clone(),
        QuestionKind::Kernel(task) => task.answer.value.replace('\n', " "),
        QuestionKind::Withheld(_) => String::new(),
    }
}

#[test]
fn a_whole_lesson_is_gone_through_from_a_pipe() {
    let lesson = lesson();
    let mut lines = String::new();
    let mut asked = 0;
    for block in &lesson.blocks {
        match block {
            Block::Predict(_) => lines.push_str("0.75\n\n"),
            Block::Lab(_) => lines.push_str("run\n\n"),
            Block::Question(question) => {
                asked += 1;
                let answer = right_answer(&lesson, question);
                lines.push_str(&format!("zzz\nhint\nanswer {answer}\n\n"));
            }
            Block::Prose(_) | Block::Check(_) | Block::Notes(_) => {}
        }
    }
    lines.push_str("checks\n");
    let folder = Folder::new();
    let ended =
        type_in(&folder, &["open", "systems/training-loop", "--plain", "--device", "cpu"], &lines);
    let out = ended.did();
    assert_eq!(out.matches("\nRight: ").count(), asked, "{out}");
    assert!(out.contains("\nHint 1 of "), "{out}");
    assert!(out.contains("Prediction 1 of 2 (a number)."), "{out}");
    assert!(out.contains("You said 0.75; measured"), "{out}");
    assert!(out.contains("run finished: 400 steps"), "{out}");
    assert!(out.contains("loss-curve: loss went from"), "{out}");
    assert!(out.contains("The lesson ends here."), "{out}");
    assert!(out.contains("Check run.samples_seen == 25600: it holds"), "{out}");
    assert!(!out.contains("told after the run"), "{out}");
    assert!(out.ends_with("The lines have ended; everything is kept.\n\n"), "{out}");
    // Nothing for the eye alone, and no line that is cut off by a narrow page.
    assert!(!out.contains('\u{1b}') && !out.contains('│'), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 78), "{out}");
    // It is the progress and the records of the workbench.
    let progress = folder.run(&["progress", "show", "--json"]).json();
    assert_eq!(progress["lessons"][0]["right"], asked, "{progress}");
    assert_eq!(progress["lessons"][0]["score"], lesson.points(), "{progress}");
    assert_eq!(records(&folder.path("data")).len(), lesson.labs().count(), "{out}");
}

#[test]
fn knobs_are_turned_by_name_and_mistakes_are_told() {
    let folder = Folder::new();
    let lines = "open 1\nopen 99\nlab run\nset learning_rate 0.1\nset learning_rate=7\nset colour red\n\
        set frozen.x 1\nlab nosuch\nreset\nshow\ngo 99\ngo x\nlist\nnxt\nback\nback\nanswer\nhelp\n\
        lessons\nhint\nquit\nopen 1\n";
    let ended = type_in(&folder, &["--plain"], lines);
    let out = ended.did();
    for said in [
        "1. Five lines that keep a data centre busy (systems/training-loop), 20 minutes",
        "There is no lesson 99",
        "learning_rate is 0.1.",
        "Not taken: in this lesson learning_rate is one of:",
        "Lab run has no knob colour; it has: learning_rate, ",
        "There is no lab nosuch; the labs are: run, ",
        "All knobs are as the lesson has them.",
        "There is no 99 in the list.",
        "write go NUMBER",
        "2. Lab run: Spiral, Adam, ready (you are here).",
        "did you mean next?",
        "There is nothing before this.",
        "write answer TEXT",
        "set NAME VALUE: turn a knob of the lab.",
        "20 minutes, begun",
        "No lesson is open",
    ] {
        assert!(out.contains(said), "{said:?} is missing in {out}");
    }
    // After quit nothing is read.
    assert!(out.trim_end().ends_with("No lesson is open; type open and a lesson's number."));
}

#[test]
fn run_without_prediction_is_confirmed() {
    let folder = Folder::new();
    let lines = "lab run\nrun\nlab run\nrun\nstop\n";
    let ended = type_in(&folder, &["open", "systems/training-loop", "--device", "cpu"], lines);
    ended.refused(2, &["--plain"]);
    let mut command = folder.command(&["open", "systems/training-loop", "--device", "cpu"]);
    command.env("MLSYS_PLAIN", "1");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let ended = Ended::of(child.wait_with_output().unwrap());
    let out = ended.did();
    assert!(out.contains("run again runs without a prediction"), "{out}");
    assert!(out.contains("run stopped: ") || out.contains("run finished: "), "{out}");
}

#[test]
fn where_there_is_no_terminal_the_ways_without_one_are_told() {
    let folder = Folder::new();
    folder.run(&[]).refused(
        2,
        &[
            "the workbench needs a terminal, and standard input and output are not",
            "`mlsys --plain`",
            "`mlsys run LESSON`",
        ],
    );
    folder.run(&["open", "systems/training-loop"]).refused(
        2,
        &["`mlsys open systems/training-loop --plain`", "`mlsys run systems/training-loop`"],
    );
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let folder = Folder::new();
    let mut child = folder
        .command(&["--plain"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all("help\n".repeat(200).as_bytes());
    drop(stdin);
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
}

#[test]
fn a_graph_is_walked_and_its_inputs_are_turned_line_by_line() {
    let folder = Folder::new();
    let lines =
        "lab g\nstep\nrun\nrun\nstep\nstep\nstep\nstep back\nstep back\nset inputs.x 3\nquit\n";
    let lesson = ["open", "graphs/forward-and-backward", "--plain"];
    let ended = type_in(&folder, &lesson, lines);
    let said = ended.did();
    for expected in [
        "1 of 16, forward: given: x = 2, y = 3",
        "2 of 16, forward: a = x^2 = 2^2 = 4",
        "3 of 16, forward: b = 3*a = 3*4 = 12",
        "inputs.x is 3",
    ] {
        assert!(said.contains(expected), "{expected} is not in\n{said}");
    }
    let first = said.match_indices("1 of 16, forward").count();
    assert_eq!(first, 2, "{said}");
}

#[test]
fn a_kernel_is_stepped_through_line_by_line() {
    const LESSON: &str = "+++\nformat = 1\nid = \"gpu/k\"\ntitle = \"K\"\nminutes = 1\nteaches = [\"warp\"]\n+++\n# K\n\n```{lab} bug\nkind = \"kernel\"\nset = { example = \"window-sum-no-barrier\", elements = 64, block_dim = [32] }\n```\n";
    let folder = Folder::new();
    let file = folder.file("k.md", LESSON);
    let lines = "lab bug\nstep\nstep\nstep back\nthread 5\nvariable t\nvariable nothing\nblock 1\nblock 9\nbreakpoint 15\nstep breakpoint\nstep problem\nstep end\nstep line\nstep back block\nstep start\nshow\nquit\n";
    let ended = type_in(&folder, &["open", &file, "--plain"], lines);
    let said = ended.did();
    for expected in [
        "Step 1 of",
        "Step 2 of",
        "Thread 5 of block",
        "Thread 5 of block 1",
        "The kernel has none of that name or number",
        "a breakpoint on line 15",
        "touches it too",
        "Step 182 of 182",
        "There is no line after.",
        "Step 181 of 182",
        "Before the first of",
        "line 12, kernel",
    ] {
        assert!(said.contains(expected), "{expected} is not in\n{said}");
    }
    assert_eq!(said.matches("Step 1 of").count(), 2, "{said}");
}

const KERNEL: &str = include_str!("../../../tui/src/tests/kernel.md");

#[test]
fn kernel_answer_from_file_or_editor() {
    let folder = Folder::new();
    std::fs::write(folder.path("kernel.md"), KERNEL).unwrap();
    let right = "__global__ void mine(float *B, const float *A, int n) {\n  \
        int i = blockDim.x * blockIdx.x + threadIdx.x;\n  if (i < n) B[n - 1 - i] = A[i];\n}\n";
    std::fs::write(folder.path("right.cu"), right).unwrap();
    std::fs::write(folder.path("broken.cu"), right.replace("A[i];", "A[i]")).unwrap();
    let answer = |name: &str| format!("answer @{}", folder.path(name).display());
    let lines = format!(
        "next\nnext\n{}\n{}\n{}\nquit\n",
        answer("nowhere.cu"),
        answer("broken.cu"),
        answer("right.cu")
    );
    let lesson = folder.path("kernel.md").display().to_string();
    let ended = type_in(&folder, &["open", &lesson, "--plain"], &lines);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    for said in [
        "nowhere.cu cannot be read",
        "It cannot run yet",
        "Line 3, column 32",
        "Test seven elements passes",
        "Right.",
        "The index counts through all blocks.",
    ] {
        assert!(ended.out.contains(said), "{said}: {}", ended.out);
    }
    // What was written last is kept, and counts as the answer.
    let data = folder.path("data");
    let draft = std::fs::read_to_string(data.join("drafts/mlsys/mine/reverse/reverse.cu"));
    assert_eq!(draft.unwrap(), right);
    let progress = std::fs::read_to_string(data.join("progress.jsonl")).unwrap();
    assert!(progress.contains("\"right\":true"), "{progress}");
}

#[cfg(unix)]
#[test]
fn what_an_editor_that_failed_has_left_is_no_answer() {
    let folder = Folder::new();
    std::fs::write(folder.path("kernel.md"), KERNEL).unwrap();
    let lesson = folder.path("kernel.md").display().to_string();
    let mut command = folder.command(&["open", &lesson, "--plain"]);
    // It takes the signal of Ctrl-C for its own, and so does not end the program that has lent it the terminal.
    let editor = "kill -INT $PPID; sleep 0.2; false";
    let ended = type_to(command.env("VISUAL", editor), "next\nnext\nedit\nquit\n");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.out.contains("exit status: 1"), "{}", ended.out);
    assert!(!ended.out.contains("Asked to end"), "{}", ended.out);
    assert!(!ended.out.contains("Test seven"), "{}", ended.out);
    let progress = std::fs::read_to_string(folder.path("data").join("progress.jsonl"));
    let progress = progress.unwrap_or_default();
    assert!(!progress.contains("answer-given"), "{progress}");
}
