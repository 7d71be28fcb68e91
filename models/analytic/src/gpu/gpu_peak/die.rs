//! The chip as a drawing: its multiprocessors, the units of one of them, and how their rates multiply.

use mlsys_lab::frame::{Bars, Cells, Tone};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Tables};

use super::{FLOPS_PER_FMA, PATHS, Peak, Source};
use mlsys_lab::picture;

/// Multiprocessors drawn, and units drawn of one path of one of them.
const DRAWN: (i64, i64) = (256, 128);

/// Multiprocessors in a row.
const ACROSS: usize = 16;

/// The chip, one of its multiprocessors, and the product; a quoted peak has no geometry.
pub(super) fn die(peak: &Peak, gpu: &str, path: &str) -> Frame {
    match peak.source {
        Source::Product { sms, units_per_sm, fma, clock, .. } => {
            let chip = chip(sms, units_per_sm, path);
            let one = multiprocessor(gpu, path, units_per_sm, fma);
            Frame::Panes(vec![
                picture::pane(format!("the chip: {sms} multiprocessors"), chip),
                picture::pane(format!("one of them: {units_per_sm} units of {path}"), one),
                picture::pane(
                    format!("times {} Hz", number(clock)),
                    product(peak, sms, units_per_sm, fma, clock),
                ),
            ])
        }
        Source::Quoted { rate, divisor } => Frame::Text(format!(
            "The datasheet's {} flop/s over {divisor}. A quoted figure says nothing about units and clock: leave quoted_flops_per_second unset to see them.",
            number(rate)
        )),
    }
}

/// Every multiprocessor lit: the peak counts them all as busy all the time.
fn chip(sms: i64, units_per_sm: i64, path: &str) -> Frame {
    let drawn = sms.min(DRAWN.0);
    let cut = match sms - drawn {
        0 => String::new(),
        more => format!(" {more} more are not drawn."),
    };
    Frame::Cells(Cells {
        across: "SM".to_owned(),
        group: 4,
        first: 0,
        kinds: picture::kinds([("at work", Tone::First)]),
        rows: picture::folded(&vec![0; drawn as usize], ACROSS),
        note: format!("{sms} x {units_per_sm} units of {path} light up at once.{cut}"),
        ..Cells::default()
    })
}

/// The units of one multiprocessor by data path, the chosen one lit.
fn multiprocessor(gpu: &str, path: &str, units_per_sm: i64, fma: i64) -> Frame {
    let tabled = |path: &str| {
        let field = format!("path.{path}.units_per_sm");
        let units = Tables::builtin().field("gpu", gpu, &field)?.as_f64()?;
        Some(units as i64)
    };
    let row = |of: &'static str| {
        let chosen = of == path;
        let units = if chosen { units_per_sm } else { tabled(of)? };
        let cells = (0..units.min(DRAWN.1)).map(|_| Some(usize::from(!chosen)));
        Some((of, units, cells.collect::<Vec<_>>()))
    };
    // Long rows fold, so that a path of 128 lanes is as easy to see as one of 4 matrix units.
    let rows = PATHS.into_iter().filter_map(row).flat_map(|(of, units, cells)| {
        let lines = cells.chunks(32).enumerate();
        let lines = lines.map(|(line, cells)| {
            let (label, remark) = match line {
                0 => (of, units.to_string()),
                _ => ("", String::new()),
            };
            picture::row(label, cells.to_vec(), remark)
        });
        lines.collect::<Vec<_>>()
    });
    Frame::Cells(Cells {
        across: String::new(),
        group: 8,
        first: 0,
        kinds: picture::kinds([("counted", Tone::First), ("other data paths", Tone::Faint)]),
        rows: rows.collect(),
        note: format!(
            "Each unit finishes {fma} multiply-adds a clock, and a multiply-add is {FLOPS_PER_FMA} operations: {} a clock.",
            fma.saturating_mul(FLOPS_PER_FMA)
        ),
        ..Cells::default()
    })
}

/// What one unit does in a second, one multiprocessor, the chip and the machine.
fn product(peak: &Peak, sms: i64, units_per_sm: i64, fma: i64, clock: f64) -> Frame {
    let unit = FLOPS_PER_FMA as f64 * fma as f64 * clock;
    let sm = units_per_sm as f64 * unit;
    let mut bars = vec![
        picture::bar("one unit", unit, format!("2 x {fma} x clock")),
        picture::bar("one multiprocessor", sm, format!("x {units_per_sm}")),
        picture::bar("the chip", peak.dense, format!("x {sms}")),
    ];
    if peak.devices > 1 {
        let all = peak.dense * peak.devices as f64;
        bars.push(picture::bar("all chips", all, format!("x {}", peak.devices)));
    }
    Frame::Bars(Bars { unit: "flop/s".to_owned(), scale: Scale::Log, bars })
}
