//! The affine matrix that maps the indices `(x, y, z, 1)` of an element to its spatial coordinates.

use super::layout::{Header, Kind, PIXDIM, QFORM_CODE, QUATERNION, QUATERNION_OFFSET, SFORM, SFORM_CODE};

/// The rows of a matrix.
pub(super) type Affine = [[f64; 4]; 4];

const LAST: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

/// Returns the matrix stored in the header (sform), or the matrix derived from the quaternion in the header (qform).
pub(super) fn of(header: &Header) -> Option<Affine> {
    if header.kind == Kind::Analyze {
        return None;
    }
    let matrix = if header.int(SFORM_CODE, 0) > 0 {
        let row = |row: usize| [0, 1, 2, 3].map(|column| header.float(SFORM, 4 * row + column));
        [row(0), row(1), row(2), LAST]
    } else if header.int(QFORM_CODE, 0) > 0 {
        turned(header)
    } else {
        return None;
    };
    matrix.iter().flatten().all(|value| value.is_finite()).then_some(matrix)
}

/// Computes the matrix from the unit quaternion, the pixel sizes and the offset. The first component of the quaternion is
/// derived from the other three.
fn turned(header: &Header) -> Affine {
    let [b, c, d] = [0, 1, 2].map(|index| header.float(QUATERNION, index));
    let a = (1.0 - (b * b + c * c + d * d)).max(0.0).sqrt();
    let rotation = [
        [a * a + b * b - c * c - d * d, 2.0 * (b * c - a * d), 2.0 * (b * d + a * c)],
        [2.0 * (b * c + a * d), a * a + c * c - b * b - d * d, 2.0 * (c * d - a * b)],
        [2.0 * (b * d - a * c), 2.0 * (c * d + a * b), a * a + d * d - b * b - c * c],
    ];
    let mirror = if header.float(PIXDIM, 0) < 0.0 { -1.0 } else { 1.0 };
    let lengths = [header.float(PIXDIM, 1), header.float(PIXDIM, 2), mirror * header.float(PIXDIM, 3)];
    let mut matrix = [LAST; 4];
    for (number, (row, turned)) in matrix.iter_mut().zip(rotation).enumerate() {
        let offset = header.float(QUATERNION_OFFSET, number);
        *row = [turned[0] * lengths[0], turned[1] * lengths[1], turned[2] * lengths[2], offset];
    }
    matrix
}
