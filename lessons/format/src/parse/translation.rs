//! Translations: a file next to the lesson's with its prose and texts in another language.
//!
//! What is asked, set, measured and graded is the original's: a translation names each directive by its id and gives
//! its texts alone. What it leaves out stands in the original's words, and a warning says so.

mod directive;

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Located, Place, Problems, shortened};
use crate::lint::overflow;
use crate::model::{Block, Lesson, Term, translated};
use crate::parse::fields::Fields;
use crate::parse::front;
use crate::parse::keys::lesson_id;
use crate::parse::split::{self, Directive, Segment, source_of};
use crate::parse::{Parsed, characters};

/// Reads a translation of a lesson: the lesson that comes of it has the original's ids, answers and runs.
///
/// Errors have places in this file. An error leaves no lesson; where a text is
/// missing or no longer fits, the original's stands in, with a warning.
pub fn read_translation(file: &str, bytes: &[u8], original: &Lesson) -> Parsed {
    let source = match source_of(file, bytes, "lesson") {
        Ok(source) => source,
        Err(diagnostic) => {
            return Parsed { lesson: None, diagnostics: vec![*diagnostic] };
        }
    };
    let mut problems = Problems::new(&source);
    let front = front::fenced(&source, &mut problems);
    let head = front.body.and_then(|(body, opening)| head(body, opening, original, &mut problems));
    let segments = split::split(&source, front.end, &mut problems);
    let mut reader = Reader {
        original,
        lesson: original.clone(),
        runs: BTreeMap::new(),
        run: Vec::new(),
        seen: Vec::new(),
    };
    let mut own = Vec::new();
    for segment in segments {
        match segment {
            Segment::Prose(place) => {
                let prose = super::directive::prose(&source, place, &mut problems);
                own.extend(prose.clone());
                reader.run.extend(prose);
            }
            Segment::Directive(fence) => reader.directive(&fence, &mut problems),
        }
    }
    let end = Place::new(source.text.len(), source.text.len());
    let mut lesson = reader.finish(end, &mut problems);
    let mut diagnostics = problems.into_diagnostics();
    // Its own lines are measured in its own file.
    diagnostics.extend(overflow(&Lesson { blocks: own, source, ..original.clone() }));
    if let Some(head) = head {
        lesson.front.lang = Some(head.lang);
        lesson.front.title = head.title;
        if !head.terms.is_empty() {
            lesson.front.terms = head.terms;
        }
    }
    Parsed::new(Some(lesson), diagnostics)
}

/// What a translation says about itself.
struct Head {
    lang: String,
    title: String,
    /// Terms in its language; without any, the original's stand in.
    terms: Vec<Term>,
}

fn head(
    body: Place,
    opening: Place,
    original: &Lesson,
    problems: &mut Problems<'_>,
) -> Option<Head> {
    let file = problems.source().file.clone();
    let what = "the front matter of a translation";
    let mut fields = Fields::read(body, opening, what, problems)?;
    let id = &original.front.id;
    fields.require(&[
        ("format", "format = 1"),
        ("id", &format!("id = \"{id}\"")),
        ("lang", "lang = \"fr\""),
        ("title", "title = \"...\""),
    ]);
    fields.format("translation");
    if let Some(own) = fields.text("id")
        && let Some(own_id) = lesson_id(&own, &mut fields)
        && own_id != *id
    {
        let message = format!("the lesson of this translation is `{id}`");
        fields.error(Code::IdMismatch, own.place, message, format!("write id = \"{id}\""));
    }
    let title = fields.line("title");
    let terms = front::terms(&mut fields);
    let lang = fields.line("lang").and_then(|lang| {
        let named = translated(&file).map(|(_, named)| named.to_owned());
        let help = match named {
            Some(named) if named == lang.value => return Some(lang),
            Some(named) => format!("write lang = \"{named}\", or name the file otherwise"),
            None if translated(&format!("lesson.{}.md", lang.value)).is_some() => {
                return Some(lang);
            }
            None => "write a language such as \"fr\" or \"pt-BR\"".to_owned(),
        };
        let message = "this is not the language that the file's name gives";
        fields.error(Code::BadValue, lang.place, message, help);
        None
    });
    if let Some(of) = fields.line("of") {
        let now = original.fingerprint();
        if of.value != now {
            let message = "the original has changed since it was translated";
            let help = format!("compare the two, then write of = \"{now}\"");
            fields.warning(Code::StaleTranslation, of.place, message, help);
        }
    }
    for key in ["minutes", "requires", "teaches", "seed"] {
        fields.inherited(key);
    }
    fields.finish();
    Some(Head { lang: lang?.value, title: title?.value, terms })
}

/// Goes through a translation and puts its texts in the place of the original's.
struct Reader<'l> {
    original: &'l Lesson,
    lesson: Lesson,
    /// The prose and notes before each directive, by its id; those after the last one under no id.
    runs: BTreeMap<Option<String>, Vec<Block>>,
    /// Those since the last directive.
    run: Vec<Block>,
    /// The directives seen so far.
    seen: Vec<Located<String>>,
}

impl Reader<'_> {
    fn directive(&mut self, fence: &Directive, problems: &mut Problems<'_>) {
        let name = fence.name.value.as_str();
        if name == "notes" {
            characters::report(fence.body, problems, characters::Where::Prose);
            self.run.push(super::directive::notes(fence, problems));
            return;
        }
        let id = &fence.id.value;
        let known = self.original.blocks.iter().position(|block| block.id() == Some(id));
        let Some(at) = known else {
            let ids = self.original.blocks.iter().filter_map(Block::id);
            let help = match mlsys_lab::nearest::nearest(id, ids) {
                Some(known) => format!("did you mean `{known}`?"),
                None => "translate what the original has; nothing can be added".to_owned(),
            };
            let message = format!("the original has no directive `{}`", shortened(id));
            problems.error(Code::ExtraId, fence.id.place, message, help);
            return;
        };
        if let Some(first) = self.seen.iter().find(|seen| seen.value == *id) {
            let line = problems.source().line(first.place.start);
            let message = format!("`{id}` is already translated on line {line}");
            problems.error(Code::DuplicateId, fence.id.place, message, "keep one of the two");
            return;
        }
        self.seen.push(fence.id.clone());
        let run = std::mem::take(&mut self.run);
        self.runs.insert(Some(id.clone()), run);
        if let Some(block) = self.lesson.blocks.get_mut(at) {
            if block.directive() == name {
                directive::read(fence, block, problems);
            } else {
                let is = block.directive();
                let message = format!("`{id}` is a {{{is}}} in the original");
                let help = format!("write {{{is}}} {id}");
                problems.error(Code::UnknownDirective, fence.name.place, message, help);
            }
        }
    }

    /// The whole lesson in the other language; missing texts are reported at the end of the file.
    fn finish(mut self, end: Place, problems: &mut Problems<'_>) -> Lesson {
        let last = std::mem::take(&mut self.run);
        self.runs.insert(None, last);
        for block in &self.original.blocks {
            let Some(id) = block.id() else { continue };
            let is_seen = self.seen.iter().any(|seen| seen.value == id);
            if !is_seen && directive::has_texts(block) {
                let line = block.place().map_or(1, |place| self.original.source.line(place.start));
                let message = format!(
                    "{{{}}} {id} is not translated: it stands on line {line} of the original",
                    block.directive()
                );
                let help = "until it is, learners read the original's words";
                problems.warning(Code::Untranslated, end, message, help);
            }
        }
        let places: BTreeMap<&str, Place> =
            self.seen.iter().map(|seen| (seen.value.as_str(), seen.place)).collect();
        self.lesson.blocks = merge_prose(self.lesson.blocks, self.runs, |id, line| {
            let place = id.and_then(|id| places.get(id)).copied().unwrap_or(end);
            let of = id.map_or("at the end".to_owned(), |id| format!("before `{id}`"));
            let message = format!("the text {of} is not translated: line {line} of the original");
            let help = "until it is, learners read the original's words";
            problems.warning(Code::Untranslated, place, message, help);
        });
        self.lesson
    }
}

/// The blocks in the original's order, with each stretch of prose before a directive replaced by the translation's.
/// `missing` is called for stretches that the translation lacks: the directive they stand before, and their line.
fn merge_prose(
    blocks: Vec<Block>,
    mut runs: BTreeMap<Option<String>, Vec<Block>>,
    mut missing: impl FnMut(Option<&str>, usize),
) -> Vec<Block> {
    let mut merged = Vec::new();
    let mut stretch = Vec::new();
    for block in blocks {
        match block.id().map(str::to_owned) {
            None => stretch.push(block),
            Some(id) => {
                let own = runs.remove(&Some(id.clone()));
                let stretch = std::mem::take(&mut stretch);
                merged.extend(merge_stretch(stretch, own, |line| missing(Some(&id), line)));
                merged.push(block);
            }
        }
    }
    let own = runs.remove(&None);
    merged.extend(merge_stretch(stretch, own, |line| missing(None, line)));
    merged
}

/// One stretch: the translation's prose if it has any, and its notes if it has any.
fn merge_stretch(
    original: Vec<Block>,
    own: Option<Vec<Block>>,
    missing: impl FnOnce(usize),
) -> Vec<Block> {
    let own: Vec<Block> = own.into_iter().flatten().collect();
    let is_prose = |block: &&Block| matches!(block, Block::Prose(_));
    let is_notes = |block: &&Block| matches!(block, Block::Notes(_));
    let has_prose = own.iter().any(|block| is_prose(&block));
    if !has_prose {
        if let Some(Block::Prose(first)) = original.iter().find(is_prose) {
            missing(first.line);
        }
        // Notes in the other language go with the original's prose.
        let (notes, _): (Vec<_>, Vec<_>) = own.into_iter().partition(|b| is_notes(&b));
        if notes.is_empty() {
            return original;
        }
        let prose = original.into_iter().filter(|block| is_prose(&block));
        return prose.chain(notes).collect();
    }
    if own.iter().any(|block| is_notes(&block)) {
        return own;
    }
    let notes = original.into_iter().filter(|block| is_notes(&block));
    own.into_iter().chain(notes).collect()
}
