//! S3, by SeaweedFS.

use super::install::{Need, python_program};
use super::server::{BUCKET, Server, Site, Started, free_port, started};
use zarrox_runner::run::{self, Outcome, program};

pub(super) const SERVER: Server = Server { name: "s3", needs: &[Need::Python], variables: &["S3"], start };

const ACCESS_KEY: &str = "AKIAEXAMPLE";
const SECRET_KEY: &str = "secretkey";

/// Creates the bucket and writes into it once: the first write takes longest, and fails until all parts of the server are
/// connected.
const MAKE_BUCKET: &str = r#"
import sys, boto3
from botocore.config import Config
endpoint, access_key, secret_key, bucket = sys.argv[1:]
s3 = boto3.client(
    "s3", endpoint_url=endpoint, aws_access_key_id=access_key, aws_secret_access_key=secret_key,
    region_name="us-east-1", config=Config(connect_timeout=5, read_timeout=10, retries={"max_attempts": 1}),
)
if bucket not in [each["Name"] for each in s3.list_buckets()["Buckets"]]:
    s3.create_bucket(Bucket=bucket)
s3.put_object(Bucket=bucket, Key="ready", Body=b"yes")
s3.delete_object(Bucket=bucket, Key="ready")
"#;

fn start(site: &Site) -> Outcome<Started> {
    let config = site.path("s3.json");
    let credentials = serde_json::json!([{ "accessKey": ACCESS_KEY, "secretKey": SECRET_KEY }]);
    let actions = ["Admin", "Read", "Write", "List", "Tagging"];
    let identity = serde_json::json!({ "name": "zarrox", "credentials": credentials, "actions": actions });
    run::write(&config, &serde_json::json!({ "identities": [identity] }).to_string())?;

    let port = free_port()?;
    let mut server =
        program(python_program("weed")?, ["server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3"])
            .with([
                format!("-dir={}", site.subdirectory("data")?),
                format!("-s3.config={config}"),
                format!("-s3.port={port}"),
            ])
            // A bucket needs about seven volumes.
            .with(["-master.volumeSizeLimitMB=64", "-volume.max=500"])
            .with(["-master.telemetry=false", "-s3.port.iceberg=0", "-s3.port.lance=0"]);
    for part in ["filer", "s3"] {
        server = server.with([format!("-{part}.localSocket={}", site.path(&format!("{part}.sock")))]);
    }
    for other in [
        "master.port",
        "volume.port",
        "filer.port",
        "master.port.grpc",
        "volume.port.grpc",
        "filer.port.grpc",
        "s3.port.grpc",
    ] {
        server = server.with([format!("-{other}={}", free_port()?)]);
    }
    let mut process = site.start_listening(&server, port)?;
    let url = format!("http://127.0.0.1:{port}");
    site.prepare(&mut process, MAKE_BUCKET, &[&url, ACCESS_KEY, SECRET_KEY, BUCKET])?;
    Ok(started(process, url))
}
