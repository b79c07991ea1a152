//! `/`: a page with the roots and their addresses.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::Response;

use crate::address::escaped;
use crate::api::VERSION;
use crate::content::put;
use crate::root::Root;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}\
                     code{word-break:break-all}";

/// The page. Its links are relative, so that they also lead through proxies.
pub(crate) fn page(roots: &[Arc<Root>]) -> Response {
    let items: String = roots.iter().map(|root| item(root)).collect();
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Zarrox</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head>\n\
         <body><main><h1>Zarrox</h1>\n<ul>{items}</ul>\n<p><a href=\"api/{VERSION}/\">Interface</a></p>\
         </main></body></html>\n"
    );
    let mut response = Response::new(Body::from(page));
    let headers = response.headers_mut();
    put(headers, CONTENT_TYPE, "text/html; charset=utf-8");
    put(headers, CACHE_CONTROL, "no-store");
    put(
        headers,
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; base-uri 'none'",
    );
    response
}

fn item(root: &Root) -> String {
    let name = escaped(&root.name);
    let (shown, place) = (text(&root.name), text(&root.store.location()));
    format!(
        "<li><strong>{shown}</strong> <code>{place}</code><br>\
         <a href=\"api/{VERSION}/tree/{name}/\">tree</a> · <a href=\"data/{name}/\">stored bytes</a> · \
         <a href=\"v3/{name}/zarr.json\">as Zarr 3</a></li>\n"
    )
}

/// Text without anything that HTML would understand.
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
}
