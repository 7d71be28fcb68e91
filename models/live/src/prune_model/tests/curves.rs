//! Bytes against the share removed.

use super::*;
use crate::prune_model::size::Curves;

#[test]
fn bitmap_beats_dense_storage_above_one_over_the_bits() {
    let trained = small(Model::Mlp, 8);
    let body = Body::of(&trained);
    let knobs = knobs(&["value_bits=4", "scope=layer"]);
    let field = Field { body: &body, row: &trained.weights, draws: &[] };
    let curves = Curves::compute(&Cut::none(&body), &field, &knobs);
    let crossing = curves
        .crossings()
        .into_iter()
        .find(|at| (at.smaller, at.larger) == (Format::Bitmap, Format::Dense))
        .unwrap();
    assert!((crossing.sparsity - 0.25).abs() < 0.002, "{crossing:?}");
}

#[test]
fn curves_are_what_choosing_anew_at_each_place_would_give() {
    let trained = small(Model::Cnn, 2);
    let body = Body::of(&trained);
    let none = Cut::none(&body);
    let draws = cut::draws(&body, 1);
    let field = Field { body: &body, row: &trained.weights, draws: &draws };
    for set in [
        &["scope=layer", "value_bits=4"][..],
        &["scope=global", "offset_bits=2"],
        &["method=random", "scope=layer"],
        &["method=random"],
    ] {
        let knobs = knobs(set);
        for (sparsity, size) in Curves::compute(&none, &field, &knobs).points {
            let choice = Choice { sparsity, ..knobs.choice };
            let anew = Size::of(&body, trained.weights.len(), &none.choose(&field, choice), &knobs);
            assert_eq!(size, anew, "{set:?} {sparsity}");
        }
    }
}
