//! One thread and several agree in everything that a run leaves.

use crate::proof::tests::random_kernel;
use crate::tests::*;
use std::num::NonZeroUsize;

/// Bodies for blocks that change the same cells, or that one thread must run.
const BODIES: &str = "
    atomicAdd(&b[t % 3], t); => 1
    atomicSub(&b[0], i); atomicAdd(&b[0], 7); => 1
    atomicMax(&b[t % 5], i * 7 % 31); => 1
    atomicMin(&b[1], -i); atomicMin((unsigned *)&b[2], i); => 0
    atomicAdd(&b[0], 1); atomicMax(&b[0], i); => 0
    atomicXor(&b[2], i); => 1
    atomicOr(&b[i % 4], 1 << t % 30); => 1
    atomicAnd(&b[i % 4], i | 7); => 1
    atomicAdd((unsigned long long *)&b[2 * (t % 2)], 5000000000ull); => either
    b[4 + atomicAdd(&b[0], 1)] = i; => 0
    atomicExch(&b[0], i); => 0
    atomicCAS(&b[0], 0, i); => 0
    atomicAdd((float *)&b[0], 0.1f * i); => 0
    b[4 + i] = i; __threadfence(); => 0
    b[4 + i] = b[i]; => 0
    b[4 + i] = a[i % 4] + a[0]; => 1
    if (blockIdx.x < 2) b[0] = 1; => 0
    if (t == 0) atomicAdd(&b[0], 1); else b[4 + i] = b[0]; => 0
    s[t] = i; __syncthreads(); b[4 + i] = s[63 - t]; => 1
    if (t == 0) s[0] = 0; __syncthreads(); atomicAdd(&s[0], t); __syncthreads(); b[4 + i] = s[0]; => 1
    if (t < 2) s[t] = 0; __syncthreads(); b[4 + i] = atomicAdd(&s[0], 1); => 0
    if (blockIdx.x == 7) b[100000] = 1; else b[4 + i] = i; => 0
    while (blockIdx.x == 9) b[4 + i] = i; => 0
    b[4 + i] = i; if (blockIdx.x == 5 && t < 9) __syncthreads(); => 0";

/// Runs a launch with one thread and with several; whether its blocks were joined.
fn agree(text: &str, arguments: &[Argument], launch: &Launch, most: u64) -> bool {
    let mut one = started(text, launch.clone(), arguments);
    one.run(most);
    let mut several = started(text, launch.clone(), arguments);
    let threads = NonZeroUsize::new(3).expect("not zero");
    let is_joined = several.run_apart(threads, most, 0, &mut || false);
    several.run(most - several.clock());
    let all = |machine: &Machine| {
        let buffers = machine.buffers().map(|(name, ..)| name.to_owned()).collect::<Vec<_>>();
        let stores = buffers
            .iter()
            .map(|name| (machine.bytes_of(name).to_vec(), machine.cells(name).collect::<Vec<_>>()));
        let states = (0..launch.blocks() as u32).map(|block| machine.block_state(block));
        (
            (machine.progress(), machine.clock(), machine.ended_blocks(), machine.idle_threads()),
            machine.findings().clone(),
            (machine.lines(), machine.totals(), machine.flops()),
            stores.collect::<Vec<_>>(),
            (machine.blocks(), states.collect::<Vec<_>>()),
        )
    };
    assert_eq!(all(&one), all(&several), "{launch:?} {text}");
    is_joined
}

#[test]
fn several_threads_find_what_one_finds() {
    let schedules = [Schedule::RoundRobin, Schedule::InOrder, Schedule::Random];
    let launch = |seed: u64, blocks, threads| Launch {
        schedule: schedules[seed as usize % 3],
        seed,
        concurrent_blocks: 1 + seed as usize % 4,
        dynamic_shared: 8 * threads + 8,
        ..Launch::line(blocks, threads)
    };
    let ints = |count: i32| Argument::Buffer(Values::Int((0..count).collect()));
    let bodies = BODIES.lines().filter_map(|line| line.trim().split_once(" => "));
    for (seed, (body, joined)) in (0..).zip(bodies.flat_map(|row| [row; 3])) {
        let text = format!(
            "__global__ void k(const int *a, int *b) {{ __shared__ int s[64]; int t = threadIdx.x; int i = blockIdx.x * 64 + t; {body} }}"
        );
        let is_joined = agree(&text, &[ints(8), ints(1300)], &launch(seed, 20, 64), 100_000);
        // A number of two cells is joined if one thread happens to run all blocks.
        assert!(joined == "either" || is_joined == (joined == "1"), "{body}");
    }
    let mut joined = 0;
    for seed in 0..240 {
        let (blocks, threads) =
            ([1, 7, 30][seed as usize % 3], [32, 50, 96][seed as usize / 3 % 3]);
        let count = (blocks * threads) as i32;
        let (mut text, mut buffer) = (
            random_kernel(seed),
            Argument::Buffer(Values::Float(vec![1.0; 4 * count as usize + 300])),
        );
        if seed % 2 == 0 {
            text = text.replace("float", "int").replace("1.0f", "1").replace("0.0f", "0");
            buffer = ints(4 * count + 300);
        }
        let arguments = [buffer.clone(), buffer, Argument::Whole(i64::from(count) - 3)];
        // A budget that the larger ones exceed.
        joined += usize::from(agree(&text, &arguments, &launch(seed, blocks, threads), 20_000));
    }
    assert!((15..200).contains(&joined), "{joined}");
}
