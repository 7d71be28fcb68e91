//! Runs that are interrupted or killed at any moment: what was written reads.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fs, thread};

use mlsys_expr::random::SplitMix64;
use mlsys_harness::sandbox::{Ended, Sandbox, json_file, until};
use serde_json::{Map, Value, json};

use crate::sandbox;

const ENDLESS: &str = "lab train --device cpu --set steps=1000000";

/// Interrupts a process; whether it was still there.
fn interrupt(child: &Child) -> bool {
    let mut kill = Command::new("kill");
    kill.args(["-INT", &child.id().to_string()]).stderr(Stdio::null());
    kill.status().unwrap().success()
}

fn start(folder: &Sandbox, line: &str) -> Child {
    folder.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn lines(path: &Path) -> Vec<Vec<u8>> {
    let Ok(text) = fs::read(path) else { return Vec::new() };
    let lines = text.split_inclusive(|&byte| byte == b'\n');
    lines.filter(|line| line.ends_with(b"\n")).map(<[u8]>::to_vec).collect()
}

fn losses(lines: &[Vec<u8>]) -> usize {
    let count = |line: &Vec<u8>| {
        let line: Value = serde_json::from_slice(line).unwrap();
        let loss = &line["points"]["loss"];
        ["f32", "f64"].map(|key| loss[key].as_array().map_or(0, Vec::len)).iter().sum::<usize>()
    };
    lines.iter().map(count).sum()
}

/// The newest run, once there are more than `known` and it is described.
fn newest(folder: &Sandbox, known: usize) -> Option<PathBuf> {
    let mut runs = folder.records();
    let run = if runs.len() > known { runs.pop() } else { None }?;
    run.join("run.json").is_file().then_some(run)
}

/// Starts a run of a million steps and waits for its record.
fn endless_run(folder: &Sandbox) -> (Child, PathBuf) {
    let child = folder.spawn(ENDLESS);
    let is_started = |run: &PathBuf| run.join("reports.jsonl").is_file();
    let record = until(|| folder.records().into_iter().find(is_started));
    (child, record)
}

#[test]
fn one_interrupt_ends_the_run_in_order() {
    let folder = sandbox();
    let (child, record) = endless_run(&folder);
    assert!(interrupt(&child));
    Ended::new(child.wait_with_output().unwrap()).refused(130, &["stopped on request"]);
    assert_eq!(json_file(&record.join("outcome.json"))["outcome"], "stopped");
    for line in fs::read_to_string(record.join("reports.jsonl")).unwrap().lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
}

#[test]
fn an_interrupted_run_of_lessons_says_so_in_its_reports() {
    let folder = sandbox();
    let lesson = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"t\"\nminutes = 1\n+++\n```{lab} run\nkind = \"train\"\ndevices = [\"cpu\"]\nset = { steps = 1000000 }\n```\n";
    let [one, two] = ["a/b", "a/c"]
        .map(|id| folder.file(&format!("{}.md", id.replace('/', "-")), lesson.replace("a/b", id)));
    let [json, xml] = ["r.json", "r.xml"].map(|name| folder.arg(name));
    let line = format!("run {one} {two} --jobs 1 --report json={json} --report junit={xml}");
    let child = folder.spawn(&line);
    let is_started = |run: &PathBuf| run.join("reports.jsonl").is_file();
    until(|| folder.records().into_iter().find(is_started));
    assert!(interrupt(&child));
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    let sentence = "interrupted: results are missing, also all of a/c";
    assert_eq!(json_file(Path::new(&json))["interrupted"], sentence);
    assert!(folder.read("r.xml").contains(&format!("<error message=\"{sentence}\"")));
}

#[test]
fn two_interrupts_end_it_at_once() {
    let folder = sandbox();
    let (child, _) = endless_run(&folder);
    assert!(interrupt(&child));
    // The first may have ended it already.
    interrupt(&child);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
}

#[test]
fn records_survive_a_kill_at_any_moment() {
    let folder = sandbox();
    for kill in 0..20 {
        let mut child = start(&folder, ENDLESS);
        let run = until(|| newest(&folder, kill));
        let reports = run.join("reports.jsonl");
        // Some are killed before their first report, some while their first lines are written, some later.
        let seen = until(|| Some(lines(&reports)).filter(|lines| lines.len() >= kill / 2));
        child.kill().unwrap();
        child.wait().unwrap();
        let shown = folder.run("runs show last --json");
        let json = shown.json();
        assert_eq!(shown.err, "", "kill {kill}");
        assert_eq!(json["outcome"], "cut off", "kill {kill}");
        let read = json["series"]["loss"]["values"].as_u64().unwrap_or(0) as usize;
        assert_eq!(read, losses(&lines(&reports)), "kill {kill}");
        assert!(read >= losses(&seen), "kill {kill}");
    }
    let list = folder.run("runs list");
    assert_eq!(list.success().matches("cut off").count(), 20, "{list:?}");
    assert_eq!(list.err, "");
}

#[test]
fn a_run_in_progress_is_read_by_others_and_not_removed() {
    let folder = sandbox();
    let mut child = start(&folder, ENDLESS);
    let mut step = 0;
    // Twice, to see that it grows.
    for _ in 0..2 {
        step = until(|| {
            newest(&folder, 0)?;
            let json = folder.run("runs show last --json").json();
            assert_eq!(json["outcome"], "going on");
            json["step"].as_u64().filter(|&now| now > step)
        });
    }
    folder.run("runs remove last").refused(2, &["goes on; end it first"]);
    child.kill().unwrap();
    child.wait().unwrap();
    folder.run("runs remove last").success();
    assert!(folder.records().is_empty());
}

#[test]
fn simultaneous_runs_keep_their_records_apart() {
    let folder = sandbox();
    let mut children = [0; 4].map(|_| start(&folder, "lab train --device cpu --set steps=200"));
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let runs = folder.records();
    assert_eq!(runs.len(), 4);
    for run in runs {
        let json = folder.run(&format!("runs show {} --json", run.display())).json();
        assert_eq!(json["outcome"], "finished");
        assert_eq!(json["series"]["loss"]["values"], 200);
    }
}

const QUESTION: &str = "+++\nformat = 1\nid = \"tests/one\"\ntitle = \"One\"\nminutes = 1\n+++\n\
    ```{question} q1\ntype = \"numeric\"\nprompt = \"How many?\"\nanswer = \"1e9\"\n```\n";

/// The answers in the log, in its order, and its half lines: a kill may leave one, which the next session closes.
fn given(log: &Path) -> (Vec<u32>, usize) {
    let lines = lines(log);
    let read: Vec<Value> =
        lines.iter().filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let answer = |line: &Value| Some(line["given"].as_str()?.parse().unwrap());
    (read.iter().filter_map(answer).collect(), lines.len() - read.len())
}

/// Answers one question again and again, line by line, with numbers after `first`, and is killed; how many answers were
/// acknowledged. An answer that was given before is no attempt and would not be logged again.
fn killed_while_answering(folder: &Sandbox, first: u32, acknowledged: u32, spin: usize) -> u32 {
    const MOST: u32 = 2000;
    let line = format!("open {} --plain", folder.file("one.md", QUESTION));
    let mut command = folder.command(&line);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let answers: String = (1..=MOST).map(|answer| format!("answer {}\n", first + answer)).collect();
    let mut stdin = child.stdin.take().unwrap();
    // The pipe breaks with the kill.
    let typist = thread::spawn(move || stdin.write_all(format!("next\n{answers}").as_bytes()));
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut last = 0;
    let mut acknowledge = |line: String| {
        let number = line.strip_prefix("Not yet: ").and_then(|rest| rest.strip_suffix('.'));
        // What an earlier session answered is shown again at first.
        let number = number.and_then(|number| number.parse::<u32>().unwrap().checked_sub(first));
        last = number.unwrap_or(last);
        last
    };
    while said.next().is_some_and(|line| acknowledge(line.unwrap()) < acknowledged) {}
    (0..spin).for_each(|_| std::hint::spin_loop());
    child.kill().unwrap();
    child.wait().unwrap();
    // What was said before the kill counts as well.
    said.map_while(Result::ok).for_each(|line| {
        acknowledge(line);
    });
    let _ = typist.join().unwrap();
    last
}

/// `MLSYS_KILLS` asks for more of them.
#[test]
fn no_acknowledged_answer_is_lost_by_a_kill() {
    let kills = env::var("MLSYS_KILLS").map_or(12, |kills| kills.parse().unwrap());
    let mut random = SplitMix64(7);
    let (mut all, mut unsaid) = (0, 0);
    for kill in 0..kills {
        let folder = sandbox();
        let [first, second] =
            [0, 1].map(|_| (random.pick(&[0, 1, 2, 5, 17, 60, 150]), random.below(200_000)));
        let log = folder.path("data/progress.jsonl");
        let acknowledged = killed_while_answering(&folder, 0, first.0, first.1);
        let (kept, half) = given(&log);
        assert_eq!(half, 0, "kill {kill}");
        assert_eq!(kept, (1..=kept.len() as u32).collect::<Vec<_>>(), "kill {kill}");
        assert!(kept.len() as u32 >= acknowledged, "kill {kill}: {acknowledged} said, {kept:?}");
        // The next session adds to what is there.
        let again = killed_while_answering(&folder, 10_000, second.0, second.1);
        let (grown, half) = given(&log);
        assert!(half <= 1, "kill {kill}: {half}");
        assert_eq!(grown[..kept.len()], kept, "kill {kill}");
        assert!((grown.len() - kept.len()) as u32 >= again, "kill {kill}: {again} said, {grown:?}");
        let shown = folder.run("progress show --json");
        shown.json();
        assert_eq!(
            shown.err.contains("left out 1 line that cannot be read"),
            half == 1,
            "kill {kill}"
        );
        all += acknowledged + again;
        unsaid += grown.len() as u32 - acknowledged - again;
    }
    println!(
        "{} kills, {all} answers acknowledged and kept, {unsaid} kept before they were",
        2 * kills
    );
}

#[test]
fn progress_survives_kills_and_two_writers_at_once() {
    let id = "systems/training-loop";
    let lesson = include_str!("../../../../lessons/library/systems/training-loop.md");
    let questions = lesson.lines().filter_map(|line| line.strip_prefix("```{question} "));
    let given: Map<String, Value> =
        questions.map(|question| (question.to_owned(), Value::from("0"))).collect();
    assert!(given.len() > 3);
    let answers = json!({ "lessons": { id: given } }).to_string();
    for kill in 0..10 {
        let folder = sandbox();
        let import = format!("progress import {}", folder.file("answers.json", &answers));
        let log = folder.path("data/progress.jsonl");
        let mut children = [start(&folder, &import), start(&folder, &import)];
        let seen = until(|| Some(lines(&log)).filter(|lines| lines.len() > kill % given.len()));
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let shown = folder.run("progress show --json");
        shown.json();
        assert_eq!(shown.err, "", "kill {kill}");
        let kept = lines(&log);
        assert_eq!(kept[..seen.len()], seen);
        for line in kept {
            serde_json::from_slice::<Value>(&line).unwrap();
        }
        // The next import takes over what was cut off, and nothing twice.
        folder.run(&import).success();
        let again = folder.run(&import);
        assert!(again.err.starts_with("0 answers taken over"), "{again:?}");
    }
}
