//! Checks of stored objects, and repairs.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use zarrox::AccessOptions;
use zarrox_tools::check::{Check, CheckLevel, Finding, Outcome, Repair};

use crate::long::interruptible;
use crate::store::Store;

fn level_of(name: &str) -> PyResult<CheckLevel> {
    match name {
        "metadata" => Ok(CheckLevel::Metadata),
        "quick" => Ok(CheckLevel::Quick),
        "full" => Ok(CheckLevel::Full),
        other => {
            Err(PyValueError::new_err(format!("'{other}' is not a level; metadata, quick and full are")))
        }
    }
}

/// Checks a node and all nodes below it: in a store, or at a path or URL if no store is given.
#[pyfunction]
#[pyo3(signature = (store, path, level = "full", missing = false, repair = false, dry_run = false, refill = false, orphans = false))]
#[expect(
    clippy::too_many_arguments,
    clippy::fn_params_excessive_bools,
    reason = "the arguments of the Python function"
)]
pub(crate) fn check<'py>(
    py: Python<'py>,
    store: Option<&Store>,
    path: &str,
    level: &str,
    missing: bool,
    repair: bool,
    dry_run: bool,
    refill: bool,
    orphans: bool,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let level = level_of(level)?;
    let store = store.map(|store| store.store.clone());
    let findings = interruptible(py, |interrupt| {
        let options = crate::context::open_options().access(&AccessOptions::new().interrupt(interrupt));
        let check = match store {
            Some(store) => Check::open_with(&options, (store, path))?,
            None => Check::open_with(&options, path)?,
        };
        let mut check = check.level(level).missing(missing).orphans(orphans);
        if repair {
            check = check.repair(Repair { dry_run, refill });
        }
        let mut findings = Vec::new();
        check.run(|finding| {
            findings.push(finding);
            Ok(())
        })?;
        Ok(findings)
    })?;
    findings.iter().map(|finding| members(py, finding)).collect()
}

/// Returns the members of a finding by their names.
fn members<'py>(py: Python<'py>, finding: &Finding) -> PyResult<Bound<'py, PyDict>> {
    let indices = |chunk: &Option<Vec<u64>>| chunk.as_ref().map(|chunk| PyTuple::new(py, chunk)).transpose();
    let failure = match &finding.outcome {
        Outcome::Failed(why) => Some(why),
        _ => None,
    };
    let members = PyDict::new(py);
    members.set_item("severity", finding.severity().name())?;
    members.set_item("kind", finding.kind.name())?;
    members.set_item("path", &finding.path)?;
    members.set_item("chunk", indices(&finding.chunk)?)?;
    members.set_item("last_chunk", indices(&finding.last_chunk)?)?;
    members.set_item("inner_chunk", indices(&finding.inner_chunk)?)?;
    members.set_item("key", &finding.key)?;
    members.set_item("message", &finding.message)?;
    members.set_item("repair", finding.remedy.to_string())?;
    members.set_item("repairable", finding.remedy.is_possible())?;
    members.set_item("outcome", finding.outcome.name())?;
    members.set_item("failure", failure)?;
    Ok(members)
}
