//! What the functions of cooperative groups stand for.

#[derive(Clone)]
pub(super) enum Group {
    Block,
    /// This many threads, a power of two up to 32, or its name in a template.
    Tile(String),
    Grid,
    /// A variable with the mask of its lanes.
    Lanes,
    /// A variable with the threads of a tile, or 0.
    Any,
}

const RANK: &str = "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))";
const SIZE: &str = "(blockDim.x * blockDim.y * blockDim.z)";
const BLOCKS: &str = "((unsigned long long)gridDim.x * gridDim.y * gridDim.z)";
const BLOCK: &str =
    "(blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z))";

/// The barrier of a group of a name.
pub(super) fn barrier(group: &Group, name: &str) -> String {
    match group {
        Group::Block => "__syncthreads()".to_owned(),
        Group::Tile(width) if width == "32" => "__syncwarp()".to_owned(),
        Group::Tile(width) => format!("__syncwarp(tile_lanes<{width}>())"),
        Group::Grid => "grid_sync()".to_owned(),
        Group::Lanes => format!("__syncwarp({name})"),
        Group::Any => format!("tile_barrier({name})"),
    }
}

/// The lanes that come to a shuffle or a vote of a tile.
fn lanes_of(width: &str) -> String {
    if width == "32" { "0xffffffffu".to_owned() } else { format!("tile_lanes<{width}>()") }
}

/// What a call of a method stands for, and whether its arguments follow; else its bracket is left out.
pub(super) fn method(group: &Group, own: &str, name: &str) -> Option<(String, bool)> {
    let plain = |text: &str| Some((text.to_owned(), false));
    match (group, name) {
        (_, "sync") => plain(&barrier(group, own)),
        (Group::Any, "thread_rank") => plain(&format!("({RANK} % ({own} ? {own} : {SIZE}))")),
        (Group::Any, "size" | "num_threads") => plain(&format!("({own} ? {own} : {SIZE})")),
        (Group::Lanes, "thread_rank") => plain(&format!("lanes_before({own})")),
        (Group::Lanes, "size" | "num_threads") => plain(&format!("(unsigned)__popc({own})")),
        (Group::Lanes, "any" | "all") => Some((format!("__{name}_sync({own},"), true)),
        (Group::Lanes, "shfl" | "shfl_up" | "shfl_down" | "ballot") => {
            Some((format!("lanes_{name}({own},"), true))
        }
        (Group::Block, "thread_rank") => plain(RANK),
        (Group::Block, "size" | "num_threads") => plain(SIZE),
        (Group::Block, "group_index") => plain("blockIdx"),
        (Group::Block, "thread_index") => plain("threadIdx"),
        (Group::Block, "group_dim" | "dim_threads") => plain("blockDim"),
        (Group::Grid, "thread_rank") => plain(&format!("({BLOCK} * {SIZE} + {RANK})")),
        (Group::Grid, "size" | "num_threads") => plain(&format!("({BLOCKS} * {SIZE})")),
        (Group::Grid, "block_rank") => plain(BLOCK),
        (Group::Grid, "num_blocks") => plain(BLOCKS),
        (Group::Tile(width), "thread_rank") => Some((format!("({RANK} % {width})"), false)),
        (Group::Tile(width), "size" | "num_threads") => {
            let is_number = width.starts_with(|first: char| first.is_ascii_digit());
            let text = if is_number { format!("{width}u") } else { format!("(unsigned){width}") };
            Some((text, false))
        }
        (Group::Tile(width), "meta_group_rank") => Some((format!("({RANK} / {width})"), false)),
        (Group::Tile(width), "meta_group_size") => {
            Some((format!("(({SIZE} + {width} - 1) / {width})"), false))
        }
        (Group::Tile(width), "shfl" | "shfl_down" | "shfl_up" | "shfl_xor") => {
            Some((format!("__{name}_sync({},", lanes_of(width)), true))
        }
        (Group::Tile(width), "any" | "all" | "ballot") if width == "32" => {
            Some((format!("__{name}_sync(0xffffffffu,"), true))
        }
        (Group::Tile(width), "any" | "all" | "ballot") => {
            Some((format!("tile_{name}<{width}>("), true))
        }
        (Group::Block | Group::Tile(_) | Group::Grid | Group::Lanes | Group::Any, _) => None,
    }
}
