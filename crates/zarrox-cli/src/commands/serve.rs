//! `zarrox serve`: serves arrays and groups over HTTP.

use std::env::VarError;
use std::io::Write;
use std::net::IpAddr;
use std::path::{Component, Path};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use clap::Args;
use zarrox::stores::internals::is_url;
use zarrox::{Error, ErrorKind, OpenMode, Result};
use zarrox_serve::{Bound, Server, StopHandle};

use crate::args::Global;
use crate::exit::{Failure, note, usage};
use crate::files::failed;
use crate::interrupt;
use crate::opening;

/// The environment variable that contains the token.
const TOKEN: &str = "ZARROX_TOKEN";

/// Serve arrays, groups and hierarchies over HTTP: for browsers, scripts and Zarr clients
///
/// The printed link opens a page that shows the hierarchies. /data/NAME/ serves the stored bytes unchanged, /v3/NAME/ serves
/// hierarchies of all formats and stores as Zarr 3, and /api/v1/ serves the requests of the page. The server is read-only.
///
/// By default, the server listens only on the loopback address (see --bind), and requests need the token of the link. Zarr
/// clients send the token as the header 'Authorization: Bearer TOKEN'. The token is a new one for each server, unless --token or the
/// environment variable ZARROX_TOKEN gives one. With -- COMMAND, the server runs as long as the command,
/// which finds the address and the token in the environment variables ZARROX_SERVER and ZARROX_TOKEN.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The arrays, groups, directories or buckets with hierarchies, or files that `import` reads and kerchunk references: PATH, or
    /// NAME=PATH for another name in addresses than the last component of the path
    #[arg(value_name = "PATH", required = true)]
    roots: Vec<String>,

    /// The address to listen on; 0.0.0.0 for all interfaces
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: IpAddr,

    /// The port [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// The token, so that links remain valid when the server is started again; at least 8 letters, digits, '-', '_', '.' or '~'. Other
    /// users may see the command line, but not the environment variable ZARROX_TOKEN [default: a random one]
    #[arg(long, value_name = "TOKEN", hide_default_value = true)]
    token: Option<String>,

    /// Respond to requests without a token
    #[arg(long, conflicts_with = "token")]
    no_token: bool,

    /// Open the link in the browser
    #[arg(long)]
    open: bool,

    /// Allow requests from pages of another origin (CORS), such as <https://viewer.example.org>; `*` allows all
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,

    /// Also accept this host name, such as that of a proxy
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,

    /// The path prefix of a proxy, such as /user/me/proxy/8000
    #[arg(long, value_name = "PATH", default_value = "", hide_default_value = true)]
    prefix: String,

    /// The timeout of a request, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    time_limit: u64,

    /// A command to run; the server ends when the command ends
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Serve {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        let server = self.server(global)?.bind()?;
        let stop = server.stop_handle();
        let stopped = stop.clone();
        interrupt::catch_and(move || stopped.stop());
        if interrupt::seen() {
            return Ok(());
        }
        if self.command.is_empty() {
            writeln!(out, "{}", server.link())?;
            for (name, url) in server.roots() {
                writeln!(out, "  {}  {url}", crate::exit::printable(&name))?;
            }
            out.flush()?;
            if self.open {
                open(&server.link());
            }
            return Ok(server.run()?);
        }
        self.beside(server, &stop)
    }

    fn server(&self, global: &Global) -> Result<Server> {
        let mut server = Server::new()
            .bind_to(self.bind)
            .port(self.port)
            .prefix(self.prefix.clone())
            .time_limit(Duration::from_secs(self.time_limit.max(1)));
        if self.no_token {
            server = server.token(None);
        } else if let Some(token) = self.token()? {
            server = server.token(Some(token));
        }
        server = self.allow_origin.iter().fold(server, Server::allow_origin);
        server = self.allow_host.iter().fold(server, Server::allow_host);
        let options = global.options().mode(OpenMode::Read);
        for root in &self.roots {
            let (name, place) = named(root)?;
            // Remote paths are not checked at the start: the check may take long, and requests report errors anyway.
            if let Some(path) = opening::local(&place).filter(|path| !path.exists()) {
                let message = format!("'{}' does not exist", path.display());
                return Err(Error::new(ErrorKind::NotFound, message));
            }
            server = server.root_with(name, &place, &options)?;
        }
        Ok(server)
    }

    /// Returns the token that was given.
    fn token(&self) -> Result<Option<String>> {
        if self.token.is_some() {
            return Ok(self.token.clone());
        }
        match std::env::var(TOKEN) {
            Ok(token) => Ok(Some(token).filter(|token| !token.is_empty())),
            Err(VarError::NotPresent) => Ok(None),
            Err(VarError::NotUnicode(_)) => {
                Err(Error::new(ErrorKind::InvalidArgument, format!("{TOKEN} is not Unicode")))
            }
        }
    }

    /// Runs a command while the server is running, and fails if the command fails.
    fn beside(&self, server: Bound, stop: &StopHandle) -> Result<(), Failure> {
        let (program, arguments) =
            self.command.split_first().ok_or_else(|| usage("the command is missing"))?;
        let (url, token) = (server.url(), server.token().unwrap_or_default().to_owned());
        let running = thread::spawn(move || server.run());
        let child =
            Command::new(program).args(arguments).env("ZARROX_SERVER", url).env(TOKEN, token).status();
        stop.stop();
        let served = running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let status = child.map_err(|error| failed(&format!("running '{program}'"), error))?;
        served?;
        if status.success() {
            return Ok(());
        }
        let message = format!("'{program}' failed: {status}");
        Err(Error::new(ErrorKind::Interrupted, message).into())
    }
}

/// Splits a root into its name and its path. A root is `NAME=PATH`, or a path whose last component is the name.
fn named(root: &str) -> Result<(String, String)> {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    // The name of a directory may contain an equals sign.
    let pair = root.split_once('=').filter(|(name, _)| is_name(name) && !Path::new(root).exists());
    if let Some((name, place)) = pair {
        return Ok((name.to_owned(), place.to_owned()));
    }
    let name = match opening::local(root) {
        Some(path) => name_of(path),
        None => last_of_url(root),
    };
    let name = name.ok_or_else(|| usage(format!("'{root}' has no name; give it one with NAME={root}")))?;
    Ok((name, root.to_owned()))
}

/// Returns the last component of a path. For `.` and `..`, it is the name of that directory.
fn name_of(path: &Path) -> Option<String> {
    let is_plain = matches!(path.components().next_back(), Some(Component::Normal(_)));
    let path = if is_plain { path.to_owned() } else { path.canonicalize().ok()? };
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// Returns the last component of a URL, without the query and the fragment.
fn last_of_url(url: &str) -> Option<String> {
    debug_assert!(is_url(url));
    let plain = url.split(['?', '#']).next().unwrap_or(url);
    let mut segments = plain.rsplit(['/', ':']).filter(|segment| !segment.is_empty());
    segments.next().filter(|_| plain.contains('/')).map(str::to_owned)
}

/// Opens a link in the browser. If there is no browser, the user still has the printed link.
fn open(link: &str) {
    let (program, arguments): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if command.spawn().is_err() {
        note(&format!("cannot run '{program}' to open a browser; open the printed link"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_have_the_last_name_of_their_path_or_another() {
        let of = |root: &str| named(root).ok();
        let pair = |name: &str, place: &str| Some((name.to_owned(), place.to_owned()));
        assert_eq!(of("data/a.zarr"), pair("a.zarr", "data/a.zarr"));
        assert_eq!(of("data/a.zarr/"), pair("a.zarr", "data/a.zarr/"));
        assert_eq!(of("sea=data/a.zarr"), pair("sea", "data/a.zarr"));
        assert_eq!(of("sea=s3://bucket/a=b.zarr"), pair("sea", "s3://bucket/a=b.zarr"));
        assert_eq!(of("s3://bucket/x=1/b.zarr"), pair("b.zarr", "s3://bucket/x=1/b.zarr"));
        assert_eq!(
            of("https://example.org/c.zarr?key=1"),
            pair("c.zarr", "https://example.org/c.zarr?key=1")
        );
        assert!(of(".").is_some_and(|(name, _)| name != "." && !name.is_empty()));
        assert_eq!(of("/"), None);
    }
}
