//! Zarrox as a participant in the exchange of arrays; see `quality/conformance/README.md`.
//!
//! ```text
//! conformance write|read|update MATRIX ROOT REPORT [--by WRITER] [--updated UPDATER] [--for READER]
//! conformance codecs REPORT
//! conformance indexing CASES REPORT
//! conformance archives write|write-v2|read|changed DIRECTORY
//! conformance databases write|change|changed KIND LOCATION
//! conformance references DIRECTORY
//! ```
//!
//! `codecs` lists the codecs for the designer of the matrix; `indexing` runs the cases of `quality/conformance/indexing.py`.

mod archives;
mod cell;
mod data;
mod databases;
mod elements;
mod failure;
mod indexing;
mod references;
mod variable;

use std::collections::HashSet;
use std::path::Path;

use zarrox::json::{Json, Map};
use zarrox::{
    Array, ChunkGrid, CodecSpec, DimSelection, DynArray, IntoSelection, OpenMode, OpenOptions, Selection,
};
use zarrox_core::json::json;

use cell::{Cell, Step};
use data::{Model, Span, fill_element, fill_value, lengths, same, same_fill, spans};
use failure::{Failure, agree};

const NAME: &str = "zarrox";

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [action, report] = arguments.as_slice()
        && action == "codecs"
    {
        return Ok(std::fs::write(report, codecs().to_string())?);
    }
    if let [part, directory] = arguments.as_slice()
        && part == "references"
    {
        return references::run(Path::new(directory));
    }
    if let [action, cases, report] = arguments.as_slice()
        && action == "indexing"
    {
        return Ok(std::fs::write(report, indexing::report(&std::fs::read_to_string(cases)?)?.to_string())?);
    }
    if let [kind, action, directory] = arguments.as_slice()
        && kind == "archives"
    {
        return archives::run(action, Path::new(directory));
    }
    if let [part, action, kind, location] = arguments.as_slice()
        && part == "databases"
    {
        return databases::run(action, kind, location);
    }
    let [action, matrix, root, report, flags @ ..] = arguments.as_slice() else {
        return Err("conformance write|read|update MATRIX ROOT REPORT [--by WRITER] [--updated UPDATER] [--for READER]".into());
    };
    let option = |name: &str| flags.chunks_exact(2).find(|pair| pair[0] == name).map(|pair| pair[1].as_str());
    let (writer, updater, reader) = (option("--by").unwrap_or(NAME), option("--updated"), option("--for"));

    let mut cells: Vec<Cell> = serde_json::from_slice(&std::fs::read(matrix)?)?;
    cells.retain(|cell| cell.applicable(writer, "write"));
    cells.retain(|cell| reader.is_none_or(|reader| cell.applicable(reader, "read")));
    let written: HashSet<String> = cells.iter().map(|cell| cell.id.clone()).collect();
    cells.retain(|cell| cell.applicable(NAME, action));
    cells.retain(|cell| updater.is_none_or(|updater| cell.applicable(updater, "update")));
    let mut outcomes = Map::default();
    for cell in &mut cells {
        if !cell.applicable(writer, "attributes") {
            cell.attributes.clear();
        }
        cell.members.retain(|name| written.contains(&format!("{}/{name}", cell.id)));
        let participant =
            Participant { path: &Path::new(root).join(&cell.id), cell, updated: updater.is_some() };
        let outcome = participant.run(action).err().map(|failure| failure.to_string());
        outcomes.insert(cell.id.clone(), json!(outcome));
    }
    let versions = json!({ "zarrox": env!("CARGO_PKG_VERSION") });
    std::fs::write(report, json!({ "versions": versions, "outcomes": outcomes }).to_string())?;
    Ok(())
}

/// Returns the names of all codecs, in v2 and in v3.
fn codecs() -> Json {
    let registry = zarrox::codecs::registry();
    let names =
        registry.codecs().iter().flat_map(|def| [def.name].into_iter().chain(def.aliases.iter().copied()));
    let ids = registry.codecs().iter().filter_map(|def| def.v2_id);
    json!({ "v2": ids.collect::<Vec<_>>(), "v3": names.collect::<Vec<_>>() })
}

/// One cell and its directory.
struct Participant<'a> {
    path: &'a Path,
    cell: &'a Cell,
    updated: bool,
}

impl Participant<'_> {
    fn run(&self, action: &str) -> Result<(), Failure> {
        match (action, self.cell.group) {
            ("write", true) => self.create_group(),
            ("read", true) => self.read_group(),
            ("update", true) => self.update_group(),
            ("write", false) => self.create(),
            ("read", false) => self.read(),
            ("update", false) => self.apply(OpenOptions::new().open(self.path)?.into_array()?),
            _ => Err(format!("unknown action '{action}'").into()),
        }
    }

    fn create_group(&self) -> Result<(), Failure> {
        let options = OpenOptions::new().format(self.cell.format()).mode(OpenMode::CreateNew);
        Ok(options.create_group(self.path)?.set_attributes(self.cell.attributes.clone())?)
    }

    fn update_group(&self) -> Result<(), Failure> {
        let mut group = zarrox::open_group(self.path)?;
        for step in &self.cell.update {
            if let Step::Attributes { value } = step {
                group.set_attributes(value.clone())?;
            }
        }
        Ok(())
    }

    fn read_group(&self) -> Result<(), Failure> {
        let group = zarrox::open_group(self.path)?;
        agree("attributes", group.attributes(), self.attributes())?;
        let mut names = Vec::new();
        for child in group.children()? {
            child.node?;
            names.push(child.name);
        }
        agree("members", &names, &self.cell.members)
    }

    fn create(&self) -> Result<(), Failure> {
        let cell = self.cell;
        let registry = zarrox::codecs::registry();
        let mut builder = zarrox::create_array(self.path)
            .format(cell.format())
            .shape(cell.shape.clone())
            .data_type(cell.data_type(&registry)?)
            .codecs(cell.codecs(&registry)?)
            .fill_value_json(fill_value(cell, &registry)?)
            .chunk_key_encoding(cell.key_encoding()?)
            .attributes(cell.attributes.clone());
        builder = match &cell.grid {
            Some(lengths) => builder.rectilinear_chunks(lengths.clone()),
            None => builder.chunks(cell.chunks.clone()),
        };
        if let Some(names) = &cell.dimension_names {
            builder = builder.optional_dimension_names(names.clone());
        }
        self.apply_steps(builder.create()?, &cell.steps, None)
    }

    /// Changes an array that another implementation wrote.
    fn apply(&self, array: Array) -> Result<(), Failure> {
        self.apply_steps(array, &self.cell.update, Some(&self.cell.steps))
    }

    fn apply_steps(&self, mut array: Array, steps: &[Step], before: Option<&[Step]>) -> Result<(), Failure> {
        let mut model = Model::new(self.cell, array.data_type())?;
        before.unwrap_or_default().iter().try_for_each(|step| model.apply(step))?;
        for step in steps {
            match step {
                Step::Write { region, seed } => write(&array, &model, region, Some(*seed))?,
                Step::Fill { region } => write(&array, &model, region, None)?,
                Step::Resize { shape } => array.resize(shape)?,
                Step::Attributes { value } => array.set_attributes(value.clone())?,
            }
            model.apply(step)?;
        }
        Ok(())
    }

    fn read(&self) -> Result<(), Failure> {
        let array = OpenOptions::new().mode(OpenMode::Read).open(self.path)?.into_array()?;
        let model = self.expected(&array)?;
        self.describe(&array, &model)?;
        for selection in selections(&model.shape) {
            let got = array.read::<DynArray>(&selection.selection)?;
            let place = |failure: Failure| Failure::from(format!("[{}]: {failure}", selection.selection));
            agree("shape", got.shape(), &selection.shape).map_err(place)?;
            same(&model, &got, &model.gather(&selection.spans)).map_err(place)?;
        }
        Ok(())
    }

    /// Returns the expected array after its creation and the updates.
    fn expected(&self, array: &Array) -> Result<Model, Failure> {
        let mut model = Model::new(self.cell, array.data_type())?;
        let updates = self.cell.update.iter().filter(|_| self.updated);
        self.cell.steps.iter().chain(updates).try_for_each(|step| model.apply(step))?;
        Ok(model)
    }

    fn attributes(&self) -> &Map {
        let mut updates = self.cell.update.iter().filter(|_| self.updated);
        let new = updates.find_map(|step| match step {
            Step::Attributes { value } => Some(value),
            _ => None,
        });
        new.unwrap_or(&self.cell.attributes)
    }

    /// Compares all metadata.
    fn describe(&self, array: &Array, model: &Model) -> Result<(), Failure> {
        let (cell, registry) = (self.cell, zarrox::codecs::registry());
        let metadata = array.metadata();
        let data_type = cell.data_type(&registry)?;
        agree("format", &metadata.format, &cell.format())?;
        agree("data type", array.data_type(), &data_type)?;
        agree("shape", &lengths(array.shape())?, &model.shape)?;
        agree("chunks", metadata.chunk_grid.largest_chunk(), &cell.chunks)?;
        if let Some(lengths) = &cell.grid {
            // Lengths may be listed individually instead of as a run.
            let expected = ChunkGrid::rectilinear(lengths.clone(), array.shape())?;
            let places = |grid: &ChunkGrid| -> Vec<_> {
                (0..array.ndim())
                    .flat_map(|dim| (0..16).map(move |chunk| (dim, chunk)))
                    .map(|(dim, chunk)| grid.chunk_place(dim, chunk))
                    .collect()
            };
            agree("grid", &places(&metadata.chunk_grid), &places(&expected))?;
        }
        let fill = fill_element(&data_type, cell)?;
        same_fill(&data_type, array.fill_bytes().as_bytes(), &fill)?;
        agree("chunk keys", &array.raw().key_encoding()?, &cell.key_encoding()?)?;
        agree("attributes", array.attributes(), self.attributes())?;
        agree("dimension names", &names(array.dimension_names()), &names(cell.dimension_names.as_deref()))?;
        if !cell.needs.is_empty() {
            // Defaults may be omitted.
            return agree("codecs", &codec_names(&array.codecs()), &codec_names(&cell.codecs(&registry)?));
        }
        agree("codecs", &normal(&array.codecs()), &normal(&cell.codecs(&registry)?))
    }
}

/// Writes the values of a step through the library.
fn write(array: &Array, model: &Model, region: &[[isize; 3]], seed: Option<u64>) -> Result<(), Failure> {
    let spans = spans(region);
    let shape = spans.iter().map(|span| span.count).collect();
    let values = model.array(shape, model.values(&spans, seed))?;
    let slices = region.iter().map(|&[start, stop, step]| slice(Some(start), Some(stop), step));
    Ok(array.write(slices.collect::<Vec<_>>(), &values)?)
}

fn slice(start: Option<isize>, stop: Option<isize>, step: isize) -> DimSelection {
    let bound = |bound: isize| bound as i64;
    DimSelection::Slice { start: start.map(bound), stop: stop.map(bound), step: step as i64 }
}

/// A selection, and its indices as plain numbers.
struct Expected {
    selection: Selection,
    spans: Vec<Span>,
    shape: Vec<usize>,
}

/// Returns the selections that are read from every array: all of it, every second element of the middle, everything backwards,
/// and one element.
fn selections(shape: &[usize]) -> Vec<Expected> {
    let expected = |dim: &dyn Fn(isize) -> (DimSelection, Span)| {
        let dims = shape.iter().map(|length| dim(length.cast_signed()));
        let (dims, spans): (Vec<_>, Vec<Span>) = dims.unzip();
        let kept = dims.iter().zip(&spans).filter(|(dim, _)| !matches!(dim, DimSelection::Index(_)));
        let shape = kept.map(|(_, span)| span.count).collect();
        Expected { selection: dims.into_selection(), spans, shape }
    };
    let span = |start: isize, step, count: isize| Span { start, step, count: count.unsigned_abs() };
    let mut all = vec![
        expected(&|n| (DimSelection::ALL, span(0, 1, n))),
        expected(&|n| (slice(Some(n / 3), Some(n), 2), span(n / 3, 2, (n - n / 3 + 1) / 2))),
        expected(&|n| (slice(None, None, -1), span(n - 1, -1, n))),
    ];
    if !shape.contains(&0) {
        all.push(expected(&|n| (DimSelection::Index((n / 2) as i64), span(n / 2, 1, 1))));
    }
    all
}

/// Returns the dimension names; `None` if all of them are missing.
fn names(names: Option<&[Option<String>]>) -> Option<Vec<Option<String>>> {
    names.filter(|names| names.iter().any(Option::is_some)).map(<[_]>::to_vec)
}

/// Returns the canonical names of codecs.
fn codec_names(codecs: &[CodecSpec]) -> Vec<String> {
    let registry = zarrox::codecs::registry();
    let name = |codec: &CodecSpec| {
        registry.codec(&codec.name).map_or(codec.name.as_str(), |def| def.name).to_owned()
    };
    codecs.iter().map(name).collect()
}

/// Returns codecs in a canonical form for comparison: Blosc needs no type size without shuffling, a few members have defaults,
/// and the codecs inside other codecs get the same form.
fn normal(codecs: &[CodecSpec]) -> Vec<Json> {
    codecs.iter().map(|codec| normal_codec(&codec.name, &codec.configuration)).collect()
}

fn normal_codec(name: &str, configuration: &Map) -> Json {
    let mut configuration = configuration.clone();
    match name {
        "zstd" => _ = configuration.get_or_insert_with("checksum", || false.into()),
        "numcodecs.lz4" => _ = configuration.get_or_insert_with("acceleration", || 1.into()),
        "blosc" if configuration.get("shuffle") == Some(&"noshuffle".into()) => {
            configuration.remove("typesize");
        }
        _ => {}
    }
    for member in ["codecs", "index_codecs"] {
        if let Some(Json::Array(chain)) = configuration.get_mut(member) {
            for codec in chain {
                let name = codec["name"].as_str().unwrap_or_default().to_owned();
                *codec = normal_codec(&name, codec["configuration"].as_object().unwrap_or(&Map::default()));
            }
        }
    }
    json!({ "name": name, "configuration": configuration })
}
