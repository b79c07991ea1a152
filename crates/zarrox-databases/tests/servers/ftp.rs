//! FTP: the suite, and features of FTP.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use zarrox_databases::{FtpOptions, FtpStore, registry};
use zarrox_stores::{
    AsyncStore, Blocking, Condition, Prefix, StorageOptions, Store, StoreErrorKind, StoreExt,
};
use zarrox_testkit::errors::assert_error;
use zarrox_testkit::servers::{TIMEOUT, address};
use zarrox_testkit::store::{key, store_suite};

use super::obstruction::obstruct_each_other;

fn directory() -> Option<String> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    Some(format!("{}/a b%25/ftp-{}-{count}/", address("FTP")?, std::process::id()))
}

/// Returns a new directory, which does not exist yet.
fn fresh() -> Option<Blocking<FtpStore>> {
    Some(FtpOptions::new().timeout(TIMEOUT).open(&directory()?).unwrap())
}

#[test]
fn passes_the_suite() {
    if address("FTP").is_some() {
        store_suite(|| Box::new(fresh().unwrap()));
    }
}

#[test]
fn values_and_directories_keep_out_of_each_others_way() {
    let Some(store) = fresh() else { return };
    obstruct_each_other(&store);
}

#[test]
fn temporary_files_are_not_values() {
    let Some(store) = fresh() else { return };
    let name = key("a/.zarrox-1.tmp");
    let error = store.set(&name, b"1", Condition::Always).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::InvalidKey, "{error}");
    assert_eq!(store.get(&name).unwrap(), None);
}

#[test]
fn a_wrong_password_is_forbidden_and_not_shown() {
    let Some(url) = directory() else { return };
    let store = FtpOptions::new().login("u", "hush").open(&url).unwrap();
    let error = store.get(&key("a")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Forbidden, "{error}");
    assert!(!format!("{error} {error:?} {store:?}").contains("hush"));
    assert!(!store.inner().location().contains('@'));
}

#[test]
fn a_closed_port_is_unreachable_at_once() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let start = Instant::now();
    let store = FtpOptions::new().open(&format!("ftp://me:hush@127.0.0.1:{port}/x")).unwrap();
    let error = store.list_dir(&Prefix::root()).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(store.inner().location(), format!("ftp://127.0.0.1:{port}/x"));
    for url in ["http://host/", "host", "ftp://", "ftp://me%0D%0ADELE x:p@host/"] {
        assert_error(FtpOptions::new().open(url), StoreErrorKind::Other, "must have the form");
    }
}

#[test]
fn a_server_that_says_nothing_is_timed_out() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ftp://{}", listener.local_addr().unwrap());
    let store = FtpOptions::new().timeout(Duration::from_millis(200)).open(&url).unwrap();
    assert_eq!(store.get(&key("a")).unwrap_err().kind(), StoreErrorKind::TimedOut);
}

/// Starts a server that sends a fixed reply to each command. Commands without a reply succeed.
fn scripted(answers: &'static [(&'static str, &'static str)]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ftp://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            connection.write_all(b"220 ready\r\n").unwrap();
            for line in BufReader::new(connection.try_clone().unwrap()).lines() {
                let Ok(line) = line else { break };
                let answer = answers.iter().find(|(command, _)| line.starts_with(command));
                let answer = match (answer, line.split(' ').next()) {
                    (Some((_, answer)), _) => *answer,
                    (None, Some("USER")) => "331 password required",
                    (None, Some("PASS")) => "230-welcome\r\n230 in",
                    (None, Some("PWD")) => "257 \"/home\"",
                    (None, _) => "200 fine",
                };
                if connection.write_all(format!("{answer}\r\n").as_bytes()).is_err() {
                    break;
                }
            }
        }
    });
    url
}

/// Starts a server that returns an error for a file once, and then has the file, as if another client wrote it in
/// between. The listing shows the file.
fn written_concurrently() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ftp://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut refused = Vec::new();
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            connection.write_all(b"220 ready\r\n").unwrap();
            let mut data = TcpListener::bind("127.0.0.1:0").unwrap();
            for line in BufReader::new(connection.try_clone().unwrap()).lines() {
                let Ok(line) = line else { break };
                let command = line.split(' ').next().unwrap().to_owned();
                if command == "PASV" {
                    data = TcpListener::bind("127.0.0.1:0").unwrap();
                }
                let port = data.local_addr().unwrap().port();
                let passive = format!("227 here (127,0,0,1,{},{})", port >> 8, port & 255);
                let sent = match command.as_str() {
                    "MLSD" => Some("type=file;size=5; v\r\n"),
                    "RETR" if refused.contains(&command) => Some("value"),
                    _ => None,
                };
                let answer = match command.as_str() {
                    "USER" => "230 in",
                    "PWD" => "257 \"/home\"",
                    "PASV" => &passive,
                    "SIZE" | "RETR" | "DELE" if !refused.contains(&command) => {
                        refused.push(command);
                        "550 not retrievable"
                    }
                    "SIZE" => "213 5",
                    _ if sent.is_some() => "150 here it comes",
                    "DELE" => "250 deleted",
                    _ => "200 fine",
                };
                connection.write_all(format!("{answer}\r\n").as_bytes()).unwrap();
                if let Some(sent) = sent {
                    data.accept().unwrap().0.write_all(sent.as_bytes()).unwrap();
                    connection.write_all(b"226 done\r\n").unwrap();
                }
            }
        }
    });
    url
}

#[test]
fn a_file_that_is_written_between_two_answers_is_read() {
    let store = FtpOptions::new().connections(1).open(&written_concurrently()).unwrap();
    assert_eq!(store.size(&key("v")).unwrap(), Some(5));
    assert_eq!(store.get(&key("v")).unwrap().unwrap(), "value");
    assert!(store.erase(&key("v")).unwrap());
}

#[test]
fn refusals_keep_their_kinds() {
    let script = Box::leak(Box::new([("SIZE", "550 No such file")]));
    let missing = FtpOptions::new().open(&scripted(script)).unwrap();
    assert_eq!(missing.size(&key("a/b")).unwrap(), None);
    let cases = [
        ("550 Permission denied", StoreErrorKind::Forbidden),
        ("530 Not logged in", StoreErrorKind::Forbidden),
        ("421 Too many connections", StoreErrorKind::Unreachable),
        ("451 Local error", StoreErrorKind::Unreachable),
        ("502 Not implemented", StoreErrorKind::Unsupported),
    ];
    for (answer, kind) in cases {
        let script = Box::leak(Box::new([("SIZE", answer), ("PASV", answer)]));
        let store = FtpOptions::new().open(&scripted(script)).unwrap();
        for error in [store.size(&key("a")).unwrap_err(), store.get(&key("a")).unwrap_err()] {
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(&answer[4..]), "{error}");
        }
    }
}

#[test]
fn urls_name_directories_of_the_user_and_of_the_server() {
    let Some(url) = address("FTP") else { return };
    let name = key(&format!("urls-{}/a b/v", std::process::id()));
    let options = StorageOptions::new();
    let written = registry().open(&format!("{url}/{}", name.as_str().replace(' ', "%20")), &options).unwrap();
    assert_eq!((written.path.as_str(), written.whole), (name.as_str(), false));
    written.store.set(&name, b"v", Condition::Always).unwrap();
    // The initial directory of the user is the root of this server.
    let (_, host) = url.split_once('@').unwrap();
    let options = options.with("user", "u").with("password", "p");
    let read = registry().open(&format!("ftp://{host}//{name}"), &options).unwrap();
    assert_eq!(read.path, written.path);
    assert_eq!(read.store.get(&name).unwrap().unwrap(), "v");
    assert!(registry().open("ftp:///a", &options).is_err());
    assert!(registry().open("ftp://host/%ff", &options).is_err());
}

/// A collector of the log of the FTP client.
struct Log(Mutex<String>);

impl log::Log for Log {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target().starts_with("suppaftp")
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            self.0.lock().unwrap().push_str(&format!("{}\n", record.args()));
        }
    }

    fn flush(&self) {}
}

#[test]
fn no_log_has_the_password() {
    static LOG: Log = Log(Mutex::new(String::new()));
    log::set_logger(&LOG).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
    let url = scripted(&[("SIZE", "550 No such file")]);
    let store = FtpOptions::new().login("me", "unheard-of").open(&url).unwrap();
    assert_eq!(store.size(&key("a")).unwrap(), None);
    let text = LOG.0.lock().unwrap();
    assert!(text.contains("USER me") && !text.contains("unheard-of"), "{text}");
}
