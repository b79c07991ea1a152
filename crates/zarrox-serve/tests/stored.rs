//! `/data`: stored bytes, unchanged.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::fs;
use std::io::Read;

use zarrox_serve::Server;

use crate::common::{Client, NAMES, Place, aged};

fn files(bytes: &[u8]) -> (tempfile::TempDir, Client) {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("a/c")).unwrap();
    fs::write(directory.path().join("a/c/0"), bytes).unwrap();
    aged(directory.path());
    let client = Client::new(Server::new().token(None).root("r", directory.path()).unwrap());
    (directory, client)
}

#[test]
fn values_come_whole_and_in_ranges() {
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let (_directory, client) = files(&bytes);
    let whole = client.ok("/data/r/a/c/0");
    assert_eq!(whole.body, bytes);
    assert_eq!((whole.header("content-length"), whole.header("accept-ranges")), ("100000", "bytes"));
    assert_eq!(whole.header("content-type"), "application/octet-stream");
    let head = client.ask("HEAD", "/data/r/a/c/0", &[]);
    assert_eq!((head.status, head.body.len(), head.header("content-length")), (200, 0, "100000"));
    assert_eq!(head.header("etag"), whole.header("etag"));
    assert!(whole.header("etag").starts_with('"'));
    for (range, expected, shown) in [
        ("bytes=10-19", 10..20, "bytes 10-19/100000"),
        ("bytes=99990-", 99_990..100_000, "bytes 99990-99999/100000"),
        ("bytes=-5", 99_995..100_000, "bytes 99995-99999/100000"),
    ] {
        let part = client.ask("GET", "/data/r/a/c/0", &[("range", range)]);
        assert_eq!((part.status, part.header("content-range")), (206, shown));
        assert_eq!(part.body, bytes[expected], "{range}");
    }
    let outside = client.ask("GET", "/data/r/a/c/0", &[("range", "bytes=100000-")]);
    assert_eq!((outside.status, outside.header("content-range")), (416, "bytes */100000"));
}

#[test]
fn several_ranges_come_in_parts() {
    let bytes: Vec<u8> = (0..=255).cycle().take(5_000_000).collect();
    let (_directory, client) = files(&bytes);
    for ranges in ["bytes=0-1,1000-1003", "bytes=0-2999999,-1000000"] {
        let answer = client.ask("GET", "/data/r/a/c/0", &[("range", ranges)]);
        assert_eq!(answer.status, 206);
        let boundary =
            answer.header("content-type").strip_prefix("multipart/byteranges; boundary=").unwrap().to_owned();
        assert_eq!(answer.header("content-length"), answer.body.len().to_string());
        let mut rest = answer.body.as_slice();
        let mut seen = 0;
        let marker = format!("--{boundary}\r\n");
        while let Some(at) = find(rest, marker.as_bytes()) {
            rest = &rest[at + marker.len()..];
            let end = find(rest, b"\r\n\r\n").unwrap();
            let head = std::str::from_utf8(&rest[..end]).unwrap();
            let place = head.split("Content-Range: bytes ").nth(1).unwrap();
            let (first, last) = place.split_once('/').unwrap().0.split_once('-').unwrap();
            let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
            let body = &rest[end + 4..end + 4 + last + 1 - first];
            assert!(body == &bytes[first..=last], "{head}");
            rest = &rest[end + 4 + body.len()..];
            seen += 1;
        }
        assert_eq!(seen, 2);
        assert_eq!(rest, format!("\r\n--{boundary}--\r\n").as_bytes());
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

#[test]
fn what_a_client_has_is_not_sent_again() {
    let (directory, client) = files(b"old");
    let tag = client.ok("/data/r/a/c/0").header("etag").to_owned();
    let again = client.ask("GET", "/data/r/a/c/0", &[("if-none-match", &tag)]);
    assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, tag.as_str()));
    let part = [("range", "bytes=0-0"), ("if-range", tag.as_str())];
    assert_eq!(client.ask("GET", "/data/r/a/c/0", &part).status, 206);
    fs::write(directory.path().join("a/c/new"), b"newer").unwrap();
    aged(directory.path());
    fs::rename(directory.path().join("a/c/new"), directory.path().join("a/c/0")).unwrap();
    assert_eq!(client.ask("GET", "/data/r/a/c/0", &[("if-none-match", &tag)]).body, b"newer");
    assert_eq!(client.ask("GET", "/data/r/a/c/0", &part).body, b"newer");
    assert_eq!(client.ask("GET", "/data/r/a/c/0", &[("if-match", &tag)]).status, 412);
}

#[test]
fn documents_are_compressed_for_who_takes_it() {
    let place = Place::new();
    let client = place.client();
    let uri = "/data/shards.zarr/g/a/zarr.json";
    let plain = client.ok(uri);
    assert_eq!(plain.header("content-type"), "application/json");
    assert_eq!(plain.body, fs::read(place.path("shards.zarr/g/a/zarr.json")).unwrap());
    let packed = client.ask("GET", uri, &[("accept-encoding", "br, gzip;q=0.8")]);
    assert_eq!(
        (packed.status, packed.header("content-encoding"), packed.header("vary")),
        (200, "gzip", "Accept-Encoding")
    );
    assert_ne!(packed.header("etag"), plain.header("etag"));
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(packed.body.as_slice()).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body);
    let again = [("accept-encoding", "gzip"), ("if-none-match", packed.header("etag"))];
    assert_eq!(client.ask("GET", uri, &again).status, 304);
    for other in [[("accept-encoding", "gzip;q=0")], [("accept-encoding", "identity")]] {
        assert_eq!(client.ask("GET", uri, &other).header("content-encoding"), "");
    }
    assert_eq!(
        client.ask("GET", uri, &[("accept-encoding", "gzip"), ("range", "bytes=0-3")]).body,
        plain.body[..4]
    );
}

#[test]
fn listings_come_in_pages() {
    let place = Place::new();
    let client = place.client();
    let listing = client.json("/data/v2.zarr/g/a/");
    assert_eq!(listing["prefix"], "g/a/");
    let keys: Vec<&str> =
        listing["keys"].as_array().unwrap().iter().map(|key| key.as_str().unwrap()).collect();
    assert!(keys.contains(&".zarray") && keys.contains(&"3.1") && !keys.contains(&"0.0"), "{keys:?}");
    let (mut after, mut all) = (String::new(), Vec::new());
    loop {
        let page = client.json(&format!("/data/v2.zarr/g/a/?limit=3&after={after}"));
        let names = page["keys"].as_array().unwrap();
        assert!(names.len() <= 3);
        all.extend(names.iter().map(|name| name.as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        after = next.to_owned();
    }
    assert_eq!(all, keys);
    assert_eq!(client.json("/data/v2.zarr/")["prefixes"], serde_json::json!(["g"]));
    assert_eq!(client.get("/data/v2.zarr/nothing/").status, 404);
}

#[test]
fn every_store_gives_its_values() {
    let place = Place::new();
    let client = place.client();
    for name in NAMES {
        let listing = client.json(&format!("/data/{name}/"));
        assert!(
            !listing["prefixes"].as_array().unwrap().is_empty()
                || !listing["keys"].as_array().unwrap().is_empty()
        );
    }
    for name in ["v2.zarr", "some.zip", "some.sqlite"] {
        let uri = format!("/data/{name}/g/a/0.1");
        let whole = client.ok(&uri);
        assert!(!whole.header("etag").is_empty(), "{name}");
        assert_eq!(client.ask("GET", &uri, &[("range", "bytes=1-2")]).body, whole.body[1..3], "{name}");
        assert_eq!(client.get(&format!("/data/{name}/g/a/0.0")).status, 404, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn nothing_outside_of_a_root_is_reached() {
    let directory = tempfile::tempdir().unwrap();
    let (inside, secret) = (directory.path().join("in"), directory.path().join("secret"));
    fs::create_dir(&inside).unwrap();
    fs::write(&secret, "secret").unwrap();
    fs::write(inside.join("open"), "open").unwrap();
    std::os::unix::fs::symlink(&secret, inside.join("link")).unwrap();
    std::os::unix::fs::symlink(directory.path(), inside.join("up")).unwrap();
    std::os::unix::fs::symlink("open", inside.join("fine")).unwrap();
    let client = Client::new(Server::new().token(None).root("r", &inside).unwrap());
    assert_eq!(client.ok("/data/r/open").body, b"open");
    for uri in [
        "/data/r/../secret",
        "/data/r/%2e%2e/secret",
        "/data/r/..%2fsecret",
        "/data/r/%2e%2e%2fsecret",
        "/data/r//..//secret",
        "/data/r/link",
        "/data/r/up/secret",
        "/data/r/..%5csecret",
        "/data/../secret",
        "/data/r%2f..%2f../secret",
    ] {
        let answer = client.get(uri);
        assert!((400..500).contains(&answer.status), "{uri}: {}", answer.status);
        assert!(!answer.body.windows(8).any(|window| window == b"\"secret\""), "{uri}");
    }
    let absolute = format!("/data/r/{}", secret.to_str().unwrap().replace('/', "%2f"));
    assert_eq!(client.get(&absolute).status, 400);
    assert_eq!(client.get(&format!("/data/r/{}", secret.display())).status, 404);
}

#[test]
fn a_part_of_a_hierarchy_is_a_root_of_its_own() {
    let place = Place::new();
    let client = Client::new(Server::new().token(None).root("part", place.path("v2.zarr/g")).unwrap());
    assert_eq!(client.json("/data/part/")["prefixes"], serde_json::json!(["a"]));
    assert_eq!(client.json("/api/v1/node/part/a")["kind"], "array");
    assert_eq!(client.get("/data/part/.zgroup/../../.zgroup").status, 400);
}

#[test]
#[cfg(unix)]
fn what_stands_in_the_place_of_a_value_is_not_missing() {
    let (directory, client) = files(b"value");
    let chunk = directory.path().join("a/c/0");
    fs::remove_file(&chunk).unwrap();
    assert_eq!(client.get("/data/r/a/c/0").status, 404);
    std::os::unix::fs::symlink("../../annex/key", &chunk).unwrap();
    assert_eq!(client.get("/data/r/a/c/0").status, 502);
    fs::remove_file(&chunk).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&chunk).status().unwrap().success());
    assert_eq!(client.get("/data/r/a/c/0").status, 502);
    assert_eq!(client.get("/data/r/a/c").status, 404);
}
