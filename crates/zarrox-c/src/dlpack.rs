//! Results as DLPack tensors: <https://dmlc.github.io/dlpack/latest/c_api.html>.

#![expect(missing_docs, reason = "the specification documents the members")]

use std::ffi::c_void;
use std::ptr;

use zarrox::{Error, ErrorKind, Result};

use crate::arguments::OutPointer;
use crate::buffer::Buffer;
use crate::cancel::with_array;
use crate::element_type::ElementType;
use crate::elements::read_bytes;
use crate::region::{Part, zarrox_region};
use crate::status::guard;
use crate::table::zarrox_node;

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DLPackVersion {
    pub major: u32,
    pub minor: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DLDevice {
    pub device_type: i32,
    pub device_id: i32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DLDataType {
    pub code: u8,
    pub bits: u8,
    pub lanes: u16,
}

#[repr(C)]
#[derive(Debug)]
pub struct DLTensor {
    pub data: *mut c_void,
    pub device: DLDevice,
    pub ndim: i32,
    pub dtype: DLDataType,
    pub shape: *mut i64,
    pub strides: *mut i64,
    pub byte_offset: u64,
}

#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    pub version: DLPackVersion,
    pub manager_ctx: *mut c_void,
    pub deleter: Option<unsafe extern "C" fn(tensor: *mut DLManagedTensorVersioned)>,
    pub flags: u64,
    pub dl_tensor: DLTensor,
}

const VERSION: DLPackVersion = DLPackVersion { major: 1, minor: 0 };
const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };
/// The flag that marks a tensor as a copy.
const IS_COPIED: u64 = 1 << 1;

/// A tensor, and the memory that it refers to.
struct Owner {
    tensor: DLManagedTensorVersioned,
    memory: Buffer,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

/// Reads a region into a DLPack tensor in row-major order. The tensor owns its memory: its consumer calls its `deleter` once,
/// from any thread. The header of DLPack defines the structure from version 1.0 on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_read_dlpack(
    node: zarrox_node,
    region: *const zarrox_region,
    tensor: *mut *mut DLManagedTensorVersioned,
) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        let place = unsafe { OutPointer::new(tensor, "tensor") }?;
        with_array(node, |array| {
            let dtype = dtype(ElementType::of(array.data_type())).ok_or_else(|| {
                Error::new(ErrorKind::Unsupported, format!("DLPack has no elements of {}", array.data_type()))
            })?;
            // SAFETY: the caller guarantees it.
            let part = unsafe { Part::new(region, array.shape()) }?;
            let size = part.len()?.saturating_mul(array.data_type().size());
            let mut memory = Buffer::new(size)?;
            read_bytes(array, &part, memory.bytes())?;
            place.set(managed(memory, dtype, &part.shape)?);
            Ok(())
        })
    })
}

/// Returns a tensor that owns its memory.
fn managed(memory: Buffer, dtype: DLDataType, shape: &[usize]) -> Result<*mut DLManagedTensorVersioned> {
    let too_large = |_| Error::new(ErrorKind::Unsupported, "DLPack has no tensors of this shape");
    let ndim = i32::try_from(shape.len()).map_err(too_large)?;
    let shape = shape.iter().map(|&length| i64::try_from(length).map_err(too_large));
    let shape = shape.collect::<Result<Vec<i64>>>()?;
    let mut strides = vec![1_i64; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim].saturating_mul(shape[dim].max(1));
    }
    let dl_tensor = DLTensor {
        data: memory.as_ptr().cast(),
        device: CPU,
        ndim,
        dtype,
        shape: ptr::null_mut(),
        strides: ptr::null_mut(),
        byte_offset: 0,
    };
    let tensor = DLManagedTensorVersioned {
        version: VERSION,
        manager_ctx: ptr::null_mut(),
        deleter: Some(delete),
        flags: IS_COPIED,
        dl_tensor,
    };
    let owner = Box::into_raw(Box::new(Owner { tensor, memory, shape, strides }));
    // SAFETY: the box was just created, and has no other owner. Its lists stay in place.
    unsafe {
        (*owner).tensor.manager_ctx = owner.cast();
        (*owner).tensor.dl_tensor.shape = (*owner).shape.as_mut_ptr();
        (*owner).tensor.dl_tensor.strides = (*owner).strides.as_mut_ptr();
        Ok(&raw mut (*owner).tensor)
    }
}

/// Frees a tensor.
unsafe extern "C" fn delete(tensor: *mut DLManagedTensorVersioned) {
    if tensor.is_null() {
        return;
    }
    // SAFETY: the consumer calls this function once, with a tensor from `managed`, whose context is the box.
    let owner: Box<Owner> = unsafe { Box::from_raw((*tensor).manager_ctx.cast()) };
    drop(owner.memory);
}

/// Returns the data type of the elements in DLPack.
fn dtype(element: ElementType) -> Option<DLDataType> {
    const INT: u8 = 0;
    const UINT: u8 = 1;
    const FLOAT: u8 = 2;
    const COMPLEX: u8 = 5;
    const BOOL: u8 = 6;
    let (code, bits) = match element {
        ElementType::Bool => (BOOL, 8),
        ElementType::Int8 => (INT, 8),
        ElementType::Int16 => (INT, 16),
        ElementType::Int32 => (INT, 32),
        ElementType::Int64 => (INT, 64),
        ElementType::Uint8 => (UINT, 8),
        ElementType::Uint16 => (UINT, 16),
        ElementType::Uint32 => (UINT, 32),
        ElementType::Uint64 => (UINT, 64),
        ElementType::Float16 => (FLOAT, 16),
        ElementType::Float32 => (FLOAT, 32),
        ElementType::Float64 => (FLOAT, 64),
        ElementType::Complex64 => (COMPLEX, 64),
        ElementType::Complex128 => (COMPLEX, 128),
        ElementType::Raw | ElementType::Utf32 | ElementType::String | ElementType::Bytes => return None,
    };
    Some(DLDataType { code, bits, lanes: 1 })
}
