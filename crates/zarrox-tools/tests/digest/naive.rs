//! A second, simple implementation of the digest of content, for arrays in memory.

use blake3::Hasher;
use serde_json::{Value, json};
use zarrox::data_type::Storage;
use zarrox::{Array, prelude::*};

/// Returns the digest of an array without attributes, of one of the types that this module supports.
pub(crate) fn digest(array: &Array, type_name: &str) -> String {
    let values = array.read::<DynArray>(..).unwrap();
    let elements: Vec<Vec<u8>> = values.elements().map(|element| canonical(array, element)).collect();
    let fill = canonical(array, array.fill_bytes().as_bytes());
    let item = if array.data_type().storage() == Storage::Variable { 64 } else { fill.len() };
    let lengths = box_lengths(values.shape(), item);
    let mut sums = [0_u16; 1024];
    for number in boxes(values.shape(), &lengths) {
        let places = places(values.shape(), &lengths, &number);
        if places.iter().all(|&place| elements[place] == fill) {
            continue;
        }
        let mut hasher = Hasher::new_derive_key("zarrox digest 1: box of elements");
        for n in &number {
            hasher.update(&(*n as u64).to_le_bytes());
        }
        for place in places {
            hasher.update(&elements[place]);
        }
        let mut output = [0; 2048];
        hasher.finalize_xof().fill(&mut output);
        for (sum, bytes) in sums.iter_mut().zip(output.chunks_exact(2)) {
            *sum = sum.wrapping_add(u16::from_le_bytes([bytes[0], bytes[1]]));
        }
    }
    let hexadecimal: String = fill.iter().map(|byte| format!("{byte:02x}")).collect();
    let names = array.dimension_names().map_or(Value::Null, |names| json!(names));
    let metadata = json!({
        "attributes": {},
        "data_type": type_name,
        "dimension_names": names,
        "fill_value": hexadecimal,
        "shape": array.shape(),
    });
    let metadata = metadata.to_string();
    let mut hasher = Hasher::new_derive_key("zarrox digest 1: array");
    hasher.update(&(metadata.len() as u64).to_le_bytes());
    hasher.update(metadata.as_bytes());
    for sum in sums {
        hasher.update(&sum.to_le_bytes());
    }
    format!("content:{}", hasher.finalize())
}

/// Returns the bytes of an element. Of the tested types, only text has variable length, and structured data
/// types contain no numbers.
fn canonical(array: &Array, element: &[u8]) -> Vec<u8> {
    let storage = array.data_type().storage();
    match storage {
        Storage::Variable => [&(element.len() as u64).to_le_bytes(), element].concat(),
        _ if cfg!(target_endian = "big") => {
            element.chunks(storage.word()).flat_map(|word| word.iter().rev().copied()).collect()
        }
        _ => element.to_vec(),
    }
}

fn box_lengths(shape: &[usize], item: usize) -> Vec<usize> {
    let mut lengths = vec![1; shape.len()];
    loop {
        let before = lengths.clone();
        for dim in (0..shape.len()).rev() {
            let bytes = lengths.iter().product::<usize>() * item;
            if lengths[dim] < shape[dim] && 2 * bytes <= 65536 {
                lengths[dim] *= 2;
            }
        }
        if lengths == before {
            return lengths;
        }
    }
}

/// Returns the numbers of all boxes along each dimension.
fn boxes(shape: &[usize], lengths: &[usize]) -> Vec<Vec<usize>> {
    let mut numbers = vec![vec![]];
    for (length, of_box) in shape.iter().zip(lengths) {
        let along = |before: &Vec<usize>| {
            let before = before.clone();
            (0..length.div_ceil(*of_box)).map(move |n| [before.as_slice(), &[n]].concat()).collect::<Vec<_>>()
        };
        numbers = numbers.iter().flat_map(along).collect();
    }
    numbers
}

/// Returns the row-major positions in the array of the elements of a box.
fn places(shape: &[usize], lengths: &[usize], number: &[usize]) -> Vec<usize> {
    let mut places = vec![0];
    for dim in 0..shape.len() {
        let start = number[dim] * lengths[dim];
        let end = shape[dim].min(start + lengths[dim]);
        places = places.iter().flat_map(|&place| (start..end).map(move |n| place * shape[dim] + n)).collect();
    }
    places
}
