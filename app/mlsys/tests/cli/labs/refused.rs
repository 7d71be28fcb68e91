//! What does not exist, in labs, lessons and runs.

use crate::help::Folder;

#[test]
fn what_does_not_exist_is_refused_with_its_neighbour() {
    let folder = Folder::new();
    for (arguments, code, said) in [
        (&["lab", "grpah"][..], 2, &["no lab 'grpah'", "did you mean 'graph'?"][..]),
        (&["lab", "show", "trian"], 2, &["did you mean 'train'?"]),
        (
            &["lab", "train", "--set", "lerning_rate=1"],
            2,
            &["'lerning_rate'", "did you mean 'learning_rate'?"],
        ),
        (
            &["lab", "train", "--set", "learning_rate=-1"],
            2,
            &["'learning_rate'", "-1 is outside 0 to"],
        ),
        (&["lab", "train", "--set", "steps=many"], 2, &["'steps'", "expected int"]),
        (&["lab", "train", "--set", "optimizer=adan"], 2, &["did you mean 'adam'?"]),
        (&["lab", "train", "--set", "steps"], 2, &["write NAME=VALUE"]),
        (&["lab", "train", "--set", "steps=1", "--set", "steps=2"], 2, &["more than once"]),
        (&["lab", "graph", "--set", "expression=x +"], 2, &["expression"]),
        (&["lab", "graph", "--data-dir", "/tmp"], 2, &["'data_dir'"]),
        (&["lab", "train", "--device", "gpu"], 2, &["'gpu' is not a device"]),
        (&["lab", "train", "--device", "cpu:1"], 2, &["is not a device"]),
        (&["lab", "train", "--device", "wgpu:99"], 3, &["wgpu:99", "usable here: ", "cpu"]),
        (&["lab", "graph", "--device", "cuda:99"], 3, &["cuda:99", "usable here: ", "cpu"]),
        (&["lab", "train", "--seed", "-1"], 2, &["--seed"]),
        (&["lab"], 2, &["<KIND>"]),
        (&["lba"], 2, &["did you mean 'lab'?"]),
        (&["lab", "graph", "--sett", "x=1"], 2, &["--set"]),
        (&["open", "systems/trainingloop"], 2, &["did you mean 'systems/training-loop'?"]),
        (&["run"], 2, &["<LESSON>"]),
        (&["run", "./none.md"], 2, &["there is no file './none.md'"]),
        (&["run", "systems/training-loop", "--report", "juint=x"], 2, &["did you mean 'junit'?"]),
        (&["run", "systems/training-loop", "--set", "rnu.steps=1"], 2, &["did you mean 'run'?"]),
        (&["run", "systems/training-loop", "--set", "run.stesp=1"], 2, &["did you mean 'steps'?"]),
        (&["runs", "show", "none"], 2, &["there is no run 'none'"]),
    ] {
        let ended = folder.run(arguments);
        ended.refused(code, said);
    }
}
