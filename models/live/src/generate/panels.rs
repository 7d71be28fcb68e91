//! The panels of a batch: the text as it comes, the cache as it fills, what tokens cost, what the newest one looks at.

use mlsys_distributed::transport::CommError;
use mlsys_lab::Frame;
use mlsys_lab::frame::{
    Cells, Milestone, Paragraph, Span, SpanKind, StyledSpan, StyledText, Timeline, Tone, Total,
};
use mlsys_lab::picture::{axis, heat_map, kinds, line, log_axis, pane, point, row, scatter};
use mlsys_lab::value::number;
use mlsys_nn::data::Vocabulary;

use super::Session;
use super::costs::{CostLog, TokenCost};
use super::generator::{Generator, Origin, Phase};

/// Tokens of a picture that shows one in a column: of longer texts the newest.
const COLUMNS: usize = 192;
/// Earlier tokens that the newest is shown to look at.
const EARLIER: usize = 48;
const HEADS: usize = 16;

type Picture = fn(&Session) -> Result<Frame, CommError>;

pub(super) const ALL: [(&str, Picture); 7] = [
    ("text", |session| Ok(text(session))),
    ("cache", |session| Ok(cache(session))),
    ("latency", |session| Ok(latency(session))),
    ("phases", |session| Ok(phases(&session.costs))),
    ("server", no_server),
    ("pages", no_server),
    ("attention", attention),
];

fn no_server(_: &Session) -> Result<Frame, CommError> {
    let text = "All sequences here begin and end together: set requests, and some come while others are served.";
    Ok(Frame::Text(text.to_owned()))
}

/// A row per block, a column per token: which keys and values are kept.
fn cache(session: &Session) -> Frame {
    const KINDS: [(&str, Tone); 6] = [
        ("kept, all at once (prefill)", Tone::First),
        ("kept, one by one (decode)", Tone::Second),
        ("newest", Tone::Third),
        ("let go: outside the window", Tone::Empty),
        ("to come", Tone::Faint),
        ("nothing kept, computed again for each token", Tone::Warn),
    ];
    let decoder = &session.generator.decoder;
    let (read, prompt) = (decoder.len(), session.generator.prompt);
    // The last token is never read.
    let all = (prompt + session.knobs.generated.max(session.generator.written()))
        .saturating_sub(1)
        .max(read);
    let kept = decoder.kept();
    let first =
        if all <= COLUMNS { 0 } else { (read + COLUMNS / 8).min(all).saturating_sub(COLUMNS) };
    let kind = |position: usize| match &kept {
        _ if position >= read => 4,
        None => 5,
        Some(kept) if !kept.contains(&position) => 3,
        Some(_) if position < prompt => 0,
        Some(_) if position + 1 == read => 2,
        Some(_) => 1,
    };
    let cells: Vec<usize> = (first..all.min(first + COLUMNS)).map(kind).collect();
    // The legend lists only the kinds that occur.
    let present: Vec<usize> = (0..KINDS.len()).filter(|kind| cells.contains(kind)).collect();
    let shown = cells.iter().map(|kind| present.iter().position(|other| other == kind));
    let rows =
        (1..=session.config.depth).map(|block| row(format!("block {block}"), shown.clone(), ""));
    Frame::Cells(Cells {
        across: "token".to_owned(),
        first,
        group: 8,
        kinds: present.iter().flat_map(|kind| kinds([KINDS[*kind]])).collect(),
        rows: rows.collect(),
        note: cache_note(session),
        focus: Some((0, read.saturating_sub(first + 1))),
    })
}

fn cache_note(session: &Session) -> String {
    let decoder = &session.generator.decoder;
    let rows = &session.generator.rows;
    let Some(kept) = decoder.kept() else {
        return format!(
            "No cache: all {} tokens so far go through all blocks again for the next one.",
            rows[0].len()
        );
    };
    let [numbers, scales] = decoder.cache_bytes();
    let scaled = match scales {
        0 => String::new(),
        scales => format!(", and {} of scales", number(scales as f64)),
    };
    let each = match rows.len() {
        1 => String::new(),
        sequences => format!(" in each of {sequences} sequences"),
    };
    format!(
        "{} bytes{scaled}: {} tokens{each}, 2 x {} numbers in each of {} blocks.",
        number(numbers as f64),
        kept.len(),
        session.config.keys(),
        session.config.depth
    )
}

/// Cost of tokens: measured seconds as points, counted operations as lines.
fn latency(session: &Session) -> Frame {
    let [own, other] = session.names();
    let mut both = [(own, &session.costs.own), (other, &session.costs.other)];
    // Each keeps its colour, whichever of the two the run is.
    if session.costs.draft_positions == 0 {
        both.sort_by_key(|(name, _)| *name);
    }
    let names = both.map(|(name, _)| name);
    let curves = |value: fn(&TokenCost) -> f64| {
        // The prompt's own cost is another matter, and would hide the rest.
        both.map(|(_, costs)| {
            let after = costs.iter().filter(|cost| cost.token > 1);
            after.map(|cost| (cost.token as f64, value(cost))).collect::<Vec<(f64, f64)>>()
        })
    };
    let measured = curves(|cost| cost.seconds)
        .into_iter()
        .enumerate()
        .flat_map(|(series, curve)| curve.into_iter().map(move |(x, y)| point(x, y, "", series)));
    let modelled = both.into_iter().zip(curves(|cost| cost.flops as f64));
    let modelled = modelled
        .filter(|((_, costs), _)| !costs.is_empty())
        .map(|((name, _), curve)| line(name, curve));
    let plot = |y, points, lines| scatter([axis("token", ""), y], &names, points, lines);
    // One slow token of a busy machine would flatten the others on a linear axis.
    let [time, operations] = [log_axis("time", "seconds"), log_axis("operations", "flops")];
    Frame::Panes(vec![
        pane("measured", plot(time, measured.collect(), Vec::new())),
        pane("modelled", plot(operations, Vec::new(), modelled.collect())),
    ])
}

/// Prefill and decode over the run's own time, with operations for each byte above.
fn phases(costs: &CostLog) -> Frame {
    let present: Vec<Phase> = Phase::ALL
        .into_iter()
        .filter(|phase| costs.spans.iter().any(|span| span.phase == *phase))
        .collect();
    let lane = |phase: Phase| present.iter().position(|other| *other == phase).unwrap_or(0);
    let spans = costs.spans.iter().map(|span| Span {
        lane: lane(span.phase),
        start: span.start,
        end: span.end(),
        class: lane(span.phase),
        label: format!("{} flops, {} bytes", number(span.flops as f64), number(span.bytes as f64)),
        amount: Some(span.intensity()),
    });
    let mut points: Vec<(f64, f64)> =
        costs.spans.iter().map(|span| (span.start, span.intensity())).collect();
    points.extend(costs.spans.last().map(|last| (last.end(), 0.0)));
    let lanes = present.iter().map(|phase| {
        let intensity = costs.intensity(*phase).unwrap_or(0.0);
        format!("{} {intensity:.2}", phase.name())
    });
    let first = costs.spans.first();
    let first =
        first.map(|prefill| Milestone { at: prefill.end(), label: "first token".to_owned() });
    Frame::Timeline(Timeline {
        unit: "seconds".to_owned(),
        lanes: lanes.collect(),
        classes: present.iter().map(Phase::to_string).collect(),
        spans: spans.collect(),
        marks: first.into_iter().collect(),
        total: Some(Total {
            name: "arithmetic intensity".to_owned(),
            unit: "flop/B".to_owned(),
            points,
        }),
        ..Timeline::default()
    })
}

/// What the newest token that was read looks at, a row a head.
fn attention(session: &Session) -> Result<Frame, CommError> {
    let (blocks, first) = session.generator.attention()?;
    let tokens = &session.generator.rows[0];
    let heads = blocks.iter().enumerate().flat_map(|(block, heads)| {
        let name = move |head: usize| format!("block {} head {}", block + 1, head + 1);
        heads.iter().enumerate().map(move |(head, weights)| (name(head), weights))
    });
    let heads: Vec<(String, &Vec<f32>)> = heads.take(HEADS).collect();
    let seen = heads.first().map_or(0, |(_, weights)| weights.len());
    let shown = seen.min(EARLIER);
    let begin = first + seen - shown;
    let label = |position: usize| {
        tokens.get(position).map_or_else(String::new, |token| session.vocabulary.label(*token))
    };
    let cells = heads.iter().flat_map(|(_, weights)| weights[seen - shown..].iter().copied());
    let cells: Vec<f32> = cells.collect();
    // Shares are small where many tokens are looked at: the strongest has the strongest colour.
    let most = cells.iter().copied().fold(0.0, f32::max);
    let newest = begin + shown.saturating_sub(1);
    let legend = format!(
        "how much the newest token read, '{}' at {newest}, looks at each: {:.0} % at most",
        label(newest),
        100.0 * most
    );
    let scale = (0.0, most.max(f32::MIN_POSITIVE));
    let mut map = heat_map([heads.len(), shown], cells, scale, legend);
    map.x = (begin as f32, (begin + shown) as f32);
    map.column_labels = (begin..begin + shown).map(label).collect();
    map.row_labels = heads.into_iter().map(|(name, _)| name).collect();
    Ok(Frame::HeatMap(map))
}

const SEQUENCES: usize = 16;
/// Tokens of a sequence shown, the last ones.
const TOKENS: usize = 1200;

// The kinds of spans: those of [`Origin`], and two more.
pub(super) const PROMPT: usize = Origin::Prompt as usize;
pub(super) const WRITTEN: usize = Origin::Model as usize;
const DRAFTED: usize = 3;
const REJECTED: usize = 4;

/// The kinds of [`PROMPT`] and [`WRITTEN`].
pub(super) fn span_kinds() -> Vec<SpanKind> {
    vec![span_kind("prompt", Tone::Faint, ["", ""]), span_kind("written", Tone::First, ["", ""])]
}

fn span_kind(name: &str, tone: Tone, marks: [&str; 2]) -> SpanKind {
    SpanKind { name: name.to_owned(), tone, marks: marks.map(str::to_owned) }
}

fn text(session: &Session) -> Frame {
    let (generator, rows) = (&session.generator, &session.generator.rows);
    let paragraphs = rows.iter().take(SEQUENCES).enumerate().map(|(place, row)| Paragraph {
        label: if rows.len() > 1 { (place + 1).to_string() } else { String::new() },
        stretches: spans(generator, row, &session.vocabulary),
    });
    let mut standings = span_kinds();
    if session.costs.draft_positions > 0 {
        standings.extend([
            span_kind("accepted", Tone::Second, ["", ""]),
            span_kind("drafted", Tone::Third, ["[", "]"]),
            span_kind("rejected", Tone::Bad, ["~", "~"]),
        ]);
    }
    let mut note = format!("token {} of {}", generator.written(), session.knobs.generated);
    let speculation = session.costs.all_speculation();
    if let (Some(share), Some(expected)) =
        (speculation.acceptance(), session.costs.expected_tokens())
    {
        note.push_str(&format!(
            "; {} of {} checked drafts were accepted ({:.0} %): {:.2} tokens a pass of the model, {expected:.2} by the formula",
            speculation.accepted,
            speculation.judged,
            100.0 * share,
            session.costs.gained as f64 / speculation.runs.max(1) as f64,
        ));
    }
    if let Some(comparator) = &session.comparator {
        note.push_str(&comparator.summary(session.names()[1]));
    }
    if rows.len() > SEQUENCES {
        note.push_str(&format!("; {SEQUENCES} of {} sequences shown", rows.len()));
    }
    Frame::StyledText(StyledText { standings, paragraphs: paragraphs.collect(), note })
}

fn spans(generator: &Generator, row: &[i32], vocabulary: &Vocabulary) -> Vec<StyledSpan> {
    let (place, rejected) = &generator.rejected;
    let first = row.len().saturating_sub(TOKENS);
    let mut parts: Vec<(usize, Vec<i32>)> = Vec::new();
    let mut add = |standing: usize, tokens: &[i32]| match parts.last_mut() {
        _ if tokens.is_empty() => {}
        Some((last, part)) if *last == standing => part.extend(tokens),
        Some(_) | None => parts.push((standing, tokens.to_vec())),
    };
    for (at, (token, origin)) in row.iter().zip(&generator.origins).enumerate().skip(first) {
        if at == *place {
            add(REJECTED, rejected);
        }
        add(*origin as usize, &[*token]);
    }
    add(DRAFTED, generator.drafted());
    let count = parts.len();
    let part = |(index, (standing, tokens)): (usize, (usize, Vec<i32>))| {
        let mut text = vocabulary.text(&tokens);
        if matches!(standing, DRAFTED | REJECTED) {
            // What does not count, or not yet, must not break lines.
            text = text.replace('\n', "\\n");
        } else if generator.rows.len() > 1 {
            // A line for each sequence of a batch.
            text = text.replace('\n', " ");
        }
        // Numbers have spaces between, also where another part begins.
        if !vocabulary.is_text() && index + 1 < count {
            text.push(' ');
        }
        StyledSpan { standing, text }
    };
    parts.into_iter().enumerate().map(part).collect()
}
