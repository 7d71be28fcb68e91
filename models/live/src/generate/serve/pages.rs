//! Keys and values in pages: a request's cache lies wherever pages were free, and a table says where.

use std::collections::BTreeMap;

use burn::tensor::Tensor;

/// Keys and values, `[1, kv_heads, tokens, head]` both.
type Kept = [Tensor<4>; 2];

/// Pages of one size, each of which belongs to a request or is free.
pub(super) struct Pool {
    /// Tokens of a page.
    page: usize,
    /// Blocks of the model.
    blocks: usize,
    /// For each page and block what it keeps.
    pages: Vec<Vec<Option<Kept>>>,
    /// Pages that belong to nobody.
    free: Vec<usize>,
    /// The pages of each request, in the order of its tokens.
    tables: BTreeMap<usize, Vec<usize>>,
}

impl Pool {
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
    pub(super) fn keep(&mut self, request: usize, block: usize, new: &Kept) -> Kept {
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

    /// Gives a request's pages back.
    pub(super) fn release(&mut self, request: usize) {
        for page in self.tables.remove(&request).unwrap_or_default() {
            if let Some(page) = self.pages.get_mut(page) {
                page.fill(None);
            }
            self.free.push(page);
        }
        // The lowest is taken first, so that a picture of them stays compact.
        self.free.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// For each page the request that it belongs to and the tokens in it.
    pub(super) fn owners(&self) -> Vec<Option<(usize, usize)>> {
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

    /// The first page of a request that has room for a token of a block, and the tokens in it; a free one, or a new one, where
    /// all are full.
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

/// Pieces one after the other.
fn joined(mut pieces: Vec<Kept>) -> Kept {
    if pieces.len() == 1
        && let Some(only) = pieces.pop()
    {
        return only;
    }
    let (keys, values): (Vec<_>, Vec<_>) = pieces.into_iter().map(|[k, v]| (k, v)).unzip();
    [Tensor::cat(keys, 2), Tensor::cat(values, 2)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Device, TensorData};
    use mlsys_device::workers;

    fn tokens(numbers: &[f32]) -> Kept {
        let data = TensorData::new(numbers.to_vec(), [1, 1, numbers.len(), 1]);
        let x = Tensor::from_data(data, &Device::flex());
        [x.clone(), x]
    }

    fn kept(pool: &mut Pool, request: usize, numbers: &[f32]) -> Vec<f32> {
        let [keys, _] = pool.keep(request, 0, &tokens(numbers));
        workers::read(keys).unwrap()
    }

    #[test]
    fn a_request_reads_its_tokens_in_order_wherever_they_lie() {
        let mut pool = Pool::new(2, 1);
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
