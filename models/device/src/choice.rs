//! Parameters that name one of a few cases.

use mlsys_lab::{LabError, Params};

/// The case that an enum parameter names. Resolution has checked the name against the schema, whose names are
/// tested to be those of `cases`.
///
/// # Errors
/// If no case has that name.
pub fn pick<T: Copy>(params: &Params, name: &str, cases: &[(&str, T)]) -> Result<T, LabError> {
    let text = params.text(name)?;
    let found = cases.iter().find(|(case, _)| *case == text);
    found.map(|&(_, case)| case).ok_or_else(|| {
        let known: Vec<_> = cases.iter().map(|(case, _)| *case).collect();
        LabError::contradiction([name], format!("'{text}' is none of {}", known.join(", ")))
    })
}

/// Holds the names of cases against those that a schema lists.
pub fn assert_choices_listed<T>(lab: &dyn mlsys_lab::Lab, param: &str, cases: &[(&str, T)]) {
    let names: Vec<&str> = cases.iter().map(|(name, _)| *name).collect();
    let listed = lab.schema().param(param).map(|param| &param.values[..]);
    assert!(listed.is_some_and(|listed| listed == names), "{param}: {listed:?}");
}
