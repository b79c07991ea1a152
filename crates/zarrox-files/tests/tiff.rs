//! Images of tifffile and rasterio keep their elements and their georeferencing.

use std::path::PathBuf;

use zarrox::json::Json;
use zarrox::{Array, DataType, DynArray, ErrorKind, Node};
use zarrox_files::Import;

use crate::expected::{self, check, expected, numbers, opened};

fn data() -> PathBuf {
    expected::data("tiff")
}

/// Returns the image of a node: the node itself, or the member of a group with coordinates.
fn image(node: Node) -> Array {
    match node {
        Node::Array(array) => array,
        Node::Group(group) => group.open("image").unwrap().into_array().unwrap(),
    }
}

/// Returns the images of a node: the node itself, the member of a group with coordinates, or all members of the
/// group.
fn images(node: Node) -> Vec<Array> {
    match node {
        Node::Array(array) => vec![array],
        Node::Group(group) => match group.open("image") {
            Ok(image) => vec![image.into_array().unwrap()],
            Err(_) => {
                let count = group.children().unwrap().len();
                (0..count).flat_map(|number| images(group.open(number.to_string()).unwrap())).collect()
            }
        },
    }
}

#[test]
fn every_type_layout_and_codec_has_its_elements() {
    let all = expected(&data());
    let (mut planes, mut pages) = (0, 0);
    for (file, said) in &all {
        let (found, wanted) = (images(opened(&data().join(file))), said["images"].as_array().unwrap());
        assert_eq!(found.len(), wanted.len(), "{file}");
        for (array, said) in found.iter().zip(wanted) {
            check(array, said, file);
            let names: Vec<&str> =
                array.dimension_names().unwrap().iter().flatten().map(String::as_str).collect();
            assert!(names.contains(&"y") && names.contains(&"x"), "{file}: {names:?}");
            let length = |(name, length): (&&str, &u64)| {
                if ["y", "x", "channel"].contains(name) { 1 } else { *length }
            };
            planes += names.iter().zip(array.shape()).map(length).product::<u64>();
        }
        pages += said["pages"].as_u64().unwrap();
    }
    assert!(all.len() > 120, "{}", all.len());
    // Stacks with one directory have more planes than pages; overviews are pages as well.
    assert!(planes > pages, "{planes} {pages}");
}

/// Returns a file of 3 rows of 4 pixels in strips of one row. The sizes of strips are 0, or absent.
fn without_sizes(compression: u32, strips: &[Vec<u8>; 3], has_sizes: bool, is_missing: bool) -> Vec<u8> {
    let tag = |tag: u16, count: u32, value: u32| {
        [&tag.to_le_bytes()[..], &[4, 0], &count.to_le_bytes(), &value.to_le_bytes()].concat()
    };
    let count = if has_sizes { 9_u16 } else { 8 };
    let lists = 10 + 12 * u32::from(count) + 4;
    let mut tags =
        vec![tag(256, 1, 4), tag(257, 1, 3), tag(258, 1, 8), tag(259, 1, compression), tag(262, 1, 1)];
    tags.extend([tag(273, 3, lists), tag(277, 1, 1), tag(278, 1, 1)]);
    if has_sizes {
        tags.push(tag(279, 3, lists + 12));
    }
    let mut file = [b"II\x2a\0\x08\0\0\0", &count.to_le_bytes()[..], &tags.concat(), &[0; 4]].concat();
    let mut offset = lists + 24;
    for strip in strips {
        file.extend(if is_missing { 0 } else { offset }.to_le_bytes());
        offset += u32::try_from(strip.len()).unwrap();
    }
    file.extend([0; 12]);
    file.extend(strips.concat());
    file
}

#[test]
fn strips_whose_sizes_are_not_written_have_their_elements() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tif");
    let read = |file: Vec<u8>| {
        std::fs::write(&path, file).unwrap();
        image(opened(&path)).read::<DynArray>(..).unwrap().into_bytes()
    };
    let rows: [Vec<u8>; 3] = [vec![1, 2, 3, 4], vec![5, 6, 7, 8], vec![9, 10, 11, 12]];
    // A run of PackBits: its length less one, and its bytes.
    let packed = rows.clone().map(|row| [vec![3], row].concat());
    for has_sizes in [false, true] {
        assert_eq!(read(without_sizes(1, &rows, has_sizes, false)), rows.concat());
        assert_eq!(read(without_sizes(32773, &packed, has_sizes, false)), rows.concat());
    }
    assert_eq!(read(without_sizes(32773, &packed, true, true)), [0; 12], "the strips are missing");
}

#[test]
fn a_copy_has_as_many_objects_as_its_file() {
    let directory = tempfile::tempdir().unwrap();
    for file in ["jpeg2000-rgb.tif", "cog.tif", "images.ome.tif"] {
        let target = directory.path().join(file);
        let imported = Import::new().plan(data().join(file), &target).unwrap().run_counted().unwrap();
        assert!(imported.source.elements > 0, "{file}");
        assert_eq!(imported.source, imported.copy, "{file}");
    }
}

#[test]
fn planes_of_ome_xml_lie_where_it_says() {
    let names = |file: &str| images(opened(&data().join(file))).len();
    assert_eq!(names("images.ome.tif"), 2);
    // The second plane is in another file, in a directory that is not allowed.
    let directory = tempfile::tempdir().unwrap();
    let (inside, outside) = (directory.path().join("a"), directory.path().join("b"));
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::copy(data().join("part0.ome.tif"), inside.join("part0.ome.tif")).unwrap();
    std::fs::copy(data().join("part1.ome.tif"), outside.join("part1.ome.tif")).unwrap();
    let left_out = |path: &std::path::Path| -> Vec<String> {
        let store = zarrox_files::open_file(path).unwrap();
        store.left_out().iter().map(|found| format!("{:?} {found}", found.kind)).collect()
    };
    let found = left_out(&inside.join("part0.ome.tif"));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("NotFound /part1.ome.tif"), "{found:?}");
    assert!(found[1].starts_with("NotFound ") && found[1].contains("1 of 2 planes"), "{found:?}");
    // The error and the skipped part have the kind of the cause.
    let target = directory.path().join("a.zarr");
    let error = Import::new().run(inside.join("part0.ome.tif"), &target).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    Import::new().skip_unsupported(true).run(inside.join("part0.ome.tif"), &target).unwrap();
    let missing = left_out(&data().join("missing.ome.tif"));
    assert!(missing.len() == 1 && missing[0].contains("1 of 2 planes"), "{missing:?}");
    assert_eq!(left_out(&data().join("binary.ome.tif")), [""; 0]);
}

#[test]
fn chains_of_directories_that_lead_nowhere_are_damage_behind_their_pages() {
    let path = data().join("chain-outside.tif");
    let store = zarrox_files::open_file(&path).unwrap();
    let found = store.left_out();
    let why = "cannot read ";
    assert!(found.len() == 1 && found[0].is_damaged() && found[0].to_string().contains(why), "{found:?}");
    let directory = tempfile::tempdir().unwrap();
    Import::new().run(&path, directory.path().join("a.zarr")).unwrap_err();
    Import::new().skip_damaged(true).run(&path, directory.path().join("b.zarr")).unwrap();
}

#[test]
fn a_chain_of_directories_that_leads_back_has_all_pages() {
    let path = data().join("chain-circle.tif");
    let store = zarrox_files::open_file(&path).unwrap();
    assert_eq!(store.left_out(), []);
    assert!(
        store.notes().len() == 1 && store.notes()[0].contains("is that of page 0"),
        "{:?}",
        store.notes()
    );
    let directory = tempfile::tempdir().unwrap();
    Import::new().run(&path, directory.path().join("a.zarr")).unwrap();
}

/// Returns an image of two by two bytes with an additional tag. The nine numbers of the tag are not in the
/// file.
fn with_tag_outside(outside: u16) -> Vec<u8> {
    let tags = [(256, 2), (257, 2), (258, 8), (259, 1), (262, 1), (273, 0), (277, 1), (279, 4)];
    let start = u32::try_from(8 + 2 + (tags.len() + 1) * 12 + 4).unwrap();
    let mut file = b"II\x2a\0\x08\0\0\0\x09\0".to_vec();
    for (tag, value) in tags {
        let value = if tag == 273 { start } else { value };
        let of_tag: u16 = tag;
        file.extend([&of_tag.to_le_bytes()[..], &[4, 0, 1, 0, 0, 0], &value.to_le_bytes()].concat());
    }
    file.extend([&outside.to_le_bytes()[..], &[4, 0, 9, 0, 0, 0], &70_000_u32.to_le_bytes()].concat());
    file.extend([0, 0, 0, 0, 1, 2, 3, 4]);
    file
}

#[test]
fn tags_outside_of_the_file_are_damage_where_they_say_what_elements_mean() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tif");
    for tag in [270, 282, 320, 33_550, 34_735, 42_112, 42_113, 50_839] {
        std::fs::write(&path, with_tag_outside(tag)).unwrap();
        for import in [Import::new(), Import::new().skip_unsupported(true), Import::new().ome(true)] {
            let error = import.run(&path, directory.path().join("a.zarr")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{tag} {error}");
            assert!(error.to_string().contains(&format!("tags {tag} are not in the file")), "{error}");
        }
        let target = directory.path().join(tag.to_string());
        Import::new().skip_damaged(true).run(&path, &target).unwrap();
        assert_eq!(
            image(zarrox::open(&target).unwrap()).read::<DynArray>(..).unwrap().into_bytes(),
            [1, 2, 3, 4]
        );
    }
    // Subdirectories that cannot be found must be an error, since they would be lost otherwise.
    std::fs::write(&path, with_tag_outside(330)).unwrap();
    assert_eq!(zarrox_files::open_file(&path).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn tags_outside_of_the_file_that_no_import_takes_are_noted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tif");
    for tag in [305, 60_000] {
        std::fs::write(&path, with_tag_outside(tag)).unwrap();
        let store = zarrox_files::open_file(&path).unwrap();
        let notes = store.notes();
        assert!(notes.len() == 1 && notes[0].contains(&tag.to_string()), "{tag} {notes:?}");
        assert_eq!(store.left_out(), [], "{tag}");
        let array = image(opened(&path));
        assert_eq!(array.read::<DynArray>(..).unwrap().into_bytes(), [1, 2, 3, 4], "{tag}");
    }
}

#[test]
fn pages_that_cannot_be_read_concern_every_chosen_image() {
    let path = data().join("chain-outside.tif");
    let directory = tempfile::tempdir().unwrap();
    let (copy, target) = (directory.path().join("a.tif"), directory.path().join("a.zarr"));
    // An additional first page of another size becomes a second image. The test chooses one of the two images.
    std::fs::write(&copy, behind_another(&std::fs::read(&path).unwrap())).unwrap();
    for node in ["0", "1"] {
        let error = Import::new().node(node).run(&copy, &target).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{node} {error}");
    }
    Import::new().node("1").skip_damaged(true).run(&copy, &target).unwrap();
}

/// Returns a little-endian file with an additional first page of three by one bytes.
fn behind_another(file: &[u8]) -> Vec<u8> {
    let first = &file[4..8];
    let place = u32::try_from(file.len()).unwrap();
    let tags = [(256_u16, 3), (257, 1), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (279, 3)];
    let mut all = file.to_vec();
    all[4..8].copy_from_slice(&place.to_le_bytes());
    all.extend(8_u16.to_le_bytes());
    for (tag, value) in tags {
        all.extend([&tag.to_le_bytes()[..], &[4, 0, 1, 0, 0, 0], &u32::to_le_bytes(value)].concat());
    }
    all.extend(first);
    all
}

#[test]
fn bands_have_what_gdal_says_of_them() {
    let attributes = |file: &str| images(opened(&data().join(file)))[0].attributes().clone();
    let same = attributes("scale.tif");
    assert_eq!((same["scale_factor"].as_f64(), same["add_offset"].as_f64()), (Some(0.01), Some(273.15)));
    assert_eq!(same["units"], Json::from("K"));
    assert_eq!(same["band_names"], Json::from(["temp", "rain"]));
    assert_eq!(same["gdal_metadata"]["title"], Json::from("weather"));
    assert_eq!(same["gdal_band_metadata"][1]["source"], Json::from("model"));
    let different = attributes("scales.tif");
    assert!(!different.contains_key("scale_factor"));
    assert_eq!(numbers(&different["scale_factors"]), [0.01, 0.5]);
    assert_eq!(numbers(&different["add_offsets"]), [273.15, 0.0]);
    assert_eq!(different["band_units"], Json::from(["K", "mm"]));
    let keys = &attributes("no-code.tif")["geo_keys"];
    assert_eq!(keys["GeogSemiMajorAxisGeoKey"].as_f64(), Some(6_370_000.0), "{keys:?}");
    assert_eq!(keys["ProjStdParallel2GeoKey"].as_f64(), Some(45.0), "{keys:?}");
    let masked = zarrox_files::open_file(data().join("mask.tif")).unwrap();
    assert_eq!(masked.left_out(), []);
    assert!(masked.notes()[0].contains("left out 1 mask of images"), "{:?}", masked.notes());
    let copies = zarrox_files::open_file(data().join("pyramid.ome.tif")).unwrap();
    assert!(
        copies.notes()[0].contains("overview") && copies.notes()[0].contains("a level"),
        "{:?}",
        copies.notes()
    );
    assert_eq!(attributes("nodata-u8.tif")["_FillValue"], Json::from(u64::MAX));
    let other = attributes("nodata-other.tif");
    assert!(!other.contains_key("_FillValue") && other["nodata"] == "-9999", "{other:?}");
    assert_eq!(numbers(&attributes("points.tif")["gcps"])[..6], [0.0, 0.0, 0.0, 10.0, 50.0, 0.0]);
    let palette = attributes("palette.tif");
    assert_eq!(palette["photometric"], Json::from("palette"));
    assert_eq!(palette["colormap"].as_array().unwrap().len(), 256);
    let stack = attributes("imagej-z.tif");
    assert_eq!(numbers(&stack["spacing"]), [2.5, 0.25, 0.5]);
    assert_eq!(stack["spacing_units"], Json::from(["micrometer"; 3]));
}

#[test]
fn images_become_ome_zarr() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("a.zarr");
    Import::new().ome(true).run(data().join("pyramid.ome.tif"), &target).unwrap();
    let group = zarrox::open(&target).unwrap().into_group().unwrap();
    let ome = &group.attributes()["ome"];
    let image = &ome["multiscales"][0];
    let axes: Vec<&str> =
        image["axes"].as_array().unwrap().iter().map(|axis| axis["name"].as_str().unwrap()).collect();
    assert_eq!(axes, ["c", "y", "x"]);
    assert_eq!(image["axes"][2]["unit"], Json::from("micrometer"));
    let scale = |level: usize| numbers(&image["datasets"][level]["coordinateTransformations"][0]["scale"]);
    assert_eq!((scale(0), scale(2)), (vec![1.0, 0.25, 0.5], vec![1.0, 1.0, 2.0]));
    assert_eq!(ome["omero"]["channels"][1]["label"], Json::from("b"));
    let said = &expected(&data())["pyramid.ome.tif"];
    check(&group.open("0").unwrap().into_array().unwrap(), said, "level 0");
    for (number, level) in (1..).zip(said["levels"].as_array().unwrap()) {
        check(&group.open(format!("{number}")).unwrap().into_array().unwrap(), level, "a level");
    }
    // Samples become channels before the rows.
    let target = directory.path().join("b.zarr");
    Import::new().ome(true).run(data().join("rgb.ome.tif"), &target).unwrap();
    let array = zarrox::open_array(target.join("0")).unwrap();
    let source = images(opened(&data().join("rgb.ome.tif"))).remove(0);
    assert_eq!((array.shape(), source.shape()), (&[3, 4, 8, 9][..], &[4, 8, 9, 3][..]));
    let (ours, theirs) =
        (array.read::<ndarray::ArrayD<u8>>(..).unwrap(), source.read::<ndarray::ArrayD<u8>>(..).unwrap());
    assert_eq!(ours[[2, 1, 5, 6]], theirs[[1, 5, 6, 2]]);
    assert_eq!(
        ours.iter().map(|n| u64::from(*n)).sum::<u64>(),
        theirs.iter().map(|n| u64::from(*n)).sum::<u64>()
    );
    for file in ["images.ome.tif", "volume-planar.tif", "imagej-tzc.tif", "bits-rgb.tif", "dem.tif"] {
        let target = directory.path().join(file);
        Import::new()
            .ome(true)
            .run(data().join(file), target)
            .unwrap_or_else(|error| panic!("{file}: {error}"));
    }
    let error = Import::new().ome(true).level(1).run(data().join("rgb.tif"), directory.path().join("c.zarr"));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn smaller_copies_are_levels() {
    let directory = tempfile::tempdir().unwrap();
    let (file, said) = expected(&data()).into_iter().find(|(file, _)| file == "cog.tif").unwrap();
    let levels = said["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 2);
    for (number, level) in (1..).zip(levels) {
        let target = directory.path().join(format!("{number}.zarr"));
        Import::new().level(number).run(data().join(&file), &target).unwrap();
        let node = zarrox::open(&target).unwrap();
        let x = node.clone().into_group().unwrap().open("x").unwrap().into_array().unwrap();
        assert_eq!(x.shape(), [level["shape"][1].as_u64().unwrap()]);
        check(&image(node), level, &format!("level {number}"));
    }
    let error = Import::new().level(3).run(data().join(&file), directory.path().join("3.zarr")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
}

#[test]
fn places_on_the_earth_are_coordinates_and_attributes() {
    let mut count = 0;
    for (file, said) in &expected(&data()) {
        let Some(place) = said.get("place") else { continue };
        let group = opened(&data().join(file)).into_group().unwrap();
        let array = group.open("image").unwrap().into_array().unwrap();
        assert_eq!(array.attributes()["crs"], place["crs"], "{file}");
        assert_eq!(numbers(&array.attributes()["transform"]), numbers(&place["transform"]), "{file}");
        for name in ["x", "y"] {
            let coordinates =
                group.open(name).unwrap().into_array().unwrap().read::<ndarray::ArrayD<f64>>(..).unwrap();
            for (ours, theirs) in coordinates.iter().zip(numbers(&place[name])) {
                assert!((ours - theirs).abs() < 1e-9, "{file}: {ours} {theirs}");
            }
        }
        if let Some(missing) = place["nodata"].as_f64() {
            assert!(array.attributes().contains_key("_FillValue"), "{file}");
            let fill = zarrox::DynArray::from_elements(
                array.data_type().clone(),
                vec![],
                [array.fill_bytes().as_bytes()],
            )
            .unwrap();
            let fill = fill
                .cast(&DataType::Float64, zarrox::data_type::Casting::Exact, &zarrox::codecs::registry())
                .unwrap();
            assert_eq!(fill.to::<ndarray::ArrayD<f64>>().unwrap().first(), Some(&missing), "{file}");
        }
        count += 1;
    }
    assert!(count >= 5, "{count}");
    // Tiles that are not stored are not chunks.
    let directory = tempfile::tempdir().unwrap();
    let report = Import::new().run(data().join("sparse.tif"), directory.path().join("a.zarr")).unwrap();
    assert_eq!(report.nodes.iter().find(|node| node.path.ends_with("image")).unwrap().chunks, 1);
}

#[test]
fn pages_have_the_dimensions_that_descriptions_say() {
    let names = |file: &str| -> String {
        let array = image(opened(&data().join(file)));
        array.dimension_names().unwrap().iter().flatten().map(String::as_str).collect::<Vec<_>>().join(",")
    };
    assert_eq!(names("ome.tif"), "t,c,z,y,x");
    assert_eq!(names("imagej.tif"), "t,z,c,y,x");
    assert_eq!(names("pages.tif"), "page,y,x");
    assert_eq!(names("planar.tif"), "channel,y,x");
    assert_eq!(names("rgb.tif"), "y,x,channel");
    assert_eq!(names("imagej-z.tif"), "z,y,x");
    assert_eq!(names("imagej-tzc.tif"), "t,z,c,y,x");
    assert_eq!(names("shaped-axes.tif"), "t,z,y,x");
    assert_eq!(names("metamorph.stk.tif"), "z,y,x");
    assert_eq!(names("order.ome.tif"), "c,y,x");
    assert_eq!(names("volume-planar.tif"), "channel,z,y,x");
}

#[test]
fn what_gdal_says_of_bands_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let names = [
        "scale_factor",
        "add_offset",
        "units",
        "scale_factors",
        "add_offsets",
        "band_units",
        "band_names",
        "gdal_metadata",
        "gdal_band_metadata",
    ];
    for file in ["scale.tif", "scales.tif"] {
        let (zarr, exported) = (place(&format!("{file}.zarr")), place(file));
        Import::new().run(data().join(file), &zarr).unwrap();
        zarrox_files::Export::new().run(&zarr, &exported).unwrap();
        let of = |path: &std::path::Path| images(opened(path))[0].attributes().clone();
        let (before, after) = (of(&data().join(file)), of(&exported));
        for name in names {
            assert_eq!(before.get(name), after.get(name), "{file}: {name}");
        }
    }
    // One of the bands has metadata.
    let one = place("one.tif");
    zarrox_files::Export::new()
        .select(zarrox::s![.., .., 1..2])
        .run(place("scales.tif.zarr/image"), &one)
        .unwrap();
    let attributes = images(opened(&one))[0].attributes().clone();
    assert_eq!(attributes["scale_factor"].as_f64(), Some(0.5));
    assert_eq!(attributes["units"], Json::from("mm"));
    assert_eq!(attributes["band_names"], Json::from(["rain"]));
    assert_eq!(attributes["gdal_band_metadata"][0]["source"], Json::from("model"));
}

#[test]
fn what_gdal_does_not_say_of_bands_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    for (name, value) in [
        ("scale_factors", zarrox::json::json!([1, 2, 3])),
        ("add_offsets", zarrox::json::json!(["a", "b"])),
        ("band_names", zarrox::json::json!("rain")),
        ("band_units", zarrox::json::json!(["K", "\u{1}"])),
        ("gdal_metadata", zarrox::json::json!({ "a": [1] })),
        ("gdal_metadata", zarrox::json::json!(7)),
    ] {
        let path = directory.path().join("a.zarr");
        let array = zarrox::create_array(&path).shape([2, 4, 5]).data_type(DataType::UInt8).overwrite(true);
        let attributes = [(name.to_owned(), value.clone())];
        array.dimension_names(["channel", "y", "x"]).attributes(attributes).create().unwrap();
        let error = zarrox_files::export_file(&path, directory.path().join("a.tif")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{name} {value}: {error}");
        let wanted = if name == "band_units" { "character" } else { name };
        assert!(error.to_string().contains(wanted), "{name} {value}: {error}");
    }
}

/// Returns a TIFF with one pixel in each directory. Each directory names the next directory as a subdirectory.
fn nested(pixels: &[u8]) -> Vec<u8> {
    const SIZE: u32 = 2 + 10 * 12 + 4;
    let first = 8 + u32::try_from(pixels.len()).unwrap();
    let mut bytes = [&b"II\x2a\0"[..], &first.to_le_bytes(), pixels].concat();
    for number in 0..u32::try_from(pixels.len()).unwrap() {
        let below = first + (number + 1) * SIZE;
        let is_last = number as usize + 1 == pixels.len();
        let mut tags = vec![
            (256_u16, 1),
            (257, 1),
            (258, 8),
            (259, 1),
            (262, 1),
            (273, 8 + number),
            (277, 1),
            (278, 1),
            (279, 1),
        ];
        tags.extend((!is_last).then_some((330, below)));
        bytes.extend(u16::try_from(tags.len()).unwrap().to_le_bytes());
        for (tag, value) in tags {
            bytes.extend([tag.to_le_bytes(), 4_u16.to_le_bytes()].concat());
            bytes.extend([1_u32.to_le_bytes(), value.to_le_bytes()].concat());
        }
        bytes.extend(0_u32.to_le_bytes());
    }
    bytes
}

#[test]
fn further_directories_of_further_directories_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tif");
    std::fs::write(&path, nested(&[10, 20, 30, 40])).unwrap();
    let array = image(opened(&path));
    assert_eq!(array.shape(), [4, 1, 1]);
    assert!(array.read::<ndarray::ArrayD<u8>>(..).unwrap().into_iter().eq([10, 20, 30, 40]));
}
