//! OME-XML: images with their dimensions, planes, physical sizes and channels.

use roxmltree::{Document as Xml, Node, ParsingOptions};
use zarrox::Result;

use crate::input::corrupt;
use crate::tiff::channel::Channel;
use crate::tiff::scales::Scales;

/// The maximum number of XML nodes in a document.
const MOST_NODES: u32 = 1 << 23;

/// The content of a document.
#[derive(Debug)]
pub(super) enum Document {
    /// The images, and the UUID of the file.
    Images(Vec<Described>, Option<String>),
    /// The name of the file that contains the metadata, and the UUID of this file.
    Elsewhere(String, Option<String>),
}

/// An image.
#[derive(Debug, Clone)]
pub(super) struct Described {
    pub(super) name: Option<String>,
    /// The plane dimensions from fastest- to slowest-varying, for example `ZCT`.
    pub(super) order: String,
    pub(super) size_x: u64,
    pub(super) size_y: u64,
    pub(super) size_z: u64,
    pub(super) size_c: u64,
    pub(super) size_t: u64,
    pub(super) runs: Vec<Run>,
    pub(super) scales: Scales,
    pub(super) channels: Vec<Channel>,
}

/// A run of consecutive planes in a file.
#[derive(Debug, Clone)]
pub(super) struct Run {
    z: u64,
    c: u64,
    t: u64,
    /// The position of the first page in the chain of directories.
    pub(super) ifd: u64,
    /// The number of planes; `None` for all pages of the file.
    pub(super) count: Option<u64>,
    /// The name of the file; `None` for the main file.
    pub(super) file: Option<String>,
    pub(super) uuid: Option<String>,
}

impl Run {
    /// Returns the position of the first plane of the run along a dimension.
    pub(super) fn first(&self, axis: char) -> u64 {
        match axis {
            'Z' => self.z,
            'C' => self.c,
            _ => self.t,
        }
    }
}

impl Described {
    /// Returns the name of the image, or its number if it has no name.
    pub(super) fn title(&self, nth: usize) -> String {
        self.name.clone().unwrap_or_else(|| nth.to_string())
    }
}

/// Reads a document.
pub(super) fn parse(text: &str) -> Result<Document> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0' || c == '\u{feff}');
    let xml = Xml::parse_with_options(text, options)
        .map_err(|error| corrupt(format!("the XML is damaged: {error}")))?;
    let root = xml.root_element();
    let uuid = root.attribute("UUID").map(str::to_owned);
    if let Some(binary) = child(root, "BinaryOnly") {
        let name =
            binary.attribute("MetadataFile").ok_or_else(|| corrupt("the metadata file has no name"))?;
        return Ok(Document::Elsewhere(
            name.to_owned(),
            binary.attribute("UUID").map(str::to_owned).or(uuid),
        ));
    }
    let images =
        children(root, "Image").filter_map(|image| child(image, "Pixels").map(|pixels| (image, pixels)));
    let images = images.map(|(image, pixels)| described(image, pixels)).collect::<Result<_>>()?;
    Ok(Document::Images(images, uuid))
}

fn children<'a, 'b>(node: Node<'a, 'b>, name: &'static str) -> impl Iterator<Item = Node<'a, 'b>> {
    node.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

fn child<'a, 'b>(node: Node<'a, 'b>, name: &'static str) -> Option<Node<'a, 'b>> {
    children(node, name).next()
}

/// Returns an integer attribute of an XML element.
fn whole(node: Node<'_, '_>, name: &str) -> Result<Option<u64>> {
    let Some(text) = node.attribute(name) else { return Ok(None) };
    let number = text.trim().parse();
    number.map(Some).map_err(|_| corrupt(format!("invalid value '{text}' of the OME-XML attribute {name}")))
}

fn described(image: Node<'_, '_>, pixels: Node<'_, '_>) -> Result<Described> {
    let size = |name: &str| {
        let size = whole(pixels, name)?.filter(|size| *size > 0);
        size.ok_or_else(|| corrupt(format!("an image of OME-XML has no {name}")))
    };
    let order =
        pixels.attribute("DimensionOrder").and_then(|order| order.strip_prefix("XY")).unwrap_or("ZCT");
    let is_order = order.len() == 3 && ['Z', 'C', 'T'].iter().all(|axis| order.contains(*axis));
    if !is_order {
        return Err(corrupt(format!("unknown order XY{order} of dimensions")));
    }
    let mut runs: Vec<Run> = children(pixels, "TiffData").map(run).collect::<Result<_>>()?;
    if runs.is_empty() {
        runs.push(Run { z: 0, c: 0, t: 0, ifd: 0, count: None, file: None, uuid: None });
    }
    Ok(Described {
        name: image.attribute("Name").map(str::to_owned),
        order: order.to_owned(),
        size_x: size("SizeX")?,
        size_y: size("SizeY")?,
        size_z: size("SizeZ")?,
        size_c: size("SizeC")?,
        size_t: size("SizeT")?,
        runs,
        scales: scales(pixels),
        channels: children(pixels, "Channel").map(channel).collect(),
    })
}

fn run(data: Node<'_, '_>) -> Result<Run> {
    let number = |name: &str| Ok::<_, zarrox::Error>(whole(data, name)?.unwrap_or(0));
    let ifd = whole(data, "IFD")?;
    let count = whole(data, "PlaneCount")?.or(ifd.map(|_| 1));
    let uuid = child(data, "UUID");
    Ok(Run {
        z: number("FirstZ")?,
        c: number("FirstC")?,
        t: number("FirstT")?,
        ifd: ifd.unwrap_or(0),
        count,
        file: uuid.and_then(|uuid| uuid.attribute("FileName")).map(str::to_owned),
        uuid: uuid.and_then(|uuid| uuid.text()).map(|text| text.trim().to_owned()),
    })
}

fn scales(pixels: Node<'_, '_>) -> Scales {
    let mut scales = Scales::default();
    let number = |name: &str| pixels.attribute(name).and_then(|text| text.trim().parse().ok()).unwrap_or(0.0);
    for (axis, name, unit) in [
        ("x", "PhysicalSizeX", "PhysicalSizeXUnit"),
        ("y", "PhysicalSizeY", "PhysicalSizeYUnit"),
        ("z", "PhysicalSizeZ", "PhysicalSizeZUnit"),
    ] {
        scales.add(axis, number(name), pixels.attribute(unit).or(Some("um")));
    }
    scales.add("t", number("TimeIncrement"), pixels.attribute("TimeIncrementUnit").or(Some("s")));
    scales
}

fn channel(channel: Node<'_, '_>) -> Channel {
    // The colour is a signed integer that consists of red, green, blue and opacity.
    let color = channel.attribute("Color").and_then(|text| text.trim().parse::<i64>().ok());
    let color = color.map(|number| format!("{:06X}", (number >> 8) & 0xff_ffff));
    Channel { name: channel.attribute("Name").map(str::to_owned), color, range: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn images_have_planes_sizes_and_channels() {
        let text = r#"<?xml version="1.0"?><OME UUID="urn:a"><Image Name="n"><Pixels DimensionOrder="XYCZT" SizeX="9" SizeY="8"
            SizeC="2" SizeZ="3" SizeT="4" PhysicalSizeX="0.5" PhysicalSizeXUnit="nm"><Channel Name="DAPI" Color="-16776961"/>
            <TiffData FirstC="1" IFD="3"><UUID FileName="b.tif">urn:b</UUID></TiffData><TiffData/></Pixels></Image></OME>"#;
        let Document::Images(images, uuid) = parse(text).unwrap() else { panic!("no images") };
        let image = &images[0];
        assert_eq!((uuid.as_deref(), image.order.as_str(), image.size_z), (Some("urn:a"), "CZT", 3));
        let run = &image.runs[0];
        assert_eq!((run.first('C'), run.ifd, run.count), (1, 3, Some(1)));
        assert_eq!((run.file.as_deref(), run.uuid.as_deref()), (Some("b.tif"), Some("urn:b")));
        assert_eq!(image.runs[1].count, None);
        assert_eq!(image.channels[0].color.as_deref(), Some("FF0000"));
        assert_eq!(image.scales.of("x").unwrap().unit.as_deref(), Some("nanometer"));
        assert_error(parse("<OME"), ErrorKind::Corrupt, "the XML is damaged");
        let elsewhere =
            parse(r#"<OME><BinaryOnly MetadataFile="a.companion.ome" UUID="urn:c"/></OME>"#).unwrap();
        assert!(matches!(elsewhere, Document::Elsewhere(name, _) if name == "a.companion.ome"));
    }
}
