//! `zarrox meta`: shows, validates and fixes metadata documents.

use std::io::Write;

use clap::{Args, Subcommand};
use zarrox::json::{Json, Map, json};
use zarrox::{ErrorKind, Result};
use zarrox_tools::check::{Check, CheckLevel};

use crate::args::Global;
use crate::commands::change::strict;
use crate::exit::{Failure, printable};
use crate::interrupt;
use crate::print::print_json;

/// Show, validate and fix the stored metadata documents of nodes
///
/// To repair damaged documents, use `zarrox check --repair`.
#[derive(Debug, Args)]
pub(crate) struct Meta {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the documents of a node, byte for byte
    Show {
        /// The array or group
        path: String,
        /// Print the documents as a JSON object by key
        #[arg(long)]
        json: bool,
    },
    /// Validate the documents of a node and of all nodes below it, without reading chunks
    Validate {
        /// The array or group
        path: String,
        /// Print a JSON list of findings
        #[arg(long)]
        json: bool,
    },
    /// Rewrite the documents of a node and of all nodes below it in the strict form that all readers accept
    ///
    /// The meaning does not change. Documents without a strict form are reported and stay unchanged.
    Fix {
        /// The array or group
        path: String,
        /// Print the lines that would change, and change nothing
        #[arg(long)]
        dry_run: bool,
        /// Print the documents before and after as a JSON list
        #[arg(long)]
        json: bool,
    },
}

impl Meta {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        match &self.action {
            Action::Show { path, json } => show(global, path, *json, out),
            Action::Validate { path, json } => validate(global, path, *json, out),
            Action::Fix { path, dry_run, json } => strict::fix(global, path, !dry_run, *json, out),
        }
    }
}

fn show(global: &Global, path: &str, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let documents = global.look(path)?.documents()?;
    if json {
        let parsed = |bytes: &[u8]| zarrox::json::parse(bytes).unwrap_or(Json::Null);
        let all: Map = documents.iter().map(|(key, bytes)| (key.clone(), parsed(bytes))).collect();
        return Ok(print_json(out, &Json::Object(all))?);
    }
    let is_one = documents.len() == 1;
    for (key, bytes) in documents {
        if !is_one {
            writeln!(out, "==> {} <==", printable(&key))?;
        }
        out.write_all(&bytes)?;
        if !bytes.ends_with(b"\n") {
            writeln!(out)?;
        }
    }
    Ok(())
}

fn validate(global: &Global, path: &str, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    interrupt::catch();
    let mut findings = Vec::new();
    let check = Check::open_with(&global.options(), path)?.level(CheckLevel::Metadata);
    check.run(|finding| {
        findings.push(finding);
        interrupt::check()
    })?;
    if json {
        let all = findings.iter().map(|finding| {
            json!({"path": finding.path.as_str(), "kind": finding.kind.to_string(), "message": finding.message.as_str()})
        });
        print_json(out, &Json::Array(all.collect()))?;
    } else {
        for finding in &findings {
            writeln!(out, "{}", printable(&finding.to_string()))?;
        }
    }
    if findings.is_empty() { Ok(()) } else { Err(Failure::Reported(ErrorKind::InvalidMetadata)) }
}
