//! Kind `online-softmax`: maximum and sum of a softmax block by block.

use mlsys_lab::value::number;
use mlsys_lab::{LabError, Params, Run, Value};
use mlsys_sim::inference::RunningSoftmax;

use crate::closed_form::Simulated;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let blocks = blocks(&run.params)?;
    let mut pass = RunningSoftmax::NOTHING;
    let rows: Vec<[Value; 6]> = blocks
        .iter()
        .enumerate()
        .map(|(at, block)| {
            pass = pass.after(block);
            let scores: Vec<String> = block.iter().map(|x| number(*x)).collect();
            let added: f64 = block.iter().map(|x| (x - pass.most).exp()).sum();
            let [most, correction, added, sum] =
                [pass.most, pass.correction, added, pass.sum].map(Value::Float);
            [Value::Int(at as i64), scores.join("  ").into(), most, correction, added, sum]
        })
        .collect();
    if rows.is_empty() {
        let message = "blocks is empty; give at least one block of scores";
        return Err(LabError::contradiction(["blocks"], message));
    }
    let share = |x: &f64| (x - pass.most).exp() / pass.sum;
    let shares = blocks.iter().enumerate().flat_map(|(at, block)| {
        block.iter().map(move |x| [Value::Int(at as i64), (*x).into(), share(x).into()])
    });
    let mut values = Simulated::default();
    values.list("running_max", rows.iter().map(|row| row[2].clone()));
    values.list("running_sum", rows.iter().map(|row| row[5].clone()));
    values.set("max", pass.most);
    values.set("sum", pass.sum);
    values.list("probabilities", blocks.iter().flatten().map(share));
    values.records("shares", ["block", "score", "share"], shares);
    values.records("rows", ["block", "scores", "most", "correction", "added", "sum"], rows);
    Ok(values)
}

/// The blocks of scores, none of them empty.
fn blocks(params: &Params) -> Result<Vec<Vec<f64>>, LabError> {
    let wrong = |message: String| LabError::contradiction(["blocks"], message);
    let Some(Value::Array(given)) = params.get("blocks") else {
        let message = "blocks is not set; give blocks of scores such as [[1.0, 2.0], [3.0]]";
        return Err(wrong(message.to_owned()));
    };
    let block = |(at, block): (usize, &Value)| {
        let Value::Array(items) = block else {
            return Err(wrong(format!(
                "block {at} is {block}; a block is a list of scores, such as [1.0, 2.0]"
            )));
        };
        match items.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>() {
            Some(scores) if !scores.is_empty() => Ok(scores),
            Some(_) => Err(wrong(format!("block {at} is empty; a block has at least one score"))),
            None => Err(wrong(format!("block {at} holds something that is no number: {block}"))),
        }
    };
    given.iter().enumerate().map(block).collect()
}
