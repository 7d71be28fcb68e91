//! Questions with numbers of the learner's own, from the workbench to the gradebook.

use mlsys_harness::sandbox::{Sandbox, json_file, type_in};
use mlsys_lesson::{LearnerId, Lesson, Sheet};

use crate::sandbox;

const COURSE: &str = "format = 1\nid = \"own\"\ntitle = \"Own\"\nabout = \"numbers\"\nsalt = \"2027\"\n\
    [[module]]\nid = \"a\"\ntitle = \"A\"\nabout = \"a\"\nlessons = [\"a/b\"]\n";

const LESSON: &str = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"Numbers\"\nminutes = 1\n+++\n\
    ```{question} twice\ntype = \"numeric\"\nprompt = \"Twice {n}?\"\n\
    vary = { n = [3, 5, 8, 13, 21, 34] }\nanswer = \"2 * n\"\n```\n\n\
    ```{question} pick\ntype = \"choice\"\nprompt = \"The square of {k}?\"\n\
    vary = { k = [11, 12, 13, 14] }\nanswer = \"{k^2}\"\n[[wrong]]\nvalue = \"{2 * k}\"\nsay = \"no\"\n```\n\n\
    ```{question} slope\ntype = \"expression\"\nprompt = \"Write z so that ∂z/∂x is {s}.\"\nlab = \"graph\"\n\
    vary = { s = [2, 3, 4, 5, 6] }\nset = { inputs = { x = 1.0 } }\naccept = \"answer.grad.x == s\"\n\
    answer = \"{s} * x\"\n```\n\n\
    ```{question} fill\ntype = \"kernel\"\nprompt = \"Fill y with n.\"\nvary = { p = [5, 7, 11, 13] }\n\
    answer = \"__global__ void f(float *y, int n) { y[threadIdx.x] = n; }\"\n[[test]]\nname = \"a block\"\n\
    set = { block_dim = [16], grid_dim = [1], arguments = { y = { buffer = 16 }, n = \"p\" } }\n\
    expect = { y = \"n\" }\n```\n";

/// The lesson with a learner's numbers.
fn own(learner: &str) -> Lesson {
    let lesson = mlsys_lesson::parse("b.md", LESSON).lesson.unwrap();
    let learner: LearnerId = learner.parse().unwrap();
    lesson.drawn(&Sheet { salt: "2027".to_owned(), learner })
}

fn drawn(lesson: &Lesson) -> Vec<f64> {
    let variants = lesson.questions().map(|question| question.variants.as_ref().unwrap());
    variants.map(|variants| variants.drawn[0]).collect()
}

fn course(folder: &Sandbox) -> String {
    std::fs::create_dir_all(folder.path("c/a")).unwrap();
    folder.file("c/course.toml", COURSE);
    folder.file("c/a/b.md", LESSON);
    folder.arg("c")
}

#[test]
fn a_submission_is_graded_by_its_learner_s_numbers() {
    let folder = sandbox();
    let course = course(&folder);
    let (ann, ben) = (own("ann"), own("dora"));
    let different = drawn(&ann).into_iter().zip(drawn(&ben)).all(|(one, other)| one != other);
    assert!(different, "{:?} {:?}", drawn(&ann), drawn(&ben));
    let [n, k, s, m] = drawn(&ann)[..] else { panic!("{:?}", drawn(&ann)) };
    // A kernel that is right with Ann's number alone.
    let fill = format!("__global__ void f(float *y, int n) {{ y[threadIdx.x] = {m}; }}");
    let answers = serde_json::json!({ "lessons": { "a/b": {
        "twice": 2.0 * n, "pick": (k * k).to_string(), "slope": format!("{s} * x"), "fill": fill,
    } } });
    let answers = folder.file("answers.json", answers.to_string());
    let (given, key) = (folder.arg("given.tar.gz"), folder.arg("key.json"));
    folder.run(&format!("course pack {course} -o {given} --without-answers --key {key}")).success();
    let learner = |course: &str, id: &str| {
        folder
            .run(&format!("--course {course} --learner {id} progress import {answers}"))
            .success();
        let file = folder.arg(&format!("{id}.json"));
        folder.run(&format!("--course {course} --learner {id} progress export {file}")).success();
        file
    };
    for course in [course.as_str(), &given] {
        // The same answers, handed in by two learners.
        let (ann, dora) = (learner(course, "ann"), learner(course, "dora"));
        let (table, junit) = (folder.arg("grades.csv"), folder.arg("junit.xml"));
        let files = format!("{ann} {dora} --key {key} -o {table} --report junit={junit}");
        folder.run(&format!("--course {given} grade {files}")).success();
        for (learner, own) in [("ann", own("ann")), ("dora", own("dora"))] {
            let asked = &own.question("twice").unwrap().prompt;
            assert_eq!(folder.read("junit.xml").contains(asked), learner == "dora", "{asked}");
            assert!(folder.read("grades.html").contains(asked), "{asked}");
        }
        let grades = json_file(&folder.path("grades.json"));
        let points =
            |at: usize| (&grades["learners"][at]["learner"], &grades["learners"][at]["points"]);
        assert_eq!(points(0), (&"ann".into(), &4.0.into()), "{grades}");
        assert_eq!(points(1), (&"dora".into(), &0.0.into()), "{grades}");
        folder.run(&format!("--course {given} run a/b --key {key} --answers {ann}")).success();
        let other = folder.run(&format!("--course {given} run a/b --key {key} --answers {dora}"));
        assert_eq!(other.code, Some(1), "{other:?}");
        assert!(other.out.contains("0 of 4 points"), "{other:?}");
        // Without the key nothing is known of them: no points, and none of how many.
        let later = folder.run(&format!("--course {given} run a/b --answers {ann}"));
        assert!(later.out.contains("4 skipped") && !later.out.contains("points"), "{later:?}");
    }
    let cohort = folder.run(&format!(
        "--course {course} progress cohort {} {} --json",
        folder.arg("ann.json"),
        folder.arg("dora.json")
    ));
    for question in cohort.json()["lessons"][0]["questions"].as_array().unwrap() {
        assert_eq!((&question["answered"], &question["right"]), (&2.into(), &1.into()));
    }
}

#[test]
fn the_workbench_shows_the_learner_s_numbers() {
    let folder = sandbox();
    let course = course(&folder);
    let prompt = own("ann").question("twice").unwrap().prompt.clone();
    assert_ne!(prompt, "Twice 3?");
    let open = |learner: &str| {
        let line = format!("--course {course} {learner} open a/b --plain --device cpu");
        type_in(&mut folder.command(&line), "\n\n").success().to_owned()
    };
    let (printed, drawn) = (open(""), open("--learner ann"));
    assert!(printed.contains("Twice 3?"), "{printed}");
    assert!(drawn.contains(&prompt), "{drawn}");
    let mut command = folder.command(&format!("--course {course} open a/b --plain --device cpu"));
    let variable = type_in(command.env("MLSYS_LEARNER", "ann"), "\n\n");
    assert_eq!(variable.success(), drawn);
}

const LABS: &str = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"Numbers\"\nminutes = 1\n+++\n\
    ```{question} bits\ntype = \"numeric\"\nprompt = \"A scale of 16 bits for {g} weights of 4 bits?\"\n\
    vary = { g = [32, 64, 128, 256] }\nanswer = \"4 + 16 / g\"\n```\n\n\
    ```{lab} store\nkind = \"quantized-storage\"\nset = { bits = 4 }\nvary = { block_size = \"bits.g\" }\n\
    [knob.block_size]\nvalues = [32, 64, 128, 256]\n\
    [[panel]]\nname = \"parts\"\nuntil = \"bits\"\n```\n\n\
    ```{lab} net\nkind = \"train\"\nset = { steps = 3 }\nvary = { width = [8, 12, 20, 24] }\n```\n\n\
    ```{question} read\ntype = \"numeric\"\nprompt = \"What does the lab give?\"\nanswer = \"store.bits_per_parameter\"\n\
    shown = \"it is read off\"\n```\n\n\
    ```{question} count\ntype = \"numeric\"\nprompt = \"Parameters of the network?\"\nanswer = \"net.parameters\"\n```\n\n\
    ```{check} small\nassert = \"store.bits_per_parameter <= 4.5 and net.parameters < 1000\"\n```\n";

#[test]
fn labs_run_with_the_learner_s_numbers() {
    let folder = sandbox();
    std::fs::create_dir_all(folder.path("c/a")).unwrap();
    folder.file("c/course.toml", COURSE);
    folder.file("c/a/b.md", LABS);
    let course = folder.arg("c");
    folder.run(&format!("course check {course} --device cpu")).success();
    let lesson = mlsys_lesson::parse("b.md", LABS).lesson.unwrap();
    // The numbers that a run of the lesson shows: bits of a weight, and parameters.
    let run = |options: &str| {
        let line = format!("--course {course} run a/b --device cpu --report json=- {options}");
        let report = folder.run(&line);
        report.success();
        let items = report.json()["lessons"][0]["items"].clone();
        let items = items.as_array().unwrap().clone();
        let of = |id: &str, metric: &str| {
            let lab = items.iter().find(|item| item["id"] == id).unwrap();
            lab["metrics"][metric].as_f64().unwrap()
        };
        (of("store", "bits_per_parameter"), of("net", "parameters"))
    };
    assert_eq!(run("").0, 4.5);
    let own = |learner: &str| {
        let learner: LearnerId = learner.parse().unwrap();
        let own = lesson.drawn(&Sheet { salt: "2027".to_owned(), learner });
        let g = own.question("bits").unwrap().variants.as_ref().unwrap().drawn[0];
        (
            g,
            own.lab("net")
                .unwrap()
                .set
                .iter()
                .find(|one| one.name == "width")
                .unwrap()
                .value
                .as_f64(),
        )
    };
    let (ann, dora) = (own("ann"), own("dora"));
    assert!(ann.0 != dora.0 && ann.1 != dora.1, "{ann:?} {dora:?}");
    let before = folder.records();
    let seen = run("--learner ann");
    // Their records have the numbers.
    let records = folder.records().into_iter().filter(|record| !before.contains(record));
    let recorded: Vec<_> = records.map(|record| json_file(&record.join("run.json"))).collect();
    let has_width = |record: &serde_json::Value| record["params"]["width"].as_f64() == ann.1;
    assert!(ann.1.is_some() && recorded.iter().any(has_width), "{recorded:?}");
    assert_eq!(seen.0, 4.0 + 16.0 / ann.0);
    assert_ne!(run("--learner dora"), seen);
    let answers = serde_json::json!({ "lessons": { "a/b": {
        "bits": seen.0.to_string(), "read": seen.0.to_string(), "count": seen.1.to_string(),
    } } });
    let answers = folder.file("answers.json", answers.to_string());
    let files = ["ann", "dora"].map(|id| {
        let options = format!("--course {course} --learner {id}");
        folder.run(&format!("{options} progress import {answers}")).success();
        let file = folder.arg(&format!("{id}.json"));
        folder.run(&format!("{options} progress export {file}")).success();
        file
    });
    for (file, points) in files.iter().zip(["3 of 3 points", "0 of 3 points"]) {
        let line = format!("--course {course} run a/b --device cpu --answers {file}");
        let ended = folder.run(&line);
        assert!(ended.out.contains(points), "{ended:?}");
    }
    let table = folder.arg("grades.csv");
    let line = format!("--course {course} grade {} {} -o {table} --device cpu", files[0], files[1]);
    folder.run(&line).success();
    let grades = json_file(&folder.path("grades.json"));
    assert_eq!(grades["learners"][0]["points"], 3.0, "{grades}");
    assert_eq!(grades["learners"][1]["points"], 0.0, "{grades}");
    let cohort =
        folder.run(&format!("--course {course} progress cohort {} --json", files.join(" ")));
    for question in cohort.json()["lessons"][0]["questions"].as_array().unwrap() {
        let counts = ["answered", "right", "recorded"].map(|count| question[count].as_u64());
        assert_eq!(counts, [Some(2), Some(1), Some(0)], "{question}");
    }
    // On the screen the knob starts there, and the record of a run has it.
    let line = format!("--course {course} --learner ann open a/b --plain --device cpu");
    let shown = type_in(&mut folder.command(&line), "\n\n\n\n");
    assert!(shown.out.contains(&format!("block_size is {}", ann.0)), "{shown:?}");
}
