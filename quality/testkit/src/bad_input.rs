//! The suite of bad input: encoded chunks that are damaged in every way that does not depend on their format are passed to every
//! decoder.

use zarrox_core::{Registry, Result};

use crate::codec::Random;
use crate::examples::Example;
use crate::specimen::Specimen;

/// The length up to which encoded bytes are truncated at every position. Longer bytes are truncated at this number of positions.
const CUTS: usize = 200;
const DAMAGES: usize = 1000;

/// Numbers that are dangerous as a size, a count or an offset.
const NUMBERS: [u64; 12] = [
    0,
    1,
    0x7f,
    0xff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    1 << 40,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];

/// Runs an example: `meter` runs the work on each input, and receives the input and the size of a decoded chunk, so that it can
/// limit the memory and time.
pub fn bad_input_suite(
    registry: &Registry,
    example: &Example,
    mut meter: impl FnMut(&Specimen, &[u8], &mut dyn FnMut()),
) -> Result<()> {
    let specimen = Specimen::new(registry, example)?;
    let mut random = Random::new(4);
    let good = specimen.encoded(registry, &mut random);
    let other = specimen.encoded(registry, &mut random);
    for chunk in [&good, &other] {
        assert!(specimen.examine(registry, chunk, &mut random), "{}: a good chunk is read", specimen.what);
    }
    let mut examine = |input: &[u8]| {
        let mut random = Random::new(input.len() as u64);
        meter(&specimen, input, &mut || {
            specimen.examine(registry, input, &mut random);
        });
    };
    let step = good.len().div_ceil(CUTS).max(1);
    (0..good.len()).step_by(step).for_each(|length| examine(&good[..length]));
    for more in [vec![0], vec![0; 40], vec![0xff; 8], random.bytes(40), good.clone(), other.clone()] {
        examine(&[&good[..], &more].concat());
        examine(&[&more[..], &good].concat());
    }
    for _ in 0..DAMAGES {
        let mut damaged = good.clone();
        for _ in 0..=random.below(3) {
            damage(&mut damaged, &other, &mut random);
        }
        examine(&damaged);
    }
    for length in [0, 1, 4, 8, 16, 64, 300] {
        examine(&vec![0; length]);
        examine(&vec![0xff; length]);
        examine(&random.bytes(length));
    }
    Ok(())
}

/// Damages bytes at one offset.
fn damage(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    // Headers are at the beginning, indexes at the end.
    let at = match random.below(3) {
        0 => random.below(bytes.len().min(32)),
        1 => bytes.len() - 1 - random.below(bytes.len().min(32)),
        _ => random.below(bytes.len()),
    };
    match random.below(6) {
        0 | 1 => bytes[at] ^= 1 << random.below(8),
        2 => bytes[at] = random.number().to_le_bytes()[7],
        3 => overwrite(&mut bytes[at..], random),
        4 => {
            let length = random.below(other.len().max(1));
            bytes.splice(at.., other[other.len() - length..].iter().copied());
        }
        _ => drop(bytes.drain(at..(at + 1 + random.below(8)).min(bytes.len()))),
    }
}

/// Overwrites the first two, four or eight bytes with a dangerous number.
fn overwrite(bytes: &mut [u8], random: &mut Random) {
    let number = NUMBERS[random.below(NUMBERS.len())].to_le_bytes();
    let mut number = number[..[2, 4, 8][random.below(3)]].to_vec();
    if random.below(3) == 0 {
        number.reverse();
    }
    bytes.iter_mut().zip(number).for_each(|(byte, new)| *byte = new);
}
