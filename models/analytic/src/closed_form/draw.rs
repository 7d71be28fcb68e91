//! Frames from the pictures of a closed form.

use std::cmp::Ordering;

use mlsys_lab::frame::{
    self, Cell, CellRow, Dimension, Limit, Pane, Scatter, ScatterLine, ScatterPoint,
};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::unit_symbol;
use mlsys_lab::{Frame, Value, picture};

use super::evaluate::{Fault, Scope};
use super::explain::{legible, written_out};
use super::functions::{order, same};
use super::model::{Axis, Drawing, Each, Formula, Line, Over, Picture, Places, Row, Step};

/// Most rows, points or cells that one picture has.
const MAX_DRAWN: usize = 4096;

/// What is done with an element: it, the names it sees, and what it is sorted by.
type Then<'t, 'a, T> = dyn FnMut(&'a T, &Scope<'a>, Option<Value>) -> Result<(), Fault> + 't;

pub(super) fn frame<'a>(picture: &'a Picture, run: &'a Scope<'a>) -> Result<Frame, Fault> {
    for (only_if, words) in &picture.instead {
        if only_if.as_ref().map_or(Ok(true), |condition| run.holds(condition))? {
            return run.text(words).map(Frame::Text);
        }
    }
    match &picture.drawing {
        Some(drawing) => draw(drawing, run, run),
        None => Ok(Frame::Text(String::new())),
    }
}

fn draw<'a>(drawing: &'a Drawing, scope: &Scope<'a>, run: &'a Scope<'a>) -> Result<Frame, Fault> {
    Ok(match drawing {
        Drawing::Bars { unit, scale, rows } => {
            let mut all = Vec::new();
            for row in rows {
                let mut bars = elements(std::slice::from_ref(row), scope, run, |what, scope| {
                    let value = scope.number(&what.value)?.filter(|value| value.is_finite());
                    let bar = |value| {
                        let (label, remark) = (scope.text(&what.label)?, scope.text(&what.remark)?);
                        Ok(frame::Bar { label, value: Some(value), remark })
                    };
                    value.map(bar).transpose()
                })?;
                let length = |(bar, _): &Keyed<frame::Bar>| bar.value.unwrap_or(f64::NAN);
                mark(&mut bars, &row.what.most, |a, b| length(a).total_cmp(&length(b)).is_ge());
                mark(&mut bars, &row.what.least, |a, b| length(a).total_cmp(&length(b)).is_lt());
                all.append(&mut bars);
            }
            let (unit, scale, bars) = (scope.text(unit)?, *scale, sorted(all));
            Frame::Bars(frame::Bars { quantity: String::new(), unit, scale, bars })
        }
        Drawing::Stacks { unit, parts, limit, note, rows } => {
            let stacks = elements(rows, scope, run, |what, scope| {
                let length = |value| Ok(scope.number(value)?.filter(|value| value.is_finite()));
                Ok(Some(frame::Stack {
                    label: scope.text(&what.label)?,
                    values: what.values.iter().map(length).collect::<Result<_, _>>()?,
                    remark: scope.text(&what.remark)?,
                }))
            })?;
            let limit = match limit {
                Some((at, label)) => match scope.number(at)? {
                    Some(at) => Some(Limit { at, label: scope.text(label)? }),
                    None => None,
                },
                None => None,
            };
            Frame::Stacks(frame::Stacks {
                unit: unit.clone(),
                parts: parts.clone(),
                stacks: sorted(stacks),
                limit,
                note: scope.text(note)?,
            })
        }
        Drawing::Table { columns, rows } => {
            let rows = elements(rows, scope, run, |cells, scope| {
                let cell = |cell| {
                    let value = scope.fill(cell)?.unwrap_or_else(|| Value::from(""));
                    Ok(if value.is_finite() { value } else { value.to_string().into() })
                };
                cells.iter().map(cell).collect::<Result<Vec<_>, _>>().map(Some)
            })?;
            Frame::Table(frame::Table::new(columns.clone(), sorted(rows)))
        }
        Drawing::Scatter { x, y, series, points, lines } => {
            let axis = |axis: &Axis| {
                let name = scope.text(&axis.name)?;
                Ok(Dimension { name, ..axis.dimension.clone() })
            };
            let (x, y) = (axis(x)?, axis(y)?);
            let names = series.iter().map(|name| scope.text(name));
            let names = names.collect::<Result<Vec<_>, _>>()?.into_iter();
            let points = elements(points, scope, run, |what, scope| {
                let series = scope.number(&what.series)?.unwrap_or(0.0);
                Ok(Some(ScatterPoint {
                    x: scope.number(&what.x)?.filter(|at| has_place(*at, x.scale)),
                    y: scope.number(&what.y)?.filter(|at| has_place(*at, y.scale)),
                    label: scope.text(&what.label)?,
                    series: series.clamp(0.0, 64.0) as usize,
                }))
            })?;
            let mut count = 0;
            let lines = elements(lines, scope, run, |what, scope| {
                let line = line(what, x.scale, y.scale, scope, run)?;
                count += line.points.len() + 1;
                within(scope, count)?;
                Ok(Some(line).filter(|line| line.points.len() > 1))
            })?;
            let (points, lines) = (sorted(points), sorted(lines));
            let series = names.filter(|name| !name.is_empty()).collect();
            Frame::Scatter(Scatter { x, y, series, points, lines })
        }
        Drawing::Cells { across, start, group, focus, kinds, note, rows } => {
            let whole = |formula: &Option<Formula>| {
                let number = formula.as_ref().map(|formula| scope.number(formula)).transpose()?;
                Ok(number.flatten().map_or(0, |number| number.clamp(0.0, 1e9) as usize))
            };
            let (first, group) = (whole(start)?, whole(group)?);
            let focus = focus.as_ref().map(|(row, column)| {
                let place =
                    |formula| Ok(scope.number(formula)?.map(|at| at.clamp(0.0, 1e9) as usize));
                Ok(place(row)?.zip(place(column)?))
            });
            let focus = focus.transpose()?.flatten();
            let mut count = 0;
            let rows = elements(rows, scope, run, |what, scope| {
                let mut cells = Vec::new();
                for value in list(&what.each, scope, run)? {
                    let scope = scope.with(run, [(what.each.name.as_str(), Some(value))]);
                    let kind = scope.number(&what.kind)?;
                    let kind = kind.filter(|kind| (0.0..kinds.len() as f64).contains(kind));
                    let text = what.text.as_ref().map(|text| scope.text(text)).transpose()?;
                    let text = text.unwrap_or_else(String::new);
                    cells.push(kind.map(|kind| Cell { kind: kind as usize, text }));
                    count += 1;
                    within(&scope, count)?;
                }
                let (label, remark) = (scope.text(&what.label)?, scope.text(&what.remark)?);
                Ok(Some(CellRow { label, cells, remark }))
            })?;
            Frame::Cells(frame::Cells {
                across: scope.text(across)?,
                first,
                group,
                kinds: kinds.clone(),
                rows: sorted(rows),
                note: scope.text(note)?,
                focus,
            })
        }
        Drawing::Panes(rows) => {
            let mut count = 0;
            let panes = elements(rows, scope, run, |(title, drawing), scope| {
                let frame = draw(drawing, scope, run)?;
                count += 64;
                within(scope, count)?;
                Ok(Some(Pane { title: scope.text(title)?, frame }))
            })?;
            let mut panes = sorted(panes);
            // One pane that is left of several possible ones needs no title.
            let several = rows.len() > 1 || rows.iter().any(|row| !row.each.is_empty());
            if several && panes.len() == 1 {
                return Ok(panes.remove(0).frame);
            }
            Frame::Panes(panes)
        }
        Drawing::Steps(rows) => {
            let steps = sorted(elements(rows, scope, run, step)?);
            let mut titles = vec!["quantity", "formula", "with numbers", "value", "unit"];
            let mut rows: Vec<Vec<Value>> = steps.into_iter().map(Vec::from).collect();
            if rows.iter().all(|row| row.last() == Some(&Value::from(""))) {
                titles.pop();
                rows.iter_mut().for_each(|row| drop(row.pop()));
            }
            let titles = titles.into_iter().map(str::to_owned).collect();
            Frame::Table(frame::Table::new(titles, rows))
        }
    })
}

/// Whether an axis has a place for a value.
fn has_place(value: f64, scale: Scale) -> bool {
    value.is_finite() && (scale == Scale::Linear || value > 0.0)
}

/// Something drawn, with what it is sorted by.
type Keyed<T> = (T, Option<Value>);

/// What is made of each element; a row that needs a parameter that is not set is left out.
fn elements<'a, T, R>(
    rows: &'a [Row<T>],
    scope: &Scope<'a>,
    run: &'a Scope<'a>,
    mut make: impl FnMut(&'a T, &Scope<'a>) -> Result<Option<R>, Fault>,
) -> Result<Vec<Keyed<R>>, Fault> {
    let mut all = Vec::new();
    for row in rows {
        let mut then = |what: &'a T, scope: &Scope<'a>, key| {
            all.extend(make(what, scope)?.map(|made| (made, key)));
            within(scope, all.len())
        };
        let drawn = match row.first {
            None => nested(row, &row.each, scope, run, true, &mut then),
            Some(most) => first(row, most, scope, run, &mut then),
        };
        match drawn {
            Ok(()) | Err(Fault::Unset(_)) => {}
            Err(fault @ (Fault::Wrong { .. } | Fault::Exhausted)) => return Err(fault),
        }
    }
    Ok(all)
}

/// A line of the calculation, unless its value is unset.
fn step(what: &Step, scope: &Scope<'_>) -> Result<Option<[Value; 5]>, Fault> {
    let Some(value) = scope.value(&what.value)? else { return Ok(None) };
    let (formula, numbers) = written_out(scope.definition_of(&what.value), scope)?;
    let text = |own: &Option<_>, other: String| match own {
        Some(template) => scope.written(template, legible),
        None => Ok(other),
    };
    let words =
        [scope.text(&what.label)?, text(&what.formula, formula)?, text(&what.numbers, numbers)?];
    let [label, formula, numbers] = words.map(Value::from);
    let value = if value.is_finite() { value } else { value.to_string().into() };
    let unit = what.unit.as_deref().filter(|_| value.as_f64().is_some());
    let unit = Value::from(unit.map_or("", unit_symbol));
    Ok(Some([label, formula, numbers, value, unit]))
}

fn line<'a>(
    line: &'a Line,
    x: Scale,
    y: Scale,
    scope: &Scope<'a>,
    run: &'a Scope<'a>,
) -> Result<ScatterLine, Fault> {
    let places: Vec<Value> = match &line.places {
        Places::List(each) => list(each, scope, run)?,
        Places::Spread(from, to, count) => {
            let (Some(from), Some(to)) = (scope.number(from)?, scope.number(to)?) else {
                return Ok(ScatterLine::default());
            };
            let place = |step: usize| {
                let share = step as f64 / (count - 1) as f64;
                match x {
                    Scale::Linear => from + (to - from) * share,
                    Scale::Log => from * (to / from).powf(share),
                }
            };
            (0..*count).map(place).map(Value::Float).collect()
        }
    };
    let mut points = Vec::new();
    for place in places {
        let scope = scope.with(run, [(line.along.as_str(), Some(place))]);
        if let (Some(across), Some(up)) = (scope.number(&line.x)?, scope.number(&line.y)?)
            && has_place(across, x)
            && has_place(up, y)
        {
            points.push((across, up));
        }
    }
    Ok(picture::line(scope.text(&line.name)?, points))
}

/// Does something for the first `most` of a row by their keys.
fn first<'a, T>(
    row: &'a Row<T>,
    most: usize,
    scope: &Scope<'a>,
    run: &'a Scope<'a>,
    then: &mut Then<'_, 'a, T>,
) -> Result<(), Fault> {
    let mut all = Vec::new();
    nested(row, &row.each, scope, run, true, &mut |_, _, key| {
        all.push((all.len(), key));
        Ok(())
    })?;
    let chosen: Vec<usize> = sorted(all).into_iter().take(most).collect();
    let mut place = 0..;
    nested(row, &row.each, scope, run, true, &mut |what, scope, _| {
        let is_chosen = place.next().is_some_and(|place| chosen.contains(&place));
        if is_chosen { then(what, scope, None) } else { Ok(()) }
    })
}

pub(super) fn nested<'a, T>(
    row: &'a Row<T>,
    names: &'a [Each],
    scope: &Scope<'a>,
    run: &'a Scope<'a>,
    own: bool,
    then: &mut Then<'_, 'a, T>,
) -> Result<(), Fault> {
    if let Some((first, others)) = names.split_first() {
        for value in list(first, scope, run)? {
            let given = run.named(&first.name);
            let this = matches!(&given, Ok(Some(given)) if same(given, &value));
            let own = own && this;
            let bound = [(first.name.as_str(), Some(value)), ("own", Some(Value::Bool(own)))];
            nested(row, others, &scope.with(run, bound), run, own, then)?;
        }
        return Ok(());
    }
    let mut scope = scope.with(run, []);
    for (name, formula) in &row.set {
        let value = scope.value(formula)?;
        scope = scope.with(run, [(name.as_str(), value)]);
    }
    if row.only_if.as_ref().map_or(Ok(true), |condition| scope.holds(condition))? {
        let key = row.sort.as_ref().map(|sort| scope.value(sort)).transpose()?.flatten();
        then(&row.what, &scope, key)?;
    }
    Ok(())
}

/// The values that a name takes; among constants its own value has its place.
fn list<'a>(each: &Each, scope: &Scope<'a>, run: &'a Scope<'a>) -> Result<Vec<Value>, Fault> {
    let mut values = match &each.over {
        Over::Values(values) => values.clone(),
        Over::Formula(formula) => {
            return Ok(match scope.value(formula)? {
                Some(Value::Array(values)) => values,
                Some(value) => vec![value],
                None => Vec::new(),
            });
        }
    };
    let is_falling = matches!(values.as_slice(), [first, .., last] if order(first, last) == Some(Ordering::Greater));
    if let Ok(Some(own)) = run.named(&each.name)
        && own.as_f64().is_some_and(f64::is_finite)
        && values.iter().all(|value| value.as_f64().is_some() && !same(value, &own))
    {
        let is_before =
            |value: &&Value| order(value, &own).is_some_and(|order| order.is_lt() != is_falling);
        let place = values.iter().take_while(is_before).count();
        values.insert(place, own);
    }
    Ok(values)
}

/// Says something of the bar that no other beats; of equal ones of the last that `beats` prefers.
fn mark(
    bars: &mut [Keyed<frame::Bar>],
    words: &str,
    beats: impl Fn(&Keyed<frame::Bar>, &Keyed<frame::Bar>) -> bool,
) {
    let best = bars.iter_mut().reduce(|best, bar| if beats(bar, best) { bar } else { best });
    if let Some((bar, _)) = best.filter(|_| !words.is_empty()) {
        let between = if bar.remark.is_empty() { "" } else { ", " };
        bar.remark = format!("{}{between}{words}", bar.remark);
    }
}

/// In the order of their keys, smallest first, where they have any.
fn sorted<T>(mut all: Vec<Keyed<T>>) -> Vec<T> {
    all.sort_by(|(_, a), (_, b)| match (a, b) {
        (Some(Value::Text(a)), Some(Value::Text(b))) => a.cmp(b),
        (Some(a), Some(b)) => order(a, b).unwrap_or(Ordering::Equal),
        (a, b) => a.is_some().cmp(&b.is_some()),
    });
    all.into_iter().map(|(what, _)| what).collect()
}

fn within(scope: &Scope<'_>, drawn: usize) -> Result<(), Fault> {
    if drawn > MAX_DRAWN && scope.is_bounded() { Err(Fault::Exhausted) } else { Ok(()) }
}
