//! The way of a request to its answer: who may ask, then what is asked for.

use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_LENGTH, LOCATION};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::Router;

use crate::address::{Query, Segments};
use crate::api::Api;
use crate::content::{Wanted, put};
use crate::failure::{Answer, Failure};
use crate::guard::Guard;
use crate::root::{Root, root_named};
use crate::{data, page, v3};

/// All that answers need.
pub(crate) struct App {
    pub(crate) roots: Vec<Arc<Root>>,
    pub(crate) guard: Guard,
    /// The path before all addresses, without a `/` at its end; empty for none.
    pub(crate) prefix: String,
    pub(crate) api: Arc<Api>,
    pub(crate) encoded: Arc<v3::Encoded>,
}

/// The service of an application.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new().fallback(answer).with_state(app)
}

/// Answers any request.
async fn answer(State(app): State<Arc<App>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let (method, headers) = (parts.method.clone(), parts.headers.clone());
    let answered = app.checked(&method, &headers, parts.uri.path(), parts.uri.query()).await;
    let mut response = answered.unwrap_or_else(IntoResponse::into_response);
    app.guard.add_headers(&headers, response.headers_mut());
    if method == Method::HEAD {
        without_body(&mut response);
    }
    response
}

/// Takes the body of an answer to `HEAD`, whose length stays.
fn without_body(response: &mut Response) {
    let length = response.body().size_hint().exact();
    if let Some(length) = length.filter(|_| !response.headers().contains_key(CONTENT_LENGTH)) {
        put(response.headers_mut(), CONTENT_LENGTH, &length.to_string());
    }
    *response.body_mut() = Body::empty();
}

impl App {
    /// Answers who may ask.
    async fn checked(
        &self,
        method: &Method,
        headers: &HeaderMap,
        path: &str,
        query: Option<&str>,
    ) -> Answer<Response> {
        self.guard.check_host(headers)?;
        if *method == Method::OPTIONS {
            return Ok(self.options(headers));
        }
        if *method != Method::GET && *method != Method::HEAD {
            let failure =
                Failure::new(StatusCode::METHOD_NOT_ALLOWED, "method", "what is served is only read");
            return Err(failure.with_header(ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS")));
        }
        let path = self.without_prefix(path);
        let query = Query::new(query)?;
        if !self.guard.knows_token(headers, query.text("token")) {
            return Err(Guard::refusal());
        }
        let path = Segments::new(path)?;
        let wanted = Wanted::new(method, headers);
        match path.get(0) {
            None => self.front(&query),
            Some("data") => data::answer(root_named(&self.roots, path.get(1))?, &path, &query, wanted).await,
            Some("v3") => {
                let root = root_named(&self.roots, path.get(1))?;
                v3::answer(root, &self.encoded, &path, &query, wanted).await
            }
            Some("api") => self.api.answer(&self.roots, &path, query, wanted).await,
            Some(other) => {
                if let Some(file) = page::file(other).filter(|_| path.get(1).is_none()) {
                    return Ok(file);
                }
                let other = other.escape_debug();
                Err(Failure::missing(format!(
                    "there is nothing at '/{other}'; there are /data, /v3 and /api"
                )))
            }
        }
    }

    /// The path without the prefix, which some proxies take away and others do not.
    fn without_prefix<'p>(&self, path: &'p str) -> &'p str {
        let rest = path.strip_prefix(self.prefix.as_str());
        rest.filter(|rest| rest.is_empty() || rest.starts_with('/')).unwrap_or(path)
    }

    fn options(&self, headers: &HeaderMap) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        put(response.headers_mut(), ALLOW, "GET, HEAD, OPTIONS");
        self.guard.preflight(headers, response.headers_mut());
        response
    }

    /// The page. A token in its address moves to a cookie, so that it is in no history and no link.
    fn front(&self, query: &Query) -> Answer<Response> {
        query.only(&[])?;
        let cookie = query.text("token").and_then(|_| self.guard.set_cookie());
        let Some((name, value)) = cookie else { return Ok(page::page(&self.roots)) };
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SEE_OTHER;
        let headers = response.headers_mut();
        headers.insert(name, value);
        put(headers, LOCATION, &format!("{}/", self.prefix));
        put(headers, CACHE_CONTROL, "no-store");
        Ok(response)
    }
}
