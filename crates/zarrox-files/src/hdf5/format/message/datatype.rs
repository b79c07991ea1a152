//! Datatype messages (section IV.A.2.d).

use zarrox::Result;

use super::space::MOST_DIMENSIONS;
use crate::hdf5::format::cursor::{Cursor, until_nul, width_of};
use crate::hdf5::format::model::{
    Bits, Class, Datatype, EnumMember, FloatLayout, Member, Order, Padding, Reference,
};
use crate::input::{corrupt, unsupported};

/// The maximum nesting depth of types.
const MOST_DEPTH: usize = 64;

/// The fields at the start of every datatype.
#[derive(Clone, Copy)]
struct Head {
    version: u8,
    flags: u32,
    size: usize,
    depth: usize,
}

/// Parses a datatype message.
pub(in crate::hdf5::format) fn parse(mut cursor: Cursor<'_>) -> Result<Datatype> {
    next(&mut cursor, 0)
}

/// Parses the next datatype, which is nested in `depth` other datatypes.
fn next(cursor: &mut Cursor<'_>, depth: usize) -> Result<Datatype> {
    if depth > MOST_DEPTH {
        return Err(corrupt(format!("a datatype has more than {MOST_DEPTH} levels")));
    }
    let first = cursor.u32()?;
    let (class, version, flags) = (first & 0xf, (first >> 4 & 0xf) as u8, first >> 8);
    if !(1..=5).contains(&version) {
        return Err(unsupported(format!("a datatype has the unsupported version {version}")));
    }
    let stored = cursor.u32()?;
    let size = usize::try_from(stored).map_err(|_| corrupt(format!("a datatype has {stored} bytes")))?;
    let head = Head { version, flags, size, depth: depth + 1 };
    let class = match class {
        0 => Class::Integer { bits: bits(cursor, head)?, is_signed: flags & 8 != 0 },
        1 => float(cursor, head)?,
        2 => Class::Time(Bits { order: order(flags), offset: 0, precision: cursor.u16()? }),
        3 => Class::Text { padding: padding(flags & 0xf)?, is_utf8: is_utf8(flags >> 4 & 0xf)? },
        4 => Class::Bitfield(bits(cursor, head)?),
        5 => Class::Opaque(tag(cursor, flags)?),
        6 => Class::Compound(members(cursor, head)?),
        7 => Class::Reference(reference(flags)?),
        8 => enumeration(cursor, head)?,
        9 => variable(cursor, head)?,
        10 => array(cursor, head)?,
        11 => complex(cursor, head)?,
        class => return Err(unsupported(format!("unknown class {class} of a datatype"))),
    };
    Ok(Datatype { size, class })
}

fn order(flags: u32) -> Order {
    if flags & 1 == 0 { Order::Little } else { Order::Big }
}

/// Reads the position of the significant bits within the bytes of a number.
fn bits(cursor: &mut Cursor<'_>, head: Head) -> Result<Bits> {
    let bits = Bits { order: order(head.flags), offset: cursor.u16()?, precision: cursor.u16()? };
    let end = usize::from(bits.offset) + usize::from(bits.precision);
    if bits.precision == 0 || end > head.size.saturating_mul(8) {
        return Err(corrupt(format!(
            "a datatype of {} bytes has {} bits from bit {} on",
            head.size, bits.precision, bits.offset
        )));
    }
    Ok(bits)
}

fn float(cursor: &mut Cursor<'_>, head: Head) -> Result<Class> {
    let mut bits = bits(cursor, head)?;
    if head.flags & 0x40 != 0 && head.version >= 3 {
        bits.order = Order::Vax;
    }
    let (exponent, exponent_bits) = (cursor.u8()?, cursor.u8()?);
    let (mantissa, mantissa_bits) = (cursor.u8()?, cursor.u8()?);
    let layout = FloatLayout {
        sign: (head.flags >> 8 & 0xff) as u8,
        exponent,
        exponent_bits,
        mantissa,
        mantissa_bits,
        bias: cursor.u32()?,
        is_normalised: head.flags >> 4 & 3 == 2,
    };
    Ok(Class::Float { bits, layout })
}

fn padding(number: u32) -> Result<Padding> {
    match number {
        0 => Ok(Padding::NullTerminated),
        1 => Ok(Padding::NullPadded),
        2 => Ok(Padding::SpacePadded),
        _ => Err(unsupported(format!("unknown padding {number} of text"))),
    }
}

fn is_utf8(number: u32) -> Result<bool> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(unsupported(format!("unknown character set {number} of text"))),
    }
}

fn tag(cursor: &mut Cursor<'_>, flags: u32) -> Result<String> {
    let length = (flags & 0xff) as usize;
    Ok(String::from_utf8_lossy(until_nul(cursor.take(length)?)).into_owned())
}

/// Reads the name of a member, which is padded in versions 1 and 2.
fn name(cursor: &mut Cursor<'_>, head: Head) -> Result<Vec<u8>> {
    let name = if head.version < 3 { cursor.padded_text()? } else { cursor.text()? };
    Ok(name.to_vec())
}

fn members(cursor: &mut Cursor<'_>, head: Head) -> Result<Vec<Member>> {
    let count = head.flags & 0xffff;
    if count == 0 {
        return Err(corrupt("a structure has no members"));
    }
    (0..count).map(|_| member(cursor, head)).collect()
}

fn member(cursor: &mut Cursor<'_>, head: Head) -> Result<Member> {
    let name = name(cursor, head)?;
    let width = if head.version < 3 { 4 } else { width_of(head.size as u64) };
    let offset = cursor.number(width)?;
    let shape = if head.version == 1 { old_shape(cursor)? } else { Vec::new() };
    let mut datatype = next(cursor, head.depth)?;
    if !shape.is_empty() {
        datatype = array_of(datatype, shape)?;
    }
    let offset = usize::try_from(offset)
        .ok()
        .filter(|offset| offset.checked_add(datatype.size).is_some_and(|end| end <= head.size));
    let offset = offset.ok_or_else(|| {
        let (name, size) = (name.escape_ascii(), head.size);
        corrupt(format!("the member '{name}' of a structure of {size} bytes does not lie in it"))
    })?;
    Ok(Member { name, offset, datatype })
}

/// Reads the dimensions of a version 1 member.
fn old_shape(cursor: &mut Cursor<'_>) -> Result<Vec<u64>> {
    let rank = usize::from(cursor.u8()?);
    // Reserved bytes and the unused permutation.
    cursor.skip(11)?;
    let lengths = (0..4).map(|_| cursor.u32()).collect::<Result<Vec<u32>>>()?;
    let Some(lengths) = lengths.get(..rank) else {
        return Err(corrupt(format!("a member of a structure has {rank} dimensions; at most 4 are allowed")));
    };
    Ok(lengths.iter().map(|&length| u64::from(length)).collect())
}

/// Returns an array type with the given shape.
fn array_of(base: Datatype, shape: Vec<u64>) -> Result<Datatype> {
    let size =
        shape.iter().try_fold(base.size, |all, &length| all.checked_mul(usize::try_from(length).ok()?));
    let size = size.ok_or_else(|| corrupt(format!("a datatype of the shape {shape:?} is too large")))?;
    Ok(Datatype { size, class: Class::Array { base: Box::new(base), shape } })
}

fn reference(flags: u32) -> Result<Reference> {
    match flags & 0xf {
        0 => Ok(Reference::Object),
        1 => Ok(Reference::Region),
        2..=4 => Ok(Reference::Standard),
        kind => Err(unsupported(format!("unknown kind {kind} of a reference"))),
    }
}

fn enumeration(cursor: &mut Cursor<'_>, head: Head) -> Result<Class> {
    let base = Box::new(next(cursor, head.depth)?);
    let count = head.flags & 0xffff;
    let names = (0..count).map(|_| name(cursor, head)).collect::<Result<Vec<_>>>()?;
    let member = |name| Ok(EnumMember { name, value: cursor.take(base.size)?.to_vec() });
    let members = names.into_iter().map(member).collect::<Result<Vec<_>>>()?;
    if base.size != head.size {
        return Err(corrupt(format!(
            "an enumeration of {} bytes has values of {} bytes",
            head.size, base.size
        )));
    }
    Ok(Class::Enum { base, members })
}

fn variable(cursor: &mut Cursor<'_>, head: Head) -> Result<Class> {
    let base = next(cursor, head.depth)?;
    match head.flags & 0xf {
        0 => Ok(Class::Sequence(Box::new(base))),
        1 => {
            let (padding, is_utf8) = (padding(head.flags >> 4 & 0xf)?, is_utf8(head.flags >> 8 & 0xf)?);
            Ok(Class::VariableText { padding, is_utf8 })
        }
        kind => Err(unsupported(format!("unknown kind {kind} of a datatype of variable length"))),
    }
}

fn array(cursor: &mut Cursor<'_>, head: Head) -> Result<Class> {
    let rank = usize::from(cursor.u8()?);
    if rank > MOST_DIMENSIONS {
        return Err(corrupt(format!("a datatype has {rank} dimensions; HDF5 has at most {MOST_DIMENSIONS}")));
    }
    if head.version < 3 {
        cursor.skip(3)?;
    }
    let shape = (0..rank).map(|_| cursor.u32().map(u64::from)).collect::<Result<Vec<u64>>>()?;
    if head.version < 3 {
        // The unused permutation.
        cursor.skip(4 * rank)?;
    }
    let all = array_of(next(cursor, head.depth)?, shape)?;
    if all.size != head.size {
        return Err(corrupt(format!("a datatype of {} bytes is an array of {} bytes", head.size, all.size)));
    }
    Ok(all.class)
}

fn complex(cursor: &mut Cursor<'_>, head: Head) -> Result<Class> {
    let base = next(cursor, head.depth)?;
    if base.size.checked_mul(2) != Some(head.size) {
        return Err(corrupt(format!("a complex datatype of {} bytes has parts of {}", head.size, base.size)));
    }
    Ok(Class::Complex(Box::new(base)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::format::cursor::tests::{USUAL, unhex};

    fn parsed(digits: &str) -> Result<Datatype> {
        parse(Cursor::new(&unhex(digits), USUAL, "a datatype message"))
    }

    fn int(order: Order) -> Datatype {
        Datatype {
            size: 4,
            class: Class::Integer { bits: Bits { order, offset: 0, precision: 32 }, is_signed: true },
        }
    }

    // The bytes are the result of h5py's `TypeID.encode`, without the first two bytes.

    #[test]
    fn plain_types() {
        assert_eq!(parsed("100800000400000000002000").unwrap(), int(Order::Little));
        let tag = Datatype { size: 3, class: Class::Opaque("tag name".to_owned()) };
        assert_eq!(parsed("1508000003000000746167206e616d65").unwrap(), tag);
        let text = Class::VariableText { padding: Padding::NullTerminated, is_utf8: true };
        let digits = "1901010008000000100000000100000000000800";
        assert_eq!(parsed(digits).unwrap(), Datatype { size: 8, class: text });
    }

    #[test]
    fn types_of_others() {
        let found = parsed("5b0100000800000011201f000400000000002000170800177f000000").unwrap();
        let Class::Complex(part) = found.class else { panic!("{found:?}") };
        assert_eq!((found.size, part.size), (8, 4));
        let found =
            parsed("2a000000060000000200000002000000030000000000000001000000100000000100000000000800")
                .unwrap();
        let Class::Array { base, shape } = found.class else { panic!("{found:?}") };
        assert_eq!((found.size, base.size, shape), (6, 1, vec![2, 3]));
        let digits = "18020000010000001008000001000000000008004100000000000000420000000000000001fd";
        let Class::Enum { members, .. } = parsed(digits).unwrap().class else { panic!() };
        let member = |name: &[u8], value| EnumMember { name: name.to_vec(), value: vec![value] };
        assert_eq!(members, [member(b"A", 1), member(b"B", 253)]);
    }

    #[test]
    fn members_of_version_1_have_dimensions() {
        // A structure `a: i4[3]` as written by HDF5 before 1.4: one dimension of length 3.
        let digits = "16010000 0c000000 6100000000000000 00000000 01 000000 00000000 00000000 03000000 00000000 00000000
            00000000 100800000400000000002000";
        let Class::Compound(members) = parsed(digits).unwrap().class else { panic!() };
        let array = Class::Array { base: Box::new(int(Order::Little)), shape: vec![3] };
        let datatype = Datatype { size: 12, class: array };
        assert_eq!(members, [Member { name: b"a".to_vec(), offset: 0, datatype }]);
        // With one more element, the array would not fit in the structure.
        let error = parsed(&digits.replace("03000000", "04000000")).unwrap_err().to_string();
        assert!(error.contains("the member 'a' of a structure of 12 bytes does not lie in it"), "{error}");
    }

    #[test]
    fn hostile_types() {
        // A hundred nested sequences.
        let error = parsed(&"1900000010000000".repeat(100)).unwrap_err().to_string();
        assert!(error.contains("more than 64 levels"), "{error}");
        let error = parsed("100800000400000001002000").unwrap_err().to_string();
        assert!(error.contains("a datatype of 4 bytes has 32 bits from bit 1 on"), "{error}");
        assert!(parsed("16ffff000400000041").unwrap_err().to_string().contains("a name in"));
        assert!(parsed("600800000400000000002000").unwrap_err().to_string().contains("version 6"));
        assert!(parsed("1f0800000400000000002000").unwrap_err().to_string().contains("class 15"));
    }
}
