//! Small grey images side by side, each with its label.

use mlsys_lab::frame::{Image, Images, Verdict};
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::canvas::{self as pen, Canvas, Pen};
use crate::csv::Lines;
use crate::glyphs::{GlyphSet, Glyphs};
use crate::panel::picture::{At, Picture, spaced};
use crate::panel::view::FrameView;
use crate::theme::Look;

const GAP: u16 = 2;

/// How many images stand in a row: those that belong together whole, if there is room for them.
fn in_row(area: Rect, width: u16, images: &Images) -> u16 {
    let room = (area.width + GAP) / (width + GAP);
    let together = pen::cells(images.together.max(1));
    match room / together {
        0 => room,
        lots => lots * together,
    }
}

/// The fewest images that are worth being seen large when not all can be.
const ENOUGH: usize = 4;

/// The size of one image in cells: the largest at which all fit, or, where they fit only with nine pixels or more to
/// a column, the largest at which enough of them do; a size less only where it shows twice as many. With blank pixels,
/// that at which each pixel is seen, where one image fits.
fn size(area: Rect, images: &Images) -> (u16, u16) {
    let cells = |pixels: usize, parts: usize, least: u16, most: u16| {
        let cells = pen::cells(pixels.div_ceil(parts));
        cells.min(most).max(least.min(most))
    };
    let at = |divisor: usize| {
        let width = cells(images.width, divisor, 4, area.width.max(1));
        let height = cells(images.height, 2 * divisor, 2, area.height.saturating_sub(1).max(1));
        let in_row = in_row(area, width, images);
        let fit = usize::from(in_row) * usize::from(area.height / (height + 1));
        (width, height, fit)
    };
    let all = images.images.len();
    let enough = match images.together {
        0 | 1 => ENOUGH,
        together => together,
    };
    let [one, two, three, four] = [1, 2, 3, 4].map(at);
    // Which pixels are blank is what such images are about.
    let is_exact = pen::cells(images.width) <= one.0 && pen::cells(images.height) <= 2 * one.1;
    if images.blank.is_some() && is_exact && one.2 > 0 {
        return (one.0, one.1);
    }
    let shown = |(_, _, fit): (u16, u16, usize)| fit.min(all);
    let is_enough = |size| shown(size) >= enough.min(all);
    let (width, height, _) = if let Some(whole) = [one, two].into_iter().find(|s| shown(*s) == all)
    {
        whole
    } else if is_enough(two) && shown(three) < 2 * shown(two) {
        two
    } else if is_enough(three) {
        three
    } else {
        four
    };
    (width, height)
}

/// The pixels, two above one another in a cell; several pixels that share one are averaged, or the first of them is drawn
/// where some are blank, so that as large a part is seen blank as is.
fn pixels(canvas: &mut Canvas, tile: Rect, images: &Images, image: &Image, look: &Look) {
    // None where no pixel is to be seen.
    let mean = |x: u16, half: u16, halves: u16| {
        let columns = part(images.width, usize::from(x), usize::from(tile.width));
        let rows = part(images.height, usize::from(half), usize::from(tile.height * halves));
        if images.blank.is_some() && halves == 2 {
            return images.level(image, rows.start, columns.start);
        }
        let inside = rows.flat_map(|row| columns.clone().map(move |column| (row, column)));
        let levels = inside.filter_map(|(row, column)| images.level(image, row, column));
        let (sum, count) =
            levels.fold((0_u32, 0_u32), |(s, c), level| (s + u32::from(level), c + 1));
        sum.checked_div(count).map(|mean| mean as u8)
    };
    // Without colours the darkest shade is blank too, and must not be taken for a pixel that is not there.
    let floor = if images.blank.is_some() { 0.25 } else { 0.0 };
    let shade = |level: Option<u8>| match level {
        Some(level) => look.glyphs.shade(floor + (1.0 - floor) * f32::from(level) / 255.0),
        None => " ",
    };
    let exact = canvas.mosaic(tile, (images.width, images.height), |row, column| {
        // So few greys that pixels share elements.
        let level = seen(images, images.level(image, row, column)?);
        look.theme.grey(level / 16 * 17)
    });
    if exact {
        return;
    }
    for y in 0..tile.height {
        for x in 0..tile.width {
            let target = &mut canvas.cells[(tile.x + x, tile.y + y)];
            let (upper, lower) = (mean(x, 2 * y, 2), mean(x, 2 * y + 1, 2));
            let grey =
                |level: Option<u8>| level.and_then(|level| look.theme.grey(seen(images, level)));
            match (look.glyphs.set, grey(upper), grey(lower)) {
                (GlyphSet::Unicode, Some(upper), Some(lower)) => {
                    target.set_symbol("▀").set_fg(upper).set_bg(lower);
                }
                (GlyphSet::Unicode, Some(upper), None) if lower.is_none() => {
                    target.set_symbol("▀").set_fg(upper);
                }
                (GlyphSet::Unicode, None, Some(lower)) if upper.is_none() => {
                    target.set_symbol("▄").set_fg(lower);
                }
                (GlyphSet::Unicode, None, None)
                    if upper.is_none() && lower.is_none() && look.theme.grey(0).is_some() =>
                {
                    target.set_symbol(look.glyphs.faint_point).set_style(look.theme.dim);
                }
                (GlyphSet::Unicode | GlyphSet::Ascii, _, _) => {
                    target.set_symbol(shade(mean(x, y, 1)));
                }
            }
        }
    }
}

/// The level at which a pixel is drawn: where others are blank, none is as dark or as light as what is behind it.
fn seen(images: &Images, level: u8) -> u8 {
    const DARKEST: u8 = 72;
    const LIGHTEST: u8 = 232;
    match images.blank {
        None => level,
        Some(_) => {
            let share = u16::from(level) * u16::from(LIGHTEST - DARKEST) / u16::from(u8::MAX);
            DARKEST + share as u8
        }
    }
}

/// The pixels of a row that fall on one of `cells` cells; at least one.
fn part(pixels: usize, cell: usize, cells: usize) -> std::ops::Range<usize> {
    let cells = cells.max(1);
    let first = (cell * pixels / cells).min(pixels.saturating_sub(1));
    first..((cell + 1) * pixels / cells).max(first + 1)
}

/// The label below an image, with a mark and a word if the image was mistaken.
fn label(canvas: &mut Canvas, tile: Rect, image: &Image, marked: Option<Style>, look: &Look) {
    let theme = &look.theme;
    let text = label_text(image, tile.width, look);
    let style = match image.verdict {
        Verdict::Unjudged => theme.dim,
        Verdict::Right => theme.good,
        Verdict::Wrong => theme.bad,
    };
    let y = tile.bottom().saturating_sub(1);
    Pen::new(tile, canvas, &look.glyphs).text(tile.x, y, &text, marked.unwrap_or(style));
}

fn label_text(image: &Image, room: u16, look: &Look) -> String {
    let glyphs = &look.glyphs;
    match image.verdict {
        Verdict::Unjudged => image.label.clone(),
        Verdict::Right => format!("{} {}", glyphs.right, image.label),
        Verdict::Wrong => {
            let text = format!("{} {}", glyphs.wrong, image.label);
            let worded = format!("{text} wrong");
            if pen::width(&worded) <= room { worded } else { text }
        }
    }
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Right => "right",
        Verdict::Wrong => "wrong",
        Verdict::Unjudged => "",
    }
}

impl Picture for Images {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        let marked = at.view.mark.map(|mark| mark.within(self.images.len(), 1).column);
        let area = spaced(area);
        if self.images.is_empty() || self.width == 0 || self.height == 0 {
            canvas.say(area, "no images", look);
            return;
        }
        let (width, height) = size(area, self);
        let in_row = in_row(area, width, self).max(1);
        let in_column = (area.height / (height + 1)).max(1);
        let mut places = usize::from(in_row) * usize::from(in_column);
        let mut more = String::new();
        if self.images.len() > places {
            let left_out = |places: usize| self.images.len() - places;
            let start = area.x + (in_row - 1) * (width + GAP);
            let labels =
                self.images.iter().map(|image| pen::width(&label_text(image, width, look)));
            let room = area.right().saturating_sub(start).saturating_sub(labels.max().unwrap_or(0));
            more = format!(" +{} more", left_out(places));
            if pen::width(&more) > room {
                // The count takes the place of the last image. Where there is only one, the count is shortened instead.
                more = match places {
                    1 => format!(" +{}", left_out(places)),
                    _ => format!(" +{} more", left_out(places - 1)),
                };
                places = (places - 1).max(1);
            }
        }
        // Whole rows are skipped, so that the images stay in their columns.
        let over = marked.map_or(0, |marked| (marked + 1).saturating_sub(places));
        let first = over.div_ceil(usize::from(in_row)) * usize::from(in_row);
        let shown = self.images.iter().enumerate().skip(first);
        for (place, (index, image)) in shown.enumerate().take(places) {
            let (column, row) = (place % usize::from(in_row), place / usize::from(in_row));
            let tile = Rect {
                x: area.x + column as u16 * (width + GAP),
                y: area.y + row as u16 * (height + 1),
                width,
                height,
            };
            let tile = tile.intersection(area);
            pixels(canvas, tile, self, image, look);
            label(
                canvas,
                Rect { height: height + 1, ..tile }.intersection(area),
                image,
                (marked == Some(index)).then_some(look.theme.selection),
                look,
            );
        }
        if !more.is_empty() {
            let y = (area.y + in_column * (height + 1)).min(area.bottom()) - 1;
            Pen::new(area, canvas, &look.glyphs).ending(area.right(), y, &more, look.theme.dim);
        }
    }

    fn words(&self, _: &FrameView, _: &Glyphs) -> String {
        let wrong = self.images.iter().filter(|i| i.verdict == Verdict::Wrong);
        let labels: Vec<&str> = wrong.map(|i| i.label.as_str()).collect();
        let count = self.images.len();
        let judged = self.images.iter().any(|i| i.verdict != Verdict::Unjudged);
        match (judged, labels.is_empty()) {
            (false, _) if self.blank.is_some() => {
                let blank = 100.0 * self.blank_share();
                format!("{count} images, {blank:.0} % of their pixels blank.")
            }
            (false, _) => format!("{count} images."),
            (true, true) => format!("{count} images, all right."),
            (true, false) => {
                format!("{count} images, {} wrong: {}.", labels.len(), labels.join(", "))
            }
        }
    }

    fn values(&self, lines: &mut Lines) {
        let pixels = self.images.iter().map(|image| image.pixels.len()).max().unwrap_or(0);
        let titles = ["label".to_owned(), "verdict".to_owned()];
        lines.line(titles.into_iter().chain((0..pixels).map(|i| format!("pixel{i}"))));
        for image in &self.images {
            let verdict = verdict_word(image.verdict);
            let cells = [image.label.clone(), verdict.to_owned()];
            lines.line(cells.into_iter().chain(image.pixels.iter().map(
                |level| match self.blank {
                    Some(blank) if blank == *level => String::new(),
                    Some(_) | None => level.to_string(),
                },
            )));
        }
    }

    fn marked(&self, view: &FrameView, _: &Glyphs) -> Option<String> {
        let mark = view.mark?;
        let index = mark.within(self.images.len(), 1).column;
        let image = self.images.get(index)?;
        let place = format!("image {} of {}: {}", index + 1, self.images.len(), image.label);
        Some(match verdict_word(image.verdict) {
            "" => place,
            verdict => format!("{place}, {verdict}"),
        })
    }

    fn places(&self, _: &FrameView) -> (usize, usize) {
        (self.images.len(), 1)
    }

    fn page_size(&self, columns: u16) -> (u16, u16) {
        const MOST: usize = 60;
        let cells =
            |pixels: usize, parts: usize, least: u16| pen::cells(pixels.div_ceil(parts)).max(least);
        let in_row =
            in_row(Rect::new(0, 0, columns, 1), cells(self.width, 2, 4).min(columns), self);
        let down = self.images.len().min(MOST).div_ceil(usize::from(in_row.max(1)));
        let down = pen::cells(down).max(1);
        (columns, down.saturating_mul(cells(self.height, 4, 2).saturating_add(1)).saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Buffer;

    use super::*;
    use crate::glyphs::Glyphs;
    use crate::theme::{Background, ColorDepth, Theme};

    /// Two rows of four pixels, as one row of cells.
    fn drawn(levels: [u8; 8], depth: ColorDepth, set: GlyphSet) -> String {
        let image =
            Image { pixels: levels.to_vec(), label: String::new(), verdict: Verdict::Unjudged };
        let images = Images {
            width: 4,
            height: 2,
            images: vec![image.clone()],
            blank: Some(0),
            together: 1,
        };
        let look = Look { theme: Theme::new(Background::Dark, depth), glyphs: Glyphs::new(set) };
        let area = Rect::new(0, 0, 4, 1);
        let mut buf = Buffer::empty(area);
        Canvas::over(&mut buf, |canvas| pixels(canvas, area, &images, &image, &look));
        buf.content().iter().map(|cell| cell.symbol()).collect()
    }

    #[test]
    fn a_blank_pixel_leaves_its_half_of_the_cell_and_two_a_point() {
        let levels = [200, 0, 9, 0, 0, 200, 9, 0];
        let colours = drawn(levels, ColorDepth::TrueColor, GlyphSet::Unicode);
        assert_eq!(colours, "▀▄▀·");
    }

    #[test]
    fn as_many_pixels_are_seen_blank_as_are() {
        let levels: Vec<u8> =
            (0..784).map(|at| if at * 7 % 13 % 2 == 0 { 0 } else { 200 }).collect();
        let image = Image { pixels: levels, label: String::new(), verdict: Verdict::Unjudged };
        let images = |count: usize| Images {
            width: 28,
            height: 28,
            images: vec![image.clone(); count],
            blank: Some(0),
            together: 1,
        };
        // Where one fits, each pixel is seen.
        assert_eq!(size(Rect::new(0, 0, 76, 16), &images(16)), (28, 14));
        let look = Look {
            theme: Theme::new(Background::Dark, ColorDepth::TrueColor),
            glyphs: Glyphs::new(GlyphSet::Unicode),
        };
        let area = Rect::new(0, 0, 14, 7);
        let mut buf = Buffer::empty(area);
        let images = images(1);
        Canvas::over(&mut buf, |canvas| pixels(canvas, area, &images, &image, &look));
        let blank: f64 = buf
            .content()
            .iter()
            .map(|cell| match (cell.symbol(), cell.bg) {
                ("·", _) => 1.0,
                (_, ratatui::style::Color::Reset) => 0.5,
                _ => 0.0,
            })
            .sum();
        let share = blank / 98.0;
        assert!((0.44..0.64).contains(&share), "{share}");
    }

    #[test]
    fn the_darkest_pixel_is_not_the_background_where_others_are_blank() {
        let images = |blank: Option<u8>| Images {
            width: 1,
            height: 1,
            images: Vec::new(),
            blank,
            together: 1,
        };
        assert_eq!([0, 255].map(|level| seen(&images(None), level)), [0, 255]);
        assert_eq!([1, 255].map(|level| seen(&images(Some(0)), level)), [72, 232]);
    }

    #[test]
    fn dark_pixels_show_without_colour() {
        for set in [GlyphSet::Unicode, GlyphSet::Ascii] {
            let shades = drawn([1, 0, 1, 255, 1, 0, 0, 255], ColorDepth::None, set);
            let is_blank: Vec<bool> = shades.chars().map(|shade| shade == ' ').collect();
            assert_eq!(is_blank, [false, true, false, false], "{shades}");
        }
    }
}
