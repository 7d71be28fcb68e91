//! Ways to form a sum over ranks, and what each costs by its closed formula.

/// How ranks sum their buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Reduce-scatter round a ring, then all-gather round it (Patarasuk & Yuan 2009).
    Ring,
    /// Partners at half the distance and with half the buffer in every round, and back (Thakur et al. 2005).
    RecursiveHalvingDoubling,
    /// A binomial tree up, then down, with the whole buffer in every message.
    Tree,
    /// Two binary trees at once, each with half the buffer, pipelined by chunks (Sanders, Speck & Träff 2009).
    DoubleTree,
    /// Everybody to one server and back.
    ParameterServer,
    /// Everybody serves its piece of the buffer to all others.
    ShardedParameterServer,
}

/// What an all-reduce costs by its closed formula, with `p` ranks, a buffer of `n` bytes and `L = ceil(log2 p)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closed {
    /// Messages that follow one another.
    pub steps: u64,
    /// Bytes that pass one after another on the critical path.
    pub serial_bytes: f64,
    /// Most ranks that send to one receiver at the same time.
    pub fan_in: u64,
}

impl Algorithm {
    /// All of them, in the order of the lab `all-reduce`.
    pub const ALL: [Self; 6] = [
        Self::Ring,
        Self::RecursiveHalvingDoubling,
        Self::Tree,
        Self::DoubleTree,
        Self::ParameterServer,
        Self::ShardedParameterServer,
    ];

    /// Its name among the values of the parameter `algorithm`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::RecursiveHalvingDoubling => "recursive-halving-doubling",
            Self::Tree => "tree",
            Self::DoubleTree => "double-tree",
            Self::ParameterServer => "parameter-server",
            Self::ShardedParameterServer => "sharded-parameter-server",
        }
    }

    /// The algorithm of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Whether so many ranks can sum in this way.
    pub fn takes(self, ranks: usize) -> bool {
        match self {
            Self::RecursiveHalvingDoubling => ranks.is_power_of_two(),
            Self::Ring
            | Self::Tree
            | Self::DoubleTree
            | Self::ParameterServer
            | Self::ShardedParameterServer => ranks > 0,
        }
    }

    /// Messages that follow one another; none for a rank alone.
    pub fn steps(self, ranks: usize) -> u64 {
        if ranks < 2 {
            return 0;
        }
        let levels = u64::from(ranks.next_power_of_two().ilog2());
        match self {
            Self::Ring => 2 * (ranks as u64 - 1),
            Self::RecursiveHalvingDoubling | Self::Tree | Self::DoubleTree => 2 * levels,
            Self::ParameterServer | Self::ShardedParameterServer => 2,
        }
    }

    /// The closed formula, for a buffer of so many bytes. The double tree is taken to be pipelined ideally: its chunks
    /// are so many that filling and emptying the pipeline costs latency alone.
    pub fn closed(self, ranks: usize, bytes: f64) -> Closed {
        let p = ranks as f64;
        let steps = self.steps(ranks);
        let (factor, fan_in) = match self {
            // Alone nothing is sent, not even to a server.
            _ if ranks < 2 => (0.0, 0),
            Self::Ring | Self::RecursiveHalvingDoubling => (2.0 * (p - 1.0) / p, 1),
            Self::Tree => (steps as f64, 1),
            Self::DoubleTree => (2.0, 2),
            Self::ParameterServer => (2.0 * p, ranks as u64),
            Self::ShardedParameterServer => (2.0 * (p - 1.0) / p, ranks as u64 - 1),
        };
        Closed { steps, serial_bytes: factor * bytes, fan_in }
    }
}
