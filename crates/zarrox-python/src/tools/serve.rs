//! The server of arrays and groups over HTTP, on a thread of its own.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use zarrox_serve::StopHandle;

use crate::context::open_options;
use crate::error::raise;

/// A server that runs until it is closed.
#[pyclass(frozen, module = "zarrox._native")]
pub(crate) struct Server {
    url: String,
    link: String,
    token: Option<String>,
    stop: StopHandle,
    thread: Mutex<Option<JoinHandle<zarrox::Result<()>>>>,
}

/// Starts a server of roots: their names, and their paths or URLs.
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
    let bind: IpAddr = bind.parse().map_err(|_| PyValueError::new_err(format!("'{bind}' is no address")))?;
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
    let (url, link, token) = (bound.url(), bound.link(), bound.token().map(str::to_owned));
    let stop = bound.stop_handle();
    let thread = Mutex::new(Some(thread::spawn(move || bound.run())));
    Ok(Server { url, link, token, stop, thread })
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

    /// Stops the server, and waits until it has.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.stop.stop();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return Ok(()) };
        match py.detach(|| thread.join()) {
            Ok(done) => done.map_err(|error| raise(&error)),
            Err(_) => Err(PyRuntimeError::new_err("the server's thread has panicked")),
        }
    }
}

/// Nobody can ask who has forgotten the address.
impl Drop for Server {
    fn drop(&mut self) {
        self.stop.stop();
    }
}
