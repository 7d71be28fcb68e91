//! Any text as a kernel: it is read or refused with places inside it, translated or refused with reasons, and what is
//! read runs within its budget. libFuzzer's `-timeout` watches over the time.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mlsys_kernel::types::Type;
use mlsys_kernel::{Argument, Kernel, Launch, Subgroups, Target, Values};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let kernel = match Kernel::parse("k.cu", text) {
        Ok(kernel) => kernel,
        Err(refused) => {
            assert!(!refused.diagnostics.is_empty());
            let lines = text.lines().count().max(1) as u32;
            for complaint in &refused.diagnostics {
                assert!((1..=lines + 1).contains(&complaint.place.line));
            }
            mlsys_fuzz::is_printable(&refused.to_string());
            return;
        }
    };
    let target = Target { block_dim: [8, 2, 1], dynamic_shared: 64, subgroups: Subgroups::Of32 };
    match kernel.wgsl(target) {
        Ok(wgsl) => assert!(!wgsl.text.contains("untranslated")),
        Err(told) => assert!(!told.is_empty()),
    }
    let mut launch = Launch::line(2, 48);
    launch.dynamic_shared = 64;
    let arguments: Vec<Argument> = kernel
        .params()
        .map(|(_, ty)| match ty {
            Type::Pointer { .. } => Argument::Buffer(Values::Poison(40)),
            Type::Void | Type::Scalar(_) | Type::Array { .. } => Argument::Whole(37),
        })
        .collect();
    if let Ok(mut machine) = kernel.launch(launch, &arguments) {
        machine.run(400);
    }
});
