//! `/api/v1/…`: what a page or a script needs for looking at data.

mod check;
mod chunks;
mod node;
mod reduce;
mod selection;
mod slice;
mod statistics;
mod tree;

use std::sync::Arc;

use axum::response::Response;
use zarrox::json::{Json, json};
use zarrox::{Array, Interrupt, Node, Registry};

use crate::address::{Query, Segments, escaped};
use crate::content::{self, Wanted};
use crate::failure::{Answer, Failure};
use crate::root::{Root, root_named};

/// The version of the interface, which is a part of its addresses.
pub(crate) const VERSION: &str = "v1";

/// The calls.
const CALLS: [&str; 9] = ["tree", "node", "slice", "line", "histogram", "stats", "chunks", "check", "roots"];

/// The state that all calls share.
pub(crate) struct Api {
    pub(crate) registry: Arc<Registry>,
}

impl Api {
    /// Answers a call: `/api/v1/CALL/ROOT/PATH`.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        roots: &[Arc<Root>],
        path: &Segments,
        query: Query,
        wanted: Wanted,
    ) -> Answer<Response> {
        if path.get(1) != Some(VERSION) {
            return Err(Failure::missing(format!(
                "the interface has the version {VERSION}: /api/{VERSION}/"
            )));
        }
        let Some(call) = path.get(2).filter(|call| *call != "roots") else {
            query.only(&[])?;
            return content::json(&wanted, &overview(roots));
        };
        if !CALLS.contains(&call) {
            let calls = CALLS.join(", ");
            return Err(Failure::missing(format!(
                "'{}' is no call; there are: {calls}",
                call.escape_debug()
            )));
        }
        let root = root_named(roots, path.get(3))?.clone();
        let node_path = path.after(4).join("/");
        if call == "check" {
            return check::answer(root, node_path, query, wanted).await;
        }
        let (call, own, workers) = (
            call.to_owned(),
            self.clone(),
            match call {
                "stats" | "histogram" => root.long.clone(),
                _ => root.workers.clone(),
            },
        );
        workers.run(move |interrupt| own.call(&call, &root, &node_path, &query, &wanted, interrupt)).await
    }

    fn call(
        &self,
        call: &str,
        root: &Root,
        path: &str,
        query: &Query,
        wanted: &Wanted,
        interrupt: &Interrupt,
    ) -> Answer<Response> {
        let registry = &*self.registry;
        let json = |answer: &Json| content::json(wanted, answer);
        let of_array = |answer: &dyn Fn(&Array) -> Answer<Response>| {
            root.look(path, |opened| answer(array(&opened.node, path)?))
        };
        match call {
            "tree" => json(&tree::answer(root, path, query, interrupt)?),
            "node" => json(&node::answer(root, path, query, registry)?),
            "slice" => of_array(&|array| slice::answer(array, query, wanted, registry, interrupt)),
            "line" => of_array(&|array| slice::line(array, query, wanted, registry, interrupt)),
            "chunks" => of_array(&|array| json(&chunks::answer(array, query, interrupt)?)),
            _ => {
                let counts = call == "histogram";
                of_array(&|array| json(&statistics::answer(array, query, counts, interrupt)?))
            }
        }
    }
}

/// The array that a node is.
fn array<'n>(node: &'n Node, path: &str) -> Answer<&'n Array> {
    match node {
        Node::Array(array) => Ok(array),
        Node::Group(_) => Err(Failure::bad(format!("'{path}' is a group, not an array"))),
    }
}

/// The roots, with their addresses.
fn overview(roots: &[Arc<Root>]) -> Json {
    let listed = roots.iter().map(|root| {
        let name = escaped(&root.name);
        json!({
            "name": root.name,
            "place": root.store.location(),
            "data": format!("data/{name}/"),
            "v3": format!("v3/{name}/"),
            "tree": format!("api/{VERSION}/tree/{name}/"),
        })
    });
    let listed = Json::Array(listed.collect());
    json!({"zarrox": env!("CARGO_PKG_VERSION"), "api": VERSION, "roots": listed, "calls": CALLS.as_slice()})
}
