//! The same run on another device.

use mlsys_device::probe;
use mlsys_lab::device::{Backend, DeviceState};
use mlsys_lab::{DeviceInfo, Value};

use crate::harness::{train, train_on};

/// Devices of every back end but the CPU that can be used here; where there is none, the reasons are printed.
fn others() -> Vec<DeviceInfo> {
    let (usable, unusable): (Vec<_>, Vec<_>) = probe()
        .into_iter()
        .filter(|info| info.id.backend != Backend::Cpu)
        .partition(|info| info.state == DeviceState::Usable || info.state == DeviceState::Software);
    for info in unusable {
        println!("not tried on {}: {:?}", info.id, info.state);
    }
    usable
}

#[test]
fn the_first_loss_is_the_same_on_every_device() {
    for settings in [
        vec!["steps=4", "record_every=2"],
        vec!["steps=2", "dataset=digits", "optimizer=momentum", "gradient_clip=1", "batch_size=16"],
        vec!["steps=2", "dataset=digits", "model=cnn", "width=2", "batch_size=16", "profile=true"],
    ] {
        let here = train(&settings);
        for info in others() {
            let there =
                train_on(info.id, &settings).unwrap_or_else(|error| panic!("{}: {error}", info.id));
            for (step, (a, b)) in here.values("loss").iter().zip(there.values("loss")).enumerate() {
                // Later steps only roughly: rounding differs, and every step builds on the last.
                let tolerance = if step == 0 { 1e-4 } else { 1e-2 };
                assert!(
                    (a - b).abs() <= tolerance * a.abs(),
                    "{} {settings:?} step {}: {a} {b}",
                    info.id,
                    step + 1
                );
            }
            assert_eq!(here.values("loss").len(), there.values("loss").len());
            assert_eq!(there.data.metric("diverged"), Some(Value::Bool(false)));
            assert_eq!(there.data.status, "");
            there.assert_declared();
            println!("{} {settings:?}: {:.2} s", info.id, there.number("wall_seconds"));
        }
    }
}
