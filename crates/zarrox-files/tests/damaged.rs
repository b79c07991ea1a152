//! Damaged files give errors: nothing panics, and memory stays bounded.

use std::path::Path;

use zarrox::ErrorKind;
use zarrox_files::open_file;
use zarrox_hostile::readers::read_file;
use zarrox_testkit::errors::assert_error;

use crate::data;

/// Pseudorandom numbers with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

#[test]
fn files_that_are_cut_off_or_changed_do_not_panic() {
    let files = [
        "types-latest.h5",
        "scales.h5",
        "nc4.nc",
        "user.h5",
        "netcdf3_classic.nc",
        "netcdf3_64bit_data.nc",
        "types-earliest.h5",
    ];
    damage(&data(), &files);
}

/// Reads files, each damaged in many ways.
fn damage(data: &Path, files: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for file in files {
        let bytes = std::fs::read(data.join(file)).unwrap();
        let path = directory.path().join(file);
        for round in 0..40 {
            let mut damaged = bytes.clone();
            if round % 4 == 0 {
                damaged.truncate(random.below(bytes.len()));
            } else {
                for _ in 0..1 + random.below(8) {
                    // Half of the changes are near the beginning of the file, where most structures are.
                    let limit = if round % 2 == 0 { damaged.len() } else { damaged.len().min(4096) };
                    let at = random.below(limit);
                    damaged[at] =
                        [0, 1, 0x7f, 0x80, 0xff, u8::try_from(random.below(256)).unwrap()][random.below(6)];
                }
            }
            std::fs::write(&path, &damaged).unwrap();
            read_file(&path);
        }
    }
}

#[test]
fn a_file_of_another_kind_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.txt");
    std::fs::write(&path, "text").unwrap();
    assert!(open_file(&path).unwrap_err().to_string().contains("a.txt"));
    assert_error(open_file(directory.path()), ErrorKind::Unsupported, "no PNG or JPEG images");
    assert_error(open_file(directory.path().join("nothing")), ErrorKind::NotFound, "/nothing");
}

/// Returns the directory of an archive of files.
fn of(name: &str) -> std::path::PathBuf {
    zarrox_testkit::corpus::unpacked(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name))
}

#[cfg(feature = "tables")]
#[test]
fn tables_that_are_damaged_do_not_panic() {
    let files = [
        "pandas.csv",
        "holes.csv",
        "snappy.parquet",
        "gzip.parquet",
        "zstd.parquet",
        "lz4.parquet",
        "v2.parquet",
        "encodings.parquet",
        "holes.parquet",
        "int96.parquet",
        "polars.parquet",
    ];
    damage(&of("tables"), &files);
}

#[cfg(feature = "tiff")]
#[test]
fn images_of_tiff_that_are_damaged_do_not_panic() {
    let files = [
        "lzw-2.tif",
        "deflate-1.tif",
        "zstd-2.tif",
        "packbits-1.tif",
        "tiled-f4.tif",
        "jpeg.tif",
        "cog.tif",
        "dem.tif",
        "sparse.tif",
        "ome.tif",
        "big.tif",
        "planar.tif",
        "bits-12-big.tif",
        "bits-rgb.tif",
        "ccittfax3.tif",
        "ccittfax4.tif",
        "ccittrle.tif",
        "imagej-tzc.tif",
        "lerc-float32.tif",
        "lerc-nan.tif",
        "lerc_deflate-int16.tif",
        "lerc_zstd-uint8.tif",
        "lzma.tif",
        "metamorph.stk.tif",
        "no-code.tif",
        "order.ome.tif",
        "palette.tif",
        "png.tif",
        "points.tif",
        "pyramid.ome.tif",
        "scales.tif",
        "shaped-rgb.tif",
        "volume.tif",
        "webp.tif",
    ];
    damage(&of("tiff"), &files);
}

#[cfg(feature = "images")]
#[test]
fn images_that_are_damaged_do_not_panic() {
    let data = of("images");
    let names =
        std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.filter(|name| name.ends_with("png") || name.ends_with("jpg")).collect();
    assert!(names.len() > 3, "{names:?}");
    damage(&data, &names.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Returns the error of a file of these bytes.
fn refused(name: &str, bytes: &[u8]) -> zarrox::Error {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    open_file(&path).unwrap_err()
}

#[cfg(feature = "images")]
#[test]
fn an_image_that_says_to_be_huge_is_refused() {
    // The header of a PNG of 65535 times 65535 pixels, with its checksum.
    let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec();
    let header = b"IHDR\0\0\xff\xff\0\0\xff\xff\x08\x06\0\0\0";
    file.extend_from_slice(header);
    file.extend_from_slice(&crc32fast::hash(header).to_be_bytes());
    file.extend_from_slice(b"\0\0\0\0IDAT\x35\xaf\x06\x1e");
    let error = refused("a.png", &file);
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}

#[cfg(feature = "tiff")]
#[test]
fn a_tile_that_says_to_be_huge_is_refused() {
    let tag =
        |tag: u16, value: u32| [&tag.to_le_bytes()[..], &[4, 0, 1, 0, 0, 0], &value.to_le_bytes()].concat();
    let tags = [
        (256, 1 << 20),
        (257, 1 << 20),
        (258, 8),
        (259, 8),
        (322, 1 << 20),
        (323, 1 << 20),
        (324, 8),
        (325, 8),
    ];
    let mut file = b"II\x2a\0\x08\0\0\0\x08\0".to_vec();
    tags.iter().for_each(|&(number, value)| file.extend(tag(number, value)));
    file.extend([0; 4]);
    let error = refused("a.tif", &file);
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    // A larger file could have such a tile.
    file.resize(17 << 20, 0);
    let error = refused("a.tif", &file);
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}

/// Parquet files whose columns lack their dictionary, or whose dictionary or values are cut off.
#[cfg(feature = "tables")]
const BROKEN: [&str; 3] = [
    "\
        UEFSMRUAFRoVHiwVBBUAFQYVCBwYA2JhchgDYmFyFgIAAAANMAYAAAADAQMAAABiYXIVAhksSARyb290FQIAFQwlAhgDZm9vJQAA\
        FgQZHBkcJggcFQwZNQYACBkYA2ZvbxUCFgQWWBZcJgg8GANiYXIYA2JhchYCAAAAFlgWBAAZHBgNZHJpbGwudmVyc2lvbhgFMS43\
        LjAAGFJwYXJxdWV0LW1yIHZlcnNpb24gMS44LjEtZHJpbGwtcjAgKGJ1aWxkIDZiNjA1YTRlYTA1YjY2ZTFhNmJmODQzMzUzYWJj\
        YjQ4MzRhNGNlZDgpALwAAABQQVIx",
    "\
        UEFSMRUEFQoVDkwVEhUAEgAABRABAAAAYRUAFRIVFiwVBBUQFQYVBhw2AigBYRgBYRERAAAACSACAAAAAwEBAgAVBBUgFSRMFQQV\
        ABIAABA8AQAAAAAAAAACAAAAAAAAABUAFRIVFiwVBBUQFQYVBhwYCAIAAAAAAAAAGAgBAAAAAAAAABYAKAgCAAAAAAAAABgIAQAA\
        AAAAAAAREQAAAAkgAgAAAAQBAQMCFQQZPDUAGAZzY2hlbWEVBAAVDCUCGAFzJQBMHAAAABUEJQIYAWkAFgQZHBksJgAcFQwZNQAG\
        EBkYAXMVAhYEFnIWeiYyJggcNgIoAWEYAWEREQAZLBUEFQAVAgAVABUQFQIAPBYCGQYZJgICAAAAJgAcFQQZNQAGEBkYAWkVAhYE\
        FswBFtQBJsIBJoIBHBgIAgAAAAAAAAAYCAEAAAAAAAAAFgAoCAIAAAAAAAAAGAgBAAAAAAAAABERABksFQQVABUCABUAFRAVAgA8\
        KQYZJgAEAAAAFr4CFgQmCBbOAgAZHBgMQVJST1c6c2NoZW1hGOwBLy8vLy82Z0FBQUFRQUFBQUFBQUtBQXdBQmdBRkFBZ0FDZ0FB\
        QUFBQkJBQU1BQUFBQ0FBSUFBQUFCAUFJQUFBQUJBQUFBQUlBQUFCTUFBQUFCQUFBQU16Ly8vOEFBQUVDRUFBQUFCd0FBQUFFQUFB\
        QUFBQUFBQUVBQUFCcEFBQUFDQUFNQUFnQUJ3QUlBQUFBQUFBQUFVQUFBQUFRQUJRQUNBQUdBQWNBREFBQUFCQUFFQUFBQUFBQUFR\
        VVFBQUFBR0FBQUFBUUFBQUFBQUFBQUFRQUFBSE1BQUFBRUFBUUFCQUFBQUFBQUFBQT0AGCBwYXJxdWV0LWNwcC1hcnJvdyB2ZXJz\
        aW9uIDI2LjAuMRksHAAAHAAAAAsCAABQQVIx",
    "\
        UEFSMRUAFQwVECwVEBUEFQYVCBw2EAAAAAYUAgAAABABFQIZPEgMc3Bhcmtfc2NoZW1hFQIANQIYCGJfc3RydWN0FQIAFQIlAhgH\
        Yl9jX2ludAAWEBkcGRwmCBwVAhk1AAgGGSgIYl9zdHJ1Y3QHYl9jX2ludBUCFhAWNhY6Jgg8NhAAGRwVABUAFQIAAAAWNhYQABkc\
        GClvcmcuYXBhY2hlLnNwYXJrLnNxbC5wYXJxdWV0LnJvdy5tZXRhZGF0YRi0AXsidHlwZSI6InN0cnVjdCIsImZpZWxkcyI6W3si\
        bmFtZSI6ImJfc3RydWN0IiwidHlwZSI6eyJ0eXBlIjoic3RydWF0IiwiZmllbGRzIjpbeyJuYW1lIjoiYl9jX2ludCIsInR5cGUi\
        OiJpbnRlZ2VyIiwibnVsbGFibGUiOnRydWUsIm1ldGFkYXRhIjp7fX1dfSwibnVsbGFibGUiOnRydWUsIm1ldGFkYXRhIjp7fX1d\
        fQAYSXBhcnF1ZXQtbXIgdmVyc2lvbiAxLjguMiAoYnVpbGQgYzY1MjI3ODg2MjllNTkwYTUzZWI3OTg3NGI5NWY2YzNmZjExZjE2\
        YykApAEAAFBBUjE=",
];

#[cfg(feature = "tables")]
#[test]
fn tables_at_which_the_parquet_crate_panics_are_damaged() {
    use base64::Engine as _;
    let directory = tempfile::tempdir().unwrap();
    for (number, file) in BROKEN.iter().enumerate() {
        let path = directory.path().join(format!("{number}.parquet"));
        let target = path.with_extension("zarr");
        let bytes = base64::engine::general_purpose::STANDARD.decode(file).unwrap();
        std::fs::write(&path, bytes).unwrap();
        let error = zarrox_files::import_file(&path, &target).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(!error.to_string().contains("panic") && !target.exists(), "{error}");
        zarrox_files::Import::new().skip_damaged(true).run(&path, &target).unwrap();
    }
}

#[cfg(feature = "tables")]
#[test]
fn a_row_that_does_not_end_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.csv");
    // The zeros of a sparse file take no space on the disk.
    std::fs::File::create(&path).unwrap().set_len(300 << 20).unwrap();
    let error = open_file(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}
