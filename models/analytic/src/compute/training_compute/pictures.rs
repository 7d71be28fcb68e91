//! What the lab draws: the run among published ones, its days, and the calculation written out.

use mlsys_lab::Frame;
use mlsys_lab::frame::{Better, Dimension, Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::{number, significant};

use super::{Measure, Origin, Pace, SECONDS_PER_HOUR, Work};
use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, percent};

/// Parameters (of a mixture of experts: those active for a token) and training tokens, as the papers print them.
const RUNS: [(&str, f64, f64); 9] = [
    // Brown et al. 2020, Table D.1
    ("GPT-3", 174.6e9, 300e9),
    // Rae et al. 2021
    ("Gopher", 280e9, 300e9),
    // Smith et al. 2022
    ("MT-NLG", 530e9, 270e9),
    // Hoffmann et al. 2022
    ("Chinchilla", 70e9, 1.4e12),
    // Chowdhery et al. 2022
    ("PaLM", 540e9, 780e9),
    // Touvron et al. 2023
    ("Llama 65B", 65e9, 1.4e12),
    ("Llama 2 70B", 70e9, 2e12),
    // Llama 3 herd, 2024
    ("Llama 3 405B", 405e9, 15.6e12),
    // DeepSeek-AI 2024
    ("DeepSeek-V3", 37e9, 14.8e12),
];

/// Work of equal lines, in FLOPs.
const EQUAL: [f64; 4] = [1e22, 1e23, 1e24, 1e25];

/// Tokens a parameter where Hoffmann et al. 2022 found the budget best spent.
const TOKENS_PER_PARAMETER: f64 = 20.0;

/// Utilizations that a picture compares.
const SHARES: [f64; 4] = [1.0, 0.5, 0.4, 0.2];

impl Work {
    /// This run among published ones, on axes whose equal steps multiply: there, equal work is a straight line.
    pub(super) fn among_published(&self) -> Frame {
        let point = |(label, parameters, tokens): (&str, f64, f64), series| ScatterPoint {
            x: Some(parameters),
            y: Some(tokens),
            label: label.to_owned(),
            series,
        };
        let mut points: Vec<ScatterPoint> = RUNS.map(|run| point(run, 0)).to_vec();
        let drawn = self.parameters > 0.0 && self.tokens > 0.0;
        if self.origin == Origin::Counted && drawn {
            points.push(point(("this run", self.parameters, self.tokens), 1));
        }
        let reach = |of: fn(&ScatterPoint) -> Option<f64>| {
            let values = points.iter().filter_map(of);
            values.fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)))
        };
        let (x, y) = (reach(|point| point.x), reach(|point| point.y));
        let (x, y) = ((x.0 / 2.0, x.1 * 2.0), (y.0 / 2.0, y.1 * 2.0));
        let mut lines: Vec<ScatterLine> = EQUAL
            .into_iter()
            .filter_map(|flops| equal(&format!("{} FLOPs", number(flops)), flops / 6.0, x, y))
            .collect();
        if self.origin == Origin::Given && self.flops > 0.0 {
            lines.extend(equal("this run", self.flops / self.per_parameter_token, x, y));
        }
        lines.extend(twenty(x, y));
        let axis = |name: &str, unit: &str| Dimension {
            name: name.to_owned(),
            unit: unit.to_owned(),
            scale: Scale::Log,
            better: Better::Neither,
            ..Dimension::default()
        };
        Frame::Scatter(Scatter {
            x: axis("size", "parameters"),
            y: axis("trained on", "tokens"),
            series: vec!["published".to_owned(), "this run".to_owned()],
            points,
            lines,
        })
    }
}

/// The line of `parameters*tokens = product` within the picture, if it goes through it.
fn equal(name: &str, product: f64, x: (f64, f64), y: (f64, f64)) -> Option<ScatterLine> {
    let from = x.0.max(product / y.1);
    let to = x.1.min(product / y.0);
    (from < to).then(|| ScatterLine {
        name: name.to_owned(),
        points: vec![(from, product / from), (to, product / to)],
    })
}

/// The line of twenty tokens a parameter within the picture, if it goes through it.
fn twenty(x: (f64, f64), y: (f64, f64)) -> Option<ScatterLine> {
    let from = x.0.max(y.0 / TOKENS_PER_PARAMETER);
    let to = x.1.min(y.1 / TOKENS_PER_PARAMETER);
    (from < to).then(|| ScatterLine {
        name: "20 tokens a parameter".to_owned(),
        points: vec![(from, TOKENS_PER_PARAMETER * from), (to, TOKENS_PER_PARAMETER * to)],
    })
}

impl Pace {
    /// Days at this rate, between days at others.
    pub(super) fn at_shares(&self, work: &Work, within: Option<f64>) -> Frame {
        let days = |rate: f64| work.flops / (self.devices * rate * SECONDS_PER_HOUR * 24.0);
        let own = self.utilization();
        let mut shares = SHARES.to_vec();
        if !shares.contains(&own) {
            shares.push(own);
        }
        shares.sort_by(|a, b| b.total_cmp(a));
        let bar = |share: f64| {
            let rate = if share == own { self.rate } else { share * self.peak };
            let this = if share == own { ", this run" } else { "" };
            let remark = format!("{} TFLOP/s{this}", number(significant(rate / 1e12, 3)));
            let label = format!("{} of peak", percent(share));
            let days = if share == own { self.days() } else { days(rate) };
            days.is_finite().then(|| picture::bar(label, days, remark))
        };
        let mut bars: Vec<_> = shares.into_iter().filter_map(bar).collect();
        if let Some(within) = within {
            let share = percent(self.flops_within(within) / work.flops);
            let label = format!("{} days", number(within));
            let remark = format!("hold {share} of the work");
            bars.push(picture::bar(label, within, remark));
        }
        picture::bars("days", bars)
    }

    /// Days against devices, as if each kept its rate.
    pub(super) fn on_more(&self) -> Frame {
        let bar = |factor: f64| {
            let devices = self.devices * factor;
            let this = if factor == 1.0 { " (this)" } else { "" };
            let days = self.days() / factor;
            let remark = if days > 365.25 {
                format!("{} years", number(significant(days / 365.25, 3)))
            } else {
                format!("{} hours", number(significant(24.0 * days, 3)))
            };
            picture::bar(format!("{}{this}", number(devices)), days, remark)
        };
        let whole = |factor: &f64| (self.devices * factor).fract() == 0.0;
        let factors = [1.0 / 64.0, 0.0625, 0.25, 0.5, 1.0, 2.0, 4.0].into_iter();
        let bars = factors.filter(whole).map(bar).collect();
        Frame::Bars(mlsys_lab::frame::Bars { unit: "days".to_owned(), scale: Scale::Log, bars })
    }

    pub(super) fn steps(&self, work: &Work, price: Option<f64>, within: Option<f64>) -> Frame {
        let mut steps = Steps::default();
        let (n, d) = (number(work.parameters), number(work.tokens));
        let k = number(work.per_parameter_token);
        let flops = number(work.flops);
        let per_token = format!("{k}*{n}");
        steps.add("flops_per_token", "k*N", per_token, work.per_token());
        match work.origin {
            Origin::Given => steps.add("flops", "as given", "", work.flops),
            Origin::Counted => steps.add("flops", "k*N*D", format!("{k}*{n}*{d}"), work.flops),
        }
        steps.add(
            "petaflop_days",
            "flops/(1e15*86400)",
            format!("{flops}/8.64e19"),
            work.petaflop_days(),
        );
        let (peak, rate) = (number(self.peak), number(self.rate));
        let (formula, numbers) = match self.measure {
            Measure::DeviceHours => {
                let hours = number(self.device_hours);
                ("flops/(device_hours*3600)", format!("{flops}/({hours}*3600)"))
            }
            Measure::Rate => ("as measured", String::new()),
            Measure::Utilization => {
                let share = number(self.utilization());
                ("utilization*peak", format!("{share}*{peak}"))
            }
        };
        steps.add("achieved_flops_per_second", formula, numbers, self.rate);
        let share = self.utilization();
        steps.add("utilization", "rate/peak", format!("{rate}/{peak}"), share);
        let (formula, numbers) = match self.measure {
            Measure::DeviceHours => ("as counted", String::new()),
            Measure::Rate | Measure::Utilization => {
                ("flops/(rate*3600)", format!("{flops}/({rate}*3600)"))
            }
        };
        let hours = number(self.device_hours);
        steps.add("device_hours", formula, numbers, self.device_hours);
        let devices = number(self.devices);
        let numbers = format!("{hours}/{devices}/24");
        steps.add("days", "device_hours/devices/24", numbers, self.days());
        if let Some(price) = price {
            let numbers = format!("{hours}*{}", number(price));
            steps.add("usd", "device_hours*price", numbers, self.device_hours * price);
        }
        if let Some(days) = within {
            let done = self.flops_within(days);
            let numbers = format!("{devices}*{rate}*{}*86400", number(days));
            steps.add("flops_within_days", "devices*rate*days*86400", numbers, done);
            let numbers = format!("{}/{flops}", number(done));
            let share = done / work.flops;
            steps.add("fraction_within_days", "within/flops", numbers, share);
        }
        steps.table()
    }
}
