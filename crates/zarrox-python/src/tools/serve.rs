//! An HTTP server for arrays and groups, which runs on a separate thread.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use zarrox_serve::{Roots, StopHandle};

use crate::array::{Array, Opened};
use crate::context::open_options;
use crate::error::{OrRaise, raise};
use crate::group::Group;
use crate::store::Owned;

/// A server that runs until it is closed.
#[pyclass(frozen, module = "zarrox._native")]
pub(crate) struct Server {
    url: String,
    link: String,
    frame_path: String,
    port: u16,
    token: Option<String>,
    roots: Roots,
    added: Mutex<Vec<Added>>,
    stop: StopHandle,
    thread: Mutex<Option<JoinHandle<zarrox::Result<()>>>>,
    /// The ID of the process that runs the thread. After a fork, the child process has a copy of this object.
    process: u32,
}

/// A store that was added while the server was running.
struct Added {
    /// The location of the store, which is the same for all its handles.
    location: String,
    /// The name of its root.
    name: String,
    /// The Python objects of the store, which are kept alive so that no other object reuses their addresses.
    _owned: Owned,
}

/// Starts a server for roots, each of which is a name with a path or URL.
#[pyfunction]
#[pyo3(signature = (roots, bind, port, token, origins, hosts, prefix))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the Python function")]
pub(crate) fn serve(
    py: Python<'_>,
    roots: Vec<(String, String)>,
    bind: &str,
    port: u16,
    token: bool,
    origins: Vec<String>,
    hosts: Vec<String>,
    prefix: &str,
) -> PyResult<Server> {
    let bind: IpAddr =
        bind.parse().map_err(|_| PyValueError::new_err(format!("'{bind}' is not an IP address")))?;
    let mut server = zarrox_serve::Server::new().bind_to(bind).port(port).prefix(prefix);
    if !token {
        server = server.token(None);
    }
    server = origins.into_iter().fold(server, zarrox_serve::Server::allow_origin);
    server = hosts.into_iter().fold(server, zarrox_serve::Server::allow_host);
    let options = open_options();
    let bound = py.detach(|| {
        let server = roots
            .into_iter()
            .try_fold(server, |server, (name, place)| server.root_with(name, place, &options));
        server.and_then(zarrox_serve::Server::bind)
    });
    let bound = bound.map_err(|error| raise(&error))?;
    Ok(Server {
        url: bound.url(),
        link: bound.link(),
        frame_path: bound.frame_path(),
        port: bound.address().port(),
        token: bound.token().map(str::to_owned),
        roots: bound.shared_roots(),
        added: Mutex::default(),
        stop: bound.stop_handle(),
        thread: Mutex::new(Some(thread::spawn(move || bound.run()))),
        process: std::process::id(),
    })
}

/// Returns a name for the root of a store: the last component of its path, or the kind of the store.
fn name_of(location: &str) -> &str {
    // If chunks are in a separate store, the name is that of the store with the documents.
    let location = location.split(" (chunks in ").next().unwrap_or(location);
    let (scheme, path) = location.split_once("://").unwrap_or(("store", location));
    // Memory stores are distinguished by number, and Python mappings by address.
    let is_number = path.starts_with("0x") || path.bytes().all(|byte| byte.is_ascii_digit());
    let mut names = path.split(['/', '\\']).filter(|name| !name.is_empty());
    names.next_back().filter(|name| !is_number && !matches!(*name, "." | "..")).unwrap_or(scheme)
}

impl Server {
    /// Adds the store of a node to the server, and returns the name of its root.
    fn add_opened(&self, py: Python<'_>, opened: &Opened) -> zarrox::Result<String> {
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        let location = opened.store.location();
        if let Some(known) = added.iter().find(|known| known.location == location) {
            return Ok(known.name.clone());
        }
        let base = name_of(&location).replace('\0', "_");
        let numbered = (2..).map(|number| format!("{base}-{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let name = names.find(|name| added.iter().all(|known| known.name != *name)).unwrap_or(base);
        self.roots.add(&name, (opened.store.clone(), ""), &open_options())?;
        added.push(Added { location, name: name.clone(), _owned: opened.owned.again(py) });
        Ok(name)
    }
}

#[pymethods]
impl Server {
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    #[getter]
    fn link(&self) -> &str {
        &self.link
    }

    #[getter]
    fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    #[getter]
    fn frame_path(&self) -> &str {
        &self.frame_path
    }

    #[getter]
    fn port(&self) -> u16 {
        self.port
    }

    fn add(&self, py: Python<'_>, node: &Bound<'_, PyAny>) -> PyResult<String> {
        match node.cast::<Array>() {
            Ok(array) => self.add_opened(py, array.get().opened()),
            Err(_) => self.add_opened(py, node.cast::<Group>()?.get().opened()),
        }
        .or_raise()
    }

    /// Stops the server, and waits until it has ended.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.process != std::process::id() {
            return Ok(());
        }
        self.stop.stop();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return Ok(()) };
        match py.detach(|| thread.join()) {
            Ok(done) => done.map_err(|error| raise(&error)),
            Err(_) => Err(PyRuntimeError::new_err("the server's thread has panicked")),
        }
    }
}

/// Stops the server: without this object, its address is unknown.
impl Drop for Server {
    fn drop(&mut self) {
        // In a child process, locks that other threads held during the fork are never released.
        if self.process == std::process::id() {
            self.stop.stop();
        }
    }
}
