//! Questions that are answered by a kernel, with the lab that runs them.

use mlsys_lab::Registry;
use mlsys_lesson::{
    Answer, CaseResult, CourseId, Grade, Key, Lesson, LessonEnv, Parsed, Question, Sheet, Verdict,
    read, self_test, skeleton, variants, withheld,
};
use mlsys_view::panel::texts;

use crate::support::{cases, with_body};

fn labs() -> Registry {
    Registry::on_demand(mlsys_analytic::labs())
}

const REVERSE: &str = include_str!("../lessons/reverse.md");

fn parsed(body: &str) -> Parsed {
    read("t.md", with_body(body).as_bytes(), &labs())
}

fn lesson(body: &str) -> Lesson {
    let parsed = parsed(body);
    let told: Vec<_> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    parsed.lesson.unwrap_or_else(|| panic!("{}", told.join("\n")))
}

fn graded(lesson: &Lesson, kernel: &str) -> Grade {
    let question: &Question = lesson.questions().next().unwrap();
    let given = Answer::One(kernel.to_owned());
    question.grade(&given, &LessonEnv::unrun(lesson), &labs())
}

fn kernel(line: &str) -> String {
    format!("__global__ void mine(float *B, const float *A, int n) {{ {line} }}")
}

#[test]
fn a_kernel_is_graded_by_what_it_does() {
    let lesson = lesson(REVERSE);
    for (expected, line) in cases(include_str!("../cases/kernels.txt")) {
        let (verdict, said) = expected.split_once(' ').unwrap_or((expected, ""));
        let grade = graded(&lesson, &kernel(line));
        assert_eq!(format!("{:?}", grade.verdict), verdict, "{line}: {:?}", grade.feedback);
        let feedback = grade.feedback.unwrap_or_default();
        assert!(feedback.contains(said) && feedback.is_empty() == said.is_empty(), "{feedback}");
        assert_eq!(grade.points, if verdict == "Right" { 3 } else { 0 });
    }
    let other = "__global__ void mine(float *X, const float *A, int n) { X[0] = A[0]; }";
    let grade = graded(&lesson, other);
    assert_eq!(grade.verdict, Verdict::Malformed);
    assert!(grade.feedback.unwrap().contains("takes no 'B'"));
}

#[test]
fn a_wrong_value_is_reported_with_the_right_one() {
    let lesson = lesson(REVERSE);
    let line = "int i = blockDim.x * blockIdx.x + threadIdx.x; if (i < n) B[n - 1 - i] = i == 2 ? 9.0f : A[i];";
    let feedback = graded(&lesson, &kernel(line)).feedback.unwrap();
    assert_eq!(
        feedback,
        "two blocks of four: B[5] is 9, and should be 2 (written at line 1, warp 0 of block (0,0,0), step 25)"
    );
    let line = "int i = blockDim.x * blockIdx.x + threadIdx.x; if (i < n && i != 3) B[n - 1 - i] = A[i] + 1;";
    let feedback = graded(&lesson, &kernel(line)).feedback.unwrap();
    assert_eq!(
        feedback,
        "two blocks of four: B[0] is 8, and should be 7 (written at line 1, warp 0 of block (1,0,0), step 23), and 7 more differ"
    );
}

#[test]
fn a_missed_limit_reports_the_cost() {
    let strided = REVERSE.replace("sectors_per_load <= 1", "global_loads < 8");
    let lesson = lesson(&strided);
    let line = "int i = blockDim.x * blockIdx.x + threadIdx.x; if (i < n) B[n - 1 - i] = A[i];";
    let grade = graded(&lesson, &kernel(line));
    assert_eq!(grade.verdict, Verdict::Wrong);
    assert_eq!(
        grade.feedback.unwrap(),
        "two blocks of four: global_loads 8; allowed: global_loads < 8. Neighbouring threads read neighbouring elements: one sector holds eight floats."
    );
}

#[test]
fn answer_kernels_pass_and_wrong_ones_fail() {
    let whole = lesson(REVERSE);
    let env = LessonEnv::unrun(&whole);
    assert_eq!(self_test(&whole, &env, &labs()), []);
    let told = |body: &str| {
        let lesson = lesson(body);
        let found = self_test(&lesson, &LessonEnv::unrun(&lesson), &labs());
        let told: Vec<String> = found.iter().map(|d| d.message.clone()).collect();
        told.join("\n")
    };
    let broken = REVERSE.replace(
        "if (i < n) B[n - 1 - i] = A[i];\n}\n\"\"\"\nhints",
        "if (i < n) B[i] = A[i];\n}\n\"\"\"\nhints",
    );
    assert!(told(&broken).contains("the stated answer of `reverse` is not accepted: two blocks of four: B[0] is 0, and should be 7"));
    let passing = REVERSE.replace("B[n - i] = A[i]", "B[n - 1 - i] = A[i]");
    assert!(told(&passing).contains("this wrong answer of `reverse` is accepted as right"));
    let garbled = REVERSE.replace("B[n - i] = A[i]", "B[n - i = A[i]");
    assert!(told(&garbled).contains("cannot be given"));
}

#[test]
fn invalid_tests_are_reported_at_their_place() {
    for (message, change) in cases(include_str!("../cases/kernel-tests.txt")) {
        let (from, to) = change.split_once("\n=>\n").unwrap();
        assert!(REVERSE.contains(from), "{from}");
        let parsed = parsed(&REVERSE.replacen(from, to, 1));
        let told: Vec<String> = parsed.diagnostics.iter().map(|d| d.message.clone()).collect();
        assert!(told.iter().any(|told| told.contains(message)), "{to}: {told:?}");
        assert!(parsed.lesson.is_none(), "{to}");
    }
    let without =
        parsed("```{question} a\ntype = \"kernel\"\nprompt = \"p\"\nanswer = \"x\"\n```\n");
    assert!(without.diagnostics.iter().any(|d| d.message.contains("no `test`")));
}

#[test]
fn a_withheld_kernel_question_keeps_its_sample_tests() {
    let hidden = "[[test]]\nname = \"seven\"\nset = { block_dim = [4], grid_dim = [2], arguments = { A = { buffer = 7, fill = \"index\" }, B = { buffer = 7 }, n = 7 } }\n[[limit]]";
    let sampled = REVERSE.replacen("expect = {", "sample = true\nexpect = {", 1).replacen(
        "[[limit]]",
        hidden,
        1,
    );
    let pack = withheld(&lesson(&sampled));
    let asked = read("t.md", pack.as_bytes(), &labs()).lesson.unwrap();
    assert_eq!(withheld(&asked), pack);
    assert!(pack.contains("two blocks of four") && !pack.contains("seven"), "{pack}");
    assert!(!pack.contains("answer") && !pack.contains("[[limit]]"), "{pack}");
    let question = asked.questions().next().unwrap();
    assert!(question.is_executed());
    for (line, passes) in [
        ("int i = blockDim.x * blockIdx.x + threadIdx.x; B[n - 1 - i] = A[i];", true),
        ("int i = threadIdx.x; if (i < n) B[n - 1 - i] = A[i];", false),
    ] {
        let env = LessonEnv::unrun(&asked);
        let (grade, cases) = question.try_kernel(&kernel(line), &env, &labs()).unwrap();
        assert_eq!((grade.verdict, grade.points, grade.feedback), (Verdict::Recorded, 0, None));
        assert_eq!(cases.len(), 1);
        assert_eq!(matches!(cases[0].result, CaseResult::Passed(_)), passes, "{cases:?}");
        let told = graded(&lesson(&sampled), &kernel(line));
        assert_eq!(told.verdict, Verdict::Wrong);
        assert_eq!(told.parts.unwrap().of, told.failed.len() + usize::from(passes));
    }
    let (refused, _) = question.try_kernel("int", &LessonEnv::unrun(&asked), &labs()).unwrap();
    assert_eq!(refused.verdict, Verdict::Malformed);
}

#[test]
fn a_withheld_kernel_question_keeps_its_starter() {
    let whole = lesson(REVERSE);
    let pack = withheld(&whole);
    assert!(pack.contains("starter = ") && !pack.contains("n - 1 - i"), "{pack}");
    let asked = read("t.md", pack.as_bytes(), &labs()).lesson.unwrap();
    let question = asked.questions().next().unwrap();
    let given = Answer::One(kernel(""));
    let grade = question.grade(&given, &LessonEnv::unrun(&asked), &labs());
    assert_eq!(grade.verdict, Verdict::Recorded);
    let empty = skeleton(&whole, "fr");
    assert!(empty.contains("limits = ["), "{empty}");
}

#[test]
fn each_test_has_its_result_and_cost() {
    let lesson = lesson(REVERSE);
    let question = lesson.questions().next().unwrap();
    let env = LessonEnv::unrun(&lesson);
    let tried = |line: &str| {
        let (grade, cases) = question.try_kernel(&kernel(line), &env, &labs()).unwrap();
        (grade.verdict, cases)
    };
    let index = "int i = blockDim.x * blockIdx.x + threadIdx.x;";
    let (verdict, cases) = tried(&format!("{index} if (i < n) B[n - 1 - i] = A[i];"));
    assert_eq!(verdict, Verdict::Right);
    let kept = "sectors_per_load 1".to_owned();
    let passed = CaseResult::Passed(vec![kept]);
    assert_eq!(cases.len(), 2);
    assert!(cases.iter().all(|case| case.result == passed), "{cases:?}");

    // The second test is told although the first has failed.
    let (verdict, cases) = tried(&format!("{index} if (i < n) B[i] = A[i];"));
    assert_eq!(verdict, Verdict::Wrong);
    let [CaseResult::Failed(first), CaseResult::Failed(second)] =
        [&cases[0].result, &cases[1].result]
    else {
        panic!("{cases:?}")
    };
    assert_eq!(
        first,
        "B[0] is 0, and should be 7 (written at line 1, warp 0 of block (0,0,0), step 14), and 7 more differ"
    );
    assert!(second.starts_with("B[0] is "), "{second}");
    let site = cases[0].site.as_deref().unwrap();
    let at = (site.at.line, site.at.block, site.at.thread, site.at.step);
    assert_eq!(at, (1, [0; 3], [0; 3], 13));
    assert_eq!(site.at.sentence, "writes B[0]");
    assert_eq!((site.recipe.block_dim, site.whole.steps > 13), ([4, 1, 1], true));

    // What never ends is not tried again.
    let (verdict, cases) = tried("while (true) { }");
    assert_eq!(verdict, Verdict::Wrong);
    assert!(
        matches!(&cases[0].result, CaseResult::Failed(why) if why.contains("max_instructions"))
    );
    assert_eq!(cases[1].result, CaseResult::NotRun);
    let site = cases[0].site.as_deref().unwrap();
    assert_eq!((site.at.line, site.at.fault.as_str()), (1, "endless"));
    assert_eq!(site.whole.steps, site.at.step + 1);
    // The read that made it endless comes first.
    let (_, cases) = tried("int end;\nfor (int i = 0; i != end + 1;) i = 0;");
    let site = cases[0].site.as_deref().unwrap();
    assert_eq!((site.at.line, site.at.fault.as_str()), (2, "uninitialized read"));

    let (verdict, cases) = tried("B[0] = C[0];");
    assert_eq!((verdict, cases), (Verdict::Malformed, Vec::new()));
}

#[test]
fn a_launch_that_is_too_large_is_wrong_and_says_so() {
    let small = "block_dim = [4], grid_dim = [2]";
    let large = "block_dim = [1024], grid_dim = [16], concurrent_blocks = 16";
    let lesson = lesson(&REVERSE.replacen(small, large, 1));
    let grade = graded(&lesson, &kernel("float x[4000]; x[n] = A[0]; B[0] = x[n];"));
    let feedback = grade.feedback.unwrap();
    assert_eq!(grade.verdict, Verdict::Wrong, "{feedback}");
    assert!(feedback.contains("the launch is too large: "), "{feedback}");
    assert!(feedback.contains("MiB here; at most 256"), "{feedback}");
}

/// The question with numbers of the learner's own in its first test, and another test without them.
fn varied() -> String {
    let own = REVERSE.replacen(
        "[[test]]\nname = \"two blocks of four\"\nset = { block_dim = [4], grid_dim = [2], arguments = { A = { buffer = 8, fill = \"index\" }, B = { buffer = 8 }, n = 8 } }",
        "[[test]]\nname = \"two blocks of four\"\nset = { block_dim = [\"wide\"], grid_dim = [\"ceil(size / wide)\"], arguments = { A = { buffer = \"size\", fill = \"index\" }, B = { buffer = \"size\" }, n = \"size\" } }",
        1,
    );
    assert_ne!(own, REVERSE);
    own.replacen("prompt =", "vary = { size = [8, 11, 13], wide = [4, 8] }\nprompt =", 1)
}

#[test]
fn the_draws_of_tests_are_checked() {
    let told = |body: &str| {
        let found = variants(&lesson(body), &labs(), &texts);
        found.into_iter().map(|diagnostic| diagnostic.message).collect::<Vec<_>>().join("\n")
    };
    // Neither the smallest nor the largest number.
    let fixed =
        varied().replacen("if (i < n) B[n - 1 - i]", "if (i < n && n != 11) B[n - 1 - i]", 1);
    assert!(told(&fixed).starts_with("with size = 11, "), "{}", told(&fixed));
    let unused = varied().replace("wide = [4, 8]", "wide = [4, 8], other = [1, 2]");
    let parsed = parsed(&unused);
    let told: Vec<_> = parsed.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(told, ["`other` is drawn, and what is asked does not show it"]);
}

#[test]
fn a_withheld_kernel_question_has_the_learner_s_numbers_in_its_samples() {
    let whole = lesson(&varied().replacen("expect = {", "sample = true\nexpect = {", 1));
    let pack = withheld(&whole);
    let given = read("t.md", pack.as_bytes(), &labs()).lesson.unwrap();
    let ann = Sheet { salt: "s".to_owned(), learner: "ann".parse().unwrap() };
    let samples = given.drawn(&ann).questions().next().unwrap().clone();
    let drawn = whole.drawn(&ann).questions().next().unwrap().variants.clone().unwrap().drawn;
    let (_, cases) =
        samples.try_kernel(&kernel("B[0] = 0.0f;"), &LessonEnv::unrun(&given), &labs()).unwrap();
    let label = format!("size = {}, wide = {}: ", drawn[0], drawn[1]);
    assert!(
        matches!(&cases[0].result, CaseResult::Failed(how) if how.starts_with(&label)),
        "{cases:?}"
    );
    let key = Key::new(CourseId::built_in(), [&whole]);
    let complete = read("t.md", key.complete(&given).unwrap().as_bytes(), &labs()).lesson.unwrap();
    assert_eq!(complete.questions().next(), whole.questions().next());
}
