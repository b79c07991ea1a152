//! Invalid requests: each gets a client error, and none a server error.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::fs;
use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use zarrox_hostile::urls::Asker;

use crate::common::{NAMES, Place, typed};

/// A server of valid and damaged hierarchies.
static SERVED: LazyLock<(Place, tempfile::TempDir, Asker)> = LazyLock::new(|| {
    let place = Place::new();
    let other = tempfile::tempdir().unwrap();
    let path = other.path().join("t.zarr");
    typed(&path);
    fs::create_dir(path.join("broken")).unwrap();
    fs::write(
        path.join("broken/zarr.json"),
        r#"{"zarr_format": 3, "node_type": "array", "shape": [18446744073709551615]}"#,
    )
    .unwrap();
    fs::write(place.path("v3.zarr/g/a/c/3/1"), "no zstd").unwrap();
    fs::write(place.path("shards.zarr/g/a/c/1/0"), "no shard").unwrap();
    fs::write(place.path("some.n5/g/a/1/1"), "no block").unwrap();
    let server = place.server().root("t", &path).unwrap().root("all", place.path("")).unwrap();
    (place, other, Asker::new(server).unwrap())
});

/// Checks the properties of every response.
fn check(uri: &str, method: &str, headers: &[(&str, &str)]) -> Result<(), TestCaseError> {
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
    SERVED.2.ask(method, uri.as_bytes(), &headers).map(drop).map_err(TestCaseError::fail)
}

/// Returns a segment of a path: an existing name, or any other text.
fn segment() -> impl Strategy<Value = String> {
    let known = [
        "data",
        "v3",
        "api",
        "v1",
        "tree",
        "node",
        "slice",
        "line",
        "histogram",
        "stats",
        "chunks",
        "check",
        "roots",
        "t",
        "-",
        "g",
        "a",
        "c",
        "0",
        "1",
        "3",
        "0.1",
        "1.1",
        "t",
        "all",
        "float",
        "text",
        "complex",
        "rgb",
        "half",
        "scalar",
        "broken",
        "zarr.json",
        ".zarray",
        ".zmetadata",
        "attributes.json",
        "..",
        ".",
        "%2e%2e",
        "%2f",
        "%00",
        "%ff",
        "%",
        "%5c",
        "",
        "99999999999999999999",
        "c.0.0",
        "-1",
    ];
    let known = known.into_iter().chain(NAMES).map(str::to_owned).collect::<Vec<_>>();
    prop_oneof![8 => select(known), 1 => "[ -~]{0,12}", 1 => "[a-z]{200,300}"].prop_map(|text: String| {
        text.replace([' ', '"', '<', '>', '\\', '^', '`', '{', '|', '}', '#', '?'], "%20")
    })
}

fn selection() -> impl Strategy<Value = String> {
    let item = prop_oneof![
        Just("...".to_owned()),
        Just("None".to_owned()),
        (-12_i64..12).prop_map(|n| n.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        (any::<Option<i8>>(), any::<Option<i8>>(), any::<Option<i8>>()).prop_map(|(a, b, c)| {
            let text = |n: Option<i8>| n.map_or(String::new(), |n| n.to_string());
            format!("{}:{}:{}", text(a), text(b), text(c))
        }),
        vec(-12_i64..12, 0..4).prop_map(|list| format!("{list:?}").replace(' ', "")),
        Just("[True,False]".to_owned()),
        "[0-9:,\\[\\]\\-a-z()]{0,10}",
    ];
    vec(item, 0..4).prop_map(|items| items.join(","))
}

fn parameter() -> impl Strategy<Value = String> {
    let number = || {
        prop_oneof![
            (0_i64..20).prop_map(|n| n.to_string()),
            any::<i64>().prop_map(|n| n.to_string()),
            any::<f64>().prop_map(|n| n.to_string()),
            Just("x".to_owned()),
        ]
    };
    let of = |names: Vec<&'static str>| {
        (select(names), number()).prop_map(|(name, value)| format!("{name}={value}"))
    };
    let numbers = vec![
        "width",
        "height",
        "max_elements",
        "max_pixels",
        "points",
        "bins",
        "low",
        "high",
        "limit",
        "unique",
        "percentiles",
        "step",
        "missing",
    ];
    let words = vec![
        "as=json",
        "as=raw",
        "as=npy",
        "as=png",
        "as=x",
        "reduce=mean",
        "reduce=min",
        "reduce=max",
        "reduce=nearest",
        "reduce=x",
        "scale=log",
        "colormap=magma",
        "colormap=x",
        "indexing=orthogonal",
        "indexing=x",
        "inner=true",
        "verify=1",
        "inner=x",
        "level=quick",
        "level=metadata",
        "missing=true",
        "stored=count",
        "stored=none",
        "documents=1",
        "search=a",
        "search=*",
        "search=[",
        "after=a",
        "field=x",
        "download=1",
        "token=x",
        "unknown=1",
        "=",
        "&",
        "%ff=1",
        "a=%",
    ];
    prop_oneof![
        3 => selection().prop_map(|text| format!("select={}", text.replace(' ', "%20"))),
        1 => selection().prop_map(|text| format!("region={}", text.replace(' ', "%20"))),
        2 => of(numbers),
        3 => select(words).prop_map(str::to_owned),
    ]
}

/// Returns a request of the interface that is nearly valid.
fn call() -> impl Strategy<Value = String> {
    let calls = vec!["tree", "node", "slice", "line", "histogram", "stats", "chunks", "check"];
    let nodes = vec![
        "v1.zarr",
        "v2.zarr/g/a",
        "v3.zarr/g/a",
        "shards.zarr/g/a",
        "some.n5/g/a",
        "draft.zarr/g/a",
        "some.zip/g/a",
        "some.sqlite/g/a",
        "t/float",
        "t/text",
        "t/complex",
        "t/bool",
        "t/half",
        "t/scalar",
        "t/rgb",
        "t/broken",
        "t",
        "all",
        "all/v2.zarr/g/a",
    ];
    (select(calls), select(nodes), vec(parameter(), 0..5))
        .prop_map(|(call, node, parameters)| format!("/api/v1/{call}/{node}?{}", parameters.join("&")))
}

fn range() -> impl Strategy<Value = String> {
    let bound = || {
        prop_oneof![
            Just(String::new()),
            (0_u64..200).prop_map(|n| n.to_string()),
            any::<u64>().prop_map(|n| n.to_string())
        ]
    };
    let one = (bound(), bound()).prop_map(|(first, last)| format!("{first}-{last}"));
    prop_oneof![
        4 => vec(one, 0..6).prop_map(|list| format!("bytes={}", list.join(","))),
        1 => "[ -~]{0,20}",
    ]
}

/// Returns a URL with a few bytes changed, removed or inserted.
fn mutated() -> impl Strategy<Value = String> {
    let changes =
        vec((any::<prop::sample::Index>(), 0..3_u8, select(b"%/?&=:,.-[]+*~0179aezA\x80".to_vec())), 1..6);
    (call(), changes).prop_map(|(uri, changes)| {
        let mut bytes = uri.into_bytes();
        for (place, kind, byte) in changes {
            // The slash at the beginning stays: without it the request is not HTTP.
            let at = 1 + place.index(bytes.len() - 1);
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ if bytes.len() > 2 => drop(bytes.remove(at)),
                _ => {}
            }
        }
        bytes.into_iter().map(char::from).collect()
    })
}

/// Returns a header that the server reads, with any value.
fn header() -> impl Strategy<Value = (&'static str, String)> {
    let names = vec![
        "host",
        "origin",
        "cookie",
        "authorization",
        "x-zarrox-token",
        "accept",
        "accept-encoding",
        "range",
        "if-range",
        "if-match",
        "if-none-match",
        "access-control-request-method",
        "access-control-request-headers",
    ];
    let words = vec![
        "localhost",
        "[::1",
        "[::1]:x",
        "127.0.0.1:99999",
        "null",
        "Bearer ",
        "gzip;q=x",
        "*",
        "bytes=0-",
        "GET",
    ];
    (select(names), prop_oneof![select(words).prop_map(str::to_owned), "[ -~]{0,30}"])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_path_is_answered(segments in vec(segment(), 0..8), query in proptest::option::of(parameter()), head: bool) {
        let query = query.map_or(String::new(), |query| format!("?{query}"));
        check(&format!("/{}{query}", segments.join("/")), if head { "HEAD" } else { "GET" }, &[])?;
    }

    #[test]
    fn any_call_is_answered(uri in call()) {
        check(&uri, "GET", &[])?;
    }

    #[test]
    fn any_change_of_an_address_is_answered(uri in mutated()) {
        check(&uri, "GET", &[])?;
    }

    #[test]
    fn any_header_is_answered(
        uri in call(),
        method in select(vec!["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "X"]),
        headers in vec(header(), 0..5),
    ) {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        check(&uri, method, &headers)?;
        check("/", method, &headers)?;
    }

    #[test]
    fn any_range_is_answered(range in range(), condition in "(\"[a-z]{0,3}\"|W/\"x\"|\\*|[ -~]{0,6})") {
        for uri in ["/data/v2.zarr/g/a/1.1", "/v3/some.n5/g/a/c/1/0", "/data/v3.zarr/zarr.json", "/v3/shards.zarr/g/a/c/1/0"] {
            check(uri, "GET", &[("range", &range)])?;
            check(uri, "GET", &[("range", &range), ("if-range", &condition), ("if-none-match", &condition)])?;
            check(uri, "HEAD", &[("range", &range), ("accept-encoding", &condition)])?;
        }
    }
}
