//! Fields that come into sight with their task and message.

use super::Bench;

const FRONT: &str = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"B\"\nminutes = 1\n+++\n";

fn question(id: &str, answer: u32) -> String {
    format!(
        "```{{question}} {id}\ntype = \"numeric\"\nprompt = \"What is {id}?\"\nanswer = {answer}\n```\n\n"
    )
}

fn lines(count: usize) -> String {
    (0..count).map(|line| format!("Line {line}.\n\n")).collect()
}

#[test]
fn a_field_and_the_message_under_it_come_whole_into_sight() {
    for (width, height) in [(80, 24), (120, 40)] {
        // The task lies at the lower edge of the screen, whichever line that is.
        for above in usize::from(height) / 2 - 6..usize::from(height) / 2 + 2 {
            let text = [FRONT, &lines(above), &question("q", 7), &lines(30)].concat();
            let (mut bench, _) = Bench::opening((width, height), &text);
            while !bench.page().arrived {
                bench.keys("n");
            }
            bench.follow(&[
                ("\n", "QUESTION q | enter gives it"),
                // Of two lines at 80 columns.
                ("nnn\n", "QUESTION q | > nnn | 2*512^3: "),
            ]);
        }
    }
}

#[test]
fn a_task_whose_head_is_above_the_screen_opens_whole() {
    let pairs: String =
        (0..6).map(|n| format!("[[pair]]\nleft = \"left {n}\"\nright = \"right {n}\"\n")).collect();
    let matching =
        format!("```{{question}} m\ntype = \"match\"\nprompt = \"Which?\"\n{pairs}```\n\n");
    let text = [FRONT, "Text.\n\n", &matching, &lines(30)].concat();
    let (mut bench, _) = Bench::opening((80, 24), &text);
    bench.follow(&[
        ("n______", "no: QUESTION m | f) "),
        ("\n", "QUESTION m | 1. left 0 | f) | enter gives them"),
    ]);
    // A task without room keeps its field in sight.
    let (mut bench, _) = Bench::opening((80, 12), &text);
    bench.follow(&[("n\n", "> | enter gives them"), ("x\n", "> x | is not one of the letters")]);
}
