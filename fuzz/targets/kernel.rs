//! Any text as a kernel. libFuzzer's `-timeout` watches over the time.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    mlsys_fuzz::kernel::tried(text);
});
