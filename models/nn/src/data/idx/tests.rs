use super::*;
use crate::data::Dataset;
use crate::data::tests::{Halves, labelled};
use crate::test_folder::TestFolder;

struct Folder(TestFolder);

impl Folder {
    /// Thirty images to train on and twelve to test on. Image i of a file is grey i all over, label i % 10.
    fn good() -> Self {
        let folder = Self(TestFolder::new());
        for (stem, count) in [("train", 30), ("t10k", 12)] {
            folder.write(&format!("{stem}-images-idx3-ubyte"), &images(count));
            folder.write(&format!("{stem}-labels-idx1-ubyte"), &labels(count));
        }
        folder
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.path(name), bytes).expect("a file in the test's own folder");
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.0.path(from), self.0.path(to)).expect("a file in the test's own folder");
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.0.path(name)).expect("a file in the test's own folder");
    }

    fn load(&self) -> Result<Halves, DataError> {
        load(&config(Some(self.0.path("")))).map(labelled)
    }
}

fn config(folder: Option<PathBuf>) -> DataConfig {
    DataConfig { folder, samples: 20, ..DataConfig::new(Dataset::Idx, 1) }
}

fn header(element: u8, sizes: &[u32]) -> Vec<u8> {
    let mut bytes = vec![0, 0, element, sizes.len() as u8];
    bytes.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
    bytes
}

fn images(count: u32) -> Vec<u8> {
    let mut bytes = header(8, &[count, 28, 28]);
    bytes.extend((0..count).flat_map(|index| [index as u8; PIXELS]));
    bytes
}

fn labels(count: u32) -> Vec<u8> {
    let mut bytes = header(8, &[count]);
    bytes.extend((0..count).map(|index| (index % 10) as u8));
    bytes
}

#[test]
fn images_keep_their_labels_and_grey_becomes_a_share() {
    let data = Folder::good().load().expect("good files");
    assert_eq!((data.train.len(), data.held_out.len()), (20, 12));
    for examples in [&data.train, &data.held_out] {
        let mut seen = Vec::new();
        for (index, label) in examples.labels.iter().enumerate() {
            let image = examples.input(index);
            let grey = (image[0] * 255.0).round();
            assert!(image.iter().all(|&pixel| pixel == grey / 255.0));
            assert_eq!(grey as i32 % 10, *label);
            seen.push(grey as i32);
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), examples.len(), "an image was taken twice");
    }
}

#[test]
fn the_seed_chooses_the_images() {
    let folder = Folder::good();
    let first = folder.load().expect("good files");
    for name in ["train-images", "t10k-images"] {
        folder.rename(&format!("{name}-idx3-ubyte"), &format!("{name}.idx3-ubyte"));
    }
    assert_eq!(folder.load().expect("good files"), first);
    let other = DataConfig { seed: 2, ..config(Some(folder.0.path(""))) };
    assert_ne!(labelled(load(&other).expect("good files")).train, first.train);
}

#[test]
fn noise_is_added_to_pixels_read_from_files() {
    let folder = Folder::good();
    let noisy = DataConfig { noise: 0.5, ..config(Some(folder.0.path(""))) };
    let noisy = labelled(load(&noisy).expect("good files")).train;
    assert_ne!(noisy, folder.load().expect("good files").train);
    assert!(noisy.inputs.iter().all(|pixel| (0.0..=1.0).contains(pixel)));
}

const IMAGES: &str = "train-images-idx3-ubyte";
const LABELS: &str = "train-labels-idx1-ubyte";

/// The one fault of a folder in which the file `name` holds `bytes`.
fn fault(name: &str, bytes: &[u8]) -> IdxFault {
    let folder = Folder::good();
    folder.write(name, bytes);
    let error = folder.load().expect_err("a bad file");
    let DataError::File { path, fault } = error else { panic!("{error:?}") };
    assert_eq!(path, folder.0.path(name));
    fault
}

#[test]
fn each_bad_file_has_its_own_fault() {
    let changed = |mut bytes: Vec<u8>, place: usize, byte: u8| {
        bytes[place] = byte;
        bytes
    };
    let long = [images(30), vec![0]].concat();
    let images_of = |sizes: [u32; 3]| header(8, &sizes);
    for (name, bytes, says) in [
        (IMAGES, vec![0x1f, 0x8b, 8, 0, 0], "gunzip train-images-idx3-ubyte"),
        (LABELS, b"P5 28 28 255".to_vec(), "not an IDX file: expected it to start with"),
        (LABELS, b"P5 28 28 255".to_vec(), "found 50 35 20 32"),
        (LABELS, vec![0; 40], "found 00 00 00 00"),
        (LABELS, changed(labels(30), 2, 0x0d), "type 0x0d, expected unsigned bytes"),
        (IMAGES, labels(30), "has 1 dimensions, expected 3"),
        (LABELS, images(30), "has 3 dimensions, expected 1"),
        (LABELS, images(30), "not swapped"),
        (IMAGES, images_of([30, 32, 30]), "32x30 pixels, expected 28x28"),
        (LABELS, vec![], "at least 8 bytes, found 0"),
        (IMAGES, images(1)[..15].to_vec(), "at least 16 bytes, found 15"),
        (LABELS, labels(0), "no items"),
        (IMAGES, images_of([u32::MAX, 28, 28]), "4294967295 items, expected 1000000 at most"),
        (IMAGES, images_of([1_000_000, 28, 28]), "cut off: expected 784000016 bytes"),
        (IMAGES, long, "expected 23536 bytes by its header, found 23537"),
        (LABELS, changed(labels(30), 8 + 17, 10), "label 10 at item 17"),
    ] {
        let found = fault(name, &bytes).to_string();
        assert!(found.contains(says), "{found}");
    }
}

#[test]
fn truncated_files_are_errors() {
    let whole = images(30);
    for length in (0..40).chain([5000, whole.len() - 1]) {
        let found = fault(IMAGES, &whole[..length]);
        let truncated = matches!(found, IdxFault::Truncated { .. } | IdxFault::NoHeader { .. });
        assert!(truncated, "{length}: {found}");
    }
}

#[test]
fn without_a_folder_the_error_says_how_to_name_one() {
    let error = load(&config(None)).expect_err("no folder");
    assert_eq!(error, DataError::NoFolder);
    assert!(error.to_string().contains("--data-dir"));
    let folder = Folder::good();
    for wrong in [folder.0.path("nowhere"), folder.0.path(LABELS)] {
        let error = load(&config(Some(wrong.clone()))).expect_err("not a folder");
        assert!(matches!(&error, DataError::FolderUnreadable { folder, .. } if *folder == wrong));
        assert!(error.to_string().contains(&*wrong.to_string_lossy()), "{error}");
    }
}

#[test]
fn missing_files_are_named_together_with_what_is_there() {
    let folder = Folder::good();
    folder.remove(IMAGES);
    folder.remove("t10k-labels-idx1-ubyte");
    folder.write("notes\u{1b}[31m.txt", b"");
    let error = folder.load().expect_err("missing files").to_string();
    for part in [
        "lacks train-images-idx3-ubyte, t10k-labels-idx1-ubyte; it holds notes",
        "t10k-images-idx3-ubyte, train-labels-idx1-ubyte;",
    ] {
        assert!(error.contains(part), "{error}");
    }
    assert!(!error.contains('\u{1b}'), "{error:?}");
}

#[test]
fn files_that_do_not_fit_are_refused_with_the_reason() {
    type Change = fn(&Folder);
    let changes: [(Change, &[&str]); 3] = [
        (
            |folder| folder.rename(IMAGES, "train-images-idx3-ubyte.gz"),
            &["`gunzip train-images-idx3-ubyte.gz`"],
        ),
        (|folder| folder.write(LABELS, &labels(29)), &["holds 30 images", "holds 29 labels"]),
        (
            |folder| {
                folder.remove(LABELS);
                fs::create_dir(folder.0.path(LABELS)).expect("a fresh folder");
            },
            &["not a plain file"],
        ),
    ];
    for (change, parts) in changes {
        let folder = Folder::good();
        change(&folder);
        let error = folder.load().expect_err("files that do not fit").to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
}

#[test]
fn all_bad_files_are_reported_at_once() {
    let folder = Folder::good();
    folder.write(IMAGES, b"");
    folder.write(LABELS, b"nonsense");
    folder.write("t10k-images-idx3-ubyte", &images(13));
    let error = folder.load().expect_err("three bad files");
    assert!(matches!(&error, DataError::Several(errors) if errors.len() == 3), "{error:?}");
    assert_eq!(error.to_string().lines().count(), 3);
}
