//! The course, its order, and the JSON Schema of its lessons.

use crate::support::registry;
use mlsys_lesson::{Course, Lesson, MODULES, json_schema, parse};

fn lesson(id: &str, requires: &[&str]) -> Lesson {
    let text = format!(
        "+++\nformat = 1\nid = \"{id}\"\ntitle = \"t\"\nminutes = 1\nrequires = {requires:?}\n+++\n"
    );
    parse(&format!("{id}.md"), &text).lesson.unwrap()
}

fn order(lessons: Vec<Lesson>) -> (Vec<String>, Vec<String>) {
    let (course, problems) = Course::new(lessons);
    let ids = course
        .lessons()
        .iter()
        .map(|lesson| lesson.front.id.to_string())
        .collect();
    let told = problems
        .iter()
        .map(|d| format!("{}:{}: {}", d.line, d.column, d.message))
        .collect();
    (ids, told)
}

#[test]
fn lessons_come_by_module_and_after_what_they_require() {
    assert_eq!(
        MODULES.map(|module| module.name),
        [
            "systems",
            "graphs",
            "gpu",
            "roofline",
            "parallel",
            "efficiency"
        ]
    );
    let (ids, problems) = order(vec![
        lesson("mine/own", &["gpu/b"]),
        lesson("gpu/b", &["gpu/a", "systems/one"]),
        lesson("gpu/a", &[]),
        lesson("gpu/c", &[]),
        lesson("systems/one", &[]),
    ]);
    assert_eq!(ids, ["systems/one", "gpu/a", "gpu/b", "gpu/c", "mine/own"]);
    assert_eq!(problems, [""; 0]);
}

#[test]
fn cycles_unknown_and_double_lessons_are_told_once() {
    let (ids, problems) = order(vec![
        lesson("gpu/a", &["gpu/c"]),
        lesson("gpu/b", &["gpu/a"]),
        lesson("gpu/c", &["gpu/b"]),
        lesson("gpu/self", &["gpu/self"]),
        lesson("gpu/late", &["gpu/a", "gpu/slef"]),
        lesson("gpu/a", &[]),
    ]);
    assert_eq!(ids.len(), 5);
    assert_eq!(
        problems,
        [
            "1:1: the lesson `gpu/a` is already in gpu/a.md",
            "6:22: there is no lesson `gpu/slef`",
            "6:13: lessons require each other: gpu/a -> gpu/c -> gpu/b -> gpu/a",
            "6:13: lessons require each other: gpu/self -> gpu/self",
        ]
    );
}

#[test]
fn an_authors_own_lesson_is_compared_with_the_course() {
    let (course, _) = Course::new(vec![lesson("gpu/a", &[]), lesson("gpu/b", &["gpu/a"])]);
    assert_eq!(course.check(&lesson("mine/x", &["gpu/a"])), []);
    let problems = course.check(&lesson("mine/x", &["gpu/aa"]));
    assert_eq!(problems[0].help.as_deref(), Some("did you mean \"gpu/a\"?"));
    assert_eq!(course.nearest("gpu/bb").unwrap().as_str(), "gpu/b");
}

#[test]
fn the_json_schema_knows_the_labs() {
    let schema = json_schema(&registry());
    assert_eq!(
        schema["$defs"]["lab"]["properties"]["kind"]["enum"],
        serde_json::json!(["train", "occupancy", "graph"])
    );
    assert_eq!(
        schema["$defs"]["question"]["properties"]["lab"]["enum"],
        serde_json::json!(["occupancy", "graph"])
    );
    // Every reference leads somewhere.
    fn references<'v>(value: &'v serde_json::Value, found: &mut Vec<&'v str>) {
        match value {
            serde_json::Value::Object(map) => {
                found.extend(map.get("$ref").and_then(serde_json::Value::as_str));
                map.values().for_each(|value| references(value, found));
            }
            serde_json::Value::Array(items) => {
                items.iter().for_each(|item| references(item, found))
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    references(&schema, &mut found);
    assert!(found.len() > 20);
    for reference in found {
        assert!(schema.pointer(&reference[1..]).is_some(), "{reference}");
    }
}
