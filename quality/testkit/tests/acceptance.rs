//! Every unusual document opens or fails as expected.

use zarrox::Strictness;
use zarrox_testkit::acceptance::cases;

#[test]
fn odd_documents_are_read_as_they_should_be() {
    let registry = zarrox::codecs::registry();
    let cases = cases();
    assert_eq!(cases.len(), 104);
    let modes = [Strictness::Lenient, Strictness::Strict];
    let complaints: Vec<String> = cases
        .iter()
        .flat_map(|case| modes.into_iter().filter_map(|strictness| case.complaint(&registry, strictness)))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Lenient reading opens every document that two of the three large implementations open.
#[test]
fn nothing_is_refused_that_most_others_open() {
    let registry = zarrox::codecs::registry();
    for case in cases() {
        let open = case.peers.iter().filter(|open| **open).count();
        if open >= 2 {
            assert!(case.open(&registry, Strictness::Lenient).is_ok(), "{case:?}");
        }
    }
}
