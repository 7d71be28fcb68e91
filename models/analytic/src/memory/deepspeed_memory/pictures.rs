//! What the lab draws: every choice of stage and offload, on the GPU and beside it.

use mlsys_lab::value::{number, significant};
use mlsys_lab::{Frame, Value};

use super::{Built, Choice, Cluster, GIB};
use mlsys_lab::picture;
use mlsys_lab::steps::Steps;

/// Bytes in GiB with three digits.
fn gib(bytes: f64) -> String {
    format!("{} GiB", number(significant(bytes / GIB, 3)))
}

impl Cluster {
    /// One GPU under every choice, what is whole on it apart from its share.
    pub(super) fn gpus(&self, chosen: Choice) -> Frame {
        let stack = |choice: Choice| {
            let need = self.need(choice);
            let this = if choice == chosen { " (this)" } else { "" };
            (format!("{}{this}", choice.name()), vec![need.whole, need.share], gib(need.gpu()))
        };
        let note = format!("each of {} GPUs; activations come on top", number(self.all()));
        picture::stacks(
            "bytes",
            ["whole on each", "its share"],
            Choice::ALL.map(stack).to_vec(),
            None,
            &note,
        )
    }

    /// One node's memory under every choice: what is kept there, and the reserve on top.
    pub(super) fn cpus(&self, chosen: Choice) -> Frame {
        let stack = |choice: Choice| {
            let need = self.need(choice);
            let this = if choice == chosen { " (this)" } else { "" };
            let kept = need.cpu / self.buffer;
            (format!("{}{this}", choice.name()), vec![kept, need.cpu - kept], gib(need.cpu))
        };
        let note = match self.built {
            Built::Sharded => "stage 3 shards the model while it is built",
            Built::Whole => "every process builds the whole model before it is sharded",
        };
        picture::stacks("bytes", ["kept", "reserve"], Choice::ALL.map(stack).to_vec(), None, note)
    }

    pub(super) fn choices(&self, chosen: Choice) -> Frame {
        let row = |choice: Choice| {
            let need = self.need(choice);
            [
                Value::from(choice.name()),
                (need.gpu() / GIB).into(),
                (need.cpu / GIB).into(),
                (need.cpu / GIB / self.devices).into(),
                if choice == chosen { "this" } else { "" }.into(),
            ]
        };
        picture::table(
            ["stage and offload", "GiB a GPU", "GiB a node", "GiB of it for each GPU", ""],
            Choice::ALL.map(row).to_vec(),
        )
    }

    pub(super) fn steps(&self, choice: Choice) -> Frame {
        let mut steps = Steps::default();
        let (p, d, n) = (number(self.parameters), number(self.devices), number(self.nodes));
        let (all, f) = (number(self.all()), number(self.buffer));
        steps.add("D, all GPUs", "nodes*d", format!("{n}*{d}"), self.all());
        let layer = number(self.largest_layer);
        let l = number(self.layer());
        if choice.stage() == 3 {
            let numbers = format!("4*{layer}");
            steps.add("l, largest layer", "4*its parameters", numbers, self.layer());
        }
        let off = |states: u32| match self.built {
            Built::Sharded => format!("{p}*{states}/{n}*{f}"),
            Built::Whole => format!("{p}*max(4*{d}, {states}/{n})*{f}"),
        };
        let (gpu, cpu) = match choice {
            Choice::Two => (
                ("4P + floor(16P/D)", format!("4*{p} + 16*{p}/{all}")),
                ("4Pdf", format!("4*{p}*{d}*{f}")),
            ),
            Choice::TwoOptimizer => {
                (("2P", format!("2*{p}")), ("P*max(4D, 16)*f", format!("{p}*max(4*{all}, 16)*{f}")))
            }
            Choice::Three => (
                ("l + floor(18P/D)", format!("{l} + 18*{p}/{all}")),
                match self.built {
                    Built::Sharded => ("4*layer*d*f", format!("4*{layer}*{d}*{f}")),
                    Built::Whole => ("4Pdf", format!("4*{p}*{d}*{f}")),
                },
            ),
            Choice::ThreeOptimizer => {
                (("l + floor(2P/D)", format!("{l} + 2*{p}/{all}")), ("P*16/nodes*f", off(16)))
            }
            Choice::ThreeAll => (("l", l.clone()), ("P*18/nodes*f", off(18))),
        };
        let need = self.need(choice);
        steps.add("bytes of a GPU", gpu.0, gpu.1, need.gpu());
        steps.add("bytes of a node", cpu.0, cpu.1, need.cpu);
        let numbers = format!("{}/2^30", number(need.gpu()));
        steps.add("GiB of a GPU", "bytes/2^30", numbers, need.gpu() / GIB);
        let numbers = format!("{}/2^30", number(need.cpu));
        steps.add("GiB of a node", "bytes/2^30", numbers, need.cpu / GIB);
        steps.table()
    }
}
