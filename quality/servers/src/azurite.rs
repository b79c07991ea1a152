//! Azure Blob Storage, by Azurite.

use super::install::{Need, node_file};
use super::server::{BUCKET, Server, Site, Started, free_port, started};
use zarrox_runner::run::{Outcome, program};

pub(super) const SERVER: Server = Server {
    name: "azure",
    needs: &[
        Need::Python,
        Need::Debian { file: "node", package: "nodejs" },
        Need::Debian { file: "npm", package: "npm" },
        Need::Node { package: "azurite", version: "3.37.0" },
    ],
    variables: &["AZURE"],
    start,
};

/// The account of every Azure emulator, which has a public key.
const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

const MAKE_CONTAINER: &str = r#"
import sys
from azure.storage.blob import BlobServiceClient
account, key, container = sys.argv[1:]
service = BlobServiceClient(account, credential=key, retry_total=0)
if container not in [each.name for each in service.list_containers()]:
    service.create_container(container)
"#;

fn start(site: &Site) -> Outcome<Started> {
    let port = free_port()?;
    let server = program("node", [node_file("azurite/dist/src/blob/main.js")?])
        .with(["--blobHost", "127.0.0.1", "--blobPort", &port.to_string()])
        .with(["--location", &site.subdirectory("data")?])
        // Clients may be newer than the server.
        .with(["--silent", "--skipApiVersionCheck", "--disableTelemetry"]);
    let mut process = site.start_listening(&server, port)?;
    let url = format!("http://127.0.0.1:{port}/{ACCOUNT}");
    site.prepare(&mut process, MAKE_CONTAINER, &[&url, KEY, BUCKET])?;
    Ok(started(process, url))
}
