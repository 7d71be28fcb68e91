//! Which layer an operation belongs to. burn's record does not say; the places of the parameters do.

use super::saved::fused_functions;
use super::table::{Source, StepPhase, Table};

/// The names of a layer and of what it is in, from the outermost in.
type Path = Vec<String>;

pub struct Layers {
    /// Their names from the outermost in, such as `block1`, `attention`; in the order of their first nodes.
    pub paths: Vec<Vec<String>>,
    /// Of every node, its layer as a place in `paths`.
    pub of: Vec<Option<usize>>,
    /// The parameters by layer and name, such as `layer1.weight`.
    pub parameters: Vec<String>,
}

impl Layers {
    /// An operation that reads a parameter belongs where the network holds that parameter. What lies between two such
    /// operations belongs to what holds both, or, where nothing but the network does, to the first.
    pub fn new(table: &Table) -> Self {
        let holders = holders(table);
        let mut found: Vec<Option<Path>> = vec![None; table.nodes.len()];
        for (index, node) in table.forward() {
            found[index] = if node.pass == StepPhase::Loss {
                Some(vec!["loss".to_owned()])
            } else if table.tensors[node.output].source == Source::Constant {
                // A mask belongs to every layer that reads it.
                Some(vec!["constants".to_owned()])
            } else {
                let parameter = node.inputs.iter().find_map(|&input| parameter(table, input));
                parameter.map(|parameter| holders[parameter].clone())
            };
        }
        for whole in fused_functions(table) {
            if let Some(path) = found[whole.last].clone() {
                whole.nodes.into_iter().for_each(|node| found[node] = Some(path.clone()));
            }
        }
        let end = table.forward().count();
        let mut before: Option<Path> = None;
        let is_constant = |path: &[String]| path[0] == "constants";
        for index in 0..end {
            match &found[index] {
                Some(path) if is_constant(path) => {}
                Some(path) => before = Some(path.clone()),
                None => {
                    let mut after = found[index..end].iter().flatten();
                    let after = after.find(|path| !is_constant(path));
                    found[index] = between(before.as_deref(), after.map(Vec::as_slice));
                }
            }
        }
        backward(table, &holders, &mut found);
        let parameters = names(table, &holders);
        let mut paths: Vec<Path> = Vec::new();
        let of = found.into_iter().map(|path| path.map(|path| place(&mut paths, path))).collect();
        Self { paths, of, parameters }
    }
}

fn parameter(table: &Table, tensor: usize) -> Option<usize> {
    let Source::Parameter(index) = table.tensors[table.storage(tensor)].source else { return None };
    Some(index)
}

/// Where a list has an item, at its end if it is new.
fn place<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    let known = list.iter().position(|known| *known == item);
    known.unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}

/// Every parameter by what holds it and its own name; one that the network holds itself has no other.
fn names(table: &Table, holders: &[Path]) -> Vec<String> {
    let names = table.parameters.iter().zip(holders).map(|(parameter, holder)| {
        let words: Vec<&str> = parameter.path.split('.').collect();
        let own = if words.len() <= 2 { "weights" } else { words[words.len() - 1] };
        format!("{}.{own}", holder.join("."))
    });
    names.collect()
}

/// What holds each parameter, from the outermost in.
fn holders(table: &Table) -> Vec<Path> {
    let paths = table.parameters.iter().map(|parameter| {
        // The first word is the kind of the network, the last the parameter itself.
        let words: Vec<&str> = parameter.path.split('.').skip(1).collect();
        let mut holder = Path::new();
        for word in &words[..words.len().saturating_sub(1)] {
            match (word.parse::<usize>(), holder.last_mut()) {
                (Ok(number), Some(list)) => {
                    let one = list.strip_suffix('s').unwrap_or(list);
                    *list = format!("{one}{}", number + 1);
                }
                (_, _) => holder.push((*word).to_owned()),
            }
        }
        if holder.is_empty() {
            holder.extend(words.last().map(|word| (*word).to_owned()));
        }
        holder
    });
    let mut paths: Vec<Path> = paths.collect();
    // The layers of networks that are nothing but layers are counted from the input on.
    if !paths.iter().any(|path| path[0].starts_with("block")) {
        let mut layers = Vec::new();
        for path in &mut paths {
            path[0] = format!("layer{}", place(&mut layers, path[0].clone()) + 1);
        }
    }
    paths
}

fn between(before: Option<&[String]>, after: Option<&[String]>) -> Option<Path> {
    match (before, after) {
        (Some(before), Some(after)) => {
            let common = before.iter().zip(after).take_while(|(a, b)| a == b).count();
            Some(before[..common.max(1)].to_vec())
        }
        (Some(path), None) | (None, Some(path)) => Some(path[..1].to_vec()),
        (None, None) => None,
    }
}

/// A backward operation belongs to the layer of the forward tensor that it reads; one that reads none, to the layer
/// before it. An update belongs to its parameter's layer.
fn backward(table: &Table, holders: &[Path], found: &mut [Option<Path>]) {
    // The backward pass begins with the loss.
    let loss = Some(vec!["loss".to_owned()]);
    let mut before = loss.clone();
    for (index, node) in table.nodes.iter().enumerate() {
        match node.pass {
            StepPhase::Forward | StepPhase::Loss => {}
            StepPhase::Update(parameter) => found[index] = holders.get(parameter).cloned(),
            StepPhase::Backward => {
                let layer_read = |&input: &usize| match table.tensors[table.storage(input)].source {
                    Source::Parameter(parameter) => holders.get(parameter).cloned(),
                    Source::Labels => loss.clone(),
                    Source::Node(from) | Source::Inside(from) => {
                        let is_forward = table.nodes[from].pass.is_forward();
                        let layer = || reader(table, found, index, input);
                        is_forward.then(|| layer().or_else(|| found[from].clone())).flatten()
                    }
                    Source::Input | Source::Constant | Source::Moment => None,
                };
                let read = node.inputs.iter().rev().find_map(layer_read);
                before = read.or(before);
                found[index].clone_from(&before);
            }
        }
    }
}

/// The layer of the last forward operation that reads a tensor: a product's backward reads what went into it.
fn reader(table: &Table, found: &[Option<Path>], backward: usize, tensor: usize) -> Option<Path> {
    let is_product = matches!(
        table.nodes[backward].name.as_str(),
        "matmul" | "swap_dims" | "conv2d_weight_backward"
    );
    let storage = table.storage(tensor);
    let readers = table.operations().filter(|(_, node)| {
        let reads = node.inputs.iter().any(|&input| table.storage(input) == storage);
        reads && (!is_product || node.matmul_flops > 0)
    });
    found[readers.last()?.0].clone()
}
