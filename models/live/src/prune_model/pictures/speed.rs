//! What it gains in time: measured here, and modelled where there are units for it.

use mlsys_lab::frame::Table;
use mlsys_lab::{Frame, Value};

use super::Pictured;
use crate::prune_model::hardware::{Bound, Gain, Item, Zeros};
use crate::prune_model::setup::Method;

/// A row for this machine, one for each layer on the chip, and one for all of them.
pub(super) fn draw(of: &Pictured<'_>) -> Frame {
    let mut rows = Vec::new();
    let method = of.knobs.choice.method;
    let why = match method {
        Method::Neurons | Method::Heads => "a smaller network in the same kernels",
        Method::Magnitude | Method::Groups | Method::Random => {
            "the same kernels multiply the zeros as well"
        }
    };
    let measured = "measured here".to_owned();
    rows.push(match of.seconds {
        Some([dense, pruned]) => row(&measured, dense, pruned, why),
        None => vec![
            Value::from(measured),
            Value::from("at the end"),
            Value::from(""),
            Value::from(""),
            Value::from(why),
        ],
    });
    let chip = &of.knobs.chip;
    let products = chip.products(of.body, (of.uses, of.work), of.cut, method);
    for product in &products {
        let bound = match product.bound {
            Bound::Memory => "waits for memory",
            Bound::Arithmetic => "waits for arithmetic",
        };
        let why = match (product.gain, chip.zeros) {
            (Gain::Pattern, _) => "2 of 4: half the multiply-adds, 0.5625 of the weight bytes",
            (Gain::Smaller, _) => "a smaller matrix",
            (Gain::None, Zeros::TwoOfFourSkipped) => "no 2 of 4: zeros are multiplied",
            (Gain::None, Zeros::Multiplied) => "no units for zeros",
        };
        rows.push(row(
            &format!("{} model, {}", chip.short, product.layer),
            product.dense,
            product.pruned,
            &format!("{bound}; {why}"),
        ));
    }
    let dense = products.iter().map(|product| product.dense).sum();
    let pruned = products.iter().map(|product| product.pruned).sum();
    rows.push(row(
        &format!("{} model, all layers", chip.short),
        dense,
        pruned,
        &format!("{} in 16 bits, one product after the other", chip.title),
    ));
    let time = match of.work.of {
        Item::Image => format!("µs for {} images", of.work.items),
        Item::Token => format!("µs for {} tokens", of.work.items),
    };
    let columns = [&time, "dense", "pruned", "gain", "why"];
    Frame::Table(Table { columns: columns.map(str::to_owned).to_vec(), rows, ..Table::default() })
}

fn row(place: &str, dense: f64, pruned: f64, why: &str) -> Vec<Value> {
    // Three digits are all that a clock or a model is good for.
    let micro = |seconds: f64| {
        let micro = seconds * 1e6;
        let digit = 10.0_f64.powf(micro.max(1e-9).log10().floor() - 2.0);
        Value::from((micro / digit).round() * digit)
    };
    vec![
        Value::from(place),
        micro(dense),
        micro(pruned),
        Value::from((100.0 * dense / pruned).round() / 100.0),
        Value::from(why),
    ]
}
