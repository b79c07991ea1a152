//! Results as Arrow arrays, through Arrow's C data interface: <https://arrow.apache.org/docs/format/CDataInterface.html>.

#![expect(missing_docs, reason = "the specification documents the members")]

use std::ffi::{CString, c_char, c_void};
use std::ptr;

use zarrox::data_type::Storage;
use zarrox::{Array, Error, ErrorKind, Result};

use crate::arguments::OutPointer;
use crate::buffer::Buffer;
use crate::cancel::{OpenArray, with_array};
use crate::element_type::ElementType;
use crate::elements::read_bytes;
use crate::region::{Part, zarrox_region};
use crate::status::guard;
use crate::table::zarrox_node;
use crate::text::with_strings;

#[repr(C)]
#[derive(Debug)]
pub struct ArrowSchema {
    pub format: *const c_char,
    pub name: *const c_char,
    pub metadata: *const c_char,
    pub flags: i64,
    pub n_children: i64,
    pub children: *mut *mut ArrowSchema,
    pub dictionary: *mut ArrowSchema,
    pub release: Option<unsafe extern "C" fn(schema: *mut ArrowSchema)>,
    pub private_data: *mut c_void,
}

#[repr(C)]
#[derive(Debug)]
pub struct ArrowArray {
    pub length: i64,
    pub null_count: i64,
    pub offset: i64,
    pub n_buffers: i64,
    pub n_children: i64,
    pub buffers: *mut *const c_void,
    pub children: *mut *mut ArrowArray,
    pub dictionary: *mut ArrowArray,
    pub release: Option<unsafe extern "C" fn(array: *mut ArrowArray)>,
    pub private_data: *mut c_void,
}

/// The memory that an array refers to.
struct Owner {
    #[expect(dead_code, reason = "it keeps the memory that the pointers refer to")]
    memory: Vec<Buffer>,
    pointers: Vec<*const c_void>,
}

/// Reads a region into an Arrow array of one dimension, in row-major order. Booleans, integers, floats, raw bytes, text and bytes
/// of variable length have Arrow's types; other types are an error. The caller provides memory for both structures, which need
/// not be initialised, and calls the `release` of each structure once, from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_read_arrow(
    node: zarrox_node,
    region: *const zarrox_region,
    array: *mut ArrowArray,
    schema: *mut ArrowSchema,
) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        let (place, schema) =
            unsafe { (OutPointer::new(array, "array")?, OutPointer::new(schema, "schema")?) };
        with_array(node, |array| {
            let format = format(array)?;
            // SAFETY: the caller guarantees it.
            let part = unsafe { Part::new(region, array.shape()) }?;
            let length = i64::try_from(part.len()?);
            let length =
                length.map_err(|_| Error::new(ErrorKind::LimitExceeded, "the region is too large"))?;
            let memory = buffers(array, &part)?;
            let name = CString::new(array.name()).unwrap_or_default();
            place.set(array_of(memory, length));
            schema.set(schema_of(format, name));
            Ok(())
        })
    })
}

/// Returns Arrow's format string for the data type of the elements.
fn format(array: &Array) -> Result<CString> {
    let format = match ElementType::of(array.data_type()) {
        ElementType::Bool => "b",
        ElementType::Int8 => "c",
        ElementType::Int16 => "s",
        ElementType::Int32 => "i",
        ElementType::Int64 => "l",
        ElementType::Uint8 => "C",
        ElementType::Uint16 => "S",
        ElementType::Uint32 => "I",
        ElementType::Uint64 => "L",
        ElementType::Float16 => "e",
        ElementType::Float32 => "f",
        ElementType::Float64 => "g",
        ElementType::Raw => {
            return Ok(CString::new(format!("w:{}", array.data_type().size())).unwrap_or_default());
        }
        ElementType::Utf32 | ElementType::String => "U",
        ElementType::Bytes => "Z",
        ElementType::Complex64 | ElementType::Complex128 => {
            let message = format!("Arrow has no elements of {}: use zarrox_read_dlpack", array.data_type());
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
    };
    Ok(CString::new(format).unwrap_or_default())
}

/// Reads the data buffers. The validity buffer, which precedes them, is absent: no values are missing.
fn buffers(array: &OpenArray<'_>, part: &Part) -> Result<Vec<Buffer>> {
    match array.data_type().storage() {
        Storage::Variable | Storage::Utf32(_) => with_strings(array, part, |strings| {
            let ends = strings.iter().scan(0_i64, |end, bytes| {
                *end += bytes.len() as i64;
                Some(*end)
            });
            let offsets: Vec<u8> = std::iter::once(0).chain(ends).flat_map(i64::to_ne_bytes).collect();
            Ok(vec![Buffer::of(&offsets)?, Buffer::of(&strings.concat())?])
        }),
        Storage::Bool => {
            let mut bytes = Buffer::new(part.len()?)?;
            read_bytes(array, part, bytes.bytes())?;
            let pack =
                |bits: &[u8]| bits.iter().enumerate().fold(0, |byte, (bit, value)| byte | (value & 1) << bit);
            let packed: Vec<u8> = bytes.bytes()[..part.len()?].chunks(8).map(pack).collect();
            Ok(vec![Buffer::of(&packed)?])
        }
        _ => {
            let mut bytes = Buffer::new(part.len()?.saturating_mul(array.data_type().size()))?;
            read_bytes(array, part, bytes.bytes())?;
            Ok(vec![bytes])
        }
    }
}

fn array_of(memory: Vec<Buffer>, length: i64) -> ArrowArray {
    let pointers = memory.iter().map(|buffer| buffer.as_ptr().cast_const().cast());
    let pointers: Vec<*const c_void> = std::iter::once(ptr::null()).chain(pointers).collect();
    let n_buffers = pointers.len() as i64;
    let mut owner = Box::new(Owner { memory, pointers });
    // The list stays in place when its owner is moved.
    let buffers = owner.pointers.as_mut_ptr();
    ArrowArray {
        length,
        null_count: 0,
        offset: 0,
        n_buffers,
        n_children: 0,
        buffers,
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(owner).cast(),
    }
}

fn schema_of(format: CString, name: CString) -> ArrowSchema {
    let texts = Box::new((format, name));
    ArrowSchema {
        format: texts.0.as_ptr(),
        name: texts.1.as_ptr(),
        metadata: ptr::null(),
        flags: 0,
        n_children: 0,
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(texts).cast(),
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: the consumer calls this function once, with an array from `array_of`, which may have been moved.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Owner>()));
        (*array).release = None;
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the consumer calls this function once, with a schema from `schema_of`, which may have been moved.
    unsafe {
        drop(Box::from_raw((*schema).private_data.cast::<(CString, CString)>()));
        (*schema).release = None;
    }
}
