//! What the labs about networks and collectives refuse.

use super::{error, refused};

#[test]
fn a_link_that_carries_nothing_is_refused() {
    let nothing: &[&str] = &["bandwidth_bytes_per_second", "nothing ever arrives", "above 0"];
    refused(
        "link-time",
        &[
            (&["bandwidth_bytes_per_second=0"], nothing),
            (
                &["bits_per_second_per_lane=0"],
                &["bits_per_second_per_lane", "nothing ever arrives"],
            ),
            (
                &["payload_bits=131", "line_bits=130"],
                &["payload_bits, line_bits", "131 data bits do not fit into the 130"],
            ),
            (&["link=token-ring"], &["link", "token-ring"]),
            (&["links=0"], &["links"]),
        ],
    );
    refused(
        "all-reduce",
        &[
            (&["bandwidth_bytes_per_second=0"], nothing),
            (&["bandwidth_bytes_per_second=0", "bytes=0"], nothing),
        ],
    );
}

#[test]
fn ranks_that_an_algorithm_cannot_pair_are_refused_with_those_it_can() {
    refused(
        "all-reduce",
        &[
            (
                &["algorithm=recursive-halving-doubling", "ranks=12"],
                &["algorithm, ranks", "12 is none", "8 or 16"],
            ),
            (&["ranks=1"], &["ranks", "2"]),
            (&["ranks=-3"], &["ranks"]),
            (&["algorithm=rings"], &["algorithm", "ring"]),
            (&["ranks=9223372036854775807"], &["ranks", "the steps would be beyond 2^63 - 1"]),
        ],
    );
    refused(
        "double-binary-tree",
        &[(&["ranks=1"], &["ranks"]), (&["ranks=65537"], &["ranks", "65536"])],
    );
}

#[test]
fn a_benchmark_that_took_no_time_is_refused() {
    refused(
        "bus-bandwidth",
        &[(&["seconds=0"], &["seconds", "nothing is moved in 0 s"]), (&["ranks=1"], &["ranks"])],
    );
}

#[test]
fn a_sum_of_nothing_in_no_time_has_no_bandwidth() {
    let error = error("all-reduce", &["bytes=0", "latency_seconds=0"]);
    assert!(!error.is_usage(), "{error}");
    let told = "algorithm_bandwidth_bytes_per_second is not finite: 0 bytes over 8 ranks";
    assert!(error.to_string().starts_with(told), "{error}");
}
