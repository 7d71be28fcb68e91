//! What holds for every source and every tree.
use std::sync::Arc;

use crate::ast::{BinaryOp, Expr, Name, Node, UnaryOp};
use crate::eval::{Env, LookupError, Value, evaluate};
use crate::function::Function;
use crate::parse::parse;
use crate::pattern::evaluate_pattern;
use crate::program::{parse_program, program_errors};
use crate::random::SplitMix64;
use crate::source::{Dialect, MAX_BYTES, MAX_DEPTH, MAX_NODES, Span};

/// The rows of a table of tests: columns between ` => `, and comments behind `#`.
pub(crate) fn table<const N: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    text.lines().filter(|line| !line.starts_with("# ")).map(|line| {
        let mut columns = line.splitn(N, " => ");
        std::array::from_fn(|_| columns.next().unwrap_or(""))
    })
}

struct Everything;

impl Env for Everything {
    fn lookup(&self, name: &str) -> Result<Value, LookupError> {
        match name.len() % 4 {
            0 => Ok(Value::Text(name.to_owned())),
            1 => Ok(Value::Series(Arc::from([(0, 2.5), (10, -0.5)]))),
            2 => Ok(Value::Bool(true)),
            _ => Err(LookupError::Unknown { nearest: None }),
        }
    }
}

/// Does to a source all that can be done to it, and checks the places of what is wrong.
fn exercise(source: &str) -> usize {
    let mut accepted = 0;
    for dialect in Dialect::ALL {
        match parse(source, dialect) {
            Ok(expr) => {
                accepted += 1;
                assert!(expr.span.end <= source.len());
                assert_eq!(parse(&expr.to_string(), dialect), Ok(expr.clone()), "{source}");
                if let Ok(value) = evaluate(&expr, &Everything) {
                    assert!(!matches!(value, Value::Series(_)), "{source} is a series");
                    assert!(
                        !matches!(value, Value::Number(number) if !number.is_finite()),
                        "{source}"
                    );
                }
                if let Ok(value) = evaluate_pattern(&expr, &|name| i64::try_from(name.len()).ok()) {
                    assert!(value.abs() <= 1 << 53, "{source} gave {value}");
                }
            }
            Err(error) => {
                assert!(
                    error.span.start <= error.span.end && error.span.end <= source.len(),
                    "{source:?}: {error:?}"
                );
                assert!(source.is_char_boundary(error.span.start), "{source:?}: {error:?}");
                assert!(source.is_char_boundary(error.span.end), "{source:?}: {error:?}");
                assert!(error.column(source) <= source.chars().count() + 1);
                assert!(!error.message.is_empty());
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
    accepted
}

#[test]
fn any_bytes_are_read_or_refused() {
    let mut random = SplitMix64(1);
    for _ in 0..20_000 {
        let length = random.below(40);
        let bytes: Vec<u8> = (0..length).map(|_| random.bits().to_le_bytes()[0]).collect();
        exercise(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn any_tokens_are_read_or_refused() {
    const PIECES: [&str; 48] = [
        "(", ")", "(", ")", ",", ";", "=", "==", "!=", "<", "<=", ">", ">=", "+", "-", "-", "*",
        "/", "%", "^", "^", " ", " ", "and ", "or ", "not ", "true", "false", "\"", "\"t\"", "\\",
        "0", "1", "2", "1e9", "1.5e-3", "9e999", ".", "x", "y", "run.loss", "max(", "at(", "if(",
        "log(", "²", "é", "\u{0}",
    ];
    let mut random = SplitMix64(2);
    let mut accepted = 0;
    for _ in 0..60_000 {
        let length = 1 + random.below(9);
        let source: String = (0..length).map(|_| random.pick(&PIECES)).collect();
        accepted += exercise(&source);
    }
    assert!(accepted > 4_000, "only {accepted} of the random sources were expressions");
}

const NOWHERE: Span = Span { start: 0, end: 0 };

fn random_name(random: &mut SplitMix64) -> Node {
    Node::Name(Name::new(random.pick(&["x", "run.loss", "a.b.c", "_y1", "notx", "e9"]).to_owned()))
}

fn random_tree(random: &mut SplitMix64, depth: usize) -> Expr {
    let node = match if depth == 0 { random.below(3) } else { random.below(10) } {
        0 => Node::Number(random.pick(&[
            0.0,
            1.0,
            0.1,
            2.5e-8,
            1e9,
            1e22,
            123_456_789.5,
            f64::MAX,
            f64::MIN_POSITIVE,
        ])),
        1 => Node::Number(random.below(1 << 20) as f64 / 64.0),
        2 => random_name(random),
        3 => Node::Unary(
            random.pick(&[UnaryOp::Not, UnaryOp::Negate]),
            Box::new(random_tree(random, depth - 1)),
        ),
        4 => random_call(random, depth - 1),
        5 => {
            let text = random.pick(&["", "cuda", "a \"quoted\" \\ text", "ünï"]).to_owned();
            let literal =
                random.pick(&[Node::Bool(true), Node::Text(String::new())].each_ref()).clone();
            let node = if matches!(literal, Node::Text(_)) { Node::Text(text) } else { literal };
            let left = Expr { node: random_name(random), span: NOWHERE };
            Node::Binary(BinaryOp::NotEqual, Box::new(left), Box::new(Expr { node, span: NOWHERE }))
        }
        _ => {
            let op = random.pick(&BinaryOp::ALL);
            Node::Binary(
                op,
                Box::new(random_tree(random, depth - 1)),
                Box::new(random_tree(random, depth - 1)),
            )
        }
    };
    Expr { node, span: NOWHERE }
}

fn random_call(random: &mut SplitMix64, depth: usize) -> Node {
    let functions: Vec<Function> = Function::ALL
        .into_iter()
        .filter(|function| function.arity(Dialect::Lesson).is_some())
        .collect();
    let function = random.pick(&functions);
    let count = function.arity(Dialect::Lesson).map_or(0, |arity| *arity.end());
    let arguments = (0..count).map(|index| {
        if index == 0 && function.takes_series(count) {
            Expr { node: random_name(random), span: NOWHERE }
        } else {
            random_tree(random, depth)
        }
    });
    Node::Call(function, arguments.collect())
}

#[test]
fn a_printed_tree_reads_back_as_itself() {
    let mut random = SplitMix64(3);
    for _ in 0..20_000 {
        let tree = random_tree(&mut random, 5);
        let source = tree.to_string();
        if source.len() > MAX_BYTES {
            continue;
        }
        assert_eq!(parse(&source, Dialect::Lesson), Ok(tree), "{source}");
    }
}

/// Every pair of parentheses that is printed is needed: without it the source means something else, or nothing.
#[test]
fn no_printed_parentheses_can_be_left_out() {
    let mut random = SplitMix64(4);
    let mut tried = 0;
    for _ in 0..3_000 {
        let tree = random_tree(&mut random, 3);
        let source = tree.to_string();
        for (open, close) in grouping_pairs(&source) {
            let mut shorter = source.clone();
            shorter.replace_range(close..=close, "");
            shorter.replace_range(open..=open, "");
            assert_ne!(
                parse(&shorter, Dialect::Lesson).ok().as_ref(),
                Some(&tree),
                "{source} as {shorter}"
            );
            tried += 1;
        }
    }
    assert!(tried > 1_000, "only {tried} pairs of parentheses");
}

/// The parentheses that group, as against those of a function's arguments and those inside a text.
fn grouping_pairs(source: &str) -> Vec<(usize, usize)> {
    let mut open = Vec::new();
    let mut pairs = Vec::new();
    let mut before = ' ';
    for (at, c) in source.char_indices() {
        match c {
            '(' => open.push((at, before.is_ascii_alphanumeric())),
            ')' => pairs.extend(open.pop().filter(|(_, call)| !call).map(|(start, _)| (start, at))),
            _ => {}
        }
        before = c;
    }
    pairs
}

/// The largest source of each deep shape, on a stack half as large as a thread's usual one.
#[test]
fn limits_hold_on_a_small_stack() -> std::io::Result<()> {
    let body = || {
        let many = |piece: &str, count: usize| piece.repeat(count);
        for count in [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 1_300] {
            for source in [
                many("(", count) + "x" + &many(")", count),
                many("-", count) + "x",
                many("not ", count.min(1_000)) + "x",
                many("x^", count) + "x",
                many("x^-", count) + "x",
                many("x+", count) + "x",
                many("abs(", count.min(800)) + "x" + &many(")", count.min(800)),
                many("1 or 1 and 1==1+1*(", count.min(180)) + "x" + &many(")", count.min(180)),
                many("(", count),
                "max(".to_owned() + &many("x,", count) + "x)",
            ] {
                exercise(&source);
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(1024 * 1024).spawn(body)?;
    assert!(thread.join().is_ok());
    Ok(())
}

#[test]
fn limits_are_exact_and_named() {
    let complaint = |source: &str| parse(source, Dialect::Lesson).err().map(|error| error.message);
    let nested = |count: usize| "(".repeat(count) + "x" + &")".repeat(count);
    let deep = Some(format!("nested more than {MAX_DEPTH} levels deep"));
    assert_eq!(complaint(&nested(MAX_DEPTH)), None);
    assert_eq!(complaint(&nested(MAX_DEPTH + 1)), deep);
    assert_eq!(complaint(&("1+".repeat(MAX_DEPTH - 1) + "1")), None);
    assert_eq!(complaint(&("1+".repeat(MAX_DEPTH) + "1")), deep);

    // 32 groups of 16 terms: 512 numbers and 511 operators; one more operator and number go beyond.
    let group = format!("({}1)", "1+".repeat(15));
    let largest = vec![group; MAX_NODES / 32].join("+");
    assert_eq!(complaint(&largest), None);
    assert_eq!(
        complaint(&format!("{largest}+1")),
        Some(format!("an expression has at most {MAX_NODES} numbers, names and operators"))
    );

    assert_eq!(complaint(&format!("x{}", " ".repeat(MAX_BYTES - 1))), None);
    assert_eq!(
        complaint(&format!("x{}", " ".repeat(MAX_BYTES))),
        Some(format!("an expression has at most {MAX_BYTES} bytes, this one {}", MAX_BYTES + 1))
    );
}
