//! Blocks and their warps, and the threads of the block that is looked at.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{legend, say, split, style};
use crate::figure::kernel::{Block, Walk, blocks, threads, warp_word};
use crate::ui::panel::pen::Pen;
use crate::ui::theme::Look;

/// Threads in a row where the block has more along x: a warp.
const ACROSS: u32 = 32;

pub(super) fn draw(area: Rect, buf: &mut Buffer, walk: &Walk, look: &Look) {
    let theme = &look.theme;
    if let Err(reason) = walk.machine() {
        say(area, buf, &[(reason.to_owned(), theme.dim)], look);
        return;
    }
    let states = threads(walk);
    let across = walk.recipe().block_dim[0].clamp(1, ACROSS);
    let rows = (states.len() as u32).div_ceil(across) as u16;
    // The threads have what they need, as long as some blocks are seen above them.
    let foot = u16::from(area.height > 8) + u16::from(area.height > 12);
    let [above, foot] = split(area, foot);
    let flying = walk.machine().map_or(0, |machine| machine.blocks().len()) as u16;
    let below = (rows + 1).min(above.height * 2 / 3);
    let below = below.max(above.height.saturating_sub(flying + 4));
    let [above, below] = split(above, below);
    draw_blocks(above, buf, walk, look);
    draw_threads(below, buf, walk, across, look);
    let mut told = vec![(legend(&states), theme.dim)];
    let blocks = ". waiting, r running, b at a barrier, d done";
    told.push((format!("blocks and warps: {blocks}"), theme.dim));
    say(foot, buf, &told, look);
}

/// A row a block that is in flight; the others are counted, those near the one that is looked at shown by their letters.
fn draw_blocks(area: Rect, buf: &mut Buffer, walk: &Walk, look: &Look) {
    let theme = &look.theme;
    let here = walk.here();
    let room = u64::from(area.width.max(1));
    let all = walk.blocks();
    let mut rows = area.y..area.bottom();
    let first = u64::from(here.block) / room * room;
    let line = blocks(walk, first, room);
    if let Some(y) = rows.next() {
        let mut pen = Pen::new(area, buf, &look.glyphs);
        for (block, x) in line.iter().zip(area.x..) {
            let style = if block.number == here.block {
                theme.selection
            } else {
                letter_style(block.word().0, look)
            };
            pen.glyph(x, y, &block.word().0.to_string(), style);
        }
        let said = if all > room {
            format!(
                " blocks {first} to {} of {all} ",
                first + line.len() as u64 - 1
            )
        } else {
            format!("  {all} blocks")
        };
        if line.len() + said.len() <= usize::from(area.width) || all > room {
            pen.ending(area.right(), y, &said, theme.dim);
        }
    }
    let Ok(machine) = walk.machine() else {
        return;
    };
    let mut flying: Vec<Block> = machine
        .blocks()
        .iter()
        .flat_map(|view| blocks(walk, u64::from(view.block), 1))
        .collect();
    // The one that is looked at comes first, in flight or not.
    flying.retain(|block| block.number != here.block);
    let looked_at = blocks(walk, u64::from(here.block), 1);
    let count = flying.len() + looked_at.len();
    for (place, (block, y)) in looked_at
        .iter()
        .chain(&flying)
        .zip(rows.clone())
        .enumerate()
    {
        let more = count - place;
        let is_last = y + 1 == rows.end;
        let mut pen = Pen::new(area, buf, &look.glyphs);
        if is_last && more > 1 {
            pen.text(
                area.x,
                y,
                &format!("and {more} more blocks in flight"),
                theme.dim,
            );
            break;
        }
        let style = if block.number == here.block {
            theme.accent
        } else {
            theme.text
        };
        let [x, y_axis, z] = block.id;
        let name = format!(
            "block {} ({x},{y_axis},{z}) {}",
            block.number,
            block.word().1
        );
        let mut at = pen.text(area.x, y, &name, style) + 2;
        for (warp, (state, line)) in block.warps.iter().enumerate() {
            let (letter, _) = warp_word(*state);
            let chosen = block.number == here.block && warp == here.warp as usize;
            let text = if letter == 'd' {
                format!("w{warp} d")
            } else {
                format!("w{warp} {letter}:{line}")
            };
            if at + text.len() as u16 > area.right() {
                pen.ending(area.right(), y, look.glyphs.ellipsis, theme.dim);
                break;
            }
            let style = if chosen {
                theme.selection
            } else {
                letter_style(letter, look)
            };
            at = pen.text(at, y, &text, style) + 2;
        }
    }
}

fn letter_style(letter: char, look: &Look) -> ratatui::style::Style {
    match letter {
        'r' => look.theme.good,
        'b' => look.theme.warn,
        _ => look.theme.dim,
    }
}

/// The threads of the block, a letter each, in rows along x.
fn draw_threads(area: Rect, buf: &mut Buffer, walk: &Walk, across: u32, look: &Look) {
    let theme = &look.theme;
    let (here, states) = (walk.here(), threads(walk));
    let Some(body) = area.height.checked_sub(1).map(|height| Rect {
        y: area.y + 1,
        height,
        ..area
    }) else {
        return;
    };
    let [dx, dy, dz] = walk.recipe().block_dim;
    let mut pen = Pen::new(area, buf, &look.glyphs);
    let title = format!("threads of block {}: {dx} x {dy} x {dz}", here.block);
    pen.text(area.x, area.y, &title, theme.title);
    let chosen = here.number();
    let count = states.len().div_ceil(across as usize);
    let rows = usize::from(body.height);
    // Whole pages of rows, so that they stand still.
    let row = chosen / across as usize;
    let first = if count <= rows || rows == 0 {
        0
    } else {
        row / rows * rows
    };
    let per_thread: u16 = if body.width >= across as u16 * 2 + 6 {
        2
    } else {
        1
    };
    for (row, y) in (first..count).zip(body.y..body.bottom()) {
        let mut pen = Pen::new(body, buf, &look.glyphs);
        let number = row * across as usize;
        pen.ending(body.x + 5, y, &number.to_string(), theme.dim);
        let cells = states.iter().enumerate().skip(number).take(across as usize);
        for ((thread, state), place) in cells.zip(0_u16..) {
            let style = if thread == chosen {
                theme.selection
            } else {
                style(*state, theme)
            };
            pen.glyph(
                body.x + 6 + place * per_thread,
                y,
                &state.letter().to_string(),
                style,
            );
        }
    }
    if count > rows {
        let last = (first + rows).min(count) * across as usize;
        let said = format!("to {} of {}", last.min(states.len()), states.len());
        Pen::new(area, buf, &look.glyphs).ending(area.right(), area.y, &said, theme.dim);
    }
}
