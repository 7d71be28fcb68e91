//! Questions of type `kernel`.

use super::fields::Fields;
use super::lab::settings;
use super::parts::{tolerance, wrong_texts};
use crate::diagnostic::Code;
use crate::model::{Expected, Formula, KernelTask, KernelTest, Limit, QuestionKind, Tolerance};
use crate::source::Located;

/// Tests that one question has at most: each is a run, and an answer is graded at once.
const MOST_TESTS: usize = 16;

/// How near a float must come where nothing is said: sums in another order differ by this much.
const NEAR: Tolerance = Tolerance::Relative(1e-5);

pub(super) fn read(fields: &mut Fields<'_, '_>) -> Option<QuestionKind> {
    fields.require(&[
        ("answer", "answer = '''__global__ void ...'''"),
        ("test", "[[test]] with set = { arguments = { ... } }"),
    ]);
    let starter = fields.text("starter");
    let answer = fields.text("answer");
    let reference = fields.text("reference");
    let near = if fields.has("tolerance") { tolerance(fields) } else { NEAR };
    let place = fields.place_of("test");
    let mut number = 0;
    let tests = fields.tables("test", |fields| {
        number += 1;
        test(number, fields)
    });
    if let Some(place) = place.filter(|_| tests.len() > MOST_TESTS) {
        let message =
            format!("a question has {MOST_TESTS} tests at most, this one {}", tests.len());
        fields.error(Code::BadValue, place, message, "leave out those that test the same");
    }
    let limits = fields.tables("limit", limit);
    let wrong = wrong_texts(fields);
    Some(QuestionKind::Kernel(Box::new(KernelTask {
        starter: starter.map(|text| text.value),
        answer: answer?,
        reference,
        tests,
        limits,
        tolerance: near,
        wrong,
    })))
}

fn test(number: usize, fields: &mut Fields<'_, '_>) -> Option<KernelTest> {
    fields.require(&[("set", "set = { arguments = { ... } }")]);
    let place = fields.owner();
    let name = fields.line("name");
    Some(KernelTest {
        name: name.map_or_else(|| format!("test {number}"), |name| name.value),
        set: settings(fields),
        expect: fields.formula_map("expect").into_iter().map(expected).collect(),
        place,
    })
}

fn expected((buffer, value): (Located<String>, Formula)) -> Expected {
    Expected { buffer, value }
}

fn limit(fields: &mut Fields<'_, '_>) -> Option<Limit> {
    fields
        .require(&[("assert", "assert = \"answer.bank_replays == 0\""), ("say", "say = \"...\"")]);
    let assert = fields.formula("assert");
    let say = fields.text("say");
    Some(Limit { assert: assert?, say: say?.value })
}
