//! The text as it comes, with who chose each token.

use mlsys_lab::Frame;
use mlsys_lab::frame::{Paragraph, Passage, Standing, Stretch, Tone};

use super::Pictured;
use crate::generate::writer::{Origin, Writer};
use mlsys_nn::data::Vocabulary;

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
pub(in crate::generate) fn text(of: &Pictured<'_>) -> Frame {
    let (writer, rows) = (of.writer, of.writer.rows());
    let paragraphs = rows.iter().take(SEQUENCES).enumerate().map(|(place, row)| Paragraph {
        label: if rows.len() > 1 { (place + 1).to_string() } else { String::new() },
        stretches: stretches(writer, row, of.vocabulary),
    });
    let standing = |name: &str, tone, marks: [&str; 2]| Standing {
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
    Frame::Passage(Passage { standings, paragraphs: paragraphs.collect(), note })
}

fn stretches(writer: &Writer, row: &[i32], vocabulary: &Vocabulary) -> Vec<Stretch> {
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
        Stretch { standing, text }
    };
    parts.into_iter().enumerate().map(part).collect()
}
