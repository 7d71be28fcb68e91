//! Frames from the pictures of a closed form.

use mlsys_lab::frame::{
    self, Cell, CellRow, Dimension, Limit, Pane, Scatter, ScatterLine, ScatterPoint,
};
use mlsys_lab::schema::Scale;
use mlsys_lab::{Frame, Value};

use super::evaluate::{Fault, Scope};
use super::explain::written_out;
use super::functions::{order, same};
use super::model::{Axis, Drawing, Each, Formula, Line, Over, Picture, Places, Row, Step};
use mlsys_lab::steps::Steps;

/// Most rows, points or cells that one picture has.
const MAX_DRAWN: usize = 4096;

/// What is done with an element: it, the names it sees, and what it is sorted by.
type Then<'t, 'a, T> = dyn FnMut(&'a T, &Scope<'a>, Option<Value>) -> Result<(), Fault> + 't;

/// The frame of a panel.
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
    match drawing {
        Drawing::Bars { unit, scale, rows } => {
            let mut all: Vec<(frame::Bar, Option<Value>)> = Vec::new();
            for row in rows {
                let mut bars = Vec::new();
                each(row, scope, run, &mut |what, scope, key| {
                    let value = scope.number(&what.value)?.filter(|value| value.is_finite());
                    let Some(value) = value else {
                        return Ok(());
                    };
                    let (label, remark) = (scope.text(&what.label)?, scope.text(&what.remark)?);
                    bars.push((frame::Bar { label, value: Some(value), remark }, key));
                    within(scope, bars.len())
                })?;
                let length = |(bar, _): &(frame::Bar, _)| bar.value.unwrap_or(f64::NAN);
                mark(&mut bars, &row.what.most, |a, b| length(a).total_cmp(&length(b)).is_ge());
                mark(&mut bars, &row.what.least, |a, b| length(a).total_cmp(&length(b)).is_lt());
                all.append(&mut bars);
            }
            let bars = sorted(all);
            Ok(Frame::Bars(frame::Bars { unit: scope.text(unit)?, scale: *scale, bars }))
        }
        Drawing::Stacks { unit, parts, limit, note, rows } => {
            let mut stacks = Vec::new();
            for row in rows {
                each(row, scope, run, &mut |what, scope, key| {
                    let mut values = Vec::new();
                    for value in &what.values {
                        values.push(scope.number(value)?.filter(|value| value.is_finite()));
                    }
                    let (label, remark) = (scope.text(&what.label)?, scope.text(&what.remark)?);
                    stacks.push((frame::Stack { label, values, remark }, key));
                    within(scope, stacks.len())
                })?;
            }
            let limit = match limit {
                Some((at, label)) => match scope.number(at)? {
                    Some(at) => Some(Limit { at, label: scope.text(label)? }),
                    None => None,
                },
                None => None,
            };
            let (unit, parts) = (unit.clone(), parts.clone());
            let stacks = sorted(stacks);
            Ok(Frame::Stacks(frame::Stacks { unit, parts, stacks, limit, note: scope.text(note)? }))
        }
        Drawing::Table { columns, rows } => {
            let mut all: Vec<(Vec<Value>, Option<Value>)> = Vec::new();
            for row in rows {
                each(row, scope, run, &mut |cells, scope, key| {
                    let mut values = Vec::new();
                    for cell in cells {
                        let value = scope.fill(cell)?.unwrap_or_else(|| Value::from(""));
                        let finite = value.is_finite();
                        values.push(if finite { value } else { value.to_string().into() });
                    }
                    all.push((values, key));
                    within(scope, all.len())
                })?;
            }
            let columns = columns.clone();
            Ok(Frame::Table(frame::Table { columns, rows: sorted(all), ..Default::default() }))
        }
        Drawing::Scatter { x, y, series, points, lines } => {
            let axis = |axis: &Axis| {
                let name = scope.text(&axis.name)?;
                Ok(Dimension { name, ..axis.dimension.clone() })
            };
            let (x, y) = (axis(x)?, axis(y)?);
            let mut named = Vec::new();
            for name in series {
                named.extend(Some(scope.text(name)?).filter(|name| !name.is_empty()));
            }
            let mut found = Vec::new();
            for row in points {
                each(row, scope, run, &mut |what, scope, key| {
                    let place = |value: Option<f64>, scale: Scale| {
                        value.filter(|x| x.is_finite() && (scale == Scale::Linear || *x > 0.0))
                    };
                    let series = scope.number(&what.series)?.unwrap_or(0.0);
                    let point = ScatterPoint {
                        x: place(scope.number(&what.x)?, x.scale),
                        y: place(scope.number(&what.y)?, y.scale),
                        label: scope.text(&what.label)?,
                        series: series.clamp(0.0, 64.0) as usize,
                    };
                    found.push((point, key));
                    within(scope, found.len())
                })?;
            }
            let (mut drawn, mut count) = (Vec::new(), 0);
            for row in lines {
                each(row, scope, run, &mut |what, scope, key| {
                    let line = line(what, x.scale, y.scale, scope, run)?;
                    count += line.points.len() + 1;
                    if line.points.len() > 1 {
                        drawn.push((line, key));
                    }
                    within(scope, count)
                })?;
            }
            Ok(Frame::Scatter(Scatter {
                x,
                y,
                series: named,
                points: sorted(found),
                lines: sorted(drawn),
            }))
        }
        Drawing::Cells { across, start, group, kinds, note, rows } => {
            let count = |formula: &Option<Formula>| match formula {
                Some(formula) => {
                    Ok(scope.number(formula)?.map_or(0, |count| count.clamp(0.0, 1e9) as usize))
                }
                None => Ok(0),
            };
            let (start, group) = (count(start)?, count(group)?);
            let (mut all, mut count) = (Vec::new(), 0);
            for row in rows {
                each(row, scope, run, &mut |what, scope, key| {
                    let mut cells = Vec::new();
                    for value in values(&what.each, scope, run)? {
                        let bound = [(what.each.name.as_str(), Some(value))];
                        let scope = scope.with(run, bound);
                        let kind = scope.number(&what.kind)?;
                        let kind = kind.filter(|kind| (0.0..kinds.len() as f64).contains(kind));
                        let text = match &what.text {
                            Some(text) => scope.text(text)?,
                            None => String::new(),
                        };
                        cells.push(kind.map(|kind| Cell { kind: kind as usize, text }));
                        count += 1;
                        within(&scope, count)?;
                    }
                    let (label, remark) = (scope.text(&what.label)?, scope.text(&what.remark)?);
                    all.push((CellRow { label, cells, remark }, key));
                    within(scope, all.len())
                })?;
            }
            Ok(Frame::Cells(frame::Cells {
                across: scope.text(across)?,
                first: start,
                group,
                kinds: kinds.clone(),
                rows: sorted(all),
                note: scope.text(note)?,
                ..Default::default()
            }))
        }
        Drawing::Panes(rows) => {
            let mut panes = Vec::new();
            for row in rows {
                each(row, scope, run, &mut |(title, drawing), scope, key| {
                    let frame = draw(drawing, scope, run)?;
                    panes.push((Pane { title: scope.text(title)?, frame }, key));
                    within(scope, 64 * panes.len())
                })?;
            }
            let mut panes = sorted(panes);
            // One pane that is left of several possible ones needs no title.
            let several = rows.len() > 1 || rows.iter().any(|row| !row.each.is_empty());
            if several && panes.len() == 1 {
                return Ok(panes.remove(0).frame);
            }
            Ok(Frame::Panes(panes))
        }
        Drawing::Steps(rows) => {
            let mut steps = Steps::default();
            for row in rows {
                each(row, scope, run, &mut |what, scope, _| step(what, scope, &mut steps))?;
            }
            Ok(steps.table())
        }
    }
}

/// A line of the calculation, unless its value is unset.
fn step(what: &Step, scope: &Scope<'_>, steps: &mut Steps) -> Result<(), Fault> {
    let Some(value) = scope.value(&what.value)? else {
        return Ok(());
    };
    let (formula, numbers) = written_out(scope.definition_of(&what.value), scope)?;
    let said = |own: &Option<_>, other: String| match own {
        Some(template) => scope.text(template),
        None => Ok(other),
    };
    let label = scope.text(&what.label)?;
    let value = if value.is_finite() { value } else { value.to_string().into() };
    steps.add(&label, &said(&what.formula, formula)?, said(&what.numbers, numbers)?, value);
    Ok(())
}

fn line<'a>(
    line: &'a Line,
    x: Scale,
    y: Scale,
    scope: &Scope<'a>,
    run: &'a Scope<'a>,
) -> Result<ScatterLine, Fault> {
    let places: Vec<Value> = match &line.places {
        Places::List(over) => list(over, &line.along, scope, run)?,
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
        let (Some(across), Some(up)) = (scope.number(&line.x)?, scope.number(&line.y)?) else {
            continue;
        };
        let on =
            |value: f64, scale: Scale| value.is_finite() && (scale == Scale::Linear || value > 0.0);
        if on(across, x) && on(up, y) {
            points.push((across, up));
        }
    }
    Ok(ScatterLine { name: scope.text(&line.name)?, points })
}

/// Does something for each value of a row; of a picture, a row that needs a parameter that is not set is left out.
fn each<'a, T>(
    row: &'a Row<T>,
    scope: &Scope<'a>,
    run: &'a Scope<'a>,
    then: &mut Then<'_, 'a, T>,
) -> Result<(), Fault> {
    let drawn = match row.first {
        None => nested(row, &row.each, scope, run, true, then),
        Some(most) => first(row, most, scope, run, then),
    };
    match drawn {
        Err(Fault::Unset(_)) => Ok(()),
        other => other,
    }
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
        for value in values(first, scope, run)? {
            let given = run.named(&first.name);
            let this = matches!(&given, Ok(Some(given)) if same(given, &value));
            let own = own && this;
            let bound = [(first.name.as_str(), Some(value)), ("own", Some(Value::Bool(own)))];
            nested(row, others, &scope.with(run, bound), run, own, then)?;
        }
        return Ok(());
    }
    {
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
}

fn values<'a>(each: &Each, scope: &Scope<'a>, run: &'a Scope<'a>) -> Result<Vec<Value>, Fault> {
    list(&each.over, &each.name, scope, run)
}

/// The values that a name takes; among constants its own value has its place.
fn list<'a>(
    over: &Over,
    name: &str,
    scope: &Scope<'a>,
    run: &'a Scope<'a>,
) -> Result<Vec<Value>, Fault> {
    match over {
        Over::Values(values) => {
            let mut values = values.clone();
            let falling = matches!((values.first(), values.last()), (Some(a), Some(b)) if order(a, b).is_some_and(std::cmp::Ordering::is_gt));
            if let Ok(Some(own)) = run.named(name)
                && own.as_f64().is_some_and(f64::is_finite)
                && values.iter().all(|value| value.as_f64().is_some() && !same(value, &own))
            {
                let before = |value: &Value| match order(value, &own) {
                    Some(order) => order.is_lt() != falling,
                    None => false,
                };
                let place = values.iter().take_while(|value| before(value)).count();
                values.insert(place, own);
            }
            Ok(values)
        }
        Over::Formula(formula) => Ok(match scope.value(formula)? {
            Some(Value::Array(values)) => values,
            Some(value) => vec![value],
            None => Vec::new(),
        }),
    }
}

/// Says something of the bar that no other beats; of equal ones of the last that `beats` prefers.
fn mark<T>(
    bars: &mut [(frame::Bar, T)],
    words: &str,
    beats: impl Fn(&(frame::Bar, T), &(frame::Bar, T)) -> bool,
) {
    if words.is_empty() {
        return;
    }
    let mut best: Option<usize> = None;
    for at in 0..bars.len() {
        if best.is_none_or(|best| beats(&bars[at], &bars[best])) {
            best = Some(at);
        }
    }
    if let Some((bar, _)) = best.and_then(|best| bars.get_mut(best)) {
        let between = if bar.remark.is_empty() { "" } else { ", " };
        bar.remark = format!("{}{between}{words}", bar.remark);
    }
}

/// In the order of their keys, smallest first, where they have any.
fn sorted<T>(mut all: Vec<(T, Option<Value>)>) -> Vec<T> {
    all.sort_by(|(_, a), (_, b)| match (a, b) {
        (Some(Value::Text(a)), Some(Value::Text(b))) => a.cmp(b),
        (Some(a), Some(b)) => order(a, b).unwrap_or(std::cmp::Ordering::Equal),
        (a, b) => a.is_some().cmp(&b.is_some()),
    });
    all.into_iter().map(|(what, _)| what).collect()
}

fn within(scope: &Scope<'_>, drawn: usize) -> Result<(), Fault> {
    if drawn > MAX_DRAWN && scope.is_bounded() { Err(Fault::Exhausted) } else { Ok(()) }
}
