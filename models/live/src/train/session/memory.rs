//! The memory that training takes.

use mlsys_nn::nets::Architecture;

/// The parameters of lab `train` that bear on it.
pub(super) fn smaller(architecture: &Architecture) -> &'static str {
    match architecture {
        Architecture::Mlp(_) | Architecture::Cnn(_) | Architecture::Filters(_) => {
            "width, depth or batch_size"
        }
        Architecture::Transformer(_) => "width, depth, context or batch_size",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::lab;
    use crate::train::setup::{Setup, read_knobs};
    use mlsys_lab::{Lab, Params, Settings, Tables};
    use mlsys_nn::train::{Knobs, training_bytes};

    fn read(settings: &[&str]) -> (Setup, Knobs) {
        let train = lab().unwrap();
        let settings = Settings::from_pairs(settings.iter().copied()).unwrap();
        let params = Params::resolve(train.schema(), &settings, Tables::builtin(), None).unwrap();
        (Setup::read(&params).unwrap(), read_knobs(&params).unwrap())
    }

    #[test]
    fn a_perceptron_takes_six_times_its_weights() {
        let (setup, knobs) = read(&["width=4096", "depth=32", "dataset=digits"]);
        // 31 x 4096² weights and six copies of them, 4 bytes each, come to 12.5 GB.
        let needed = training_bytes(&setup.architecture, setup.activations, &knobs);
        assert!((12.5e9..12.7e9).contains(&(needed as f64)), "{needed}");
    }

    /// What a transformer takes by these settings, in GB.
    fn needed(more: &[&str]) -> f64 {
        let settings = ["dataset=chain", "model=transformer", "batch_size=4096"];
        let (setup, knobs) = read(&[&settings, more].concat());
        assert_eq!(smaller(&setup.architecture), "width, depth, context or batch_size");
        training_bytes(&setup.architecture, setup.activations, &knobs) as f64 / 1e9
    }

    #[test]
    fn a_transformer_pays_for_the_square_of_its_context() {
        // 2 blocks of 4 heads keep 4096 x 1024 x 1024 weights of attention each, twice over: 275 GB besides the rest.
        let (short, long) = (needed(&["context=512"]), needed(&["context=1024"]));
        assert!(long > 275.0 && long > 2.5 * short, "{short} {long}");
    }

    #[test]
    fn blocks_that_run_again_take_little_more_than_one() {
        let again = ["recompute=true", "recompute_unit=blocks"];
        let of = |depth: &str, more: &[&str]| needed(&[&["context=512", depth], more].concat());
        let (all, one) = (of("depth=16", &[]), of("depth=1", &[]));
        let blocks = of("depth=16", &again);
        assert!(all > 10.0 * one && blocks < 1.5 * one && blocks > one, "{all} {blocks} {one}");
    }
}
