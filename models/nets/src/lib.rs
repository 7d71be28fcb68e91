//! Networks, data sets and the labs that train them, on the CPU or on a GPU.
//!
//! Only [`device`] knows which back end computes; everything else is written against burn's tensors.
//! All randomness comes from one generator of our own on the host, never from a back end.

pub mod architecture_search;
pub mod attention;
pub mod bare;
pub(crate) mod baseline;
pub mod capture;
mod cases;
pub mod conv_factorize;
pub mod data;
pub mod data_parallel;
pub mod device;
pub mod distill;
mod divergence;
pub mod expression;
pub mod generate;
mod live;
pub mod lora;
pub mod mixed;
pub mod nets;
pub(crate) mod parallel;
pub mod peak;
pub mod pipeline_parallel;
pub mod products;
pub mod prune;
pub mod quantize_model;
mod random;
mod roof;
pub mod tensor_parallel;
mod timing;
pub mod train;
#[cfg(test)]
mod trial;
pub mod weights;

use mlsys_lab::Lab;
use mlsys_lab::schema::SchemaError;

/// The version of burn that the networks run on, for records of runs.
pub const BURN: &str = "0.22.1";

/// The labs of this crate, in the order of the course.
pub fn labs() -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    Ok(vec![
        Box::new(train::Train::new()?),
        Box::new(distill::Distill::new()?),
        Box::new(mixed::MixedPrecision::new()?),
        Box::new(quantize_model::QuantizeModel::new()?),
        Box::new(capture::Capture::new()?),
        Box::new(peak::DevicePeak::new()?),
        Box::new(products::MatmulBench::new()?),
        Box::new(data_parallel::TrainDataParallel::new()?),
        Box::new(pipeline_parallel::TrainPipelineParallel::new()?),
        Box::new(tensor_parallel::TrainTensorParallel::new()?),
        Box::new(generate::Generate::new()?),
        Box::new(conv_factorize::ConvFactorize::new()?),
        Box::new(architecture_search::ArchitectureSearch::new()?),
        Box::new(prune::PruneModel::new()?),
        Box::new(lora::LowRankAdapt::new()?),
        Box::new(attention::Attention::new()?),
    ])
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_of_burn_is_the_one_the_workspace_asks_for() {
        let workspace = include_str!("../../../Cargo.toml");
        let pin = format!("burn = {{ version = \"={}\"", super::BURN);
        assert!(workspace.contains(&pin), "Cargo.toml does not say {pin}");
    }
}
