//! Connections of a server: a thousand of them, slow stores, disconnecting clients, and shutdown.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use zarrox::{DataType, OpenOptions};
use zarrox_serve::{Server, StopHandle};

use crate::common::Place;

struct Running {
    address: SocketAddr,
    stop: StopHandle,
    thread: Option<thread::JoinHandle<()>>,
}

impl Running {
    fn new(server: Server) -> Self {
        let bound = server.bind().unwrap();
        let (address, stop) = (bound.address(), bound.stop_handle());
        let thread = thread::spawn(move || bound.run().unwrap());
        Self { address, stop, thread: Some(thread) }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    fn stop(mut self) -> Duration {
        let start = Instant::now();
        self.stop.stop();
        self.thread.take().unwrap().join().unwrap();
        start.elapsed()
    }
}

fn ask(stream: &mut TcpStream, uri: &str) {
    write!(stream, "GET {uri} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
}

/// Returns the status line and the body of a response with a length.
fn answer(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head
        .to_lowercase()
        .split("content-length: ")
        .nth(1)
        .unwrap()
        .split('\r')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (head.lines().next().unwrap().to_owned(), body)
}

#[test]
fn a_thousand_open_connections_are_answered() {
    let place = Place::new();
    let running = Running::new(place.server());
    // Both ends of each connection are in this process.
    let most = raised().min(1000);
    let mut open: Vec<TcpStream> = (0..most).map(|_| running.connect()).collect();
    for _ in 0..2 {
        for stream in &mut open {
            ask(stream, "/v3/v2.zarr/g/a/zarr.json");
        }
        for stream in &mut open {
            let (status, body) = answer(stream);
            assert_eq!(status, "HTTP/1.1 200 OK");
            assert!(body.starts_with(b"{"));
        }
    }
    // Idle connections do not block the shutdown.
    assert!(running.stop() < Duration::from_secs(20));
}

/// Returns the number of connections that the limit of open files allows.
fn raised() -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(files.saturating_sub(200) / 2).unwrap_or(usize::MAX)
}

/// Returns a directory with a small hierarchy.
fn small() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s.zarr");
    let array = OpenOptions::new()
        .create_array(&path)
        .shape([4])
        .chunks([4])
        .data_type(DataType::Int8)
        .create()
        .unwrap();
    array.write(.., 1_i8).unwrap();
    directory
}

#[test]
fn large_values_are_streamed_and_clients_may_go_away() {
    let directory = tempfile::tempdir().unwrap();
    let bytes = vec![7_u8; 50 << 20];
    std::fs::write(directory.path().join("large"), &bytes).unwrap();
    let running = Running::new(Server::new().token(None).root("r", directory.path()).unwrap());
    for _ in 0..50 {
        let mut stream = running.connect();
        ask(&mut stream, "/data/r/large");
        let mut some = [0; 1000];
        stream.read_exact(&mut some).unwrap();
    }
    // Clients that do not read their responses do not block threads.
    let waiting: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = running.connect();
            ask(&mut stream, "/data/r/large");
            stream
        })
        .collect();
    let mut stream = running.connect();
    ask(&mut stream, "/data/r/large");
    let (_, body) = answer(&mut stream);
    assert!(body == bytes);
    drop(waiting);
    running.stop();
}

#[test]
fn half_requests_and_nonsense_do_no_harm() {
    let directory = small();
    let running = Running::new(Server::new().token(None).root("r", directory.path()).unwrap());
    let mut half = running.connect();
    half.write_all(b"GET /data/r/ HTTP/1.1\r\nHost: loc").unwrap();
    for nonsense in [
        &b"\x00\x01\x02\x03\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    ] {
        let mut stream = running.connect();
        stream.write_all(nonsense).unwrap();
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        assert!(text.is_empty() || text.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&text));
    }
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(1 << 20));
    let mut stream = running.connect();
    let _ = stream.write_all(long.as_bytes());
    let mut status = [0; 12];
    if stream.read_exact(&mut status).is_ok() {
        assert!(status.starts_with(b"HTTP/1.1 4"));
    }
    let mut stream = running.connect();
    ask(&mut stream, "/api/v1/slice/r/s.zarr?as=json");
    assert_eq!(answer(&mut stream).0, "HTTP/1.1 200 OK");
    running.stop();
}
