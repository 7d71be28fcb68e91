//! Records are read back as they were written, torn or not, and never share a folder.

use std::env;

use mlsys_lab::Artifact;
use mlsys_lab::params::Settings;
use mlsys_lab::report::{Change, RunData};
use mlsys_lab::tables::Tables;
use mlsys_lab::value::Value;

use super::*;
use crate::outcome::Outcome;

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("mlsys-record-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        Self(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn read(runs: &Path, name: &str) -> Result<RecordedRun, RecordError> {
    open(&runs.join(name))
}

fn schema() -> Schema {
    Schema::parse("kind='t'\ntitle='t'\nmodule='t'\nabout='t'\nsource='t'\nbudget=1.0").unwrap()
}

fn record(runs: &Path) -> Record {
    let schema = schema();
    let params = Params::resolve(&schema, &Settings::new(), Tables::builtin(), None).unwrap();
    let about =
        About { schema: &schema, params: &params, device: None, lesson: Some(("a/b", "run")) };
    Record::start(runs, &about).unwrap()
}

fn reports() -> Vec<Report> {
    vec![
        Report::Point { name: "loss".into(), step: 1, value: 0.1 + 0.2 },
        Report::Point { name: "loss".into(), step: 2, value: f64::NAN },
        Report::Scalar { name: "parameters".into(), value: Value::Int(1218) },
        Report::Scalar { name: "accuracy".into(), value: Value::Float(1.0) },
        Report::Scalar { name: "ratio".into(), value: Value::Float(0.1 + 0.7) },
        Report::Change(Change { step: 1, name: "rate".into(), value: Value::Float(0.5) }),
        Report::Diverged { step: 2, reason: "loss is NaN".into() },
        Report::Notice("slow".into()),
    ]
}

#[cfg(unix)]
#[test]
fn a_record_is_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("modes");
    let mut record = record(&scratch.0);
    reports().iter().for_each(|report| record.append(report).unwrap());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let files = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let folder = record.folder().to_owned();
    assert!(files(&folder).count() >= 3);
    assert!(files(&folder).all(|file| mode(&file) == 0o600));
    record
        .finish(&RunData::default().frames, Outcome::Finished.recorded(), Duration::ZERO)
        .unwrap();
    assert!(files(&folder).all(|file| mode(&file) == 0o600));
    assert_eq!(mode(&folder), 0o700);
}

#[test]
fn a_record_reads_back_as_what_was_reported() {
    let scratch = Scratch::new("whole");
    let mut record = record(&scratch.0);
    let mut data = RunData::default();
    for report in reports() {
        record.append(&report).unwrap();
        data.apply(report);
    }
    let frame = Frame::Text("done".into());
    data.apply(Report::Frame { panel: "text".into(), step: 2, frame: Box::new(frame) });
    record.finish(&data.frames, Outcome::Finished.recorded(), Duration::from_secs(2)).unwrap();

    let names = list(&scratch.0).unwrap();
    let past = read(&scratch.0, &names[0]).unwrap();
    assert_eq!(past.data, data);
    assert_eq!(past.summary.about["lesson"]["id"], "a/b");
    assert_eq!(past.summary.status.word(), "finished");
    assert!(past.warnings.is_empty());
}

fn network() -> Report {
    Report::Artifact(Arc::new(Artifact {
        kind: "network".to_owned(),
        ending: "safetensors".to_owned(),
        about: "mlp".to_owned(),
        unfinished: None,
        bytes: vec![7; 1 << 20],
    }))
}

#[cfg(unix)]
#[test]
fn only_closing_waits_for_the_disk() {
    let scratch = Scratch::new("slow");
    fs::create_dir_all(&scratch.0).unwrap();
    // A pipe as a disk that takes nothing until it is read: more than a pipe holds is written before the file.
    let (mut disk, pipe) = io::pipe().unwrap();
    let file = File::from(std::os::fd::OwnedFd::from(pipe));
    let mut writer = Writer::start(file, scratch.0.clone()).unwrap();
    let notice = "x".repeat(1 << 20);
    writer.append(&Report::Notice(notice.clone())).unwrap();
    writer.append(&network()).unwrap();
    let kept = scratch.0.join("network.safetensors");
    assert!(!kept.exists());
    let reads = std::thread::spawn(move || io::read_to_string(&mut disk).unwrap());
    writer.close().unwrap();
    drop(writer);
    assert!(reads.join().unwrap().contains(&notice));
    assert_eq!(fs::read(&kept).unwrap(), vec![7; 1 << 20]);
}

#[test]
fn an_unwritable_artifact_is_an_error_with_its_name() {
    let scratch = Scratch::new("unwritten");
    let mut record = record(&scratch.0);
    let folder = record.folder().to_owned();
    fs::create_dir_all(folder.join("network.safetensors/in the way")).unwrap();
    record.append(&network()).unwrap();
    let ended = record.finish(&Pictures::new(), Outcome::Finished.recorded(), Duration::ZERO);
    let message = ended.unwrap_err().to_string();
    assert!(message.starts_with("network.safetensors: "), "{message}");
    assert_eq!(summary(&folder).unwrap().status, RunStatus::CutOff);
}

#[test]
fn a_torn_last_line_costs_only_that_line() {
    let scratch = Scratch::new("torn");
    let mut record = record(&scratch.0);
    for report in reports() {
        record.append(&report).unwrap();
    }
    let path = record.folder().join(REPORTS);
    drop(record);
    let whole = fs::read(&path).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|&byte| byte == b'\n').collect();
    let names = list(&scratch.0).unwrap();
    let of = |text: &[u8]| {
        fs::write(&path, text).unwrap();
        read(&scratch.0, &names[0]).unwrap()
    };
    for length in 0..whole.len() {
        let past = of(&whole[..length]);
        assert_eq!(past.summary.status, RunStatus::CutOff);
        assert_eq!(past.warnings, [""; 0], "cut at {length}");
        // A line may be whole but for its line end.
        let mut kept = 0;
        let complete = lines.iter().take_while(|line| {
            kept += line.len();
            kept <= length + 1
        });
        let complete: Vec<u8> = complete.flat_map(|line| line.to_vec()).collect();
        assert_eq!(past.data, of(&complete).data, "cut at {length}");
    }
}

#[test]
fn damaged_lines_are_reported_and_the_rest_is_used() {
    let scratch = Scratch::new("damaged");
    let record = record(&scratch.0);
    let lines: [&[u8]; 8] = [
        b"{\"notice\":\"a\"}",
        b"nonsense",
        b"{\"notice\":\"\xff\"}",
        b"",
        b"{\"points\":{\"loss\":{\"from\":1,\"by\":1,\"f64\":[0.5,0.25]}}}",
        b"{\"points\":{\"loss\":{\"from\":1,\"by\":1,\"f64\":[0.5]}}}",
        b"{\"points\":{\"loss\":{\"steps\":[3,4],\"f64\":[0.5]}}}",
        b"{\"points\":{\"loss\":{\"steps\":[3],\"f32\":[0.1]}}}",
    ];
    fs::write(record.folder().join(REPORTS), lines.join(&b'\n')).unwrap();
    let past = read(&scratch.0, &list(&scratch.0).unwrap()[0]).unwrap();
    assert_eq!(past.data.notices, ["a"]);
    let third = f64::from(0.1_f32);
    assert_eq!(past.data.series["loss"].points(), [(1, 0.5), (2, 0.25), (3, third)]);
    let message = past.warnings.join("\n");
    for place in ["jsonl:2 ", "jsonl:3 was passed over: it is not text", "jsonl:6 ", "jsonl:7 "] {
        assert!(message.contains(place), "{place} is missing in {message}");
    }
    assert_eq!(past.warnings.len(), 4, "{message}");
}

#[test]
fn simultaneous_runs_have_folders_of_their_own() {
    let scratch = Scratch::new("twice");
    let (first, second) = (record(&scratch.0), record(&scratch.0));
    assert_ne!(first.folder(), second.folder());
    assert_eq!(list(&scratch.0).unwrap().len(), 2);
}

#[test]
fn a_missing_or_empty_folder_holds_no_runs() {
    let scratch = Scratch::new("none");
    assert!(list(&scratch.0).unwrap().is_empty());
    fs::create_dir_all(scratch.0.join("2026-01-01T00-00-00Z-t-1")).unwrap();
    assert!(list(&scratch.0).unwrap().is_empty());
}

#[test]
fn what_runs_left_that_never_began_is_found_after_an_hour() {
    let scratch = Scratch::new("unbegun");
    let later = |seconds| SystemTime::now() + Duration::from_secs(seconds);
    assert!(unbegun(&scratch.0, later(7200)).unwrap().is_empty());
    let folder = |name: &str| {
        let folder = scratch.0.join(name);
        fs::create_dir_all(&folder).unwrap();
        folder
    };
    let [empty, begun, draft, other, reported, going] =
        [1, 2, 3, 4, 5, 6].map(|n| format!("2026-11-29T03-22-08.71{n}Z-train-{n}"));
    folder(&empty);
    fs::write(folder(&begun).join(RUNNING), "").unwrap();
    fs::write(folder(&begun).join(REPORTS), "").unwrap();
    fs::write(folder(&draft).join(".mlsys-a8Gh"), "{").unwrap();
    fs::write(folder(&other).join("notes.txt"), "a learner's own").unwrap();
    fs::write(folder(&reported).join(REPORTS), "{}\n").unwrap();
    let lock = lock(&folder(&going)).unwrap();
    folder("mine");
    drop(record(&scratch.0));
    assert!(unbegun(&scratch.0, later(3000)).unwrap().is_empty());
    assert_eq!(
        unbegun(&scratch.0, later(4000)).unwrap(),
        [empty.clone(), begun.clone(), draft.clone()]
    );
    drop(lock);
    assert_eq!(unbegun(&scratch.0, later(4000)).unwrap(), [empty, begun, draft, going]);
}

#[test]
fn a_run_goes_on_until_it_ends_or_is_cut_off() {
    let scratch = Scratch::new("status");
    let ended = record(&scratch.0);
    let folder = ended.folder().to_owned();
    assert_eq!(summary(&folder).unwrap().status, RunStatus::GoingOn);
    ended.finish(&Pictures::new(), Outcome::Finished.recorded(), Duration::ZERO).unwrap();
    assert_eq!(summary(&folder).unwrap().status.word(), "finished");
    assert!(!folder.join(RUNNING).exists());
    let cut = record(&scratch.0);
    let folder = cut.folder().to_owned();
    drop(cut);
    assert_eq!(summary(&folder).unwrap().status, RunStatus::CutOff);
}

#[test]
fn a_record_that_cannot_be_read_says_why() {
    let scratch = Scratch::new("refused");
    let folder = scratch.0.join("run");
    fs::create_dir_all(&folder).unwrap();
    let refusal = |about: Option<&[u8]>| {
        match about {
            Some(about) => fs::write(folder.join(ABOUT), about).unwrap(),
            None => fs::write(folder.join(REPORTS), "{}").unwrap(),
        }
        read(&scratch.0, "run").unwrap_err().to_string()
    };
    for (about, reason) in [
        (None, "run.json, which says what was run, is missing"),
        (
            Some(&b"{\"format\": 3}"[..]),
            "a newer mlsys has recorded this run (format 3; this one reads up to 2): an update reads it",
        ),
        (
            Some(b"{\"format\": 1}"),
            "an older mlsys has recorded this run (format 1; this one reads format 2): run the lab again",
        ),
        (Some(b"{\"format\": 0}"), "it says no format"),
        (Some(b"{\"format\": 2, \"lab\": "), "run.json: EOF"),
        (Some(b"[1]"), "it holds no object"),
        (Some(b"\xff\xfe"), "run.json: "),
        (Some(b""), "run.json: EOF"),
        (Some(&[b'['; 2_000_000]), "far too long"),
        (Some(&[b'['; 100_000]), "recursion"),
    ] {
        let error = refusal(about);
        assert!(error.contains(reason), "{reason} is missing in {error}");
    }
}

#[test]
fn a_run_from_the_future_is_not_the_last() {
    let scratch = Scratch::new("future");
    for name in ["1999-01-01-train-1", "1999-01-02-train-2", "2999-01-01-train-3"] {
        fs::create_dir_all(scratch.0.join(name)).unwrap();
        fs::write(scratch.0.join(name).join(ABOUT), "{\"format\": 2}").unwrap();
    }
    assert!(find(&scratch.0, "last").unwrap().ends_with("1999-01-02-train-2"));
    assert!(find(&scratch.0, "last-2").unwrap().ends_with("2999-01-01-train-3"));
}

#[test]
fn runs_are_found_by_name_prefix_path_and_last() {
    let scratch = Scratch::new("found");
    for name in ["2026-01-01-train-1", "2026-01-02-train-2", "2026-01-02-train-3"] {
        fs::create_dir_all(scratch.0.join(name)).unwrap();
        fs::write(scratch.0.join(name).join(ABOUT), "{\"format\": 2}").unwrap();
    }
    let found = |asked: &str| {
        let found = find(&scratch.0, asked)?;
        Ok::<_, RecordError>(found.file_name().unwrap().to_str().unwrap().to_owned())
    };
    for (asked, name) in [
        ("last", "2026-01-02-train-3"),
        ("last-2", "2026-01-01-train-1"),
        ("2026-01-01", "2026-01-01-train-1"),
        ("2026-01-02-train-2", "2026-01-02-train-2"),
        (scratch.0.join("2026-01-01-train-1").to_str().unwrap(), "2026-01-01-train-1"),
    ] {
        assert_eq!(found(asked).unwrap(), name);
    }
    for (asked, reason) in [
        ("last-3", "the first is 'last-2'"),
        ("2026-01-02", "begins the names of 2 runs"),
        ("2026-01-02-trian-3", "did you mean '2026-01-02-train-3'?"),
        ("lsat", "did you mean 'last'?"),
        ("train", "see `mlsys runs list`"),
        ("no/where", "no folder"),
    ] {
        let error = found(asked).unwrap_err().to_string();
        assert!(error.contains(reason), "{asked}: {error}");
    }
    let odd = |asked: &str| {
        find_counting(&scratch.0, asked, " with an odd number", |folder| {
            !folder.ends_with("2026-01-02-train-2")
        })
    };
    assert!(odd("last-1").unwrap().ends_with("2026-01-01-train-1"));
    assert!(odd("2026-01-02-train-2").is_ok());
    assert_eq!(
        odd("last-2").unwrap_err().to_string(),
        "2 runs with an odd number have been recorded: the first is 'last-1'"
    );
}

#[test]
fn shipped_recordings_read_without_warnings() {
    for recording in shipped() {
        let past = recording.open().unwrap();
        let name = past.summary.name.clone();
        assert_eq!(past.warnings, [""; 0], "{name}");
        assert_eq!(past.summary.status.word(), "finished", "{name}");
        assert!(past.summary.device().is_some(), "{name} names no device");
        let lab = mlsys_registry::built_in().find(past.summary.lab());
        let schema = lab.unwrap().schema();
        assert!(!past.data.series.is_empty(), "{name}");
        for metric in past.data.metrics().keys() {
            assert!(schema.metric(metric).is_some(), "{name}: {metric}");
        }
    }
}
