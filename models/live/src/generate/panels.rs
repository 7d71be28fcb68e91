//! The panels: the text as it comes, the cache as it fills, what tokens cost, and what the newest one looks at.

use mlsys_lab::Frame;
use mlsys_lab::frame::{
    Cell, CellRow, Cells, Dimension, HeatMap, Kind, Milestone, Pane, Paragraph, Scatter,
    ScatterLine, ScatterPoint, Span, SpanKind, StyledSpan, StyledText, Timeline, Tone, Total,
};
use mlsys_lab::value::number;
use mlsys_nn::data::Vocabulary;
use mlsys_nn::networks::TransformerConfig;

use super::decoder::Looks;
use super::tracks::{Phase, Spent, Tracks};
use super::writer::{Origin, Writer};

/// Tokens of a picture that shows one in a column: of longer texts the newest.
const COLUMNS: usize = 192;
/// Earlier tokens that the newest is shown to look at.
const LOOKED: usize = 48;
/// Heads shown, from the first block on.
const HEADS: usize = 16;

/// What the panels show.
pub(super) struct PanelData<'a> {
    pub(super) writer: &'a Writer,
    pub(super) tracks: &'a Tracks,
    pub(super) config: &'a TransformerConfig,
    pub(super) vocabulary: &'a Vocabulary,
    /// Tokens to be written in all.
    pub(super) wanted: usize,
    /// Tokens that are drafted before they are judged.
    pub(super) drafted: usize,
    /// What the run and the other way are called.
    pub(super) names: [&'static str; 2],
    /// The result of the comparison run, appended to a sentence; empty without one.
    pub(super) beside: String,
}

impl PanelData<'_> {
    /// Positions that hold a token once all is written but the last, which is never read.
    fn positions(&self) -> usize {
        let all = self.writer.prompt() + self.wanted.max(self.writer.written());
        all.saturating_sub(1)
    }
}

/// A row per block, a column per token: which keys and values are kept.
pub(super) fn cache(of: &PanelData<'_>) -> Frame {
    const READ: usize = 0;
    const ADDED: usize = 1;
    const NEW: usize = 2;
    const GONE: usize = 3;
    const COMING: usize = 4;
    const AGAIN: usize = 5;
    let decoder = of.writer.decoder();
    let (read, all) = (decoder.len(), of.positions().max(decoder.len()));
    let prompt = of.writer.prompt();
    let kept = decoder.kept();
    let first =
        if all <= COLUMNS { 0 } else { (read + COLUMNS / 8).min(all).saturating_sub(COLUMNS) };
    let kind = |position: usize| match &kept {
        _ if position >= read => COMING,
        None => AGAIN,
        Some(kept) if !kept.contains(&position) => GONE,
        Some(_) if position < prompt => READ,
        Some(_) if position + 1 == read => NEW,
        Some(_) => ADDED,
    };
    let last = all.min(first + COLUMNS);
    let cells: Vec<Option<Cell>> = (first..last).map(|at| Some(Cell::new(kind(at)))).collect();
    let rows = (1..=of.config.depth).map(|block| CellRow {
        label: format!("block {block}"),
        cells: cells.clone(),
        remark: String::new(),
    });
    let named = [
        (READ, "kept, all at once (prefill)", Tone::First),
        (ADDED, "kept, one by one (decode)", Tone::Second),
        (NEW, "newest", Tone::Third),
        (GONE, "let go: outside the window", Tone::Empty),
        (COMING, "to come", Tone::Faint),
        (AGAIN, "nothing kept, computed again for each token", Tone::Warn),
    ];
    // Only those that occur, so that the legend says what there is.
    let present: Vec<usize> = named
        .iter()
        .map(|(kind, ..)| *kind)
        .filter(|kind| cells.iter().flatten().any(|cell| cell.kind == *kind))
        .collect();
    let place = |cell: &Option<Cell>| {
        let cell = cell.as_ref()?;
        present.iter().position(|kind| *kind == cell.kind).map(Cell::new)
    };
    let rows = rows.map(|row| CellRow { cells: row.cells.iter().map(place).collect(), ..row });
    let kinds = named.into_iter().filter(|(kind, ..)| present.contains(kind));
    Frame::Cells(Cells {
        across: "token".to_owned(),
        first,
        group: 8,
        kinds: kinds.map(|(_, name, tone)| Kind { name: name.to_owned(), tone }).collect(),
        rows: rows.collect(),
        note: said_of_cache(of),
        focus: Some((0, read.saturating_sub(first + 1))),
    })
}

fn said_of_cache(of: &PanelData<'_>) -> String {
    let decoder = of.writer.decoder();
    let Some(kept) = decoder.kept() else {
        return format!(
            "No cache: all {} tokens so far go through all blocks again for the next one.",
            of.writer.rows().first().map_or(0, Vec::len)
        );
    };
    let [numbers, scales] = decoder.cache_bytes();
    let sequences = of.writer.rows().len();
    let scaled = match scales {
        0 => String::new(),
        scales => format!(", and {} of scales", number(scales as f64)),
    };
    let each =
        if sequences == 1 { String::new() } else { format!(" in each of {sequences} sequences") };
    format!(
        "{} bytes{scaled}: {} tokens{each}, 2 x {} numbers in each of {} blocks.",
        number(numbers as f64),
        kept.len(),
        of.config.keys(),
        of.config.depth
    )
}

/// Cost of tokens: measured seconds and counted operations.
pub(super) fn latency(of: &PanelData<'_>) -> Frame {
    let mut both = [(of.names[0], &of.tracks.own), (of.names[1], &of.tracks.other)];
    // A way has its colour whichever of the two the run goes.
    if of.tracks.draft_positions == 0 {
        both.sort_by_key(|(name, _)| *name);
    }
    let names = both.map(|(name, _)| name);
    let drawn = |title: &str, name: &str, unit: &str, value: fn(&Spent) -> f64, points: Points| {
        let curves: Vec<(usize, Vec<(f64, f64)>)> = both
            .iter()
            .enumerate()
            .filter(|(_, (_, spent))| !spent.is_empty())
            .map(|(place, (_, spent))| {
                // The prompt's own cost is another matter, and would hide the rest.
                let after = spent.iter().filter(|of| of.token > 1);
                (place, after.map(|of| (of.token as f64, value(of))).collect())
            })
            .collect();
        let marks = curves.iter().flat_map(|(place, curve)| {
            curve.iter().map(|(x, y)| ScatterPoint {
                x: Some(*x),
                y: Some(*y),
                label: String::new(),
                series: *place,
            })
        });
        let lines = curves.iter().map(|(place, curve)| ScatterLine {
            name: names[*place].to_owned(),
            points: curve.clone(),
        });
        let (marks, lines) = match points {
            Points::Marked => (marks.collect(), Vec::new()),
            Points::Joined => (Vec::new(), lines.collect()),
        };
        Pane {
            title: title.to_owned(),
            frame: Frame::Scatter(Scatter {
                x: Dimension { name: "token".to_owned(), ..Dimension::default() },
                y: Dimension {
                    name: name.to_owned(),
                    unit: unit.to_owned(),
                    ..Dimension::default()
                },
                series: names.map(str::to_owned).to_vec(),
                points: marks,
                lines,
            }),
        }
    };
    Frame::Panes(vec![
        drawn("measured", "time", "seconds", |of| of.seconds, Points::Marked),
        drawn("modelled", "operations", "flops", |of| of.flops as f64, Points::Joined),
    ])
}

/// How values are drawn: measured ones as points, modelled ones as lines.
#[derive(Clone, Copy)]
enum Points {
    Marked,
    Joined,
}

/// Prefill and decode over the run's own time, with operations for each byte above.
pub(super) fn phases(of: &PanelData<'_>) -> Frame {
    let tracks = of.tracks;
    let present: Vec<Phase> = Phase::ALL
        .into_iter()
        .filter(|phase| tracks.stretches.iter().any(|of| of.phase == *phase))
        .collect();
    let lane = |phase: Phase| present.iter().position(|of| *of == phase).unwrap_or(0);
    let spans = tracks.stretches.iter().map(|stretch| Span {
        lane: lane(stretch.phase),
        start: stretch.start,
        end: stretch.end(),
        class: lane(stretch.phase),
        label: format!(
            "{} flops, {} bytes",
            number(stretch.flops as f64),
            number(stretch.bytes as f64)
        ),
        amount: Some(stretch.intensity()),
    });
    let mut points: Vec<(f64, f64)> =
        tracks.stretches.iter().map(|stretch| (stretch.start, stretch.intensity())).collect();
    points.extend(tracks.stretches.last().map(|last| (last.end(), 0.0)));
    let lanes = present.iter().map(|phase| {
        let intensity = tracks.intensity(*phase).unwrap_or(0.0);
        format!("{} {intensity:.2} flop/B", phase.name())
    });
    let first = tracks
        .stretches
        .first()
        .map(|prefill| Milestone { at: prefill.end(), label: "first token".to_owned() });
    Frame::Timeline(Timeline {
        unit: "seconds".to_owned(),
        lanes: lanes.collect(),
        classes: present.iter().map(|phase| phase.name().to_owned()).collect(),
        spans: spans.collect(),
        marks: first.into_iter().collect(),
        total: Some(Total {
            name: "arithmetic intensity".to_owned(),
            unit: "flop/B".to_owned(),
            points,
        }),
    })
}

/// What the newest token that was read looks at, a row a head.
pub(super) fn attention(of: &PanelData<'_>, (blocks, first): &Looks) -> Frame {
    let row = of.writer.rows().first().map_or(&[][..], Vec::as_slice);
    let heads: Vec<(String, &Vec<f32>)> = blocks
        .iter()
        .enumerate()
        .flat_map(|(block, heads)| {
            let name = move |head: usize| format!("block {} head {}", block + 1, head + 1);
            heads.iter().enumerate().map(move |(head, looks)| (name(head), looks))
        })
        .take(HEADS)
        .collect();
    let seen = heads.first().map_or(0, |(_, looks)| looks.len());
    let shown = seen.min(LOOKED);
    let begin = first + seen - shown;
    let label = |position: usize| row.get(position).map(|token| of.vocabulary.label(*token));
    let cells = heads.iter().flat_map(|(_, looks)| looks[seen - shown..].iter().copied());
    let cells: Vec<f32> = cells.collect();
    // Shares are small where many tokens are looked at: the strongest has the strongest colour.
    let most = cells.iter().copied().fold(0.0, f32::max);
    let newest = label(begin + shown.saturating_sub(1)).unwrap_or_default();
    Frame::HeatMap(HeatMap {
        columns: shown,
        rows: heads.len(),
        cells,
        low: 0.0,
        high: most.max(f32::MIN_POSITIVE),
        x: (begin as f32, (begin + shown) as f32),
        y: (0.0, heads.len() as f32),
        column_labels: (begin..begin + shown).map(|at| label(at).unwrap_or_default()).collect(),
        row_labels: heads.iter().map(|(name, _)| name.clone()).collect(),
        points: Vec::new(),
        legend: format!(
            "how much the newest token read, '{newest}' at {}, looks at each: {:.0}% at most",
            begin + shown.saturating_sub(1),
            100.0 * most
        ),
    })
}

// The text as it is generated, with the model that chose each token.

/// Sequences shown.
const SEQUENCES: usize = 16;
/// Tokens of a sequence shown, the last ones.
const TOKENS: usize = 1200;

const PROMPT: usize = 0;
const WRITTEN: usize = 1;
const STAYED: usize = 2;
const DRAFTED: usize = 3;
const STRUCK: usize = 4;

/// The text of each sequence.
pub(super) fn text(of: &PanelData<'_>) -> Frame {
    let (writer, rows) = (of.writer, of.writer.rows());
    let paragraphs = rows.iter().take(SEQUENCES).enumerate().map(|(place, row)| Paragraph {
        label: if rows.len() > 1 { (place + 1).to_string() } else { String::new() },
        stretches: stretches(writer, row, of.vocabulary),
    });
    let standing = |name: &str, tone, marks: [&str; 2]| SpanKind {
        name: name.to_owned(),
        tone,
        marks: marks.map(str::to_owned),
    };
    let mut standings =
        vec![standing("prompt", Tone::Faint, ["", ""]), standing("written", Tone::First, ["", ""])];
    if of.tracks.draft_positions > 0 {
        standings.extend([
            standing("drafted, stayed", Tone::Second, ["", ""]),
            standing("drafted", Tone::Third, ["[", "]"]),
            standing("struck out", Tone::Bad, ["~", "~"]),
        ]);
    }
    let mut note = format!("token {} of {}", writer.written(), of.wanted);
    let rounds = of.tracks.all_rounds();
    if let (Some(share), Some(expected)) = (rounds.acceptance(), of.tracks.expected_tokens()) {
        note.push_str(&format!(
            "; of {} drafted tokens that were judged {} stayed ({:.0}%): {:.2} tokens a pass of the model, and the formula \
             gives {expected:.2} for that share and {} drafted",
            rounds.judged,
            rounds.accepted,
            100.0 * share,
            of.tracks.gained as f64 / rounds.runs.max(1) as f64,
            of.drafted
        ));
    }
    note.push_str(&of.beside);
    if rows.len() > SEQUENCES {
        note.push_str(&format!("; {SEQUENCES} of {} sequences shown", rows.len()));
    }
    Frame::StyledText(StyledText { standings, paragraphs: paragraphs.collect(), note })
}

fn stretches(writer: &Writer, row: &[i32], vocabulary: &Vocabulary) -> Vec<StyledSpan> {
    let (place, struck) = writer.struck();
    let first = row.len().saturating_sub(TOKENS);
    let mut parts: Vec<(usize, Vec<i32>)> = Vec::new();
    let mut add = |standing: usize, tokens: &[i32]| match parts.last_mut() {
        Some((last, part)) if *last == standing => part.extend(tokens),
        Some(_) | None => parts.push((standing, tokens.to_vec())),
    };
    for (at, (token, origin)) in row.iter().zip(writer.origins()).enumerate().skip(first) {
        if at == place && !struck.is_empty() {
            add(STRUCK, struck);
        }
        let standing = match origin {
            Origin::Prompt => PROMPT,
            Origin::Model => WRITTEN,
            Origin::Draft => STAYED,
        };
        add(standing, &[*token]);
    }
    if !writer.drafted().is_empty() {
        add(DRAFTED, writer.drafted());
    }
    let count = parts.len();
    let part = |(index, (standing, tokens)): (usize, (usize, Vec<i32>))| {
        let mut text = vocabulary.text(&tokens);
        if matches!(standing, DRAFTED | STRUCK) {
            // What does not count, or not yet, must not break lines.
            text = text.replace('\n', "\\n");
        } else if writer.rows().len() > 1 {
            // A line for each of those that are written side by side.
            text = text.replace('\n', " ");
        }
        // Numbers have spaces between, also where another part begins.
        if !vocabulary.is_characters() && index + 1 < count {
            text.push(' ');
        }
        StyledSpan { standing, text }
    };
    parts.into_iter().enumerate().map(part).collect()
}
