//! Which layer an operation belongs to. burn's record does not say; the places of the parameters do.

use super::table::{Source, StepPhase, Table};

/// The layers of a table, and the one of every node.
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
        let holders: Vec<Vec<String>> = holders(table);
        let mut found: Vec<Option<Vec<String>>> = vec![None; table.nodes.len()];
        let parameter = |tensor: usize| match table.tensors[table.storage(tensor)].source {
            Source::Parameter(index) => Some(index),
            Source::Input
            | Source::Labels
            | Source::Constant
            | Source::Moment
            | Source::Node(_)
            | Source::Inside(_) => None,
        };
        for (index, node) in table.forward() {
            let of = node.inputs.iter().find_map(|&input| parameter(input));
            found[index] = of.map(|parameter| holders[parameter].clone());
            // A mask belongs to every layer that reads it.
            if table.tensors[node.output].source == Source::Constant {
                found[index] = Some(vec!["constants".to_owned()]);
            }
            if node.pass == StepPhase::Loss {
                found[index] = Some(vec!["loss".to_owned()]);
            }
        }
        for (last, whole) in super::saved::parts(table) {
            if let Some(path) = found[last].clone() {
                whole.into_iter().for_each(|node| found[node] = Some(path.clone()));
            }
        }
        let ends = table.forward().count();
        let mut before: Option<Vec<String>> = None;
        let is_constant = |path: &[String]| path[0] == "constants";
        for index in 0..ends {
            if let Some(path) = &found[index] {
                if !is_constant(path) {
                    before = Some(path.clone());
                }
                continue;
            }
            let mut after = found[index..ends].iter().flatten();
            let after = after.find(|path| !is_constant(path));
            found[index] = between(before.as_deref(), after.map(Vec::as_slice));
        }
        backward(table, &mut found);
        let mut layers =
            Self { paths: Vec::new(), of: Vec::new(), parameters: names(table, &holders) };
        for path in found {
            let place = path.map(|path| layers.place(path));
            layers.of.push(place);
        }
        layers
    }

    fn place(&mut self, path: Vec<String>) -> usize {
        let known = self.paths.iter().position(|known| *known == path);
        known.unwrap_or_else(|| {
            self.paths.push(path);
            self.paths.len() - 1
        })
    }
}

/// Every parameter by what holds it and its own name; one that the network holds itself has no other.
fn names(table: &Table, holders: &[Vec<String>]) -> Vec<String> {
    let parameters = table.parameters.iter().zip(holders);
    let name = |(parameter, holder): (&super::record::Parameter, &Vec<String>)| {
        let own = parameter.path.rsplit_once('.').map_or(&*parameter.path, |(_, own)| own);
        let is_own_holder = parameter.path.split('.').count() <= 2;
        let own = if is_own_holder { "weights" } else { own };
        format!("{}.{own}", holder.join("."))
    };
    parameters.map(name).collect()
}

/// What holds each parameter, from the outermost in.
fn holders(table: &Table) -> Vec<Vec<String>> {
    let mut layers: Vec<String> = Vec::new();
    let paths = table.parameters.iter().map(|parameter| {
        // The first word is the kind of the network, the last the parameter itself.
        let words: Vec<&str> = parameter.path.split('.').skip(1).collect();
        let mut holder: Vec<String> = Vec::new();
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
    let mut paths: Vec<Vec<String>> = paths.collect();
    // The layers of networks that are nothing but layers are counted from the input on.
    if !paths.iter().any(|path| path[0].starts_with("block")) {
        for path in &mut paths {
            let known = layers.iter().position(|layer| *layer == path[0]);
            let place = known.unwrap_or_else(|| {
                layers.push(path[0].clone());
                layers.len() - 1
            });
            path[0] = format!("layer{}", place + 1);
        }
    }
    paths
}

/// Where something between two places belongs.
fn between(before: Option<&[String]>, after: Option<&[String]>) -> Option<Vec<String>> {
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
fn backward(table: &Table, found: &mut [Option<Vec<String>>]) {
    let holders = holders(table);
    // The backward pass begins with the loss.
    let mut before = Some(vec!["loss".to_owned()]);
    for (index, node) in table.nodes.iter().enumerate() {
        match node.pass {
            StepPhase::Forward | StepPhase::Loss => continue,
            StepPhase::Update(parameter) => found[index] = holders.get(parameter).cloned(),
            StepPhase::Backward => {
                let mut read = node.inputs.iter().filter_map(|&input| {
                    match table.tensors[table.storage(input)].source {
                        Source::Parameter(parameter) => holders.get(parameter).cloned(),
                        Source::Labels => Some(vec!["loss".to_owned()]),
                        Source::Node(from) | Source::Inside(from)
                            if matches!(
                                table.nodes[from].pass,
                                StepPhase::Forward | StepPhase::Loss
                            ) =>
                        {
                            reader(table, found, index, input).or_else(|| found[from].clone())
                        }
                        Source::Node(_)
                        | Source::Inside(_)
                        | Source::Input
                        | Source::Constant
                        | Source::Moment => None,
                    }
                });
                let path = read.next_back().or_else(|| before.clone());
                before.clone_from(&path);
                found[index] = path;
            }
        }
    }
}

/// The layer of the last forward operation that reads a tensor: a product's backward reads what went into it.
fn reader(
    table: &Table,
    found: &[Option<Vec<String>>],
    backward: usize,
    tensor: usize,
) -> Option<Vec<String>> {
    let product = matches!(
        table.nodes[backward].name.as_str(),
        "matmul" | "swap_dims" | "conv2d_weight_backward" | "linear_weight_backward"
    );
    let storage = table.storage(tensor);
    let readers = table.operations().filter(|(_, node)| {
        let mut inputs = node.inputs.iter();
        inputs.any(|&input| table.storage(input) == storage) && (!product || node.matmul_flops > 0)
    });
    let last = readers.last()?;
    found[last.0].clone()
}
