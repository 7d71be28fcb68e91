//! Kind `scaling-law`: loss from model size and tokens, and the split of a compute budget that minimises it.

mod pictures;

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Lab, LabError, Params, Run};

use mlsys_lab::picture;
use mlsys_lab::steps::finite;

/// The lab `scaling-law`.
pub struct ScalingLaw {
    schema: Schema,
}

impl ScalingLaw {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/scaling-law.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for ScalingLaw {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let law = Law::read(&run.params)?;
        let model = Model {
            parameters: run.params.float("parameters")?,
            tokens: run.params.float("tokens")?,
        };
        let budget = run.params.optional_float("flops");
        let budget = budget.unwrap_or_else(|| model.flops());
        let best = law.best(budget);
        let constants = || {
            format!(
                "coefficients {} and {} with exponents {} and {} have no best split of {} FLOPs",
                number(law.a),
                number(law.b),
                number(law.alpha),
                number(law.beta),
                number(budget)
            )
        };
        finite(run, "loss", law.loss(&model), constants)?;
        let ratio = model.tokens / model.parameters;
        finite(run, "tokens_per_parameter", ratio, constants)?;
        finite(run, "flops", budget, constants)?;
        finite(run, "optimal_parameters", best.parameters, constants)?;
        finite(run, "optimal_tokens", best.tokens, constants)?;
        finite(run, "optimal_loss", law.loss(&best), constants)?;
        let ratio = best.tokens / best.parameters;
        finite(run, "optimal_tokens_per_parameter", ratio, constants)?;
        picture::offer(run, "loss-against-compute", || law.frontier(&model, budget));
        picture::offer(run, "split", || law.split(&model, budget));
        picture::offer(run, "parts", || law.parts(&model, &best));
        picture::offer(run, "budgets", || law.budgets(budget));
        picture::offer(run, "steps", || law.steps(&model, budget));
        Ok(())
    }
}

/// FLOPs for each parameter and token: 2 forward, 4 backward.
const FLOPS: f64 = 6.0;

/// A model and what it is trained on.
struct Model {
    parameters: f64,
    tokens: f64,
}

impl Model {
    /// 6ND
    fn flops(&self) -> f64 {
        FLOPS * self.parameters * self.tokens
    }
}

/// loss = E + A/N^alpha + B/D^beta (Hoffmann et al. 2022, approach 3).
struct Law {
    irreducible: f64,
    a: f64,
    b: f64,
    alpha: f64,
    beta: f64,
}

impl Law {
    fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            irreducible: params.float("irreducible_loss")?,
            a: params.float("parameter_coefficient")?,
            b: params.float("token_coefficient")?,
            alpha: params.float("parameter_exponent")?,
            beta: params.float("token_exponent")?,
        })
    }

    /// A/N^alpha: what more parameters would remove.
    fn for_size(&self, model: &Model) -> f64 {
        self.a / model.parameters.powf(self.alpha)
    }

    /// B/D^beta: what more tokens would remove.
    fn for_data(&self, model: &Model) -> f64 {
        self.b / model.tokens.powf(self.beta)
    }

    fn loss(&self, model: &Model) -> f64 {
        self.irreducible + self.for_size(model) + self.for_data(model)
    }

    /// G = (alpha*A/(beta*B))^(1/(alpha + beta))
    fn g(&self) -> f64 {
        (self.alpha * self.a / (self.beta * self.b)).powf(1.0 / (self.alpha + self.beta))
    }

    /// N = G*(C/6)^(beta/(alpha + beta)), D = C/(6N)
    fn best(&self, flops: f64) -> Model {
        let exponent = self.beta / (self.alpha + self.beta);
        let parameters = self.g() * (flops / FLOPS).powf(exponent);
        Model { parameters, tokens: flops / (FLOPS * parameters) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_split_of_the_budget_has_less_loss() {
        let law = Law { irreducible: 1.69, a: 406.4, b: 410.7, alpha: 0.34, beta: 0.28 };
        for budget in [1e18, 1e22, 5.88e23, 1e27] {
            let best = law.best(budget);
            assert!((best.flops() / budget - 1.0).abs() < 1e-12);
            for factor in [0.5, 0.9, 0.99, 1.01, 1.1, 2.0] {
                let parameters = factor * best.parameters;
                let tokens = best.tokens / factor;
                let other = Model { parameters, tokens };
                assert!(law.loss(&other) > law.loss(&best), "{budget} {factor}");
            }
        }
    }

    /// Besiroglu et al. 2024: with the constants fitted again, Chinchilla's own 20 tokens a parameter come out.
    #[test]
    fn the_refitted_constants_give_the_ratio_of_the_other_two_approaches() {
        let law = Law { irreducible: 1.8172, a: 482.01, b: 2085.43, alpha: 0.3478, beta: 0.3658 };
        let best = law.best(5.88e23);
        let ratio = best.tokens / best.parameters;
        assert!((15.0..30.0).contains(&ratio), "{ratio}");
    }
}
