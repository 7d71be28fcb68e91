//! The parts against the whole, and the closed forms of the papers.

use mlsys_lab::{Settings, Tables};

use super::*;

fn iteration(set: &[&str]) -> Iteration {
    let settings = Settings::from_pairs(set.iter().copied()).unwrap();
    let lab = TransformerFlops::new().unwrap();
    let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None).unwrap();
    Iteration::read(&params).unwrap()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs()
}

#[test]
fn the_products_sum_to_the_forward_pass() {
    for set in
        [&[][..], &["model=llama-3-70b", "sequence=8192", "batch=3"], &["model=gpt2", "sequence=1"]]
    {
        let iteration = iteration(set);
        let sum: f64 = iteration.products().iter().map(|p| p.flops).sum();
        assert!(close(sum, Flops::of(&iteration).forward), "{set:?}");
    }
}

#[test]
fn a_gpt_agrees_with_the_closed_form_of_the_paper() {
    let (l, h, v, s, b) = (7.0_f64, 96.0_f64, 1000.0, 48.0, 5.0);
    for (recompute, factor, last) in [("none", 72.0, 12.0), ("full", 96.0, 16.0)] {
        let recompute = format!("recompute={recompute}");
        let iteration = iteration(&[
            "layers=7",
            "hidden=96",
            "heads=6",
            "vocab=1000",
            "sequence=48",
            "batch=5",
            &recompute,
        ]);
        let flops = Flops::of(&iteration);
        let paper = factor * b * l * s * h * h * (1.0 + s / (6.0 * h) + v / (last * l * h));
        assert!(close(flops.hardware, paper), "{recompute}");
        assert!(close(flops.attention / flops.weights, s / (6.0 * h)));
    }
}

#[test]
fn short_sequences_cost_6_flops_a_weight_and_token() {
    // Llama 3 8B without its word table, 7,504,924,672 weights that take part in a product.
    let iteration = iteration(&["model=llama-3-8b", "sequence=1"]);
    let ratio = Flops::of(&iteration).model / (6.0 * 7_504_924_672.0);
    assert!((ratio - 1.0).abs() < 1e-4, "{ratio}");
}
