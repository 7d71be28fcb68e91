//! Compiles the kernels of the lab `lowering` for every target and writes what came out to `forms.txt`.

mod kernels {
    use cubecl::prelude::*;
    use cubecl_core as cubecl;

    include!("kernels.rs");
}
mod built {
    use super::kernels;
    use cubecl_core as cubecl;

    include!("built.rs");
}
mod origin;
mod tidy;

use std::fmt::Write as _;

use built::kernel;
use cubecl_core::prelude::*;
use cubecl_core::{Compiler, WgpuCompilationOptions};
use cubecl_cpp::shared::{CompilationOptions, CppCompiler};
use cubecl_cpp::target::{Cuda, Hip, Metal};

const BLOCKS: [usize; 4] = [32, 64, 128, 256];
const TARGETS: [&str; 6] = ["cubecl-ir", "wgsl", "spirv", "cuda", "hip", "metal"];
const KERNELS: [&str; 6] =
    ["vector-add", "relu", "saxpy", "window-sum", "matmul-tile", "softmax-row"];
const SOURCE: &str = include_str!("kernels.rs");

fn compiled<C: Compiler>(
    mut compiler: C,
    options: &C::CompilationOptions,
    kernel: &dyn CubeKernel,
) -> C::Representation {
    let definition = cubecl_core::define_kernel(kernel).unwrap();
    compiler.compile(definition, options).unwrap()
}

fn text(target: &str, kernel: &dyn CubeKernel) -> String {
    let plain = CompilationOptions::default();
    match target {
        "cubecl-ir" => cubecl_core::define_kernel(kernel).unwrap().body.to_string(),
        "wgsl" => {
            let text =
                compiled(cubecl_wgpu::WgslCompiler, &WgpuCompilationOptions::default(), kernel)
                    .to_string();
            valid_wgsl(&text);
            text
        }
        "spirv" => {
            let mut options = WgpuCompilationOptions::default();
            options.supports_vulkan_compiler = true;
            options.vulkan.max_spirv_version = (1, 3);
            options.vulkan.max_vector_size = 4;
            let shader = compiled(cubecl_spirv::SpirvCompiler, &options, kernel);
            consistent_words(&shader.assembled_module);
            shader.to_string()
        }
        "cuda" => compiled(CppCompiler::<Cuda>::default(), &plain, kernel).to_string(),
        "hip" => compiled(CppCompiler::<Hip>::default(), &plain, kernel).to_string(),
        _ => compiled(CppCompiler::<Metal>::default(), &plain, kernel).to_string(),
    }
}

fn valid_wgsl(text: &str) {
    let module =
        naga::front::wgsl::parse_str(text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(text)));
    let flags = naga::valid::ValidationFlags::all();
    let mut validator = naga::valid::Validator::new(flags, naga::valid::Capabilities::empty());
    validator.validate(&module).unwrap_or_else(|e| panic!("{}\n{text}", e.emit_to_string(text)));
}

/// A SPIR-V module is its magic number, four more words, and instructions that begin with their count of words.
fn consistent_words(words: &[u32]) {
    assert_eq!(words[0], 0x0723_0203, "the magic number");
    let mut at = 5;
    while at < words.len() {
        let count = (words[at] >> 16) as usize;
        assert!(count > 0, "an instruction without words at {at}");
        at += count;
    }
    assert_eq!(at, words.len(), "the last instruction goes past the end");
}

/// Some compilers go through hash maps and list things in another order each time. With their own values numbered in
/// the order in which they appear, the smallest of some texts is always the same.
fn smallest(target: &str, kernel: &dyn CubeKernel) -> String {
    let shared = origin::most(&text("cubecl-ir", kernel));
    let make = || match target {
        "cubecl-ir" | "spirv" => text(target, kernel),
        _ => tidy::renumbered(&text(target, kernel), shared),
    };
    let mut least = make();
    let mut since = 0;
    while since < 12 {
        let other = make();
        since = if other < least { 0 } else { since + 1 };
        least = least.min(other);
    }
    least
}

fn source(kernel: &str) -> String {
    let head = format!("// kernel: {kernel}\n");
    let from = SOURCE.find(&head).unwrap() + head.len();
    let rest = &SOURCE[from..];
    rest[..rest.find("\n// kernel:").unwrap_or(rest.len())].trim_end().to_owned()
}

fn main() {
    let mut out = String::from(
        "# What cubecl 0.11.3 makes of models/lowering/src/kernels.rs; written by models/lowering.\n",
    );
    for name in KERNELS {
        let written = source(name);
        let source = origin::Source::read(name, &written);
        let widths: &[usize] =
            if ["vector-add", "relu", "saxpy"].contains(&name) { &[1, 4] } else { &[1] };
        for &width in widths {
            for target in TARGETS {
                let texts = BLOCKS.map(|block| smallest(target, &*kernel(name, block, width)));
                let forms: Vec<Vec<String>> =
                    texts.iter().map(|text| tidy::tidy(text, target, name)).collect();
                let whole: Vec<String> = cubecl_core::define_kernel(&*kernel(name, 64, width))
                    .unwrap()
                    .body
                    .to_string()
                    .lines()
                    .map(str::to_owned)
                    .collect();
                let marks = origin::origins(&source, &whole, &forms[1], target);
                let checked = origin::compares_length(&written, &forms[1], &marks);
                let lines = texts[1].lines().count();
                writeln!(out, "#### {name} {width} {target} {lines} {checked}").unwrap();
                for (at, mark) in marks.iter().enumerate() {
                    assert!(
                        forms.iter().all(|form| form.len() == forms[1].len()),
                        "{name} {target}: lines differ"
                    );
                    let variants: Vec<&str> = forms.iter().map(|form| form[at].as_str()).collect();
                    let mark = mark.map_or_else(String::new, |mark| mark.to_string());
                    let same = variants.iter().all(|variant| *variant == variants[0]);
                    let line = if same { variants[0].to_owned() } else { variants.join("\t") };
                    writeln!(out, "{mark}|{line}").unwrap();
                }
            }
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../sim/src/lowering/forms.txt");
    std::fs::write(path, &out).unwrap();
    println!("{} bytes in {path}", out.len());
}
