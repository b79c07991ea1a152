//! The handling of a request: access control, then the route.

use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::{FromRef, Path, Request, State};
use axum::http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, LOCATION};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{Router, get};
use zarrox::Registry;

use crate::address::{canonical, without_token};
use crate::content::put;
use crate::failure::{Answer, Failure};
use crate::frame::{self, Asked};
use crate::guard::Guard;
use crate::query::{NoParameters, Query};
use crate::roots::Roots;
use crate::v3::Encoded;
use crate::{api, data, page, v3};

/// The allowed methods.
const METHODS: &str = "GET, HEAD, OPTIONS";

/// The shared state of all routes.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) roots: Roots,
    pub(crate) guard: Arc<Guard>,
    /// The path prefix of all URLs, without a trailing `/`; empty for none.
    pub(crate) prefix: Arc<str>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) encoded: Arc<Encoded>,
}

impl FromRef<App> for Roots {
    fn from_ref(app: &App) -> Self {
        app.roots.clone()
    }
}

impl FromRef<App> for Arc<Registry> {
    fn from_ref(app: &App) -> Self {
        app.registry.clone()
    }
}

impl FromRef<App> for Arc<Encoded> {
    fn from_ref(app: &App) -> Self {
        app.encoded.clone()
    }
}

/// Returns the service of an application. Routes receive a path without prefix, token and empty segments.
pub(crate) fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/", get(front))
        .route("/{file}", get(file))
        .route("/data", get(data::answer))
        .route("/data/{*place}", get(data::answer))
        .route("/v3", get(v3::answer))
        .route("/v3/{*place}", get(v3::answer))
        .route("/api", get(api::other_version))
        .route("/api/{*rest}", get(api::other_version))
        .nest(&format!("/api/{}", api::VERSION), api::router())
        .fallback(nothing)
        .with_state(app.clone());
    Router::new().fallback_service(routes).layer(from_fn_with_state(app, guarded))
}

/// Passes an allowed request to the routes, and adds the headers of every response.
async fn guarded(State(app): State<App>, request: Request, next: Next) -> Response {
    let (uri, headers) = (request.uri().clone(), request.headers().clone());
    let is_head = *request.method() == Method::HEAD;
    let path = app.without_prefix(uri.path());
    let asked = Asked::new(&app.guard, path);
    let answered = match asked {
        Asked::Framed("") => Ok(frame::with_slash(path)),
        _ => app.answer(asked, request, next).await,
    };
    let mut response = answered.unwrap_or_else(|failure| {
        let is_read = wants_page(&headers) && failure.is_refusal();
        if is_read { page::refusal(&app.prefix) } else { failure.into_response() }
    });
    app.guard.add_headers(&headers, response.headers_mut());
    if matches!(asked, Asked::Framed(_)) {
        frame::allow(response.headers_mut());
    }
    if is_head {
        without_body(&mut response);
    }
    response
}

/// Returns true for a browser that opens a page, so that a user reads the response.
fn wants_page(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|list| list.contains("text/html"))
}

/// Removes the body of a response to `HEAD`, and keeps its length.
fn without_body(response: &mut Response) {
    let length = response.body().size_hint().exact();
    if let Some(length) = length.filter(|_| !response.headers().contains_key(CONTENT_LENGTH)) {
        put(response.headers_mut(), CONTENT_LENGTH, &length.to_string());
    }
    *response.body_mut() = Body::empty();
}

impl App {
    /// Checks the access rules, and passes the request on with a normalized URL.
    async fn answer(&self, asked: Asked<'_>, mut request: Request, next: Next) -> Answer<Response> {
        let framed = matches!(asked, Asked::Framed(_));
        // Notebook proxies pass on their own host name. A request with the token in its path does not depend on the
        // host name.
        if !framed || self.guard.token.is_none() {
            self.guard.check_host(request.headers())?;
        }
        if *request.method() == Method::OPTIONS {
            return Ok(self.options(request.headers()));
        }
        if *request.method() != Method::GET && *request.method() != Method::HEAD {
            let message = "the server is read-only: use GET, HEAD or OPTIONS";
            let failure = Failure::new(StatusCode::METHOD_NOT_ALLOWED, "method", message);
            return Err(failure.with_header(ALLOW, HeaderValue::from_static(METHODS)));
        }
        let (query, token) = without_token(request.uri().query().unwrap_or_default())?;
        let path = match asked {
            Asked::Framed(path) => path,
            Asked::Plain(path) if self.guard.knows_token(request.headers(), token.as_deref()) => path,
            _ => return Err(Guard::refusal()),
        };
        let path = canonical(path)?;
        let is_link = path == "/" && query.is_empty() && token.is_some() && !framed;
        if let Some(cookie) = self.guard.set_cookie().filter(|_| is_link) {
            return Ok(self.keep_token(cookie));
        }
        let too_long = |_| Failure::bad("the URL is too long");
        *request.uri_mut() = format!("{path}?{query}").parse().map_err(too_long)?;
        Ok(next.run(request).await)
    }

    /// Returns the path without the prefix, which some proxies strip and others do not.
    fn without_prefix<'p>(&self, path: &'p str) -> &'p str {
        let rest = path.strip_prefix(&*self.prefix);
        rest.filter(|rest| rest.is_empty() || rest.starts_with('/')).unwrap_or(path)
    }

    fn options(&self, headers: &HeaderMap) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        put(response.headers_mut(), ALLOW, METHODS);
        self.guard.preflight(headers, response.headers_mut());
        response
    }

    /// Moves the token of a link to a cookie, so that it is not in the history or in other links. Frames have no
    /// cookies.
    fn keep_token(&self, (name, value): (HeaderName, HeaderValue)) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SEE_OTHER;
        let headers = response.headers_mut();
        headers.insert(name, value);
        put(headers, LOCATION, &format!("{}/", self.prefix));
        put(headers, CACHE_CONTROL, "no-store");
        response
    }
}

async fn front(State(app): State<App>, _: Query<NoParameters>) -> Response {
    page::page(&app.roots.list(), app.guard.token.as_deref())
}

async fn file(Path(name): Path<String>, uri: Uri) -> Answer<Response> {
    match page::file(&name) {
        Some(file) => Ok(file),
        None => Err(nothing(uri).await),
    }
}

async fn nothing(uri: Uri) -> Failure {
    Failure::missing(format!("there is nothing at '{}'; see /data, /v3 and /api", uri.path()))
}
