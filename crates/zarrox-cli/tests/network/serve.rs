//! `zarrox serve`: the process around the server.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::Sandbox;

fn place() -> Sandbox {
    let place = Sandbox::new();
    place.ok(&["create", "sea.zarr/depth", "--shape", "4,6", "--dtype", "int16"]);
    place.ok(&["fill", "sea.zarr/depth", "7"]);
    place
}

/// A server, and the lines that it prints.
struct Running {
    child: Child,
    link: String,
    rest: Vec<String>,
}

impl Running {
    fn new(place: &Sandbox, line: &[&str], roots: usize) -> Self {
        let mut command = place.command(&[&["serve"], line].concat());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = || lines.next().unwrap().unwrap();
        let link = next();
        let rest = (0..roots).map(|_| next()).collect();
        Self { child, link, rest }
    }

    /// Returns the status line of the response to a request.
    fn ask(&self, uri: &str) -> String {
        let host = self.link.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET {uri} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).lines().next().unwrap().to_owned()
    }

    /// Ends the server with a signal. Returns the elapsed time and the exit code.
    fn end(mut self, signal: &str) -> (Duration, Option<i32>) {
        let start = Instant::now();
        Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        let status = self.child.wait().unwrap();
        (start.elapsed(), status.code())
    }
}

#[test]
fn a_signal_ends_the_server_cleanly() {
    let place = place();
    for signal in ["-INT", "-TERM"] {
        let running = Running::new(&place, &["sea.zarr"], 1);
        let (url, token) = running.link.split_once("/?token=").unwrap();
        assert!(url.starts_with("http://127.0.0.1:") && token.len() == 48, "{}", running.link);
        assert_eq!(running.rest, [format!("  sea.zarr  {url}/v3/sea.zarr")]);
        assert_eq!(running.ask("/v3/sea.zarr/zarr.json"), "HTTP/1.1 401 Unauthorized");
        assert_eq!(running.ask(&format!("/v3/sea.zarr/zarr.json?token={token}")), "HTTP/1.1 200 OK");
        let open = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
        let (elapsed, code) = running.end(signal);
        drop(open);
        assert_eq!(code, Some(0), "{signal}");
        assert!(elapsed < Duration::from_secs(20), "{elapsed:?}");
    }
}

#[test]
fn a_token_may_be_given() {
    let place = place();
    let running = Running::new(&place, &["--token", "sea-of-2026", "sea.zarr"], 1);
    assert!(running.link.ends_with("/?token=sea-of-2026"), "{}", running.link);
    assert_eq!(running.ask("/v3/sea.zarr/zarr.json?token=sea-of-2026"), "HTTP/1.1 200 OK");
    assert_eq!(running.ask("/v3/sea.zarr/zarr.json?token=sea-of-2025"), "HTTP/1.1 401 Unauthorized");
    running.end("-TERM");
    let told = |variable: &str| {
        let mut command = place.command(&["serve", "sea.zarr", "--", "sh", "-c", "echo $ZARROX_TOKEN"]);
        let output = command.env("ZARROX_TOKEN", variable).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap().trim_end().to_owned())
    };
    assert_eq!(told("of-the-environment"), (Some(0), "of-the-environment".to_owned()));
    assert_eq!(told("").1.len(), 48);
    assert_eq!(told("short").0, Some(2));
    for bad in ["short", "with space and more", "semi;colon-and-more"] {
        assert!(place.fails(2, &["serve", "--token", bad, "sea.zarr"]).contains("at least 8 letters"));
    }
    place.fails(2, &["serve", "--token", "sea-of-2026", "--no-token", "sea.zarr"]);
}

#[test]
fn files_of_other_formats_are_served() {
    let place = place();
    place.ok(&["export", "sea.zarr", "sea.nc"]);
    let running = Running::new(&place, &["--no-token", "sea.nc"], 1);
    assert_eq!(running.ask("/api/v1/slice/sea.nc/depth?select=0"), "HTTP/1.1 200 OK");
    assert_eq!(running.ask("/v3/sea.nc/depth/zarr.json"), "HTTP/1.1 200 OK");
    running.end("-TERM");
}

#[test]
fn the_link_is_opened_in_the_browser() {
    let place = place();
    // The system's program for opening links.
    let name = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    place.write(name, "#!/bin/sh\nprintf %s \"$1\" > opened.part && mv opened.part opened\n");
    Command::new("chmod").arg("+x").arg(place.path(name)).status().unwrap();
    let path = format!("{}:{}", place.path("").display(), std::env::var("PATH").unwrap());
    let mut command = place.command(&["serve", "--open", "sea.zarr"]);
    let mut child = command.env("PATH", path).stdout(Stdio::piped()).spawn().unwrap();
    let link = BufReader::new(child.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    let (opened, end) = (place.path("opened"), Instant::now() + Duration::from_secs(60));
    while !opened.exists() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    let opened = std::fs::read_to_string(opened);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(opened.unwrap(), link);
}

#[test]
fn a_server_is_up_soon() {
    let place = place();
    let start = Instant::now();
    let running = Running::new(&place, &["--no-token", "sea=sea.zarr", "depth=sea.zarr/depth"], 2);
    assert_eq!(running.ask("/api/v1/slice/depth/?select=0"), "HTTP/1.1 200 OK");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert!(running.link.ends_with('/'));
    running.end("-TERM");
}

#[test]
fn a_command_beside_the_server_can_ask_it() {
    let place = place();
    let ask = r#"test -n "$ZARROX_TOKEN" && echo "$ZARROX_SERVER""#;
    let url = place.ok(&["serve", "--prefix", "/a/b/", "sea.zarr", "--", "sh", "-c", ask]);
    assert!(url.starts_with("http://127.0.0.1:") && url.trim_end().ends_with("/a/b"), "{url}");
    let failed = place.fails(1, &["serve", "sea.zarr", "--", "sh", "-c", "exit 3"]);
    assert!(failed.contains("exit status: 3"), "{failed}");
    place.fails(3, &["serve", "sea.zarr", "--", "no-such-program"]);
}

#[test]
fn roots_that_cannot_be_served_are_told_at_once() {
    let place = place();
    assert!(place.fails(3, &["serve", "nothing.zarr"]).contains("'nothing.zarr' does not exist"));
    assert!(place.fails(2, &["serve", "sea.zarr", "sea.zarr"]).contains("NAME=PATH"));
    assert!(place.fails(2, &["serve", "/"]).contains("NAME=/"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    assert!(place.fails(1, &["serve", "--port", &port, "sea.zarr"]).contains("cannot listen on"));
}
