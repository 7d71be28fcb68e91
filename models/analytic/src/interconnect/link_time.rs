//! Kind `link-time`: the bandwidth of a link from its lanes, and the time of a message over it.

use mlsys_lab::frame::{Dimension, Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::schema::{Scale, Schema, SchemaError};
use mlsys_lab::value::{number, significant};
use mlsys_lab::{Frame, Lab, LabError, Params, Run, Tables, Value};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite};
use mlsys_sim::network::Network;

/// The lab `link-time`.
pub struct LinkTime {
    schema: Schema,
}

impl LinkTime {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/link-time.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for LinkTime {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let message = Message::read(&run.params)?;
        let (network, bytes) = (message.network, message.bytes);
        let told = || {
            format!(
                "{} bytes at {} bytes/s after {} s",
                number(bytes),
                number(network.bandwidth()),
                number(network.latency())
            )
        };
        let bandwidth = network.bandwidth();
        finite(run, "bandwidth_bytes_per_second", bandwidth, told)?;
        finite(run, "bidirectional_bytes_per_second", 2.0 * bandwidth, told)?;
        finite(run, "seconds", message.seconds(), told)?;
        if message.seconds() > 0.0 {
            let achieved = bytes / message.seconds();
            finite(run, "achieved_bytes_per_second", achieved, told)?;
        }
        let half = network.half_bandwidth_bytes();
        finite(run, "half_bandwidth_bytes", half, told)?;
        picture::offer(run, "time", || message.time());
        picture::offer(run, "links", || message.links());
        picture::offer(run, "sizes", || message.sizes());
        picture::offer(run, "steps", || message.steps());
        Ok(())
    }
}

/// How a bandwidth is put together.
struct Lanes {
    links: f64,
    lanes: f64,
    bits: f64,
    payload: f64,
    line: f64,
}

/// A message over a link.
struct Message {
    link: String,
    /// Nothing where the bandwidth is given as such.
    lanes: Option<Lanes>,
    network: Network,
    bytes: f64,
}

impl Message {
    fn read(params: &Params) -> Result<Self, LabError> {
        let count = |name: &str| params.int(name).map(|value| value as f64);
        let (lanes, bandwidth) = match params.optional_float("bandwidth_bytes_per_second") {
            Some(bandwidth) => (None, bandwidth),
            None => {
                let lanes = Lanes {
                    links: count("links")?,
                    lanes: count("lanes_per_link")?,
                    bits: params.float("bits_per_second_per_lane")?,
                    payload: count("payload_bits")?,
                    line: count("line_bits")?,
                };
                if lanes.payload > lanes.line {
                    return Err(LabError::contradiction(
                        ["payload_bits", "line_bits"],
                        format!(
                            "{} data bits do not fit into the {} bits that are sent for them",
                            number(lanes.payload),
                            number(lanes.line)
                        ),
                    ));
                }
                if lanes.bits == 0.0 {
                    return Err(LabError::contradiction(
                        ["bits_per_second_per_lane"],
                        "over a lane of 0 bits/s nothing ever arrives; choose a rate above 0",
                    ));
                }
                let bandwidth = lanes.bandwidth();
                (Some(lanes), bandwidth)
            }
        };
        Ok(Self {
            link: params.text("link")?.to_owned(),
            lanes,
            network: Network::new(params.float("latency_seconds")?, bandwidth)?,
            bytes: params.float("bytes")?,
        })
    }

    /// seconds = latency + bytes/bandwidth
    fn seconds(&self) -> f64 {
        self.network.seconds(1.0, self.bytes)
    }

    /// Time against size for this link and all whose latency is tabled, with the size at which each reaches half of its bandwidth.
    fn time(&self) -> Frame {
        let tables = Tables::builtin();
        let tabled = tables.names("link").into_iter();
        // A link without a latency in the tables would be a straight line below all others, as if its messages began at
        // once.
        let mut networks: Vec<(String, Network)> = tabled
            .filter_map(|name| Some((name.to_owned(), Network::link(name)?)))
            .filter(|(name, network)| network.latency() > 0.0 || *name == self.link)
            .collect();
        let own = networks
            .iter()
            .position(|(name, network)| *name == self.link && *network == self.network);
        let own = own.unwrap_or_else(|| {
            networks.push(("this one".to_owned(), self.network));
            networks.len() - 1
        });
        // The own one first: it has the first colour, and the others are there to compare with.
        networks.swap(0, own);
        networks[1..].sort_by(|(_, a), (_, b)| a.bandwidth().total_cmp(&b.bandwidth()));
        let sizes: Vec<f64> =
            (0..=72).map(|tenth| 10_f64.powf(1.0 + f64::from(tenth) / 8.0)).collect();
        let line = |(name, network): &(String, Network)| ScatterLine {
            name: name.clone(),
            points: sizes.iter().map(|bytes| (*bytes, network.seconds(1.0, *bytes))).collect(),
        };
        let mut points = vec![ScatterPoint {
            x: Some(self.bytes),
            y: Some(self.seconds()),
            label: "this message".to_owned(),
            series: 0,
        }];
        points.extend(networks.iter().filter_map(|(name, network)| {
            let half = network.half_bandwidth_bytes();
            (half > 0.0).then(|| ScatterPoint {
                x: Some(half),
                y: Some(network.seconds(1.0, half)),
                label: name.clone(),
                series: 1,
            })
        }));
        let axis = |name: &str, unit: &str| Dimension {
            name: name.to_owned(),
            unit: unit.to_owned(),
            scale: Scale::Log,
            ..Dimension::default()
        };
        Frame::Scatter(Scatter {
            x: axis("message", "bytes"),
            y: axis("time", "seconds"),
            series: vec!["this message".to_owned(), "half of its bandwidth".to_owned()],
            points,
            lines: networks.iter().map(line).collect(),
        })
    }

    /// Every tabled link with this message, the fastest first.
    fn links(&self) -> Frame {
        let tables = Tables::builtin();
        let mut rows: Vec<(f64, [Value; 6])> = Vec::new();
        let row = |name: &str, network: &Network| {
            let seconds = network.seconds(1.0, self.bytes);
            let latency = match network.latency() {
                latency if latency > 0.0 => Value::from(latency),
                _ => Value::from("not tabled"),
            };
            let row = [
                Value::from(name),
                network.bandwidth().into(),
                (2.0 * network.bandwidth()).into(),
                latency,
                network.half_bandwidth_bytes().into(),
                seconds.into(),
            ];
            (seconds, row)
        };
        for name in tables.names("link") {
            if let Some(network) = Network::link(name) {
                rows.push(row(name, &network));
            }
        }
        if Network::link(&self.link) != Some(self.network) {
            rows.push(row("this one", &self.network));
        }
        rows.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        picture::table(
            [
                "link",
                "one direction, bytes/s",
                "both, bytes/s",
                "latency, s",
                "half-bandwidth size, bytes",
                "this message, s",
            ],
            rows.into_iter().map(|(_, row)| row).collect(),
        )
    }

    /// What share of the bandwidth messages of other sizes reach.
    fn sizes(&self) -> Frame {
        let mut all: Vec<f64> = (1..=9).map(|power| 10_f64.powi(power)).collect();
        let half = self.network.half_bandwidth_bytes();
        for size in [self.bytes, half] {
            if size > 0.0 && !all.contains(&size) {
                all.push(size);
            }
        }
        all.sort_by(f64::total_cmp);
        let bar = |bytes: &f64| {
            let seconds = self.network.seconds(1.0, *bytes);
            let rate = bytes / seconds;
            let remark = match *bytes {
                size if size == self.bytes => ", this one",
                size if size == half => ", half",
                _ => "",
            };
            picture::bar(
                format!("{} bytes", number(significant(*bytes, 4))),
                100.0 * rate / self.network.bandwidth(),
                format!("{} s{remark}", number(significant(seconds, 4))),
            )
        };
        picture::bars("%", all.iter().map(bar).collect())
    }

    fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        let bandwidth = self.network.bandwidth();
        match &self.lanes {
            None => steps.add("bandwidth_bytes_per_second", "as given", "", bandwidth),
            Some(lanes) => {
                steps.add(
                    "bits per second",
                    "links*lanes*bits",
                    format!(
                        "{}*{}*{}",
                        number(lanes.links),
                        number(lanes.lanes),
                        number(lanes.bits)
                    ),
                    lanes.signalling(),
                );
                steps.add(
                    "bandwidth_bytes_per_second",
                    "of that payload_bits/line_bits, 8 bits a byte",
                    format!(
                        "{}*{}/{}/8",
                        number(lanes.signalling()),
                        number(lanes.payload),
                        number(lanes.line)
                    ),
                    bandwidth,
                );
            }
        }
        let short = number(significant(bandwidth, 6));
        steps.add(
            "bidirectional_bytes_per_second",
            "2*bandwidth",
            format!("2*{short}"),
            2.0 * bandwidth,
        );
        let (latency, bytes) = (number(self.network.latency()), number(self.bytes));
        steps.add(
            "seconds",
            "latency + bytes/bandwidth",
            format!("{latency} + {bytes}/{short}"),
            self.seconds(),
        );
        if self.seconds() > 0.0 {
            steps.add(
                "achieved_bytes_per_second",
                "bytes/seconds",
                format!("{bytes}/{}", number(significant(self.seconds(), 6))),
                self.bytes / self.seconds(),
            );
        }
        steps.add(
            "half_bandwidth_bytes",
            "latency*bandwidth",
            format!("{latency}*{short}"),
            self.network.half_bandwidth_bytes(),
        );
        steps.table()
    }
}

impl Lanes {
    /// links*lanes_per_link*bits_per_second_per_lane, bits/s on the wires
    fn signalling(&self) -> f64 {
        self.links * self.lanes * self.bits
    }

    /// The share of it that is data, bytes/s.
    fn bandwidth(&self) -> f64 {
        self.signalling() * self.payload / self.line / 8.0
    }
}
