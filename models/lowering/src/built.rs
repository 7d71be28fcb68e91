// The kernels as cubecl's compilers take them. Included as text, like `kernels.rs`, next to a module `kernels`.

use std::sync::Arc;

use cubecl::ir::{DeviceIdentity, HardwareProperties, MemoryDeviceProperties, features::Features};
use cubecl::prelude::*;

/// A machine that has what any GPU has.
fn properties() -> Arc<DeviceProperties> {
    let hardware = HardwareProperties {
        load_width: 128,
        vector_register_count: None,
        plane_size_min: 32,
        plane_size_max: 32,
        max_bindings: 32,
        max_shared_memory_size: 49152,
        max_cube_count: (u32::MAX, u16::MAX as u32, u16::MAX as u32),
        max_units_per_cube: 1024,
        max_cube_dim: (1024, 1024, 64),
        num_streaming_multiprocessors: None,
        num_tensor_cores: None,
        min_tensor_cores_dim: None,
        num_cpu_cores: None,
        last_level_cache_size: None,
        max_vector_size: 4,
        cube_mma_reserved_shared_memory: 0,
    };
    let memory = MemoryDeviceProperties::new(u64::MAX, 256);
    let identity =
        DeviceIdentity { name: "none".into(), fingerprint: "none".into(), physical: None };
    let timing = cubecl::profile::TimingMethod::Device;
    Arc::new(DeviceProperties::new(Features::default(), memory, hardware, timing, identity))
}

fn buffer() -> BufferCompilationArg {
    BufferCompilationArg { inplace: None }
}

/// A kernel by its name, for a block size and a number of elements loaded at a time.
pub fn kernel(name: &str, block: usize, width: usize) -> Box<dyn CubeKernel> {
    // A tile is square: the largest power of two with a square of at most the block.
    let side = 1 << (block.max(1).ilog2() / 2);
    let dim = match name {
        "matmul-tile" => CubeDim::new_2d(side as u32, side as u32),
        _ => CubeDim::new_1d(block as u32),
    };
    let settings = KernelSettings::new(*dim, ExecutionMode::Checked, AddressType::U32);
    let (p, t) = (properties(), Arc::new(TargetProperties::default()));
    let b = buffer;
    match name {
        "vector-add" => {
            Box::new(kernels::vector_add::VectorAdd::new(settings, p, t, b(), b(), b(), width))
        }
        "relu" => Box::new(kernels::relu::Relu::new(settings, p, t, b(), b(), width)),
        "saxpy" => Box::new(kernels::saxpy::Saxpy::new(settings, p, t, b(), b(), (), width)),
        "window-sum" => {
            Box::new(kernels::window_sum::WindowSum::new(settings, p, t, b(), b(), block, 2))
        }
        "matmul-tile" => {
            Box::new(kernels::matmul_tile::MatmulTile::new(settings, p, t, b(), b(), b(), (), side))
        }
        _ => Box::new(kernels::softmax_row::SoftmaxRow::new(settings, p, t, b(), b(), (), block)),
    }
}
