//! Hierarchies on a web server without listings.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use zarrox_testkit::proxy::Proxy;
use zarrox_testkit::web;

use crate::common::Sandbox;

/// Serves two hierarchies with an array `g/a` each, the first one with consolidated metadata. Returns their directory and the
/// URL.
fn served() -> (Sandbox, String) {
    let place = Sandbox::new();
    for (name, format) in [("three.zarr", "v3"), ("two.zarr", "v2")] {
        let path = format!("{name}/g/a");
        let import =
            ["import", "-", &path, "--dtype", "u1", "--shape", "3", "--chunks", "2", "--format", format];
        assert_eq!(place.run_with(&import, &[1, 2, 3]).code, 0);
    }
    place.ok(&["consolidate", "three.zarr"]);
    let url = web::serve(place.path("")).unwrap();
    (place, url)
}

#[test]
fn a_value_is_read_with_few_requests() {
    let (place, url) = served();
    let proxy = Proxy::new(&url).unwrap();
    for name in ["three.zarr", "two.zarr"] {
        proxy.reset();
        assert_eq!(place.ok(&["dump", &format!("{}/{name}/g/a[2]", proxy.url())]), "3\n");
        let mut requests = proxy.requests();
        assert!(requests.len() <= 4, "{requests:?}");
        requests.sort();
        requests.dedup();
        assert_eq!(requests.len(), proxy.requests().len(), "nothing twice: {requests:?}");
    }
    proxy.reset();
    place.ok(&["dump", &format!("{}/three.zarr/g/a[2]", proxy.url()), "--format", "v3"]);
    assert_eq!(proxy.requests().len(), 2, "{:?}", proxy.requests());
}

#[test]
fn info_tells_what_is_known_and_counts_when_asked() {
    let (place, url) = served();
    for name in ["three.zarr", "two.zarr"] {
        let array = format!("{url}/{name}/g/a");
        let told = place.ok(&["info", &array]);
        assert!(told.contains("chunks stored") && told.contains("unknown, of 2"), "{told}");
        assert!(place.ok(&["info", &array, "--json"]).contains("\"chunks_stored\": null"));
        let told = place.ok(&["info", &array, "--count"]);
        assert!(told.contains("2 of 2") && told.contains("bytes stored"), "{told}");
    }
    let groups = |name: &str| {
        let told = place.ok(&["info", &format!("{url}/{name}")]);
        told.lines().find_map(|line| line.strip_prefix("groups").map(|count| count.trim().to_owned()))
    };
    assert_eq!(groups("three.zarr").as_deref(), Some("1"));
    assert_eq!(groups("two.zarr").as_deref(), Some("unknown"));
    assert!(place.ok(&["info", "three.zarr/g/a"]).contains("2 of 2"), "what is near is counted");
}

#[test]
fn arrays_and_consolidated_hierarchies_are_converted_from_a_web_server() {
    let (place, url) = served();
    place.ok(&["convert", &format!("{url}/three.zarr"), "all.zarr", "--to", "v2"]);
    assert_eq!(place.ok(&["dump", "all.zarr/g/a"]), "[1 2 3]\n");
    place.ok(&["convert", &format!("{url}/two.zarr/g/a"), "one.zarr", "--to", "v3"]);
    assert_eq!(place.ok(&["dump", "one.zarr"]), "[1 2 3]\n");
    let refused = place.fails(6, &["convert", &format!("{url}/two.zarr"), "no.zarr", "--to", "v3"]);
    assert!(refused.contains("cannot list"), "{refused}");
}
