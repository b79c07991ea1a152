//! Files of all format versions are described as h5py describes them.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::*;
use zarrox::ErrorKind;

fn data() -> PathBuf {
    zarrox_testkit::corpus::unpacked(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hdf5-format"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn joined<T>(parts: &[T], text: impl Fn(&T) -> String) -> String {
    parts.iter().map(text).collect::<Vec<_>>().join(",")
}

fn order(order: Order) -> char {
    match order {
        Order::Little => 'L',
        Order::Big => 'B',
        Order::Vax => 'V',
    }
}

fn bits(bits: Bits) -> String {
    format!("{}o{}p{}", order(bits.order), bits.offset, bits.precision)
}

fn type_text(datatype: &Datatype) -> String {
    let size = datatype.size;
    match &datatype.class {
        Class::Integer { bits: of, is_signed } => format!("int{size}{}s{}", bits(*of), u8::from(*is_signed)),
        Class::Float { bits: of, layout } => {
            let FloatLayout { sign, exponent, exponent_bits, mantissa, mantissa_bits, bias, is_normalised } =
                layout;
            let fields = format!("[{sign},{exponent},{exponent_bits},{mantissa},{mantissa_bits}]");
            format!("float{size}{}{fields}b{bias}n{}", bits(*of), u8::from(*is_normalised))
        }
        Class::Time(_) => format!("time{size}"),
        Class::Text { padding, is_utf8 } => format!("str{size}{padding:?}{}", u8::from(*is_utf8)),
        Class::VariableText { padding, is_utf8 } => format!("vstr{padding:?}{}", u8::from(*is_utf8)),
        Class::Bitfield(bits) => format!("bits{size}{}", order(bits.order)),
        Class::Opaque(tag) => format!("opaque{size}'{tag}'"),
        Class::Compound(members) => {
            let text = |member: &Member| {
                format!("{}@{}:{}", hex(&member.name), member.offset, type_text(&member.datatype))
            };
            format!("comp{size}{{{}}}", joined(members, text))
        }
        Class::Reference(kind) => format!("ref{size}{kind:?}"),
        Class::Enum { base, members } => {
            let text = |member: &EnumMember| format!("{}={}", hex(&member.name), hex(&member.value));
            format!("enum{size}<{}>{{{}}}", type_text(base), joined(members, text))
        }
        Class::Sequence(base) => format!("vlen<{}>", type_text(base)),
        Class::Array { base, shape } => format!("array{size}{shape:?}<{}>", type_text(base)),
        Class::Complex(base) => format!("complex{size}<{}>", type_text(base)),
    }
}

fn has_heap(datatype: &Datatype) -> bool {
    match &datatype.class {
        Class::Reference(_) | Class::VariableText { .. } | Class::Sequence(_) => true,
        Class::Compound(members) => members.iter().any(|member| has_heap(&member.datatype)),
        Class::Array { base, .. } | Class::Enum { base, .. } | Class::Complex(base) => has_heap(base),
        _ => false,
    }
}

fn signed(limit: Option<u64>) -> i64 {
    limit.map_or(-1, u64::cast_signed)
}

fn space_text(space: &Space) -> String {
    match space {
        Space::Null => "null".to_owned(),
        Space::Simple { shape, max } => {
            format!("{shape:?}{:?}", max.iter().map(|max| signed(*max)).collect::<Vec<_>>())
        }
    }
}

/// Returns the boxes that evenly spaced blocks consist of.
fn boxes(blocks: &[Blocks]) -> Option<Vec<(Vec<u64>, Vec<u64>)>> {
    let mut boxes = vec![(Vec::new(), Vec::new())];
    for blocks in blocks {
        let (count, block) = (blocks.count?, blocks.block?);
        let longer = |(first, last): &(Vec<u64>, Vec<u64>)| {
            let (first, last) = (first.clone(), last.clone());
            (0..count).map(move |number| {
                let start = blocks.start + number * blocks.stride;
                ([&first[..], &[start]].concat(), [&last[..], &[start + block - 1]].concat())
            })
        };
        boxes = boxes.iter().flat_map(longer).collect();
    }
    Some(boxes)
}

fn selection_text(selection: &Hyperslab) -> String {
    let sorted = |boxes: &[(Vec<u64>, Vec<u64>)]| {
        let mut boxes = boxes.to_vec();
        boxes.sort();
        format!("boxes{boxes:?}")
    };
    match selection {
        Hyperslab::All => "all".to_owned(),
        Hyperslab::None => "none".to_owned(),
        Hyperslab::Points(points) => format!("points{points:?}"),
        Hyperslab::Boxes(boxes) => sorted(boxes),
        Hyperslab::Regular(blocks) => boxes(blocks).map_or_else(
            || {
                let text = |one: &Blocks| {
                    vec![
                        one.start.cast_signed(),
                        one.stride.cast_signed(),
                        signed(one.count),
                        signed(one.block),
                    ]
                };
                format!("regular{:?}", blocks.iter().map(text).collect::<Vec<_>>())
            },
            |boxes| sorted(&boxes),
        ),
    }
}

/// The description of the objects in a file, with one line for each property.
struct Described<'f> {
    file: &'f File,
    seen: HashSet<Address>,
    text: String,
}

impl Described<'_> {
    fn line(&mut self, line: impl std::fmt::Display) {
        writeln!(self.text, "{line}").unwrap();
    }

    fn object(&mut self, address: Address, path: &str) -> Result<()> {
        if !self.seen.insert(address) {
            return Ok(());
        }
        let object = self.file.object(address)?;
        match &object.kind {
            ObjectKind::Group => self.line(format_args!("object {path} group")),
            ObjectKind::Datatype(of) => self.line(format_args!("object {path} datatype {}", type_text(of))),
            ObjectKind::Dataset(dataset) => self.dataset(dataset, path)?,
        }
        let mut attributes = Vec::new();
        for attribute in self.file.attributes(address)? {
            let Attribute { name, datatype, space, data } = attribute.map_err(|(_, error)| error)?;
            let value = if has_heap(&datatype) { "heap".to_owned() } else { hex(&data) };
            let (name, space, datatype) = (hex(&name), space_text(&space), type_text(&datatype));
            attributes.push(format!(" attribute {name} {space} {datatype} {value}"));
        }
        attributes.sort();
        attributes.into_iter().for_each(|line| self.line(line));
        if matches!(object.kind, ObjectKind::Group) { self.links(address, path) } else { Ok(()) }
    }

    fn links(&mut self, group: Address, path: &str) -> Result<()> {
        let mut links = self.file.links(group)?;
        let orders: Vec<_> = links
            .iter()
            .map(|link| link.order.map_or_else(|| "-".to_owned(), |order| order.to_string()))
            .collect();
        self.line(format_args!(" orders {}", orders.join(" ")));
        links.sort_by(|one, other| one.name.cmp(&other.name));
        for Link { name, target, .. } in &links {
            let target = match target {
                Target::Hard(address) => format!("hard {address}"),
                Target::Soft(path) => format!("soft {}", hex(path)),
                Target::External { file, path } => format!("external {} {}", hex(file), hex(path)),
                Target::User(kind) => format!("user {kind}"),
            };
            self.line(format_args!(" link {} {target}", hex(name)));
        }
        for Link { name, target, .. } in &links {
            if let Target::Hard(address) = target {
                self.object(*address, &format!("{path}/{}", hex(name)))?;
            }
        }
        Ok(())
    }

    fn dataset(&mut self, dataset: &Dataset, path: &str) -> Result<()> {
        let position = |address: &Address| self.file.position(*address).map(u64::cast_signed);
        let mut space = space_text(&dataset.space);
        let layout = match &dataset.layout {
            Layout::Compact(_) => "compact".to_owned(),
            Layout::Contiguous(Some(address)) if dataset.external.is_empty() => {
                format!("contiguous {}", position(address)?)
            }
            Layout::Contiguous(_) => "contiguous -1".to_owned(),
            Layout::Chunked { chunk, .. } => format!("chunked {chunk:?}"),
            Layout::Virtual(_) => {
                "?".clone_into(&mut space);
                "virtual".to_owned()
            }
        };
        self.line(format_args!("object {path} dataset {space} {} {layout}", type_text(&dataset.datatype)));
        let fill = dataset
            .fill
            .as_ref()
            .filter(|fill| !has_heap(&dataset.datatype) && fill.iter().any(|byte| *byte != 0));
        self.line(format_args!(" fill {}", fill.map_or_else(|| "-".to_owned(), |fill| hex(fill))));
        for Filter { id, is_optional, parameters, .. } in &dataset.filters {
            self.line(format_args!(" filter {id} {} {parameters:?}", u8::from(*is_optional)));
        }
        for ExternalFile { name, offset, size } in &dataset.external {
            self.line(format_args!(" external {} {offset} {size}", hex(name)));
        }
        if let Layout::Virtual(mappings) = &dataset.layout {
            for Mapping { file, dataset, source, target } in mappings {
                let (source, target) = (selection_text(source), selection_text(target));
                self.line(format_args!(" mapping {} {} {source} {target}", hex(file), hex(dataset)));
            }
        }
        let mut chunks = self.file.chunks(dataset)?;
        if is_rotated(&dataset.space) {
            // h5py reports wrong addresses for the chunks of these datasets.
            chunks.clear();
        }
        chunks.sort_by(|one, other| one.offset.cmp(&other.offset));
        for StoredChunk { offset, address, size, mask } in chunks {
            // h5py does not report the filter masks of these chunks.
            let mask = if dataset.are_edges_unfiltered && mask == u32::MAX { 0 } else { mask };
            self.line(format_args!(" chunk {offset:?} {} {size} {mask}", self.file.position(address)?));
        }
        Ok(())
    }
}

/// Returns true if the only unlimited dimension is not the first dimension.
fn is_rotated(space: &Space) -> bool {
    let Space::Simple { max, .. } = space else { return false };
    max.iter().filter(|max| max.is_none()).count() == 1 && max.first().is_some_and(Option::is_some)
}

fn described(path: &Path) -> Result<String> {
    let file = File::open(Arc::new(Input::open(path)?))?;
    let mut described = Described { file: &file, seen: HashSet::new(), text: String::new() };
    described.object(file.root(), "")?;
    Ok(described.text)
}

#[test]
fn all_versions_as_h5py_describes_them() {
    let mut count = 0;
    for entry in std::fs::read_dir(data()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "h5") {
            continue;
        }
        let expected = std::fs::read_to_string(path.with_extension("txt")).unwrap();
        let found = described(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
            assert_eq!(found, expected, "{}, line {}", path.display(), number + 1);
        }
        assert_eq!(found.lines().count(), expected.lines().count(), "{}", path.display());
        count += 1;
    }
    assert!(count >= 13, "{count} files");
}

/// Returns the object at a path, given as a list of names.
fn object_at(file: &File, names: &[&str]) -> Object {
    let mut address = file.root();
    for name in names {
        let links = file.links(address).unwrap();
        let link = links.into_iter().find(|link| link.name == name.as_bytes()).unwrap();
        let Target::Hard(target) = link.target else { panic!("{name} is not a hard link") };
        address = target;
    }
    file.object(address).unwrap()
}

#[test]
fn chunks_along_another_dimension_than_the_first() {
    for (version, name) in ["earliest", "v110", "latest"]
        .iter()
        .flat_map(|version| [(version, "the second"), (version, "the third")])
    {
        let file = File::open(Arc::new(Input::open(&data().join(format!("{version}.h5"))).unwrap())).unwrap();
        let ObjectKind::Dataset(dataset) = object_at(&file, &["plain", name]).kind else { panic!() };
        assert!(is_rotated(&dataset.space));
        let chunks = file.chunks(&dataset).unwrap();
        assert_eq!(chunks.len(), 4 * 3 * 3);
        for chunk in chunks {
            // The elements are 0, 1, 2 and so on, in the shape 7 × 9 × 5.
            let [a, b, c] = chunk.offset[..] else { panic!() };
            let first = file.read(chunk.address, 8).unwrap();
            assert_eq!(first, ((a * 9 + b) * 5 + c).to_le_bytes(), "{version} {name} {:?}", chunk.offset);
        }
    }
}

/// Writes bytes to a file and describes it.
fn described_bytes(bytes: &[u8]) -> Result<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    described(file.path())
}

#[test]
fn truncated_files_are_damaged() {
    for name in ["sizes840.h5", "sizes220.h5", "layout2.h5"] {
        let bytes = std::fs::read(data().join(name)).unwrap();
        described_bytes(&bytes).unwrap();
        let error = described_bytes(&bytes[..bytes.len() - 1]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{name}");
        assert!(error.to_string().contains("the file is truncated"), "{name}: {error}");
    }
}

#[test]
fn other_bytes_are_errors_and_no_panics() {
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for name in ["sizes840.h5", "sizes445.h5", "layout2.h5", "shared0.h5", "heaps.h5"] {
        let bytes = std::fs::read(data().join(name)).unwrap();
        for _ in 0..40 {
            let mut bytes = bytes.clone();
            for _ in 0..8 {
                let at = usize::try_from(random() % bytes.len() as u64).unwrap();
                bytes[at] = [0, 1, 255, 128, bytes[at] ^ 1][usize::try_from(random() % 5).unwrap()];
            }
            drop(described_bytes(&bytes));
        }
    }
}
