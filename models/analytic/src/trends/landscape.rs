//! Kind `landscape`: tables of machines, links, models and prices to be sorted, filtered and plotted, every cell with its source.

mod pictures;
mod sourced;
mod subject;
#[cfg(test)]
mod tests;

use mlsys_lab::frame::Table;
use mlsys_lab::frame::table::{Filter, FilterError, Sort, SortOrder};
use mlsys_lab::schema::Scale;
use mlsys_lab::{Frame, LabError, Params, Run, Value, picture};
use serde::Serialize;

use crate::closed_form::Simulated;
use pictures::Chosen;
use sourced::Sourced;
use subject::Subject;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let subject = Subject::find(run.params.text("table")?)?;
    let whole = Sourced::new(subject);
    let asked = Asked::read(&run.params, subject, &whole.table)?;
    let places: Vec<usize> = (0..whole.table.columns.len()).collect();
    let shown = asked.rows(&whole.table, &places);
    let plot = pictures::plot(&shown, &asked.x, &asked.y, asked.group);
    let known =
        |place| (0..shown.rows.len()).filter(|row| shown.cell(*row, place).is_some()).count();
    let columns = subject.columns.iter().enumerate();
    // Rows without a value stand at the end: the last that has one is meant.
    let column = asked.sort.map(|sort| sort.column);
    let has = |row: &usize| column.is_none_or(|column| shown.cell(*row, column).is_some());
    let all = 0..shown.rows.len();
    let last = all.clone().rev().find(has).or(all.last());
    let name = |row| shown.cell(row, 0).map(Value::to_string);
    let value = |row| shown.cell(row, column?).and_then(Value::as_f64);
    let values = Simulated::fields(&Found {
        rows: shown.rows.len(),
        all_rows: whole.table.rows.len(),
        cells: whole.cells(),
        sourced_cells: whole.noted(),
        corrected_cells: whole.corrected,
        points: plot.points.len(),
        first: name(0),
        last: last.and_then(name),
        first_value: value(0),
        last_value: last.and_then(value),
        sources: pictures::sources(&shown),
        columns: columns
            .map(|(place, column)| (column.title.as_str(), column.about.as_str(), known(place)))
            .collect(),
    });
    picture::offer(run, "plot", || Frame::Scatter(plot));
    let drawn = || asked.rows(&whole.table, &sorted_second(places, column));
    picture::offer(run, "table", || Frame::Table(drawn()));
    values
}

/// What the file's formulas start from.
#[derive(Serialize)]
struct Found<'a> {
    rows: usize,
    all_rows: usize,
    cells: usize,
    sourced_cells: usize,
    corrected_cells: usize,
    points: usize,
    first: Option<String>,
    last: Option<String>,
    first_value: Option<f64>,
    last_value: Option<f64>,
    /// How many cells say so, and what.
    sources: Vec<(usize, &'a str)>,
    /// Title, meaning, and the rows that have it.
    columns: Vec<(&'a str, &'a str, usize)>,
}

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

    /// The rows that are left, in order, each cell with its note, and of each the columns that are asked for.
    fn rows(&self, table: &Table, columns: &[usize]) -> Table {
        let places = table.shown(self.sort, self.filter.as_ref());
        let titles = columns.iter().map(|column| table.columns[*column].clone());
        let mut shown = Table::new(titles.collect(), Vec::new());
        for (row, place) in places.into_iter().enumerate() {
            for (column, of) in columns.iter().enumerate() {
                if let Some(note) = table.notes.at(place, *of) {
                    shown.notes.put(row, column, note);
                }
            }
            let cells = columns.iter().map(|column| table.rows[place][*column].clone());
            shown.rows.push(cells.collect());
        }
        shown
    }
}

/// The columns with the sorted one next to the names, so that a narrow table shows it.
fn sorted_second(mut columns: Vec<usize>, sorted: Option<usize>) -> Vec<usize> {
    if let Some(sorted) = sorted.filter(|sorted| *sorted > 1) {
        columns[1..=sorted].rotate_right(1);
    }
    columns
}

/// A given text; an empty one is none.
fn given<'a>(params: &'a Params, name: &str) -> Option<&'a str> {
    let text = params.get(name)?.as_str()?.trim();
    (!text.is_empty()).then_some(text)
}
