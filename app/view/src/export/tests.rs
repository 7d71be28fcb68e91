//! Figures of every kind and of every odd run: documents that read, and values that read back.

use mlsys_harness::reading::{parsed, well_formed};
use mlsys_harness::samples;
use mlsys_lab::frame::Frame;
use mlsys_lab::report::{Report, RunData};
use mlsys_lab::schema::Schema;

use crate::earlier::Earlier;
use crate::export::csv::csv;
use crate::export::*;
use crate::panel::Scene;
use crate::panel::tests::fixtures::{learning, point, schema, steered};
use crate::panel::tests::odd::{odd_frames, odd_runs};
use crate::panel::tests::structures::{heads, lifetimes, warps};
use crate::panel::tests::{fixtures, named, with_frame};

fn source() -> Source {
    Source {
        lesson: Some("systems/<training> & \"loop\"".to_owned()),
        changed: vec![("source".to_owned(), "two\nlines".to_owned())],
        seed: Some("7".to_owned()),
        device: Some("a GPU".to_owned()),
        remark: None,
    }
}

fn earlier(name: &str, data: &RunData) -> Earlier {
    Earlier::new(name.to_owned(), Vec::new(), data.clone())
}

#[test]
fn every_picture_exports_or_explains_why_not() {
    let schema = schema();
    let mut drawn = 0;
    let runs = odd_runs();
    for (turn, data) in runs.iter().enumerate() {
        for panel in &schema.panels {
            let before = [earlier("run <1>", &runs[(turn + 1) % runs.len()])];
            let scene = Scene { earlier: &before, ..named(&schema, data, &panel.name) };
            match (svg(&scene, &source()), csv(&scene)) {
                (Ok(svg), Ok(csv)) => {
                    well_formed(&svg);
                    let rows = parsed(&csv);
                    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{csv}");
                    drawn += 1;
                }
                (Err(a), Err(b)) => assert_eq!(a, b),
                (svg, csv) => panic!("{}: {:?} {:?}", panel.name, svg.err(), csv.err()),
            }
        }
    }
    assert!(drawn > 60, "{drawn}");
}

#[test]
fn no_frame_breaks_the_document() {
    let schema = schema();
    for frame in odd_frames() {
        let data = with_frame(frame);
        let figure = named(&schema, &data, "memory");
        let document = svg(&figure, &source()).unwrap();
        well_formed(&document);
        assert!(document.len() < 3_000_000, "{}: {}", document.len(), &document[..3000]);
        parsed(&csv(&figure).unwrap());
    }
}

#[test]
fn a_figure_says_what_it_shows_and_where_it_comes_from() {
    let schema = schema();
    let data = steered(400);
    let mut figure = named(&schema, &data, "loss-curve");
    let before = [earlier("run 1: learning_rate 0.05", &learning(300))];
    figure.earlier = &before;
    let texts = well_formed(&svg(&figure, &source()).unwrap()).join("\n");
    for said in [
        "Made up: loss-curve",
        "loss 0.05829 nats (line smoothed)",
        "loss_floor 0.02 nats (modelled)",
        "learning_rate = 0.1 at step 120",
        "run 1: learning_rate 0.05",
        "lesson systems/&lt;training&gt; &amp; &quot;loop&quot;",
        "source = two lines · seed 7 · on a GPU",
    ] {
        assert!(texts.contains(said), "{said:?} is not in\n{texts}");
    }
    let front = named(&schema, &data, "compression");
    let texts = well_formed(&svg(&front, &source()).unwrap());
    assert_eq!(texts.iter().filter(|text| *text == "★").count(), 6, "{texts:?}");
}

#[test]
fn series_stand_side_by_side_and_read_back() {
    let schema = schema();
    let mut data = RunData::default();
    for (name, step, value) in [
        ("loss", 1, 0.1 + 0.2),
        ("loss", 2, f64::NAN),
        ("loss", 3, 1e-9),
        ("validation_loss", 1, 2.0),
        ("validation_loss", 3, -1e300),
    ] {
        point(&mut data, name, step, value);
    }
    data.apply(Report::Scalar { name: "loss_floor".into(), value: 0.5.into() });
    let figure = named(&schema, &data, "loss-curve");
    let rows = parsed(&csv(&figure).unwrap());
    assert_eq!(
        rows,
        [
            [
                "step",
                "loss (nats) computed",
                "validation_loss (nats) computed",
                "loss_floor (nats) modelled"
            ],
            ["1", "0.30000000000000004", "2", "0.5"],
            ["2", "NaN", "", "0.5"],
            ["3", "1e-9", "-1e300", "0.5"],
        ]
    );
    assert_eq!(rows[1][1].parse::<f64>().unwrap(), 0.1 + 0.2);
    let mut view = figure.view.clone();
    view.chart.window = crate::panel::Window::Between(2, 2);
    let before = [earlier("run 1, slow", &data)];
    let figure = Scene { earlier: &before, view: &view, ..figure };
    let rows = parsed(&csv(&figure).unwrap());
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0][4], "loss (nats) computed of run 1, slow");
}

#[test]
fn pictures_are_values_by_their_kind() {
    let schema = schema();
    let data = steered(400);
    let first = |panel: &str| {
        let figure = named(&schema, &data, panel);
        let rows = parsed(&csv(&figure).unwrap());
        (rows[0].join("|"), rows[1].join("|"), rows.len())
    };
    for (panel, header, row, count) in [
        ("memory", "label|value (bytes)|remark", "weights|4872|", 6),
        ("devices", "device|memory (GB)|GB/s", "A100|80|2039", 4),
        (
            "compression",
            "label|group|size (bytes)|accuracy|on front",
            "fp32|quantised|2400000|0.981|true",
            9,
        ),
        (
            "confusion",
            "rows: true digit, columns: predicted|0|1|2|3|4|5|6|7|8|9",
            "0|40|0|0|0|0|1|0|0|0|0",
            11,
        ),
        ("numbers", "metric|value|unit|label", "loss|0.0582", 7),
        ("text", "text", "the quick brown fox jumps over the lazy dog", 4),
    ] {
        let found = first(panel);
        assert_eq!((found.0.as_str(), found.2), (header, count), "{found:?}");
        assert!(found.1.starts_with(row), "{found:?}");
    }
    let (header, row, count) = first("weights");
    assert_eq!(header, "weight from|to|before|rounded|marked");
    assert!(row.ends_with("|-0.4"), "{row}");
    assert_eq!(count, 25);
    assert_eq!(first("decision-boundary").2, 1 + 48 * 48 + 200);
    assert!(first("samples").0.starts_with("label|verdict|pixel0|pixel1|"));
}

#[test]
fn graphs_timelines_and_panes_are_values_and_drawings() {
    let schema = schema();
    let files = |frame: Frame| {
        let data = with_frame(frame);
        let figure = named(&schema, &data, "memory");
        let rows = parsed(&csv(&figure).unwrap());
        assert!(rows.iter().all(|row| row.len() == rows[0].len()));
        let rows: Vec<String> = rows.iter().map(|row| row.join("|")).collect();
        let texts = well_formed(&svg(&figure, &source()).unwrap());
        (rows, texts)
    };
    let has = |all: &[String], said: &str| {
        assert!(all.iter().any(|text| text == said), "{said} is not in {all:#?}");
    };
    let (rows, texts) = files(Frame::Graph(fixtures::expression()));
    assert_eq!(rows[0], "step|node|operation|kind|group|reads|value|adjoint");
    has(&rows, "|c|x*y|operation||x y|6|0.11904761904761904");
    has(&rows, "9|z|the derivative of z by itself is 1|backward||||1");
    for said in ["= x^2", "∂ 0.642857", "backward:", "3. a = x^2 = 4"] {
        has(&texts, said);
    }
    let (rows, texts) = files(Frame::Timeline(lifetimes()));
    has(&rows, "layer1.relu|kept|relu 12 kB|2|9|12288");
    has(&rows, "|mark|backward begins|6|6|");
    has(&rows, "|total|alive|5|6|53248");
    has(&texts, "alive: peak 53.25 kB at operation 5");
    let (rows, texts) = files(Frame::Cells(warps("7")));
    assert_eq!(rows[0], "row|lane|kind|text|remark");
    assert_eq!(rows.len(), 1 + 32 + 32 + 8);
    has(&rows, "warp 1|9|does not|7|2 passes");
    for said in ["warp 2", "takes it", "2 passes", "24"] {
        has(&texts, said);
    }
    let (rows, texts) = files(Frame::MessageTrace(Box::new(samples::ring(4))));
    assert_eq!(rows[0], "round|phase|from|to|first chunk|chunks|action|bytes");
    assert_eq!(rows.len(), 1 + 6 * 4);
    has(&rows, "1|reduce-scatter|rank 0|rank 1|0|1|add|209472");
    for said in ["before the first of 6 rounds", "ABCD", "B rank 1"] {
        has(&texts, said);
    }
    let tells = |all: &[String], said: &str| {
        assert!(all.iter().any(|text| text.contains(said)), "{said}: {all:#?}");
    };
    for said in ["gradient of step 10 over a ring", "209.5 kB over each of 4"] {
        tells(&texts, said);
    }
    let (_, texts) = files(Frame::MessageTrace(Box::new(samples::ring(40))));
    tells(&texts, "Shown: ranks 0 to 31 of 40");
    let (_, texts) = files(Frame::MessageTrace(Box::new(samples::star(4))));
    tells(&texts, "The server's link carries what all workers send.");
    let (rows, texts) = files(fixtures::picture("stacks"));
    assert!(rows[0].starts_with("stack|weights"), "{}", rows[0]);
    has(&rows, "worker 2|209472|209472|418944|500000|sharded");
    for said in ["worker 2", "activations", "4 MB there are"] {
        has(&texts, said);
    }
    let (rows, texts) = files(Frame::Panes(heads(2)));
    assert!(rows[0].starts_with("pane|weight|a| |t"), "{}", rows[0]);
    assert!(rows[10].starts_with("head 2|a|0.5"), "{}", rows[10]);
    has(&texts, "head 2");
}

#[test]
fn a_million_points_are_reduced_and_keep_spikes() {
    let schema = schema();
    let mut data = RunData::default();
    for step in 0..1_000_000 {
        let value = if step == 654_321 { 100.0 } else { (step % 3) as f64 };
        point(&mut data, "loss", step, value);
    }
    let figure = named(&schema, &data, "loss-curve");
    let document = svg(&figure, &source()).unwrap();
    assert!(document.len() < 200_000, "{}", document.len());
    well_formed(&document);
    // The spike reaches the top of the field, where the axis has 100.
    assert!(
        [" 0.3L", " 0.3M"].iter().any(|place| document.contains(place)),
        "{}",
        &document[..2000]
    );
}

#[test]
fn nothing_says_so() {
    let schema = schema();
    let data = RunData::default();
    let figure = named(&schema, &data, "loss-curve");
    assert_eq!(
        svg(&figure, &source()).unwrap_err().to_string(),
        "the picture 'loss-curve' has nothing to show yet: run the lab first"
    );
    assert!(csv(&figure).is_err());
}

#[test]
fn only_what_differs_from_the_lab_is_named() {
    use mlsys_lab::value::Value;
    let schema = Schema::parse(
        "kind='t'\ntitle='t'\nmodule='t'\nabout='t'\nsource='t'\n\
         [[param]]\nname='rate'\ntype='float'\ndefault=1.0\nabout='a'\n\
         [[param]]\nname='seed'\ntype='int'\ndefault=1\nabout='a'\n\
         [[param]]\nname='name'\ntype='string'\ndefault='x'\nabout='a'",
    )
    .unwrap();
    let (one, two, text) = (Value::Int(1), Value::Int(2), Value::from("y"));
    let found = changed(&schema, [("rate", &one), ("seed", &two), ("name", &text)]);
    assert_eq!(found, [("name".to_owned(), "y".to_owned())]);
}
