//! How long each layer and each block takes on this device, and the roof over them.

use std::collections::HashMap;
use std::time::Duration;

use burn::tensor::{Device, Tensor};
use mlsys_device::meter::{Meter, Precision, Workload, computing};
use mlsys_device::timing::{Pace, RepeatTimer};
use mlsys_lab::{DeviceId, LabError, Run};
use mlsys_nn::networks::{
    Activation, Filter, FilterCost, FilterShape, Initialization, Initializer,
};

use super::Setup;
use super::forms::Form;
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
    /// For one image.
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
        let id = run.device;
        let mut work = Work::new(id, setup, meter.device());
        let mut clocks = Vec::new();
        for &form in &setup.forms {
            run.status(format!("warming up {}", form.name()));
            for piece in work.pieces(form, setup) {
                let clock = RepeatTimer::warm_up(piece.forward, PACE)?;
                clocks.push((form, piece.layer, clock));
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
                Some((place, shape)) => times.layers.push(TimedLayer {
                    form: *form,
                    place,
                    shape,
                    cost: shape.cost(setup.sizes.size),
                    seconds,
                }),
                None => times.blocks.push((*form, seconds)),
            }
        }
        times.roof = Some(ceilings.roof());
        run.status("");
        Ok(times)
    }
}

/// What is timed: a layer by its place from 1, or a whole block.
struct Piece {
    layer: Option<(usize, FilterShape)>,
    forward: Box<dyn Workload>,
}

struct Work {
    id: DeviceId,
    device: Device,
    batch_size: usize,
    edge: usize,
    inputs: HashMap<usize, Tensor<4>>,
}

impl Work {
    fn new(id: DeviceId, setup: &Setup, device: &Device) -> Self {
        Self {
            id,
            device: device.clone(),
            batch_size: setup.batch_size,
            edge: setup.sizes.size,
            inputs: HashMap::new(),
        }
    }

    fn pieces(&mut self, form: Form, setup: &Setup) -> Vec<Piece> {
        let shapes = form.layers(&setup.sizes);
        let mut initial = Initializer::new(Initialization::He, setup.seed, &self.device);
        let filters: Vec<Filter> = shapes.iter().map(|x| x.init(&mut initial)).collect();
        let mut pieces = Vec::new();
        for (index, (shape, filter)) in shapes.iter().zip(&filters).enumerate() {
            let forward = self.forward(shape, vec![filter.clone()], Activation::Identity);
            pieces.push(Piece { layer: Some((index + 1, *shape)), forward });
        }
        if let Some(first) = shapes.first() {
            let forward = self.forward(first, filters, Activation::Relu);
            pieces.push(Piece { layer: None, forward });
        }
        pieces
    }

    fn forward(
        &mut self,
        first: &FilterShape,
        filters: Vec<Filter>,
        activation: Activation,
    ) -> Box<dyn Workload> {
        let images = self.input(first.channels_in);
        computing(&self.device, self.id, move || {
            let through = |x, filter: &Filter| activation.apply(filter.forward(x));
            filters.iter().fold(images.clone(), through)
        })
    }

    /// What the numbers are does not change what is done with them.
    fn input(&mut self, channels: usize) -> Tensor<4> {
        let shape = [self.batch_size, channels, self.edge, self.edge];
        let made = || Tensor::full(shape, 0.5, &self.device);
        self.inputs.entry(channels).or_insert_with(made).clone()
    }
}
