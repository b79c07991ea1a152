//! Pictures of selections have the colours of their elements.

use ndarray::Array3;
use zarrox::{Array, ErrorKind, Result, Selection};
use zarrox::{prelude::*, s};
use zarrox_files::picture::{Colours, Picture};
use zarrox_testkit::errors::assert_error;

/// Returns the height, the width, the number of channels and the pixels of a file.
fn decoded(file: &[u8]) -> (u32, u32, usize, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.height, info.width, info.color_type.samples(), pixels)
}

fn written(picture: &Picture, array: &Array, selection: Selection) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    picture.write(&array.slice(selection), &mut file)?;
    Ok(file)
}

fn gray() -> Picture {
    Picture::new().colours(Colours::named("gray").unwrap())
}

/// Creates an array of numbers that rise along each row. One of its chunks is not stored.
fn rising(directory: &std::path::Path) -> Array {
    let builder = zarrox::create_array(directory.join("a.zarr")).shape([2, 20, 30]).chunks([1, 10, 10]);
    let array = builder.data_type(DataType::Float32).fill_value(-9999_f32).create().unwrap();
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let values = Array3::from_shape_fn((2, 20, 20), |(_, row, column)| (row * 20 + column) as f32);
    array.write(s![.., .., 0..20], &values).unwrap();
    array
}

#[test]
fn values_have_the_colours_of_their_place_and_missing_ones_none() {
    let directory = tempfile::tempdir().unwrap();
    let array = rising(directory.path());
    for memory in [1, 1000, 1 << 29] {
        let file = written(&gray().memory(memory), &array, s![1]).unwrap();
        let (height, width, channels, pixels) = decoded(&file);
        assert_eq!((height, width, channels), (20, 30, 4));
        let pixel = |row: usize, column: usize| &pixels[(row * 30 + column) * 4..][..4];
        assert_eq!(pixel(0, 0), [0, 0, 0, 255]);
        assert_eq!(pixel(19, 19), [255, 255, 255, 255]);
        assert_eq!(pixel(10, 0), [128, 128, 128, 255], "200 of 399");
        assert_eq!((pixel(0, 20)[3], pixel(19, 29)[3]), (0, 0), "the fill value is missing");
    }
    let file = written(&gray().range(100.0, 200.0).unwrap(), &array, s![1, 0..20, 0..20]).unwrap();
    let (.., pixels) = decoded(&file);
    assert_eq!([0, 110, 150, 399].map(|at| pixels[at * 4]), [0, 26, 128, 255]);
    let file = written(&gray().percentiles(25.0, 75.0).unwrap(), &array, s![1, .., ..]).unwrap();
    let (.., pixels) = decoded(&file);
    // 400 values from 0 to 399: the quartiles are 99.75 and 299.25.
    assert_eq!([4, 5, 14, 15].map(|row: usize| pixels[row * 30 * 4]), [0, 0, 230, 255]);
}

#[test]
fn bytes_with_channels_are_colours_themselves() {
    let directory = tempfile::tempdir().unwrap();
    for channels in [3_usize, 4] {
        let path = directory.path().join(format!("{channels}.zarr"));
        let shape = [2, 5, 6, channels];
        let array = zarrox::create_array(path).shape(shape.map(|n| n as u64)).chunks([1, 2, 6, 1]);
        let array = array.data_type(DataType::UInt8).create().unwrap();
        let values =
            ndarray::Array4::from_shape_fn(shape, |(_, y, x, c)| u8::try_from(y * 40 + x * 4 + c).unwrap());
        array.write(.., &values).unwrap();
        let (height, width, found, pixels) = decoded(&written(&gray(), &array, s![1]).unwrap());
        assert_eq!((height, width, found), (5, 6, channels));
        assert!(pixels.iter().copied().eq(values.index_axis(ndarray::Axis(0), 1).iter().copied()));
    }
}

#[test]
fn what_is_no_picture_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let array = rising(directory.path());
    let error = written(&gray(), &array, s![..]).unwrap_err();
    assert!(error.to_string().contains("[2, 20, 30]"), "{error}");
    written(&gray(), &array, s![0, 0..0]).unwrap_err();
    written(&gray().field("x"), &array, s![0]).unwrap_err();
    let text = DataType::string();
    let text = zarrox::create_array(directory.path().join("t.zarr")).shape([2, 2]).data_type(text);
    let error = written(&gray(), &text.create().unwrap(), s![..]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert_error(gray().range(1.0, 1.0), ErrorKind::InvalidArgument, "must be ascending");
    assert_error(gray().range(f64::NAN, 1.0), ErrorKind::InvalidArgument, "must be ascending");
    assert_error(gray().percentiles(-1.0, 50.0), ErrorKind::InvalidArgument, "percentiles must be ascending");
    assert_error(gray().percentiles(2.0, 101.0), ErrorKind::InvalidArgument, "percentiles must be ascending");
}
