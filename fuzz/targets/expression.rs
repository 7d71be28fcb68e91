//! Any text as an expression: it is read or refused with a place inside it, what is read prints as itself, and its
//! value is finite. libFuzzer's `-timeout` watches over the time.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use mlsys_expr::{
    Dialect, Env, LookupError, Value, evaluate, evaluate_pattern, parse, parse_program,
    program_errors,
};

/// Names with values of every kind, and names without.
struct Names;

impl Env for Names {
    fn lookup(&self, name: &str) -> Result<Value, LookupError> {
        match name.len() % 6 {
            0 => Ok(Value::Text(name.to_owned())),
            1 => Ok(Value::Series(Arc::from([(0, 2.5), (10, -0.5), (u64::MAX, 1e300)]))),
            2 => Ok(Value::Bool(true)),
            3 => Ok(Value::Number(-3.75)),
            4 => Ok(Value::Series(Arc::from([]))),
            _ => Err(LookupError::Unknown { nearest: None }),
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(source) = std::str::from_utf8(data) else { return };
    for dialect in [Dialect::Lesson, Dialect::Graph, Dialect::Pattern, Dialect::ClosedForm] {
        match parse(source, dialect) {
            Ok(expr) => {
                assert!(expr.span.end <= source.len());
                let printed = expr.to_string();
                assert_eq!(parse(&printed, dialect).as_ref(), Ok(&expr), "{printed}");
                match evaluate(&expr, &Names) {
                    Ok(Value::Number(x)) => assert!(x.is_finite()),
                    Ok(Value::Series(_)) => panic!("the value is a series"),
                    Ok(Value::Text(_) | Value::Bool(_)) => {}
                    Err(error) => {
                        assert!(error.span.end <= source.len());
                        mlsys_fuzz::is_printable(&error.to_string());
                    }
                }
                if let Ok(x) = evaluate_pattern(&expr, &|name| i64::try_from(name.len()).ok()) {
                    assert!(x.abs() <= 1 << 53);
                }
            }
            Err(error) => {
                assert!(error.span.start <= error.span.end);
                assert!(source.get(error.span.start..error.span.end).is_some());
                assert!(error.column(source) <= source.chars().count() + 1);
                assert!(!error.message.is_empty());
                let _ = error.to_string();
            }
        }
    }
    let errors = program_errors(source);
    match parse_program(source) {
        Ok(program) => {
            assert!(errors.is_empty(), "{source:?}: {errors:?}");
            let assigned: Vec<_> =
                program.statements.iter().filter_map(|s| s.name.as_ref()).collect();
            assert!(program.inputs().iter().all(|(name, _)| !assigned.contains(name)));
        }
        Err(_) => assert!(!errors.is_empty(), "{source:?}"),
    }
    for error in errors {
        assert!(source.get(error.span.start..error.span.end).is_some(), "{source:?}: {error:?}");
    }
});
