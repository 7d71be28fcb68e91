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

mod roof;
mod stepped;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod trial;

use mlsys_lab::Lab;
use mlsys_lab::schema::SchemaError;

/// The labs of this crate, in the order of the course.
pub fn labs() -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    Ok(vec![
        Box::new(train::Train::new()?),
        Box::new(distill::Distill::new()?),
        Box::new(mixed_precision::MixedPrecision::new()?),
        Box::new(quantize_model::QuantizeModel::new()?),
        Box::new(capture::Capture::new()?),
        Box::new(device_peak::DevicePeak::new()?),
        Box::new(matmul_bench::MatmulBench::new()?),
        Box::new(train_data_parallel::TrainDataParallel::new()?),
        Box::new(train_pipeline_parallel::TrainPipelineParallel::new()?),
        Box::new(train_tensor_parallel::TrainTensorParallel::new()?),
        Box::new(generate::Generate::new()?),
        Box::new(conv_factorize::ConvFactorize::new()?),
        Box::new(architecture_search::ArchitectureSearch::new()?),
        Box::new(prune_model::PruneModel::new()?),
        Box::new(low_rank_adapt::LowRankAdapt::new()?),
        Box::new(attention::Attention::new()?),
    ])
}
