//! Kind `online-softmax`: maximum and sum of a softmax block by block.

use mlsys_lab::value::number;
use mlsys_lab::{Frame, LabError, Params, Run, Value};

use crate::closed_form::Values;
use mlsys_lab::picture;
use mlsys_lab::steps::percent;
use mlsys_sim::inference::Pass;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let blocks = blocks(&run.params)?;
    let passes = passes(&blocks);
    let Some(last) = passes.last() else {
        return Err(LabError::contradiction(
            ["blocks"],
            "blocks is empty; give at least one block of scores",
        ));
    };
    let list = |of: fn(&Pass) -> f64| {
        Value::Array(passes.iter().map(|pass| Value::Float(of(pass))).collect())
    };
    values.set("running_max", list(|pass| pass.most));
    values.set("running_sum", list(|pass| pass.sum));
    values.set("max", last.most);
    values.set("sum", last.sum);
    values.set("log_sum_exp", last.most + last.sum.ln());
    let share = |x: &f64| (x - last.most).exp() / last.sum;
    let all = blocks.iter().flatten().map(|x| Value::Float(share(x)));
    values.set("probabilities", Value::Array(all.collect()));
    picture::offer(run, "blocks", || table(&blocks, &passes));
    picture::offer(run, "probabilities", || {
        let mut bars = Vec::new();
        for (at, block) in blocks.iter().enumerate() {
            for x in block {
                let label = format!("block {at}: {}", number(*x));
                bars.push(picture::bar(label, share(x), percent(share(x))));
            }
        }
        picture::bars("probability", bars)
    });
    Ok(values)
}

fn passes(blocks: &[Vec<f64>]) -> Vec<Pass> {
    let mut pass = Pass::NOTHING;
    let after = blocks.iter().map(|block| {
        pass = pass.after(block);
        pass
    });
    after.collect()
}

fn table(blocks: &[Vec<f64>], passes: &[Pass]) -> Frame {
    let row = |(at, (block, pass)): (usize, (&Vec<f64>, &Pass))| {
        let scores: Vec<String> = block.iter().map(|x| number(*x)).collect();
        let added: f64 = block.iter().map(|x| (x - pass.most).exp()).sum();
        [
            Value::Int(at as i64),
            Value::from(scores.join("  ")),
            Value::Float(pass.most),
            Value::Float(pass.correction),
            Value::Float(added),
            Value::Float(pass.sum),
        ]
    };
    let rows = blocks.iter().zip(passes).enumerate().map(row).collect();
    picture::table(
        ["block", "scores", "maximum so far", "sum so far, times", "and added", "sum"],
        rows,
    )
}

/// The blocks of scores, none of them empty.
fn blocks(params: &Params) -> Result<Vec<Vec<f64>>, LabError> {
    let wrong = |message: String| Err(LabError::contradiction(["blocks"], message));
    let Some(Value::Array(given)) = params.get("blocks") else {
        return wrong(
            "blocks is not set; give blocks of scores such as [[1.0, 2.0], [3.0]]".to_owned(),
        );
    };
    let mut blocks = Vec::new();
    for (at, block) in given.iter().enumerate() {
        let Value::Array(items) = block else {
            return wrong(format!(
                "block {at} is {block}; a block is a list of scores, such as [1.0, 2.0]"
            ));
        };
        let scores: Option<Vec<f64>> = items.iter().map(Value::as_f64).collect();
        match scores {
            Some(scores) if !scores.is_empty() => blocks.push(scores),
            Some(_) => {
                return wrong(format!("block {at} is empty; a block has at least one score"));
            }
            None => {
                return wrong(format!("block {at} holds something that is no number: {block}"));
            }
        }
    }
    Ok(blocks)
}
