//! The forms that the compilers made, as they come with the program.

/// What `models/lowering` wrote: a head for each form, then its lines with the source line that each comes from.
const FORMS: &str = include_str!("forms.txt");

/// The kernels as they are written, one after another.
const SOURCE: &str = include_str!("../../../lowering/src/kernels.rs");

/// Block sizes that there are forms for; a line that depends on them is there once for each, between tabs.
pub const BLOCKS: [i64; 4] = [32, 64, 128, 256];

mlsys_lab::named_enum! {
    /// What a kernel can be compiled to.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Target {
        /// cubecl's own form, from which the others are made.
        Ir = "cubecl-ir",
        Wgsl = "wgsl",
        /// The binary form of Vulkan, written out.
        Spirv = "spirv",
        Cuda = "cuda",
        /// AMD's C++.
        Hip = "hip",
        /// Apple's.
        Metal = "metal",
        /// NVIDIA's virtual instructions.
        Ptx = "ptx",
    }
}

impl Target {
    pub fn member(self) -> String {
        self.name().replace('-', "_")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The line of the kernel's source that it comes from, counted from 1; none if the target needs it of itself.
    pub origin: Option<usize>,
    pub text: &'static str,
}

/// A kernel in the language of one target.
#[derive(Clone, Debug)]
pub struct Form {
    /// Lines of the text as the compiler printed it.
    pub printed: i64,
    /// Whether it compares an index with a length.
    pub bounds_checked: bool,
    pub lines: Vec<Line>,
}

/// The text of a kernel, without what stands around it.
pub fn source(kernel: &str) -> Option<&'static str> {
    let (_, rest) = SOURCE.split_once(&format!("// kernel: {kernel}\n"))?;
    let text = rest.split_once("\n// kernel:").map_or(rest, |(text, _)| text);
    Some(text.trim_end())
}

/// Whether there are forms of a kernel with several elements a load.
pub fn is_vectorized(kernel: &str) -> bool {
    form(kernel, 4, Target::Ir, BLOCKS[0]).is_some()
}

/// What a kernel becomes for a target; none if there is no such form.
pub fn form(kernel: &str, width: i64, target: Target, block: i64) -> Option<Form> {
    let variant = BLOCKS.iter().position(|known| *known == block)?;
    let head = format!("#### {kernel} {width} {} ", target.name());
    let mut lines = FORMS.lines().skip_while(|line| !line.starts_with(&head));
    let mut facts = lines.next()?.strip_prefix(&head)?.split(' ');
    let read = |line: &'static str| {
        let (origin, text) = line.split_once('|').unwrap_or(("", line));
        Line { origin: origin.parse().ok(), text: text.split('\t').nth(variant).unwrap_or(text) }
    };
    Some(Form {
        printed: facts.next()?.parse().ok()?,
        bounds_checked: facts.next()?.parse().ok()?,
        lines: lines.take_while(|line| !line.starts_with("#### ")).map(read).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lowering::Kernel;

    #[test]
    fn every_kernel_has_a_form_for_each_target_and_block() {
        for kernel in Kernel::ALL.map(Kernel::name) {
            let source = source(kernel).unwrap();
            assert!(source.starts_with("#[cube(launch)]") && source.ends_with('}'));
            let lines = source.lines().count();
            for block in BLOCKS {
                for target in Target::ALL {
                    let Some(form) = form(kernel, 1, target, block) else {
                        assert_eq!(target, Target::Ptx, "{kernel}");
                        continue;
                    };
                    assert!(form.lines.len() > 20, "{kernel} {target:?}");
                    assert!(form.lines.iter().all(|line| !line.text.contains('\t')));
                    let origins = form.lines.iter().filter_map(|line| line.origin);
                    assert!(origins.clone().count() > 10, "{kernel} {target:?}");
                    assert!(origins.clone().all(|line| line <= lines));
                }
            }
        }
        assert!(is_vectorized("saxpy") && !is_vectorized("softmax-row"));
    }

    #[test]
    fn the_block_size_is_in_each_text() {
        let says = |target, block, word: &str| {
            let form = form("vector-add", 1, target, block).unwrap();
            form.lines.iter().any(|line| line.text.contains(word))
        };
        for (target, before, after) in [
            (Target::Wgsl, "@workgroup_size(", ", 1, 1)"),
            (Target::Spirv, "LocalSize ", " 1 1"),
            (Target::Cuda, "__launch_bounds__(", ")"),
            (Target::Hip, "__launch_bounds__(", ")"),
        ] {
            for block in BLOCKS {
                assert!(says(target, block, &format!("{before}{block}{after}")));
            }
        }
    }

    #[test]
    fn guard_and_barrier_keep_their_source_lines() {
        let source = source("window-sum").unwrap();
        let line = |word: &str| source.lines().position(|line| line.contains(word)).unwrap() + 1;
        let (barrier, guard) = (line("sync_cube"), line("if i < b.len()"));
        for (target, sync, less) in [
            (Target::Ir, "sync.sync", "cmp.u_less_than"),
            (Target::Wgsl, "workgroupBarrier()", " < "),
            (Target::Spirv, "OpControlBarrier", "OpULessThan"),
            (Target::Cuda, "__syncthreads()", " < "),
            (Target::Hip, "__syncthreads()", " < "),
            (Target::Metal, "threadgroup_barrier", " < "),
        ] {
            let form = form("window-sum", 1, target, 64).unwrap();
            let has = |origin, word: &str| {
                let mut of = form.lines.iter().filter(|line| line.origin == Some(origin));
                of.any(|line| line.text.contains(word))
            };
            assert!(has(barrier, sync), "{target:?}");
            assert!(has(guard, less), "{target:?}");
            assert!(form.bounds_checked, "{target:?}");
        }
    }
}
