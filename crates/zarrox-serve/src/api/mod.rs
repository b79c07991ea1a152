//! `/api/v1/…`: the interface for pages and scripts that show data.

mod check;
mod chunks;
mod line;
mod node;
mod overview;
mod reduce;
mod selection;
mod slice;
mod statistics;
mod tree;
#[cfg(test)]
mod typescript;

use std::sync::Arc;

use axum::Extension;
use axum::extract::FromRef;
use axum::routing::{Router, get};
use zarrox::Registry;

use crate::roots::Roots;
use overview::Calls;
pub(crate) use overview::{VERSION, other_version};

/// Returns the calls, each at `/CALL/ROOT/PATH`.
pub(crate) fn router<S>() -> Router<S>
where
    S: Clone + Send + Sync + 'static,
    Roots: FromRef<S>,
    Arc<Registry>: FromRef<S>,
{
    let calls = [
        ("tree", get(tree::answer)),
        ("node", get(node::answer)),
        ("slice", get(slice::answer)),
        ("line", get(line::answer)),
        ("histogram", get(statistics::histogram)),
        ("stats", get(statistics::stats)),
        ("chunks", get(chunks::answer)),
        ("check", get(check::answer)),
        ("roots", get(overview::answer)),
    ];
    let names = Calls(calls.iter().map(|(name, _)| *name).collect());
    let router = Router::new().route("/", get(overview::answer)).route("/{*call}", get(overview::unknown));
    let router = calls.into_iter().fold(router, |router, (name, call)| {
        router.route(&format!("/{name}"), call.clone()).route(&format!("/{name}/{{*place}}"), call)
    });
    router.layer(Extension(names))
}
