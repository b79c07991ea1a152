//! `check`: findings as lines of JSON, each as soon as it is found.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::Response;
use futures_util::stream;
use tokio::sync::mpsc;
use zarrox::json::{Json, json};
use zarrox::stores::Bytes;
use zarrox::{AccessOptions, Error, ErrorKind, Interrupt};
use zarrox_tools::check::{Check, CheckLevel, Finding};

use crate::address::Query;
use crate::content::{Wanted, put};
use crate::failure::Answer;
use crate::root::Root;

/// The findings that wait to be sent.
const WAITING: usize = 64;

/// The type of lines of JSON.
const LINES: &str = "application/x-ndjson";

/// Starts a check, which ends when the client goes away.
pub(super) async fn answer(root: Arc<Root>, path: String, query: Query, wanted: Wanted) -> Answer<Response> {
    query.only(&["level", "missing"])?;
    let levels =
        [("full", CheckLevel::Full), ("quick", CheckLevel::Quick), ("metadata", CheckLevel::Metadata)];
    let (level, missing) = (query.choice("level", &levels)?, query.flag("missing")?);
    // What is not there is told before the answer begins.
    let (opening, node) = (root.clone(), path.clone());
    let opened = root.workers.run(move |_| Ok(opening.node(&node)?)).await?;
    let mut response = Response::new(Body::empty());
    put(response.headers_mut(), CONTENT_TYPE, LINES);
    put(response.headers_mut(), CACHE_CONTROL, "no-store");
    if wanted.head {
        return Ok(response);
    }
    let (sender, receiver) = mpsc::channel(WAITING);
    let long = root.long.clone();
    let running = long
        .start(move |interrupt| {
            let options = root.options.clone().access(&AccessOptions::new().interrupt(interrupt));
            let below = path.strip_prefix(opened.hierarchy.as_str()).unwrap_or(&path).trim_start_matches('/');
            let check = Check::open_in(&options, opened.store.clone(), below);
            let last =
                match check.and_then(|check| run(&check.level(level).missing(missing), &sender, interrupt)) {
                    Ok(summary) => summary,
                    Err(error) => json!({"error": error.to_string()}),
                };
            // Nobody may be there any more.
            let _ = sender.blocking_send(line(&last));
        })
        .await?;
    let lines = stream::unfold((receiver, running), |(mut receiver, running)| async move {
        let line = receiver.recv().await?;
        Some((Ok::<_, std::convert::Infallible>(line), (receiver, running)))
    });
    *response.body_mut() = Body::from_stream(lines);
    Ok(response)
}

fn run(check: &Check, sender: &mpsc::Sender<Bytes>, interrupt: &Interrupt) -> zarrox::Result<Json> {
    let gone = || Error::new(ErrorKind::Interrupted, "nobody waits for the findings any more");
    let summary = check.run(|finding: Finding| {
        if interrupt.is_raised() {
            return Err(gone());
        }
        sender.blocking_send(line(&finding.to_json().into())).map_err(|_| gone())
    })?;
    Ok(json!({
        "done": true,
        "clean": summary.is_clean(),
        "arrays": summary.arrays,
        "groups": summary.groups,
        "chunks": summary.chunks,
        "bytes": summary.bytes,
    }))
}

fn line(json: &Json) -> Bytes {
    format!("{}\n", json.without_tokens()).into()
}
