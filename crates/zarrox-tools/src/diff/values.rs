//! The differences between elements.

use zarrox::DynArray;
use zarrox_core::data_type::Casting;
use zarrox_core::{DataType, Error, ErrorKind, Registry, Result};

use super::tolerance::Tolerance;

/// A pair of elements that differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The index of the elements in both arrays.
    pub index: Vec<u64>,
    /// The element of the first array, as text.
    pub left: String,
    /// The element of the second array, as text.
    pub right: String,
}

/// The differing elements of two arrays.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Values {
    /// The number of elements that differ.
    pub count: u64,
    /// The largest absolute difference of two numbers, and its index. Pairs with NaN are ignored.
    pub largest: Option<(f64, Vec<u64>)>,
    /// The first pairs that differ, in row-major order.
    pub first: Vec<Pair>,
}

/// The differences found by one thread, with the bytes of the elements.
#[derive(Default)]
pub(super) struct Found {
    pub(super) count: u64,
    pub(super) largest: Option<(f64, Vec<u64>)>,
    pub(super) first: Vec<(Vec<u64>, Vec<u8>, Vec<u8>)>,
}

impl Found {
    /// Adds the differences found by another thread.
    pub(super) fn join(&mut self, other: Self, most: usize) {
        self.count += other.count;
        if let Some((size, index)) = other.largest {
            self.see(size, || index);
        }
        self.first.extend(other.first);
        self.first.sort();
        self.first.truncate(most);
    }

    fn see(&mut self, size: f64, index: impl FnOnce() -> Vec<u64>) {
        if self.largest.as_ref().is_none_or(|(largest, _)| size > *largest) {
            self.largest = Some((size, index()));
        }
    }
}

/// A comparison of the elements of two arrays, which may have different data types.
pub(super) struct Comparing<'a> {
    pub(super) tolerance: Tolerance,
    pub(super) registry: &'a Registry,
    /// The data types of both sides.
    pub(super) types: (DataType, DataType),
    /// The maximum number of pairs.
    pub(super) most: usize,
}

impl Comparing<'_> {
    /// Adds the differences of a region.
    pub(super) fn add(
        &self,
        found: &mut Found,
        region: &[(u64, u64)],
        left: &DynArray,
        right: &DynArray,
    ) -> Result<()> {
        let same_type = self.types.0 == self.types.1;
        let is_variable = self.types.0.storage() == zarrox_core::data_type::Storage::Variable;
        // Unless `equal_nan` is false, a NaN is equal to a NaN with the same bits.
        if same_type && !is_variable && self.tolerance.equal_nan && left.as_bytes() == right.as_bytes() {
            return Ok(());
        }
        let elements = (Elements::new(left), Elements::new(right));
        match (self.numbers(left), self.numbers(right)) {
            (Ok(a), Ok(b)) => {
                let (a, b) = (a.as_bytes(), b.as_bytes());
                let differ = |n: usize| {
                    let (a, b) = (double(a, n), double(b, n));
                    // Doubles cannot represent all digits of long integers.
                    let is_exact = same_type && a == b && self.tolerance.is_nothing();
                    let is_same = if is_exact && self.is_integer() {
                        elements.0.get(n) == elements.1.get(n)
                    } else {
                        self.tolerance.allows(a, b)
                    };
                    (!is_same).then(|| (a - b).abs())
                };
                self.collect(found, region, &elements, differ);
                Ok(())
            }
            (Err(_), Err(_)) if same_type => {
                let differ = |n| (elements.0.get(n) != elements.1.get(n)).then_some(f64::NAN);
                self.collect(found, region, &elements, differ);
                Ok(())
            }
            (Err(error), _) | (_, Err(error)) => Err(error),
        }
    }

    fn is_integer(&self) -> bool {
        use zarrox_core::data_type::Storage::{Int, Uint};
        matches!(self.types.0.storage(), Int(_) | Uint(_))
    }

    /// Converts elements to doubles. Fails if they are not real numbers.
    fn numbers(&self, values: &DynArray) -> Result<DynArray> {
        if matches!(values.data_type().storage(), zarrox_core::data_type::Storage::Complex(_)) {
            return Err(Error::new(ErrorKind::Unsupported, "complex numbers are compared bit by bit"));
        }
        values.cast(&DataType::Float64, Casting::Lossy, self.registry)
    }

    fn collect(
        &self,
        found: &mut Found,
        region: &[(u64, u64)],
        elements: &(Elements<'_>, Elements<'_>),
        differ: impl Fn(usize) -> Option<f64>,
    ) {
        let count = elements.0.values.shape().iter().product();
        let mut kept = Vec::new();
        for n in 0..count {
            let Some(size) = differ(n) else { continue };
            found.count += 1;
            if !size.is_nan() {
                found.see(size, || index(region, n));
            }
            if kept.len() < self.most {
                kept.push((index(region, n), elements.0.get(n).to_vec(), elements.1.get(n).to_vec()));
            }
        }
        found.first.extend(kept);
        if found.first.len() > 2 * self.most {
            found.first.sort();
            found.first.truncate(self.most);
        }
    }

    /// Formats the differences as text.
    pub(super) fn values(&self, found: Found) -> Result<Values> {
        let (left, right) = (self.registry.family(&self.types.0)?, self.registry.family(&self.types.1)?);
        let pair = |(index, a, b): (Vec<u64>, Vec<u8>, Vec<u8>)| Pair {
            index,
            left: left.format(&self.types.0, &a),
            right: right.format(&self.types.1, &b),
        };
        let first = found.first.into_iter().map(pair).collect();
        Ok(Values { count: found.count, largest: found.largest, first })
    }
}

fn double(bytes: &[u8], n: usize) -> f64 {
    let mut own = [0; 8];
    own.copy_from_slice(&bytes[n * 8..n * 8 + 8]);
    f64::from_ne_bytes(own)
}

/// The bytes of elements, accessed by index.
struct Elements<'v> {
    values: &'v DynArray,
    /// A list of all elements, if they are of variable length.
    listed: Option<Vec<&'v [u8]>>,
}

impl<'v> Elements<'v> {
    fn new(values: &'v DynArray) -> Self {
        let is_variable = values.data_type().storage() == zarrox_core::data_type::Storage::Variable;
        Self { values, listed: is_variable.then(|| values.elements().collect()) }
    }

    fn get(&self, n: usize) -> &'v [u8] {
        if let Some(listed) = &self.listed {
            return listed[n];
        }
        let item = self.values.data_type().size();
        &self.values.as_bytes()[n * item..(n + 1) * item]
    }
}

/// Returns the index of the n-th element of a region.
fn index(region: &[(u64, u64)], n: usize) -> Vec<u64> {
    let mut rest = n as u64;
    let mut index: Vec<u64> = region
        .iter()
        .rev()
        .map(|(begin, end)| {
            let length = (end - begin).max(1);
            let at = begin + rest % length;
            rest /= length;
            at
        })
        .collect();
    index.reverse();
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_counted_within_a_region() {
        assert_eq!(index(&[(2, 4), (10, 13)], 4), [3, 11]);
        assert!(index(&[], 0).is_empty());
    }
}
