//! A server: requests of different lengths come while others are served, and share the passes of the model.

use std::collections::BTreeMap;
use std::time::Instant;

use burn::tensor::{Device, Int, Tensor, TensorData};
use mlsys_distributed::transport::CommError;
use mlsys_lab::Run;
use mlsys_nn::data::Vocabulary;
use mlsys_nn::flat_params;
use mlsys_nn::networks::{TokenPositions, Transformer, TransformerConfig};
use mlsys_nn::random::Stream;

use super::decoder::{KeyValues, joined};
use super::schedule::{Batching, Request, Schedule, Server, Step};
use crate::sampling::{draw, probabilities};
use crate::stepped::{Steps, point};

pub(super) struct Service {
    pub(super) network: Transformer,
    pub(super) config: TransformerConfig,
    pub(super) vocabulary: Vocabulary,
    pub(super) device: Device,
    pub(super) window: Option<usize>,
    pub(super) server: Server,
    pub(super) requests: Vec<Request>,
    /// A prompt for each, as long as the longest; each request takes its first tokens.
    pub(super) prompts: Vec<Vec<i32>>,
    pub(super) temperature: f64,
    pub(super) seed: u64,
}

pub(super) struct Serving {
    pub(super) service: Service,
    pub(super) pool: PagePool,
    /// The step that filled most pages, from 1, and its pages.
    pub(super) fullest: (usize, PageOwners),
    /// Prompt and answer of each request, as far as they have come.
    pub(super) texts: Vec<Vec<i32>>,
    streams: Vec<Stream>,
    pub(super) schedule: Schedule,
    /// The same requests served the other way, by the plan alone.
    pub(super) other: (Batching, Schedule),
    pub(super) steps: Steps,
    seconds: f64,
    tokens: u64,
}

impl Serving {
    pub(super) fn new(service: Service) -> Self {
        let schedule = service.server.schedule(&service.requests);
        let batching = service.server.batching.other();
        let other = Server { batching, ..service.server };
        let texts = service.requests.iter().zip(&service.prompts);
        let stream =
            |request: usize| Stream::new(service.seed, &format!("generate/request/{request}"));
        Self {
            pool: PagePool::new(service.server.page_size(), service.config.depth),
            fullest: (0, Vec::new()),
            texts: texts
                .map(|(request, prompt)| prompt[..request.prompt.min(prompt.len())].to_vec())
                .collect(),
            streams: (0..service.requests.len()).map(stream).collect(),
            other: (batching, other.schedule(&service.requests)),
            schedule,
            service,
            steps: Steps::default(),
            seconds: 0.0,
            tokens: 0,
        }
    }

    /// One token for each request that has a slot: new prompts are read one by one, other last tokens in one pass.
    pub(super) fn step(&mut self) -> Result<(), CommError> {
        let Some(step) = self.schedule.steps.get(self.done()).cloned() else { return Ok(()) };
        let started = Instant::now();
        let of = |is_first: bool| {
            let own = step.served.iter().filter(move |(_, count)| (*count == 1) == is_first);
            own.map(|(request, _)| *request).collect::<Vec<usize>>()
        };
        for request in of(true) {
            self.pass(&[request])?;
        }
        let requests = of(false);
        if !requests.is_empty() {
            self.pass(&requests)?;
        }
        self.tokens += step.served.len() as u64;
        self.steps.done += 1;
        let owners = self.pool.owners();
        let taken = |owners: &PageOwners| owners.iter().flatten().count();
        if taken(&owners) > taken(&self.fullest.1) {
            self.fullest = (self.done(), owners);
        }
        step.leaving.into_iter().for_each(|request| self.pool.release(request));
        self.seconds += started.elapsed().as_secs_f64();
        Ok(())
    }

    /// Reads what is new of some requests, as many tokens of each, and chooses the next token of each.
    fn pass(&mut self, requests: &[usize]) -> Result<(), CommError> {
        let first = |request: &usize| {
            let answered = self.texts[*request].len() - self.service.requests[*request].prompt;
            if answered == 0 { 0 } else { self.texts[*request].len() - 1 }
        };
        let begins: Vec<usize> = requests.iter().map(first).collect();
        let ends: Vec<usize> = requests.iter().map(|request| self.texts[*request].len()).collect();
        let most = ends.iter().copied().max().unwrap_or(0);
        let rows = || begins.iter().zip(&ends);
        let positions = TokenPositions {
            new: rows().map(|(begin, end)| (*begin..*end).collect()).collect(),
            seen: rows()
                .map(|(_, end)| (0..most).map(|at| (at < *end).then_some(at)).collect())
                .collect(),
            window: self.service.window,
        };
        let new = requests.iter().zip(&begins);
        let new: Vec<i32> =
            new.flat_map(|(request, begin)| self.texts[*request][*begin..].to_vec()).collect();
        let time = new.len() / requests.len().max(1);
        let tokens = TensorData::new(new, [requests.len(), time]);
        let tokens = Tensor::<2, Int>::from_data(tokens, &self.service.device);
        let pool = &mut self.pool;
        let found = self.service.network.extend(tokens, &positions, 1, |block, keys, values| {
            let [_, heads, time, head] = keys.dims();
            let rows = requests.iter().enumerate().map(|(row, request)| {
                let own =
                    |x: &Tensor<4>| x.clone().slice([row..row + 1, 0..heads, 0..time, 0..head]);
                pool.keep(*request, block, &[own(&keys), own(&values)]).map(|x| padded(x, most))
            });
            let (keys, values): (Vec<_>, Vec<_>) = rows.map(<(_, _)>::from).unzip();
            (Tensor::cat(keys, 0), Tensor::cat(values, 0))
        });
        let vocab = self.service.config.vocab;
        let scores = flat_params::numbers(found.logits, requests.len() * vocab)?;
        for (request, scores) in requests.iter().zip(scores.chunks(vocab)) {
            let shares = probabilities(scores, self.service.temperature);
            let token = draw(&shares, &mut self.streams[*request]);
            self.texts[*request].push(token as i32);
        }
        Ok(())
    }

    pub(super) fn answer(&self, request: usize) -> String {
        let text = self.texts.get(request).zip(self.service.requests.get(request));
        let own = text.map_or(&[][..], |(text, request)| &text[request.prompt..]);
        self.service.vocabulary.text(own)
    }

    pub(super) fn report_plan(&self, run: &mut Run<'_>) {
        run.scalar("steps_planned", self.schedule.steps.len() as i64);
        let both = [(self.service.server.batching, &self.schedule), (self.other.0, &self.other.1)];
        for (batching, schedule) in both {
            let name = batching.name();
            let requests = &self.service.requests;
            run.scalar(&format!("server_steps.{name}"), schedule.steps.len() as i64);
            run.scalar(&format!("slot_use.{name}"), schedule.slot_use());
            run.scalar(&format!("cache_waste.{name}"), schedule.waste());
            run.scalar(&format!("mean_wait_steps.{name}"), schedule.mean_wait(requests));
        }
    }

    pub(super) fn report(&self, run: &mut Run<'_>) {
        if self.seconds > 0.0 {
            run.scalar("tokens_per_second", self.tokens as f64 / self.seconds);
        }
        if let Some(step) = self.now() {
            let served = step.slots.iter().flatten().count();
            point(run, "requests_served", self.steps.done, served as f64);
            point(run, "requests_waiting", self.steps.done, step.waiting as f64);
        }
    }

    pub(super) fn done(&self) -> usize {
        self.steps.done as usize
    }

    pub(super) fn now(&self) -> Option<&Step> {
        self.schedule.steps.get(self.done().checked_sub(1)?)
    }
}

/// With zeros behind, where no key is looked at.
fn padded(x: Tensor<4>, tokens: usize) -> Tensor<4> {
    let [batch, heads, own, head] = x.dims();
    if own >= tokens {
        return x;
    }
    let nothing = Tensor::zeros([batch, heads, tokens - own, head], &x.device());
    Tensor::cat(vec![x, nothing], 2)
}

// Keys and values in pages: a request's cache lies wherever pages were free, and a table says where.

/// For each page the request that it belongs to and the tokens in it.
pub(super) type PageOwners = Vec<Option<(usize, usize)>>;

/// Pages of one size, each of which belongs to a request or is free.
pub(super) struct PagePool {
    page: usize,
    blocks: usize,
    /// For each page and block what it keeps.
    pages: Vec<Vec<Option<KeyValues>>>,
    free: Vec<usize>,
    /// The pages of each request, in the order of its tokens.
    tables: BTreeMap<usize, Vec<usize>>,
}

impl PagePool {
    /// No page yet: there come to be as many as are needed at once.
    pub(super) fn new(page: usize, blocks: usize) -> Self {
        Self {
            page: page.max(1),
            blocks,
            pages: Vec::new(),
            free: Vec::new(),
            tables: BTreeMap::new(),
        }
    }

    /// Keeps keys and values of more tokens of a request for a block; all of them, from whichever pages they lie in.
    pub(super) fn keep(&mut self, request: usize, block: usize, new: &KeyValues) -> KeyValues {
        let [_, heads, tokens, head] = new[0].dims();
        let mut begin = 0;
        while begin < tokens {
            let (at, used) = self.open(request, block);
            let end = tokens.min(begin + self.page - used);
            let part = new.clone().map(|x| x.slice([0..1, 0..heads, begin..end, 0..head]));
            if let Some(place) = self.pages.get_mut(at).and_then(|page| page.get_mut(block)) {
                *place = Some(joined(place.take().into_iter().chain([part]).collect()));
            }
            begin = end;
        }
        let table = self.tables.get(&request).map_or(&[][..], Vec::as_slice);
        let pieces = table.iter().filter_map(|page| self.pages.get(*page)?.get(block)?.clone());
        joined(pieces.collect())
    }

    pub(super) fn release(&mut self, request: usize) {
        let Some(pages) = self.tables.remove(&request) else { return };
        for page in pages {
            self.pages[page].fill(None);
            self.free.push(page);
        }
        // The lowest is taken first, so that a picture of them stays compact.
        self.free.sort_unstable_by(|a, b| b.cmp(a));
    }

    pub(super) fn owners(&self) -> PageOwners {
        let mut owners = vec![None; self.pages.len()];
        for (request, table) in &self.tables {
            for page in table {
                if let Some(owner) = owners.get_mut(*page) {
                    *owner = Some((*request, self.tokens(*page, 0)));
                }
            }
        }
        owners
    }

    fn tokens(&self, page: usize, block: usize) -> usize {
        let kept = self.pages.get(page).and_then(|page| page.get(block)?.as_ref());
        kept.map_or(0, |[keys, _]| keys.dims()[2])
    }

    /// A request's first page with room for a token of a block, else a free or a new one, and the tokens in it.
    fn open(&mut self, request: usize, block: usize) -> (usize, usize) {
        let table = self.tables.get(&request).map_or(&[][..], Vec::as_slice);
        let used = table.iter().map(|page| (*page, self.tokens(*page, block)));
        if let Some(open) = used.into_iter().find(|(_, used)| *used < self.page) {
            return open;
        }
        let at = self.free.pop().unwrap_or_else(|| {
            self.pages.push(vec![None; self.blocks]);
            self.pages.len() - 1
        });
        self.tables.entry(request).or_default().push(at);
        (at, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Device, TensorData};

    fn tokens(numbers: &[f32]) -> KeyValues {
        let data = TensorData::new(numbers.to_vec(), [1, 1, numbers.len(), 1]);
        let x = Tensor::from_data(data, &Device::flex());
        [x.clone(), x]
    }

    fn kept(pool: &mut PagePool, request: usize, numbers: &[f32]) -> Vec<f32> {
        let [keys, _] = pool.keep(request, 0, &tokens(numbers));
        keys.into_data().iter::<f32>().collect()
    }

    #[test]
    fn paged_tokens_are_read_in_order() {
        let mut pool = PagePool::new(2, 1);
        assert_eq!(kept(&mut pool, 7, &[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        assert_eq!(kept(&mut pool, 8, &[9.0]), [9.0]);
        assert_eq!(pool.owners(), [Some((7, 2)), Some((7, 1)), Some((8, 1))]);
        assert_eq!(kept(&mut pool, 7, &[4.0, 5.0]), [1.0, 2.0, 3.0, 4.0, 5.0]);
        pool.release(7);
        assert_eq!(pool.owners(), [None, None, Some((8, 1)), None]);
        // What was freed is taken again, and does not follow the order of the pages.
        assert_eq!(kept(&mut pool, 8, &[10.0, 11.0, 12.0, 13.0]), [9.0, 10.0, 11.0, 12.0, 13.0]);
        assert_eq!(pool.owners(), [Some((8, 2)), Some((8, 1)), Some((8, 2)), None]);
    }
}
