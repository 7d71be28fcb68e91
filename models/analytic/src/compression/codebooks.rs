//! Kinds `nf4` and `kmeans-quantize`: weights stored as codes of a book, sixteen levels of a normal distribution or the
//! centroids of their own clusters.

use mlsys_lab::frame::{Distribution, Histogram, Level};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, LabError, Run, Value, picture};
use mlsys_sim::quantizer::{Codebook, Listed, cluster_sums, nf4_levels};

use crate::closed_form::Simulated;
use crate::compression::nested::Nested;

/// Values in blocks, each divided by its largest and rounded to the nearest level of 4-bit NormalFloat.
pub(crate) fn nf4(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let given = Nested::read(&run.params, "values")?;
    let levels = nf4_levels()?;
    let (mut scales, mut codes, mut back) = (Vec::new(), Vec::new(), Vec::new());
    let mut rows: Vec<[Value; 6]> = Vec::new();
    for block in given.flat.chunks(run.params.size("block_size")?.max(1)) {
        let scale = block.iter().map(|x| x.abs()).fold(0.0, f64::max);
        let scaled = Listed::nf4(scale);
        scales.push(scale);
        for value in block {
            let code = scaled.code(*value);
            let (level, near) = (number(levels[code]), scaled.value(code));
            let error = near - value;
            rows.push([
                (*value).into(),
                scale.into(),
                Value::Int(code as i64),
                level.into(),
                near.into(),
                error.into(),
            ]);
            codes.push(code);
            back.push(near);
        }
    }
    let errors = given.flat.iter().zip(&back).map(|(x, y)| (y - x) * (y - x));
    let mean = errors.sum::<f64>() / given.flat.len() as f64;
    let mut values = Simulated::default();
    picture::offer(run, "levels", || counts(&codes, &levels));
    values.list("levels", levels);
    values.list("scales", scales);
    values.set("codes", given.like(codes.iter().map(|code| *code as i64)));
    values.set("dequantized", given.like(back));
    values.records("rows", ["value", "scale", "code", "level", "back", "error"], rows);
    values.set("mean_squared_error", mean);
    Ok(values)
}

fn counts(codes: &[usize], levels: &[f64]) -> Frame {
    let mut counts = vec![0_u64; levels.len()];
    for code in codes {
        counts[*code] += 1;
    }
    // Between two levels lies the edge at which the nearer one changes; no value lies beyond the outer levels.
    let mut edges = vec![-1.0];
    edges.extend(levels.windows(2).map(|pair| f64::midpoint(pair[0], pair[1])));
    edges.push(1.0);
    Frame::Histogram(Histogram {
        quantity: "value / largest of its block".to_owned(),
        edges,
        first: Distribution { name: "values".to_owned(), counts },
        marked: "levels".to_owned(),
        levels: levels.iter().map(|at| Level { at: *at, label: String::new() }).collect(),
        ..Histogram::default()
    })
}

/// Weights that share cluster centroids (Deep Compression), and a step of these along their summed gradients.
pub(crate) fn kmeans(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let params = &run.params;
    let weights = Nested::read(params, "weights")?;
    let start = match Nested::optional(params, "centroids")? {
        Some(given) => given.flat,
        // As many as asked for, spread evenly from the least weight to the greatest.
        None => Codebook::spread(&weights.flat, params.size("clusters")?),
    };
    let codebook = Codebook::fit(&weights.flat, start, params.size("iterations")?);
    let Codebook { centroids, indices } = &codebook;
    let mut values = Simulated::default();
    values.list("centroids", centroids.iter().copied());
    values.set("indices", weights.like(indices.iter().map(|i| *i as i64)));
    values.set("index_bits", i64::from(codebook.index_bits()));
    values.set("weight_count", weights.flat.len() as i64);
    let errors = weights.flat.iter().zip(indices).map(|(weight, index)| centroids[*index] - weight);
    let mean = errors.map(|error| error * error).sum::<f64>() / weights.flat.len() as f64;
    values.set("mean_squared_error", mean);
    let mut gradients = Vec::new();
    if let Some(given) = Nested::optional(params, "gradients")? {
        if !given.alike(&weights) {
            let message =
                "gradients has another shape than weights; give one gradient for each weight";
            return Err(LabError::contradiction(["gradients", "weights"], message));
        }
        gradients = cluster_sums(&given.flat, indices, centroids.len());
        values.list("centroid_gradients", gradients.iter().copied());
    }
    let clusters = (0..centroids.len()).map(|cluster| {
        let own = weights.flat.iter().zip(indices).filter(|(_, index)| **index == cluster);
        let names: Vec<String> = own.clone().map(|(weight, _)| number(*weight)).take(9).collect();
        let names = match names.len() {
            0 => "no weight".to_owned(),
            9 => format!("{}, ...", names[..8].join(", ")),
            _ => names.join(", "),
        };
        let gradient = gradients.get(cluster).copied().map_or("".into(), Value::Float);
        let count = own.clone().count();
        // Where the next iteration moves it: nowhere without weights.
        let next = match count {
            0 => centroids[cluster],
            _ => own.map(|(weight, _)| weight).sum::<f64>() / count as f64,
        };
        [
            Value::Int(cluster as i64),
            centroids[cluster].into(),
            Value::Int(count as i64),
            names.into(),
            gradient,
            next.into(),
        ]
    });
    values.records("rows", ["c", "centroid", "count", "names", "gradient", "next"], clusters);
    let texts = [
        decimals(&weights.flat),
        indices.iter().map(usize::to_string).collect(),
        decimals(&indices.iter().map(|i| centroids[*i]).collect::<Vec<_>>()),
    ];
    let columns = texts.map(padded);
    let mut at = 0;
    let rows = weights.rows().into_iter().map(|length| {
        let own = at..at + length;
        at += length;
        columns.each_ref().map(|column| Value::from(column[own.clone()].join(" ")))
    });
    values.records("matrix", ["weights", "indices", "back"], rows);
    Ok(values)
}

/// Numbers with as many digits after the point as the one that needs most, at most four.
fn decimals(numbers: &[f64]) -> Vec<String> {
    // The sum turns -0 into 0.
    let rounded: Vec<f64> = numbers.iter().map(|x| (1e4 * x).round() / 1e4 + 0.0).collect();
    let needed = |x: &f64| x.to_string().split_once('.').map_or(0, |(_, digits)| digits.len());
    let digits = rounded.iter().map(needed).max().unwrap_or(0);
    rounded.iter().map(|x| format!("{x:.digits$}")).collect()
}

/// Texts as wide as the widest, so that those of one column stand under each other.
fn padded(texts: Vec<String>) -> Vec<String> {
    let wide = texts.iter().map(String::len).max().unwrap_or(0);
    texts.into_iter().map(|text| format!("{text:>wide$}")).collect()
}
