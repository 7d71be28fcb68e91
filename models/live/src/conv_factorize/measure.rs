//! How long each layer and each block takes on this device, and the roof over them.

use std::collections::HashMap;
use std::time::Duration;

use burn::tensor::Tensor;
use mlsys_device::meter::{Meter, Precision, computing};
use mlsys_device::timing::{Pace, RepeatTimer};
use mlsys_lab::{LabError, Run};
use mlsys_nn::networks::{
    Activation, Filter, FilterCost, FilterShape, Initialization, Initializer,
};

use super::Setup;
use super::forms::{Form, Sizes};
use crate::roof::{Ceilings, Roof};

const PACE: Pace = Pace {
    slice: Duration::from_millis(3),
    least: Duration::from_millis(6),
    most: Duration::from_millis(60),
};

/// How often each piece of work is timed, in turns with the others: whatever else the machine does only adds time, so
/// the fastest round counts, and a disturbance meets all pieces alike.
const ROUNDS: usize = 5;

#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    pub(super) layers: Vec<TimedLayer>,
    /// Seconds of each block's forward pass, relu included.
    pub(super) blocks: Vec<(Form, f64)>,
    pub(super) roof: Option<Roof>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TimedLayer {
    pub(super) form: Form,
    /// From 1.
    pub(super) place: usize,
    pub(super) shape: FilterShape,
    pub(super) cost: FilterCost,
    pub(super) seconds: f64,
}

impl Times {
    pub(super) fn block(&self, form: Form) -> Option<f64> {
        let found = self.blocks.iter().find(|(known, _)| *known == form);
        found.map(|(_, seconds)| *seconds)
    }

    pub(super) fn measure(run: &mut Run<'_>, setup: &Setup) -> Result<Self, LabError> {
        let mut times = Self::default();
        run.status("measuring the roof of this machine");
        let meter = Meter::open(run.device, Precision::Fp32)?;
        let mut ceilings = Ceilings::measure(&meter, None, || run.control.interrupted())?;
        let (id, device) = (run.device, meter.device());
        let Sizes { size, .. } = setup.sizes;
        // A batch for each number of channels. What the numbers are does not change what is done with them.
        let mut inputs: HashMap<usize, Tensor<4>> = HashMap::new();
        let mut clocks = Vec::new();
        for &form in &setup.forms {
            run.status(format!("warming up {}", form.name()));
            let shapes = form.layers(&setup.sizes);
            let mut initial = Initializer::new(Initialization::He, setup.seed, device);
            let filters: Vec<Filter> = shapes.iter().map(|x| x.init(&mut initial)).collect();
            // Every layer by its place from 1, and the whole block.
            let layers = shapes.iter().zip(&filters).enumerate().map(|(index, (shape, filter))| {
                (Some((index + 1, *shape)), shape, vec![filter.clone()], Activation::Identity)
            });
            let block =
                shapes.first().map(|first| (None, first, filters.clone(), Activation::Relu));
            for (layer, first, filters, activation) in layers.chain(block) {
                let shape = [setup.batch_size, first.channels_in, size, size];
                let images = inputs.entry(first.channels_in);
                let images = images.or_insert_with(|| Tensor::full(shape, 0.5, device)).clone();
                let work = computing(device, id, move || {
                    let through = |x, filter: &Filter| activation.apply(filter.forward(x));
                    filters.iter().fold(images.clone(), through)
                });
                clocks.push((form, layer, RepeatTimer::warm_up(work, PACE)?));
            }
            if run.control.must_end().is_some() {
                return Ok(times);
            }
        }
        for round in 1..=ROUNDS {
            run.status(format!("timing all blocks, round {round} of {ROUNDS}"));
            for (_, _, clock) in &mut clocks {
                ceilings.look_again()?;
                clock.repeat(|| run.control.interrupted())?;
            }
            if run.control.must_end().is_some() {
                break;
            }
        }
        for (form, layer, clock) in &clocks {
            let fastest = clock.times().seconds.iter().copied().reduce(f64::min);
            let seconds = fastest.unwrap_or(f64::NAN);
            match *layer {
                Some((place, shape)) => {
                    let cost = shape.cost(size);
                    times.layers.push(TimedLayer { form: *form, place, shape, cost, seconds });
                }
                None => times.blocks.push((*form, seconds)),
            }
        }
        times.roof = Some(ceilings.roof());
        run.status("");
        Ok(times)
    }
}
