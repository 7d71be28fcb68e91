//! Examples that the rounded network answers otherwise.

use mlsys_lab::Value;
use mlsys_lab::frame::{Frame, Image, Images, Table, Verdict};

use super::Pictured;
use mlsys_nn::data::{Examples, Labelled, Sequence};

/// Images shown.
const MOST_IMAGES: usize = 24;
/// Tokens shown.
const MOST_TOKENS: usize = 20;
/// Tokens before each.
const REMINDER: usize = 6;

/// The images, or the places in the sequence, whose answer changed.
pub(super) fn samples(of: &Pictured<'_>) -> Frame {
    let session = of.session;
    let changed = session.after.changed(&session.before);
    if changed.is_empty() {
        let said = format!(
            "All {} answers are what they were before rounding.",
            session.before.classes.len()
        );
        return Frame::Text(said);
    }
    match &session.judge.examples {
        Examples::Labelled(labelled) => images(of, labelled, &changed),
        Examples::Sequence(sequence) => tokens(of, sequence, &changed),
    }
}

/// What was said and what is said now stands under each; right or wrong is what is said now.
fn images(of: &Pictured<'_>, examples: &Labelled, changed: &[usize]) -> Frame {
    let session = of.session;
    let edge = examples.features.isqrt();
    let image = |index: &usize| {
        let then = session.before.classes.get(*index)?;
        let now = session.after.classes.get(*index)?;
        let truth = usize::try_from(*examples.labels.get(*index)?).ok()?;
        Some(Image {
            pixels: examples.input(*index).iter().map(|x| (255.0 * x).round() as u8).collect(),
            label: format!("{then}, now {now}"),
            verdict: if *now == truth { Verdict::Right } else { Verdict::Wrong },
        })
    };
    Frame::Images(Images {
        width: edge,
        height: edge,
        images: changed.iter().filter_map(image).take(MOST_IMAGES).collect(),
        blank: None,
        together: 1,
    })
}

fn tokens(of: &Pictured<'_>, sequence: &Sequence, changed: &[usize]) -> Frame {
    let session = of.session;
    let labels = sequence.all_labels();
    let vocabulary = session.judge.vocabulary.as_ref();
    let name =
        |token: i32| vocabulary.map_or_else(|| token.to_string(), |known| known.label(token));
    let row = |index: &usize| {
        let truth = *labels.get(*index)?;
        let before = labels.get(index.saturating_sub(REMINDER)..*index)?;
        let then = *session.before.classes.get(*index)? as i32;
        let now = *session.after.classes.get(*index)? as i32;
        let read: Vec<String> = before.iter().map(|token| name(*token)).collect();
        Some(vec![
            Value::from(read.join(" ")),
            Value::from(name(then)),
            Value::from(name(now)),
            Value::from(name(truth)),
            Value::from(if now == truth { "right" } else { "" }),
        ])
    };
    Frame::Table(Table {
        columns: ["after", "it said", "says now", "comes next", ""].map(str::to_owned).into(),
        rows: changed.iter().filter_map(row).take(MOST_TOKENS).collect(),
        ..Table::default()
    })
}
