//! FTP, by pyftpdlib.

use super::install::{Need, python};
use super::server::{Server, Site, Started, free_port, started};
use zarrox_runner::run::{Outcome, program};

pub(super) const SERVER: Server = Server { name: "ftp", needs: &[Need::Python], variables: &["FTP"], start };

const USER: &str = "u";
const PASSWORD: &str = "p";

fn start(site: &Site) -> Outcome<Started> {
    let port = free_port()?;
    let server = program(python()?, ["-m", "pyftpdlib", "-i", "127.0.0.1", "-p", &port.to_string(), "-w"])
        .with(["-d", &site.subdirectory("root")?, "-u", USER, "-P", PASSWORD]);
    let process = site.start_listening(&server, port)?;
    Ok(started(process, format!("ftp://{USER}:{PASSWORD}@127.0.0.1:{port}")))
}
