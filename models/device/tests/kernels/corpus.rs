//! The kernels of the folder.

use std::fs;
use std::path::Path;

use mlsys_device::kernel::Devices;
use mlsys_kernel::{Agreement, DeviceError, Launcher};
use mlsys_lab::DeviceId;
use mlsys_lab::device::Backend;

use crate::devices::devices;
use crate::entry::{Closeness, Entry, Needs};

fn corpus() -> Vec<Entry> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/corpus");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let entry = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        Entry::read(&name, &fs::read_to_string(path).unwrap())
    };
    files.iter().map(entry).collect()
}

#[test]
fn devices_agree_with_the_interpreter() {
    let corpus = corpus();
    for &device in devices() {
        let required = |entry: &&Entry| must_run(device, entry.needs);
        let expected = corpus.iter().filter(required).count();
        let (mut ran, mut required_ran) = (0, 0);
        let (mut wrong, mut refused) = (Vec::new(), Vec::new());
        for entry in &corpus {
            match run(device, entry) {
                Ok(true) => {
                    ran += 1;
                    required_ran += usize::from(must_run(device, entry.needs));
                }
                Ok(false) => refused.push(entry.case.file.as_str()),
                Err(told) => wrong.push(format!("{device} {}: {told}", entry.case.file)),
            }
        }
        println!("{device}: {ran} kernels agree; not translated: {refused:?}");
        assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
        assert_eq!(required_ran, expected, "on {device}");
    }
}

/// Whether a device of this kind has no excuse: on CUDA the text runs as it is, and a warp has 32 threads.
fn must_run(device: DeviceId, needs: Needs) -> bool {
    device.backend == Backend::Cuda || needs == Needs::Nothing
}

/// Whether it ran there; what is wrong, if it ought to have run or gave something else.
fn run(device: DeviceId, entry: &Entry) -> Result<bool, String> {
    let case = &entry.case;
    let (start, ended) = (case.start(), case.ended());
    let here = device.backend == Backend::Cuda || entry.needs != Needs::Cuda;
    let answer = match Devices.launch(device, &case.work(&start)) {
        Ok(answer) if here => answer,
        Ok(_) => return Err("it runs, and has no translation by its own account".to_owned()),
        Err(DeviceError::Untranslated { .. }) if !must_run(device, entry.needs) => {
            return Ok(false);
        }
        Err(refusal) => return Err(refusal.to_string()),
    };
    let agreement = Agreement::of(&ended, &answer.buffers);
    let is_near = agreement.all_agree();
    let is_equal = agreement.largest == 0.0 || entry.closeness == Closeness::Near;
    if is_near && is_equal && answer.seconds > 0.0 {
        return Ok(true);
    }
    Err(format!("{agreement:?} in {} s", answer.seconds))
}

#[test]
fn the_corpus_is_large_and_most_of_it_is_exact() {
    let corpus = corpus();
    assert!(corpus.len() >= 90, "{}", corpus.len());
    let exact = |entry: &&Entry| entry.closeness == Closeness::Exact;
    assert!(corpus.iter().filter(exact).count() >= 70);
    // Without any device: the interpreter runs all of them and finds nothing.
    for entry in &corpus {
        entry.case.ended();
    }
}
