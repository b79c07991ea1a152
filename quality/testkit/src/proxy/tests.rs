//! The proxy before a server that answers every line by `<line>!`, and HTTP requests by an empty response.

use std::io::{BufRead, BufReader};

use super::*;

/// The time that a test waits for data that should not arrive.
const MOMENT: Duration = Duration::from_millis(50);

/// Starts a server that echoes lines, as long as the test runs.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(|| echo(&stream.unwrap()));
        }
    });
    format!("tcp://u:p@{address}/a?b")
}

fn echo(mut stream: &TcpStream) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|length| length > 0) {
        let answer = format!("{}!\n", line.trim_end());
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
        line.clear();
    }
}

fn connect(proxy: &Proxy) -> TcpStream {
    TcpStream::connect(authority(proxy.url())).unwrap()
}

/// Sends a line, and returns the response: less than a line if the connection is cut.
fn ask(mut stream: &TcpStream, line: &str) -> io::Result<String> {
    stream.write_all(format!("{line}\n").as_bytes())?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    Ok(answer)
}

/// Returns a connection that is cut: the end, or an error.
fn is_cut(outcome: &io::Result<String>) -> bool {
    outcome.as_ref().map_or(true, String::is_empty)
}

#[test]
fn bytes_go_both_ways_and_connections_are_counted() {
    let proxy = Proxy::new(&server()).unwrap();
    assert!(
        proxy.url().starts_with("tcp://u:p@127.0.0.1:") && proxy.url().ends_with("/a?b"),
        "{}",
        proxy.url()
    );
    let streams = [connect(&proxy), connect(&proxy)];
    for stream in &streams {
        assert_eq!(ask(stream, "a").unwrap(), "a!\n");
        assert_eq!(ask(stream, "b").unwrap(), "b!\n");
    }
    assert_eq!(proxy.connections(), 2);
    proxy.reset();
    assert_eq!(proxy.connections(), 0);
    assert!(Proxy::new("nowhere").is_err());
}

#[test]
fn requests_are_listed() {
    let proxy = Proxy::new(&server()).unwrap();
    let mut stream = connect(&proxy);
    for request in ["GET /a HTTP/1.1\r\nRange: bytes=-5\r\n\r\n", "GET /b HTTP/1.1\r\n\r\n"] {
        stream.write_all(request.as_bytes()).unwrap();
        // Each line is echoed: after the last echo, the whole request has arrived.
        let echoes = BufReader::new(&stream).lines().take(request.lines().count());
        echoes.for_each(|echo| drop(echo.unwrap()));
    }
    assert_eq!(proxy.requests(), ["GET /a bytes=-5", "GET /b"]);
    proxy.reset();
    assert_eq!(proxy.requests(), [""; 0]);
}

#[test]
fn a_delay_makes_the_line_longer_and_not_narrower() {
    let delay = Duration::from_millis(60);
    let proxy = Proxy::new(&server()).unwrap();
    let stream = connect(&proxy);
    ask(&stream, "warm").unwrap();
    proxy.set_delay(delay);
    let begin = Instant::now();
    ask(&stream, "a").unwrap();
    assert!(begin.elapsed() >= delay, "{:?}", begin.elapsed());

    // All lines are in transit at the same time.
    let lines = 50_u32;
    let begin = Instant::now();
    for line in 0..lines {
        (&stream).write_all(format!("{line}\n").as_bytes()).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
    let answers = BufReader::new(&stream).lines().take(50);
    assert!(answers.enumerate().all(|(line, answer)| answer.unwrap() == format!("{line}!")));
    assert!((delay..delay * lines / 4).contains(&begin.elapsed()), "{:?}", begin.elapsed());
}

#[test]
fn connections_are_cut_after_bytes_as_often_as_asked_for() {
    let proxy = Proxy::new(&server()).unwrap();
    proxy.cut(After::Bytes(5), 2);
    let first = connect(&proxy);
    assert_eq!(ask(&first, "a").unwrap(), "a!\n");
    assert_eq!(ask(&first, "b").unwrap(), "b!");
    assert!(is_cut(&ask(&first, "c")));
    assert_eq!(ask(&connect(&proxy), "abcdef").unwrap(), "abcde");
    assert_eq!(ask(&connect(&proxy), "abcdef").unwrap(), "abcdef!\n");
}

#[test]
fn an_answer_is_lost_as_a_whole() {
    let proxy = Proxy::new(&server()).unwrap();
    proxy.cut(After::Answers(2), 1);
    let stream = connect(&proxy);
    assert_eq!(ask(&stream, "a").unwrap(), "a!\n");
    assert_eq!(ask(&stream, "b").unwrap(), "b!\n");
    assert!(is_cut(&ask(&stream, "c")));
    assert_eq!(ask(&connect(&proxy), "d").unwrap(), "d!\n");
}

#[test]
fn connections_are_refused_until_it_is_mended() {
    let proxy = Proxy::new(&server()).unwrap();
    let open = connect(&proxy);
    ask(&open, "a").unwrap();
    for _ in 0..3 {
        proxy.refuse();
        assert!(is_cut(&ask(&open, "b")));
        let error = TcpStream::connect(authority(proxy.url())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        proxy.mend();
        assert_eq!(ask(&connect(&proxy), "c").unwrap(), "c!\n");
    }
    proxy.refuse();
}

#[test]
fn a_stalled_server_says_nothing_and_is_cut_when_mended() {
    let proxy = Proxy::new(&server()).unwrap();
    let open = connect(&proxy);
    ask(&open, "a").unwrap();
    proxy.stall();
    let streams = [open, connect(&proxy)];
    for stream in &streams {
        stream.set_read_timeout(Some(MOMENT)).unwrap();
        let error = ask(stream, "b").unwrap_err();
        assert!(matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut), "{error}");
    }
    proxy.mend();
    assert!(streams.iter().all(|stream| is_cut(&ask(stream, "c"))));
    assert_eq!(ask(&connect(&proxy), "d").unwrap(), "d!\n");
}

#[test]
fn all_ends_with_the_proxy() {
    let proxy = Proxy::new(&server()).unwrap();
    let stream = connect(&proxy);
    ask(&stream, "a").unwrap();
    drop(proxy);
    assert!(is_cut(&ask(&stream, "b")));
}

#[test]
fn a_server_that_is_gone_is_as_a_connection_that_is_cut() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let proxy = Proxy::new(&gone.to_string()).unwrap();
    assert!(is_cut(&ask(&connect(&proxy), "a")));
}
