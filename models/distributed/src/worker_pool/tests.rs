use std::thread;

use super::*;
use crate::transport::Tag;

const LONG: Duration = Duration::from_secs(60);
const SUM: Tag = Tag { what: "sum", index: 0 };

#[derive(Clone, Copy)]
enum Do {
    Sum,
    Panic,
    Hang,
    Lie,
    Fail,
}

struct Adder {
    value: f32,
}

impl Worker for Adder {
    type Order = Do;
    type Answer = f32;

    fn act(&mut self, order: Do, endpoint: &mut Endpoint) -> Result<f32, CommError> {
        endpoint.doing("adding");
        let (rank, workers) = (endpoint.rank(), endpoint.workers());
        match order {
            Do::Sum => {}
            // Resuming an unwinding skips the panic hook, so that the test prints nothing.
            Do::Panic => std::panic::resume_unwind(Box::new("\n  device lost\n more".to_owned())),
            Do::Hang => thread::park(),
            Do::Lie => endpoint.send((rank + 1) % workers, SUM, vec![0.0; 3]),
            Do::Fail => return Err(CommError::Failed("ran out of memory".to_owned())),
        }
        let mut sum = self.value;
        if rank > 0 {
            sum += endpoint.receive_floats(rank - 1, SUM, 1)?[0];
        }
        endpoint.send((rank + 1) % workers, SUM, vec![sum]);
        if rank == 0 {
            sum = endpoint.receive_floats(workers - 1, SUM, 1)?[0];
        }
        Ok(sum)
    }
}

fn pool(workers: usize, timeout: Duration) -> WorkerPool<Adder> {
    let context = WorkerContext { device: Device::flex(), place: "cpu".to_owned() };
    WorkerPool::start(DeviceId::CPU, vec![context; workers], timeout, |spec| {
        Ok(Adder { value: spec.rank as f32 + 1.0 })
    })
    .unwrap()
}

fn failure(order: Do, at: usize, timeout: Duration) -> String {
    let mut pool = pool(3, LONG);
    // A step that goes well: from here on every thread is up, however busy the machine.
    pool.act(3, [Do::Sum; 3], || false).unwrap();
    pool.set_timeout(timeout);
    let orders = (0..3).map(|rank| if rank == at { order } else { Do::Sum });
    match pool.act(4, orders, || false) {
        Err(StepError::Failed(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_worker_does_its_step_and_answers_by_rank() {
    let mut pool = pool(4, LONG);
    for step in 1..4 {
        let answers = pool.act(step, [Do::Sum; 4], || false).unwrap();
        assert_eq!(answers, [10.0, 3.0, 6.0, 10.0]);
    }
    let traffic = pool.traffic();
    assert_eq!(traffic.flow(3, 0).messages, 3);
    assert_eq!(traffic.most_sent().bytes, 12);
}

#[test]
fn a_worker_that_fails_is_named_with_what_it_did() {
    let wrong_shape = "worker 1 (cpu) sent worker 2 (cpu) something of the wrong shape for sum 0 at step 4: 3 numbers where 1 belong";
    let short = Duration::from_millis(400);
    for (order, at, timeout, expected) in [
        (
            Do::Panic,
            1,
            LONG,
            "the run failed on cpu: worker 1 (cpu) broke off: device lost (step 4)",
        ),
        (Do::Fail, 0, LONG, "worker 0 (cpu) ran out of memory (step 4)"),
        (Do::Fail, 1, LONG, "worker 1 (cpu) ran out of memory (step 4)"),
        (Do::Fail, 2, LONG, "worker 2 (cpu) ran out of memory (step 4)"),
        (Do::Hang, 1, short, "worker 1 (cpu) did not answer within 0 s at step 4: it was adding"),
        (Do::Hang, 1, short, "waited for sum 0 from it"),
        (Do::Lie, 1, LONG, wrong_shape),
    ] {
        let message = failure(order, at, timeout);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_failed_worker_start_ends_the_run() {
    let context = WorkerContext { device: Device::flex(), place: "cpu".to_owned() };
    let mut pool: WorkerPool<Adder> =
        WorkerPool::start(DeviceId::CPU, vec![context; 2], LONG, |spec| {
            if spec.rank == 1 {
                return Err(CommError::Failed("found no model".to_owned()));
            }
            Ok(Adder { value: 0.0 })
        })
        .unwrap();
    let error = pool.act(1, [Do::Sum; 2], || false).unwrap_err();
    assert!(
        matches!(&error, StepError::Failed(error) if error.to_string().contains("worker 1 (cpu) found no model (step 1)")),
        "{error:?}"
    );
}

#[test]
fn an_end_from_outside_waits_for_no_worker() {
    let mut pool = pool(3, LONG);
    let error = pool.act(1, [Do::Sum, Do::Hang, Do::Sum], || true);
    assert!(matches!(error, Err(StepError::Stopped)), "{error:?}");
}
