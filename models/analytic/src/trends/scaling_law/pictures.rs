//! What the lab draws: loss against compute, the split of one budget, and the calculation written out.

use mlsys_lab::Frame;
use mlsys_lab::frame::{Dimension, Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::{number, significant};

use super::{FLOPS, Law, Model};
use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, percent};

/// Sizes of the curves of fixed size, over the size that is set.
const SIZES: [f64; 4] = [0.01, 0.1, 1.0, 10.0];

/// Places of a drawn curve.
const PLACES: usize = 48;

/// Places from `low` to `high` whose equal steps multiply.
fn spread(low: f64, high: f64) -> impl Iterator<Item = f64> {
    let ratio = (high / low).ln();
    (0..=PLACES).map(move |place| low * (ratio * place as f64 / PLACES as f64).exp())
}

fn axis(name: &str, unit: &str, scale: Scale) -> Dimension {
    Dimension { name: name.to_owned(), unit: unit.to_owned(), scale, ..Dimension::default() }
}

fn line(name: impl Into<String>, points: impl Iterator<Item = (f64, f64)>) -> ScatterLine {
    let finite = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite() && *x > 0.0;
    ScatterLine { name: name.into(), points: points.filter(finite).collect() }
}

fn point(label: &str, (x, y): (f64, f64), series: usize) -> ScatterPoint {
    ScatterPoint { x: Some(x), y: Some(y), label: label.to_owned(), series }
}

/// A count of parameters as it stands in a model's name, such as `70B`.
fn size(parameters: f64) -> String {
    let [(unit, letter), ..] = [(1e12, "T"), (1e9, "B"), (1e6, "M"), (1.0, "")]
        .into_iter()
        .filter(|(unit, _)| parameters >= *unit)
        .collect::<Vec<_>>()[..]
    else {
        return number(significant(parameters, 2));
    };
    format!("{}{letter}", number(significant(parameters / unit, 3)))
}

impl Law {
    /// Loss against compute: each curve a model that sees more and more tokens, all above the line of best splits.
    pub(super) fn frontier(&self, model: &Model, budget: f64) -> Frame {
        let own = model.flops();
        let (low, high) = (own.min(budget) / 1e4, own.max(budget) * 1e2);
        let best = |flops: f64| (flops, self.loss(&self.best(flops)));
        let (bottom, top) = (best(high).1, best(low).1);
        // A small model on any budget ends at its own floor; what lies above the picture's top is left out.
        let top = bottom + 1.3 * (top - bottom);
        let fixed = |factor: f64| {
            let parameters = factor * model.parameters;
            let at = move |flops: f64| {
                let tokens = flops / (FLOPS * parameters);
                (flops, self.loss(&Model { parameters, tokens }))
            };
            let curve = spread(low, high).map(at).filter(move |(_, loss)| *loss <= top);
            line(size(parameters), curve)
        };
        let mut lines = vec![line("compute-optimal", spread(low, high).map(best))];
        lines.extend(SIZES.map(fixed).into_iter().filter(|l| l.points.len() > 1));
        Frame::Scatter(Scatter {
            x: axis("compute", "FLOPs", Scale::Log),
            y: axis("loss", "nats a token", Scale::Linear),
            series: vec!["this model".to_owned(), "best split".to_owned()],
            points: vec![
                point("this model", (own, self.loss(model)), 0),
                point("best split", best(budget), 1),
            ],
            lines,
        })
    }

    /// One budget split in every way: a valley, flat at its ground.
    pub(super) fn split(&self, model: &Model, budget: f64) -> Frame {
        let best = self.best(budget);
        let at = |parameters: f64| {
            let tokens = budget / (FLOPS * parameters);
            (parameters, self.loss(&Model { parameters, tokens }))
        };
        let mut points = vec![point("best split", at(best.parameters), 1)];
        let (mut low, mut high) = (best.parameters / 40.0, best.parameters * 40.0);
        if (model.flops() / budget - 1.0).abs() < 1e-9 {
            points.insert(0, point("this model", at(model.parameters), 0));
            (low, high) = (low.min(model.parameters), high.max(model.parameters));
        }
        let twenty = (budget / (FLOPS * 20.0)).sqrt();
        if (low..=high).contains(&twenty) {
            points.push(point("20 tokens a parameter", at(twenty), 2));
        }
        Frame::Scatter(Scatter {
            x: axis("size", "parameters", Scale::Log),
            y: axis("loss", "nats a token", Scale::Linear),
            series: ["this model", "best split", "rule of thumb"].map(str::to_owned).to_vec(),
            points,
            lines: vec![line(
                format!("{} FLOPs", number(significant(budget, 3))),
                spread(low, high).map(at),
            )],
        })
    }

    /// The three terms of the loss, of this model and of the best one for the budget.
    pub(super) fn parts(&self, model: &Model, best: &Model) -> Frame {
        let bars = [("this", model), ("best", best)].map(|(name, model)| {
            let loss = self.loss(model);
            let bar = |what: &str, value: f64| {
                picture::bar(format!("{name}: {what}"), value, percent(value / loss))
            };
            [
                bar("irreducible", self.irreducible),
                bar("for its size", self.for_size(model)),
                bar("for its data", self.for_data(model)),
            ]
        });
        picture::bars("nats a token", bars.into_iter().flatten().collect())
    }

    pub(super) fn budgets(&self, own: f64) -> Frame {
        let mut budgets: Vec<f64> = (18..=27).map(|power| 10_f64.powi(power)).collect();
        if !budgets.contains(&own) {
            budgets.push(own);
            budgets.sort_by(f64::total_cmp);
        }
        let row = |flops: f64| {
            let best = self.best(flops);
            let this = if flops == own { "this budget" } else { "" };
            [
                flops.into(),
                best.parameters.into(),
                best.tokens.into(),
                (best.tokens / best.parameters).into(),
                self.loss(&best).into(),
                this.into(),
            ]
        };
        picture::table(
            ["FLOPs", "parameters", "tokens", "tokens a parameter", "loss", ""],
            budgets.into_iter().map(row).collect(),
        )
    }

    pub(super) fn steps(&self, model: &Model, budget: f64) -> Frame {
        let mut steps = Steps::default();
        let (n, d) = (number(model.parameters), number(model.tokens));
        let (a, b) = (number(self.a), number(self.b));
        let (alpha, beta) = (number(self.alpha), number(self.beta));
        let for_size = self.for_size(model);
        steps.add("for its size", "A/N^alpha", format!("{a}/{n}^{alpha}"), for_size);
        let for_data = self.for_data(model);
        steps.add("for its data", "B/D^beta", format!("{b}/{d}^{beta}"), for_data);
        let e = number(self.irreducible);
        let numbers = format!("{e} + {} + {}", number(for_size), number(for_data));
        steps.add("loss", "E + A/N^alpha + B/D^beta", numbers, self.loss(model));
        let ratio = model.tokens / model.parameters;
        steps.add("tokens_per_parameter", "D/N", format!("{d}/{n}"), ratio);
        let own = model.flops();
        if budget == own {
            steps.add("flops", "6ND", format!("6*{n}*{d}"), own);
        } else {
            steps.add("flops", "as given", "", budget);
        }
        let c = number(budget);
        let g = self.g();
        steps.add(
            "G",
            "(alpha*A/(beta*B))^(1/(alpha + beta))",
            format!("({alpha}*{a}/({beta}*{b}))^(1/({alpha} + {beta}))"),
            g,
        );
        let best = self.best(budget);
        steps.add(
            "optimal_parameters",
            "G*(C/6)^(beta/(alpha + beta))",
            format!("{}*({c}/6)^({beta}/({alpha} + {beta}))", number(g)),
            best.parameters,
        );
        let numbers = format!("{c}/(6*{})", number(best.parameters));
        steps.add("optimal_tokens", "C/(6N)", numbers, best.tokens);
        let numbers =
            format!("{e} + {} + {}", number(self.for_size(&best)), number(self.for_data(&best)));
        steps.add("optimal_loss", "loss at the optimum", numbers, self.loss(&best));
        steps.table()
    }
}
