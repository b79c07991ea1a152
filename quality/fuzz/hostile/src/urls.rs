//! Requests of any kind to a server of intact, damaged and enormous hierarchies.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::{CONTENT_LENGTH, HOST, HeaderName};
use axum::http::{HeaderValue, Method, Request, StatusCode};
use ndarray::Array2;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;
use zarrox::json::Json;
use zarrox::stores::{MemoryStore, Store};
use zarrox::{DataType, Group, OpenOptions, Result, s};
use zarrox_serve::Server;

use crate::bases;
use crate::contents::{Contents, store_of};

/// The name of the fuzz target.
pub const NAME: &str = "urls";

/// The longest time of a response: the hierarchies are small, but the machine may be busy.
const LONGEST: Duration = Duration::from_secs(10);

/// The longest body, in bytes: a response is never larger than the memory limit of the server.
const LARGEST: usize = 256 << 20;

/// A client that checks the guarantees of all responses of a server in this process.
#[derive(Debug)]
pub struct Asker {
    router: Router,
    runtime: Runtime,
}

/// The parts of a response that the guarantees concern.
struct Answer {
    status: StatusCode,
    length: Option<HeaderValue>,
    body: Vec<u8>,
}

impl Asker {
    /// Sets up a server without a listener.
    ///
    /// # Errors
    /// When the server cannot be set up, or a thread cannot be started.
    pub fn new(server: Server) -> Result<Self> {
        let failed = |error: io::Error| {
            zarrox::Error::new(
                zarrox::ErrorKind::Unreachable,
                format!("the threads cannot be started: {error}"),
            )
        };
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(failed)?;
        let router = server.into_router(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 8000))?;
        Ok(Self { router, runtime })
    }

    /// Sends a request, by default with the header `Host: localhost`, and returns the status of the response. An invalid request
    /// is not sent, and has the status 400.
    ///
    /// # Errors
    /// The guarantee that the response violates. A response arrives in time, is not an error of the server, and explains in JSON
    /// what is wrong with the request.
    pub fn ask(
        &self,
        method: &str,
        uri: &[u8],
        headers: &[(&str, &[u8])],
    ) -> std::result::Result<u16, String> {
        let Some(request) = request(method, uri, headers) else { return Ok(400) };
        let shown = format!("{method} {} {headers:?}", uri.escape_ascii());
        let begun = Instant::now();
        let answer = self.runtime.block_on(self.answer(request)).map_err(|why| format!("{why}: {shown}"))?;
        let took = begun.elapsed();
        if took > LONGEST {
            return Err(format!("{took:?}: {shown}"));
        }
        kept(method, &answer).map(|()| answer.status.as_u16()).map_err(|why| {
            let body = &answer.body[..answer.body.len().min(400)];
            format!("{why}: {} {shown}: {}", answer.status, body.escape_ascii())
        })
    }

    async fn answer(&self, request: Request<Body>) -> std::result::Result<Answer, String> {
        let response = match self.router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let (parts, body) = response.into_parts();
        let length = parts.headers.get(CONTENT_LENGTH).cloned();
        let body = to_bytes(body, LARGEST).await.map_err(|error| format!("the body has no end: {error}"))?;
        Ok(Answer { status: parts.status, length, body: body.into() })
    }
}

fn request(method: &str, uri: &[u8], headers: &[(&str, &[u8])]) -> Option<Request<Body>> {
    let mut request = Request::builder().method(method).uri(uri).body(Body::empty()).ok()?;
    for (name, value) in headers {
        let name: HeaderName = name.parse().ok()?;
        request.headers_mut().append(name, HeaderValue::from_bytes(value).ok()?);
    }
    request.headers_mut().entry(HOST).or_insert(HeaderValue::from_static("localhost"));
    Some(request)
}

/// Checks all guarantees of a response.
fn kept(method: &str, answer: &Answer) -> std::result::Result<(), &'static str> {
    if !(200..500).contains(&answer.status.as_u16()) {
        return Err("an error of the server");
    }
    if method == Method::HEAD.as_str() {
        return if answer.body.is_empty() { Ok(()) } else { Err("a body after HEAD") };
    }
    let length = answer.length.as_ref().map(|length| length.to_str().unwrap_or_default().parse());
    if length.is_some_and(|length| length != Ok(answer.body.len())) {
        return Err("not the length of the header");
    }
    if answer.status.as_u16() < 400 {
        return Ok(());
    }
    let Ok(json) = zarrox::json::parse(&answer.body) else { return Err("an error that is not JSON") };
    let error = json.get("error");
    let message = error.and_then(|error| error.get("message")).and_then(Json::as_str);
    let status = error.and_then(|error| error.get("status")).and_then(Json::as_u64);
    if message.is_none_or(str::is_empty) || status != Some(answer.status.as_u16().into()) {
        return Err("an error without an explanation");
    }
    Ok(())
}

/// The fuzz target of requests.
///
/// The first line of an input is the method and the address, or the address alone for `GET`; each other line is a header.
#[derive(Debug)]
pub struct Urls(Asker);

impl Urls {
    /// Creates the hierarchies to serve.
    ///
    /// # Errors
    /// When the library cannot create or write one of the hierarchies, or the server does not start.
    pub fn new() -> Result<Self> {
        let mut server = Server::new().token(None);
        let options = OpenOptions::new().threads(1);
        for (number, base) in bases::all()?.into_iter().enumerate() {
            server = server.root_with(format!("b{number}"), (store_of(&base.contents)?, ""), &options)?;
            let damaged = store_of(&damaged(&base.contents))?;
            server = server.root_with(format!("d{number}"), (damaged, ""), &options)?;
        }
        for (name, fill) in [("typed", typed as fn(&Group) -> Result<()>), ("huge", huge)] {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            fill(&options.create_group((store.clone(), ""))?)?;
            server = server.root_with(name, (store, ""), &options)?;
        }
        Ok(Self(Asker::new(server)?))
    }

    /// Sends the request of the input, and returns the status of the response; panics if it violates a guarantee.
    ///
    /// # Panics
    /// When a response violates a guarantee.
    pub fn run(&self, input: &[u8]) -> u16 {
        let mut lines = input.split(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let (method, uri) = match first.iter().position(|byte| *byte == b' ') {
            Some(at) => (str::from_utf8(&first[..at]).unwrap_or_default(), &first[at + 1..]),
            None => ("GET", first),
        };
        let headers = lines.filter_map(|line| {
            let at = line.iter().position(|byte| *byte == b':')?;
            Some((str::from_utf8(&line[..at]).ok()?, line[at + 1..].trim_ascii()))
        });
        let headers: Vec<(&str, &[u8])> = headers.collect();
        #[expect(clippy::panic, reason = "a target reports a finding by a panic")]
        self.0.ask(method, uri, &headers).unwrap_or_else(|broken| panic!("{broken}"))
    }

    /// Returns the seeds, the same in every run: each call for arrays of several kinds, with each parameter, and headers.
    pub fn seeds() -> Vec<Vec<u8>> {
        let calls = NODES.iter().flat_map(|(node, queries)| {
            let own = queries.iter().map(move |query| (node, query));
            own.chain(ANY.iter().map(move |query| (node, query)))
        });
        let calls = calls.map(|(node, query)| {
            let (call, query) = query.split_once('?').unwrap_or((query, ""));
            format!("/api/v1/{call}/{node}?{query}")
        });
        calls.chain(OTHERS.iter().map(|text| (*text).to_owned())).map(String::into_bytes).collect()
    }
}

/// Calls for any node.
const ANY: [&str; 7] = [
    "tree?search=a*&limit=3",
    "tree?after=a&limit=1",
    "node?stored=count&documents=1",
    "node?stored=none",
    "check",
    "check?level=quick&missing=true",
    "check?level=metadata",
];

/// Calls for numbers in two dimensions.
const NUMBERS: &[&str] = &[
    "slice",
    "slice?select=1:3,::2&as=json",
    "slice?select=...,-1&reduce=mean&max_elements=2&as=raw",
    "slice?select=[0,2],1:4&indexing=orthogonal&as=npy&download=1",
    "slice?as=png&width=20&height=9&colormap=magma&scale=log&low=1&high=9",
    "slice?select=None,1:,:&as=json&reduce=max&max_elements=6",
    "slice?select=::-1,:&as=png&reduce=min&max_pixels=10",
    "line?select=0,:&points=3",
    "line?select=:,-1",
    "histogram?bins=7&low=-1&high=1e3&select=1:",
    "histogram",
    "stats?percentiles=5,50&unique=4&select=:2&max_elements=9",
    "chunks?inner=true&verify=1",
    "chunks?region=0:1,0:2",
];

/// Nodes, and calls for them.
const NODES: [(&str, &[&str]); 13] = [
    ("b0/h/raw", NUMBERS),
    ("b1/h/nested", NUMBERS),
    ("b2/sum", NUMBERS),
    ("b5/g/gzip", NUMBERS),
    ("d1/h/sums", &["slice?as=json", "slice?select=0,0", "stats", "chunks?verify=true&inner=1"]),
    ("b6/h/text", &["slice?as=json&select=1:4", "line?points=2", "slice?select=[1,0]&as=json", "chunks"]),
    ("b7/g/pairs", &["slice?as=json", "slice?field=air", "stats?field=id", "line?field=air&points=3"]),
    ("typed/float", NUMBERS),
    ("typed/complex", &["slice?as=raw", "slice?as=json", "line?select=1,:"]),
    ("typed/rgb", &["slice?as=png", "slice?as=png&width=2&height=2&reduce=mean", "line?select=0,:,1"]),
    ("typed/wide", &["slice?as=json", "stats", "histogram?bins=3"]),
    ("typed/none", &["slice?as=json", "stats", "slice?as=png", "line?select=:,0"]),
    (
        "huge/cube",
        &[
            "slice",
            "slice?select=0&as=png&width=30&height=20",
            "slice?select=:,:,0&max_elements=50",
            "slice?reduce=mean&max_elements=8",
            "line?select=:,0,0&points=9",
            "stats?select=:100,:100,0",
            "stats",
            "chunks?region=0:2,0:2,0:3",
            "chunks",
        ],
    ),
];

/// Other requests.
const OTHERS: [&str; 20] = [
    "/",
    "/page.js",
    "/colours.json",
    "/api/v1/",
    "/api/v1/roots",
    "/t/-/api/v1/",
    "/t/-",
    "/t/x/data/b0/",
    "/data/b0/h/",
    "/data/b0/?after=h&limit=1",
    "/data/b0/h/raw/0.0\nRange: bytes=0-3, 8-, -2",
    "/data/b0/h/raw/.zarray\nAccept-Encoding: gzip;q=0.5, *\nIf-None-Match: \"x\", W/\"y\"",
    "HEAD /data/b3/zarr.json",
    "/v3/b5/g/gzip/c/0/1\nRange: bytes=4-\nIf-Range: \"x\"",
    "/v3/b0/h/zarr.json\nIf-Match: *",
    "/v3/b0/h/g/big/c/1/0",
    "/v3/d5/a/c/0/0",
    "OPTIONS /\nOrigin: null\nAccess-Control-Request-Method: GET",
    "PUT /data/x\nHost: [::1]:80",
    "/data/b0/%2e%2e/x?token=a\nCookie: a=b; zarrox-8000=c\nAuthorization: Bearer x",
];

/// Returns the values with every second chunk truncated and every third chunk changed; documents are unchanged.
fn damaged(contents: &Contents) -> Contents {
    let is_chunk =
        |key: &str| key.rsplit('/').next().is_some_and(|name| name.starts_with(|c: char| c.is_ascii_digit()));
    let mut damaged = contents.clone();
    for (number, (_, value)) in damaged.iter_mut().filter(|(key, _)| is_chunk(key)).enumerate() {
        match number % 3 {
            0 => value.truncate(value.len() / 2),
            1 => value.iter_mut().step_by(3).for_each(|byte| *byte ^= 0x55),
            _ => {}
        }
    }
    damaged
}

/// Creates arrays of types with different responses.
fn typed(root: &Group) -> Result<()> {
    let float = root.create_array("float").shape([4, 6]).chunks([2, 3]).data_type(DataType::Float32);
    let float = float.dimension_names(["lat", "lon"]).create()?;
    let values =
        Array2::from_shape_fn((4, 6), |(y, x)| if y == x { f32::NAN } else { 10.0 * y as f32 - x as f32 });
    float.write(.., &values)?;
    root.create_array("lat").shape([4]).data_type(DataType::Float64).create()?.write(.., 1.5)?;
    root.create_array("complex").shape([3, 2]).data_type(DataType::Complex64).create()?;
    root.create_array("bool").shape([5]).data_type(DataType::Bool).create()?.write(.., true)?;
    root.create_array("rgb").shape([5, 4, 3]).data_type(DataType::UInt8).create()?.write(.., 200_u8)?;
    root.create_array("wide").shape([2, 3]).data_type(DataType::UInt64).create()?.write(.., u64::MAX)?;
    root.create_array("none").shape([0, 3]).data_type(DataType::Int16).create()?;
    root.create_array("one").shape([]).data_type(DataType::Float64).create()?.write(.., f64::INFINITY)
}

/// Creates arrays that are too large to be read as a whole.
fn huge(root: &Group) -> Result<()> {
    let side = 10_000;
    let cube = |name: &str, chunk: u64| {
        let cube = root.create_array(name).shape([side; 3]).data_type(DataType::Float32);
        cube.chunks([chunk; 3]).create()
    };
    cube("cube", 100)?.write(s![0..2, 0..2, 0..2], 1.0_f32)?;
    cube("thick", side)?;
    root.create_array("long").shape([1 << 62]).chunks([1000]).data_type(DataType::UInt8).create().map(drop)
}
