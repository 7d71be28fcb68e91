//! Sources that are refused, with the place and the way out.

use super::{Dialect, parse};

#[test]
fn refusals_name_the_place_and_the_way_out() {
    for (source, column, message, help) in [
        ("", 1, "a value is missing at the end", ""),
        ("1 +", 4, "a value is missing at the end", ""),
        ("é", 1, "unexpected character `é`", "names are made of a-z, A-Z, 0-9 and _"),
        ("a + \u{7}", 5, "unexpected character `\\u{7}`", ""),
        ("2x", 2, "an operator is missing after the number", "write 2*x"),
        ("2 x", 3, "an operator is missing before this", "write 2*x, not 2x or 2 x"),
        ("2(x)", 2, "an operator is missing before this", "write 2*x, not 2x or 2 x"),
        ("(a)(b)", 4, "an operator is missing before this", "write 2*x, not 2x or 2 x"),
        ("rate(2)", 1, "there is no function `rate`", "to multiply, write rate*(...)"),
        ("Close(1, 2, 3)", 1, "there is no function `Close`", "did you mean `close`?"),
        ("medain(run.loss)", 1, "there is no function `medain`", "did you mean `median`?"),
        ("1_000", 2, "a number has no separators", "write the digits alone, or 1e6"),
        ("0x10", 2, "numbers are decimal", ""),
        ("1.2.3", 4, "a number has at most one decimal point", ""),
        ("1.", 1, "a digit must follow the decimal point", ""),
        (".5", 1, "unexpected character `.`", "a number begins with a digit: 0.5"),
        ("1e999", 1, "`1e999` is too large for a number", ""),
        ("+1", 1, "there is no unary plus", "leave the `+` out"),
        (
            "run.",
            1,
            "a name must follow the dot",
            "names look like `lab.metric` or `lab.metric.member`",
        ),
        (
            "a < b < c",
            7,
            "comparisons cannot be chained",
            "join two comparisons: `a < b and b < c`",
        ),
        (
            "a == not b",
            6,
            "`not` binds too loosely to stand here",
            "put it in parentheses: `(not x)`",
        ),
        ("a not b", 3, "an operator is missing before `not`", "write `a and not b`"),
        ("a = b", 3, "`=` assigns, which this place does not allow", "to compare, write `==`"),
        ("a; b", 2, "only one expression can stand here", ""),
        ("(a", 1, "this parenthesis is not closed", ""),
        ("a)", 2, "this parenthesis was never opened", ""),
        ("a, b", 2, "a comma stands only between a function's arguments", ""),
        ("x**2", 2, "`**` is not an operator here", "a power is written `x^2`"),
        ("a && b", 3, "`&&` is not an operator here", "write `and`"),
        ("!a", 1, "`!` is not an operator here", "write `not`"),
        ("a ≤ b", 3, "`≤` is not an operator here", "write `<=`"),
        ("n²", 2, "`²` is not an operator here", "a power is written `x^2`"),
        ("d.name == 'x'", 11, "`'` is not an operator here", "a text stands between double quotes"),
        ("d.name == \"x", 11, "the text is not closed", "close it with `\"`"),
        (
            "d.name == \"\\n\"",
            12,
            "a backslash stands only before `\"` or another backslash",
            "write `\\\\` for a backslash",
        ),
        ("\"a\"", 1, "a text, `true` or `false` stands only beside `==` or `!=`", ""),
        ("a and true", 7, "a text, `true` or `false` stands only beside `==` or `!=`", ""),
        ("max(a, \"b\")", 8, "a text, `true` or `false` stands only beside `==` or `!=`", ""),
        ("-\"a\"", 2, "a text, `true` or `false` stands only beside `==` or `!=`", ""),
        ("sqrt()", 1, "`sqrt` takes 1 argument, not 0", ""),
        ("min(a, b, c)", 1, "`min` takes 1 to 2 arguments, not 3", ""),
        ("close(a, b)", 1, "`close` takes 3 arguments, not 2", ""),
        (
            "max(a,)",
            7,
            "a value is missing here",
            "a number, a name, a function or a parenthesis can stand here",
        ),
        ("mean(2*a.b)", 6, "`mean` takes the name of a series here", "for example mean(run.loss)"),
        ("at(1, 2)", 4, "`at` takes the name of a series here", "for example at(run.loss, 100)"),
        ("max(2)", 5, "`max` takes the name of a series here", "for example max(run.loss)"),
    ] {
        let found = parse(source, Dialect::Lesson)
            .err()
            .map(|error| (error.column(source), error.message, error.help.unwrap_or_default()));
        assert_eq!(found, Some((column, message.to_owned(), help.to_owned())), "{source}");
    }
}

#[test]
fn a_foreign_function_is_told_apart_from_an_unknown_one() {
    let complaint = |source, dialect| parse(source, dialect).err().map(|error| error.to_string());
    assert_eq!(
        complaint("x + floor(x)", Dialect::Graph).as_deref(),
        Some(
            "a computation graph has no `floor` (it has + - * / ^ and max, sqrt, exp, log, ln, sin, cos, tanh, sigmoid, relu)"
        )
    );
    assert_eq!(
        complaint("log(lane)", Dialect::Pattern).as_deref(),
        Some(
            "a pattern over threads has no `log` (it has or and not == != < <= > >= + - * / % ^ and min, max, abs, xor, if)"
        )
    );
}

#[test]
fn columns_count_characters() {
    let source = "d.name == \"αβγ\" + 1 2";
    let column = parse(source, Dialect::Lesson).err().map(|error| error.column(source));
    assert_eq!(column, Some(11));
    let source = "d.name == \"αβγ\" and 1 2";
    let column = parse(source, Dialect::Lesson).err().map(|error| error.column(source));
    assert_eq!(column, Some(23));
}
