//! Stores that do not respond.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Client, Place};

/// Returns the address of a server that accepts connections and never responds.
fn silent() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || listener.incoming().collect::<Vec<_>>());
    format!("http://{address}/a.zarr")
}

#[test]
fn a_store_that_hangs_is_an_error_in_time_and_keeps_nobody_else() {
    let place = Place::new();
    let server = place.server().time_limit(Duration::from_millis(500)).root("slow", silent()).unwrap();
    let client = Client::new(server);
    thread::scope(|scope| {
        let asked: Vec<_> = (0..200)
            .map(|number| {
                let client = &client;
                let uri = ["/api/v1/node/slow/", "/v3/slow/zarr.json", "/data/slow/.zarray", "/v3/slow/c/0"]
                    [number % 4];
                scope.spawn(move || {
                    let start = Instant::now();
                    (client.get(uri), start.elapsed())
                })
            })
            .collect();
        for _ in 0..20 {
            let start = Instant::now();
            client.ok("/api/v1/slice/v2.zarr/g/a");
            assert!(start.elapsed() < Duration::from_secs(20));
        }
        for asked in asked {
            let (answer, elapsed) = asked.join().unwrap();
            assert_eq!((answer.status, answer.json()["error"]["kind"].as_str()), (504, Some("timed-out")));
            assert!(answer.message().contains("did not answer in time"), "{}", answer.message());
            assert!(elapsed < Duration::from_secs(30), "{elapsed:?}");
        }
    });
    assert_eq!(client.get("/api/v1/tree/slow/").status, 504);
}

#[test]
fn a_store_that_is_not_there_is_an_error_of_the_store() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a.zarr", listener.local_addr().unwrap());
    drop(listener);
    let place = Place::new();
    let client = Client::new(place.server().time_limit(Duration::from_secs(60)).root("gone", url).unwrap());
    let answer = client.get("/data/gone/.zarray");
    assert!(matches!(answer.status, 502 | 504), "{}", answer.status);
    assert!(answer.message().contains("127.0.0.1"), "{}", answer.message());
}
