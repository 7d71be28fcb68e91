//! Kind `landscape`: tables of machines, links, models and prices to be sorted, filtered and plotted, every cell with its source.

mod pictures;
mod sourced;
mod subject;
#[cfg(test)]
mod tests;

use mlsys_lab::frame::Table;
use mlsys_lab::frame::table::{Filter, Sort, SortOrder};
use mlsys_lab::schema::{Scale, Schema, SchemaError};
use mlsys_lab::{Frame, Lab, LabError, Params, Run, Value};

use mlsys_lab::picture::offer;
use pictures::Chosen;
use sourced::Sourced;
use subject::Subject;

/// The lab `landscape`.
pub struct Landscape {
    schema: Schema,
    subjects: Vec<Subject>,
}

impl Landscape {
    /// The lab with its schema and its tables' columns read.
    ///
    /// # Errors
    /// One of the two does not read.
    pub fn new() -> Result<Self, SchemaError> {
        Ok(Self {
            schema: Schema::parse(include_str!("../../labs/landscape.toml"))?,
            subjects: Subject::all()?,
        })
    }

    fn subject(&self, name: &str) -> Result<&Subject, LabError> {
        let found = self.subjects.iter().find(|subject| subject.name == name);
        found.ok_or_else(|| {
            LabError::contradiction(["table"], format!("there is no table '{name}'"))
        })
    }
}

impl Lab for Landscape {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let subject = self.subject(run.params.text("table")?)?;
        let whole = Sourced::of(subject);
        let asked = Asked::read(&run.params, subject, &whole.table)?;
        let shown = asked.rows(&whole.table);
        run.scalar("rows", count(shown.rows.len()));
        run.scalar("all_rows", count(whole.table.rows.len()));
        run.scalar("cells", count(whole.cells()));
        run.scalar("sourced_cells", count(whole.noted()));
        run.scalar("corrected_cells", count(whole.corrected));
        ends(run, &shown, asked.sort);
        let plot = pictures::plot(&shown, &asked.x, &asked.y, asked.group);
        run.scalar("points", count(plot.points.len()));
        offer(run, "plot", || Frame::Scatter(plot));
        offer(run, "sources", || pictures::sources(&shown));
        offer(run, "columns", || pictures::columns(subject, &shown));
        offer(run, "table", || Frame::Table(shown));
        Ok(())
    }
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
        let wrong =
            |param: &'static str, message: String| LabError::contradiction([param], message);
        let column = |param: &'static str| {
            let name = given(params, param);
            let found =
                name.map(|name| table.column(name).map_err(|message| wrong(param, message)));
            found.transpose()
        };
        let own = |title: &str, param: &'static str| {
            table.column(title).map_err(|message| wrong(param, message))
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
            filter: filter.map_err(|message| wrong("filter", message))?,
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
                if let Some(note) = table.notes.of(place, column) {
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
fn ends(run: &mut Run<'_>, shown: &Table, sort: Option<Sort>) {
    let column = sort.map(|sort| sort.column);
    let has = |row: &usize| column.is_none_or(|column| shown.cell(*row, column).is_some());
    // Rows without a value stand at the end: the last that has one is meant.
    let all = 0..shown.rows.len();
    let Some(last) = all.clone().rev().find(has).or(all.last()) else {
        return;
    };
    for (name, row) in [("first", 0), ("last", last)] {
        if let Some(called) = shown.cell(row, 0) {
            run.scalar(name, called.to_string());
        }
    }
    for (name, row) in [("first_value", 0), ("last_value", last)] {
        let cell = column.and_then(|column| shown.cell(row, column));
        if let Some(value) = cell.and_then(Value::as_f64) {
            run.scalar(name, value);
        }
    }
}

fn count(of: usize) -> i64 {
    i64::try_from(of).unwrap_or(i64::MAX)
}
