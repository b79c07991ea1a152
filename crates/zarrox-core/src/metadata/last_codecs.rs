//! The codecs that were parsed last: the next array of a hierarchy often has the same.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::codec::CodecSpec;
use crate::data_type::{ByteOrder, DataType};
use crate::error::Result;
use crate::json::{Json, is_identical};

/// The codecs of the v2 array that was read last. Parsing them is most of the work on a document of v2.
#[derive(Debug, Default)]
pub struct LastCodecs {
    /// True after the first array: for an array that is opened alone, nothing is copied.
    asked: AtomicBool,
    last: Mutex<Option<(Said, Vec<CodecSpec>)>>,
}

/// All members of a v2 document that determine the codecs.
#[derive(Debug, Clone)]
pub(super) struct Said<J = Json> {
    /// The number of dimensions, if the order is column-major.
    pub(super) column_major: Option<usize>,
    pub(super) data_type: DataType,
    pub(super) order: ByteOrder,
    pub(super) filters: J,
    pub(super) compressor: J,
}

impl Said<&Json> {
    fn is(&self, other: &Said) -> bool {
        self.column_major == other.column_major
            && self.data_type == other.data_type
            && self.order == other.order
            && is_identical(self.filters, &other.filters)
            && is_identical(self.compressor, &other.compressor)
    }

    fn kept(self) -> Said {
        let Self { column_major, data_type, order, filters, compressor } = self;
        Said { column_major, data_type, order, filters: filters.clone(), compressor: compressor.clone() }
    }
}

impl LastCodecs {
    /// The codecs for these members: those of the last array if the members are identical, otherwise parsed ones.
    pub(super) fn of(
        &self,
        said: Said<&Json>,
        read: impl FnOnce(&Said<&Json>) -> Result<Vec<CodecSpec>>,
    ) -> Result<Vec<CodecSpec>> {
        if !self.asked.swap(true, Ordering::Relaxed) {
            return read(&said);
        }
        if let Some((last, codecs)) = &*self.last.lock().unwrap_or_else(PoisonError::into_inner)
            && said.is(last)
        {
            return Ok(codecs.clone());
        }
        let codecs = read(&said)?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((said.kept(), codecs.clone()));
        Ok(codecs)
    }
}

#[cfg(test)]
mod tests {
    use crate::json::json;

    use super::*;
    use crate::data_type::Endian;
    use crate::error::Error;

    #[test]
    fn only_what_is_said_again_is_recalled() {
        let last = LastCodecs::default();
        let none = Json::Null;
        let [codec, other] = [json!({"id": "a", "level": 0.0}), json!({"id": "a", "level": -0.0})];
        let said = |filters, compressor| Said {
            column_major: None,
            data_type: DataType::Int32,
            order: ByteOrder::One(Endian::Little),
            filters,
            compressor,
        };
        let read = |said: Said<&Json>, name: &str| {
            last.of(said, |_| Ok(vec![CodecSpec::new(name, Json::Null)])).unwrap()[0].name.clone()
        };
        assert_eq!(read(said(&none, &codec), "alone"), "alone");
        assert_eq!(read(said(&none, &codec), "first"), "first");
        assert_eq!(read(said(&none, &codec), "again"), "first");
        assert!(last.of(said(&none, &none), |_| Err(Error::metadata("bad"))).is_err());
        assert_eq!(read(said(&none, &codec), "after an error"), "first");
        let each = [
            said(&none, &other),
            said(&codec, &none),
            Said { column_major: Some(2), ..said(&codec, &none) },
            Said { data_type: DataType::UInt32, ..said(&codec, &none) },
            Said { order: ByteOrder::One(Endian::Big), ..said(&codec, &none) },
        ];
        for (index, said) in each.into_iter().enumerate() {
            let name = index.to_string();
            assert_eq!(read(said, &name), name);
        }
    }
}
