//! Kind `kmeans-quantize`: weights that share the centroids of their clusters, as in Deep Compression.

use mlsys_lab::value::number;
use mlsys_lab::{Frame, LabError, Params, Run, Value};

use crate::closed_form::Values;
use crate::compression::nested::Nested;
use mlsys_lab::picture;
use mlsys_lab::steps::Steps;
use mlsys_sim::quantizer::{Codebook, cluster_sums};

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let weights = Nested::read(&run.params, "weights")?;
    let clustered = Clustered::fit(&run.params, &weights.flat)?;
    let codebook = &clustered.codebook;
    let (n, k) = (weights.flat.len(), codebook.centroids.len());
    let bits = i64::from(codebook.index_bits());
    let element = run.params.int("element_bits")? as f64;
    let ratio = n as f64 * element / (n as f64 * bits as f64 + k as f64 * element);
    let floats = |list: &[f64]| Value::Array(list.iter().copied().map(Value::Float).collect());
    values.set("centroids", floats(&codebook.centroids));
    values.set("indices", weights.like(codebook.indices.iter().map(|i| *i as i64)));
    let error = clustered.error(&weights.flat);
    values.finite("mean_squared_error", error, || "these weights".to_owned())?;
    values.set("index_bits", bits);
    values.set("compression_ratio", ratio);
    let tuned = clustered.tuned(&run.params, &weights)?;
    if let Some(tuned) = &tuned {
        values.set("centroid_gradients", floats(&tuned.gradients));
        values.set("updated_centroids", floats(&tuned.centroids));
    }
    picture::offer(run, "clusters", || clustered.clusters(&weights.flat));
    picture::offer(run, "matrix", || clustered.matrix(&weights));
    picture::offer(run, "update", || {
        let mut steps = Steps::default();
        steps.add("index_bits", "ceil(log2 k)", format!("ceil(log2 {k})"), bits);
        steps.add(
            "compression_ratio",
            "n*element_bits/(n*index_bits + k*element_bits)",
            format!("{n}*{element}/({n}*{bits} + {k}*{element})"),
            ratio,
        );
        for (c, centroid) in codebook.centroids.iter().enumerate() {
            let Some(tuned) = &tuned else {
                steps.add(
                    &format!("centroid {c}"),
                    "mean of its weights",
                    clustered.members(c, &weights.flat),
                    *centroid,
                );
                continue;
            };
            steps.add(
                &format!("centroid {c}"),
                "centroid - learning_rate * sum of its gradients",
                format!(
                    "{} - {}*{}",
                    number(*centroid),
                    number(tuned.rate),
                    number(tuned.gradients[c])
                ),
                tuned.centroids[c],
            );
        }
        steps.table()
    });
    Ok(values)
}

/// The weights' clusters, as the pictures show them.
struct Clustered {
    codebook: Codebook,
}

/// A step of the centroids along their gradients.
struct Tuned {
    rate: f64,
    gradients: Vec<f64>,
    centroids: Vec<f64>,
}

impl Clustered {
    /// From the given centroids, or from as many as asked for, spread evenly from the least weight to the greatest.
    fn fit(params: &Params, weights: &[f64]) -> Result<Self, LabError> {
        let centroids = match Nested::optional(params, "centroids")? {
            Some(given) => given.flat,
            None => Codebook::spread(weights, params.size("clusters")?),
        };
        let codebook = Codebook::fit(weights, centroids, params.size("iterations")?);
        Ok(Self { codebook })
    }

    fn error(&self, weights: &[f64]) -> f64 {
        let squares = weights.iter().zip(&self.codebook.indices).map(|(weight, index)| {
            let error = self.codebook.centroids[*index] - weight;
            error * error
        });
        squares.sum::<f64>() / weights.len() as f64
    }

    fn tuned(&self, params: &Params, weights: &Nested) -> Result<Option<Tuned>, LabError> {
        let Some(given) = Nested::optional(params, "gradients")? else {
            return Ok(None);
        };
        if !given.alike(weights) {
            let message =
                "gradients has another shape than weights; give one gradient for each weight";
            return Err(LabError::contradiction(["gradients", "weights"], message));
        }
        let rate = params.float("learning_rate")?;
        let gradients =
            cluster_sums(&given.flat, &self.codebook.indices, self.codebook.centroids.len());
        let moved = self.codebook.centroids.iter().zip(&gradients).map(|(c, g)| c - rate * g);
        let centroids = moved.collect();
        Ok(Some(Tuned { rate, gradients, centroids }))
    }

    fn members(&self, cluster: usize, weights: &[f64]) -> String {
        let own =
            weights.iter().zip(&self.codebook.indices).filter(|(_, index)| **index == cluster);
        let names: Vec<String> = own.map(|(weight, _)| number(*weight)).take(9).collect();
        match names.len() {
            0 => "no weight".to_owned(),
            9 => format!("{}, ...", names[..8].join(", ")),
            _ => names.join(", "),
        }
    }

    fn clusters(&self, weights: &[f64]) -> Frame {
        let mut rows: Vec<[Value; 4]> = Vec::new();
        for (c, centroid) in self.codebook.centroids.iter().enumerate() {
            let count = self.codebook.indices.iter().filter(|index| **index == c).count();
            rows.push([
                Value::Int(c as i64),
                Value::Float(*centroid),
                Value::Int(count as i64),
                Value::from(self.members(c, weights)),
            ]);
        }
        picture::table(["index", "centroid", "weights", "which"], rows)
    }

    fn matrix(&self, weights: &Nested) -> Frame {
        let mut rows: Vec<[Value; 3]> = Vec::new();
        let mut at = 0;
        let join = |parts: Vec<String>| Value::from(parts.join(" "));
        for length in weights.rows() {
            let part = at..at + length;
            rows.push([
                join(weights.flat[part.clone()].iter().map(|x| number(*x)).collect()),
                join(self.codebook.indices[part.clone()].iter().map(usize::to_string).collect()),
                join(
                    self.codebook.indices[part]
                        .iter()
                        .map(|i| number(self.codebook.centroids[*i]))
                        .collect(),
                ),
            ]);
            at += length;
        }
        picture::table(["weights", "indices", "come back as"], rows)
    }
}
