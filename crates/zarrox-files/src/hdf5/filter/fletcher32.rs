//! Fletcher32: appends a checksum to the bytes.
//!
//! On little-endian machines, HDF5 1.6.2 swapped the two bytes within each half of the checksum. Later versions of HDF5
//! accept both forms.

use zarrox::{CodecSpec, ErrorKind, Result, codecs};

use super::coded::Coded;
use super::given::Given;
use super::undo::{Effect, Undo};
use crate::hdf5::format::Filter;
use crate::input::corrupt;

/// The size of the checksum in bytes.
const SIZE: usize = 4;

#[derive(Debug)]
struct Fletcher32(Coded);

pub(super) fn create(_: &Filter) -> Result<Box<dyn Undo>> {
    Ok(Box::new(Fletcher32(Coded::new(codecs::Fletcher32)?)))
}

impl Undo for Fletcher32 {
    fn encoded_size(&self, size: usize) -> Option<usize> {
        size.checked_add(SIZE)
    }

    fn undo(&self, mut bytes: Vec<u8>, given: Given) -> Result<Vec<u8>> {
        let size =
            bytes.len().checked_sub(SIZE).ok_or_else(|| corrupt("a chunk is shorter than its checksum"))?;
        let given = Given { size: Some(given.announced(size)?), ..given };
        match self.0.decode(&bytes, given) {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                for half in bytes[size..].chunks_mut(2) {
                    half.reverse();
                }
                self.0.decode(&bytes, given).map_err(|_| error)
            }
            result => result,
        }
    }

    fn codecs(&self, _: usize) -> Option<Vec<CodecSpec>> {
        Some(vec![codecs::Fletcher32.into()])
    }

    fn effect(&self) -> Effect {
        Effect::Adds
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Filter, Pipeline};
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn both_orders_of_the_checksum_are_taken() {
        let filter = Filter { id: 3, name: None, is_optional: false, parameters: vec![] };
        let pipeline = Pipeline::new(&[filter]).unwrap();
        // The checksum was written by h5py.
        for checksum in [[6, 9, 14, 14], [9, 6, 14, 14]] {
            let bytes = [&[1, 2, 3, 4, 5][..], &checksum].concat();
            assert_eq!(pipeline.decode(bytes, 0, 5, 1).unwrap(), [1, 2, 3, 4, 5]);
        }
        assert_error(
            pipeline.decode(vec![1, 2, 3, 4, 5, 6, 9, 14, 15], 0, 5, 1),
            ErrorKind::Corrupt,
            "the checksum is",
        );
        assert_error(
            pipeline.decode(vec![1, 2, 3], 0, 5, 1),
            ErrorKind::Corrupt,
            "shorter than its checksum",
        );
    }
}
