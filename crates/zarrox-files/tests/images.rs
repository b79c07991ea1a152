//! Images that Pillow wrote have the pixels that Pillow reads, and damaged images are errors.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrox::{Array, ErrorKind, OpenMode, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_files::{Kind, import_file, open_file};

fn data() -> PathBuf {
    zarrox_testkit::corpus::unpacked(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/images"))
}

fn opened(path: &Path) -> zarrox::Result<Array> {
    let store = Arc::new(open_file(path)?);
    OpenOptions::new().mode(OpenMode::Read).open((store, ""))?.into_array()
}

/// Returns the names of the dimensions.
fn names(array: &Array) -> Vec<&str> {
    array.dimension_names().unwrap().iter().map(|name| name.as_deref().unwrap()).collect()
}

/// Returns the elements of a NumPy file, little-endian.
fn numpy(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[10 + header..].to_vec()
}

#[test]
fn images_have_their_pixels() {
    let mut count = 0;
    for (name, shape, data_type, tolerance) in [
        ("gray.png", &[5, 7][..], DataType::UInt8, 0),
        ("gray16.png", &[5, 7], DataType::UInt16, 0),
        ("alpha.png", &[5, 7, 2], DataType::UInt8, 0),
        ("rgb.png", &[5, 7, 3], DataType::UInt8, 0),
        ("rgba.png", &[5, 7, 4], DataType::UInt8, 0),
        ("gray.jpg", &[40, 56], DataType::UInt8, 2),
        ("rgb.jpg", &[40, 56, 3], DataType::UInt8, 2),
        ("progressive.jpg", &[40, 56, 3], DataType::UInt8, 2),
    ] {
        let path = data().join(name);
        assert_eq!(Kind::of(&path).unwrap(), Some(Kind::Images), "{name}");
        let array = opened(&path).unwrap();
        assert_eq!((array.shape(), array.data_type()), (shape, &data_type), "{name}");
        assert_eq!(names(&array), ["y", "x", "channel"][..shape.len()], "{name}");
        let found = array.read::<DynArray>(..).unwrap().into_bytes();
        let expected = numpy(&data().join(format!("{name}.npy")));
        assert_eq!(found.len(), expected.len(), "{name}");
        // Decoders of JPEG round differently.
        let differs = found.iter().zip(&expected).filter(|(a, b)| a.abs_diff(**b) > tolerance).count();
        assert_eq!(differs, 0, "{name}");
        count += 1;
    }
    assert_eq!(count, 8);
}

#[test]
fn a_directory_is_one_array_in_the_order_of_the_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("movie.zarr");
    import_file(data().join("frames"), &path).unwrap();
    let array = zarrox::open_array(&path).unwrap();
    assert_eq!((array.shape(), names(&array)), (&[5, 5, 7, 3][..], vec!["image", "y", "x", "channel"]));
    let pixels = array.read::<ArrayD<u8>>(..).unwrap();
    for (at, frame) in [0, 1, 2, 9, 10].into_iter().enumerate() {
        for ((y, x, c), &found) in pixels
            .index_axis(ndarray::Axis(0), at)
            .into_dimensionality::<ndarray::Ix3>()
            .unwrap()
            .indexed_iter()
        {
            assert_eq!(
                usize::from(found),
                (frame * 50 + y * 7 + x * 3 + c * 11) % 256,
                "{frame} {y} {x} {c}"
            );
        }
    }
}

/// An image of more than 4 MiB is a separate chunk, and smaller images share chunks.
#[test]
fn large_images_are_chunks_by_themselves() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, value: u8, side: u32| {
        let file = fs::File::create(directory.path().join(name)).unwrap();
        let mut encoder = image_encoder(file, side);
        encoder.write_image_data(&vec![value; (side * side) as usize]).unwrap();
    };
    for number in 0..3_u8 {
        write(&format!("{number}.png"), number, 1800);
    }
    let array = opened(directory.path()).unwrap();
    assert_eq!((array.shape(), array.unit_shape()), (&[3, 1800, 1800][..], vec![1, 1800, 1800]));
    assert_eq!(array.read::<ArrayD<u8>>(s![.., 5, 1799]).unwrap().into_iter().collect::<Vec<_>>(), [0, 1, 2]);
    write("2.png", 2, 1801);
    let error = opened(directory.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("2.png") && error.to_string().contains("1801"), "{error}");
}

fn image_encoder(file: fs::File, side: u32) -> png::Writer<fs::File> {
    let mut encoder = png::Encoder::new(file, side, side);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().unwrap()
}

#[test]
fn damaged_images_are_errors_that_name_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let mut failures = 0;
    for name in ["gray16.png", "rgba.png", "rgb.jpg", "progressive.jpg"] {
        let bytes = fs::read(data().join(name)).unwrap();
        let path = directory.path().join(name);
        for at in (0..bytes.len()).step_by(bytes.len() / 60 + 1) {
            let mut changed = bytes.clone();
            changed[at] ^= 0xff;
            for damaged in [&bytes[..at], &changed] {
                fs::write(&path, damaged).unwrap();
                let read = opened(&path).and_then(|array| array.read::<DynArray>(..));
                // Missing pixels are an error, and are never filled.
                assert!(read.is_err() || damaged.len() == bytes.len(), "{name} of {at} bytes");
                if let Err(error) = read {
                    assert!(error.to_string().contains(name), "{error}");
                    failures += 1;
                }
            }
        }
    }
    assert!(failures > 150, "{failures}");
}

#[test]
fn a_header_that_tells_of_too_many_pixels_takes_no_memory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("huge.png");
    let mut encoder = image_encoder(fs::File::create(&path).unwrap(), 60_000);
    encoder.write_chunk(png::chunk::IDAT, &[0x78, 0x9c]).unwrap();
    drop(encoder);
    let error = opened(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("huge.png"), "{error}");
}

#[test]
fn a_directory_without_images_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a.txt"), "text").unwrap();
    fs::write(directory.path().join(".hidden.png"), "").unwrap();
    let error = opened(directory.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    fs::write(directory.path().join("a.tif"), "II").unwrap();
    let error = opened(directory.path()).unwrap_err();
    assert!(error.to_string().contains("those of TIFF are joined along a dimension"), "{error}");
    fs::copy(data().join("gray.png"), directory.path().join("a.png")).unwrap();
    let store = open_file(directory.path()).unwrap();
    assert!(
        store.notes()[0].contains("2 entries") && store.notes()[0].contains("a.tif, a.txt"),
        "{:?}",
        store.notes()
    );
    fs::write(directory.path().join("a.png"), "text").unwrap();
    let error = opened(directory.path()).unwrap_err();
    assert!(error.to_string().contains("a.png"), "{error}");
}
