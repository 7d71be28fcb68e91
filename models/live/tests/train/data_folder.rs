//! Training on files in MNIST's format.

use std::fs;
use std::path::{Path, PathBuf};

use mlsys_lab::LabError;

use crate::harness::{train, try_train};

/// A folder with 60 training and 20 other images of two kinds: the upper half bright is a 0, the lower a 1.
fn folder_of_halves(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    for (part, count) in [("train", 60_u32), ("t10k", 20)] {
        // Unsigned bytes in 3 dimensions, and in 1.
        let (cube, row) = (0x0803, 0x0801);
        let mut images: Vec<u8> =
            [cube, count, 28, 28].iter().flat_map(|number| number.to_be_bytes()).collect();
        let mut labels: Vec<u8> =
            [row, count].iter().flat_map(|number| number.to_be_bytes()).collect();
        for index in 0..count {
            let label = (index % 2) as usize;
            labels.push(label as u8);
            images.extend((0..784).map(|pixel| if (pixel / 392) == label { 200 } else { 10 }));
        }
        fs::write(folder.join(format!("{part}-images-idx3-ubyte")), images).unwrap();
        fs::write(folder.join(format!("{part}-labels-idx1-ubyte")), labels).unwrap();
    }
    folder
}

#[test]
fn files_of_images_are_learned_like_images_of_our_own() {
    let folder = folder_of_halves("halves");
    let run = train(&[
        "dataset=idx",
        &format!("data_dir={}", folder.display()),
        "steps=60",
        "learning_rate=0.003",
    ]);
    assert_eq!(run.number("accuracy"), 1.0);
    // 60 steps of 64 on the 60 images there are, although 2000 were asked for.
    assert_eq!(run.number("epochs"), 64.0);
    assert!(run.data.frames.contains_key("samples"));
}

#[test]
fn a_folder_that_is_not_there_is_an_error_that_names_it() {
    let error = try_train(&["dataset=idx", "data_dir=/nonexistent/mnist"]).err().unwrap();
    assert!(matches!(error, LabError::Data(_)), "{error}");
    assert!(error.to_string().contains("/nonexistent/mnist"), "{error}");
    let error = try_train(&["dataset=idx"]).err().unwrap();
    assert!(matches!(&error, LabError::Data(reason) if reason.contains("--data-dir")), "{error}");
}
