//! What every picture keeps to, whatever its lab.

use mlsys_lab::frame::{self, Frame};

#[expect(clippy::wildcard_enum_match_arm, reason = "kinds that no analytic lab draws are refused")]
pub(super) fn well_formed(frame: &Frame, place: &str) {
    match frame {
        Frame::HeatMap(map) => {
            assert_eq!(map.cells.len(), map.columns * map.rows, "{place}");
            assert!(!map.cells.is_empty(), "{place}");
            assert!(
                map.cells.iter().all(|c| c.is_nan() || (map.low..=map.high).contains(c)),
                "{place}"
            );
            let inside = |(a, b): (f32, f32), at: f32| (a.min(b)..=a.max(b)).contains(&at);
            assert!(map.points.iter().all(|p| inside(map.x, p.x) && inside(map.y, p.y)), "{place}");
        }
        Frame::Bars(bars) => {
            assert!(!bars.bars.is_empty(), "{place}");
            assert!(bars.bars.iter().all(|bar| bar.value.is_some_and(f64::is_finite)), "{place}");
        }
        Frame::Histogram(histogram) => {
            let (edges, counts) = (&histogram.edges, &histogram.first.counts);
            assert_eq!(edges.len(), counts.len() + 1, "{place}");
            assert!(edges.is_sorted() && !counts.is_empty(), "{place}");
        }
        Frame::Scatter(scatter) => {
            let placed = scatter.points.iter().filter_map(|p| p.place());
            assert!(placed.count() > 0, "{place}");
            let groups = scatter.series.len().max(1);
            assert!(scatter.points.iter().all(|p| p.series < groups), "{place}");
        }
        Frame::Table(table) => {
            assert!(!table.rows.is_empty(), "{place}");
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{place}");
            let with_numbers = table.columns.iter().position(|it| it == "with numbers");
            for row in &table.rows {
                let numbers = with_numbers.map_or(String::new(), |at| row[at].to_string());
                assert!(!lacks_a_number(&numbers), "{place}: {numbers}");
            }
        }
        Frame::Cells(cells) => {
            let all = || cells.rows.iter().flat_map(|row| row.cells.iter().flatten());
            assert!(all().count() > 0, "{place}");
            assert!(all().all(|cell| cell.kind < cells.kinds.len()), "{place}");
        }
        Frame::Graph(graph) => {
            assert!(!graph.nodes.is_empty() && !graph.walk.is_empty(), "{place}");
            let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
            let is_edge = |edge: &frame::Edge| edge.from < edge.to && edge.to < nodes;
            assert!(graph.edges.iter().all(is_edge), "{place}");
            let is_step =
                |step: &frame::Step| step.node < nodes && step.edge.is_none_or(|edge| edge < edges);
            assert!(graph.walk.iter().all(is_step), "{place}");
        }
        Frame::Timeline(timeline) => {
            assert!(!timeline.spans.is_empty(), "{place}");
            assert!(
                timeline.spans.iter().all(|span| span.start < span.end
                    && span.lane < timeline.lanes.len()
                    && span.class < timeline.classes.len()),
                "{place}"
            );
        }
        Frame::Stacks(stacks) => {
            assert!(!stacks.stacks.is_empty(), "{place}");
            let parts = stacks.parts.len();
            assert!(stacks.stacks.iter().all(|stack| stack.values.len() == parts), "{place}");
        }
        Frame::MessageTrace(exchange) => {
            let chunks = exchange.chunks.len();
            let rounds = exchange.rounds.iter().flat_map(|round| &round.messages);
            for message in rounds {
                assert!(message.from < exchange.ranks && message.to < exchange.ranks, "{place}");
                assert!(message.chunk + message.count <= chunks, "{place}");
            }
        }
        Frame::Kernel(kernel) => {
            let lines = kernel.recipe.source.lines().count() as u32;
            let whole = &kernel.whole;
            assert!(whole.steps > 0, "{place}");
            assert!(
                whole
                    .lines
                    .iter()
                    .all(|cost| (1..=lines).contains(&cost.line) && cost.lanes <= 32 * cost.issues),
                "{place}"
            );
            // The screen starts launches, and must not read their texts.
            assert!(kernel.recipe.parsed.get::<mlsys_kernel::Kernel>().is_some(), "{place}");
            let mut machine = mlsys_kernel::recipe::start(&kernel.recipe).expect(place);
            machine.run(u64::MAX);
            assert_eq!(machine.clock(), whole.steps, "{place}");
        }
        Frame::FrameSequence(film) => {
            assert!(film.cover < film.stills.len(), "{place}");
            film.stills.iter().for_each(|still| well_formed(&still.frame, place));
        }
        Frame::Panes(panes) => panes.iter().for_each(|pane| well_formed(&pane.frame, place)),
        Frame::Text(text) => assert!(!text.is_empty(), "{place}"),
        other => panic!("{place}: no analytic lab draws {other:?}"),
    }
}

/// Whether a value that is unset left two signs next to each other, or a sign at an end.
fn lacks_a_number(numbers: &str) -> bool {
    let text: String = numbers.chars().filter(|c| !c.is_whitespace()).collect();
    let times = |c: char| matches!(c, '*' | '/');
    text.starts_with(times)
        || text.ends_with(|c| times(c) || c == '+')
        || ["**", "*/", "/*", "//", "(*", "(/", "*)", "/)", "+)"].iter().any(|it| text.contains(it))
}
