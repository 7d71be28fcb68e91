//! What is told of every lab, and its presets.

use crate::help::Folder;

#[test]
fn labs_are_listed_and_explained() {
    let folder = Folder::new();
    let list = folder.run(&["lab", "list"]);
    for kind in ["train", "graph", "thread-index", "launch-geometry", "occupancy"] {
        assert!(list.did().lines().any(|line| line.starts_with(kind)), "{list:?}");
        let shown = folder.run(&["lab", "show", kind]);
        assert!(shown.did().contains("Parameters") && shown.did().contains("Source"), "{shown:?}");
        let json = folder.run(&["lab", "show", kind, "--json"]).json();
        assert_eq!(json["kind"], kind);
        assert!(json["params"].as_array().is_some_and(|params| !params.is_empty()));
    }
    assert_eq!(folder.run(&["lab", "list", "--json"]).json()["labs"][0]["live"], true);
}

/// How runs of live labs are made short, as far as a lab has such a parameter.
const SHORT: [&str; 6] = [
    "steps=2",
    "baseline_steps=2",
    "finetune_steps=2",
    "teacher_steps=2",
    "training_steps=2",
    "evaluations=2",
];

#[test]
fn every_preset_runs_is_shown_and_gives_way_to_what_is_set() {
    let folder = Folder::new();
    let list = folder.run(&["lab", "list", "--json"]).json();
    for lab in list["labs"].as_array().unwrap() {
        let kind = lab["kind"].as_str().unwrap();
        let about = folder.run(&["lab", "show", kind, "--json"]).json();
        let text = folder.run(&["lab", "show", kind]);
        for preset in about["presets"].as_array().unwrap() {
            let name = preset["name"].as_str().unwrap();
            assert!(text.did().contains(name), "{kind} {name}");
            let mut arguments = vec!["lab", kind, "--preset", name, "--json"];
            let shortened: Vec<&str> = SHORT
                .into_iter()
                .filter(|short| {
                    let mut params = about["params"].as_array().unwrap().iter();
                    lab["live"] == true
                        && params.any(|param| param["name"] == short.trim_end_matches("=2"))
                })
                .collect();
            for short in &shortened {
                arguments.extend(["--set", short]);
            }
            if lab["live"] == true {
                arguments.extend(["--device", "cpu"]);
            }
            let ended = folder.run(&arguments);
            if (kind, name) == ("graph", "not-a-number") {
                ended.refused(4, &["lab graph: node.b is not finite: log(a)"]);
                continue;
            }
            let found = ended.json();
            for (param, value) in preset["set"].as_object().unwrap() {
                let asked = if shortened.contains(&format!("{param}=2").as_str()) {
                    &2.into()
                } else {
                    value
                };
                assert_eq!(&found["params"][param], asked, "{kind} {name}");
            }
        }
    }
    folder
        .run(&["lab", "occupancy", "--preset", "fulll"])
        .refused(2, &["lab occupancy has no preset 'fulll'; it has: full, "]);
    let over = folder.run(&[
        "lab",
        "occupancy",
        "--preset",
        "full",
        "--set",
        "threads_per_block=64",
        "--json",
    ]);
    assert_eq!(over.json()["params"]["threads_per_block"], 64);
}
