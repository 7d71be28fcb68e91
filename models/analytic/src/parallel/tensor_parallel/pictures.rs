//! What the lab shows: shares over ranks and links, the slices of the weights, the calculation.

use mlsys_lab::frame::{Dimension, Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Tables, Value};

use super::{Around, Layer};
use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, percent};
use mlsys_sim::slices::{Cut, Region, Weight, walks, weights};

/// Links that the share is drawn for, besides the layer's own, the fastest first.
const LINKS: [&str; 4] = ["nvlink4", "nvlink3", "pcie4-x16", "infiniband-edr"];

/// Ranks that the share is drawn for.
const RANKS: [f64; 6] = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// The weights of a layer of a GPT.
const WEIGHTS: [Weight; 4] = [
    Weight { name: "q, k, v", shape: "h x 3h", cut: Cut::Columns },
    Weight { name: "output", shape: "h x h", cut: Cut::Rows },
    Weight { name: "up", shape: "h x 4h", cut: Cut::Columns },
    Weight { name: "down", shape: "4h x h", cut: Cut::Rows },
];

impl Layer {
    fn over(&self, ranks: f64, bandwidth: f64) -> Self {
        Self { ranks, bandwidth, ..*self }
    }

    /// The share of communication against ranks, a line a link.
    pub(super) fn shares(&self) -> Frame {
        let mut links: Vec<(String, f64)> = Vec::new();
        for link in LINKS {
            if let Some(bandwidth) = bandwidth(link) {
                links.push((link.to_owned(), bandwidth));
            }
        }
        if !links.iter().any(|(_, other)| *other == self.bandwidth) {
            let own = format!("this link, {} bytes/s", number(self.bandwidth));
            links.push((own, self.bandwidth));
        }
        let mut ranks = RANKS.to_vec();
        if !ranks.contains(&self.ranks) {
            ranks.push(self.ranks);
            ranks.sort_by(f64::total_cmp);
        }
        let line = |(name, bandwidth): &(String, f64)| ScatterLine {
            name: name.clone(),
            points: ranks
                .iter()
                .map(|&ranks| (ranks, 100.0 * self.over(ranks, *bandwidth).share()))
                .collect(),
        };
        let end = ranks.last().copied().unwrap_or(self.ranks);
        let named = links.iter().map(|(name, bandwidth)| ScatterPoint {
            x: Some(end),
            y: Some(100.0 * self.over(end, *bandwidth).share()),
            label: name.clone(),
            series: 1,
        });
        let this = ScatterPoint {
            x: Some(self.ranks),
            y: Some(100.0 * self.share()),
            label: format!("this: {}", percent(self.share())),
            series: 0,
        };
        Frame::Scatter(Scatter {
            x: Dimension { name: "ranks".to_owned(), scale: Scale::Log, ..Dimension::default() },
            y: Dimension {
                name: "communication".to_owned(),
                unit: "% of the time".to_owned(),
                ..Dimension::default()
            },
            series: vec!["this layer".to_owned(), "link".to_owned()],
            lines: links.iter().map(line).collect(),
            points: std::iter::once(this).chain(named).collect(),
        })
    }

    pub(super) fn matrices(&self) -> Frame {
        let ranks = self.ranks as usize;
        let region = match self.around {
            Around::Replicated => Region::Whole,
            Around::Sharded => Region::Tokens,
        };
        let mut panes = weights(&WEIGHTS, ranks);
        panes.extend(walks(region, "up", ranks));
        Frame::Panes(panes)
    }

    pub(super) fn times(&self) -> Frame {
        let mut ranks = RANKS.to_vec();
        if !ranks.contains(&self.ranks) {
            ranks.push(self.ranks);
            ranks.sort_by(f64::total_cmp);
        }
        let bars = ranks.into_iter().flat_map(|ranks| {
            let layer = self.over(ranks, self.bandwidth);
            let this = if ranks == self.ranks { " (this)" } else { "" };
            let share = percent(layer.share());
            [
                picture::bar(format!("{ranks} ranks{this}: compute"), layer.compute(), ""),
                picture::bar("communicate", layer.communication(), share),
            ]
        });
        picture::bars("seconds", bars.collect())
    }

    /// Every link of the table, the fastest first.
    pub(super) fn links(&self) -> Frame {
        let names = Tables::builtin().names("link");
        let mut links: Vec<(&str, f64)> =
            names.into_iter().filter_map(|link| Some((link, bandwidth(link)?))).collect();
        links.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let row = |(link, bandwidth): (&str, f64)| {
            let layer = self.over(self.ranks, bandwidth);
            [
                link.into(),
                bandwidth.into(),
                layer.communication().into(),
                percent(layer.share()).into(),
                layer.critical_contraction().into(),
            ]
        };
        let rows: Vec<[Value; 5]> = links.into_iter().map(row).collect();
        picture::table(
            ["link", "bytes/s", "seconds a layer", "of the time", "critical contraction"],
            rows,
        )
    }

    pub(super) fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        let (b, s, h, t) = (self.batch, self.sequence, self.hidden, self.ranks);
        let (boundary, size) = (self.boundary, number(self.bytes_per_element));
        let (peak, bandwidth) = (number(self.peak), number(self.bandwidth));
        let collectives = self.around.collectives();
        let numbers = format!("{b}*{s}*{h}");
        steps.add("bsh, one activation", "b*s*h", numbers, boundary);
        steps.add(
            "ring all-reduce, elements sent a rank",
            "2*bsh*(t-1)/t",
            format!("2*{boundary}*{}/{t}", t - 1.0),
            self.sent() / 4.0,
        );
        let (formula, numbers) = match self.around {
            Around::Replicated => (
                "two forward, two backward",
                format!(
                    "{} + {}",
                    collectives.all_reduces_forward, collectives.all_reduces_backward
                ),
            ),
            Around::Sharded => (
                "each one a reduce-scatter and an all-gather",
                format!("({} + {})/2", collectives.reduce_scatters, collectives.all_gathers),
            ),
        };
        steps.add("all-reduces a layer", formula, numbers, collectives.passes() / 2);
        let numbers = format!("8*{boundary}*{}/{t}", t - 1.0);
        steps.add("elements_per_layer", "8*bsh*(t-1)/t", numbers, self.sent());
        let numbers = format!("{}*{size}", number(self.sent()));
        steps.add("bytes_per_layer", "elements*size", numbers, self.bytes());
        let numbers = format!("{}/{bandwidth}", number(self.bytes()));
        let seconds = self.communication();
        steps.add("communication_seconds", "bytes/bandwidth", numbers, seconds);
        steps.add(
            "flops of the layer",
            "72*b*s*h^2*(1 + s/(6h))",
            format!("72*{b}*{s}*{h}^2*(1 + {s}/{})", 6.0 * h),
            self.flops(),
        );
        let numbers = format!("{}/({t}*{peak})", number(self.flops()));
        steps.add("compute_seconds", "flops/(t*peak)", numbers, self.compute());
        let (c, w) = (number(seconds), number(self.compute()));
        steps.add(
            "communication_fraction",
            "communication/(communication + compute)",
            format!("{c}/({c} + {w})"),
            self.share(),
        );
        steps.add(
            "critical_contraction",
            "(t-1)*size*peak/bandwidth",
            format!("{}*{size}*{peak}/{bandwidth}", t - 1.0),
            self.critical_contraction(),
        );
        let numbers = format!("{}/{boundary}", number(self.sent()));
        let more = self.sent() / boundary as f64;
        steps.add("over a pipeline boundary", "elements/bsh", numbers, more);
        steps.table()
    }
}

fn bandwidth(link: &str) -> Option<f64> {
    let field = Tables::builtin().field("link", link, "bandwidth_bytes_per_second");
    field?.as_f64().filter(|bandwidth| *bandwidth > 0.0)
}
