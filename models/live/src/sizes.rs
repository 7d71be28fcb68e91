//! Sizes in an array parameter.

use mlsys_lab::{LabError, Params, Value};

/// Whole numbers from 1 to `largest`; `what` names one of them in the error.
///
/// # Errors
/// If an element of parameter `param` is none.
pub(crate) fn sizes(
    params: &Params,
    param: &str,
    what: &str,
    largest: usize,
) -> Result<Vec<usize>, LabError> {
    let Some(Value::Array(given)) = params.get(param) else { return Ok(Vec::new()) };
    let size = |(place, value): (usize, &Value)| {
        let whole = value.as_f64().filter(|x| x.fract() == 0.0);
        let fits = whole.filter(|x| (1.0..=largest as f64).contains(x));
        fits.map(|x| x as usize).ok_or_else(|| {
            let message = format!(
                "{what} {} is {value}; each must be a whole number from 1 to {largest}",
                place + 1
            );
            LabError::contradiction([param], message)
        })
    };
    given.iter().enumerate().map(size).collect()
}
