//! `/api/v1/`: the list of roots and calls, and the errors for unknown calls and versions.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use serde::Serialize;

use crate::address::escaped;
use crate::content::{self, Wanted};
use crate::failure::{Answer, Failure};
use crate::query::{NoParameters, Query};
use crate::root::Root;
use crate::roots::Roots;

/// The version of the interface, which is part of its URLs.
pub(crate) const VERSION: &str = "v1";

/// The names of all calls.
#[derive(Debug, Clone)]
pub(super) struct Calls(pub(super) Arc<[&'static str]>);

/// The roots with their URLs, and the names of all calls.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Overview {
    /// The version of the program.
    zarrox: &'static str,
    /// The version of the interface.
    api: &'static str,
    roots: Vec<RootInfo>,
    calls: Vec<&'static str>,
}

/// A root, and its relative URLs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct RootInfo {
    name: String,
    /// The path or URL of the store.
    place: String,
    data: String,
    v3: String,
    tree: String,
}

impl RootInfo {
    fn new(root: &Root) -> Self {
        let name = escaped(&root.name);
        Self {
            place: root.store.location(),
            data: format!("data/{name}/"),
            v3: format!("v3/{name}/"),
            tree: format!("api/{VERSION}/tree/{name}/"),
            name: root.name.clone(),
        }
    }
}

/// Lists the roots and the calls.
pub(super) async fn answer(
    State(roots): State<Roots>,
    Extension(Calls(calls)): Extension<Calls>,
    _: Query<NoParameters>,
    wanted: Wanted,
) -> Answer<Response> {
    let overview = Overview {
        zarrox: env!("CARGO_PKG_VERSION"),
        api: VERSION,
        roots: roots.list().iter().map(|root| RootInfo::new(root)).collect(),
        calls: calls.to_vec(),
    };
    content::json(&wanted, &overview)
}

/// Returns the error for a call that does not exist.
pub(super) async fn unknown(Extension(Calls(calls)): Extension<Calls>, uri: Uri) -> Failure {
    let call = uri.path().split('/').nth(1).unwrap_or_default();
    Failure::missing(format!("unknown call '{call}'; expected one of {}", calls.join(", ")))
}

/// Returns the error for versions of the interface that this program does not have.
pub(crate) async fn other_version() -> Failure {
    Failure::missing(format!("unknown version of the interface; this server has /api/{VERSION}/"))
}
