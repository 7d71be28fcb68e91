//! Whether a network fits into memory.

use crate::nets::Architecture;
use crate::train::setup::Knobs;

/// Refuses a network that the device's memory cannot hold, before the system ends the program for it.
pub(super) fn must_fit(
    architecture: &Architecture,
    knobs: &Knobs,
    free: u64,
) -> Result<(), String> {
    // Weights, gradients, the first weights and the next ones, besides the optimizer's moments.
    let copies = 4 + knobs.rule.moments();
    let kept = architecture.kept_numbers(knobs.activation, knobs.batch_size as u64);
    let needed = 4 * (copies * architecture.parameters() + 2 * kept);
    if needed <= free {
        return Ok(());
    }
    Err(format!(
        "training this network takes about {:.1} GB, and {:.1} GB are free; make {} smaller",
        needed as f64 / 1e9,
        free as f64 / 1e9,
        match architecture {
            Architecture::Mlp(_) | Architecture::Cnn(_) => "width, depth or batch_size",
            Architecture::Transformer(_) => "width, depth, context or batch_size",
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Train;
    use crate::train::setup::Setup;
    use mlsys_lab::{Lab, Params, Settings, Tables};

    fn read(settings: &[&str]) -> (Setup, Knobs) {
        let train = Train::new().unwrap();
        let settings = Settings::from_pairs(settings.iter().copied()).unwrap();
        let params = Params::resolve(train.schema(), &settings, Tables::builtin(), None).unwrap();
        (Setup::read(&params).unwrap(), Knobs::read(&params).unwrap())
    }

    #[test]
    fn a_network_larger_than_memory_is_refused_with_both_sizes() {
        let (setup, knobs) = read(&["width=4096", "depth=32", "dataset=digits"]);
        // 31 x 4096² weights and six copies of them, 4 bytes each, come to 12.5 GB.
        let message = must_fit(&setup.architecture, &knobs, 8_000_000_000).unwrap_err();
        assert!(
            message.contains("12.6 GB") && message.contains("8.0 GB"),
            "{message}"
        );
        assert_eq!(
            must_fit(&setup.architecture, &knobs, 16_000_000_000),
            Ok(())
        );
    }

    #[test]
    fn a_transformer_pays_for_the_square_of_its_context() {
        let needed = |context: &str| {
            let settings = [
                "dataset=chain",
                "model=transformer",
                "batch_size=4096",
                context,
            ];
            let (setup, knobs) = read(&settings);
            let message = must_fit(&setup.architecture, &knobs, 0).unwrap_err();
            assert!(
                message.ends_with("make width, depth, context or batch_size smaller"),
                "{message}"
            );
            let words = message.split(' ').position(|word| word == "GB,").unwrap();
            message
                .split(' ')
                .nth(words - 1)
                .unwrap()
                .parse::<f64>()
                .unwrap()
        };
        // 2 blocks of 4 heads keep 4096 x 1024 x 1024 weights of attention each, twice over: 275 GB besides the rest.
        let (short, long) = (needed("context=512"), needed("context=1024"));
        assert!(long > 275.0 && long > 2.5 * short, "{short} {long}");
    }
}
