//! The points with their law, and the same as numbers.

use mlsys_lab::picture::{line, log_axis, point, scatter, table};
use mlsys_lab::{Frame, Value};

use super::Session;

type Picture = (&'static str, fn(&Session) -> Option<Frame>);

pub(super) const ALL: [Picture; 2] = [("law", law), ("sizes", sizes)];

/// Places of a drawn law; on logarithmic axes one with a floor is bent.
const PLACES: usize = 24;

fn law(session: &Session) -> Option<Frame> {
    let series = ["fitted", "held out", "predicted"];
    let label = |width: usize| format!("width {width}");
    let fitted = session.fitted.iter();
    let mut points: Vec<_> =
        fitted.map(|size| point(size.flops, size.loss, label(size.width), 0)).collect();
    points.extend(session.held_out.map(|size| point(size.flops, size.loss, label(size.width), 1)));
    let predicted = session.prediction();
    points.extend(predicted.map(|(flops, loss)| point(flops, loss, "prediction", 2)));
    let (first, last) = (session.fitted.first()?.flops, session.fitted.last()?.flops);
    let last = predicted.map_or(last, |(flops, _)| flops.max(last));
    let drawn = session.law.filter(|_| last > first).map(|law| {
        let at = |place: usize| first * (last / first).powf(place as f64 / PLACES as f64);
        line("law", (0..=PLACES).map(|place| (at(place), law.at(at(place)))))
    });
    let axes = [log_axis("operations", "flops"), log_axis("loss on held-out text", "nats")];
    Some(scatter(axes, &series, points, drawn.into_iter().collect()))
}

fn sizes(session: &Session) -> Option<Frame> {
    let all = session.fitted.iter().chain(&session.held_out);
    let rows = all.map(|size| {
        let law = session.law.map(|law| law.at(size.flops));
        // Four digits after the point are all that a few batches tell.
        let nats = |loss: f64| Value::from((1e4 * loss).round() / 1e4);
        let known = |value: Option<f64>| value.map_or(Value::from(""), nats);
        [
            Value::from(size.width as i64),
            Value::from(size.weights as i64),
            Value::from(size.flops),
            nats(size.loss),
            known(law),
            known(law.map(|law| size.loss - law)),
        ]
    });
    let rows: Vec<_> = rows.collect();
    let titles = ["width", "weights", "FLOP", "loss, nats", "law, nats", "difference"];
    (!rows.is_empty()).then(|| table(titles, rows))
}
