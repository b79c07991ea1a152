//! `/`: the page that shows the data. Its sources are in `page/`, and the output of `cargo xtask page` in `page/dist`.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, WWW_AUTHENTICATE,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use zarrox::json::{Json, Map, json};
use zarrox_files::picture::{Colours, MAPS};

use crate::address::escaped;
use crate::api::VERSION;
use crate::content::put;
use crate::root::Root;

const INDEX: &str = include_str!("../page/index.html");
const SCRIPT: &str = include_str!("../page/dist/page.js");
const STYLE: &str = include_str!("../page/dist/page.css");

/// The placeholder for the list of roots, which browsers without scripts show.
const ROOTS: &str = "<!-- roots -->";
/// The placeholder for the initial data of the page.
const BEGIN: &str = "<!-- begin -->";

/// The page for users without the token, with a field for it.
const REFUSAL: &str = include_str!("../page/token.html");
/// The placeholder for the URL that accepts the token.
const ACTION: &str = "<!-- action -->";
/// The content security policy of this page: the digest allows its script.
const REFUSAL_POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-qZLnRB+JWoEw+wv9oAy+xymN7ahIeMz/rgIM/zoog2U='; \
                              form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The content security policy: nothing is loaded from other origins, and no other page may embed the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; \
                      connect-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'";

/// Returns the page with its initial data, which saves requests. Its URLs are relative, so that they work
/// behind proxies.
pub(crate) fn page(roots: &[Arc<Root>], token: Option<&str>) -> Response {
    let items: String = roots.iter().map(|root| item(root)).collect();
    let listed = |root: &Arc<Root>| json!({"name": root.name.as_str(), "place": root.store.location()});
    let roots: Vec<Json> = roots.iter().map(listed).collect();
    let begin = json!({"colours": colours(), "roots": roots, "token": token});
    // Escaped so that the data cannot end the script.
    let begin = begin.to_string().replace('<', "\\u003c");
    answer("text/html; charset=utf-8", INDEX.replace(ROOTS, &items).replace(BEGIN, &begin))
}

/// Returns the page for users without the token. `prefix` is the path prefix of all URLs.
pub(crate) fn refusal(prefix: &str) -> Response {
    let mut response =
        answer("text/html; charset=utf-8", REFUSAL.replace(ACTION, &text(&format!("{prefix}/"))));
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    put(response.headers_mut(), CONTENT_SECURITY_POLICY, REFUSAL_POLICY);
    put(response.headers_mut(), WWW_AUTHENTICATE, "Bearer");
    response
}

/// Returns a file of the page; `None` for an unknown name.
pub(crate) fn file(name: &str) -> Option<Response> {
    match name {
        "page.js" => Some(answer("text/javascript; charset=utf-8", SCRIPT)),
        "page.css" => Some(answer("text/css; charset=utf-8", STYLE)),
        _ => None,
    }
}

/// Returns the colormaps, each a list of evenly spaced red, green and blue values.
fn colours() -> Json {
    let map = |&(name, colours): &(&str, Colours)| {
        (name.to_owned(), colours.list().iter().map(|colour| Json::from(colour.to_vec())).collect::<Json>())
    };
    MAPS.iter().map(map).collect::<Map>().into()
}

fn answer(kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    let headers = response.headers_mut();
    put(headers, CONTENT_TYPE, kind);
    // Another version of the server has another page at the same URL.
    put(headers, CACHE_CONTROL, "no-store");
    put(headers, CONTENT_SECURITY_POLICY, POLICY);
    let nosniff = HeaderName::from_static("x-content-type-options");
    headers.insert(nosniff, HeaderValue::from_static("nosniff"));
    response
}

fn item(root: &Root) -> String {
    let name = escaped(&root.name);
    let (shown, place) = (text(&root.name), text(&root.store.location()));
    format!(
        "<li><strong>{shown}</strong> <code>{place}</code>: \
         <a href=\"api/{VERSION}/tree/{name}/\">tree</a>, <a href=\"data/{name}/\">stored bytes</a>, \
         <a href=\"v3/{name}/zarr.json\">as Zarr 3</a></li>\n"
    )
}

/// Text escaped for HTML.
fn text(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '&' => "&amp;".to_owned(),
            '"' => "&quot;".to_owned(),
            '\'' => "&#39;".to_owned(),
            c => c.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text() {
        assert_eq!(text("<b a=\"1\">&'"), "&lt;b a=&quot;1&quot;&gt;&amp;&#39;");
    }

    #[test]
    fn the_page_has_a_place_for_roots_and_loads_nothing_from_elsewhere() {
        assert_eq!((INDEX.matches(ROOTS).count(), INDEX.matches(BEGIN).count()), (1, 1));
        assert_eq!(REFUSAL.matches(ACTION).count(), 1);
        for text in [INDEX, SCRIPT, STYLE] {
            assert!(!text.contains("http://") && !text.contains("https://"));
        }
        assert!(SCRIPT.len() + STYLE.len() + INDEX.len() < 250_000);
    }

    #[test]
    fn colour_maps_are_lists_of_colours() {
        let Json::Object(maps) = colours() else { panic!("no object") };
        assert_eq!(maps.len(), MAPS.len());
        assert_eq!(maps["gray"].to_string(), "[[0,0,0],[255,255,255]]");
    }
}
