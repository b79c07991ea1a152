//! `zarrox stats --axis`: prints or stores statistics along axes.

use std::io::Write;

use zarrox::json::{Json, Map, json};
use zarrox::stores::MemoryStore;
use zarrox::{Array, ArrayBuilder, DynArray, ErrorKind, Result, Selection};
use zarrox_tools::Statistics;
use zarrox_tools::stats::Measure;

use super::dump::Dump;
use crate::args::Global;
use crate::exit::Failure;
use crate::part;
use crate::print;

/// The axes, and the statistics along them.
pub(super) struct Along<'a> {
    pub(super) path: &'a str,
    pub(super) axes: &'a [String],
    pub(super) measures: &'a [Measure],
    pub(super) field: Option<&'a str>,
    pub(super) json: bool,
}

impl Along<'_> {
    /// Prints the statistics.
    pub(super) fn print(
        &self,
        statistics: &Statistics,
        array: &Array,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let axes = part::axes(array, self.axes)?;
        let builders = self.measures.iter().map(|&measure| {
            let store = std::sync::Arc::new(MemoryStore::new());
            let builder = zarrox::OpenOptions::new().create_array((store, ""));
            Ok((measure, self.described(builder, statistics, array, &axes, measure)?.create()?))
        });
        let arrays: Vec<(Measure, Array)> = builders.collect::<Result<_>>()?;
        let outputs: Vec<_> = arrays.iter().map(|(measure, array)| (*measure, array)).collect();
        statistics.along_into(array, &axes, &outputs)?;
        if self.json {
            let values =
                |(measure, array): &(Measure, Array)| Ok((measure.name().to_owned(), nested(array)?));
            let found = Json::Object(arrays.iter().map(values).collect::<Result<Map>>()?);
            let shape = statistics.shape_along(array, &axes)?;
            let json = json!({"path": self.path, "axes": axes.as_slice(), "shape": shape.as_slice(), "statistics": found});
            return Ok(print::print_json(out, &json)?);
        }
        for (nth, (measure, array)) in arrays.iter().enumerate() {
            if arrays.len() > 1 {
                writeln!(out, "{}{measure}:", if nth == 0 { "" } else { "\n" })?;
            }
            Dump::print_array(array, out)?;
        }
        Ok(())
    }

    /// Stores the statistics: a single one as an array at the path, and several as the arrays of a group.
    pub(super) fn store(
        &self,
        global: &Global,
        statistics: &Statistics,
        array: &Array,
        place: &str,
    ) -> Result<()> {
        let axes = part::axes(array, self.axes)?;
        let place = place.trim_end_matches('/');
        let paths: Vec<String> = match self.measures {
            [_] => vec![place.to_owned()],
            several => several.iter().map(|measure| format!("{place}/{measure}")).collect(),
        };
        if self.measures.len() > 1 {
            create_group(global, place)?;
        }
        let builder = |(path, &measure): (&String, &Measure)| {
            let builder = global.options().create_array(path);
            Ok((measure, self.described(builder, statistics, array, &axes, measure)?))
        };
        let builders = paths.iter().zip(self.measures).map(builder).collect::<Result<Vec<_>>>()?;
        let source = format!("statistics of {}", self.path);
        filled(builders, &source, &mut Vec::new(), &mut |outputs| {
            let outputs: Vec<_> = outputs.iter().map(|(measure, array)| (*measure, array)).collect();
            statistics.along_into(array, &axes, &outputs)
        })
    }

    /// Returns a builder for the array of a statistic, with the names and chunk lengths of the remaining axes.
    fn described(
        &self,
        builder: ArrayBuilder,
        statistics: &Statistics,
        array: &Array,
        axes: &[usize],
        measure: Measure,
    ) -> Result<ArrayBuilder> {
        let of = match self.field {
            None => array.data_type().clone(),
            Some(name) => {
                let fill = array.fill_bytes();
                let element = [fill.as_bytes()];
                zarrox::DynArray::from_elements(array.data_type().clone(), vec![], element)?
                    .field(name)?
                    .data_type()
                    .clone()
            }
        };
        let shape = statistics.shape_along(array, axes)?;
        let builder = builder.data_type(measure.data_type(&of)).shape(shape.clone());
        let is_whole = shape.len() + axes.len() == array.ndim();
        let kept: Vec<usize> = (0..array.ndim()).filter(|dim| !axes.contains(dim)).collect();
        if !is_whole {
            return Ok(builder);
        }
        let chunks: Vec<u64> = kept
            .iter()
            .zip(&shape)
            .map(|(&dim, &length)| array.unit_shape()[dim].min(length.max(1)))
            .collect();
        let builder = builder.chunks(chunks);
        Ok(match array.dimension_names() {
            Some(names) => builder.optional_dimension_names(kept.iter().map(|&dim| names[dim].clone())),
            None => builder,
        })
    }
}

/// A function that writes the statistics to their arrays.
type Fill<'a> = &'a mut dyn FnMut(&[(Measure, Array)]) -> Result<()>;

/// Creates arrays, and stores their documents after all arrays have been filled.
fn filled(
    mut builders: Vec<(Measure, ArrayBuilder)>,
    source: &str,
    made: &mut Vec<(Measure, Array)>,
    fill: Fill<'_>,
) -> Result<()> {
    let Some((measure, builder)) = builders.pop() else { return fill(made) };
    let filled = builder.create_with(source, |array| {
        made.push((measure, array.clone()));
        filled(builders, source, made, fill)
    });
    filled.map(drop)
}

/// Creates a group, which may already exist.
fn create_group(global: &Global, place: &str) -> Result<()> {
    match global.options().create_group(place) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            global.options().open(place)?.into_group().map(drop)
        }
        created => created.map(drop),
    }
}

/// Returns all elements as nested lists.
fn nested(array: &Array) -> Result<Json> {
    let values = array.read::<DynArray>(Selection::all())?;
    values.to_json(&zarrox::codecs::registry())
}
