//! Kind `distill-loss`: soft targets of a teacher at a temperature, and the gradient they give a student.

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Run, Value};

use crate::compression::nested::Nested;
use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite, percent};

/// Temperatures at which the teacher is drawn beside the chosen one.
const TEMPERATURES: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];

/// The lab `distill-loss`.
pub struct DistillLoss {
    schema: Schema,
}

impl DistillLoss {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/distill-loss.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for DistillLoss {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let student = Nested::read(&run.params, "student_logits")?;
        let teacher = Nested::read(&run.params, "teacher_logits")?;
        if student.flat.len() != teacher.flat.len() {
            let message = format!(
                "student_logits has {} classes and teacher_logits {}; both speak of the same classes",
                student.flat.len(),
                teacher.flat.len()
            );
            return Err(LabError::contradiction(["student_logits", "teacher_logits"], message));
        }
        let temperature = run.params.float("temperature")?;
        if temperature <= 0.0 {
            let message = "temperature is 0; logits are divided by it, so it is above 0";
            return Err(LabError::contradiction(["temperature"], message));
        }
        let lesson = Lesson::of(student.flat, teacher.flat, temperature);
        let floats = |list: &[f64]| Value::Array(list.iter().copied().map(Value::Float).collect());
        let sizes = || format!("a temperature of {}", number(temperature));
        run.scalar("teacher_probabilities", floats(&lesson.p));
        run.scalar("student_probabilities", floats(&lesson.q));
        finite(run, "cross_entropy", lesson.cross_entropy(), sizes)?;
        finite(run, "kl_divergence", lesson.divergence(), sizes)?;
        run.scalar("gradient", floats(&lesson.gradient(temperature.recip())));
        run.scalar("scaled_gradient", floats(&lesson.gradient(temperature)));
        run.scalar("high_temperature_gradient", floats(&lesson.limit()));
        picture::offer(run, "targets", || lesson.targets());
        picture::offer(run, "temperatures", || lesson.temperatures());
        picture::offer(run, "steps", || lesson.steps());
        Ok(())
    }
}

/// Logits of both, and what they say at a temperature.
struct Lesson {
    /// The student's logits.
    z: Vec<f64>,
    /// The teacher's.
    v: Vec<f64>,
    temperature: f64,
    /// softmax(v/T).
    p: Vec<f64>,
    /// softmax(z/T).
    q: Vec<f64>,
}

impl Lesson {
    fn of(z: Vec<f64>, v: Vec<f64>, temperature: f64) -> Self {
        let (p, q) = (softmax(&v, temperature), softmax(&z, temperature));
        Self { z, v, temperature, p, q }
    }

    /// -sum p ln q, with ln q from the logits, so that a probability that rounds to 0 costs no infinity.
    fn cross_entropy(&self) -> f64 {
        let logs = log_softmax(&self.z, self.temperature);
        -self.p.iter().zip(logs).map(|(p, log)| p * log).sum::<f64>()
    }

    /// sum p ln(p/q).
    fn divergence(&self) -> f64 {
        let own = log_softmax(&self.v, self.temperature);
        let entropy = -self.p.iter().zip(own).map(|(p, log)| p * log).sum::<f64>();
        self.cross_entropy() - entropy
    }

    /// (q - p) times a factor: 1/T gives the derivative of the cross-entropy, T the one that training uses.
    fn gradient(&self, factor: f64) -> Vec<f64> {
        self.q.iter().zip(&self.p).map(|(q, p)| (q - p) * factor).collect()
    }

    /// ((z - mean z) - (v - mean v))/N: what T^2 times the gradient tends to.
    fn limit(&self) -> Vec<f64> {
        let n = self.z.len() as f64;
        let mean = |list: &[f64]| list.iter().sum::<f64>() / n;
        let (z, v) = (mean(&self.z), mean(&self.v));
        self.z.iter().zip(&self.v).map(|(a, b)| ((a - z) - (b - v)) / n).collect()
    }

    fn targets(&self) -> Frame {
        let mut bars = Vec::new();
        for (class, (p, q)) in self.p.iter().zip(&self.q).enumerate() {
            bars.push(picture::bar(format!("class {class}, teacher"), *p, percent(*p)));
            let way = if q > p { "too much" } else { "too little" };
            let way = if (q - p).abs() < 1e-9 { "right" } else { way };
            bars.push(picture::bar(
                format!("class {class}, student"),
                *q,
                format!("{}, {way}", percent(*q)),
            ));
        }
        picture::bars("probability", bars)
    }

    fn temperatures(&self) -> Frame {
        let mut temperatures = TEMPERATURES.to_vec();
        if !temperatures.contains(&self.temperature) {
            temperatures.push(self.temperature);
            temperatures.sort_by(f64::total_cmp);
        }
        let row = |t: &f64| {
            let p = softmax(&self.v, *t);
            let most = p.iter().copied().fold(0.0, f64::max);
            let listed: Vec<String> = p.iter().map(|p| percent(*p)).collect();
            let own = if *t == self.temperature { "this one" } else { "" };
            [
                Value::Float(*t),
                Value::from(listed.join("  ")),
                Value::from(percent(1.0 - most)),
                Value::from(own),
            ]
        };
        let rows = temperatures.iter().map(row).collect();
        picture::table(["temperature", "teacher's probabilities", "left for the others", ""], rows)
    }

    fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        let t = number(self.temperature);
        let gradient = self.gradient(self.temperature.recip());
        for (class, g) in gradient.iter().enumerate() {
            steps.add(
                &format!("gradient of class {class}"),
                "(q - p)/T",
                format!("({} - {})/{t}", number(self.q[class]), number(self.p[class])),
                *g,
            );
        }
        let scaled = self.gradient(self.temperature);
        steps.add(
            "scaled gradient of class 0",
            "T^2 * gradient",
            format!("{t}^2 * {}", number(gradient[0])),
            scaled[0],
        );
        steps.add("what it tends to", "((z - mean z) - (v - mean v))/N", "", self.limit()[0]);
        steps.add("cross_entropy", "-sum p ln q", "", self.cross_entropy());
        steps.add("kl_divergence", "cross_entropy - entropy of p", "", self.divergence());
        steps.table()
    }
}

/// ln softmax(x/T), with the maximum subtracted.
fn log_softmax(logits: &[f64], temperature: f64) -> Vec<f64> {
    let scaled: Vec<f64> = logits.iter().map(|x| x / temperature).collect();
    let most = scaled.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scaled.iter().map(|x| (x - most).exp()).sum();
    scaled.iter().map(|x| x - most - sum.ln()).collect()
}

fn softmax(logits: &[f64], temperature: f64) -> Vec<f64> {
    log_softmax(logits, temperature).into_iter().map(f64::exp).collect()
}
