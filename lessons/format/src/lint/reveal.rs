//! Predictions that are revealed by a lab of another part of the lesson.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Block, Lesson, Predict};

/// A warning for each prediction that names no lab and has more than one heading between it and the next lab: the run of
/// that lab would reveal it screens above the learner's place.
pub fn distant_reveals(lesson: &Lesson) -> Vec<Diagnostic> {
    lesson.predictions().filter_map(|predict| distant_reveal(predict, lesson)).collect()
}

fn distant_reveal(predict: &Predict, lesson: &Lesson) -> Option<Diagnostic> {
    let names_lab = predict.target.formula().is_some_and(|formula| {
        let names = formula.expr.names();
        names.iter().any(|(name, _)| name.parts().next().is_some_and(|id| lesson.lab(id).is_some()))
    });
    if predict.lab.is_some() || names_lab {
        return None;
    }
    let after = lesson.blocks.iter().skip_while(|block| block.as_predict() != Some(predict));
    let mut headings = 0;
    for block in after {
        match block {
            Block::Prose(prose) => headings += count_headings(&prose.markdown),
            Block::Lab(lab) if headings > 1 => {
                let message = format!(
                    "`{}` is revealed by the next lab, `{}`, which is {headings} headings below",
                    predict.id, lab.id
                );
                let help = format!(
                    "move it to its lab, or write `lab = \"{}\"` if that one is meant",
                    lab.id
                );
                let place = predict.place;
                return Some(lesson.source.warning(Code::DistantReveal, place, message).help(help));
            }
            Block::Lab(_) => return None,
            Block::Predict(_) | Block::Question(_) | Block::Check(_) | Block::Notes(_) => {}
        }
    }
    None
}

fn count_headings(markdown: &str) -> usize {
    let mut in_code = false;
    let is_heading = |line: &&str| {
        in_code ^= line.starts_with("```");
        !in_code && line.trim_start_matches('#').starts_with(' ') && line.starts_with('#')
    };
    markdown.lines().filter(is_heading).count()
}
