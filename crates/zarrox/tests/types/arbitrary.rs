//! Arbitrary bytes as elements: typed elements are always valid values of their Rust types.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use zarrox::data_type::{Endian, Optional, Storage};
use zarrox::internals::data_type::ByteOrder;
use zarrox::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C, packed)]
struct Flagged {
    flag: bool,
    flags: [bool; 2],
    number: i32,
}

/// A structure of v3, which can be optional.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C, packed)]
struct Plain {
    flag: bool,
    number: i32,
}

/// Returns the same elements from each constructor of arrays in memory.
fn made(data_type: &DataType, bytes: &[u8]) -> Vec<DynArray> {
    let size = data_type.size();
    let count = bytes.len() / size;
    let shape = || vec![count];
    let native = ByteOrder::One(Endian::NATIVE);
    let column_major = DynArray::from_foreign(
        data_type.clone(),
        vec![count, 1],
        bytes.to_vec(),
        &native,
        zarrox::Order::ColumnMajor,
    );
    let structure = DataType::structure([("x", data_type.clone())]).ok();
    let field = structure.map(|structure| {
        let whole = DynArray::new(structure, shape(), bytes.to_vec()).unwrap();
        whole.field("x").unwrap()
    });
    let arrays = [
        DynArray::new(data_type.clone(), shape(), bytes.to_vec()),
        DynArray::from_elements(data_type.clone(), shape(), bytes.chunks_exact(size)),
        DynArray::from_foreign(data_type.clone(), shape(), bytes.to_vec(), &native, zarrox::Order::RowMajor),
        column_major,
    ];
    arrays.into_iter().map(Result::unwrap).chain(field).collect()
}

/// Returns bytes that are not booleans, in an order that does not repeat with any element size.
fn arbitrary(count: usize) -> Vec<u8> {
    (0..count).map(|index| u8::try_from(index * 37 % 251).unwrap()).collect()
}

#[test]
fn every_constructor_normalises() {
    let registry = zarrox::codecs::registry();
    let mut types: Vec<DataType> = registry.examples();
    types.push(Flagged::data_type());
    let optional: Vec<DataType> =
        types.iter().filter_map(|data_type| DataType::optional(data_type).ok()).collect();
    let nested: Vec<DataType> =
        optional.iter().filter_map(|data_type| DataType::optional(data_type).ok()).collect();
    types.extend(optional.into_iter().chain(nested));
    types.retain(|data_type| data_type.storage() != Storage::Variable);
    assert!(types.len() > 40, "{}", types.len());
    for data_type in types {
        let bytes = arbitrary(data_type.size() * 64);
        let arrays = made(&data_type, &bytes);
        for array in &arrays {
            assert_eq!(array.as_bytes(), arrays[0].as_bytes(), "{data_type}");
        }
        let again = DynArray::new(data_type.clone(), vec![64], arrays[0].as_bytes().to_vec()).unwrap();
        assert_eq!(again.as_bytes(), arrays[0].as_bytes(), "{data_type} is normalised once");
    }
}

#[test]
fn booleans_are_0_or_1_wherever_they_are() {
    fn check<T: Element>(valid: impl Fn(&[u8]) -> bool) {
        let data_type = T::data_type();
        for array in made(&data_type, &arbitrary(data_type.size() * 300)) {
            assert!(array.as_bytes().chunks_exact(data_type.size()).all(&valid), "{data_type}");
            let typed = array.to::<ArrayD<T>>().unwrap();
            assert_eq!(typed, typed.clone());
            assert_eq!(
                DynArray::from_values(data_type.clone(), &typed).unwrap().as_bytes(),
                array.as_bytes()
            );
        }
    }
    let is_bool = |byte: &u8| *byte <= 1;
    check::<bool>(|element| element.iter().all(is_bool));
    check::<Optional<bool>>(|element| element.iter().all(is_bool));
    check::<Optional<Optional<bool>>>(|element| element.iter().all(is_bool));
    check::<Optional<u16>>(|element| is_bool(&element[0]));
    check::<Flagged>(|element| element[..3].iter().all(is_bool));
    check::<Optional<Plain>>(|element| element[..2].iter().all(is_bool));
}
