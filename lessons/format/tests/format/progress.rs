//! The log of a learner's progress, and answers that go out and come back.

use mlsys_lesson::{
    Answer, Answers, Event, LessonId, Progress, Record, State, Timestamp, parse, question_text,
    withheld,
};

use crate::support::everything;

fn id() -> LessonId {
    "systems/everything".parse().unwrap()
}

fn events() -> Vec<Event> {
    let one = |text: &str| Answer::One(text.to_owned());
    let answer = |question: &str, given: &str, right: bool, points: u32| Event::AnswerGiven {
        lesson: id(),
        question: question.into(),
        given: one(given),
        right,
        points,
    };
    vec![
        Event::LessonOpened { lesson: id() },
        Event::PredictionLocked { lesson: id(), prediction: "p1".into(), given: one("0.6") },
        Event::RunFinished { lesson: id(), lab: "run".into(), record: Some("runs/ü1".into()) },
        answer("numeric", "1", false, 0),
        Event::HintShown { lesson: id(), question: "numeric".into(), hint: 0 },
        answer("numeric", "2*512^3", true, 3),
        answer("numeric", "7", false, 0),
        Event::CheckPassed { lesson: id(), check: "c1".into() },
        Event::PredictionLocked { lesson: id(), prediction: "p1".into(), given: one("0.9") },
        Event::AnswerGiven {
            lesson: id(),
            question: "match".into(),
            given: Answer::Pairs([("TPU".to_owned(), "Intel".to_owned())].into()),
            right: false,
            points: 0,
        },
        Event::LessonCompleted { lesson: id() },
    ]
}

fn log() -> String {
    let line = |(at, event)| Record::new(at, event).line().unwrap();
    (0..).zip(events()).map(line).collect()
}

#[test]
fn a_log_replays_to_what_was_done() {
    let replay = Progress::replay(log().as_bytes());
    assert_eq!((replay.torn, replay.skipped), (false, 0));
    let progress = replay.progress.lesson(&id()).unwrap();
    assert!(progress.completed);
    assert_eq!(progress.predictions["p1"], Answer::One("0.6".into()), "a locked prediction stays");
    let answered = &progress.answers["numeric"];
    assert_eq!((answered.right, answered.points, answered.attempts), (true, 3, 3));
    assert_eq!(progress.hints["numeric"], 1);
    let lesson = everything();
    let summary = replay.progress.summary(&lesson);
    assert_eq!(summary.state, State::Completed);
    assert_eq!((summary.points, summary.of, summary.right, summary.questions), (3, 10, 1, 8));
    let mut afresh = replay.progress;
    afresh.apply(Event::LessonReset { lesson: id() });
    assert_eq!(afresh.summary(&lesson).points, 0);
    let attempts = &afresh.lesson(&id()).unwrap().attempts["numeric"];
    let times: Vec<_> = attempts.iter().map(|attempt| attempt.at).collect();
    assert_eq!(times, [3, 5, 6].map(|at| Some(Timestamp(at))), "answers count across resets");
}

#[test]
fn a_log_torn_at_any_byte_loses_at_most_its_last_event() {
    let log = log();
    for cut in 0..=log.len() {
        let whole_lines = log.as_bytes()[..cut].iter().filter(|&&byte| byte == b'\n').count();
        let replay = Progress::replay(&log.as_bytes()[..cut]);
        let mut expected = Progress::default();
        // A line that only lacks its newline is whole.
        let kept = whole_lines + usize::from(log.as_bytes().get(cut) == Some(&b'\n'));
        (0..)
            .zip(events())
            .take(kept)
            .for_each(|(at, event)| expected.apply_at(Some(Timestamp(at)), event));
        assert_eq!(replay.progress, expected, "cut at {cut}");
        assert_eq!(replay.skipped, 0);
        let inside = cut > 0 && log.as_bytes()[cut - 1] != b'\n';
        assert_eq!(replay.torn, inside && kept == whole_lines);
        // A newline before the next event loses only the torn one.
        let mut repaired = log.as_bytes()[..cut].to_vec();
        if inside {
            repaired.push(b'\n');
        }
        repaired.extend_from_slice(log.lines().last().unwrap().as_bytes());
        assert!(Progress::replay(&repaired).progress.lesson(&id()).unwrap().completed);
    }
}

#[test]
fn damaged_progress_lines_affect_no_others() {
    let mut lines: Vec<String> = log().lines().map(str::to_owned).collect();
    lines.insert(1, "{\"v\":3,\"at\":1,\"event\":\"lesson-completed\",\"lesson\":\"a/b\"}".into());
    lines.insert(2, "{\"v\":1,\"at\":1,\"event\":\"from-the-future\"}".into());
    lines.insert(3, "\u{0}\u{0}garbage".into());
    let replay = Progress::replay((lines.join("\n") + "\n").as_bytes());
    assert_eq!((replay.skipped, replay.newer), (3, 1));
    assert_eq!(replay.progress, Progress::replay(log().as_bytes()).progress);
}

#[test]
fn answers_go_out_and_come_back() {
    let answers = Progress::replay(log().as_bytes()).progress.answers();
    let text = answers.to_json().unwrap();
    assert_eq!(Answers::parse(text.as_bytes()).unwrap(), answers);
    assert_eq!(answers.get(&id(), "numeric"), Some(&Answer::One("2*512^3".into())));
    let by_hand = br#"{"lessons": {"systems/everything": {"numeric": 1218, "multiple": ["2", 4], "numerc": 1}}}"#;
    let answers = Answers::parse(by_hand).unwrap();
    assert_eq!(answers.get(&id(), "multiple"), Some(&Answer::Many(vec!["2".into(), "4".into()])));
    let lesson = everything();
    assert_eq!(
        answers.strays(&lesson),
        ["lesson systems/everything has no question 'numerc'; did you mean 'numeric'?"]
    );
    for bad in [
        "",
        "[]",
        "{\"lessons\": {\"x\": {}}}",
        "{\"lessons\": {\"a/b\": {\"q\": null}}}",
        "{\"lesson\": {}}",
    ] {
        let error = Answers::parse(bad.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("line 1") && error.contains("mlsys progress export"), "{error}");
    }
}

#[test]
fn what_a_lesson_asks_is_the_same_without_its_answers() {
    let whole = everything();
    let read = |text: &str| parse("x.md", text).lesson.unwrap();
    let bare = read(&withheld(&whole));
    assert_eq!(question_text(&bare), question_text(&whole));
    let text = &whole.source.text;
    assert_eq!(question_text(&read(&format!("{text}\nMore to read.\n"))), question_text(&whole));
    for question in whole.questions() {
        let prompt = question.prompt.lines().next().unwrap();
        let other = text.replace(prompt, &format!("{prompt} Or not?"));
        assert_ne!(question_text(&read(&other)), question_text(&whole), "{prompt}");
    }
}

#[test]
fn answer_files_have_specific_errors() {
    let newer = br#"{"format": 3, "lessons": {"a/b": {"q": {"unheard": 1}}}, "more": 1}"#;
    let error = Answers::parse(newer).unwrap_err().to_string();
    assert!(error.contains("a newer mlsys") && error.contains("an update reads it"), "{error}");
    let text = Progress::replay(log().as_bytes()).progress.answers().to_json().unwrap();
    let end = text.trim_end().len();
    for cut in 1..end {
        let error = Answers::parse(&text.as_bytes()[..cut]).unwrap_err().to_string();
        assert!(error.contains("is cut off"), "cut at {cut}: {error}");
    }
    for other in
        ["\u{7f}ELF", "{\"format\": 1}", "{\"format\": \"x\", \"lessons\": {}}", "lessons: {}"]
    {
        let error = Answers::parse(other.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("no answers file"), "{error}");
    }
}
