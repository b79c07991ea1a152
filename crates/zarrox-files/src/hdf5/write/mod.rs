//! Writes Zarr hierarchies to HDF5 and NetCDF-4 files.
//!
//! First the elements are written, chunk by chunk, then the headers of all objects, and finally the superblock.

mod appended;
mod array;
mod attributes;
mod datatype;
mod heap;
mod index;
mod messages;
mod names;
mod options;
mod path;
mod plan;
mod sparse;
mod user_types;

use std::collections::HashMap;
use std::io::SeekFrom;

use zarrox::internals::ErrorPlace;
use zarrox::{Node, Result};

use crate::input::failed;
use appended::{Appended, Output};
use array::{Placed, Source};
use heap::Heap;
use messages::{Header, kind};
pub(crate) use options::{Convention, Options};
use path::{name, parent};
use plan::{PlannedGroup, Tree};

/// Writes a node and all nodes below it.
pub(crate) fn write(node: &Node, output: &mut dyn Output, options: Options<'_>) -> Result<()> {
    let tree = Tree::of(node, &options)?;
    let mut file = Appended { output, end: 0 };
    file.append(&vec![0; usize::try_from(messages::SUPERBLOCK).unwrap_or(48)])?;
    let placed = tree.arrays.iter().map(|source| {
        source.write(&mut file, options).map_err(|error| error.at(ErrorPlace::array(&source.path)))
    });
    let placed = placed.collect::<Result<Vec<Placed>>>()?;
    file.align()?;
    let start = file.end;
    // The first pass determines the sizes of headers, and thereby their addresses.
    let nowhere = Addresses::default();
    let (heap, headers) = tree.objects(&placed, &nowhere, start, options.convention)?;
    let addresses = tree.addresses(&headers, start + heap.len() as u64);
    let (heap, headers) = tree.objects(&placed, &addresses, start, options.convention)?;
    file.append(&heap)?;
    for header in &headers {
        file.align()?;
        file.append(header)?;
    }
    let root = addresses.groups.first().copied().unwrap_or(messages::NOWHERE);
    let superblock = messages::superblock(file.end, root);
    let failed = |error| failed("writing the file", error);
    file.output.seek(SeekFrom::Start(0)).map_err(failed)?;
    file.output.write_all(&superblock).map_err(failed)?;
    file.output.flush().map_err(failed)
}

/// The addresses of objects.
#[derive(Debug, Default)]
struct Addresses {
    groups: Vec<u64>,
    arrays: Vec<u64>,
    /// The dimension scales; `None` for a dimension with a coordinate variable, which needs no separate scale.
    scales: Vec<Option<u64>>,
    /// User-defined types.
    types: Vec<u64>,
}

impl Addresses {
    fn array(&self, number: usize) -> u64 {
        self.arrays.get(number).copied().unwrap_or(0)
    }
}

impl Tree {
    /// Returns the addresses of contiguous headers, which are written in the given order.
    fn addresses(&self, headers: &[Vec<u8>], start: u64) -> Addresses {
        let mut end = start;
        let mut places = headers.iter().map(|header| {
            let address = end.next_multiple_of(8);
            end = address + header.len() as u64;
            address
        });
        let groups = places.by_ref().take(self.groups.len()).collect();
        let arrays = places.by_ref().take(self.arrays.len()).collect();
        let scales = self.dimensions.all.iter();
        let scales =
            scales.map(|dimension| if dimension.coordinate.is_some() { None } else { places.next() });
        let scales = scales.collect();
        Addresses { groups, arrays, scales, types: places.collect() }
    }

    /// Returns the heap and the headers of all objects: groups, arrays, and scales of dimensions without a coordinate variable.
    fn objects(
        &self,
        placed: &[Placed],
        addresses: &Addresses,
        start: u64,
        convention: Convention,
    ) -> Result<(Vec<u8>, Vec<Vec<u8>>)> {
        let mut heap = Heap::at(start);
        let mut headers = Vec::new();
        let mut links = self.links(addresses);
        for (number, group) in self.groups.iter().enumerate() {
            let links = links.remove(group.path.as_str()).unwrap_or_default();
            let made = self.group(number, group, &links, convention, &mut heap);
            headers.push(made.map_err(|error| error.at(ErrorPlace::group(&group.path)))?);
        }
        for (number, (array, placed)) in self.arrays.iter().zip(placed).enumerate() {
            let header = self.array(number, array, placed, addresses, convention, &mut heap);
            headers.push(header.map_err(|error| error.at(ErrorPlace::array(&array.path)))?);
        }
        for (number, dimension) in self.dimensions.all.iter().enumerate() {
            if dimension.coordinate.is_none() {
                headers.push(self.scale(number, addresses)?);
            }
        }
        for found in &self.types.all {
            let mut header = Header::default();
            header.add(kind::DATATYPE, &found.encoded.bytes)?;
            headers.push(header.finish()?);
        }
        Ok((heap.finish(), headers))
    }

    /// Returns the links of each group, by group path. Each link has a name and the address of an object.
    fn links(&self, addresses: &Addresses) -> HashMap<&str, Vec<(String, u64)>> {
        let mut links = HashMap::<&str, Vec<_>>::new();
        let mut add = |group, name, address| links.entry(group).or_default().push((name, address));
        let at = |list: &[u64], number: usize| list.get(number).copied().unwrap_or(0);
        // Types precede the arrays that use them, since readers process links in order.
        for (index, found) in self.types.all.iter().enumerate() {
            add(found.group.as_str(), found.name.clone(), at(&addresses.types, index));
        }
        for (index, dimension) in self.dimensions.all.iter().enumerate() {
            if dimension.coordinate.is_none() {
                let address = addresses.scales.get(index).copied().flatten().unwrap_or(0);
                add(dimension.group.as_str(), dimension.name.clone(), address);
            }
        }
        for (index, array) in self.arrays.iter().enumerate() {
            if let Some(group) = parent(&array.path) {
                add(group, self.link_name(index, array), at(&addresses.arrays, index));
            }
        }
        for (index, child) in self.groups.iter().enumerate() {
            if let Some(group) = parent(&child.path) {
                add(group, name(&child.path).to_owned(), at(&addresses.groups, index));
            }
        }
        links
    }

    fn group(
        &self,
        number: usize,
        group: &PlannedGroup,
        links: &[(String, u64)],
        convention: Convention,
        heap: &mut Heap,
    ) -> Result<Vec<u8>> {
        let mut header = Header::default();
        header.add(kind::LINK_INFO, &messages::link_info(links.len() as u64))?;
        header.add(kind::GROUP_INFO, &[0, 0])?;
        for (order, (name, address)) in links.iter().enumerate() {
            header.add(kind::LINK, &messages::link(name, order as u64, *address))?;
        }
        if number == 0 && convention == Convention::NetCdf {
            let text = format!("version=2,zarrox={}", env!("CARGO_PKG_VERSION"));
            let datatype = datatype::fixed_text(text.len(), false);
            let scalar = messages::dataspace(&[], &[]);
            header.attribute("_NCProperties", &datatype.bytes, &scalar, text.as_bytes())?;
        }
        if number == 0 && self.is_classic && convention == Convention::NetCdf {
            let scalar = messages::dataspace(&[], &[]);
            let int = datatype::integer(4, true);
            header.attribute("_nc3_strict", &int.bytes, &scalar, &1_i32.to_le_bytes())?;
        }
        group.attributes.add(&mut header, heap, convention, None)?;
        header.finish()
    }

    /// Returns the link name of an array. In NetCDF, an array that is named like a dimension but is not its coordinate
    /// variable needs a different name.
    fn link_name(&self, number: usize, array: &Source) -> String {
        let (group, name) = (parent(&array.path).unwrap_or_default(), name(&array.path));
        let is_taken = self.dimensions.all.iter().any(|dimension| {
            dimension.group == group && dimension.name == name && dimension.coordinate != Some(number)
        });
        if is_taken { format!("_nc4_non_coord_{name}") } else { name.to_owned() }
    }

    fn array(
        &self,
        number: usize,
        array: &Source,
        placed: &Placed,
        addresses: &Addresses,
        convention: Convention,
        heap: &mut Heap,
    ) -> Result<Vec<u8>> {
        let mut header = Header::default();
        let of_array = self.types_of_arrays.get(number).copied().flatten();
        let user_type = of_array.map(|found| addresses.types.get(found).copied().unwrap_or(0));
        array.describe(placed, &mut header, heap, user_type)?;
        let own = &self.dimensions.of_arrays[number];
        let coordinate = self.dimensions.all.iter().position(|found| found.coordinate == Some(number));
        match coordinate {
            Some(dimension) => self.scale_attributes(dimension, &mut header, addresses, name(&array.path))?,
            None if own.iter().any(Option::is_some) => {
                let references: Vec<u8> = own
                    .iter()
                    .flat_map(|dimension| match dimension {
                        Some(dimension) => {
                            heap.add(&self.scale_address(*dimension, addresses).to_le_bytes(), 1)
                        }
                        None => heap.add(&[], 0),
                    })
                    .collect();
                let list = datatype::list(&datatype::reference());
                let shape = messages::dataspace(&[own.len() as u64], &[]);
                header.attribute("DIMENSION_LIST", &list.bytes, &shape, &references)?;
            }
            None => {}
        }
        if convention == Convention::NetCdf && coordinate.is_none() && own.len() > 1 {
            let numbers = own
                .iter()
                .map(|dimension| dimension.and_then(|found| i32::try_from(found).ok()).unwrap_or(-1));
            let numbers: Vec<u8> = numbers.flat_map(i32::to_le_bytes).collect();
            let shape = messages::dataspace(&[own.len() as u64], &[]);
            header.attribute("_Netcdf4Coordinates", &datatype::integer(4, true).bytes, &shape, &numbers)?;
        }
        let names = &array.names;
        if convention == Convention::Hdf5 && names.iter().any(Option::is_some) {
            let text = |name: &Option<String>| {
                let name = name.as_deref().unwrap_or_default();
                heap.add(name.as_bytes(), name.len())
            };
            let labels: Vec<u8> = names.iter().flat_map(text).collect();
            let shape = messages::dataspace(&[names.len() as u64], &[]);
            header.attribute("DIMENSION_LABELS", &datatype::text().bytes, &shape, &labels)?;
        }
        array.attributes.add(&mut header, heap, convention, user_type)?;
        header.finish()
    }

    /// Returns the address of the scale of a dimension.
    fn scale_address(&self, dimension: usize, addresses: &Addresses) -> u64 {
        match self.dimensions.all[dimension].coordinate {
            Some(array) => addresses.array(array),
            None => addresses.scales.get(dimension).copied().flatten().unwrap_or(0),
        }
    }

    /// Returns the header of the scale of a dimension without a coordinate variable.
    fn scale(&self, number: usize, addresses: &Addresses) -> Result<Vec<u8>> {
        let dimension = &self.dimensions.all[number];
        let is_unlimited = dimension.is_unlimited;
        let mut header = Header::default();
        header.add(kind::DATASPACE, &messages::dataspace(&[dimension.length], &[is_unlimited]))?;
        header.add(kind::DATATYPE, &datatype::float(4).bytes)?;
        header.add(kind::FILL_VALUE, &messages::fill_value(None))?;
        let layout = if is_unlimited {
            messages::chunked(messages::NOWHERE, &[1024], 4)
        } else {
            messages::contiguous(messages::NOWHERE, dimension.length.saturating_mul(4))
        };
        header.add(kind::LAYOUT, &layout)?;
        let name = format!("This is a netCDF dimension but not a netCDF variable.{:>10}", dimension.length);
        self.scale_attributes(number, &mut header, addresses, &name)?;
        header.finish()
    }

    /// Adds the attributes of a dataset that is a dimension scale.
    fn scale_attributes(
        &self,
        dimension: usize,
        header: &mut Header,
        addresses: &Addresses,
        name: &str,
    ) -> Result<()> {
        let scalar = messages::dataspace(&[], &[]);
        for (attribute, text) in [("CLASS", "DIMENSION_SCALE"), ("NAME", name)] {
            let text = [text.as_bytes(), &[0]].concat();
            let datatype = datatype::terminated_text(text.len());
            header.attribute(attribute, &datatype.bytes, &scalar, &text)?;
        }
        let number = i32::try_from(dimension).unwrap_or(i32::MAX);
        header.attribute(
            "_Netcdf4Dimid",
            &datatype::integer(4, true).bytes,
            &scalar,
            &number.to_le_bytes(),
        )?;
        let mut uses = Vec::new();
        let mut count = 0_u64;
        for (array, own) in self.dimensions.of_arrays.iter().enumerate() {
            if self.dimensions.all[dimension].coordinate == Some(array) {
                continue;
            }
            for (axis, _) in own.iter().enumerate().filter(|(_, found)| **found == Some(dimension)) {
                uses.extend_from_slice(&addresses.array(array).to_le_bytes());
                uses.extend_from_slice(&u64::try_from(axis).unwrap_or(u64::MAX).to_le_bytes());
                count += 1;
            }
        }
        // The list is omitted if it is too long for a message; readers do not need it.
        if count == 0 || uses.len() > 60_000 {
            return Ok(());
        }
        let fields = [
            ("dataset".to_owned(), 0, datatype::reference()),
            ("dimension".to_owned(), 8, datatype::integer(4, false)),
        ];
        let datatype = datatype::compound(16, &fields);
        header.attribute("REFERENCE_LIST", &datatype.bytes, &messages::dataspace(&[count], &[]), &uses)
    }
}
