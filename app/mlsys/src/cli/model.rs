//! Options of `mlsys model`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Listing;

#[derive(Debug, Subcommand)]
pub enum Model {
    /// Show what a config.json says: every weight, memory, FLOPs, cache, and the labs that open with it
    Show(ShowModel),
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/model-show.txt"))]
pub struct ShowModel {
    /// The model's config.json, as the Hugging Face hub has it
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Tokens in the context, for attention and cache; without it the longest the file allows, or 2048
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub tokens: Option<u64>,
    #[command(flatten)]
    pub listing: Listing,
}
