//! The keys of a question that is answered by a kernel.

use crate::diagnostic::{Code, Located, Place};
use crate::model::{
    Asked, Audience, Bound, Expected, KernelTask, KernelTest, Limit, QuestionKind, Side, Tolerance,
};
use crate::parse::fields::Fields;
use crate::parse::keys::{settings, tolerance, wrong_texts};
use crate::parse::vary;

/// Tests that one question has at most.
const MOST_TESTS: usize = 16;

/// Launches of all tests together: each is run while the learner waits.
const MOST_LAUNCHES: usize = 64;

/// How near a float must come by default: sums in another order differ by this much.
const NEAR: Tolerance = Tolerance::Relative(1e-5);

pub(super) fn kernel(fields: &mut Fields<'_, '_>) -> Option<QuestionKind> {
    fields.require(&[
        ("answer", "answer = '''__global__ void ...'''"),
        ("test", "[[test]] with set = { arguments = { ... } }"),
    ]);
    let starter = fields.text("starter");
    let answer = fields.text("answer");
    let reference = fields.text("reference");
    let near = if fields.has("tolerance") { tolerance(fields) } else { NEAR };
    let tests = tests(fields);
    let limits = fields.tables("limit", limit);
    let mut bounds = bounds("at_least", Side::AtLeast, fields);
    bounds.extend(self::bounds("at_most", Side::AtMost, fields));
    let wrong = wrong_texts(fields);
    Some(QuestionKind::Kernel(Box::new(KernelTask {
        starter: starter.map(|text| text.value),
        answer: answer?,
        reference,
        tests: tests?,
        limits,
        bounds,
        tolerance: near,
        wrong,
    })))
}

/// Reads a question without its answer: what stands there at first, and the tests that learners may try.
pub(super) fn withheld(fields: &mut Fields<'_, '_>) -> Option<Asked> {
    let starter = fields.text("starter").map(|text| text.value);
    let tolerance = if fields.has("tolerance") { tolerance(fields) } else { NEAR };
    Some(Asked::Kernel { starter, samples: tests(fields)?, tolerance })
}

/// The tests; nothing where one of them cannot be read, since a limit speaks of the numbers of all.
fn tests(fields: &mut Fields<'_, '_>) -> Option<Vec<KernelTest>> {
    let place = fields.place_of("test");
    let mut number = 0;
    let tests = fields.tables("test", |fields| {
        number += 1;
        test(number, fields)
    });
    if let Some(place) = place {
        too_many(&tests, place, fields);
    }
    (tests.len() == number).then_some(tests)
}

fn too_many(tests: &[KernelTest], place: Place, fields: &mut Fields<'_, '_>) {
    if tests.len() > MOST_TESTS {
        let message =
            format!("a question has {MOST_TESTS} tests at most, this one {}", tests.len());
        fields.error(Code::BadValue, place, message, "leave out those that test the same");
    }
    let launches = tests.iter().map(KernelTest::launches).fold(0, usize::saturating_add);
    if launches > MOST_LAUNCHES {
        let message = format!(
            "the tests of a question have {MOST_LAUNCHES} launches at most, these have {launches}"
        );
        let help = "each combination of the numbers in `vary` is a launch; vary fewer";
        fields.error(Code::BadValue, place, message, help);
    }
}

fn test(number: usize, fields: &mut Fields<'_, '_>) -> Option<KernelTest> {
    fields.require(&[("set", "set = { arguments = { ... } }")]);
    let place = fields.owner();
    let name = fields.line("name");
    let audience = if fields.flag("sample") { Audience::Everyone } else { Audience::Graders };
    if audience == Audience::Everyone && !fields.has("expect") {
        let message = "a sample test says what must come out, and this one has no `expect`";
        let help = "add expect = { y = \"2 * x\" }: learners have no right kernel to compare with";
        fields.error(Code::MissingKey, place, message, help);
    }
    let vary = vary::names(fields);
    let set = settings(fields);
    let expect = fields.formulas_by_name("expect", "{ C = \"A + B\" }").into_iter();
    let expect = expect.map(|(buffer, value)| Expected { buffer, value }).collect();
    let name = name.map_or_else(|| format!("test {number}"), |name| name.value);
    Some(KernelTest { name, vary: vary?, set, expect, audience, place })
}

fn limit(fields: &mut Fields<'_, '_>) -> Option<Limit> {
    fields
        .require(&[("assert", "assert = \"answer.bank_replays == 0\""), ("say", "say = \"...\"")]);
    let assert = fields.formula("assert");
    let say = fields.text("say");
    Some(Limit { assert: assert?, say: say?.value })
}

fn bounds(key: &'static str, side: Side, fields: &mut Fields<'_, '_>) -> Vec<Bound> {
    let bounds = fields.formulas_by_name(key, "{ global_loads = \"n\" }").into_iter();
    bounds.map(|(metric, value): (Located<String>, _)| Bound { metric, side, value }).collect()
}
