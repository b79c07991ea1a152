//! The reduction that a request asks for.

use serde::Deserialize;
use zarrox::data_type::Storage;
use zarrox::{ArrayView, DynArray, Error, Result};
use zarrox_tools::reduce::{Division, Measure, Reducer, Reduction};

use crate::failure::{Answer, Failure};
use crate::query::Numbers;

/// The most elements that are read for one reduction.
pub(crate) const MOST_REDUCED: u128 = 1 << 28;

/// What stands for a block: one of its elements or their mean, or their standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum Reduce {
    Element(Reduction),
    Deviation,
}

impl Default for Reduce {
    fn default() -> Self {
        Self::NEAREST
    }
}

impl TryFrom<String> for Reduce {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if name == Measure::Std.name() {
            return Ok(Self::Deviation);
        }
        let found = name.escape_debug().to_string().parse();
        found.map(Self::Element).map_err(|error: Error| format!("{error}, {}", Measure::Std))
    }
}

impl Reduce {
    /// The first element, which is read alone.
    pub(crate) const NEAREST: Self = Self::Element(Reduction::Nearest);

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Element(reduction) => reduction.name(),
            Self::Deviation => Measure::Std.name(),
        }
    }

    /// Reduces the blocks of a view.
    pub(crate) fn reduce(self, reducer: &Reducer, view: &ArrayView<'_>, lengths: &[u64]) -> Result<DynArray> {
        match self {
            Self::Element(reduction) => reducer.reduce(view, lengths, reduction),
            Self::Deviation => {
                let divisions: Vec<Division> =
                    lengths.iter().map(|&length| Division::Length(length)).collect();
                reducer.clone().with_deviation().blocks(view, &divisions)?.get(Measure::Std)
            }
        }
    }
}

/// Returns the reducer of a view's elements, which leaves missing-value markers out.
pub(crate) fn reducer(view: &ArrayView<'_>, missing: &Numbers) -> Answer<Reducer> {
    match view.data_type().storage() {
        Storage::Bool | Storage::Uint(_) | Storage::Int(_) | Storage::Float(_) => {
            Ok(Reducer::new().missing(missing.0.iter().copied()))
        }
        _ => {
            let own = view.data_type();
            let message = format!("elements of {own} have no mean and no order; use reduce=nearest");
            Err(Failure::unsupported(message))
        }
    }
}
