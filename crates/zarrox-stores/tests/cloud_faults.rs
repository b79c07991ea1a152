//! Faults of servers: a listener sends the given responses, and the clients of all clouds must report the error.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use zarrox_stores::{
    AzureOptions, ByteRange, Condition, ConnectionOptions, HttpOptions, Prefix, S3Options, Store,
    StoreErrorKind, StoreExt,
};
use zarrox_testkit::store::{key, list};

/// A function that returns the response to a request, given its head. For `None`, the client waits.
type Answer = dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync;

/// Starts a server that closes every connection after one response. Returns its URL, and the heads of the requests that it sees.
fn server(
    answer: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static,
) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (answer, seen): (Arc<Answer>, Arc<Mutex<Vec<String>>>) = (Arc::new(answer), Arc::default());
    let heads = Arc::clone(&seen);
    thread::spawn(move || {
        for client in listener.incoming() {
            let (answer, heads) = (Arc::clone(&answer), Arc::clone(&heads));
            thread::spawn(move || reply(client.unwrap(), &*answer, &heads));
        }
    });
    (url, seen)
}

fn reply(mut client: TcpStream, answer: &Answer, heads: &Mutex<Vec<String>>) {
    let mut head = String::new();
    let mut lines = BufReader::new(client.try_clone().unwrap());
    while !head.ends_with("\r\n\r\n") {
        if !matches!(lines.read_line(&mut head), Ok(1..)) {
            return;
        }
    }
    heads.lock().unwrap().push(head.clone());
    match answer(&head) {
        Some(bytes) => drop(client.write_all(&bytes)),
        // The server waits until the client times out.
        None => while matches!(lines.read_line(&mut head), Ok(1..)) {},
    }
}

fn response(status: &str, headers: &str, body: &str) -> Option<Vec<u8>> {
    let length = body.len();
    let headers = format!("Connection: close\r\nLast-Modified: Sun, 22 Nov 2026 00:00:00 GMT\r\n{headers}");
    Some(format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n{body}").into_bytes())
}

fn connection() -> ConnectionOptions {
    ConnectionOptions::new().idle_timeout(Duration::from_millis(300))
}

/// Opens one server as a bucket, a container and a web server.
fn stores(url: &str) -> [Box<dyn Store>; 3] {
    let s3 =
        S3Options::new().endpoint(url).allow_http(true).credentials("key", "SECRET").connection(connection());
    let azure = AzureOptions::new().account("a").access_key("U0VDUkVU").endpoint(url).allow_http(true);
    let http = HttpOptions::new().bearer_token("SECRET").connection(connection());
    [
        Box::new(s3.open("bucket").unwrap()),
        Box::new(azure.connection(connection()).open("container").unwrap()),
        Box::new(http.open(url).unwrap()),
    ]
}

#[test]
fn every_status_has_its_kind() {
    let cases = [
        ("401 Unauthorized", StoreErrorKind::Forbidden),
        ("403 Forbidden", StoreErrorKind::Forbidden),
        ("407 Proxy Authentication Required", StoreErrorKind::Forbidden),
        ("408 Request Timeout", StoreErrorKind::TimedOut),
        ("418 I'm a teapot", StoreErrorKind::Other),
        ("429 Too Many Requests", StoreErrorKind::Unreachable),
        ("500 Internal Server Error", StoreErrorKind::Unreachable),
        ("503 Slow Down", StoreErrorKind::Unreachable),
        ("504 Gateway Timeout", StoreErrorKind::TimedOut),
        ("507 Insufficient Storage", StoreErrorKind::StorageFull),
    ];
    for (status, kind) in cases {
        let (url, seen) = server(move |_| response(status, "", "<Error><Message>SECRET</Message></Error>"));
        for store in stores(&url) {
            for error in [store.get(&key("a")).unwrap_err(), store.open(&key("a")).err().unwrap()] {
                let text = format!("{error} {error:?}");
                assert_eq!(error.kind(), kind, "{status}: {text}");
                assert!(text.contains(&status[..3]) && !text.contains("SECRET"), "{text}");
            }
        }
        assert_eq!(seen.lock().unwrap().len(), 6, "{status}: nothing is retried");
    }
}

#[test]
fn only_missing_values_are_none() {
    let (url, _) = server(|_| response("404 Not Found", "", "<Error><Code>NoSuchKey</Code></Error>"));
    for store in stores(&url) {
        assert_eq!(store.get(&key("a")).unwrap(), None, "{store:?}");
        assert!(store.open(&key("a")).unwrap().is_none(), "{store:?}");
    }
}

#[test]
fn a_server_that_is_silent_times_out() {
    let (url, _) = server(|_| None);
    for store in stores(&url) {
        let begin = Instant::now();
        let error = store.get(&key("a")).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::TimedOut, "{error}");
        assert!(begin.elapsed() < Duration::from_secs(15), "{error}");
    }
}

#[test]
fn an_interrupted_body_is_not_a_value() {
    let cut = |_: &str| {
        let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nLast-Modified: Sun, 22 Nov 2026 00:00:00 GMT\r\n";
        Some(format!("{head}Content-Length: 100\r\nConnection: close\r\n\r\nonly this").into_bytes())
    };
    let (url, _) = server(cut);
    for store in stores(&url) {
        let error = store.get(&key("a")).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
        assert_eq!(error.key(), Some("a"), "{error}");
    }
}

#[test]
fn a_length_that_cannot_be_true_takes_no_memory() {
    let lie = |_: &str| {
        let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nLast-Modified: Sun, 22 Nov 2026 00:00:00 GMT\r\n";
        Some(format!("{head}Content-Length: 9223372036854775000\r\nConnection: close\r\n\r\nx").into_bytes())
    };
    let (url, _) = server(lie);
    for store in stores(&url) {
        let error = store.get(&key("a")).unwrap_err();
        assert!(matches!(error.kind(), StoreErrorKind::TooLarge | StoreErrorKind::Unreachable), "{error}");
    }
}

#[test]
fn servers_that_know_no_ranges_send_everything() {
    let (url, _) = server(|head| {
        let body = if head.starts_with("HEAD") { "" } else { "0123456789" };
        let mut bytes = response("200 OK", "ETag: \"1\"\r\n", body)?;
        if body.is_empty() {
            bytes = String::from_utf8(bytes)
                .unwrap()
                .replace("Content-Length: 0", "Content-Length: 10")
                .into_bytes();
        }
        Some(bytes)
    });
    let from = |offset, length| ByteRange::From { offset, length };
    let ranges = [from(2, Some(3)), from(8, None), ByteRange::Suffix { length: 4 }, from(0, Some(10))];
    for store in stores(&url) {
        for range in ranges {
            let value = store.open_with(&key("a"), Some(range)).unwrap().unwrap();
            let within = range.resolve(10).unwrap();
            assert_eq!(value.size(), 10, "{store:?} {range:?}");
            let bytes = value.read(within.start, within.end - within.start).unwrap();
            assert_eq!(
                bytes,
                b"0123456789"[usize::try_from(within.start).unwrap()..][..bytes.len()],
                "{store:?}"
            );
        }
    }
    let [_, _, web] = stores(&url);
    let opened = web.open(&key("a")).unwrap().unwrap();
    assert_eq!(opened.read(4, 3).unwrap(), "456");
}

#[test]
fn bodies_without_a_length_are_read_to_their_end() {
    let (url, _) = server(|head| {
        if head.starts_with("HEAD") {
            return response("405 Method Not Allowed", "", "");
        }
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
        Some(format!("{head}4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n").into_bytes())
    });
    let [_, _, web] = stores(&url);
    assert_eq!(web.get(&key("a")).unwrap().unwrap(), "0123456789");
    assert_eq!(web.size(&key("a")).unwrap(), Some(10));
    let ends = web.get_ranges(&key("a"), &[ByteRange::Suffix { length: 2 }]).unwrap().unwrap();
    assert_eq!(ends, ["89"]);
}

#[test]
fn users_and_tokens_are_sent_and_never_shown() {
    let (url, seen) = server(|_| response("403 Forbidden", "", ""));
    let place = url.replace("http://", "http://user:SECRET@");
    let store =
        HttpOptions::new().header("X-Token", "SECRET").open(&format!("{place}/a?sig=SECRET#x")).unwrap();
    let error = store.get(&key("b")).unwrap_err();
    let text = format!("{error} {error:?} {store:?} {}", store.location());
    assert!(!text.contains("SECRET") && text.contains("/a/b"), "{text}");
    let head = seen.lock().unwrap().concat().to_ascii_lowercase();
    assert!(head.starts_with("get /a/b?sig=secret http/1.1"), "{head}");
    assert!(
        head.contains("authorization: basic dxnlcjptrunsrvq=") && head.contains("x-token: secret"),
        "{head}"
    );
    let options = HttpOptions::new().header("X-Token", "SECRET");
    assert!(!format!("{options:?}").contains("SECRET"));
}

#[test]
fn redirections_lead_to_files_and_not_to_directories() {
    let (url, _) = server(|head| match head.split(' ').nth(1) {
        Some("/moved") => response("301 Moved", "Location: /here\r\n", ""),
        Some("/here") => response("200 OK", "", "value"),
        Some("/directory") => response("301 Moved", "Location: /directory/\r\n", ""),
        Some("/round") => response("302 Found", "Location: /round\r\n", ""),
        _ => response("200 OK", "", "a listing"),
    });
    let web = HttpOptions::new().open(&url).unwrap();
    assert_eq!(web.get(&key("moved")).unwrap().unwrap(), "value");
    assert_eq!(web.get(&key("directory")).unwrap(), None);
    assert!(web.get(&key("round")).is_err());
}

const LISTED: &str = "<?xml version=\"1.0\"?><ListBucketResult>\
    <Contents><Key>a/</Key><Size>0</Size><LastModified>2026-11-22T00:00:00.000Z</LastModified></Contents>\
    <Contents><Key>a/b</Key><Size>3</Size><LastModified>2026-11-22T00:00:00.000Z</LastModified></Contents>\
    <Contents><Key>a/empty</Key><Size>0</Size><LastModified>2026-11-22T00:00:00.000Z</LastModified></Contents>\
    </ListBucketResult>";

#[test]
fn directory_markers_are_not_values() {
    let (url, _) = server(|head| match head {
        _ if head.starts_with("HEAD /bucket/a/empty ") => response("200 OK", "", ""),
        _ if head.starts_with("GET /bucket?") => response("200 OK", "", LISTED),
        _ => response("404 Not Found", "", "<Error><Code>NoSuchKey</Code></Error>"),
    });
    let [bucket, _, _] = stores(&url);
    assert_eq!(list(&*bucket, ""), [("a/b".to_owned(), 3), ("a/empty".to_owned(), 0)]);
}

#[test]
fn names_that_cannot_be_listed_are_an_error() {
    let (url, _) = server(|_| response("200 OK", "", &LISTED.replace("a/b", "a//b")));
    let [bucket, _, _] = stores(&url);
    let error =
        bucket.list_prefix(&Prefix::root(), &mut |_, _| std::ops::ControlFlow::Continue(())).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::InvalidKey, "{error}");
    assert!(error.to_string().contains("a//b"), "{error}");
}

#[test]
fn a_conflict_that_passes_may_be_tried_again() {
    let body = "<Error><Code>ConditionalRequestConflict</Code></Error>";
    let (url, _) = server(move |_| response("409 Conflict", "", body));
    let [bucket, _, _] = stores(&url);
    let error = bucket.set(&key("a"), b"v", Condition::Absent).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
}

#[test]
fn without_credentials_access_is_forbidden() {
    // Cloud machines request credentials from an address that does not exist elsewhere.
    let store = S3Options::new().endpoint("http://127.0.0.1:1").allow_http(true).open("bucket").unwrap();
    let error = store.get(&key("a")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Forbidden, "{error}");
    assert!(error.to_string().contains("anonymous"), "{error}");
}
