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
use crate::frame::{self, Asked};
use crate::guard::Guard;
use crate::root::root_named;
use crate::roots::Roots;
use crate::{data, page, v3};

/// All that answers need.
pub(crate) struct App {
    pub(crate) roots: Roots,
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
    let path = app.without_prefix(parts.uri.path());
    let asked = Asked::new(&app.guard, path);
    let answered = match asked {
        Asked::Framed("") => Ok(frame::with_slash(path)),
        _ => app.checked(&method, &headers, asked, parts.uri.query()).await,
    };
    let mut response = answered.unwrap_or_else(IntoResponse::into_response);
    app.guard.add_headers(&headers, response.headers_mut());
    if matches!(asked, Asked::Framed(_)) {
        frame::allow(response.headers_mut());
    }
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
        asked: Asked<'_>,
        query: Option<&str>,
    ) -> Answer<Response> {
        let framed = matches!(asked, Asked::Framed(_));
        // Proxies of notebooks give on the names of their own hosts. Who has the token in the path did not get it from a name.
        if !framed || self.guard.token.is_none() {
            self.guard.check_host(headers)?;
        }
        if *method == Method::OPTIONS {
            return Ok(self.options(headers));
        }
        if *method != Method::GET && *method != Method::HEAD {
            let failure =
                Failure::new(StatusCode::METHOD_NOT_ALLOWED, "method", "what is served is only read");
            return Err(failure.with_header(ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS")));
        }
        let query = Query::new(query)?;
        let path = match asked {
            Asked::Framed(path) => path,
            Asked::Plain(path) if self.guard.knows_token(headers, query.text("token")) => path,
            _ => return Err(Guard::refusal()),
        };
        let (path, roots) = (Segments::new(path)?, self.roots.list());
        let wanted = Wanted::new(method, headers);
        match path.get(0) {
            None => self.front(&query, framed),
            Some("data") => data::answer(root_named(&roots, path.get(1))?, &path, &query, wanted).await,
            Some("v3") => {
                let root = root_named(&roots, path.get(1))?;
                v3::answer(root, &self.encoded, &path, &query, wanted).await
            }
            Some("api") => self.api.answer(&roots, &path, query, wanted).await,
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

    /// The page. A token among its parameters moves to a cookie, so that it is in no history and no link. In a frame there is none.
    fn front(&self, query: &Query, framed: bool) -> Answer<Response> {
        query.only(&[])?;
        let cookie = query.text("token").filter(|_| !framed).and_then(|_| self.guard.set_cookie());
        let Some((name, value)) = cookie else { return Ok(page::page(&self.roots.list())) };
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SEE_OTHER;
        let headers = response.headers_mut();
        headers.insert(name, value);
        put(headers, LOCATION, &format!("{}/", self.prefix));
        put(headers, CACHE_CONTROL, "no-store");
        Ok(response)
    }
}
