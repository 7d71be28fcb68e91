//! Nested arrays of numbers of any depth, and results of the same shape.

use mlsys_lab::{LabError, Params, Value};

/// Numbers of a parameter, flat and in order, with the shape they were given in.
pub(crate) struct Nested {
    shape: Value,
    /// The numbers, row-major.
    pub(crate) flat: Vec<f64>,
}

impl Nested {
    /// The numbers of a parameter.
    ///
    /// # Errors
    /// The parameter is unset, there is no number in it, or something in it is none.
    pub(crate) fn read(params: &Params, name: &str) -> Result<Self, LabError> {
        match Self::optional(params, name)? {
            Some(read) => Ok(read),
            None => Err(LabError::contradiction(
                [name],
                format!("{name} is not set; give numbers such as [1.0, 2.0]"),
            )),
        }
    }

    /// The numbers of a parameter, if it is set.
    ///
    /// # Errors
    /// There is no number in it, or something in it is none.
    pub(crate) fn optional(params: &Params, name: &str) -> Result<Option<Self>, LabError> {
        let Some(shape) = params.get(name) else { return Ok(None) };
        let mut flat = Vec::new();
        collect(shape, name, &mut flat)?;
        if flat.is_empty() {
            let message = format!("{name} has no number in it; give at least one");
            return Err(LabError::contradiction([name], message));
        }
        let shape = shape.clone();
        Ok(Some(Self { shape, flat }))
    }

    /// Values in this shape, one for each number; what is missing at the end is left out.
    pub(crate) fn like<V: Into<Value>>(&self, values: impl IntoIterator<Item = V>) -> Value {
        let mut values = values.into_iter().map(Into::into);
        put(&self.shape, &mut values).unwrap_or_else(|| Value::Array(Vec::new()))
    }

    /// The lengths of the innermost rows, in order.
    pub(crate) fn rows(&self) -> Vec<usize> {
        let mut rows = Vec::new();
        lengths(&self.shape, &mut rows);
        rows
    }

    pub(crate) fn alike(&self, other: &Self) -> bool {
        let blank = |nested: &Self| nested.like(nested.flat.iter().map(|_| 0_i64));
        blank(self) == blank(other)
    }
}

fn collect(value: &Value, name: &str, flat: &mut Vec<f64>) -> Result<(), LabError> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| collect(item, name, flat)),
        Value::Int(_) | Value::Float(_) => {
            flat.extend(value.as_f64());
            Ok(())
        }
        Value::Bool(_) | Value::Text(_) | Value::Table(_) => {
            let message =
                format!("{name} holds {value}, which is {}; it takes numbers", value.type_name());
            Err(LabError::contradiction([name], message))
        }
    }
}

fn put(shape: &Value, values: &mut impl Iterator<Item = Value>) -> Option<Value> {
    match shape {
        Value::Array(items) => {
            let items = items.iter().map_while(|item| put(item, values));
            Some(Value::Array(items.collect()))
        }
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Table(_) => {
            values.next()
        }
    }
}

fn lengths(shape: &Value, rows: &mut Vec<usize>) {
    let Value::Array(items) = shape else { return };
    let deeper = |item: &Value| matches!(item, Value::Array(_));
    let numbers = items.iter().filter(|item| !deeper(item)).count();
    if numbers > 0 {
        rows.push(numbers);
    }
    for item in items.iter().filter(|item| deeper(item)) {
        lengths(item, rows);
    }
}

#[cfg(test)]
mod tests {
    use mlsys_lab::Value;

    use super::{Nested, collect};

    fn nested(text: &str) -> Nested {
        let table: toml::Table = format!("x = {text}").parse().unwrap();
        let shape: Value = table["x"].clone().try_into().unwrap();
        let mut flat = Vec::new();
        collect(&shape, "x", &mut flat).unwrap();
        Nested { shape, flat }
    }

    #[test]
    fn what_goes_in_comes_out_in_the_same_shape() {
        let rows = nested("[[1, 2.5], [3.0]]");
        assert_eq!(rows.flat, [1.0, 2.5, 3.0]);
        let twice = rows.like(rows.flat.iter().map(|x| 2.0 * x));
        assert_eq!(twice.to_string(), "[[2, 5], [6]]");
        assert_eq!(rows.rows(), [2, 1]);
    }

    #[test]
    fn shapes_are_told_apart() {
        let same = |a, b| nested(a).alike(&nested(b));
        assert!(same("[[1, 2], [3]]", "[[4, 5], [6.5]]"));
        assert!(!same("[[1, 2], [3]]", "[[1], [2, 3]]"));
        assert!(!same("[1, 2]", "[[1, 2]]"));
    }
}
