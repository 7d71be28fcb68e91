//! The judgement written out.

use mlsys_lab::Frame;
use mlsys_lab::value::number;

use mlsys_lab::steps::Steps;
use mlsys_sim::memory::Stage;

use super::Judgement;
use super::layout::Layout;
use super::plan::Recompute;

impl Judgement {
    pub(super) fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        let (plan, claim) = (&self.plan, &self.claim);
        let Layout { tensor: t, context: c, pipeline: p, data: d } = plan.layout;
        let numbers = format!("{t}*{c}*{p}*{d}");
        steps.add("devices", "t*c*p*d", numbers, claim.devices);
        let numbers = format!("{}*{}", claim.global_batch, claim.sequence);
        steps.add("tokens a step", "global_batch*sequence", numbers, claim.tokens);
        let (m, b, v) = (plan.microbatches, plan.microbatch, plan.chunks);
        let numbers = format!("{}/({d}*{b})", claim.global_batch);
        steps.add("m, microbatches", "global_batch/(d*b)", numbers, m);
        let numbers = format!("({p} - 1)/({m}*{v})");
        steps.add("bubble over ideal", "(p - 1)/(m*v)", numbers, plan.bubble());
        let (achieved, peak) = (number(self.achieved), number(self.setting.cluster.peak));
        let share = self.achieved / self.setting.cluster.peak;
        steps.add("mfu, measured", "achieved/peak", format!("{achieved}/{peak}"), share);
        self.memory_steps(&mut steps);
        self.time_steps(&mut steps);
        steps.table()
    }

    fn memory_steps(&self, steps: &mut Steps) {
        let (model, cluster) = (&self.setting.model, &self.setting.cluster);
        let (plan, stage) = (&self.plan, self.stage);
        let p = plan.layout.pipeline;
        let layers = model.layers_of(stage, p);
        let held = model.parameters_of(stage, p) / plan.layout.tensor as f64;
        steps.add(
            "parameters of a device",
            "(layers*layer + ends)/t",
            format!(
                "stage {stage}: {layers} layers of {}, over {}",
                number(model.layer),
                plan.layout.tensor
            ),
            held,
        );
        let replicas = number(plan.layout.replicas());
        let rank = |from: u8| {
            if plan.stage.number() >= from { format!("/{replicas}") } else { String::new() }
        };
        let n = number(held);
        let states = self.memory.states;
        for (name, bytes, from, value) in [
            ("weights", cluster.weight, 3, states.weights),
            ("gradients", cluster.gradient, 2, states.gradients),
            ("optimizer", cluster.optimizer, 1, states.optimizer),
        ] {
            // One layer at a time is gathered whole, weights and gradients.
            let gathered = from > 1 && plan.stage == Stage::Weights && plan.layout.replicas() > 1.0;
            let whole = if gathered {
                let layer = number(model.layer);
                format!(" + {layer}*{}/{}", number(bytes), plan.layout.tensor)
            } else {
                String::new()
            };
            let numbers = format!("{n}*{}{}{whole}", number(bytes), rank(from));
            steps.add(name, "parameters*bytes, sharded from its stage on", numbers, value);
        }
        let kept = super::activations::of_layer(model, plan);
        let formula = match plan.recompute {
            Recompute::None | Recompute::Selective => "in flight*layers*kept of a layer",
            Recompute::Full => "in flight*layers*2sbh",
        };
        let numbers = format!("{}*{layers}*{}", number(plan.in_flight(stage)), number(kept));
        let of_layers = plan.in_flight(stage) * layers as f64 * kept;
        steps.add("activations of layers", formula, numbers, of_layers);
        let of_head = self.memory.activations - of_layers;
        if of_head > 0.0 {
            let numbers = format!("{} + {}", number(of_layers), number(of_head));
            steps.add(
                "activations",
                "with those of the output head",
                numbers,
                self.memory.activations,
            );
        }
        let numbers = [states.weights, states.gradients, states.optimizer, self.memory.activations]
            .map(number)
            .join(" + ");
        steps.add("bytes of a device", "the sum", numbers, self.memory.bytes());
    }

    fn time_steps(&self, steps: &mut Steps) {
        let (step, cluster) = (&self.step, &self.setting.cluster);
        let devices = number(self.devices());
        let rate = format!("{}*{}", number(cluster.efficiency), number(cluster.peak));
        let p = self.plan.layout.pipeline;
        let (most, layers) = (self.setting.model.most_layers(p), self.setting.model.layers);
        let numbers =
            format!("{}/({devices}*{rate})*{most}*{p}/{layers}", number(step.hardware_flops));
        steps.add(
            "compute",
            "flops/(devices*share*peak), of the fullest stage",
            numbers,
            step.compute,
        );
        let wire = |bytes: f64, seconds: f64| match bytes {
            0.0 => "nothing is sent".to_owned(),
            _ => format!("{}/{}", number(bytes), number(bytes / seconds)),
        };
        for (name, traffic) in [
            ("tensor", step.tensor),
            ("context", step.context),
            ("pipeline", step.pipeline),
            ("data", step.data.all()),
        ] {
            let numbers = wire(traffic.bytes, traffic.seconds);
            steps.add(name, "bytes/rate of its link", numbers, traffic.seconds);
        }
        let busy = step.compute + step.tensor.seconds + step.context_exposed;
        let numbers = format!("{}*{}", number(busy), number(self.plan.bubble()));
        steps.add("bubble", "(compute + tensor + context)*bubble", numbers, step.bubble);
        let numbers = format!(
            "{} + {} + {}",
            number(step.compute),
            number(step.bubble),
            number(step.exposed())
        );
        steps.add("step", "compute + bubble + not hidden", numbers, step.seconds());
        let below = format!("({}*{devices}*{})", number(step.seconds()), number(cluster.peak));
        let numbers = format!("{}/{below}", number(step.model_flops));
        steps.add(
            "mfu, estimated",
            "model flops/(step*devices*peak)",
            numbers,
            self.estimated_mfu(),
        );
    }
}
