//! Selections with NumPy's meaning: the cases of `quality/conformance/indexing.py`, run like the golden cases of the tests.

#[path = "../../../crates/zarrox/tests/corpus/indexing/case.rs"]
mod case;

use zarrox::json::Json;
use zarrox_core::json::json;

use crate::failure::Failure;
use case::failures;

/// Returns the number of cases, the number of cases with the expected results, and the failures of the other cases.
pub(crate) fn report(cases: &str) -> Result<Json, Failure> {
    let lines: Vec<&str> = cases.lines().collect();
    let failures = failures(&lines).map_err(|failure| failure.to_string())?;
    let versions = json!({ "zarrox": env!("CARGO_PKG_VERSION") });
    let same = lines.len() - failures.len();
    Ok(
        json!({ "versions": versions, "cases": lines.len(), "same": same, "explained": {}, "failures": failures }),
    )
}
