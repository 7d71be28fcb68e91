use std::thread;

use super::*;

const LONG: Duration = Duration::from_secs(60);

fn tag(index: usize) -> Tag {
    Tag { what: "chunk", index }
}

#[test]
fn messages_match_by_sender_and_tag() {
    let (mut endpoints, ledger, _) = endpoints(3, LONG);
    endpoints[1].send(0, tag(2), vec![2.0, 3.0]);
    endpoints[2].send(0, tag(1), vec![9.0]);
    endpoints[1].send(0, tag(1), vec![1.0]);
    endpoints[1].send(0, tag(1), vec![1.5]);
    let zero = &mut endpoints[0];
    assert_eq!(zero.receive_floats(1, tag(1), 1).unwrap(), [1.0]);
    assert_eq!(zero.receive_floats(1, tag(1), 1).unwrap(), [1.5]);
    assert_eq!(zero.receive_floats(2, tag(1), 1).unwrap(), [9.0]);
    assert_eq!(zero.receive_floats(1, tag(2), 2).unwrap(), [2.0, 3.0]);
    let traffic = ledger.take();
    assert_eq!(traffic.flow(1, 0), Flow { messages: 3, bytes: 16 });
    assert_eq!((traffic.sent_by(0).messages, traffic.most_sent().bytes), (0, 16));
    assert_eq!(ledger.take().most_sent(), Flow::default());
}

#[test]
fn what_does_not_come_is_waited_for_no_longer_than_agreed() {
    let (mut endpoints, ledger, _) = endpoints(2, Duration::ZERO);
    let error = endpoints[0].receive(1, tag(7)).unwrap_err();
    assert!(
        matches!(error, CommError::TimedOut { from: 1, tag: about, .. } if about == tag(7)),
        "{error:?}"
    );
    assert_eq!(ledger.doing(0).to_string(), "it waited for chunk 7 from worker 1");
}

#[test]
fn patience_that_is_set_anew_holds_for_every_port() {
    let (mut endpoints, ledger, _) = endpoints(2, LONG);
    ledger.set_timeout(Duration::ZERO);
    for (rank, endpoint) in endpoints.iter_mut().enumerate() {
        let error = endpoint.receive(1 - rank, tag(0)).unwrap_err();
        assert!(matches!(error, CommError::TimedOut { .. }), "{error:?}");
    }
}

#[test]
fn ended_workers_disconnect_after_their_messages() {
    let (mut endpoints, _, _) = endpoints(3, LONG);
    let one = endpoints.remove(1);
    one.send(0, tag(0), vec![4.0]);
    let ended = thread::spawn(move || drop(one));
    ended.join().unwrap();
    let zero = &mut endpoints[0];
    assert_eq!(zero.receive_floats(1, tag(0), 1).unwrap(), [4.0]);
    let error = zero.receive(1, tag(1)).unwrap_err();
    assert!(matches!(error, CommError::Disconnected { from: 1, .. }), "{error:?}");
}

#[test]
fn a_wrong_shape_is_refused() {
    let (mut endpoints, _, _) = endpoints(2, LONG);
    endpoints[1].send(0, tag(0), vec![1.0; 7]);
    endpoints[1].send(0, tag(1), Payload::Levels { step: 1.0, levels: vec![1; 8] });
    for (index, expected) in
        [(0, "7 numbers where 8 belong"), (1, "compressed numbers where 8 plain ones belong")]
    {
        let error = endpoints[0].receive_floats(1, tag(index), 8).unwrap_err();
        assert!(
            matches!(&error, CommError::Mismatch { from: 1, what, .. } if what == expected),
            "{error:?}"
        );
    }
}

#[test]
fn an_end_of_the_run_ends_every_wait() {
    let (mut endpoints, _, senders) = endpoints(2, LONG);
    for sender in &senders {
        sender.send(Packet::Abort).unwrap();
    }
    let error = endpoints[0].receive(1, tag(0)).unwrap_err();
    assert!(matches!(error, CommError::Aborted), "{error:?}");
}

#[test]
fn compressed_numbers_are_added_as_what_they_stand_for() {
    let mut sum = vec![1.0; 4];
    let levels = Payload::Levels { step: 0.5, levels: vec![1, -2, 0, 127] };
    assert!(levels.add_to(&mut sum));
    assert_eq!(sum, [1.5, 0.0, 1.0, 64.5]);
    let signs = Payload::Signs { size: 2.0, count: 4, bits: vec![0b1010] };
    assert!(signs.add_to(&mut sum));
    assert_eq!(sum, [3.5, -2.0, 3.0, 62.5]);
    let entries = Payload::Entries { count: 4, places: vec![3, 0], values: vec![-62.5, 0.5] };
    assert!(entries.add_to(&mut sum));
    assert_eq!(sum, [4.0, -2.0, 3.0, 0.0]);
    assert_eq!((levels.bytes(), signs.bytes(), entries.bytes()), (8, 5, 16));
    assert!(!levels.add_to(&mut [0.0; 3]));
}
