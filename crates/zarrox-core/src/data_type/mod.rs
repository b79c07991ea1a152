//! Data types: what an element is, how it lies in memory, and what each format calls it.
//!
//! [`Storage`] is the closed list of memory layouts, and all that codecs see. A [`DataType`] adds a meaning and
//! names; types that need no layout of their own come as [`DataType::Extension`]. A family of types is one
//! file that implements [`Family`] and one line in [`FAMILIES`].

mod bool;
mod bytes;
mod cast;
mod complex;
mod element;
mod float;
mod integer;
mod number;
mod object;
mod optional;
mod python;
mod ragged;
mod raw;
#[doc(hidden)]
pub mod record;
mod small_complex;
mod small_float;
mod small_int;
mod structure;
mod time;
mod unknown;
mod utf32;
mod variable;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::codec::CodecSpec;
use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::json::{self, Json, Map};
use crate::registry::Registry;
use crate::strictness::Strictness;
use crate::vlen::VlenRef;

pub use cast::{Cast, Casting, Number};
pub use element::{Element, Optional};
pub use float::odd_single;
pub use object::PICKLE;
pub(crate) use object::nests_lists;
pub use python::float as python_float;
pub(crate) use structure::Structures;
pub use structure::{Field, Structure};
pub use time::{NOT_A_TIME, TimeKind, TimeType, TimeUnit};
pub(crate) use unknown::Unknown;
pub use utf32::text as utf32_text;
pub use variable::{BYTES as VARIABLE_BYTES, TEXT as VARIABLE_TEXT};

/// How one element lies in memory. Numbers are the element's size in bytes; multi-byte numbers are in the
/// machine's own endianness once decoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Storage {
    /// One byte, 0 or 1.
    Bool,
    /// A signed integer in two's complement.
    Int(usize),
    /// An unsigned integer.
    Uint(usize),
    /// An IEEE 754 binary float.
    Float(usize),
    /// Two floats of half the size: the real and the imaginary part.
    Complex(usize),
    /// Bytes without further meaning.
    Raw(usize),
    /// Characters of four bytes each.
    Utf32(usize),
    /// Fields one after the other.
    Struct(Arc<StructLayout>),
    /// As many bytes as each element has, in a [buffer](crate::vlen).
    Variable,
}

/// Where the numbers lie in a structure.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StructLayout {
    /// The size of an element with all its padding, in bytes.
    pub size: usize,
    /// The parts of which all have one word, in the order of the fields. What lies between them is padding.
    pub leaves: Vec<Leaf>,
}

/// A part of an element that is made of words of one size: a number, a complex number, an array of either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Leaf {
    /// Where it begins in the element, in bytes.
    pub offset: usize,
    /// How long it is, in bytes.
    pub size: usize,
    /// How many bytes are reversed as a unit; 1 where there is no order.
    pub word: usize,
}

impl Storage {
    /// The size of an element in strided memory, in bytes.
    pub fn size(&self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Int(n)
            | Self::Uint(n)
            | Self::Float(n)
            | Self::Complex(n)
            | Self::Raw(n)
            | Self::Utf32(n) => *n,
            Self::Struct(layout) => layout.size,
            Self::Variable => VlenRef::SIZE,
        }
    }

    /// How many bytes are reversed as a unit between the two endiannesses; 1 where there is no order. In a structure, the
    /// most of any field's.
    pub fn word(&self) -> usize {
        match self {
            Self::Bool | Self::Raw(_) | Self::Variable => 1,
            Self::Int(n) | Self::Uint(n) | Self::Float(n) => *n,
            Self::Complex(n) => n / 2,
            Self::Utf32(_) => 4,
            Self::Struct(layout) => layout.leaves.iter().map(|leaf| leaf.word).max().unwrap_or(1),
        }
    }

    /// The parts of which all have one word: several only in a structure.
    pub fn leaves(&self) -> Vec<Leaf> {
        match self {
            Self::Struct(layout) => layout.leaves.clone(),
            other => vec![Leaf { offset: 0, size: other.size(), word: other.word() }],
        }
    }
}

/// A data type of the model, whatever format it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DataType {
    /// `true` or `false`.
    Bool,
    /// Signed 8-bit integer.
    Int8,
    /// Signed 16-bit integer.
    Int16,
    /// Signed 32-bit integer.
    Int32,
    /// Signed 64-bit integer.
    Int64,
    /// Unsigned 8-bit integer.
    UInt8,
    /// Unsigned 16-bit integer.
    UInt16,
    /// Unsigned 32-bit integer.
    UInt32,
    /// Unsigned 64-bit integer.
    UInt64,
    /// IEEE 754 half precision.
    Float16,
    /// IEEE 754 single precision.
    Float32,
    /// IEEE 754 double precision.
    Float64,
    /// Two single precision floats.
    Complex64,
    /// Two double precision floats.
    Complex128,
    /// A number of raw bytes: v3's `r<8n>`, v2's `|V<n>`.
    RawBits(usize),
    /// Elements of named fields.
    Struct(Arc<Structure>),
    /// Any further type, told by its name and configuration, over one of the storage layouts.
    Extension(Box<Extension>),
}

/// A data type outside the core list: a name and a configuration (as v3 metadata has them) over a storage layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// The name in v3 metadata.
    pub name: String,
    /// The configuration in v3 metadata; empty when there is none.
    pub configuration: Map,
    /// How an element lies in memory.
    pub storage: Storage,
}

/// Objects are equal in whatever order their members are, so that the configuration is left out.
impl Hash for Extension {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.storage.hash(state);
    }
}

impl DataType {
    /// How an element lies in memory.
    pub fn storage(&self) -> Storage {
        match self {
            Self::Bool => Storage::Bool,
            Self::Int8 => Storage::Int(1),
            Self::Int16 => Storage::Int(2),
            Self::Int32 => Storage::Int(4),
            Self::Int64 => Storage::Int(8),
            Self::UInt8 => Storage::Uint(1),
            Self::UInt16 => Storage::Uint(2),
            Self::UInt32 => Storage::Uint(4),
            Self::UInt64 => Storage::Uint(8),
            Self::Float16 => Storage::Float(2),
            Self::Float32 => Storage::Float(4),
            Self::Float64 => Storage::Float(8),
            Self::Complex64 => Storage::Complex(8),
            Self::Complex128 => Storage::Complex(16),
            Self::RawBits(bytes) => Storage::Raw(*bytes),
            Self::Struct(structure) => Storage::Struct(structure.layout().clone()),
            Self::Extension(extension) => extension.storage.clone(),
        }
    }

    /// The type of the core list whose elements lie in memory so, where there is one.
    pub fn of_storage(storage: &Storage) -> Option<Self> {
        Some(match storage {
            Storage::Bool => Self::Bool,
            Storage::Int(1) => Self::Int8,
            Storage::Int(2) => Self::Int16,
            Storage::Int(4) => Self::Int32,
            Storage::Int(8) => Self::Int64,
            Storage::Uint(1) => Self::UInt8,
            Storage::Uint(2) => Self::UInt16,
            Storage::Uint(4) => Self::UInt32,
            Storage::Uint(8) => Self::UInt64,
            Storage::Float(2) => Self::Float16,
            Storage::Float(4) => Self::Float32,
            Storage::Float(8) => Self::Float64,
            Storage::Complex(8) => Self::Complex64,
            Storage::Complex(16) => Self::Complex128,
            Storage::Raw(bytes) => Self::RawBits(*bytes),
            _ => return None,
        })
    }

    /// Elements of fields of these names and types, one after the other without padding.
    ///
    /// # Errors
    /// When a name is empty or there twice, a field is of variable length, or an element would be too large.
    pub fn structure<N: Into<String>>(fields: impl IntoIterator<Item = (N, Self)>) -> Result<Self> {
        Ok(Self::Struct(Arc::new(Structure::packed(fields)?)))
    }

    /// The fields, of a structured type.
    pub fn fields(&self) -> Option<&Structure> {
        match self {
            Self::Struct(structure) => Some(structure),
            _ => None,
        }
    }

    /// The size of an element in strided memory, in bytes.
    pub fn size(&self) -> usize {
        self.storage().size()
    }

    /// How many bytes codecs of bytes take together as one element, as numcodecs sees it: one, of elements of variable length.
    pub fn encoded_item(&self) -> usize {
        if self.storage() == Storage::Variable { 1 } else { self.size() }
    }

    /// Whether this is a type outside the core list that has this name, however it is configured.
    pub fn is_named(&self, name: &str) -> bool {
        matches!(self, Self::Extension(extension) if extension.name == name)
    }

    /// The same type without padding between the fields, and inside of them: of all types but padded structures, itself.
    pub fn packed(&self) -> Self {
        let packed = self.fields().and_then(|structure| structure.without_padding().ok());
        packed.map_or_else(|| self.clone(), |packed| Self::Struct(Arc::new(packed)))
    }

    /// Appends an element of this type as one of the [packed](DataType::packed) type.
    pub fn pack(&self, element: &[u8], packed: &mut Vec<u8>) {
        match self {
            Self::Struct(structure) => {
                let leaves = structure.layout().leaves.iter();
                leaves.for_each(|leaf| packed.extend_from_slice(&element[leaf.offset..][..leaf.size]));
            }
            _ => packed.extend_from_slice(element),
        }
    }

    /// The name in v3 metadata of a type of the core list that has only one.
    const fn core_name(&self) -> Option<&'static str> {
        Some(match self {
            Self::Bool => "bool",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::UInt8 => "uint8",
            Self::UInt16 => "uint16",
            Self::UInt32 => "uint32",
            Self::UInt64 => "uint64",
            Self::Float16 => "float16",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
            Self::Complex64 => "complex64",
            Self::Complex128 => "complex128",
            Self::RawBits(_) | Self::Struct(_) | Self::Extension(_) => return None,
        })
    }

    /// The type of a name as people write it: v3's (`float32`, `r24`), v2's (`<f4`, `|V3`), NumPy's (`f4`, `M8[ns]`,
    /// `datetime64[ns]`), or zarr-python 2's for objects (`object`, `array:i4`).
    pub fn parse(name: &str, registry: &Registry) -> Result<Self> {
        if name == object::NAME {
            return Ok(Self::object());
        }
        if let Some(item) = name.strip_prefix("array:") {
            return Self::vlen_array(&Self::parse(item, registry)?);
        }
        let v2 = |name: String| registry.data_type_from_v2(&Json::from(name)).map(|(data_type, _)| data_type);
        let v3 = || registry.data_type_from_v3(&Json::from(name));
        v2(name.to_owned()).or_else(|_| v3()).or_else(|error| {
            let name = time::type_string(name);
            let numpy = v2(format!("<{name}")).or_else(|_| v2(format!("|{name}")));
            numpy.map_err(|_| error)
        })
    }
}

impl fmt::Display for DataType {
    /// The name as people write it, which [`DataType::parse`] reads: NumPy's where it is short (`U5`, `S3`, `datetime64[ns]`), else
    /// that in v3 metadata, and behind it the configuration where there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RawBits(bytes) => write!(f, "r{}", bytes * 8),
            Self::Struct(structure) => structure.fmt(f),
            Self::Extension(extension) => {
                if let Some(name) =
                    time::numpy_name(self).or(bytes::numpy_name(self)).or(utf32::numpy_name(self))
                {
                    return f.write_str(&name);
                }
                f.write_str(&extension.name)?;
                json::write_configuration(f, &extension.configuration)
            }
            core => f.write_str(core.core_name().unwrap_or_default()),
        }
    }
}

/// The byte order of stored numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endian {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

impl Endian {
    /// The machine's own order.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };

    /// The name in v3 metadata.
    pub fn name(self) -> &'static str {
        match self {
            Self::Little => "little",
            Self::Big => "big",
        }
    }

    /// The byte order of this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Little, Self::Big].into_iter().find(|endian| endian.name() == name)
    }

    /// The character in v2 metadata.
    pub fn character(self) -> char {
        match self {
            Self::Little => '<',
            Self::Big => '>',
        }
    }
}

/// The byte order of stored elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ByteOrder {
    /// All numbers have one.
    One(Endian),
    /// The numbers of a structure have their own, in the order of its [leaves](Storage::leaves) that have one at all.
    Each(Vec<Endian>),
}

impl ByteOrder {
    /// As the codec `bytes` has it for its `endian`. A list is only the model's own: v3 metadata cannot have it.
    pub fn to_json(&self) -> Json {
        match self {
            Self::One(endian) => endian.name().into(),
            Self::Each(endians) => endians.iter().map(|endian| endian.name()).collect::<Vec<_>>().into(),
        }
    }

    /// What [`ByteOrder::to_json`] made.
    pub fn from_json(json: &Json) -> Option<Self> {
        let one = |json: &Json| json.as_str().and_then(Endian::parse);
        match json {
            Json::Array(list) => list.iter().map(one).collect::<Option<_>>().map(Self::Each),
            single => one(single).map(Self::One),
        }
    }

    /// The leaves of elements whose bytes must be reversed between memory and the store.
    pub fn swapped(&self, storage: &Storage) -> Vec<Leaf> {
        let ordered = storage.leaves().into_iter().filter(|leaf| leaf.word > 1).enumerate();
        let endian = |index| match self {
            Self::One(endian) => Some(*endian),
            Self::Each(endians) => endians.get(index).copied(),
        };
        ordered.filter(|(index, _)| endian(*index) != Some(Endian::NATIVE)).map(|(_, leaf)| leaf).collect()
    }
}

/// Takes the name of a type apart that has the shape of small arrays of it in front, as NumPy has it: `(2, 3)f4`. The shape is
/// empty where there is none. Zarr has no such elements: arrays of them are arrays with more dimensions.
///
/// # Errors
/// When there are brackets, but no shape in them.
pub fn split_sub_array(name: &str) -> Result<(Vec<u64>, &str)> {
    let Some((shape, inner)) = name.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return Ok((Vec::new(), name));
    };
    let lengths = shape.split(',').map(str::trim).filter(|length| !length.is_empty());
    let shape: Option<Vec<u64>> = lengths.map(|length| length.parse().ok().filter(|&n| n > 0)).collect();
    match shape.filter(|shape| !shape.is_empty()) {
        Some(shape) => Ok((shape, inner.trim())),
        None => Err(Error::argument(format!("'{name}' has no shape between its brackets"))),
    }
}

/// A v2 type string such as `<f4`, taken apart.
#[derive(Debug, Clone, Copy)]
pub struct TypeString<'a> {
    /// The byte order; absent for `|`.
    pub endian: Option<Endian>,
    /// The character of the kind: `b i u f c V` …
    pub kind: char,
    /// What follows: the size in bytes, for some kinds more.
    pub rest: &'a str,
}

impl<'a> TypeString<'a> {
    /// Takes a v2 type string apart; `None` when it does not begin as one.
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut characters = text.chars();
        let endian = match characters.next()? {
            '<' => Some(Endian::Little),
            '>' => Some(Endian::Big),
            '|' => None,
            _ => return None,
        };
        let kind = characters.next().filter(char::is_ascii)?;
        Some(Self { endian, kind, rest: characters.as_str() })
    }

    /// The size in bytes, when that is all that follows the kind.
    pub fn size(&self) -> Option<usize> {
        self.rest.parse().ok().filter(|_| !self.rest.starts_with('+'))
    }
}

/// A family of data types: their names and their fill values, in every format.
///
/// The functions that read a name answer `None` when the name is not this family's. A user's own family is
/// registered with [`Registry::with_data_types`].
pub trait Family: fmt::Debug + Send + Sync {
    /// The type of a v3 name and configuration.
    fn parse_v3(&self, name: &str, configuration: &Map) -> Option<Result<DataType>>;

    /// The type of a v2 type string; none of those that v2 has no such string for.
    fn parse_v2(&self, dtype: &TypeString<'_>) -> Option<Result<DataType>> {
        let _ = dtype;
        None
    }

    /// The family's types, for lists of what there is; of types that come in any size, one.
    fn examples(&self) -> Vec<DataType>;

    /// Whether the type is this family's.
    fn has(&self, data_type: &DataType) -> bool;

    /// The type of v2's `|O` elements that this codec stores, given with its `id` as v2 metadata has it.
    fn parse_object(&self, codec: &Map) -> Option<Result<DataType>> {
        let _ = codec;
        None
    }

    /// The `data_type` member of v3 metadata, or an error when v3 cannot say this type.
    fn to_v3(&self, data_type: &DataType) -> Result<Json> {
        Ok(match data_type {
            DataType::Extension(extension) if !extension.configuration.is_empty() => crate::json::json!({
                "name": extension.name,
                "configuration": extension.configuration,
            }),
            named => Json::from(named.to_string()),
        })
    }

    /// The v2 type string, or an error when v2 cannot say this type.
    fn to_v2(&self, data_type: &DataType, endian: Endian) -> Result<Json> {
        let _ = endian;
        Err(Error::unsupported(format!("Zarr v2 has no data type '{data_type}'; create the array as v3")))
    }

    /// The codec that turns arrays of this type into bytes where their creator does not say; `bytes` if none.
    fn default_codec(&self, data_type: &DataType) -> Option<CodecSpec> {
        let _ = data_type;
        None
    }

    /// The fill value of arrays whose creator does not say: zero, but where that would mean something.
    fn default_fill(&self, data_type: &DataType) -> FillValue {
        match data_type.storage() {
            Storage::Variable => FillValue::new([]),
            fixed => FillValue::zero(fixed.size()),
        }
    }

    /// A fill value from JSON. `Lenient` takes every form that has been seen and is clear; `Strict` only what
    /// the specification has. The two formats' forms do not contradict each other, so one reader serves both.
    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue>;

    /// A fill value as v3 metadata has it.
    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json;

    /// A fill value as v2 metadata has it.
    fn fill_to_v2(&self, data_type: &DataType, fill: &FillValue) -> Json {
        self.fill_to_v3(data_type, fill)
    }

    /// The number that an element is; `None` for types whose elements are no numbers. A type has either all or none.
    fn number(&self, data_type: &DataType, element: &[u8]) -> Option<Number> {
        let _ = (data_type, element);
        None
    }

    /// Writes the element that a number becomes, as [`Casting::Lossy`] says. `false` where there is none.
    fn write_number(&self, data_type: &DataType, number: Number, element: &mut [u8]) -> bool {
        let _ = (data_type, number, element);
        false
    }

    /// One element as people read it: `0.25`, `True`, `(1+2j)` — NumPy's way.
    fn format(&self, data_type: &DataType, element: &[u8]) -> String;
}

/// The families that every registry begins with.
pub static FAMILIES: &[&dyn Family] = &[
    &bool::Bool,
    &integer::Integers,
    &float::Floats,
    &complex::Complexes,
    &raw::RawBytes,
    &small_int::SmallInts,
    &small_float::SmallFloats,
    &small_complex::SmallComplexes,
    &bytes::ByteStrings,
    &utf32::FixedText,
    &time::Times,
    &variable::Variable,
    &object::Objects,
    &ragged::Ragged,
    &optional::Optionals,
];

/// The error for a fill value that does not say an element of the type.
fn bad_fill(data_type: &DataType, json: &Json, wants: &str) -> Error {
    let shown = json::shown(json, 80);
    Error::metadata(format!("fill_value {shown} is not a {data_type}; it should be {wants}"))
}

/// The most bytes of an element: a larger one is an accident or an attack.
pub const LARGEST: usize = 1 << 20;

/// Checks the number of bytes that a type gives its elements.
fn check_length(name: &str, bytes: usize) -> Result<()> {
    match bytes {
        1..=LARGEST => Ok(()),
        _ => Err(Error::metadata(format!(
            "data type '{name}': the size must be 1 to {LARGEST} bytes, it is {bytes}"
        ))),
    }
}

/// The `length_bytes` of a type's configuration.
fn length_bytes(name: &str, configuration: &Map) -> Result<usize> {
    let length = configuration.get("length_bytes").and_then(Json::as_u64);
    let length = length.and_then(|length| usize::try_from(length).ok());
    length.ok_or_else(|| {
        Error::metadata(format!("data type '{name}' needs the number 'length_bytes' in its configuration"))
    })
}
