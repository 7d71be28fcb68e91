//! The labs that train or run a network while the learner watches, one folder each, named as its kind.

#[path = "architecture_search/lab.rs"]
pub mod architecture_search;
#[path = "attention/lab.rs"]
pub mod attention;
#[path = "capture/lab.rs"]
pub mod capture;
#[path = "conv_factorize/lab.rs"]
pub mod conv_factorize;
#[path = "device_peak/lab.rs"]
pub mod device_peak;
#[path = "distill/lab.rs"]
pub mod distill;
#[path = "generate/lab.rs"]
pub mod generate;
#[path = "low_rank_adapt/lab.rs"]
pub mod low_rank_adapt;
#[path = "matmul_bench/lab.rs"]
pub mod matmul_bench;
#[path = "mixed_precision/lab.rs"]
pub mod mixed_precision;
#[path = "prune_model/lab.rs"]
pub mod prune_model;
#[path = "quantize_model/lab.rs"]
pub mod quantize_model;
#[path = "scaling_fit/lab.rs"]
pub mod scaling_fit;
#[path = "train/lab.rs"]
pub mod train;
#[path = "train_data_parallel/lab.rs"]
pub mod train_data_parallel;
#[path = "train_pipeline_parallel/lab.rs"]
pub mod train_pipeline_parallel;
#[path = "train_tensor_parallel/lab.rs"]
pub mod train_tensor_parallel;

mod fine_tune;
mod parallel;
mod roof;
mod sampling;
mod sizes;
pub mod stepped;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod trial;

use mlsys_lab::Recipe;

/// The labs of this crate, in the order of the course.
pub fn labs() -> Vec<Recipe> {
    vec![
        Recipe::new("train", train::lab),
        Recipe::new("scaling-fit", scaling_fit::lab),
        Recipe::new("distill", distill::lab),
        Recipe::new("mixed-precision", mixed_precision::lab),
        Recipe::new("quantize-model", quantize_model::lab),
        Recipe::new("capture", capture::lab),
        Recipe::new("device-peak", device_peak::lab),
        Recipe::new("matmul-bench", matmul_bench::lab),
        Recipe::new("train-data-parallel", train_data_parallel::lab),
        Recipe::new("train-pipeline-parallel", train_pipeline_parallel::lab),
        Recipe::new("train-tensor-parallel", train_tensor_parallel::lab),
        Recipe::new("generate", generate::lab),
        Recipe::new("conv-factorize", conv_factorize::lab),
        Recipe::new("architecture-search", architecture_search::lab),
        Recipe::new("prune-model", prune_model::lab),
        Recipe::new("low-rank-adapt", low_rank_adapt::lab),
        Recipe::new("attention", attention::lab),
    ]
}
