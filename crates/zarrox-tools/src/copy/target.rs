//! Translation of nodes to another format, as far as that format can express them.
//!
//! There is no list of what a format can express. Instead, documents of the format are created and read again: the format can
//! express every property that is then unchanged.

use zarrox_core::json::{Json, Map};
use zarrox_core::{
    ArrayMetadata, ChunkGrid, ChunkKeyEncoding, DataType, Error, ErrorKind, FillValue, Format, GroupMetadata,
    NodeMetadata, Result, Strictness,
};

use super::codecs;
use super::missing::MissingChunks;
use super::report::{Effect, Obstacle, Property};
use super::rewrite::Rewrite;
use super::translator::{Translator, says};
use zarrox::Array;
use zarrox::internals::{ARRAY_DIMENSIONS, attribute_names};

/// An array as the target will store it.
pub(super) struct TargetArray {
    pub(super) metadata: ArrayMetadata,
    /// True if chunks have the same encoded bytes.
    pub(super) same_chunks: bool,
    /// True if missing chunks would be read as other values.
    pub(super) other_fill: bool,
}

impl Translator<'_> {
    /// Returns an array with changed properties. `writes_all` is true if missing chunks must be written even if no property
    /// changes.
    pub(super) fn rewritten(
        &self,
        array: &Array,
        metadata: ArrayMetadata,
        rewrite: &Rewrite,
        writes_all: bool,
    ) -> Option<TargetArray> {
        let same_chunks = rewrite.part.is_none() && self.same_chunks(array, &metadata);
        let fill = metadata.fill_element(self.registry).ok()?;
        let expected = rewrite.fill(array).ok()?;
        let other_fill = writes_all || fill != fill_of(&metadata, rewrite.data_type(array), expected);
        Some(TargetArray { metadata, same_chunks, other_fill })
    }

    pub(super) fn group(&mut self, source: &GroupMetadata) -> Option<GroupMetadata> {
        let mut target = GroupMetadata::new(self.to);
        if let Err(error) = self.says(&NodeMetadata::Group(target.clone())) {
            self.find(Property::Groups, Effect::Refusal, error.to_string());
            return None;
        }
        let with = |attributes: Map| {
            NodeMetadata::Group(GroupMetadata { attributes, ..GroupMetadata::new(self.to) })
        };
        let (attributes, lost) = self.attributes(&source.attributes, with);
        target.attributes = attributes;
        self.lose_attributes(&lost);
        let extra = source.extra.clone();
        let full = GroupMetadata { extra: extra.clone(), ..target.clone() };
        match self.says(&NodeMetadata::Group(full)) {
            Ok(()) => target.extra = extra,
            Err(_) => self.lose_members(&extra),
        }
        Some(target)
    }

    /// Translates an array whose chunks have these keys.
    pub(super) fn array(&mut self, array: &Array, keys: ChunkKeyEncoding) -> Result<Option<TargetArray>> {
        let source = array.metadata();
        if let Some(metadata) = self.same(source, keys) {
            return Ok(Some(TargetArray { metadata, same_chunks: true, other_fill: false }));
        }
        let mut target = match self.plain(array, &source.data_type).or_else(|error| self.packed(array, error))
        {
            Ok(plain) => plain,
            Err(error) => {
                let reason = format!("{error}; the array would be skipped");
                self.find(Property::DataTypes, self.left_out(), reason);
                return Ok(None);
            }
        };
        self.fallback(source, &mut target);
        if !self.fill_value(array, &mut target) {
            return Ok(None);
        }
        self.key_encoding(source, keys, &mut target);
        if !self.codecs(array, &mut target) {
            return Ok(None);
        }
        self.names(source, &mut target);
        let missing = self.missing_values(array, &mut target)?;
        let extra = source.extra.clone();
        match self.says_array(&ArrayMetadata { extra: extra.clone(), ..target.clone() }) {
            Ok(()) => target.extra = extra,
            Err(_) => self.lose_members(&extra),
        }
        let Ok(fill) = target.fill_element(self.registry) else { return Ok(None) };
        let other_fill = match missing {
            MissingChunks::Unchanged => fill != fill_of(&target, &source.data_type, array.fill_bytes()),
            MissingChunks::NoneMissing => false,
            MissingChunks::Written => true,
        };
        let same_chunks = self.same_chunks(array, &target);
        Ok(Some(TargetArray { same_chunks, other_fill, metadata: target }))
    }

    /// Returns the array unchanged, if it already has the target's format.
    fn same(&self, source: &ArrayMetadata, keys: ChunkKeyEncoding) -> Option<ArrayMetadata> {
        if source.format != self.to || source.fallback_from.is_some() {
            return None;
        }
        let target = ArrayMetadata { chunk_key_encoding: keys, separator_declared: true, ..source.clone() };
        self.says_array(&target).is_ok().then_some(target)
    }

    /// Returns the effect if a node that cannot be converted is skipped.
    pub(super) fn left_out(&self) -> Effect {
        // In an in-place conversion, the node would stay in the old format. Without the root, nothing is left to convert.
        if self.in_place || self.shown == "/" { Effect::Refusal } else { Effect::Loss }
    }

    pub(super) fn find(&mut self, property: Property, effect: Effect, reason: impl Into<String>) {
        let path = self.shown.to_owned();
        self.obstacles.push(Obstacle { path, property, effect, reason: reason.into() });
    }

    /// Returns the array without the padding of its structured data type, if the padding is all that cannot be expressed; returns
    /// the error otherwise.
    fn packed(&mut self, array: &Array, error: Error) -> Result<ArrayMetadata> {
        let (padded, packed) = (array.data_type(), array.data_type().packed());
        if self.in_place || *padded == packed {
            return Err(error);
        }
        let plain = self.plain(array, &packed).map_err(|_| error)?;
        let reason = "the padding between the fields, which has no values, is dropped";
        self.find(Property::DataTypes, Effect::Note, reason);
        Ok(plain)
    }

    /// Returns the array with only its shape and data type.
    fn plain(&self, array: &Array, data_type: &DataType) -> Result<ArrayMetadata> {
        let source = array.metadata();
        let chunks: Vec<u64> = source.shape.iter().map(|&length| length.clamp(1, 16)).collect();
        let mut plain = ArrayMetadata {
            format: self.to,
            shape: source.shape.clone(),
            data_type: data_type.clone(),
            fallback_from: None,
            chunk_grid: ChunkGrid::regular(chunks, &source.shape)?,
            chunk_key_encoding: self.to.def().default_chunk_key_encoding(),
            separator_declared: true,
            fill_value: None,
            codecs: Vec::new(),
            attributes: Map::default(),
            dimension_names: None,
            extra: Map::default(),
        };
        plain.fill_value =
            Some(ArrayMetadata { fill_value: None, ..plain.clone() }.fill_element(self.registry)?);
        let mut why = None;
        for codecs in codecs::simplest(array, self.registry) {
            plain.codecs = codecs;
            match self.says_array(&plain) {
                Ok(()) => return Ok(plain),
                Err(error) => why = why.or(Some(error)),
            }
        }
        Err(why.unwrap_or_else(|| Error::new(ErrorKind::Unsupported, "no codec can encode its elements")))
    }

    /// Replaces an unknown data type by its fallback in the target.
    fn fallback(&mut self, source: &ArrayMetadata, target: &mut ArrayMetadata) {
        let Some(unknown) = &source.fallback_from else { return };
        let with = ArrayMetadata { fallback_from: source.fallback_from.clone(), ..target.clone() };
        if self.says_array(&with).is_ok() {
            return *target = with;
        }
        let reason =
            format!("the unknown data type {unknown} is read as {0}, and would become {0}", source.data_type);
        self.find(Property::DataTypes, Effect::Loss, reason);
    }

    /// Finds a fill value that the target can express. Returns false if the array cannot be converted without its own fill value.
    fn fill_value(&mut self, array: &Array, target: &mut ArrayMetadata) -> bool {
        let source = array.metadata();
        let with = |fill_value| ArrayMetadata { fill_value, ..target.clone() };
        let own = source.fill_value.clone().map(|fill| fill_of(target, &source.data_type, fill));
        let why = match self.says_array(&with(own.clone())) {
            Ok(()) => {
                target.fill_value = own;
                return true;
            }
            Err(error) => error,
        };
        let shown = array.format_element(array.fill_bytes().as_bytes()).unwrap_or_default();
        let resolved = fill_of(target, &source.data_type, array.fill_bytes());
        if self.says_array(&with(Some(resolved.clone()))).is_ok() {
            target.fill_value = Some(resolved);
            let reason = format!(
                "the fill value is undefined (null) and is read as {shown}; the target would store {shown}"
            );
            self.find(Property::FillValues, Effect::Note, reason);
            return true;
        }
        let chunks = source.chunk_grid.chunk_count(&source.shape);
        if self.in_place {
            let reason = format!(
                "the fill value {shown} cannot be stored ({why}), so every chunk would have to be stored; {GIVE}"
            );
            self.find(Property::FillValues, Effect::Refusal, reason);
        } else if chunks.is_none_or(|chunks| chunks > MANY_CHUNKS) {
            let reason = format!(
                "the fill value {shown} cannot be stored ({why}), and the array has too many chunks to store all of them; the \
                  array would be skipped"
            );
            self.find(Property::Nodes, self.left_out(), reason);
            return false;
        } else {
            let reason = format!(
                "the fill value {shown} cannot be stored ({why}); every chunk would be stored instead, which preserves all values"
            );
            self.find(Property::FillValues, Effect::Loss, reason);
        }
        true
    }

    fn key_encoding(&mut self, source: &ArrayMetadata, own: ChunkKeyEncoding, target: &mut ArrayMetadata) {
        let default = target.chunk_key_encoding;
        let separator = own.separator();
        let same_separator = default.with_separator(separator);
        let candidates = match self.in_place || source.format == self.to {
            true => vec![own],
            false => vec![same_separator],
        };
        for encoding in candidates {
            if self.says_array(&ArrayMetadata { chunk_key_encoding: encoding, ..target.clone() }).is_ok() {
                return target.chunk_key_encoding = encoding;
            }
        }
        let example = vec![1; source.shape.len()];
        if self.in_place {
            let reason = format!(
                "chunks have keys like '{}', which the format cannot describe; {GIVE}",
                own.encode(&example)
            );
            return self.find(Property::ChunkKeys, Effect::Refusal, reason);
        }
        let (new, old) = (default.encode(&example), own.encode(&example));
        if new != old {
            self.find(
                Property::ChunkKeys,
                Effect::Note,
                format!("chunks get keys like '{new}' instead of '{old}'"),
            );
        }
    }

    /// Finds a chunk grid and codecs that the target supports. Returns false if there are none.
    fn codecs(&mut self, array: &Array, target: &mut ArrayMetadata) -> bool {
        let mut why = None;
        for candidate in codecs::candidates(array, target, self) {
            let codecs = self.in_target(candidate.codecs);
            let with = ArrayMetadata { chunk_grid: candidate.grid, codecs, ..target.clone() };
            match self.says_array(&with) {
                Ok(()) => {
                    *target = with;
                    if let Some(note) = candidate.note {
                        self.find(Property::Codecs, Effect::Note, note);
                    }
                    return true;
                }
                Err(error) if self.in_place => {
                    let reason = format!("{error}; its chunks would have to be rewritten; {GIVE}");
                    self.find(Property::Codecs, Effect::Refusal, reason);
                    return false;
                }
                Err(error) => why = why.or(Some(error)),
            }
        }
        let why =
            why.map_or_else(|| "it has no codec for its elements".to_owned(), |error| error.to_string());
        self.find(Property::Codecs, Effect::Refusal, why);
        false
    }

    /// Converts the dimension names, to v3's `dimension_names` or, in formats without them, to xarray's attribute.
    fn names(&mut self, source: &ArrayMetadata, target: &mut ArrayMetadata) {
        let mut attributes = source.attributes.clone();
        let told = attribute_names(source);
        let says_names = self.says_names(target, self.to);
        if says_names
            && told.is_some()
            && source.dimension_names.is_none()
            && !self.says_names(source, source.format)
        {
            attributes.remove(ARRAY_DIMENSIONS);
            target.dimension_names = told;
        } else if says_names {
            target.dimension_names = source.dimension_names.clone();
        } else if let Some(names) = &source.dimension_names {
            self.names_to_attribute(names, &mut attributes);
        } else if source.shape.is_empty() && self.in_data_set {
            // If this empty list were missing, xarray would not open any array of the group.
            self.names_to_attribute(&[], &mut attributes);
        }
        let with = |attributes: Map| NodeMetadata::Array(ArrayMetadata { attributes, ..target.clone() });
        let (attributes, lost) = self.attributes(&attributes, with);
        target.attributes = attributes;
        self.lose_attributes(&lost);
    }

    fn says_names(&self, array: &ArrayMetadata, format: Format) -> bool {
        let named = ArrayMetadata {
            dimension_names: Some(vec![Some("x".to_owned()); array.shape.len()]),
            format,
            ..array.clone()
        };
        says(format, &self.path, &NodeMetadata::Array(named), self.registry, self.chunk_limit).is_ok()
    }

    fn names_to_attribute(&mut self, names: &[Option<String>], attributes: &mut Map) {
        if !names.is_empty() && names.iter().all(Option::is_none) {
            return;
        }
        let Some(list) = names.iter().cloned().collect::<Option<Vec<String>>>() else {
            let reason =
                format!("only some dimensions have names ({}); all would be dropped", shown_names(names));
            return self.find(Property::DimensionNames, Effect::Loss, reason);
        };
        let list = Json::from(list);
        if let Some(other) = attributes.get(ARRAY_DIMENSIONS).filter(|other| **other != list) {
            let reason = format!(
                "the attribute {ARRAY_DIMENSIONS}, {other}, would be replaced by the dimension names"
            );
            self.find(Property::Attributes, Effect::Loss, reason);
        }
        // xarray writes the attribute before all others.
        attributes.remove(ARRAY_DIMENSIONS);
        let first = [(ARRAY_DIMENSIONS.to_owned(), list)];
        *attributes = first.into_iter().chain(std::mem::take(attributes)).collect();
    }

    /// Returns the attributes that the format can store, and the names of all other attributes.
    fn attributes(&self, source: &Map, with: impl Fn(Map) -> NodeMetadata) -> (Map, Vec<String>) {
        if self.says(&with(source.clone())).is_ok() {
            return (source.clone(), Vec::new());
        }
        let (mut kept, mut lost) = (Map::default(), Vec::new());
        for (name, value) in source {
            let mut more = kept.clone();
            more.insert(name.clone(), value.clone());
            match self.says(&with(more.clone())) {
                Ok(()) => kept = more,
                Err(_) => lost.push(name.clone()),
            }
        }
        (kept, lost)
    }

    fn lose_attributes(&mut self, names: &[String]) {
        for name in names {
            let reason = format!("the attribute {name:?} cannot be stored and would be dropped");
            self.find(Property::Attributes, Effect::Loss, reason);
        }
    }

    fn lose_members(&mut self, members: &Map) {
        for name in members.keys() {
            let reason = format!("the member {name:?} is unknown and would be dropped");
            self.find(Property::Members, Effect::Loss, reason);
        }
    }

    fn same_chunks(&self, array: &Array, target: &ArrayMetadata) -> bool {
        let source = array.metadata();
        let specs =
            target.chain(self.registry, Strictness::Lenient, self.chunk_limit).map(|chain| chain.specs());
        let fill = target.fill_element(self.registry).ok();
        // Missing inner chunks have the fill value.
        let fill_matters = array.shard_shape().is_some();
        specs.is_ok_and(|specs| specs == array.codecs())
            && target.data_type == source.data_type
            && target.chunk_grid == source.chunk_grid
            && (!fill_matters || fill == Some(array.fill_bytes()))
    }
}

/// Converts a fill value of the source to an element of the target's data type.
fn fill_of(target: &ArrayMetadata, data_type: &DataType, fill: FillValue) -> FillValue {
    if target.data_type == *data_type {
        return fill;
    }
    let mut packed = Vec::new();
    data_type.pack(fill.as_bytes(), &mut packed);
    FillValue::new(packed)
}

/// The maximum number of chunks that are stored only because of a fill value.
const MANY_CHUNKS: u64 = 1 << 24;

/// The advice for conversions that would have to change chunks.
const GIVE: &str = "give a destination for a converted copy";

fn shown_names(names: &[Option<String>]) -> String {
    Json::from(names.to_vec()).to_string()
}
