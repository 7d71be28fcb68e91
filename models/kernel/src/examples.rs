//! The built-in kernels: their texts, what they are launched on, and what should come out.

mod reference;

use crate::Launch;
pub(crate) use crate::examples::reference::Reference;
use crate::proof::{BlockRule, Contract, Given, GridRule};
#[cfg(test)]
use crate::recipe;
use mlsys_lab::frame::kernel::{Argument as BoundArgument, Fill};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) elements: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) radius: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    VectorAdd,
    Brighten,
    WindowSum,
    /// The same with the block's part in shared memory.
    SharedWindowSum,
    Reduce,
    Transpose,
    Matmul,
    Softmax,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Example {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    pub(crate) problem: Problem,
    /// The block it is made for, or any.
    pub(crate) block: Option<[u32; 3]>,
}

macro_rules! example {
    ($name:literal, $problem:ident, $block:expr) => {
        Example {
            name: $name,
            source: include_str!(concat!("examples/", $name, ".cu")),
            problem: Problem::$problem,
            block: $block,
        }
    };
}

/// All of them, in the order in which lessons come to them.
pub(crate) const EXAMPLES: [Example; 17] = [
    example!("vector-add", VectorAdd, None),
    example!("vector-add-unguarded", VectorAdd, None),
    example!("vector-add-local-index", VectorAdd, None),
    example!("grid-stride", VectorAdd, None),
    example!("brighten-2d", Brighten, None),
    example!("window-sum-naive", WindowSum, None),
    example!("window-sum-shared", SharedWindowSum, None),
    example!("window-sum-slide", SharedWindowSum, None),
    example!("window-sum-no-barrier", SharedWindowSum, None),
    example!("reduce-interleaved", Reduce, None),
    example!("reduce-sequential", Reduce, None),
    example!("transpose-naive", Transpose, None),
    example!("transpose-tile", Transpose, Some([32, 32, 1])),
    example!("transpose-padded", Transpose, Some([32, 32, 1])),
    example!("matmul-naive", Matmul, None),
    example!("matmul-tile", Matmul, Some([16, 16, 1])),
    example!("softmax-row", Softmax, None),
];

impl Example {
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        EXAMPLES.iter().find(|example| example.name == name)
    }

    pub(crate) fn usual_block(&self) -> [u32; 3] {
        match (self.block, self.problem) {
            (Some(block), _) => block,
            (None, Problem::Brighten | Problem::Matmul) => [16, 16, 1],
            (None, Problem::Transpose) => [32, 32, 1],
            (None, Problem::Softmax) => [32, 1, 1],
            (None, _) => [4, 1, 1],
        }
    }

    /// The fewest blocks that cover the problem.
    pub(crate) fn covering(&self, sizes: Sizes, block: [u32; 3]) -> [u32; 3] {
        let over = |extent: usize, by: u32| extent.div_ceil(by as usize).max(1) as u32;
        match self.problem {
            Problem::VectorAdd
            | Problem::WindowSum
            | Problem::SharedWindowSum
            | Problem::Reduce => [over(sizes.elements, block[0]), 1, 1],
            Problem::Brighten | Problem::Transpose => {
                [over(sizes.columns, block[0]), over(sizes.rows, block[1]), 1]
            }
            Problem::Matmul => [over(sizes.rows, block[0]), over(sizes.rows, block[1]), 1],
            Problem::Softmax => [sizes.rows as u32, 1, 1],
        }
    }

    /// Bytes its `extern __shared__` array needs.
    pub(crate) fn dynamic_shared(&self, sizes: Sizes, block: [u32; 3]) -> u32 {
        match self.problem {
            Problem::SharedWindowSum => 4 * (block[0] + 2 * sizes.radius as u32),
            Problem::Reduce | Problem::Softmax => 4 * block[0],
            Problem::VectorAdd
            | Problem::Brighten
            | Problem::WindowSum
            | Problem::Transpose
            | Problem::Matmul => 0,
        }
    }

    /// Its arguments; the output is an uninitialized buffer.
    pub(crate) fn given(&self, sizes: Sizes, launch: &Launch) -> Vec<BoundArgument> {
        let Sizes { elements, rows, columns, radius } = sizes;
        let whole = |value: usize| BoundArgument::Whole(value as i64);
        let mut arguments: Vec<BoundArgument> = self
            .inputs(sizes)
            .into_iter()
            .map(|(elements, fill)| BoundArgument::Buffer { elements, fill })
            .collect();
        arguments.push(BoundArgument::Buffer {
            elements: self.outputs(sizes, launch),
            fill: Fill::Poison,
        });
        match self.problem {
            Problem::VectorAdd | Problem::Reduce => arguments.push(whole(elements)),
            Problem::WindowSum | Problem::SharedWindowSum => {
                arguments.extend([whole(elements), whole(radius)])
            }
            Problem::Brighten | Problem::Transpose | Problem::Matmul | Problem::Softmax => {
                arguments.extend([whole(rows), whole(columns)]);
            }
        }
        arguments
    }

    /// The same with the contents of the buffers.
    #[cfg(test)]
    pub(crate) fn arguments(&self, sizes: Sizes, launch: &Launch) -> Vec<crate::Argument> {
        let kernel = crate::Kernel::parse("example.cu", self.source).expect("an example reads");
        recipe::arguments(&kernel, &self.given(sizes, launch))
    }

    /// All launches that it is made for: what `given`, `covering` and `dynamic_shared` say of one, with the sizes as names.
    pub(crate) fn contract(&self) -> Contract {
        let sizes = Sizes { elements: 1, rows: 1, columns: 1, radius: 1 };
        let fills = self.inputs(sizes).into_iter().map(|(_, fill)| fill).chain([Fill::Poison]);
        let covers = |formula: &str| GridRule::Covers(formula.to_owned());
        let ([x, y], names, lengths, shared): (_, &[&str], &[&str], &str) = match self.problem {
            Problem::VectorAdd => ([covers("n"), GridRule::One], &["n"], &["n", "n", "n"], "0"),
            Problem::WindowSum => {
                ([covers("n"), GridRule::One], &["n", "radius"], &["n + 2*radius", "n"], "0")
            }
            Problem::SharedWindowSum => (
                [covers("n"), GridRule::One],
                &["n", "radius"],
                &["n + 2*radius", "n"],
                "4*blockDim.x + 8*radius",
            ),
            Problem::Reduce => {
                ([covers("n"), GridRule::One], &["n"], &["n", "gridDim.x"], "4*blockDim.x")
            }
            Problem::Brighten | Problem::Transpose => {
                let area = &["rows*columns", "rows*columns"];
                ([covers("columns"), covers("rows")], &["rows", "columns"], area, "0")
            }
            Problem::Matmul => (
                [covers("rows"), covers("rows")],
                &["rows", "columns"],
                &["rows*columns", "rows*columns", "rows*rows"],
                "0",
            ),
            Problem::Softmax => (
                [GridRule::Exactly("rows".to_owned()), GridRule::One],
                &["rows", "columns"],
                &["rows*columns", "rows*columns"],
                "4*blockDim.x",
            ),
        };
        let buffer =
            |(length, fill): (&&str, Fill)| Given::Buffer { length: (*length).to_owned(), fill };
        let numbers = names.iter().map(|name| Given::Whole((*name).to_owned()));
        let dimensions = if y == GridRule::One { 1 } else { 2 };
        Contract {
            sizes: names.iter().map(|name| (*name).to_owned()).collect(),
            given: lengths.iter().zip(fills).map(buffer).chain(numbers).collect(),
            grid: [x, y, GridRule::One],
            block: self.block.map_or(BlockRule::Dimensions(dimensions), BlockRule::Exactly),
            dynamic_shared: shared.to_owned(),
        }
    }

    fn inputs(&self, sizes: Sizes) -> Vec<(usize, Fill)> {
        let Sizes { elements, rows, columns, radius } = sizes;
        // Whole numbers that floats hold exactly, and that tell where they came from.
        let ramp = |times, modulo, scale, offset| Fill::Ramp { times, modulo, scale, offset };
        match self.problem {
            Problem::VectorAdd => vec![(elements, Fill::INDEX), (elements, ramp(1, 0, 1.0, 100.0))],
            Problem::WindowSum | Problem::SharedWindowSum => {
                vec![(elements + 2 * radius, Fill::INDEX)]
            }
            Problem::Reduce => vec![(elements, ramp(1, 1024, 1.0, 0.0))],
            Problem::Brighten => vec![(rows * columns, ramp(1, 256, 1.0, 0.0))],
            Problem::Transpose => vec![(rows * columns, Fill::INDEX)],
            Problem::Matmul => vec![
                (rows * columns, ramp(1, 7, 1.0, -3.0)),
                (rows * columns, ramp(1, 5, 1.0, -3.0)),
            ],
            Problem::Softmax => vec![(rows * columns, ramp(7, 16, 0.25, 0.0))],
        }
    }

    fn outputs(&self, sizes: Sizes, launch: &Launch) -> usize {
        let Sizes { elements, rows, columns, .. } = sizes;
        match self.problem {
            Problem::VectorAdd | Problem::WindowSum | Problem::SharedWindowSum => elements,
            // A grid larger than the problem sums nothing at its end.
            Problem::Reduce => launch.grid_dim[0] as usize,
            Problem::Brighten | Problem::Transpose | Problem::Softmax => rows * columns,
            Problem::Matmul => rows * rows,
        }
    }

    pub(crate) fn output(&self) -> &'static str {
        match self.problem {
            Problem::VectorAdd | Problem::Matmul => "C",
            Problem::WindowSum | Problem::SharedWindowSum => "B",
            Problem::Brighten | Problem::Reduce | Problem::Transpose | Problem::Softmax => "out",
        }
    }
}
