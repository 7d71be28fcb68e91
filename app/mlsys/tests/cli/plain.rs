//! The workbench line by line, from a pipe.

use std::io::Write;
use std::process::Stdio;

use mlsys_harness::sandbox::{Ended, contains, type_in};
use mlsys_lesson::{Answer, Block, Lesson, Question, QuestionKind};

use crate::sandbox;

const LIBRARY: &str = include_str!("../../../../lessons/library/systems/training-loop.md");

fn lesson() -> Lesson {
    let registry = mlsys_registry::built_in();
    let parsed = mlsys_lesson::read("training-loop.md", LIBRARY.as_bytes(), registry);
    parsed.lesson.unwrap()
}

/// The right answer as a learner types it: letters where options are shown.
fn right_answer(lesson: &Lesson, question: &Question) -> String {
    let options = question.shown_choices(&lesson.front.id);
    let texts = match (&question.kind, question.stated_answer()) {
        // In the order of the left sides.
        (QuestionKind::Match { pairs, .. }, _) => {
            pairs.iter().map(|pair| pair.right.clone()).collect()
        }
        (_, Answer::One(text)) => vec![text.replace('\n', " ")],
        (_, Answer::Many(texts)) => texts,
        (_, Answer::Pairs(_)) => Vec::new(),
    };
    if options.is_empty() {
        return texts.join(", ");
    }
    let letter = |text: &String| {
        let at = options.iter().position(|option| option == text).unwrap();
        char::from(b'a' + u8::try_from(at).unwrap()).to_string()
    };
    texts.iter().map(letter).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_whole_lesson_is_worked_through_from_a_pipe() {
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
    let folder = sandbox();
    let mut command = folder.command("open systems/training-loop --plain --device cpu");
    let ended = type_in(&mut command, &lines);
    let out = ended.success();
    assert_eq!(out.matches("\nRight: ").count(), asked, "{out}");
    ended.printed(&[
        "\nHint 1 of ",
        "Prediction 1 of 2 (a number).",
        "You said 0.75; measured",
        "run finished: 400 steps",
        "loss-curve: loss went from",
        "The lesson ends here.",
        "Check run.samples_seen == 25600: it holds",
    ]);
    assert!(!out.contains("told after the run"), "{out}");
    assert!(out.ends_with("The lines have ended; everything is kept.\n\n"), "{out}");
    // No drawing characters, and no line wider than a narrow page.
    assert!(!out.contains('\u{1b}') && !out.contains('│'), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 78), "{out}");
    // Progress and records are those of the workbench.
    let progress = folder.run("progress show --json").json();
    assert_eq!(progress["lessons"][0]["right"], asked, "{progress}");
    assert_eq!(progress["lessons"][0]["score"], lesson.points(), "{progress}");
    assert_eq!(folder.records().len(), lesson.labs().count(), "{out}");
}

#[test]
fn knobs_are_turned_by_name_and_mistakes_explained() {
    let folder = sandbox();
    let lines = "open 1\nopen 99\nlab run\nset learning_rate 0.1\nset learning_rate=7\nset colour red\n\
        set frozen.x 1\nlab nosuch\nreset\nshow\ngo 99\ngo x\nlist\nnxt\nback\nback\nanswer\nhelp\n\
        lessons\nhint\nquit\nopen 1\n";
    let ended = type_in(&mut folder.command("--plain"), lines);
    let out = ended.success();
    contains(
        out,
        &[
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
        ],
    );
    // Nothing is read after quit.
    assert!(out.trim_end().ends_with("No lesson is open; type open and a lesson's number."));
}

#[test]
fn run_without_prediction_is_confirmed() {
    let folder = sandbox();
    let lines = "lab run\nrun\nlab run\nrun\nstop\n";
    let mut command = folder.command("open systems/training-loop --device cpu");
    type_in(&mut command, lines).refused(2, &["--plain"]);
    let ended = type_in(command.env("MLSYS_PLAIN", "1"), lines);
    let out = ended.success();
    assert!(out.contains("run again runs without a prediction"), "{out}");
    assert!(out.contains("run stopped: ") || out.contains("run finished: "), "{out}");
}

#[test]
fn without_a_terminal_the_alternatives_are_named() {
    let folder = sandbox();
    let needs = "the workbench needs a terminal, and standard input and output are not";
    folder.run("").refused(2, &[needs, "`mlsys --plain`", "`mlsys run LESSON`"]);
    folder.run("open systems/training-loop").refused(
        2,
        &["`mlsys open systems/training-loop --plain`", "`mlsys run systems/training-loop`"],
    );
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let folder = sandbox();
    let mut child = folder.command("--plain");
    let child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all("help\n".repeat(200).as_bytes());
    drop(stdin);
    let ended = Ended::new(child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
}

#[test]
fn a_graph_is_walked_and_its_inputs_are_turned_line_by_line() {
    let folder = sandbox();
    let lines =
        "lab g\nstep\nrun\nrun\nstep\nstep\nstep\nstep back\nstep back\nset inputs.x 3\nquit\n";
    let mut command = folder.command("open graphs/forward-and-backward --plain");
    let ended = type_in(&mut command, lines);
    ended.printed(&[
        "1 of 16, forward: given: x = 2, y = 3",
        "2 of 16, forward: a = x^2 = 2^2 = 4",
        "3 of 16, forward: b = 3*a = 3*4 = 12",
        "inputs.x is 3",
    ]);
    assert_eq!(ended.out.matches("1 of 16, forward").count(), 2, "{ended:?}");
}

#[test]
fn a_kernel_is_stepped_through_line_by_line() {
    const LESSON: &str = "+++\nformat = 1\nid = \"gpu/k\"\ntitle = \"K\"\nminutes = 1\nteaches = [\"warp\"]\n+++\n# K\n\n```{lab} bug\nkind = \"kernel\"\nset = { example = \"window-sum-no-barrier\", elements = 64, block_dim = [32] }\n```\n";
    let folder = sandbox();
    let file = folder.file("k.md", LESSON);
    let lines = "lab bug\nstep\nstep\nstep back\nthread 5\nvariable t\nvariable nothing\nblock 1\nblock 9\nbreakpoint 15\nstep breakpoint\nstep problem\nstep end\nstep line\nstep back block\nstep start\nshow\nquit\n";
    let ended = type_in(&mut folder.command(&format!("open {file} --plain")), lines);
    ended.printed(&[
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
    ]);
    assert_eq!(ended.out.matches("Step 1 of").count(), 2, "{ended:?}");
}

const KERNEL: &str = include_str!("../../../tui/src/tests/kernel.md");

#[test]
fn kernel_answer_from_file_or_editor() {
    let folder = sandbox();
    let lesson = folder.file("kernel.md", KERNEL);
    let right = "__global__ void mine(float *B, const float *A, int n) {\n  \
        int i = blockDim.x * blockIdx.x + threadIdx.x;\n  if (i < n) B[n - 1 - i] = A[i];\n}\n";
    folder.file("right.cu", right);
    folder.file("broken.cu", right.replace("A[i];", "A[i]"));
    let answers = ["nowhere.cu", "broken.cu", "right.cu"];
    let answers = answers.map(|name| format!("answer @{}\n", folder.arg(name))).concat();
    let lines = format!("next\nnext\n{answers}quit\n");
    let ended = type_in(&mut folder.command(&format!("open {lesson} --plain")), &lines);
    ended.printed(&[
        "nowhere.cu cannot be read",
        "It cannot run yet",
        "Line 3, column 32",
        "Test seven elements passes",
        "Right.",
        "The index counts through all blocks.",
    ]);
    // The last text is kept, and counts as the answer.
    assert_eq!(folder.read("data/drafts/mlsys/mine/reverse/reverse.cu"), right);
    assert!(folder.read("data/progress.jsonl").contains("\"right\":true"));
}

#[cfg(unix)]
#[test]
fn the_text_of_a_failed_editor_is_no_answer() {
    let folder = sandbox();
    let lesson = folder.file("kernel.md", KERNEL);
    let mut command = folder.command(&format!("open {lesson} --plain"));
    // The signal of Ctrl-C while the editor has the terminal does not end the program.
    let editor = "kill -INT $PPID; sleep 0.2; false";
    let ended = type_in(command.env("VISUAL", editor), "next\nnext\nedit\nquit\n");
    ended.printed(&["exit status: 1"]);
    assert!(!ended.out.contains("Asked to end") && !ended.out.contains("Test seven"), "{ended:?}");
    let progress = std::fs::read_to_string(folder.path("data/progress.jsonl"));
    assert!(!progress.is_ok_and(|progress| progress.contains("answer-given")));
}
