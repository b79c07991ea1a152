//! Hierarchies of many formats in many stores, and a client in this process.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::path::{Path, PathBuf};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt;
use zarrox::codecs::{Zlib, Zstd};
use zarrox::{Array, DataType, DynArray, Format, OpenOptions, s};
use zarrox_serve::Server;

/// The response to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap().to_owned()
    }
}

/// A client of a server in this process.
pub(crate) struct Client {
    router: Router,
    runtime: Option<tokio::runtime::Runtime>,
}

/// Dropping a client does not wait for work on hanging stores.
impl Drop for Client {
    fn drop(&mut self) {
        self.runtime.take().unwrap().shutdown_background();
    }
}

impl Client {
    pub(crate) fn new(server: Server) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let router = server.into_router("127.0.0.1:8000".parse().unwrap()).unwrap();
        Self { router, runtime: Some(runtime) }
    }

    pub(crate) fn ask(&self, method: &str, uri: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = Request::builder().method(method).uri(uri);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "localhost:8000");
        }
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        self.send(request.body(Body::empty()).unwrap())
    }

    pub(crate) fn send(&self, request: Request<Body>) -> Answer {
        self.runtime.as_ref().unwrap().block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let body = body.collect().await.unwrap().to_bytes().to_vec();
            Answer { status: parts.status.as_u16(), headers: parts.headers, body }
        })
    }

    pub(crate) fn get(&self, uri: &str) -> Answer {
        self.ask("GET", uri, &[])
    }

    /// Returns a response, which must be successful.
    pub(crate) fn ok(&self, uri: &str) -> Answer {
        let answer = self.get(uri);
        assert_eq!(
            answer.status,
            StatusCode::OK.as_u16(),
            "{uri}: {}",
            String::from_utf8_lossy(&answer.body)
        );
        answer
    }

    pub(crate) fn json(&self, uri: &str) -> Value {
        self.ok(uri).json()
    }
}

/// Returns the element of the test's arrays at an index.
pub(crate) fn element(y: usize, x: usize) -> i32 {
    i32::try_from(100 * y + x).unwrap() - 50
}

/// Values of an array of seven rows and ten columns.
pub(crate) fn values() -> ndarray::Array2<i32> {
    ndarray::Array2::from_shape_fn((7, 10), |(y, x)| element(y, x))
}

fn written(array: &Array) {
    array.write(.., values()).unwrap();
    let first = vec![0; array.ndim()];
    array.raw().erase(&first).unwrap();
    array.flush().unwrap();
}

/// Makes all files of a directory older. A file that was changed just now has no entity tag, since another change might
/// go unnoticed.
pub(crate) fn aged(path: &Path) {
    let before = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    for entry in std::fs::read_dir(path).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => aged(&entry.path()),
            kind if kind.is_file() => {
                std::fs::File::options()
                    .write(true)
                    .open(entry.path())
                    .unwrap()
                    .set_modified(before)
                    .unwrap();
            }
            _ => {}
        }
    }
}

/// A directory with a hierarchy for each of several formats and stores. In each hierarchy, the array `g/a` lacks its
/// first chunk.
pub(crate) struct Place {
    directory: TempDir,
}

/// The names of the hierarchies of a [`Place`].
pub(crate) const NAMES: [&str; 8] =
    ["v1.zarr", "v2.zarr", "v3.zarr", "shards.zarr", "some.n5", "draft.zarr", "some.zip", "some.sqlite"];

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        for name in NAMES {
            place.make(name);
        }
        aged(place.directory.path());
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Returns the path or URL of a hierarchy.
    pub(crate) fn url(&self, name: &str) -> String {
        let path = self.path(name).to_str().unwrap().to_owned();
        if name.ends_with(".sqlite") { format!("sqlite://{path}") } else { path }
    }

    fn make(&self, name: &str) {
        let options = OpenOptions::new();
        let (format, array) = match name {
            "v1.zarr" => (Format::V1, ""),
            "v2.zarr" | "some.zip" | "some.sqlite" => (Format::V2, "g/a"),
            "some.n5" => (Format::N5, "g/a"),
            "draft.zarr" => (Format::all().find(|format| format.to_string() == "v3-draft").unwrap(), "g/a"),
            _ => (Format::V3, "g/a"),
        };
        let url = self.url(name);
        let path = if array.is_empty() { url } else { format!("{url}/{array}") };
        let builder = options.format(format).create_array(path).shape([7, 10]).chunks([2, 5]);
        let builder = builder.data_type(DataType::Int32);
        let builder = match name {
            "shards.zarr" => builder.shards([4, 10]).compressor(Zstd::level(1)),
            "v1.zarr" | "some.n5" | "draft.zarr" => builder.compressor(Zlib::level(1)),
            _ => builder.compressor(Zstd::level(1)),
        };
        written(&builder.create().unwrap());
    }

    /// Returns a server of all hierarchies, each under its name, without a token.
    pub(crate) fn server(&self) -> Server {
        let server = Server::new().token(None);
        NAMES.iter().fold(server, |server, name| server.root(*name, self.url(name)).unwrap())
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.server())
    }
}

/// Returns the path of the array in a hierarchy, with a leading slash; empty for an array at the root.
pub(crate) fn array_of(name: &str) -> &'static str {
    if name == "v1.zarr" { "" } else { "/g/a" }
}

/// Returns the values of the array in a hierarchy. The first chunk, or the first inner chunk of a shard, is missing.
pub(crate) fn expected(name: &str) -> ndarray::Array2<i32> {
    let mut values = values();
    let (rows, columns) = if name == "shards.zarr" { (4, 10) } else { (2, 5) };
    values.slice_mut(ndarray::s![..rows, ..columns]).fill(0);
    values
}

/// A hierarchy with arrays of many types.
pub(crate) fn typed(path: &Path) {
    let root = zarrox::create_group(path).unwrap();
    let float = root.create_array("float").shape([4, 6]).chunks([2, 3]).data_type(DataType::Float32);
    let float = float.dimension_names(["y", "x"]).create().unwrap();
    let numbers = ndarray::Array2::from_shape_fn((4, 6), |(y, x)| (10.0 * y as f32) + x as f32);
    float.write(.., &numbers).unwrap();
    float.write(s![3, 5], f32::NAN).unwrap();
    let registry = zarrox::codecs::registry();
    let data_type = |name: &str| DataType::parse(name, &registry).unwrap();
    let add = |name: &str, data_type: DataType, json: Value| {
        let json = zarrox::json::parse(json.to_string().as_bytes()).unwrap();
        let values = DynArray::from_json(data_type.clone(), &json, &registry).unwrap();
        let shape: Vec<u64> = values.shape().iter().map(|&n| n as u64).collect();
        let array = root.create_array(name).shape(shape).data_type(data_type).create().unwrap();
        array.write(.., &values).unwrap();
    };
    add("text", data_type("string"), serde_json::json!(["ä", "", "long text"]));
    add("complex", DataType::Complex64, serde_json::json!([[3.0, 4.0], [0.0, -1.0]]));
    add("bool", DataType::Bool, serde_json::json!([true, false, true]));
    add("half", data_type("bfloat16"), serde_json::json!([1.5, -2.0]));
    add("scalar", DataType::Int8, serde_json::json!(-7));
    let bytes = root.create_array("rgb").shape([2, 2, 3]).data_type(DataType::UInt8).create().unwrap();
    bytes.write(s![0, 0, 1], 255_u8).unwrap();
}
