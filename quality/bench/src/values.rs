//! Numbers as elements, and the formulas for the values of arrays.

use std::f64::consts::TAU;

use crate::failure::Failure;
use crate::region::Region;

/// The data type of an array of numbers.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    kind: Kind,
    /// The size in bytes.
    pub(crate) width: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Integer,
    Float,
}

impl Number {
    /// Returns the data type with a name of v3.
    pub(crate) fn parse(name: &str) -> Result<Self, Failure> {
        let unsupported = || Failure::Unsupported(format!("elements of {name}"));
        let integer = |width| Ok(Self { kind: Kind::Integer, width });
        match name {
            "bool" | "int8" | "uint8" => integer(1),
            "int16" | "uint16" => integer(2),
            "int32" | "uint32" => integer(4),
            "int64" | "uint64" => integer(8),
            "float32" => Ok(Self { kind: Kind::Float, width: 4 }),
            "float64" => Ok(Self { kind: Kind::Float, width: 8 }),
            _ => Err(unsupported()),
        }
    }

    /// Returns the bytes of an integer; integers wrap.
    #[expect(clippy::cast_precision_loss, reason = "a float is rounded")]
    pub(crate) fn integer(self, number: i64) -> [u8; 8] {
        match self.kind {
            Kind::Integer => number.to_le_bytes(),
            Kind::Float => self.float(number as f64),
        }
    }

    /// Returns the bytes of a number; integers are rounded.
    pub(crate) fn float(self, number: f64) -> [u8; 8] {
        match (self.kind, self.width) {
            (Kind::Integer, _) => (number.round() as i64).to_le_bytes(),
            (Kind::Float, 4) => u64::from((number as f32).to_bits()).to_le_bytes(),
            (Kind::Float, _) => number.to_le_bytes(),
        }
    }
}

/// Adds 1 to the bits of each element.
pub(crate) fn increment(elements: &mut [u8], width: usize) {
    for element in elements.chunks_exact_mut(width) {
        for byte in element {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
    }
}

/// The formula of an array's values, the same in every run.
#[derive(Clone, Copy)]
pub(crate) enum Formula {
    /// The formula of the public benchmark (zarrs/zarr_benchmarks): (x + y²/32 + z³) mod 65536.
    Public,
    /// The flat index.
    Ramp,
    /// Waves with some noise, which compress like the data of a climate model.
    Smooth,
}

impl Formula {
    pub(crate) fn parse(name: &str) -> Result<Self, Failure> {
        match name {
            "public" => Ok(Self::Public),
            "ramp" => Ok(Self::Ramp),
            "smooth" => Ok(Self::Smooth),
            _ => Err(Failure::Unsupported(format!("values of the kind {name}"))),
        }
    }
}

/// The values of a whole array.
pub(crate) struct Values {
    formula: Formula,
    number: Number,
    shape: Vec<usize>,
    /// For each axis, a wave at each position.
    waves: Vec<Vec<f64>>,
}

impl Values {
    pub(crate) fn new(formula: Formula, number: Number, shape: Vec<usize>) -> Self {
        let waves = match formula {
            Formula::Smooth => shape.iter().enumerate().map(|(axis, &length)| wave(axis, length)).collect(),
            _ => Vec::new(),
        };
        Self { formula, number, shape, waves }
    }

    /// Returns the values of a region, row-major.
    pub(crate) fn region(&self, region: &Region, elements: &mut Vec<u8>) {
        elements.clear();
        let mut position: Vec<usize> = region.iter().map(|range| range.start).collect();
        if region.iter().any(std::ops::Range::is_empty) {
            return;
        }
        loop {
            self.row(&mut position, region.last().map_or(1, ExactSizeIterator::len), elements);
            let outer = region.len().saturating_sub(1);
            let Some(axis) = (0..outer).rev().find(|&axis| position[axis] + 1 < region[axis].end) else {
                return;
            };
            position[axis] += 1;
            (axis + 1..outer).for_each(|axis| position[axis] = region[axis].start);
        }
    }

    /// Returns the values of a row that begins at a position.
    fn row(&self, position: &mut [usize], count: usize, elements: &mut Vec<u8>) {
        let width = self.number.width;
        let flat = position.iter().zip(&self.shape).fold(0, |flat, (at, length)| flat * length + at);
        let start = position.last().copied().unwrap_or(0);
        let outer = &position[..position.len().saturating_sub(1)];
        let waves = outer.iter().zip(&self.waves).map(|(&at, wave)| wave[at]);
        let (sum, product) = waves.fold((0.0, 1.0), |(sum, product), wave| (sum + wave, product * wave));
        for index in 0..count {
            let bytes = match self.formula {
                Formula::Public => self.number.integer(public(outer, start + index)),
                Formula::Ramp => self.number.integer((flat + index) as i64),
                Formula::Smooth => self.smooth(sum, product, start + index, flat + index),
            };
            elements.extend_from_slice(&bytes[..width]);
        }
    }

    fn smooth(&self, sum: f64, product: f64, at: usize, flat: usize) -> [u8; 8] {
        let wave = self.waves.last().map_or(0.0, |wave| wave[at]);
        let value = 280.0 + 12.0 * (sum + wave) + 6.0 * product * wave;
        let noise = (flat as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        match (self.number.kind, self.number.width) {
            (Kind::Float, width) => {
                // About half of the bits are random.
                let bits = if width == 4 { 13 } else { 30 };
                let noise = (noise ^ (noise >> 15)) & ((1 << bits) - 1);
                (u64::from_le_bytes(self.number.float(value)) ^ noise).to_le_bytes()
            }
            (Kind::Integer, _) => self.number.integer((value * 100.0) as i64 ^ (noise & 7) as i64),
        }
    }
}

fn public(outer: &[usize], last: usize) -> i64 {
    let axis = |axis: usize| match axis.cmp(&outer.len()) {
        std::cmp::Ordering::Less => outer[axis],
        std::cmp::Ordering::Equal => last,
        std::cmp::Ordering::Greater => 0,
    };
    let (x, y, z) = (axis(0), axis(1), axis(2));
    ((x + y * y / 32 + z * z * z) % 65536) as i64
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
fn wave(axis: usize, length: usize) -> Vec<f64> {
    let phase = axis as f64;
    let turns = |at: usize| TAU * at as f64 / length.max(1) as f64;
    (0..length).map(|at| (turns(at) + phase).sin() + 0.2 * (7.0 * turns(at)).sin()).collect()
}
