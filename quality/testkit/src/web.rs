//! A web server for the files of a directory, without dependencies: no ranges, no listings, no encryption.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::{fs, thread};

/// Serves the files below a directory as long as the process lives, and returns the URL of the directory.
///
/// # Errors
///
/// When no port can be opened.
pub fn serve(root: impl Into<PathBuf>) -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    let root = root.into();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let root = root.clone();
            // A disconnected client ends only its own connection.
            thread::spawn(move || drop(answer(&root, &stream)));
        }
    });
    Ok(url)
}

/// Responds to the requests of one connection.
fn answer(root: &Path, stream: &TcpStream) -> io::Result<()> {
    let mut request = String::new();
    for line in BufReader::new(stream).lines() {
        let line = line?;
        if request.is_empty() {
            request = line;
        } else if line.is_empty() {
            send(root, &std::mem::take(&mut request), stream)?;
        }
    }
    Ok(())
}

fn send(root: &Path, request: &str, mut stream: &TcpStream) -> io::Result<()> {
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, bytes) = match fs::read(root.join(path.trim_start_matches('/'))) {
        Ok(bytes) => ("200 OK", bytes),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let mut message = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", bytes.len()).into_bytes();
    if method == "GET" {
        message.extend(bytes);
    }
    stream.write_all(&message)
}
