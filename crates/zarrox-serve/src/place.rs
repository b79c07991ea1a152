//! The location that a path names: a root, and a path below it.

use std::sync::Arc;

use axum::RequestPartsExt;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRef, FromRequestParts, OriginalUri, Path};
use axum::http::request::Parts;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use zarrox::{Array, Interrupt, Node};

use crate::content::{self, Wanted};
use crate::failure::{Answer, Failure};
use crate::root::Root;
use crate::roots::Roots;
use crate::work::Workers;

/// A root, and a path below it.
pub(crate) struct Place {
    pub(crate) root: Arc<Root>,
    /// The path below the root, without a trailing `/`.
    pub(crate) path: String,
    /// True if the URL path ends with `/`.
    pub(crate) is_directory: bool,
}

/// The part of a route that names a location. It may be absent.
#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    place: String,
}

impl<S: Send + Sync> FromRequestParts<S> for Place
where
    Roots: FromRef<S>,
{
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<Self> {
        let bad = |rejection: PathRejection| Failure::bad(rejection.body_text());
        let Path(Named { place }) = parts.extract().await.map_err(bad)?;
        let Ok(OriginalUri(uri)) = parts.extract().await;
        let (name, path) = place.split_once('/').unwrap_or((&place, ""));
        let root = Roots::from_ref(state).named(name).await?;
        Ok(Self { root, path: path.to_owned(), is_directory: uri.path().ends_with('/') })
    }
}

impl Place {
    /// Runs work on a thread of the root, and responds with the result as JSON.
    pub(crate) async fn json<T: Serialize>(
        self,
        wanted: Wanted,
        work: impl FnOnce(&Root, &str, &Interrupt) -> Answer<T> + Send + 'static,
    ) -> Answer<Response> {
        let workers = self.root.workers.clone();
        let work =
            move |interrupt: &Interrupt| content::json(&wanted, &work(&self.root, &self.path, interrupt)?);
        workers.run(work).await
    }

    /// Runs work with the array at the location on a thread of `workers`. Retries if the array was changed meanwhile.
    pub(crate) async fn of_array(
        self,
        workers: Workers,
        work: impl Fn(&Array, &Interrupt) -> Answer<Response> + Send + 'static,
    ) -> Answer<Response> {
        let work = move |interrupt: &Interrupt| {
            self.root.look(&self.path, |opened| work(array(&opened.node, &self.path)?, interrupt))
        };
        workers.run(work).await
    }
}

/// Returns the node as an array; an error for a group.
fn array<'n>(node: &'n Node, path: &str) -> Answer<&'n Array> {
    match node {
        Node::Array(array) => Ok(array),
        Node::Group(_) => Err(Failure::bad(format!("'{path}' is a group, not an array"))),
    }
}
