//! The workbench line by line, from a pipe.

use std::io::Write;
use std::process::Stdio;

use mlsys_harness::sandbox::{Ended, type_in};
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

/// What a run has revealed is on the pipe already, so the question after its lab is the one that is answered.
#[test]
fn the_question_after_a_run_that_answered_a_guess_is_asked() {
    let folder = sandbox();
    let mut command = folder.command("open gpu/throughput-machine --plain --device cpu");
    let ended = type_in(&mut command, "answer c\n\nrun\n\nanswer 1\n\n");
    let out = ended.success();
    assert!(out.contains("\nQuestion 1 of "), "{out}");
    assert!(out.contains("\nNot yet: 1.") && !out.contains("Nothing is asked here"), "{out}");
    // Where the reveal would be on a screen is not said.
    assert!(out.contains("\nYou said ") && !out.contains("answers your guess"), "{out}");
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

const KERNEL: &str = include_str!("../../../tui/src/tests/kernel.md");

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

#[test]
fn a_match_whose_answer_is_withheld_shows_its_left_sides() {
    let folder = sandbox();
    let (course, given, key) = (folder.arg("c"), folder.arg("c.tar.gz"), folder.arg("key.json"));
    let listed = "format = 1\nid = \"c\"\ntitle = \"C\"\nabout = \"c\"\n\
        [[module]]\nid = \"m\"\ntitle = \"M\"\nabout = \"m\"\nlessons = [\"m/sizes\"]\n";
    folder.file("c/course.toml", listed);
    let lesson = "+++\nformat = 1\nid = \"m/sizes\"\ntitle = \"Sizes\"\nminutes = 5\nteaches = [\"sizes\"]\n+++\n# Sizes\n\n\
        ```{question} bytes\ntype = \"match\"\nprompt = \"How many bytes?\"\nexplain = \"Half, single, double.\"\n\
        [[pair]]\nleft = \"float\"\nright = \"4\"\n[[pair]]\nleft = \"double\"\nright = \"8\"\n```\n";
    folder.file("c/m/sizes.md", lesson);
    folder.run(&format!("course pack {course} -o {given} --without-answers --key {key}")).success();
    for course in [course, given] {
        let mut command = folder.command(&format!("--course {course} open m/sizes --plain"));
        type_in(&mut command, "quit\n").printed(&["\n1. float\n2. double\na) "]);
    }
}
