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

use mlsys_lab::Lab;
use mlsys_lab::schema::SchemaError;

/// The labs of this crate, in the order of the course.
pub fn labs() -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    Ok(vec![
        Box::new(train::lab()?),
        Box::new(distill::lab()?),
        Box::new(mixed_precision::lab()?),
        Box::new(quantize_model::lab()?),
        Box::new(capture::lab()?),
        Box::new(device_peak::lab()?),
        Box::new(matmul_bench::lab()?),
        Box::new(train_data_parallel::lab()?),
        Box::new(train_pipeline_parallel::lab()?),
        Box::new(train_tensor_parallel::lab()?),
        Box::new(generate::lab()?),
        Box::new(conv_factorize::lab()?),
        Box::new(architecture_search::lab()?),
        Box::new(prune_model::lab()?),
        Box::new(low_rank_adapt::lab()?),
        Box::new(attention::lab()?),
    ])
}
