//! The reduction of a request.

use serde::Deserialize;
use zarrox::ArrayView;
use zarrox::data_type::Storage;
use zarrox_tools::reduce::{Reducer, Reduction};

use crate::failure::{Answer, Failure};
use crate::query::Numbers;

/// The maximum number of elements that a reduction reads.
pub(crate) const MOST_REDUCED: u128 = 1 << 28;

/// The reduction of a block to one element; by default the first element.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Reduce(pub(crate) Reduction);

impl Default for Reduce {
    fn default() -> Self {
        Self(Reduction::Nearest)
    }
}

impl TryFrom<String> for Reduce {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.escape_debug().to_string().parse().map(Self).map_err(|error: zarrox::Error| error.to_string())
    }
}

/// Returns the reducer for the elements of a view, which ignores missing values.
pub(crate) fn reducer(view: &ArrayView<'_>, missing: &Numbers) -> Answer<Reducer> {
    match view.data_type().storage() {
        Storage::Bool | Storage::Uint(_) | Storage::Int(_) | Storage::Float(_) => {
            Ok(Reducer::new().missing(missing.0.iter().copied()))
        }
        _ => {
            let own = view.data_type();
            let message = format!("elements of {own} cannot be averaged or ordered; use reduce=nearest");
            Err(Failure::unsupported(message))
        }
    }
}
