//! Verdicts of the built-in kernels, and of random ones against all small launches.

use super::search::{REFUTING, Sample};
use super::*;
use crate::examples::EXAMPLES;
use crate::{Fault, Launch};
use mlsys_lab::frame::kernel::Fill;
use mlsys_lab::random;

#[test]
fn verdicts_of_the_built_in_kernels() {
    let refuted = [
        ("vector-add-unguarded", [2, 1], Fault::OutOfBounds, "n = 1"),
        ("window-sum-no-barrier", [2, 1], Fault::Race, "n = 1, radius = 1"),
        // A block that is no power of two adds what lies beyond the array.
        ("reduce-interleaved", [3, 1], Fault::OutOfBounds, "n = 1"),
    ];
    for example in &EXAMPLES {
        let kernel = Kernel::parse("example.cu", example.source).expect("an example reads");
        let verdict = kernel.prove(&example.contract());
        if example.name == "vector-add-local-index" {
            // Its blocks write equal values, which no proof tells from a race, and no run reports as one.
            assert!(matches!(verdict, Verdict::Undecided(_)), "{verdict:?}");
            continue;
        }
        let Some((name, launch, fault, sizes)) =
            refuted.iter().find(|(name, ..)| *name == example.name)
        else {
            assert_eq!(verdict, Verdict::Proved, "{}", example.name);
            continue;
        };
        let Verdict::Refuted(witness) = verdict else { panic!("{name}: {verdict:?}") };
        let seen = witness.sizes.iter().map(|(name, value)| format!("{name} = {value}"));
        assert_eq!([witness.launch.block_dim[0], witness.launch.grid_dim[0]], *launch, "{name}");
        assert_eq!(
            (witness.finding.fault, seen.collect::<Vec<_>>().join(", ").as_str()),
            (*fault, *sizes)
        );
        assert_eq!(witness.second.is_some(), *fault == Fault::Race, "{name}: {witness:?}");
    }
}

/// Random kernels that are compared with the interpreter.
const KERNELS: u64 = 500;

/// Kernels of a few statements: accesses of two buffers and two shared arrays under guards, in loops, between barriers.
struct Writer {
    seed: u64,
    drawn: u64,
}

impl Writer {
    fn choose(&mut self, from: &[&'static str]) -> &'static str {
        self.drawn += 1;
        from[(random::bits(self.seed, self.drawn) >> 33) as usize % from.len()]
    }

    /// A whole number that depends on the thread, mostly one that is its own; `inner` only inside of a loop.
    fn index(&mut self, own: &'static str, inner: &[&'static str]) -> String {
        const OTHERS: [&str; 24] = [
            "t + 1",
            "i + 1",
            "n - 1 - i",
            "blockDim.x - 1 - t",
            "0",
            "blockIdx.x",
            "2 * t",
            "2 * t + 1",
            "i / 2",
            "t % 4",
            "t ^ 1",
            "min(i, n - 1)",
            "i % n",
            "3",
            "t - 1",
            "threadIdx.x - 1",
            "(t + 1) % blockDim.x",
            "t & 7",
            "t / 2 * 2",
            "max(i - 1, 0)",
            "i * 2",
            "t",
            "i",
            "t | 1",
        ];
        self.drawn += 1;
        let number = (random::bits(self.seed, self.drawn) >> 33) as usize;
        match (number % 8, inner) {
            (0, _) => self.choose(&OTHERS).to_owned(),
            (1..=5, []) | (1..=2, _) | (6.., []) => own.to_owned(),
            (_, inner) => self.choose(inner).to_owned(),
        }
    }

    fn guard(&mut self) -> &'static str {
        self.choose(&[
            "i < n",
            "i < n",
            "i < n",
            "i + 1 < n",
            "t < 4",
            "t + 1 < blockDim.x",
            "t > 0",
            "t == 0",
            "i == 0",
            "t % 2 == 0",
            "t < blockDim.x / 2",
            "2 * i + 1 < n",
            "i < n && t < 8",
            "blockIdx.x == 0",
            "threadIdx.x - 1 < n",
            "n > 3",
            "a[0] < 1.0f",
            "i > 0 && i < n",
            "t >= 1 && t < 8 || t == 0",
            "i * 2 < n",
            "t < 16",
        ])
    }

    fn access(&mut self, inner: &[&'static str]) -> String {
        let kind = self.choose(&["b", "s", "d", "ab", "sa", "as", "atomic", "clear", "ds"]);
        let (shared, from) = (self.index("t", inner), self.index("t", inner));
        let (out, read) = (self.index("i", inner), self.index("i", inner));
        match kind {
            "b" => format!("b[{out}] = 1.0f;"),
            "s" => format!("s[{shared}] = s[{from}];"),
            "d" => format!("d[{shared}] += 1.0f;"),
            "ab" => format!("b[{out}] = a[{read}];"),
            "sa" => format!("s[{shared}] = a[{read}];"),
            "as" => format!("b[{out}] = s[{from}];"),
            "atomic" => format!("atomicAdd(&b[{out}], 1.0f);"),
            "clear" => {
                format!("s[{shared}] = 0.0f; __syncthreads(); b[i < n ? i : 0] = s[{from}];")
            }
            _ => format!("d[{shared}] = s[{from}];"),
        }
    }

    fn statement(&mut self) -> String {
        let guard = self.guard();
        match self.choose(&[
            "access", "if", "if", "if", "barrier", "barrier", "for", "stride", "halve", "double",
            "tiles", "return", "else", "split",
        ]) {
            "access" => self.access(&[]),
            "if" => format!("if ({guard}) {{ {} }}", self.access(&[])),
            "else" => {
                format!("if ({guard}) {{ {} }} else {{ {} }}", self.access(&[]), self.access(&[]))
            }
            "barrier" => "__syncthreads();".to_owned(),
            "split" => format!("if ({guard}) __syncthreads();"),
            "return" => format!("if (!({guard})) return;"),
            "for" => format!(
                "for (int k = 0; k < 3; k++) if ({guard}) {{ {} }}",
                self.access(&["k", "i + k", "3 * i + k", "t + k"])
            ),
            "stride" => format!(
                "for (int k = i; k < n; k += blockDim.x * gridDim.x) {{ {} }}",
                self.access(&["k", "k", "k", "k + 1"])
            ),
            "halve" => format!(
                "for (int k = blockDim.x / 2; k > 0; k /= 2) {{ if (t < k) d[t] += d[t + k]; {} }}",
                self.choose(&["__syncthreads();", "__syncthreads();", ""])
            ),
            "double" => format!(
                "for (int k = 1; k < blockDim.x; k *= 2) {{ if (t % (2 * k) == 0{}) d[t] += d[t + k]; __syncthreads(); }}",
                self.choose(&["", " && t + k < blockDim.x"])
            ),
            _ => format!(
                "for (int k = 0; k < n; k += 16) {{ {} __syncthreads(); {} {} }}",
                self.access(&["k + t"]),
                self.access(&["k", "k + t"]),
                self.choose(&["__syncthreads();", ""])
            ),
        }
    }

    fn kernel(&mut self) -> String {
        let count = 1 + self.choose(&["", " ", "  ", "   "]).len();
        let statements: Vec<String> = (0..count).map(|_| self.statement()).collect();
        format!(
            "__global__ void k(const float *a, float *b, int n) {{\n__shared__ float s[1032];\nextern __shared__ float d[];\nint t = threadIdx.x;\nint i = {};\n{}\n}}",
            self.choose(&[
                "blockDim.x * blockIdx.x + threadIdx.x",
                "blockDim.x * blockIdx.x + threadIdx.x",
                "threadIdx.x",
                "gridDim.x * blockIdx.x + threadIdx.x"
            ]),
            statements.join("\n")
        )
    }
}

/// A kernel `k` of `const float *a, float *b, int n`, with shared memory of the launch.
pub(crate) fn random_kernel(seed: u64) -> String {
    Writer { seed, drawn: 0 }.kernel()
}

/// Launches of random kernels: exactly as long as they need, or with a margin.
fn contract(seed: u64) -> Contract {
    let (length, shared) = match seed % 3 {
        0 => ("n", "4*blockDim.x"),
        1 => ("n + 2", "4*blockDim.x + 8"),
        _ => ("4*n + 4*blockDim.x*gridDim.x + 8", "8*blockDim.x + 8"),
    };
    let buffer = |fill| Given::Buffer { length: length.to_owned(), fill };
    Contract {
        sizes: vec!["n".to_owned()],
        given: vec![buffer(Fill::INDEX), buffer(Fill::INDEX), Given::Whole("n".to_owned())],
        grid: [GridRule::Covers("n".to_owned()), GridRule::One, GridRule::One],
        block: BlockRule::Dimensions(1),
        dynamic_shared: shared.to_owned(),
    }
}

#[test]
fn verdicts_agree_with_all_small_launches_of_random_kernels() {
    let (mut proved, mut refuted) = (0, 0);
    for seed in 0..KERNELS {
        let text = random_kernel(seed);
        let kernel = Kernel::parse("random.cu", &text).unwrap_or_else(|error| panic!("{error}"));
        let contract = contract(seed);
        let verdict = kernel.prove(&contract);
        let blocks = (1..=6).chain([8, 9, 16, 31, 32, 33, 64]);
        let launches = blocks.flat_map(|block: i64| {
            let sizes = (1..=5).chain([block - 1, block + 1, 2 * block + 1]);
            sizes.filter(|n| *n > 0).flat_map(move |n| {
                [0, 1].map(|extra| Sample { sizes: vec![n], block: [block as u32, 1, 1], extra })
            })
        });
        let faulty = |sample: &Sample| {
            let mut machine = sample.start(&kernel, &contract).expect("a launch");
            machine.run(1_000_000);
            REFUTING.iter().any(|fault| machine.findings().count(*fault) > 0)
        };
        match &verdict {
            Verdict::Proved => {
                let wrong = launches.into_iter().find(faulty);
                assert!(wrong.is_none(), "proved, and {wrong:?} goes wrong:\n{text}");
                proved += 1;
            }
            Verdict::Refuted(witness) => {
                // The same launch again, and all smaller ones.
                let Launch { block_dim: block, grid_dim: [grid, ..], .. } = witness.launch;
                let n = witness.sizes[0].1;
                let needed = (n as u32).div_ceil(block[0]).max(1);
                let own = Sample { sizes: vec![n], block, extra: grid - needed };
                assert!(faulty(&own), "{witness:?}\n{text}");
                let total = n + i64::from(block[0]);
                let mut launches = launches;
                let smaller = launches.find(|sample| {
                    let sum = sample.sizes[0] + i64::from(sample.block[0] + sample.extra);
                    sum < total + i64::from(own.extra) && faulty(sample)
                });
                let is_block_smallest = |other: &Sample| other.block[0] > block[0];
                assert!(
                    smaller.as_ref().is_none_or(is_block_smallest),
                    "{smaller:?} {witness:?}\n{text}"
                );
                refuted += 1;
            }
            Verdict::Undecided(reason) => {
                println!("{seed} {reason:?} {:?}\n{text}", launches.into_iter().find(faulty))
            }
        }
    }
    // Fewer proofs or refutations than this would mean that something is no longer understood.
    assert!(proved >= KERNELS / 5 && refuted >= KERNELS / 5, "{proved} {refuted}");
    assert!(proved + refuted >= KERNELS * 9 / 10, "{proved} {refuted}");
}

#[test]
fn a_long_chain_of_branches_is_given_up_soon() {
    let chain =
        (0..150).map(|at| format!("if (t == {at}) x += {at}.0f; else ")).collect::<String>();
    let text = format!(
        "__global__ void k(const float *a, float *b, int n) {{ int t = threadIdx.x; float x = a[t]; {} b[t] = x; }}",
        format!("{chain};").repeat(14)
    );
    let kernel = Kernel::parse("k.cu", &text).unwrap_or_else(|error| panic!("{error}"));
    // Its smallest fault is found; without a bound on what each question costs, after 13 seconds.
    assert!(matches!(kernel.prove(&contract(0)), Verdict::Refuted(_)));
}

#[test]
fn what_is_not_followed_is_not_decided() {
    let bodies = [
        ("int j = (int)a[i]; if (i < n) atomicAdd(&b[j % 2 ? j : j], 1.0f);", "is not excluded"),
        (
            "float4 *v = (float4 *)b; if (4 * i + 3 < n) v[i] = make_float4(0, 0, 0, 0);",
            "not followed",
        ),
        ("for (int k = 0; k < n; k++) { if (k == 7) break; __syncthreads(); }", "leave early"),
    ];
    for (body, why) in bodies {
        let start = "__global__ void k(const float *a, float *b, int n) {
            int i = min(blockDim.x * blockIdx.x + threadIdx.x, n - 1);";
        let text = format!("{start} {body} }}");
        let kernel = Kernel::parse("k.cu", &text).unwrap_or_else(|error| panic!("{error}"));
        let Verdict::Undecided(reason) = kernel.prove(&contract(0)) else { panic!("{body}") };
        assert!(reason.sentence.contains(why) && reason.place.line == 2, "{body}: {reason:?}");
    }
}
