//! Files of other formats, read through kerchunk's references; see `quality/conformance/references.py`.

use std::path::Path;

use zarrox::json::Json;
use zarrox::prelude::*;

use crate::data::lengths;
use crate::failure::{Failure, agree};

/// Reads all variables in `cases.json`, and compares them with the result of another library.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    let cases: Vec<Json> = serde_json::from_slice(&std::fs::read(directory.join("cases.json"))?)?;
    if cases.is_empty() {
        return Err("the list of cases is empty".into());
    }
    let mut failures = Vec::new();
    for case in &cases {
        let text = |name: &str| case[name].as_str().unwrap_or_default();
        let url = format!("reference://{}::{}", text("variable"), text("references"));
        if let Err(failure) = compare(&url, case) {
            failures.push(format!("{url}: {failure}"));
        }
    }
    if failures.is_empty() {
        return Ok(());
    }
    Err(format!("{} of {} variables differ:\n{}", failures.len(), cases.len(), failures.join("\n")).into())
}

fn compare(url: &str, case: &Json) -> Result<(), Failure> {
    let array = zarrox::open(url)?.into_array()?;
    let shape: Vec<usize> = serde_json::from_str(&case["shape"].to_string())?;
    agree("shape", &lengths(array.shape())?, &shape)?;
    let values = case["values"].as_array().ok_or("the case has no values")?;
    if values.iter().any(Json::is_string) {
        let expected = values.iter().filter_map(Json::as_str).map(str::to_owned).collect::<Vec<_>>();
        let found = array.read::<DynArray>(..)?.to::<ArrayD<String>>()?;
        return agree("values", &found.into_iter().collect(), &expected);
    }
    let expected: Vec<f64> = values.iter().filter_map(Json::as_f64).collect();
    let found = array.astype(&DataType::Float64).read::<ArrayD<f64>>()?;
    agree("values", &found.into_iter().collect(), &expected)
}
