//! Servers as processes that end with this program, however it ends.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use zarrox_runner::run::{self, Outcome, Program};

/// Runs a server, and ends it when the standard input ends. That also happens when this program is killed and cannot clean up.
/// The data of servers need not be preserved, so they are killed. Their child processes end last.
const WATCH: &str = r#"
exec 3<&0
"$@" < /dev/null 3<&- &
server=$!
( read -r _ <&3; kill -s KILL $server ) &
wait $server
echo "the server ended with status $?"
kill -s KILL $! 2> /dev/null
wait
kill -s KILL 0
"#;

/// The number of lines of a log that an error quotes.
const LINES: usize = 20;

/// The pause between two checks of a server that is starting.
const PAUSE: Duration = Duration::from_millis(50);

/// A running server, with all its child processes. It ends when this value is dropped.
#[derive(Debug)]
pub(super) struct Process {
    /// The shell that watches the server, the leader of their process group.
    watch: Child,
    name: String,
    log: PathBuf,
}

impl Process {
    /// Starts a server in a directory, where it also writes its log.
    pub(super) fn start(server: &Program, name: &str, directory: &Path) -> Outcome<Self> {
        println!("$ {server}");
        let log = directory.join(format!("{name}.log"));
        let fail = |error: std::io::Error| format!("{name}: {error}");
        let file = File::create(&log).map_err(fail)?;
        let server = server.command();
        let mut watch = Command::new("sh");
        watch.args(["-c", WATCH, "sh"]).arg(server.get_program()).args(server.get_args());
        watch.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
        watch.current_dir(directory).stdin(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut watch, 0);
        let watch = watch.stdout(file.try_clone().map_err(fail)?).stderr(file).spawn().map_err(fail)?;
        Ok(Self { watch, name: name.to_owned(), log })
    }

    /// Waits until `ready` succeeds, at most for `limit`. The error has the last failure and the end of the log.
    pub(super) fn wait<T>(&mut self, limit: Duration, mut attempt: impl FnMut() -> Outcome<T>) -> Outcome<T> {
        let start = Instant::now();
        loop {
            let problem = match attempt() {
                Ok(result) => return Ok(result),
                Err(problem) => problem,
            };
            let ended = self.watch.try_wait().map_err(|error| error.to_string())?.is_some();
            if ended || start.elapsed() > limit {
                let what = if ended { "ended instead of starting" } else { "does not answer" };
                return Err(format!("{}: {what}: {problem}\n{}", self.name, self.log_end()));
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn log_end(&self) -> String {
        let text = run::read(&self.log).unwrap_or_else(|error| error);
        let lines: Vec<_> = text.lines().collect();
        let end = lines[lines.len().saturating_sub(LINES)..].join("\n");
        format!("the end of {}:\n{end}", self.log.display())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.watch.stdin.take());
        // A process that cannot be waited for is ignored.
        let _ended = self.watch.wait();
    }
}
