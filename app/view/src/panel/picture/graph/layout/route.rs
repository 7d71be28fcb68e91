//! The lines: in each channel between two layers, along rows and columns, by cheapest paths one after the other.
//!
//! Lines from one box may share their beginning, lines to one box their end; any other two only cross at a right angle.
//! So a junction always means that something forks or joins, and a crossing never does.

use crate::panel::picture::graph::layout::channel::{Channel, Goal, Path, Wire};
use crate::panel::picture::graph::layout::layers::{Arranged, Seat};
use crate::panel::picture::graph::layout::rows::Ports;
use crate::panel::picture::graph::layout::{Fit, Layout, Place, Size, Spacing};

/// Empty columns of a channel where a line bends: one to leave, one for an arrow, one between.
const BENDING: usize = 3;
/// How often a channel is widened by a column before lines may run over each other.
const PATIENCE: usize = 10;

/// Places boxes by columns and draws all lines.
pub(super) fn draw(arranged: &Arranged, sizes: &[Size], spacing: Spacing, ports: &Ports) -> Layout {
    let boxes = arranged.layer_of.len();
    let mut places = vec![Place::default(); boxes];
    let mut routes: Vec<Path> = vec![Vec::new(); arranged.links.len()];
    // What each box's shared line has come through so far.
    let mut trunks: Vec<Path> = vec![Vec::new(); boxes];
    let mut at_port = vec![0; boxes];
    let height = height(arranged, sizes, ports);
    let by_target = links_by_target_layer(arranged);
    let mut x = 0;
    for (layer, seats) in arranged.layers.iter().enumerate() {
        let width = seats.iter().map(|seat| match *seat {
            Seat::Box(index) => sizes[index].width,
            Seat::Pass { .. } => 0,
        });
        let width = width.max().unwrap_or(0);
        for (seat, port) in seats.iter().zip(&ports[layer]) {
            match *seat {
                Seat::Box(index) => {
                    let size = sizes[index];
                    at_port[index] = *port;
                    places[index] =
                        Place { x, y: port.saturating_sub(size.port), width, height: size.height };
                }
                // The line goes on level through the layer.
                Seat::Pass { of: index, .. } => {
                    at_port[index] = *port;
                    trunks[index].extend((x..x + width).map(|column| (column, *port)));
                }
            }
        }
        x += width;
        let Some(next) = arranged.layers.get(layer + 1) else { break };
        let passing = next.iter().zip(&ports[layer + 1]);
        let passing = passing.filter_map(|(seat, port)| match *seat {
            Seat::Pass { of: index, .. } => Some(Wire {
                source: index,
                target: boxes + index,
                from: at_port[index],
                goal: Goal::level(*port),
            }),
            Seat::Box(_) => None,
        });
        let mut wires: Vec<Wire> = passing.collect();
        let passes = wires.len();
        let links = by_target.get(layer + 1).map_or(&[][..], Vec::as_slice);
        let port_of = |target: usize| ports[layer + 1][arranged.place(Seat::Box(target))];
        wires.extend(links.iter().map(|&link| {
            let (source, target) = arranged.links[link];
            let (size, port) = (sizes[target], port_of(target));
            let top = port.saturating_sub(size.port);
            Wire {
                source,
                target,
                from: at_port[source],
                goal: Goal { best: port, rows: (top + size.entries.0, top + size.entries.1) },
            }
        }));
        let (paths, wide) = through(&wires, height, spacing);
        for (wire, path) in wires.iter().zip(&paths).take(passes) {
            let shifted = path.iter().map(|(column, row)| (x + column, *row));
            trunks[wire.source].extend(shifted);
        }
        for (&link, path) in links.iter().zip(&paths[passes..]) {
            let (source, _) = arranged.links[link];
            // A trunk that goes on has this channel's cells already: they are left out here.
            let before = trunks[source].iter().copied();
            let before = before.take_while(|(column, _)| *column < x);
            let shifted = path.iter().map(|(column, row)| (x + column, *row));
            routes[link] = before.chain(shifted).collect();
        }
        x += wide;
    }
    for (route, turned) in routes.iter_mut().zip(&arranged.turned) {
        *route = corners(route);
        if *turned {
            route.reverse();
        }
    }
    Layout { width: x, height, places, routes }
}

fn height(arranged: &Arranged, sizes: &[Size], ports: &Ports) -> usize {
    let layers = arranged.layers.iter().zip(ports);
    let ends = layers.flat_map(|(seats, ports)| {
        seats.iter().zip(ports).map(|(seat, port)| match *seat {
            Seat::Box(index) => port.saturating_sub(sizes[index].port) + sizes[index].height,
            Seat::Pass { .. } => port + 1,
        })
    });
    ends.max().unwrap_or(0)
}

fn links_by_target_layer(arranged: &Arranged) -> Vec<Vec<usize>> {
    let mut by_layer = vec![Vec::new(); arranged.layers.len()];
    for (link, &(from, to)) in arranged.links.iter().enumerate() {
        if from != to {
            by_layer[arranged.layer_of[to]].push(link);
        }
    }
    by_layer
}

/// The paths of a channel's wires and its width, the narrowest in which all find a way.
fn through(wires: &[Wire], height: usize, spacing: Spacing) -> (Vec<Path>, usize) {
    let narrowest = spacing.columns;
    if wires.is_empty() {
        return (Vec::new(), narrowest);
    }
    // Wires from one box share their beginning and wires to one box their end: with luck those to all boxes share it.
    let by_source = tracks(wires, |wire| wire.source);
    let by_target = tracks(wires, |wire| wire.target);
    let wide = |tracks: usize| if tracks == 0 { narrowest } else { BENDING + tracks - 1 };
    let usual = wide(by_source);
    let least = if spacing.fit == Fit::Narrow { wide(by_source.min(by_target)) } else { usual };
    // Level lines first, then short ones: what has little choice chooses first.
    let mut order: Vec<usize> = (0..wires.len()).collect();
    order.sort_by_key(|wire| wires[*wire].from.abs_diff(wires[*wire].goal.best));
    for width in least..usual + PATIENCE {
        let mut channel = Channel::new(width, height, wires);
        let failed = order.iter().copied().find(|wire| !channel.route(*wire));
        match failed {
            None => return (channel.finish(), width),
            Some(failed) => {
                order.retain(|wire| *wire != failed);
                order.insert(0, failed);
            }
        }
    }
    let width = usual + PATIENCE;
    let mut channel = Channel::new(width, height, wires);
    for wire in order {
        if !channel.route(wire) {
            channel.force(wire);
        }
    }
    (channel.finish(), width)
}

/// The most wires of different boxes, those that they leave or those that they reach, that pass a row up or down.
fn tracks(wires: &[Wire], end: impl Fn(&Wire) -> usize) -> usize {
    let mut spans: Vec<(usize, usize, usize)> = Vec::new();
    for wire in wires {
        let (top, bottom) = (wire.from.min(wire.goal.best), wire.from.max(wire.goal.best));
        if top == bottom {
            continue;
        }
        match spans.iter_mut().find(|span| span.0 == end(wire)) {
            Some(span) => *span = (span.0, span.1.min(top), span.2.max(bottom)),
            None => spans.push((end(wire), top, bottom)),
        }
    }
    let mut ends: Vec<(usize, isize)> = Vec::new();
    for (_, top, bottom) in spans {
        ends.push((top, 1));
        ends.push((bottom + 1, -1));
    }
    ends.sort_unstable();
    let (mut open, mut most) = (0_usize, 0);
    for (_, change) in ends {
        open = open.saturating_add_signed(change);
        most = most.max(open);
    }
    most
}

fn corners(path: &[(usize, usize)]) -> Path {
    let mut kept: Path = Vec::new();
    for (place, cell) in path.iter().enumerate() {
        let between = place > 0
            && path.get(place + 1).is_some_and(|next| {
                let before = path[place - 1];
                (before.0 == cell.0 && cell.0 == next.0) || (before.1 == cell.1 && cell.1 == next.1)
            });
        if !between {
            kept.push(*cell);
        }
    }
    kept
}
