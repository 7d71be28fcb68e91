//! Any bytes as a progress log and as an answers file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mlsys_lesson::{Answers, Progress};

fuzz_target!(|data: &[u8]| {
    let replay = Progress::replay(data);
    if let Ok(text) = replay.progress.answers().to_json() {
        let back = Answers::parse(text.as_bytes()).expect("what is exported can be imported");
        assert_eq!(back, replay.progress.answers());
    }
    let _ = Answers::parse(data);
});
