//! `mlsys lab`: one lab run or explained.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Listing, Machine};

/// Runs or explains labs.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
Examples:
  mlsys lab list
  mlsys lab show train
  mlsys lab check my-lab.toml
  mlsys lab train --preset diverging
  mlsys lab train --set optimizer=sgd --set learning_rate=0.1 --seed 7
  mlsys lab train --preset chain --save-weights chain.safetensors
  mlsys lab graph --set expression=@formula.txt --json

A value is TOML; text and the names of an enum stand as typed. A value that begins with @ is the content of the
file of that name; @@ stands for one @. With --json, one object is printed and nothing else. On a terminal, without
--json, the lab opens in the workbench.")]
pub struct Lab {
    #[command(subcommand)]
    pub about: Option<AboutLabs>,
    /// The lab's kind, as `mlsys lab list` shows it
    #[arg(required = true)]
    pub kind: Option<String>,
    /// Begin with the lab's preset of this name, as `mlsys lab show KIND` lists them
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Give a parameter a value, over the preset's; may be given again
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Read data files, such as MNIST's, from this folder
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
    /// Start from the weights in this file, .bpk or .safetensors, instead of random ones
    #[arg(long, value_name = "FILE")]
    pub load_weights: Option<PathBuf>,
    /// Write the weights to this file at the end: .bpk to go on with, .safetensors for other programs and labs
    #[arg(long, value_name = "FILE")]
    pub save_weights: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub machine: Machine,
}

/// What can be asked about labs.
#[derive(Debug, Subcommand)]
pub enum AboutLabs {
    /// Check files of labs that are data: every mistake at once, and a run with the defaults and each preset
    Check {
        /// The files, such as labs/my-lab.toml of a course
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// List all labs
    List(Listing),
    /// Describe a lab: parameters, metrics, formula, source
    Show {
        /// The lab's kind
        kind: String,
        #[command(flatten)]
        listing: Listing,
    },
}
