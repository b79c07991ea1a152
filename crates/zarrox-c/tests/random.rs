//! Random regions and random memory: each element is read to its position in memory and written from it, and no other
//! memory changes.

use std::ffi::CString;
use std::ptr::null;
use std::sync::OnceLock;

use proptest::prelude::*;
use zarrox_c::*;

const SHAPE: [u64; 2] = [5, 7];

/// Creates an array of int32, whose elements count from 1.
fn new_array() -> zarrox_node {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    static DIRECTORY: OnceLock<tempfile::TempDir> = OnceLock::new();
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let directory = DIRECTORY.get_or_init(|| tempfile::tempdir().unwrap());
    let place = CString::new(directory.path().join(number.to_string()).to_str().unwrap()).unwrap();
    let settings = c"{\"shape\": [5, 7], \"chunks\": [2, 3], \"data_type\": \"int32\", \"compressor\": null}";
    let mut node = 0;
    let mut values: Vec<i32> = (1..=35).collect();
    let memory = memory(values.as_mut_ptr(), 140, null());
    // SAFETY: the texts end with NUL, and the memory has the size.
    unsafe {
        assert_eq!(zarrox_create_array(place.as_ptr(), settings.as_ptr(), null(), &raw mut node), 0);
        assert_eq!(zarrox_write(node, null(), &raw const memory), 0);
    }
    node
}

fn memory(data: *mut i32, size: usize, strides: *const isize) -> zarrox_memory {
    zarrox_memory { r#type: ElementType::Int32 as i32, data: data.cast(), size, strides }
}

/// A region, and a layout of memory.
#[derive(Debug, Clone)]
struct Case {
    start: [u64; 2],
    count: [u64; 2],
    stride: [i64; 2],
    /// True if the first dimension is the fastest in memory.
    is_fortran: bool,
    /// The number of unused elements between two elements.
    gap: usize,
    /// The dimensions that run backwards in memory.
    is_reversed: [bool; 2],
}

fn case() -> impl Strategy<Value = Case> {
    let numbers = ([0..9_u64, 0..9_u64], [0..6_u64, 0..6_u64], [-3..4_i64, -3..4_i64]);
    (numbers, any::<bool>(), 0..3_usize, any::<[bool; 2]>()).prop_map(
        |((start, count, stride), is_fortran, gap, is_reversed)| Case {
            start,
            count,
            stride,
            is_fortran,
            gap,
            is_reversed,
        },
    )
}

impl Case {
    /// Returns the value of element (i, j) of the region; `None` outside of the array.
    fn value(&self, at: [u64; 2]) -> Option<i32> {
        let index = |dim: usize| {
            let index =
                i64::try_from(self.start[dim]).ok()? + i64::try_from(at[dim]).ok()? * self.stride[dim];
            u64::try_from(index).ok().filter(|&index| index < SHAPE[dim])
        };
        i32::try_from(index(0)? * SHAPE[1] + index(1)? + 1).ok()
    }

    fn indices(&self) -> impl Iterator<Item = [u64; 2]> + use<> {
        let [rows, columns] = self.count;
        (0..rows).flat_map(move |i| (0..columns).map(move |j| [i, j]))
    }

    /// Returns true if each dimension by itself lies within the array.
    fn is_valid(&self) -> bool {
        (0..2).all(|dim| {
            let last = |count: u64| {
                i128::from(self.start[dim]) + i128::from(count - 1) * i128::from(self.stride[dim])
            };
            let is_inside = |index: i128| (0..i128::from(SHAPE[dim])).contains(&index);
            let fits = match self.count[dim] {
                0 => self.start[dim] <= SHAPE[dim],
                count => is_inside(i128::from(self.start[dim])) && is_inside(last(count)),
            };
            self.stride[dim] != 0 && fits
        })
    }

    /// Returns the strides in elements, and the position of the first element.
    fn layout(&self) -> ([isize; 2], usize) {
        let step = self.gap + 1;
        let [rows, columns] = self.count.map(|count| usize::try_from(count.max(1)).unwrap());
        let steps = if self.is_fortran { [step, step * rows] } else { [step * columns, step] };
        let mut first = 0;
        let mut strides = [0; 2];
        for (dim, length) in [rows, columns].into_iter().enumerate() {
            strides[dim] = isize::try_from(steps[dim]).unwrap();
            if self.is_reversed[dim] {
                first += steps[dim] * (length - 1);
                strides[dim] = -strides[dim];
            }
        }
        (strides, first)
    }

    /// Calls a function with the region and with memory.
    fn call(
        &self,
        node: zarrox_node,
        values: &mut [i32],
        function: unsafe extern "C" fn(zarrox_node, *const zarrox_region, *const zarrox_memory) -> i32,
    ) -> i32 {
        let (strides, first) = self.layout();
        let strides = strides.map(|stride| stride * 4);
        let region = zarrox_region {
            ndim: 2,
            start: self.start.as_ptr(),
            count: self.count.as_ptr(),
            stride: self.stride.as_ptr(),
        };
        let after = &mut values[first..];
        let memory = memory(after.as_mut_ptr(), size_of_val(after), strides.as_ptr());
        // SAFETY: the region has two dimensions, and the memory has space for all elements before and after the first one.
        unsafe { function(node, &raw const region, &raw const memory) }
    }

    /// Returns the position of an element in memory.
    fn place(&self, at: [u64; 2]) -> usize {
        let (strides, first) = self.layout();
        let steps = (0..2).map(|dim| isize::try_from(at[dim]).unwrap() * strides[dim]).sum();
        first.checked_add_signed(steps).unwrap()
    }
}

proptest! {
    #[test]
    fn regions_are_read_to_their_places(case in case()) {
        static ARRAY: OnceLock<zarrox_node> = OnceLock::new();
        let mut values = vec![-1; 300];
        let status = case.call(*ARRAY.get_or_init(new_array), &mut values, zarrox_read);
        prop_assert_eq!(status == 0, case.is_valid(), "{}", status);
        let mut expected = vec![-1; 300];
        if status == 0 {
            case.indices().for_each(|at| expected[case.place(at)] = case.value(at).unwrap());
        }
        prop_assert_eq!(values, expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn regions_are_written_from_their_places(case in case()) {
        let node = new_array();
        let mut values: Vec<i32> = (1000..1300).collect();
        let status = case.call(node, &mut values, zarrox_write);
        prop_assert_eq!(status == 0, case.is_valid(), "{}", status);
        let mut expected: Vec<i32> = (1..=35).collect();
        if status == 0 {
            for at in case.indices() {
                let element = usize::try_from(case.value(at).unwrap() - 1).unwrap();
                expected[element] = values[case.place(at)];
            }
        }
        let mut stored = vec![0; 35];
        let memory = memory(stored.as_mut_ptr(), 140, null());
        // SAFETY: the memory has the size of the array.
        let status = unsafe { zarrox_read(node, null(), &raw const memory) };
        prop_assert_eq!(status, 0);
        prop_assert_eq!(zarrox_close(node), 0);
        prop_assert_eq!(stored, expected);
    }
}
