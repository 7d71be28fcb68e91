//! What holds for every layout.

use crate::panel::picture::graph::layout::*;
use crate::panel::tests::fixtures::Noise;

const SIZE: Size = Size { width: 9, height: 4, port: 1, entries: (1, 2) };

fn laid(boxes: usize, links: &[(usize, usize)], size: Size) -> (Arranged, Layout) {
    let arranged = Arranged::new(boxes, links, Fit::Clear);
    let layout =
        lay_out(&arranged, &vec![size; boxes], Spacing { rows: 1, columns: 3, fit: Fit::Clear });
    (arranged, layout)
}

/// The graph of `log(3x^2 + 5xy)`: x y a b c d e z.
fn expression() -> (usize, Vec<(usize, usize)>) {
    let links = vec![(0, 2), (2, 3), (0, 4), (1, 4), (4, 5), (3, 6), (5, 6), (6, 7)];
    (8, links)
}

/// Graphs of many kinds, with cycles, twins, loops and links of nothing.
fn graphs() -> Vec<(usize, Vec<(usize, usize)>)> {
    let mut graphs = vec![
        (0, vec![]),
        (1, vec![(0, 0)]),
        (2, vec![(0, 1), (0, 1), (1, 0), (7, 9)]),
        (4, vec![(0, 2), (0, 3), (1, 2), (1, 3)]),
        (6, (0..3).flat_map(|a| (3..6).map(move |b| (a, b))).collect()),
        (12, (0..11).map(|i| (i, i + 1)).chain([(0, 11), (2, 9)]).collect()),
        (9, (1..9).map(|i| (0, i)).collect()),
        (9, (0..8).map(|i| (i, 8)).collect()),
        expression(),
    ];
    let mut noise = Noise(5);
    for boxes in [5_usize, 12, 30, 80] {
        for _ in 0..6 {
            let mut pick = |below: usize| (noise.next() * below as f64) as usize;
            let links = (0..boxes * 3 / 2).map(|_| {
                let to = 1 + pick(boxes - 1);
                (pick(to), to)
            });
            graphs.push((boxes, links.collect()));
        }
    }
    graphs
}

#[test]
fn boxes_are_apart_and_links_lead_right() {
    for (boxes, links) in graphs() {
        for size in [SIZE, Size { height: 1, port: 0, entries: (0, 0), ..SIZE }] {
            let (arranged, layout) = laid(boxes, &links, size);
            for (i, a) in layout.places.iter().enumerate() {
                assert!(a.x + a.width <= layout.width && a.y + a.height <= layout.height);
                for b in &layout.places[i + 1..] {
                    let across = a.x < b.x + b.width && b.x < a.x + a.width;
                    let down = a.y < b.y + b.height && b.y < a.y + a.height;
                    assert!(!(across && down), "{links:?}: {a:?} {b:?}");
                }
            }
            for (link, &(from, to)) in links.iter().enumerate() {
                if from == to || from >= boxes || to >= boxes {
                    assert_eq!(layout.routes[link], []);
                    continue;
                }
                let mut route = layout.routes[link].clone();
                let (mut from, mut to) = (layout.places[from], layout.places[to]);
                if arranged.turned[link] {
                    route.reverse();
                    (from, to) = (to, from);
                }
                let (first, last) = (route[0], *route.last().unwrap());
                assert_eq!(first, (from.x + from.width, from.y + size.port), "{links:?}");
                assert_eq!(last.0 + 1, to.x, "{links:?}");
                let entries = to.y + size.entries.0..=to.y + size.entries.1;
                assert!(entries.contains(&last.1), "{links:?} {route:?} {to:?}");
                for pair in route.windows(2) {
                    assert!(pair[0].0 <= pair[1].0, "{route:?} leads back");
                    assert!(pair[0].0 == pair[1].0 || pair[0].1 == pair[1].1);
                }
            }
        }
    }
}

/// The cells of a route with the sides it has in them: left, right, up, down.
fn cells(route: &[(usize, usize)]) -> Vec<((usize, usize), [bool; 4])> {
    let mut path = Vec::new();
    for pair in route.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let steps = a.0.abs_diff(b.0).max(a.1.abs_diff(b.1));
        for step in 0..steps {
            let along = |from: usize, to: usize| {
                if to >= from { from + step.min(to - from) } else { from - step.min(from - to) }
            };
            path.push((along(a.0, b.0), along(a.1, b.1)));
        }
    }
    path.extend(route.last());
    let sides = |i: usize| {
        let at: (usize, usize) = path[i];
        let near = [i.checked_sub(1).map(|p| path[p]), path.get(i + 1).copied()];
        let has = |test: &dyn Fn((usize, usize)) -> bool| near.iter().flatten().any(|o| test(*o));
        [
            i == 0 || has(&|o| o.0 < at.0),
            i + 1 == path.len() || has(&|o| o.0 > at.0),
            has(&|o| o.1 < at.1),
            has(&|o| o.1 > at.1),
        ]
    };
    (0..path.len()).map(|i| (path[i], sides(i))).collect()
}

/// A line through a cell, and the sides of the cell that it touches.
type Crossing = (usize, [bool; 4]);

#[test]
fn routed_lines_only_cross_and_avoid_boxes() {
    for (boxes, links) in graphs() {
        let (arranged, layout) = laid(boxes, &links, SIZE);
        let mut met: std::collections::BTreeMap<(usize, usize), Vec<Crossing>> =
            std::collections::BTreeMap::new();
        for (link, route) in layout.routes.iter().enumerate() {
            for (at, sides) in cells(route) {
                met.entry(at).or_default().push((link, sides));
                let inside = |p: &&Place| {
                    (p.x..p.x + p.width).contains(&at.0) && (p.y..p.y + p.height).contains(&at.1)
                };
                assert_eq!(layout.places.iter().find(inside), None, "{links:?} {route:?}");
            }
        }
        for (at, here) in met {
            for (i, (a, sides)) in here.iter().enumerate() {
                for (b, others) in &here[i + 1..] {
                    let (a, b) = (arranged.links[*a], arranged.links[*b]);
                    let level = [true, true, false, false];
                    let upright = [false, false, true, true];
                    let cross = (*sides == level && *others == upright)
                        || (*sides == upright && *others == level);
                    assert!(
                        a.0 == b.0 || a.1 == b.1 || cross,
                        "{links:?}: {a:?} {b:?} at {at:?}\n{}",
                        sketch(&layout)
                    );
                }
            }
        }
    }
}

#[test]
fn the_same_graph_is_always_laid_out_alike() {
    for (boxes, links) in graphs() {
        assert_eq!(laid(boxes, &links, SIZE), laid(boxes, &links, SIZE));
    }
}

#[test]
fn what_can_be_drawn_without_a_crossing_is() {
    let (boxes, links) = expression();
    let (arranged, layout) = laid(boxes, &links, SIZE);
    assert_eq!(layers::crossings(&arranged), 0);
    assert_eq!(arranged.layers.len(), 5);
    assert!(layout.width <= 5 * 9 + 4 * 5, "{layout:?}");
    let chain: Vec<_> = (0..40).map(|i| (i, i + 1)).collect();
    let (_, layout) = laid(41, &chain, SIZE);
    assert_eq!(layout.height, SIZE.height);
}

fn sketch(layout: &Layout) -> String {
    let mut rows = vec![vec![' '; layout.width]; layout.height];
    for (index, place) in layout.places.iter().enumerate() {
        for row in &mut rows[place.y..place.y + place.height] {
            row[place.x..place.x + place.width].fill('#');
        }
        for (x, c) in (place.x..).zip(index.to_string().chars()) {
            rows[place.y][x] = c;
        }
    }
    for (place, route) in layout.routes.iter().enumerate() {
        for ((x, y), sides) in cells(route) {
            let _ = sides;
            rows[y][x] = char::from(b'a' + (place % 26) as u8);
        }
    }
    let rows: Vec<String> = rows.into_iter().map(|row| row.into_iter().collect()).collect();
    rows.join("\n")
}

/// A recorded step of three layers: input 0, layers 1 to 3, labels 4, loss 5, backward 6, update 7.
#[test]
fn a_recorded_step_fits_next_to_its_text() {
    let links = [
        (0, 1),
        (0, 6),
        (1, 2),
        (1, 6),
        (1, 7),
        (2, 3),
        (2, 6),
        (2, 7),
        (3, 5),
        (3, 6),
        (3, 7),
        (4, 5),
        (5, 6),
        (6, 7),
    ];
    for (widths, height, most) in
        [([5, 7, 7, 7, 7, 7, 8, 8], 2, 72), ([5, 6, 6, 6, 6, 4, 8, 6], 1, 64)]
    {
        let arranged = Arranged::new(8, &links, Fit::Narrow);
        let size = |width: usize| Size { width, height, port: 0, entries: (0, height - 1) };
        let layout = lay_out(
            &arranged,
            &widths.map(size),
            Spacing { rows: 1, columns: 2, fit: Fit::Narrow },
        );
        assert!(layout.width <= most, "{} {layout:?} {arranged:?}", layout.width);
    }
}

#[test]
fn parts_that_nothing_joins_stand_side_by_side() {
    // Two trees, with their boxes in turn, and a link of nothing.
    let links = [(0, 2), (1, 3), (4, 2), (5, 3), (7, 9)];
    let spacing = Spacing { rows: 1, columns: 3, fit: Fit::Clear };
    let layout = side_by_side(&links, &[SIZE; 6], spacing).unwrap();
    let (_, one) = laid(3, &[(0, 1), (2, 1)], SIZE);
    assert_eq!((layout.width, layout.height), (2 * one.width + 4, one.height));
    let ends = |boxes: [usize; 3]| boxes.map(|index| layout.places[index].x + SIZE.width);
    let begins = [1, 3, 5].map(|index| layout.places[index].x);
    assert!(ends([0, 2, 4]).iter().max() < begins.iter().min(), "{layout:?}");
    for (link, route) in links.iter().zip(&layout.routes).take(4) {
        let (from, to) = (layout.places[link.0], layout.places[link.1]);
        assert_eq!(route.first().unwrap().0, from.x + from.width, "{layout:?}");
        assert_eq!(route.last().unwrap().0 + 1, to.x, "{layout:?}");
    }
    assert!(layout.routes[4].is_empty());
    assert_eq!(side_by_side(&[(0, 1)], &[SIZE; 2], spacing), None);
    assert_eq!(side_by_side(&[], &[SIZE; 9], spacing), None);
    assert_eq!(side_by_side(&[], &[], spacing), None);
}
