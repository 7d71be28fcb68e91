//! Kind `landscape`: tables of machines, links, models and prices to be sorted, filtered and plotted, every cell with its source.

mod pictures;
mod sourced;
mod subject;
#[cfg(test)]
mod tests;

use mlsys_lab::frame::Table;
use mlsys_lab::frame::table::{Filter, FilterError, Sort, SortOrder};
use mlsys_lab::schema::Scale;
use mlsys_lab::{Frame, LabError, Params, Run, Value};

use crate::closed_form::Simulated;
use mlsys_lab::picture::offer;
use pictures::Chosen;
use sourced::Sourced;
use subject::Subject;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let mut values = Simulated::default();
    let subject = Subject::find(run.params.text("table")?)?;
    let whole = Sourced::of(subject);
    let asked = Asked::read(&run.params, subject, &whole.table)?;
    let shown = asked.rows(&whole.table);
    values.set("rows", count(shown.rows.len()));
    values.set("all_rows", count(whole.table.rows.len()));
    values.set("cells", count(whole.cells()));
    values.set("sourced_cells", count(whole.noted()));
    values.set("corrected_cells", count(whole.corrected));
    ends(&mut values, &shown, asked.sort);
    let plot = pictures::plot(&shown, &asked.x, &asked.y, asked.group);
    values.set("points", count(plot.points.len()));
    offer(run, "plot", || Frame::Scatter(plot));
    offer(run, "sources", || pictures::sources(&shown));
    offer(run, "columns", || pictures::columns(subject, &shown));
    offer(run, "table", || Frame::Table(shown));
    Ok(values)
}

/// What was asked of a table.
struct Asked {
    sort: Option<Sort>,
    filter: Option<Filter>,
    x: Chosen,
    y: Chosen,
    group: Option<usize>,
}

impl Asked {
    fn read(params: &Params, subject: &Subject, table: &Table) -> Result<Self, LabError> {
        let wrong = |param: &'static str, error: FilterError| {
            LabError::contradiction([param], error.to_string())
        };
        let column = |param: &'static str| {
            let name = given(params, param);
            let found = name.map(|name| table.column(name).map_err(|error| wrong(param, error)));
            found.transpose()
        };
        let own = |title: &str, param: &'static str| {
            table.column(title).map_err(|error| wrong(param, error))
        };
        let order = match params.text("order")? {
            "ascending" => SortOrder::Ascending,
            _ => SortOrder::Descending,
        };
        let axis = |param: &'static str, scale: &str, title: &str| {
            Ok::<_, LabError>(Chosen {
                column: match column(param)? {
                    Some(chosen) => chosen,
                    None => own(title, param)?,
                },
                scale: match params.text(scale)? {
                    "linear" => Some(Scale::Linear),
                    "log" => Some(Scale::Log),
                    _ => None,
                },
            })
        };
        let filter = Filter::read(given(params, "filter").unwrap_or(""), &table.columns);
        Ok(Self {
            sort: column("sort")?.map(|column| Sort { column, order }),
            filter: filter.map_err(|error| wrong("filter", error))?,
            x: axis("x", "x_scale", &subject.plotted[0])?,
            y: axis("y", "y_scale", &subject.plotted[1])?,
            group: match (column("group")?, &subject.grouped) {
                (Some(chosen), _) => Some(chosen),
                (None, Some(title)) => Some(own(title, "group")?),
                (None, None) => None,
            },
        })
    }

    /// The rows that are left, in order, each cell with its note.
    fn rows(&self, table: &Table) -> Table {
        let places = table.shown(self.sort, self.filter.as_ref());
        let mut shown = Table::new(table.columns.clone(), Vec::new());
        for (row, place) in places.into_iter().enumerate() {
            for column in 0..table.columns.len() {
                if let Some(note) = table.notes.at(place, column) {
                    shown.notes.put(row, column, note);
                }
            }
            shown.rows.extend(table.rows.get(place).cloned());
        }
        shown
    }
}

/// A given text; an empty one is none.
fn given<'a>(params: &'a Params, name: &str) -> Option<&'a str> {
    let text = params.get(name)?.as_str()?.trim();
    (!text.is_empty()).then_some(text)
}

/// Names the first and the last row, and what they have in the column they are sorted by.
fn ends(values: &mut Simulated, shown: &Table, sort: Option<Sort>) {
    let column = sort.map(|sort| sort.column);
    let has = |row: &usize| column.is_none_or(|column| shown.cell(*row, column).is_some());
    // Rows without a value stand at the end: the last that has one is meant.
    let all = 0..shown.rows.len();
    let Some(last) = all.clone().rev().find(has).or(all.last()) else {
        return;
    };
    for (name, row) in [("first", 0), ("last", last)] {
        if let Some(called) = shown.cell(row, 0) {
            values.set(name, called.to_string());
        }
    }
    for (name, row) in [("first_value", 0), ("last_value", last)] {
        let cell = column.and_then(|column| shown.cell(row, column));
        if let Some(value) = cell.and_then(Value::as_f64) {
            values.set(name, value);
        }
    }
}

fn count(of: usize) -> i64 {
    i64::try_from(of).unwrap_or(i64::MAX)
}
