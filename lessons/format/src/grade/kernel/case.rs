//! What came of one test of a kernel, for whoever wrote the kernel to read.

use mlsys_lab::report::RunData;
use mlsys_lab::value::Value;

use crate::model::Limit;

/// One test of a kernel and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What the test is called.
    pub name: String,
    /// What came of it.
    pub result: CaseResult,
}

/// What came of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseResult {
    /// It is as it should be; what it cost, a line for each limit.
    Passed(Vec<String>),
    /// It is not, and how that shows.
    Failed(String),
    /// It was not run, because one before it did not end.
    NotRun,
}

/// What a limit is about: what was measured, and what is allowed.
pub(super) fn measured(limit: &Limit, data: &RunData) -> String {
    let names = limit.assert.expr.names().into_iter();
    let mut told: Vec<String> = Vec::new();
    for (name, _) in names {
        let Some(metric) = name.as_str().strip_prefix("answer.") else {
            continue;
        };
        let value = data.metric(metric);
        let value = value.as_ref().map_or_else(
            || "has no value".to_owned(),
            |value| match value.as_f64() {
                Some(x) => mlsys_lab::value::number(x),
                None => Value::to_string(value),
            },
        );
        let said = format!("{metric} {value}");
        if !told.contains(&said) {
            told.push(said);
        }
    }
    let allowed = limit.assert.source.replace("answer.", "");
    format!("{}; allowed: {allowed}", told.join(", "))
}
