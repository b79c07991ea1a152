//! What the tests of several servers need: places that nobody else uses, and a proxy that sees the requests.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use zarrox_stores::{Condition, Prefix, PrefixStore, Store, StoreError, StoreErrorKind};
use zarrox_testkit::store::{key, prefix};

/// A name that was never used before, not by other processes either.
pub(crate) fn unique() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_micros();
    format!("{time}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A part of the store that nobody else uses.
pub(crate) fn fresh(store: Arc<dyn Store>) -> Box<dyn Store> {
    Box::new(PrefixStore::new(store, prefix(&format!("{}/", unique()))))
}

/// The port of a proxy to an address, and the request lines that it has seen, such as `GET /bucket/key HTTP/1.1`.
pub(crate) fn proxy(address: &str) -> (u16, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::default();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (address, requests) = (address.to_owned(), Arc::clone(&seen));
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) = (client.unwrap(), TcpStream::connect(&address).unwrap());
            let answers = (server.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || pass(answers.0, answers.1, |_| {}));
            let requests = Arc::clone(&requests);
            thread::spawn(move || pass(client, server, move |bytes| note(bytes, &requests)));
        }
    });
    (port, seen)
}

fn pass(mut from: TcpStream, mut to: TcpStream, see: impl Fn(&[u8])) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        see(&buffer[..length]);
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
}

/// Requests follow each other here, so that each begins where something is read.
fn note(bytes: &[u8], requests: &Mutex<Vec<String>>) {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().next().unwrap_or_default();
    if line.ends_with(" HTTP/1.1") {
        requests.lock().unwrap().push(line.to_owned());
    }
}

/// Does everything that reaches the server, and checks that each fails in this way, names the place and tells no secret.
pub(crate) fn all_fail(store: &dyn Store, kind: StoreErrorKind, secrets: &[&str]) {
    let name = key("a/b");
    let mut none = |_, _| std::ops::ControlFlow::Continue(());
    let errors: Vec<StoreError> = [
        store.get(&name).map(drop),
        store.open(&name).map(drop),
        store.size(&name).map(drop),
        store.set(&name, b"value", Condition::Always),
        store.set(&name, b"value", Condition::Absent),
        store.erase(&name).map(drop),
        store.erase_prefix(&prefix("a/")),
        store.list_dir(&Prefix::root()).map(drop),
        store.list_prefix(&Prefix::root(), &mut none),
    ]
    .into_iter()
    .enumerate()
    .map(|(index, result)| match result {
        Err(error) => error,
        Ok(()) => unreachable!("operation {index} has not failed"),
    })
    .collect();
    for error in errors {
        let text = format!("{error} {error:?} {store:?}");
        assert_eq!(error.kind(), kind, "{text}");
        assert!(error.to_string().contains(&store.location()), "{text}");
        assert!(!secrets.iter().any(|secret| text.contains(secret)), "{text}");
    }
}

/// Checks that a store whose server is not there says so, and soon.
pub(crate) fn unreachable(store: &dyn Store) {
    let begin = Instant::now();
    all_fail(store, StoreErrorKind::Unreachable, &[]);
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

/// A URL at which nobody listens.
pub(crate) fn nobody() -> String {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    format!("http://127.0.0.1:{port}")
}
