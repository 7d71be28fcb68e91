//! What the lab draws: the stages beside each other, the effect of ranks, and others' conventions.

use mlsys_lab::value::{number, significant};
use mlsys_lab::{Frame, Value};

use super::{Held, Stage, States};
use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, percent};

/// Names of the parts, in the order in which they are stacked.
const PARTS: [&str; 3] = ["weights", "gradients", "optimizer"];

/// Bytes as gigabytes with three digits.
fn gigabytes(bytes: f64) -> String {
    format!("{} GB", number(significant(bytes / 1e9, 3)))
}

impl Held {
    fn parts(&self) -> Vec<f64> {
        vec![self.weights, self.gradients, self.optimizer]
    }
}

impl States {
    /// A rank's states at every stage.
    pub(super) fn by_stage(&self, chosen: Stage, capacity: f64) -> Frame {
        let stack = |stage: Stage| {
            let held = self.held(stage);
            let this = if stage == chosen { " (this)" } else { "" };
            let over = held.bytes() - capacity;
            let remark = if over > 0.0 {
                format!("{} too many", gigabytes(over))
            } else {
                format!("splits {}", stage.shards())
            };
            (format!("stage {}{this}", stage.number()), held.parts(), remark)
        };
        picture::stacks(
            "bytes",
            PARTS,
            Stage::ALL.map(stack).to_vec(),
            Some((capacity, "one rank's memory")),
            &format!("{} ranks, each of which computes with the whole model", self.ranks),
        )
    }

    /// A rank's states with more and more ranks.
    pub(super) fn by_ranks(&self, stage: Stage, capacity: f64) -> Frame {
        let mut counts: Vec<f64> = [1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0, 1024.0].to_vec();
        if !counts.contains(&self.ranks) {
            counts.push(self.ranks);
            counts.sort_by(f64::total_cmp);
        }
        let stack = |ranks: f64| {
            let held = Self { ranks, ..*self }.held(stage);
            let this = if ranks == self.ranks { " (this)" } else { "" };
            let plural = if ranks == 1.0 { "" } else { "s" };
            let label = format!("{ranks} rank{plural}{this}");
            let each = held.bytes() / self.parameters;
            let remark = format!("{} a parameter", number(significant(each, 3)));
            (label, held.parts(), remark)
        };
        let note = format!("stage {}, which splits {}", stage.number(), stage.shards());
        picture::stacks(
            "bytes",
            PARTS,
            counts.into_iter().map(stack).collect(),
            Some((capacity, "one rank's memory")),
            &note,
        )
    }

    /// Bytes a parameter as different sources count them, for these ranks.
    pub(super) fn conventions(&self, stage: Stage) -> Frame {
        let each = |weight: f64, gradient: f64, optimizer: f64, stage: Stage| {
            let states = Self { weight, gradient, optimizer, ..*self };
            states.held(stage).bytes() / self.parameters
        };
        let row = |who: &str, parts: &str, bytes: f64| {
            [Value::from(who), parts.into(), bytes.into(), (bytes * self.parameters).into()]
        };
        let own = format!(
            "{} + {} + {}, stage {}",
            number(self.weight),
            number(self.gradient),
            number(self.optimizer),
            stage.number()
        );
        picture::table(
            ["convention", "parts", "bytes a parameter", "bytes of a rank"],
            vec![
                row("this run", &own, each(self.weight, self.gradient, self.optimizer, stage)),
                row("ZeRO paper", "2 + 2 + 12", each(2.0, 2.0, 12.0, Stage::Whole)),
                row("Megatron-LM, DeepSpeed", "2 + 4 + 12", each(2.0, 4.0, 12.0, Stage::Whole)),
                row("Megatron-LM, distributed", "6 + 12/N", each(2.0, 4.0, 12.0, Stage::Optimizer)),
                row("FP32 with Adam", "4 + 4 + 8", each(4.0, 4.0, 8.0, Stage::Whole)),
                row("FP32 with SGD", "4 + 4", each(4.0, 4.0, 0.0, Stage::Whole)),
                row("weights alone", "2", each(2.0, 0.0, 0.0, Stage::Whole)),
            ],
        )
    }

    pub(super) fn steps(&self, stage: Stage, capacity: f64) -> Frame {
        let mut steps = Steps::default();
        let held = self.held(stage);
        let (p, ranks) = (number(self.parameters), number(self.ranks));
        let mut part = |name: &str, bytes: f64, from: Stage, value: f64| {
            let (formula, numbers) = if stage >= from {
                ("parameters*bytes/N", format!("{p}*{}/{ranks}", number(bytes)))
            } else {
                ("parameters*bytes", format!("{p}*{}", number(bytes)))
            };
            steps.add(name, formula, numbers, value);
        };
        part("weights", self.weight, Stage::Weights, held.weights);
        part("gradients", self.gradient, Stage::Gradients, held.gradients);
        part("optimizer", self.optimizer, Stage::Optimizer, held.optimizer);
        let all = held.bytes();
        let numbers = held.parts().into_iter().map(number).collect::<Vec<_>>();
        steps.add("bytes of a rank", "the sum", numbers.join(" + "), all);
        let each = all / self.parameters;
        let numbers = format!("{}/{p}", number(all));
        steps.add("bytes a parameter", "bytes/parameters", numbers, each);
        let share = percent(all / capacity);
        let numbers = format!("{}/{}, {share} full", number(capacity), number(each));
        steps.add("largest model", "capacity/bytes a parameter", numbers, capacity / each);
        let factor = number(stage.communication());
        let numbers = format!("{factor}*{p}*{}*({ranks} - 1)/{ranks}", number(self.weight));
        steps.add("sent a step", "factor*parameters*bytes*(N - 1)/N", numbers, self.sent(stage));
        steps.table()
    }
}
