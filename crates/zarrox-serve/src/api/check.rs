//! `check`: findings as lines of JSON, sent as they are found.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::Response;
use futures_util::stream;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use zarrox::json::Json;
use zarrox::stores::Bytes;
use zarrox::{AccessOptions, Error, ErrorKind, Interrupt};
use zarrox_tools::check::{Check, CheckLevel, Finding};

use crate::content::{Wanted, put};
use crate::failure::Answer;
use crate::json::Value;
use crate::place::Place;
use crate::query::{Flag, Query};

/// The maximum number of findings in the send queue.
const WAITING: usize = 64;

/// The media type of lines of JSON.
const LINES: &str = "application/x-ndjson";

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CheckQuery {
    level: Level,
    /// Missing chunks are findings as well.
    missing: Flag,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    #[default]
    Full,
    Quick,
    Metadata,
}

impl From<Level> for CheckLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Full => Self::Full,
            Level::Quick => Self::Quick,
            Level::Metadata => Self::Metadata,
        }
    }
}

/// A line of the response. The last line is the summary, or the error that stopped the check.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) enum CheckLine {
    /// A finding of `zarrox check --json`.
    Finding(Value),
    Summary(CheckSummary),
    Failed {
        error: String,
    },
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct CheckSummary {
    done: bool,
    clean: bool,
    arrays: u64,
    groups: u64,
    chunks: u64,
    bytes: u64,
}

/// Starts a check, which stops when the client disconnects.
pub(super) async fn answer(
    Place { root, path, .. }: Place,
    Query(query): Query<CheckQuery>,
    wanted: Wanted,
) -> Answer<Response> {
    // A node that does not exist is an error of the request.
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
            let check = Check::open_with(&options, (opened.store.clone(), below));
            let check = check.map(|check| check.level(query.level.into()).missing(query.missing.0));
            let last = match check.and_then(|check| run(&check, &sender, interrupt)) {
                Ok(summary) => CheckLine::Summary(summary),
                Err(error) => CheckLine::Failed { error: error.to_string() },
            };
            // The client may have disconnected.
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

fn run(check: &Check, sender: &mpsc::Sender<Bytes>, interrupt: &Interrupt) -> zarrox::Result<CheckSummary> {
    let gone = || Error::new(ErrorKind::Interrupted, "the client has disconnected");
    let summary = check.run(|finding: Finding| {
        if interrupt.is_raised() {
            return Err(gone());
        }
        let finding = CheckLine::Finding(Json::from(finding.to_json()).into());
        sender.blocking_send(line(&finding)).map_err(|_| gone())
    })?;
    Ok(CheckSummary {
        done: true,
        clean: summary.is_clean(),
        arrays: summary.arrays,
        groups: summary.groups,
        chunks: summary.chunks,
        bytes: summary.bytes,
    })
}

fn line(line: &CheckLine) -> Bytes {
    let mut text = serde_json::to_vec(line).unwrap_or_default();
    text.push(b'\n');
    text.into()
}
