//! Numbers with units, prefixes and few digits.

use mlsys_lesson::{Answer, LessonEnv, Verdict};

use crate::support::{lesson, registry};

#[test]
fn units_prefixes_and_what_the_screen_shows_are_understood() {
    for (answer, unit, given, verdict) in [
        ("450", "GB/s", "450 GB/s", Verdict::Right),
        ("450", "GB/s", "450G", Verdict::Right),
        ("450", "GB/s", "450e9 B/s", Verdict::Right),
        ("450", "GB/s", "0.45 TB/s", Verdict::Right),
        ("450", "GB/s", "3600 Gbit/s", Verdict::Right),
        ("450", "GB/s", "450 GB", Verdict::Malformed),
        ("450", "GB/s", "450 MB/s", Verdict::Wrong),
        ("1.875e9", "bytes", "1.9G", Verdict::Malformed),
        ("1.875e9", "bytes", "1.875 GB", Verdict::Right),
        ("1.875", "GB", "1.9", Verdict::Right),
        ("1.875", "GB", "1.9G", Verdict::Right),
        ("1.875", "GB", "1.88", Verdict::Right),
        ("1.875", "GB", "1.8", Verdict::Wrong),
        ("1.875", "GB", "2", Verdict::Wrong),
        ("2^30", "bytes", "1 GiB", Verdict::Right),
        ("2^30", "bytes", "1.074 GB", Verdict::Right),
        ("2^30", "bytes", "1.07e9", Verdict::Malformed),
        ("102736", "bytes", "102.7k", Verdict::Right),
        ("102736", "bytes", "102700", Verdict::Wrong),
        ("1e6", "", "1e6", Verdict::Right),
        ("25", "percent", "25 %", Verdict::Right),
        ("0.25", "", "25%", Verdict::Right),
        ("0.002", "s", "2 ms", Verdict::Right),
        ("36", "hours", "1.5 days", Verdict::Right),
        ("7e10", "parameters", "70B", Verdict::Right),
        ("7e10", "parameters", "70 billion parameters", Verdict::Right),
        ("70553706496", "parameters", "70.55B", Verdict::Right),
        ("70553706496", "parameters", "70.6B", Verdict::Malformed),
        ("70553706496", "parameters", "70.7B", Verdict::Wrong),
        ("70553706496", "bytes", "70.55B", Verdict::Wrong),
        ("16", "warps", "16 warps", Verdict::Right),
        ("16", "warps", "16 threads", Verdict::Malformed),
        ("16", "", "16 W", Verdict::Malformed),
        ("3", "FLOP/s", "3 FLOPS", Verdict::Right),
        ("1.25e14", "FLOP/s", "125 TFLOP/s", Verdict::Right),
        ("2/3", "", "0.6667", Verdict::Right),
        ("2/3", "", "0.7", Verdict::Wrong),
    ] {
        let unit = if unit.is_empty() { unit.into() } else { format!("unit = \"{unit}\"\n") };
        let text = format!(
            "{{question}} q\ntype = \"numeric\"\nprompt = \"?\"\nanswer = \"{answer}\"\n{unit}"
        );
        let lesson = lesson(&text);
        let question = lesson.question("q").unwrap();
        let grade = question.grade(&Answer::One(given.into()), &LessonEnv::new(), &registry());
        assert_eq!(grade.verdict, verdict, "{answer} {unit} {given}: {grade:?}");
    }
    // Rounding must not hide a mistake that the lesson knows.
    let wrong = "wrong = [{ value = 1.92, say = \"n\" }]";
    let text =
        format!("{{question}} q\ntype = \"numeric\"\nprompt = \"?\"\nanswer = 1.875\n{wrong}");
    let lesson = lesson(&text);
    let question = lesson.question("q").unwrap();
    let verdict = |given: &str| {
        question.grade(&Answer::One(given.into()), &LessonEnv::new(), &registry()).verdict
    };
    assert_eq!(
        ["1.9", "1.88", "1.92"].map(verdict),
        [Verdict::Malformed, Verdict::Right, Verdict::Wrong]
    );
}
