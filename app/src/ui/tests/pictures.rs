//! Pictures that are looked at closely, and taken along as files.

use super::Bench;
use crate::exports::Export;
use crate::figure::tests::{parsed, well_formed};
use crate::ui::message::Effect;

fn exported(effects: &[Effect]) -> Option<&Export> {
    effects.iter().find_map(|effect| {
        if let Effect::Export(export) = effect {
            Some(export.as_ref())
        } else {
            None
        }
    })
}

#[test]
fn the_chosen_picture_becomes_a_drawing_and_values_as_it_is_looked_at() {
    let mut bench = Bench::in_lesson((120, 60));
    assert!(exported(&bench.keys("e")).is_none());
    bench.shows("the picture 'loss-curve' has nothing to show yet: run the lab first");
    bench.keys("  ");
    bench.train(1.0);
    let effects = bench.keys("e");
    let export = exported(&effects).unwrap();
    assert_eq!(export.name, "systems/small-loss-curve");
    let texts = well_formed(&export.svg).join("\n");
    assert!(texts.contains("lesson systems/small"), "{texts}");
    assert!(texts.contains("seed 1 · on a cpu (cpu)"), "{texts}");
    assert_eq!(parsed(&export.csv).len(), 401);

    // Half of the steps, on a logarithmic axis.
    let effects = bench.keys("\t\t+le");
    let export = exported(&effects).unwrap();
    assert_eq!(parsed(&export.csv).len(), 201);
    assert!(well_formed(&export.svg).contains(&"0.01".to_owned()));
}
