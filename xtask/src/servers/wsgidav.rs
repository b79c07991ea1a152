//! WebDAV, by WsgiDAV.

use super::install::{Need, python_program};
use super::{Server, Site, Started, free_port, started};
use crate::run::{Outcome, program};

pub(super) const SERVER: Server =
    Server { name: "webdav", needs: &[Need::Python], variables: &["WEBDAV"], start };

fn start(site: &Site) -> Outcome<Started> {
    let port = free_port()?;
    let server =
        program(python_program("wsgidav")?, ["--host=127.0.0.1", "--auth=anonymous", "--server=cheroot"])
            .with([format!("--port={port}"), format!("--root={}", site.subdirectory("root")?)]);
    let process = site.start_listening(&server, port)?;
    Ok(started(process, format!("http://127.0.0.1:{port}")))
}
