//! Metrics that a text names and that are nowhere on the screen.

use std::collections::BTreeSet;

use mlsys_lab::Registry;
use mlsys_lab::schema::Schema;

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::lint::labs::Labs;
use crate::lint::spoiler::{DrawnTexts, texts};
use crate::model::{Block, LabDirective, Lesson};

/// A warning for each name in backticks that is a metric of the lab above it and that no lab above shows: in a panel, as
/// its headline or among its `metrics`. Labs that answer at once are run, and what their panels write is searched; of
/// a picture of a lab that takes a while only its description is known. `drawn` gives what a panel writes.
pub fn unseen_metrics(
    lesson: &Lesson,
    registry: &Registry,
    drawn: &DrawnTexts<'_>,
) -> Vec<Diagnostic> {
    let runs = Labs::run(lesson, registry);
    let (mut above, mut told, mut found) = (Vec::new(), BTreeSet::new(), Vec::new());
    for block in &lesson.blocks {
        if let Some(lab) = block.as_lab() {
            above.extend(Seen::new(lab, registry, &runs, drawn));
        }
        let Some(last) = above.last() else { continue };
        let replies = block.as_question().map_or_else(Vec::new, |question| question.kind.says());
        for name in texts(block).into_iter().chain(replies).flat_map(|text| in_backticks(text)) {
            let is_seen = above.iter().any(|lab: &Seen<'_>| lab.shows(name));
            if last.is_metric(name) && !is_seen && told.insert((&last.lab.id, name)) {
                found.push(warning(lesson, block, name, &last.lab.id));
            }
        }
    }
    found
}

/// What stands in backticks, outside code of several lines.
fn in_backticks(text: &str) -> impl Iterator<Item = &str> {
    let mut is_fenced = false;
    let prose = text.lines().filter(move |line| {
        is_fenced ^= line.starts_with("```");
        !is_fenced && !line.starts_with("```")
    });
    prose.flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// A lab with what the lesson shows of it.
struct Seen<'l> {
    lab: &'l LabDirective,
    schema: &'l Schema,
    /// What its panels write.
    texts: Vec<String>,
}

impl<'l> Seen<'l> {
    fn new(
        lab: &'l LabDirective,
        registry: &'l Registry,
        runs: &Labs<'_>,
        drawn: &DrawnTexts<'_>,
    ) -> Option<Self> {
        let schema = registry.find(&lab.kind.value).ok()?.schema();
        let run = runs.of(lab);
        let texts = schema.panels.iter().filter(|panel| is_shown(lab, &panel.name));
        let texts = texts.flat_map(|panel| match run {
            Some((schema, data)) => drawn(schema, panel, data).texts,
            None => vec![panel.shows.clone()],
        });
        Some(Self { lab, schema, texts: texts.collect() })
    }

    /// Whether a name means a metric, and no parameter or panel.
    fn is_metric(&self, name: &str) -> bool {
        let is_other = self.schema.param(name).is_some() || self.schema.panel(name).is_some();
        self.schema.metric(name).is_some() && !is_other
    }

    fn shows(&self, name: &str) -> bool {
        let is_named = |pattern: &String| match pattern.strip_suffix('*') {
            Some(stem) => name.starts_with(stem),
            None => pattern == name,
        };
        let panels = self.schema.panels.iter().filter(|panel| is_shown(self.lab, &panel.name));
        let words = name.replace('_', " ");
        self.lab.metrics.iter().any(|metric| metric.value == name)
            || self.schema.headline.as_ref().is_some_and(|headline| headline.metric == name)
            || panels.flat_map(|panel| &panel.metrics).any(is_named)
            || self.texts.iter().any(|text| has_word(text, name) || has_word(text, &words))
    }
}

fn is_shown(lab: &LabDirective, panel: &str) -> bool {
    lab.panels.is_empty() || lab.panels.iter().any(|named| named.name == panel)
}

/// Whether a text has these letters with none next to them.
fn has_word(text: &str, word: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_letter) && !text[at + word.len()..].starts_with(is_letter)
    })
}

fn warning(lesson: &Lesson, block: &Block, name: &str, lab: &str) -> Diagnostic {
    let source = &lesson.source;
    let whole = match block {
        Block::Prose(prose) => {
            let lines = source.text.split_inclusive('\n');
            let start = lines.take(prose.line - 1).map(str::len).sum();
            Place::new(start, (start + prose.markdown.len()).min(source.text.len()))
        }
        Block::Lab(_)
        | Block::Predict(_)
        | Block::Question(_)
        | Block::Check(_)
        | Block::Notes(_) => block.place().unwrap_or(Place::new(0, source.text.len())),
    };
    let place = source.slice(whole).find(&format!("`{name}`")).map_or(whole, |at| {
        let start = whole.start + at + 1;
        Place::new(start, start + name.len())
    });
    let message = format!("no panel that the lesson shows of lab `{lab}` has the metric `{name}`");
    let help = format!("add metrics = [\"{name}\"] to the lab, or show a panel with it");
    source.warning(Code::UnseenMetric, place, message).help(help)
}
