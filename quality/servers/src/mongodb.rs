//! MongoDB's protocol, by SecantusDB, which keeps its data in WiredTiger as MongoDB does.

use super::install::{Need, python_program};
use super::server::{Server, Site, Started, free_port, started};
use zarrox_runner::run::{Outcome, program};

pub(super) const SERVER: Server =
    Server { name: "mongodb", needs: &[Need::Python], variables: &["MONGODB"], start };

/// Checks that the server responds.
const PING: &str = r#"
import sys, pymongo
client = pymongo.MongoClient(sys.argv[1], serverSelectionTimeoutMS=1000)
client.admin.command("ping")
"#;

fn start(site: &Site) -> Outcome<Started> {
    let port = free_port()?;
    let server =
        program(python_program("secantusd-py")?, ["--host", "127.0.0.1", "--port", &port.to_string()]);
    let server = server.with(["--storage-path", &site.subdirectory("data")?]);
    let mut process = site.start_listening(&server.with(["--standalone", "--cache-size", "256M"]), port)?;
    let url = format!("mongodb://127.0.0.1:{port}/?directConnection=true");
    site.prepare(&mut process, PING, &[&url])?;
    Ok(started(process, url))
}
