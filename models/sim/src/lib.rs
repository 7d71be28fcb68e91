//! Simulators and models of machines that instant labs and live runs share: collectives, pipelines, networks, number
//! formats, quantizers, pruning masks, computation graphs. Pure functions: no I/O, no threads, no back end.

pub mod collective;
pub mod formats;
pub mod graph;
pub mod inference;
pub mod integer;
pub mod lowering;
pub mod memory;
pub mod model_config;
pub mod network;
pub mod pattern;
pub mod pipeline;
pub mod power_law;
pub mod pruning;
pub mod quantizer;
pub mod roof;
pub mod slices;
pub mod transformer;
