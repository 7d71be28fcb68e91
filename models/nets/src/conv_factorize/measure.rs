//! How long each layer and each block takes on this device, and the roof over them.

use std::time::{Duration, Instant};

use burn::tensor::{Device, Tensor};
use mlsys_lab::report::Report;
use mlsys_lab::{DeviceId, LabError, Run};

use super::form::Form;
use super::setup::Setup;
use crate::device;
use crate::device::meter::{Meter, Pass, Precision};
use crate::nets::{Activation, Filter, FilterCost, FilterShape, Initial, Initialization};
use crate::roof::{Ceilings, Roof};
use crate::timing::{Clock, Pace};

const PACE: Pace = Pace {
    slice: Duration::from_millis(3),
    least: Duration::from_millis(12),
    most: Duration::from_millis(60),
};

/// How often each piece of work is timed; the median counts.
const REPETITIONS: usize = 3;

/// What was timed.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    pub(super) layers: Vec<TimedLayer>,
    /// Seconds of each block's forward pass, relu included.
    pub(super) blocks: Vec<(Form, f64)>,
    /// Nothing until it has been measured.
    pub(super) roof: Option<Roof>,
}

/// One layer's forward pass of a batch.
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
    /// Seconds of a block, if it has been timed.
    pub(super) fn block(&self, form: Form) -> Option<f64> {
        let found = self.blocks.iter().find(|(known, _)| *known == form);
        found.map(|(_, seconds)| *seconds)
    }

    /// Times every layer and every block, unless the run ends meanwhile.
    pub(super) fn measure(run: &mut Run<'_>, setup: &Setup) -> Result<Self, LabError> {
        let mut times = Self::default();
        let status = |run: &mut Run<'_>, text: String| run.sink.report(Report::Status(text));
        status(run, "measuring the roof of this machine".to_owned());
        let meter = Meter::open(run.device, Precision::Fp32)?;
        let mut ceilings = Ceilings::measure(&meter, None, || run.control.interrupted())?;
        let id = run.device;
        for &form in &setup.forms {
            status(run, format!("timing {}", form.name()));
            let shapes = form.layers(&setup.sizes);
            let mut initial = Initial::new(Initialization::He, setup.seed, meter.device());
            let filters: Vec<Filter> = shapes.iter().map(|x| x.init(&mut initial)).collect();
            let mut time = |filters: &[Filter], shape: &FilterShape, activation, flops: u64| {
                let images = [
                    setup.batch_size,
                    shape.channels_in,
                    setup.sizes.size,
                    setup.sizes.size,
                ];
                let work = Forward {
                    device: meter.device().clone(),
                    id,
                    images: Tensor::full(images, 0.5, meter.device()),
                    filters: filters.to_vec(),
                    activation,
                    flops,
                };
                let mut clock = Clock::warm_up(Box::new(work), PACE)?;
                for _ in 0..REPETITIONS {
                    ceilings.look_again()?;
                    clock.repeat(|| run.control.interrupted())?;
                }
                Ok::<_, LabError>(clock.times().median().unwrap_or(f64::NAN))
            };
            let images = setup.batch_size as u64;
            for (index, shape) in shapes.iter().enumerate() {
                let cost = shape.cost(setup.sizes.size);
                let alone = &filters[index..=index];
                let seconds = time(alone, shape, Activation::Identity, cost.flops(images))?;
                times.layers.push(TimedLayer {
                    form,
                    place: index + 1,
                    shape: *shape,
                    cost,
                    seconds,
                });
            }
            if let Some(first) = shapes.first() {
                let flops = images * form.flops(&setup.sizes);
                let seconds = time(&filters, first, Activation::Relu, flops)?;
                times.blocks.push((form, seconds));
            }
            if run.control.must_end().is_some() {
                break;
            }
        }
        times.roof = Some(ceilings.roof());
        status(run, String::new());
        Ok(times)
    }
}

/// Filters one after the other, on a batch.
struct Forward {
    device: Device,
    id: DeviceId,
    images: Tensor<4>,
    filters: Vec<Filter>,
    activation: Activation,
    flops: u64,
}

impl Pass for Forward {
    fn amount(&self) -> f64 {
        self.flops as f64
    }

    fn time(&mut self, passes: u64) -> Result<f64, LabError> {
        device::sync(&self.device, self.id)?;
        let started = Instant::now();
        for _ in 0..passes {
            let mut x = self.images.clone();
            for filter in &self.filters {
                x = self.activation.apply(filter.forward(x));
            }
            drop(std::hint::black_box(x));
        }
        device::sync(&self.device, self.id)?;
        Ok(started.elapsed().as_secs_f64())
    }
}
