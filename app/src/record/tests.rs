//! Records are read back as they were written, torn or not, and never share a folder.

use std::env;

use mlsys_lab::frame::Frame;
use mlsys_lab::params::Settings;
use mlsys_lab::report::Change;
use mlsys_lab::tables::Tables;
use mlsys_lab::value::Value;

use super::*;

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

fn schema() -> Schema {
    Schema::parse("kind='t'\ntitle='t'\nmodule='t'\nabout='t'\nsource='t'\nbudget=1.0").unwrap()
}

fn record(runs: &Path) -> Record {
    let schema = schema();
    let params = Params::resolve(&schema, &Settings::new(), Tables::builtin(), None).unwrap();
    let about = About {
        schema: &schema,
        params: &params,
        device: None,
        lesson: Some(("a/b", "run")),
    };
    Record::start(runs, &about).unwrap()
}

fn reports() -> Vec<Report> {
    vec![
        Report::Point {
            name: "loss".into(),
            step: 1,
            value: 0.1 + 0.2,
        },
        Report::Point {
            name: "loss".into(),
            step: 2,
            value: f64::NAN,
        },
        Report::Scalar {
            name: "parameters".into(),
            value: Value::Int(1218),
        },
        Report::Scalar {
            name: "accuracy".into(),
            value: Value::Float(1.0),
        },
        Report::Change(Change {
            step: 1,
            name: "rate".into(),
            value: Value::Float(0.5),
        }),
        Report::Diverged {
            step: 2,
            reason: "loss is NaN".into(),
        },
        Report::Notice("slow".into()),
    ]
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
    data.apply(Report::Frame {
        panel: "text".into(),
        step: 2,
        frame,
    });
    record
        .finish(&data, &Outcome::Finished, Duration::from_secs(2))
        .unwrap();

    let names = list(&scratch.0).unwrap();
    let past = read(&scratch.0, &names[0]).unwrap();
    assert_eq!(past.data, data);
    assert_eq!(past.about["lesson"]["id"], "a/b");
    assert_eq!(past.outcome.unwrap()["outcome"], "finished");
}

#[test]
fn a_torn_last_line_costs_that_line_alone() {
    let scratch = Scratch::new("torn");
    let mut record = record(&scratch.0);
    for report in reports() {
        record.append(&report).unwrap();
    }
    let path = record.folder().join("reports.jsonl");
    drop(record);
    let whole = fs::read(&path).unwrap();
    let names = list(&scratch.0).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let past = read(&scratch.0, &names[0]).unwrap();
        let complete = whole[..length]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        let mut expected = RunData::default();
        // A line may be whole but for its line end.
        let ends_whole = whole[length] == b'\n';
        for report in reports()
            .into_iter()
            .take(complete + usize::from(ends_whole))
        {
            expected.apply(report);
        }
        assert_eq!(past.data, expected, "cut at {length}");
        assert!(past.outcome.is_none());
    }
}

#[test]
fn damage_in_the_middle_is_told_with_its_line() {
    let scratch = Scratch::new("damaged");
    let record = record(&scratch.0);
    fs::write(
        record.folder().join("reports.jsonl"),
        "{\"notice\":\"a\"}\nnonsense\n{\"notice\":\"b\"}\n",
    )
    .unwrap();
    let error = read(&scratch.0, &list(&scratch.0).unwrap()[0]).unwrap_err();
    assert!(error.contains("reports.jsonl:2:"), "{error}");
}

#[test]
fn two_runs_of_one_moment_have_two_folders() {
    let scratch = Scratch::new("twice");
    let (first, second) = (record(&scratch.0), record(&scratch.0));
    assert_ne!(first.folder(), second.folder());
    assert_eq!(list(&scratch.0).unwrap().len(), 2);
}

#[test]
fn no_folder_is_no_runs() {
    let scratch = Scratch::new("none");
    assert!(list(&scratch.0).unwrap().is_empty());
}
