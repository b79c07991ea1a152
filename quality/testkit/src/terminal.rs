//! Runs a program in a pseudo-terminal.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// A program in a terminal of its own.
#[derive(Debug)]
pub struct Terminal {
    master: File,
    child: Child,
    said: JoinHandle<Vec<u8>>,
}

impl Terminal {
    /// Starts a program in a terminal with this number of columns and lines.
    pub fn start(mut command: Command, (columns, lines): (u16, u16)) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })
            .unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let open = || {
            let slave = OpenOptions::new().read(true).write(true).open(OsStr::from_bytes(name.as_bytes()));
            Stdio::from(slave.unwrap())
        };
        command.stdin(open()).stdout(open()).stderr(open());
        let child = command.spawn().unwrap();
        drop(command);
        let master = File::from(master);
        let mut reader = master.try_clone().unwrap();
        let said = std::thread::spawn(move || {
            let mut said = Vec::new();
            // Reading from a closed terminal is an error.
            let _ = reader.read_to_end(&mut said);
            said
        });
        Self { master, child, said }
    }

    /// Types something.
    pub fn write(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    /// Waits for the end of the program, and returns its exit code and all that it printed.
    pub fn finish(mut self) -> (i32, String) {
        let status = self.child.wait().unwrap();
        let said = String::from_utf8(self.said.join().unwrap()).unwrap();
        (status.code().unwrap_or(-1), said.replace("\r\n", "\n"))
    }
}
