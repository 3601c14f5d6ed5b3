//! The package's processors, and texts that are refused.

use drivelab_processor::board::TargetParameters;
use drivelab_processor::host::HostParameters;
use drivelab_processor::parameters::{HOST, TARGET};

const GRADES: [&str; 5] = ["paper", "documentation", "recalled", "fitted", "assumed"];

/// The error of a target whose line `from` is replaced by `to`.
fn refused(from: &str, to: &str) -> String {
    assert!(TARGET.contains(from), "{from}");
    let read = TargetParameters::from_toml(&TARGET.replacen(from, to, 1));
    read.map(|_| ()).expect_err(to).to_string()
}

#[test]
fn every_value_says_where_it_comes_from() {
    for text in [HOST, TARGET] {
        for line in text.lines().filter(|line| line.contains(" = ")) {
            let is_text = ["kind", "name", "summary"]
                .iter()
                .any(|key| line.starts_with(key));
            let source = line.split_once('#').map_or("", |(_, source)| source.trim());
            let graded = GRADES
                .iter()
                .any(|grade| source.starts_with(&format!("{grade}: ")));
            assert!(is_text || graded, "{line}");
        }
    }
}

/// The sizes that the paper gives are the same for both; the other parameters differ.
#[test]
fn host_and_target_are_different_machines() {
    let host = HostParameters::from_toml(HOST).expect("the package's host");
    let target = TargetParameters::from_toml(TARGET).expect("the package's target");
    assert_eq!(host.l1d.size_bytes, target.l1d.size_bytes);
    assert_eq!(host.l2.size_bytes, target.l2.size_bytes);
    assert_ne!(host.l1d.ways, target.l1d.ways);
    assert_ne!(host.l2.ways, target.l2.ways);
    assert_ne!(host.prefetch.streams, target.prefetch.streams);
    assert_ne!(host.prefetch.lines_before, target.prefetch.lines_before);
    assert_ne!(
        host.predictor.base_entries,
        target.predictor.pattern_entries
    );
    assert_ne!(
        host.predictor.indirect_entries,
        target.predictor.indirect_entries
    );
    assert_ne!(
        host.predictor.return_entries,
        target.predictor.return_entries
    );
    assert_ne!(
        host.derived.mispredict_cycles,
        target.penalty.mispredict_cycles.likely
    );
}

#[test]
fn impossible_values_say_what_is_allowed() {
    let ways = refused("ways = 4 ", "ways = 3 ");
    assert_eq!(
        ways,
        "l1d.size_bytes is 32768: with 3 ways it may be 192 bytes times a power of two, 16777216 at most"
    );
    assert_eq!(
        refused("cores = 4 ", "cores = 0 "),
        "cores is 0: it may be 1 to 64"
    );
    assert_eq!(
        refused("low = 9, likely = 13", "low = 14, likely = 13"),
        "penalty.l2_cycles.low is 14: it may be 0 to 13"
    );
    assert_eq!(
        refused("indirect_entries = 256 ", "indirect_entries = 100 "),
        "predictor.indirect_entries is 100: it may be a power of two from 2 to 1048576"
    );
}

#[test]
fn unknown_and_missing_keys_are_named_with_their_line() {
    let unknown = refused("streams = 4 ", "streems = 4 ");
    let streams = TARGET.lines().position(|line| line.starts_with("streams"));
    let line = 1 + streams.expect("it is there");
    let expected = format!("line {line}: unknown field `streems`, expected `streams`");
    assert!(unknown.starts_with(&expected), "{unknown}");
    let missing = refused("cores = 4 ", "# cores = 4 ");
    assert!(missing.contains("missing field `cores`"), "{missing}");
    let host = TargetParameters::from_toml(HOST).map(|_| ());
    assert_eq!(
        host.expect_err("a host is no target").to_string(),
        "kind is \"host\": it must be \"target\" for what qemu emulates here"
    );
}
