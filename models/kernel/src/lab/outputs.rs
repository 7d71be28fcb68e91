//! What a launch is to leave in its outputs, and where it differs.

use crate::examples::Reference;
use crate::lab::Job;
use crate::parts::in_parts;
use crate::{Argument, Machine, Values};

impl Job {
    /// Names of the buffers that the kernel is to fill: those that hold nothing at the start.
    pub(super) fn outputs(&self, machine: &Machine) -> Vec<String> {
        let pointers = self.arguments.iter().filter_map(|argument| match argument {
            Argument::Buffer(values) => Some(matches!(values, Values::Poison(_))),
            Argument::Whole(_) | Argument::Real(_) => None,
        });
        let named = machine.buffers().zip(pointers);
        named.filter(|(_, empty)| *empty).map(|((name, ..), _)| name.to_owned()).collect()
    }

    /// What should be in the output; none of a custom kernel.
    fn reference(&self) -> Option<Reference> {
        match (&self.plugged, self.example) {
            (Some(plugged), _) => Some(Reference::listed(plugged.wanted())),
            (None, Some(example)) => Some(example.reference(self.sizes, &self.launch)),
            (None, None) => None,
        }
    }

    /// Outputs that are not as they should be, ascending.
    pub(super) fn mismatches(&self, machine: &Machine) -> Vec<usize> {
        let (Some(name), Some(reference)) = (&self.output, self.reference()) else {
            return Vec::new();
        };
        // A long float sum in one thread is as far from the reference as another device may be; integers are exact.
        let real = machine.buffers().any(|(buffer, of, _)| buffer == name && of.is_real());
        let tolerance = if real { crate::device::TOLERANCE } else { 0.0 };
        in_parts(reference.count, |range| {
            let mut found = machine.elements(name, range.clone());
            let differs = |index: &usize| {
                let want = reference.element(*index);
                !found.next().is_some_and(|got| (got - want).abs() <= tolerance * want.abs())
            };
            range.filter(differs).collect()
        })
    }
}
