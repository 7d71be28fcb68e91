//! The schedule of a server: requests of different lengths, slots that serve one each, and pages that hold their caches.
//!
//! A step serves one token to each request that has a slot. Static batching fills all slots, and begins anew only when the
//! last of them is done; continuous batching (Yu et al. 2022) fills a slot as soon as it is free. A request's cache is
//! reserved in one piece for the longest that it may become, or grows by pages (Kwon et al. 2023).

use mlsys_lab::named_enum;
use mlsys_nn::random::Stream;
use serde::Deserialize;

named_enum! {
    /// When free slots are filled, and how memory is given to caches.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub(super) enum Batching {
        /// When all are free, in pieces of memory for the longest.
        Static = "static",
        /// When one is free, in pages.
        Continuous = "continuous",
    }
}

impl Batching {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Static => Self::Continuous,
            Self::Continuous => Self::Static,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) arrives: usize,
    pub(super) prompt: usize,
    pub(super) answer: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) batching: Batching,
    pub(super) slots: usize,
    pub(super) page: usize,
    pub(super) longest: [usize; 2],
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// The request in each slot, with the tokens that it has been served by the end of the step.
    pub(super) slots: Vec<Option<(usize, usize)>>,
    /// The requests that a token is served to, with the tokens they have then: not those done in a static batch.
    pub(super) served: Vec<(usize, usize)>,
    /// The requests that leave their slots after the step.
    pub(super) leaving: Vec<usize>,
    pub(super) waiting: usize,
    /// Tokens that caches hold, and tokens that they have room for.
    pub(super) held: usize,
    pub(super) budget: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Schedule {
    pub(super) steps: Vec<Step>,
}

/// Random requests: prompts of half to the longest, answers of one token to the longest, about `apart` steps apart.
pub(super) fn requests(
    count: usize,
    [prompt, answer]: [usize; 2],
    apart: usize,
    seed: u64,
) -> Vec<Request> {
    let mut stream = Stream::new(seed, "generate/requests");
    let mut arrives = 0;
    (0..count)
        .map(|_| {
            let least = prompt.div_ceil(2);
            let request = Request {
                arrives,
                prompt: least + stream.below(prompt - least + 1),
                answer: 1 + stream.below(answer),
            };
            arrives += stream.below(2 * apart + 1);
            request
        })
        .collect()
}

impl Server {
    /// Serves all of them, first come first served.
    pub(super) fn schedule(&self, requests: &[Request]) -> Schedule {
        let mut slots: Vec<Option<(usize, usize)>> = vec![None; self.slots.max(1)];
        let (mut next, mut schedule) = (0, Schedule::default());
        while next < requests.len() || slots.iter().any(Option::is_some) {
            let now = schedule.steps.len();
            let come = requests.iter().filter(|request| request.arrives <= now).count();
            let open = self.batching == Batching::Continuous || slots.iter().all(Option::is_none);
            for slot in slots.iter_mut().filter(|slot| open && slot.is_none()) {
                if next < come {
                    *slot = Some((next, 0));
                    next += 1;
                }
            }
            let mut step = Step { waiting: come - next, ..Step::default() };
            for (request, served) in slots.iter_mut().flatten() {
                let own = requests[*request];
                // In a static batch a request that is done keeps its slot and its memory.
                if *served < own.answer {
                    *served += 1;
                    step.served.push((*request, *served));
                }
                // The token that comes last is not read again.
                let held = own.prompt + *served - 1;
                step.held += held;
                step.budget += self.budget(held);
            }
            step.slots = slots.clone();
            let done = |slot: &Option<(usize, usize)>| {
                slot.is_none_or(|(request, served)| served >= requests[request].answer)
            };
            let open = self.batching == Batching::Continuous || slots.iter().all(done);
            for slot in slots.iter_mut().filter(|slot| open && done(slot)) {
                step.leaving.extend(slot.take().map(|(request, _)| request));
            }
            schedule.steps.push(step);
        }
        schedule
    }

    /// Tokens of a page: of a static batch a page is the memory of a whole request.
    pub(super) fn page_size(&self) -> usize {
        match self.batching {
            Batching::Static => self.budget(0),
            Batching::Continuous => self.page,
        }
    }

    /// Tokens that the pages of a cache have room for, `held` of them in use.
    pub(super) fn budget(&self, held: usize) -> usize {
        match self.batching {
            Batching::Static => self.longest.iter().sum::<usize>() - 1,
            Batching::Continuous => held.next_multiple_of(self.page.max(1)),
        }
    }
}

impl Schedule {
    /// The share of slots, over all steps, in which a token was served.
    pub(super) fn slot_use(&self) -> f64 {
        let used: usize = self.steps.iter().map(|step| step.served.len()).sum();
        let all: usize = self.steps.iter().map(|step| step.slots.len()).sum();
        used as f64 / all.max(1) as f64
    }

    /// The share of the room for caches, over all steps, that held no token.
    pub(super) fn waste(&self) -> f64 {
        let held: usize = self.steps.iter().map(|step| step.held).sum();
        let budget: usize = self.steps.iter().map(|step| step.budget).sum();
        1.0 - held as f64 / budget.max(1) as f64
    }

    /// Steps from the coming of a request to its first token, on average.
    pub(super) fn mean_wait(&self, requests: &[Request]) -> f64 {
        let first = |request: usize| {
            let found = |step: &Step| step.slots.iter().flatten().any(|(of, _)| *of == request);
            self.steps.iter().position(found).unwrap_or(0)
        };
        let waits =
            requests.iter().enumerate().map(|(at, own)| first(at).saturating_sub(own.arrives));
        waits.sum::<usize>() as f64 / requests.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(batching: Batching) -> Server {
        Server { batching, slots: 2, page: 4, longest: [4, 8] }
    }

    fn request(arrives: usize, prompt: usize, answer: usize) -> Request {
        Request { arrives, prompt, answer }
    }

    #[test]
    fn slots_fill_continuously_or_in_batches() {
        let requests = [request(0, 4, 5), request(0, 4, 1), request(1, 2, 3)];
        let continuous = server(Batching::Continuous).schedule(&requests);
        let static_ = server(Batching::Static).schedule(&requests);
        assert_eq!((continuous.steps.len(), static_.steps.len()), (5, 8));
        assert_eq!(continuous.steps[1].slots, [Some((0, 2)), Some((2, 1))]);
        assert_eq!(static_.steps[1].slots, [Some((0, 2)), Some((1, 1))]);
        // 9 tokens in 10 and in 16 slots.
        assert!((continuous.slot_use() - 0.9).abs() < 1e-12);
        assert!((static_.slot_use() - 9.0 / 16.0).abs() < 1e-12);
        assert_eq!(continuous.mean_wait(&requests), 0.0);
        assert_eq!(static_.mean_wait(&requests), 4.0 / 3.0);
    }

    #[test]
    fn caches_have_room_and_continuous_batching_is_never_slower() {
        for seed in 0..20 {
            let requests = requests(9, [4, 8], seed as usize % 5, seed);
            for batching in [Batching::Static, Batching::Continuous] {
                let schedule = server(batching).schedule(&requests);
                assert!(schedule.steps.iter().all(|step| step.held <= step.budget));
                assert!((0.0..1.0).contains(&schedule.waste()));
            }
            let steps = |batching| server(batching).schedule(&requests).steps.len();
            assert!(steps(Batching::Continuous) <= steps(Batching::Static));
        }
    }
}
