//! The data types and codecs that a program knows, by their names in every format.

use std::sync::Arc;

use crate::codec::{ChunkSpec, Codec, CodecKind, CodecSpec, same_from_v2, same_to_v2};
use crate::data_type::{
    ByteOrder, DataType, Family, FamilyRef, KnownTypes, PICKLE, Storage, Structures, TypeString, Unknown,
    family,
};
use crate::error::{CodecError, Error, ErrorKind, Result};
use crate::json::{self, Json, Map};
use crate::similar::most_similar;
use crate::strictness::Strictness;

/// The context in which a codec is created.
#[derive(Debug, Clone, Copy)]
pub struct CodecContext<'a> {
    /// The chunk before this codec; for a bytes→bytes codec, the chunk before the array→bytes codec.
    pub chunk: &'a ChunkSpec,
    /// The registry, for codecs that contain codec pipelines.
    pub registry: &'a Registry,
    /// The strictness with which the configuration is read.
    pub strictness: Strictness,
    /// The maximum size of a buffer for decoding a chunk, in bytes.
    pub limit: usize,
}

/// The definition of a codec: its names, its kind, and its configuration in each format.
#[derive(Debug)]
#[non_exhaustive]
pub struct CodecDef {
    /// The name in v3 metadata.
    pub name: &'static str,
    /// Aliases in v3 metadata.
    pub aliases: &'static [&'static str],
    /// The `id` in v2 metadata, if v2 has this codec. Several codecs may share an `id`: the `from_v2` of each then rejects the
    /// members of the others.
    pub v2_id: Option<&'static str>,
    /// The kind of the codec: its input and output.
    pub kind: CodecKind,
    /// Creates the codec from its v3 configuration.
    pub create: fn(&Map, &CodecContext<'_>) -> Result<Codec, CodecError>,
    /// Converts v2's members (without `id`) to a v3 configuration, for elements of the given size in bytes.
    pub from_v2: fn(&Map, usize) -> Result<Map, CodecError>,
    /// Converts a v3 configuration to v2's members (without `id`).
    pub to_v2: fn(&Map) -> Result<Map, CodecError>,
}

impl CodecDef {
    /// Creates the definition of a codec with this v3 name and kind that does not exist in v2.
    ///
    /// ```
    /// # use zarrox_core::codec::{Codec, CodecContext, CodecDef, CodecKind, CodecError};
    /// # use zarrox_core::json::Map;
    /// # fn create(_: &Map, _: &CodecContext<'_>) -> Result<Codec, CodecError> { Err(CodecError::unsupported("")) }
    /// static DEF: CodecDef = CodecDef::new("reverse", CodecKind::BytesToBytes, create).v2_id("reverse");
    /// ```
    pub const fn new(
        name: &'static str,
        kind: CodecKind,
        create: fn(&Map, &CodecContext<'_>) -> Result<Codec, CodecError>,
    ) -> Self {
        let (from_v2, to_v2) = (same_from_v2, same_to_v2);
        Self { name, aliases: &[], v2_id: None, kind, create, from_v2, to_v2 }
    }

    /// Sets aliases in v3 metadata.
    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Sets the `id` in v2 metadata. The other members are the v3 configuration, unless [`from_v2`](Self::with_from_v2) and
    /// [`to_v2`](Self::with_to_v2) convert it.
    #[must_use]
    pub const fn v2_id(self, id: &'static str) -> Self {
        Self { v2_id: Some(id), ..self }
    }

    /// Sets the conversion of v2's members (without `id`) to a v3 configuration, for elements of the given size in bytes.
    #[must_use]
    pub const fn with_from_v2(self, from_v2: fn(&Map, usize) -> Result<Map, CodecError>) -> Self {
        Self { from_v2, ..self }
    }

    /// Sets the conversion of a v3 configuration to v2's members (without `id`).
    #[must_use]
    pub const fn with_to_v2(self, to_v2: fn(&Map) -> Result<Map, CodecError>) -> Self {
        Self { to_v2, ..self }
    }
}

/// The families that every registry contains.
pub(crate) static FAMILIES: &[&dyn Family] = &[
    &family::bool::Bool,
    &family::integer::Integers,
    &family::float::Floats,
    &family::complex::Complexes,
    &family::raw::RawBytes,
    &family::small_int::SmallInts,
    &family::small_float::SmallFloats,
    &family::small_complex::SmallComplexes,
    &family::bytes::ByteStrings,
    &family::utf32::FixedText,
    &family::time::Times,
    &family::variable::Variable,
    &family::object::Objects,
    &family::ragged::Ragged,
    &family::optional::Optionals(&CORE),
];

/// The core data types, and no codecs.
pub(crate) static CORE: Registry = Registry::CORE;

/// The known data types and codecs: a value that is passed when a node is opened, and never a global.
///
/// Every name is offered to all entries. It is an error if two of them accept it.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    codecs: Vec<&'static CodecDef>,
    user_families: Vec<Arc<dyn Family>>,
    foreign: Option<&'static CodecDef>,
    /// True if metadata may name unknown data types and codecs.
    takes_unknown: bool,
}

impl Registry {
    /// Creates a registry with the core data types and no codecs.
    pub(crate) const CORE: Self =
        Self { codecs: Vec::new(), user_families: Vec::new(), foreign: None, takes_unknown: false };

    /// Creates a registry with the core data types and no codecs.
    pub fn new() -> Self {
        Self::CORE
    }

    /// Adds a codec.
    #[must_use]
    pub fn with_codec(mut self, codec: &'static CodecDef) -> Self {
        self.codecs.push(codec);
        self
    }

    /// Adds several codecs.
    #[must_use]
    pub fn with_codecs(mut self, codecs: &[&'static CodecDef]) -> Self {
        self.codecs.extend_from_slice(codecs);
        self
    }

    /// Adds a codec, and replaces the codec with the same name, if there is one.
    #[must_use]
    #[doc(hidden)]
    pub fn with_codec_instead(mut self, codec: &'static CodecDef) -> Self {
        self.codecs.retain(|known| known.name != codec.name);
        self.with_codec(codec)
    }

    /// Sets the codec for all v2 `id`s that no other codec has. This is for codecs that are defined outside the registry. The
    /// codec has no [`v2_id`](CodecDef::v2_id): its `from_v2` also receives the member `id`, and its `to_v2` returns this member.
    #[must_use]
    #[doc(hidden)]
    pub fn with_foreign_codecs(self, codec: &'static CodecDef) -> Self {
        Self { foreign: Some(codec), ..self.with_codec(codec) }
    }

    /// Adds a family of data types.
    #[must_use]
    pub fn with_data_types(mut self, family: impl Family + 'static) -> Self {
        self.user_families.push(Arc::new(family));
        self
    }

    /// Accepts unknown data types and codecs, so that metadata can be inspected. The elements of such an array cannot be read.
    #[must_use]
    pub fn with_unknown(self) -> Self {
        Self { takes_unknown: true, ..self }
    }

    /// Returns true if metadata may name unknown data types and codecs.
    #[doc(hidden)]
    pub fn takes_unknown(&self) -> bool {
        self.takes_unknown
    }

    /// Returns the reason why elements of this type with these codecs cannot be read, which lists the unknown names.
    #[doc(hidden)]
    pub fn unknown_among(&self, data_type: &DataType, codecs: &[CodecSpec]) -> Option<String> {
        if !self.knows(data_type) {
            return Some(format!("unknown data type '{data_type}'"));
        }
        let mut names = Vec::new();
        self.collect_unknown(codecs, &mut names);
        match names.as_slice() {
            [] => None,
            [name] => Some(format!("unknown codec '{name}'")),
            names => Some(format!("unknown codecs '{}'", names.join("' and '"))),
        }
    }

    fn collect_unknown(&self, codecs: &[CodecSpec], names: &mut Vec<String>) {
        for codec in codecs {
            match self.codec(&codec.name) {
                Ok(_) => self.collect_unknown(&codec.inside(), names),
                Err(_) if names.contains(&codec.name) => {}
                Err(_) => names.push(codec.name.clone()),
            }
        }
    }

    /// Returns the data type, or an unknown type if unknown types are accepted.
    pub(crate) fn or_unknown(&self, said: &Json, data_type: Result<DataType>) -> Result<DataType> {
        match data_type {
            Err(error) if self.takes(&error) => Ok(DataType::unknown(said)),
            known => known,
        }
    }

    /// Returns true if the error means that a type or a codec is unknown, and unknown ones are accepted.
    fn takes(&self, error: &Error) -> bool {
        self.takes_unknown && error.kind() == ErrorKind::Unsupported
    }

    /// Returns all codecs, in the order of their registration.
    pub fn codecs(&self) -> &[&'static CodecDef] {
        &self.codecs
    }

    /// Returns the codec with this name in v3 metadata.
    pub fn codec(&self, name: &str) -> Result<&'static CodecDef> {
        self.one_codec(name, |def| def.name == name || def.aliases.contains(&name))
    }

    /// Returns the definition and the v3 form of a v2 codec, an object with an `id`, for elements of `item` bytes.
    ///
    /// # Errors
    /// When the value is not such an object, the codec is unknown, or its members are invalid.
    #[doc(hidden)]
    pub fn spec_from_v2(&self, json: &Json, item: usize) -> Result<(CodecKind, CodecSpec)> {
        let not_a_codec = || Error::metadata(format!("a codec must be an object with an \"id\", not {json}"));
        let mut map = json.as_object().cloned().ok_or_else(not_a_codec)?;
        let Some(Json::String(id)) = map.remove("id") else { return Err(not_a_codec()) };
        let def = match self.codec_from_v2(&id, &map) {
            Err(error) if self.takes(&error) => {
                return Ok((CodecKind::BytesToBytes, CodecSpec { name: id, configuration: map }));
            }
            def => def?,
        };
        if def.v2_id.is_none() {
            map.insert("id".to_owned(), id.as_str().into());
        }
        let configuration = (def.from_v2)(&map, item).map_err(|error| error.in_codec(&id))?;
        Ok((def.kind, CodecSpec { name: def.name.to_owned(), configuration }))
    }

    /// Returns the codec with this `id` and these members in v2 metadata. If several codecs share the `id`, the
    /// [`from_v2`](CodecDef::from_v2) of each rejects the members of the others.
    #[doc(hidden)]
    pub fn codec_from_v2(&self, id: &str, members: &Map) -> Result<&'static CodecDef> {
        let has_id = |def: &CodecDef| def.v2_id == Some(id);
        let count = self.codecs.iter().filter(|def| has_id(def)).count();
        if let (0, Some(foreign)) = (count, self.foreign) {
            return Ok(foreign);
        }
        let shared = count > 1;
        self.one_codec(id, |def| has_id(def) && (!shared || (def.from_v2)(members, 1).is_ok()))
    }

    fn one_codec(&self, name: &str, matches: impl Fn(&CodecDef) -> bool) -> Result<&'static CodecDef> {
        let mut takers = self.codecs.iter().copied().filter(|def| matches(def));
        let Some(first) = takers.next() else {
            let known = self.codecs.iter().flat_map(|def| [Some(def.name), def.v2_id]).flatten();
            let suggestion = most_similar(name, known).map(|known| format!("; did you mean '{known}'?"));
            return Err(Error::unsupported(format!(
                "unknown codec '{name}'{}",
                suggestion.unwrap_or_default()
            )));
        };
        match takers.next() {
            None => Ok(first),
            Some(_) => Err(Error::argument(format!("two registered codecs have the name '{name}'"))),
        }
    }

    /// Returns the data type that a `data_type` member of v3 metadata describes.
    #[doc(hidden)]
    pub fn data_type_from_v3(&self, json: &Json) -> Result<DataType> {
        let empty = Map::default();
        let (name, configuration) = match json {
            Json::String(name) => (name.as_str(), &empty),
            Json::Object(map) => {
                let known =
                    |name: &String| ["name", "configuration", "must_understand"].contains(&name.as_str());
                let name = map.get("name").and_then(Json::as_str).filter(|_| map.keys().all(known));
                let configuration = map.get("configuration").map_or(Some(&empty), Json::as_object);
                name.zip(configuration).ok_or_else(|| bad_type(json))?
            }
            _ => return Err(bad_type(json)),
        };
        let takers = self.families().filter_map(|family| family.parse_v3(name, configuration));
        let structure = Structures(self).parse_v3(name, configuration);
        let data_type = one_type(json, takers.chain(structure).collect())?;
        // An unknown type may have any configuration.
        if !configuration.is_empty() && self.family(&data_type)?.to_v3(&data_type)? == name {
            let message = format!("the data type '{name}' has no configuration, but {json} has one");
            return Err(Error::metadata(message));
        }
        Ok(data_type)
    }

    /// Returns the data type that a `dtype` member of v2 metadata describes, with its byte order if it has one.
    #[doc(hidden)]
    pub fn data_type_from_v2(&self, json: &Json) -> Result<(DataType, Option<ByteOrder>)> {
        if let Some(fields) = json.as_array() {
            return Structures(self).parse_fields(fields);
        }
        let text = json.as_str().ok_or_else(|| unknown_type(json))?;
        let dtype = TypeString::parse(text).ok_or_else(|| bad_type(json))?;
        if dtype.kind == 'O' {
            return Err(Error::unsupported(
                "objects need a codec that encodes them, such as JSON2 or VLenUTF8",
            ));
        }
        let takers = self.families().filter_map(|family| family.parse_v2(&dtype));
        Ok((one_type(json, takers.collect())?, dtype.endian.map(ByteOrder::One)))
    }

    /// Returns the data type of v2's `|O` elements, which exactly one of the codecs determines.
    #[doc(hidden)]
    pub fn object_type_from_v2<'c>(&self, codecs: impl IntoIterator<Item = &'c Map>) -> Result<DataType> {
        self.type_with_objects_from_v2(&"|O".into(), codecs)
    }

    /// Returns the data type of v2 elements with this `dtype`, which [is `|O`, or has `|O`
    /// fields](crate::data_type::has_objects). The codecs determine the type of the objects.
    #[doc(hidden)]
    pub fn type_with_objects_from_v2<'c>(
        &self,
        dtype: &Json,
        codecs: impl IntoIterator<Item = &'c Map>,
    ) -> Result<DataType> {
        for codec in codecs {
            let takers: Vec<_> =
                self.families().filter_map(|family| family.parse_object(dtype, codec)).collect();
            if !takers.is_empty() {
                return one_type(&Json::Object(codec.clone()), takers);
            }
            if codec.get("id").and_then(Json::as_str) == Some("pickle") {
                return Err(Error::unsupported(PICKLE));
            }
        }
        if dtype.is_array() {
            return Err(Error::unsupported(
                "the elements are structures with fields of objects, which only the codec pickle stores",
            ));
        }
        Err(Error::unsupported(
            "the elements are objects, and no filter encodes objects; known are json2, msgpack2, vlen-utf8, vlen-bytes, vlen-array and categorize",
        ))
    }

    /// Checks that no codec interprets variable-length elements as another type, for example objects as strings. In memory, all
    /// variable-length elements are bytes, and a codec does not know their meaning.
    pub(crate) fn check_object_codecs(&self, data_type: &DataType, codecs: &[CodecSpec]) -> Result<()> {
        // Only the family of a user-defined data type knows how its elements are stored.
        let own = self.user_families.iter().any(|family| family.has(data_type));
        if data_type.storage() != Storage::Variable || own {
            return Ok(());
        }
        codecs.iter().try_for_each(|codec| {
            self.check_object_codecs(data_type, &codec.inside())?;
            match self.object_type_of(codec) {
                Some(stored) if !data_type.has_elements_of(&stored) => Err(Error::metadata(format!(
                    "the codec '{}' stores elements of {stored}, but the array has {data_type}",
                    codec.name
                ))),
                _ => Ok(()),
            }
        })
    }

    /// Returns the data type of the elements that a codec stores, if the codec determines the type of v2's `|O` elements.
    #[doc(hidden)]
    pub fn object_type_of(&self, codec: &CodecSpec) -> Option<DataType> {
        let def = self.codec(&codec.name).ok()?;
        let mut members = (def.to_v2)(&codec.configuration).ok()?;
        members.insert("id".to_owned(), def.v2_id?.into());
        self.object_type_from_v2([&members]).ok()
    }

    /// Returns the data type as a `dtype` member of v2 metadata.
    #[doc(hidden)]
    pub fn data_type_to_v2(&self, data_type: &DataType, order: &ByteOrder) -> Result<Json> {
        match (data_type, order) {
            (DataType::Struct(structure), order) => Structures(self).fields_to_v2(structure, order),
            (_, ByteOrder::One(endian)) => self.family(data_type)?.to_v2(data_type, *endian),
            (_, ByteOrder::Each(_)) => Err(Error::argument("a byte order for each field needs a structure")),
        }
    }

    /// Returns the family of a data type.
    #[doc(hidden)]
    pub fn family(&self, data_type: &DataType) -> Result<FamilyRef<'_>> {
        if data_type.fields().is_some() {
            return Ok(FamilyRef::made(Structures(self)));
        }
        let mut owners = self.families().filter(|family| family.has(data_type));
        let unknown = || self.takes_unknown.then_some(&Unknown as &dyn Family);
        let family = owners
            .next()
            .or_else(unknown)
            .ok_or_else(|| Error::unsupported(format!("unknown data type '{data_type}'")))?;
        match owners.next() {
            None => Ok(FamilyRef::listed(family)),
            Some(_) => {
                let message = format!("several registered families have the data type '{data_type}'");
                Err(Error::argument(message))
            }
        }
    }

    /// Returns true if a family has this data type.
    fn knows(&self, data_type: &DataType) -> bool {
        data_type.fields().is_some() || self.families().any(|family| family.has(data_type))
    }

    /// Returns the known data types, for tables of all types; a single example for each family whose types vary in size.
    #[doc(hidden)]
    pub fn examples(&self) -> Vec<DataType> {
        let structures = Structures(self).examples();
        self.families().flat_map(|family| family.examples()).chain(structures).collect()
    }

    fn families(&self) -> impl Iterator<Item = &dyn Family> {
        FAMILIES.iter().copied().chain(self.user_families.iter().map(Arc::as_ref))
    }
}

impl CodecSpec {
    /// Creates the codec, and returns its canonical name for metadata and errors.
    ///
    /// # Errors
    /// When the codec is unknown or its configuration is invalid; in strict mode, also when the name is an alias.
    #[doc(hidden)]
    pub fn create(&self, context: &CodecContext<'_>) -> Result<(&'static str, Codec), CodecError> {
        let def = context.registry.codec(&self.name);
        let def = def.map_err(|error| CodecError::unsupported(error.to_string()))?;
        let name = def.name;
        if context.strictness == Strictness::Strict && self.name != name {
            let message =
                format!("'{}' is an alias of the codec '{name}'; only lenient reading accepts it", self.name);
            return Err(CodecError::invalid(message));
        }
        let codec = (def.create)(&self.configuration, context).map_err(|e| e.in_codec(name))?;
        let name = match &codec {
            Codec::BytesToBytes(codec) => codec.name().unwrap_or(name),
            _ => name,
        };
        Ok((name, codec))
    }
}

impl KnownTypes for Registry {
    fn type_from_v3(&self, json: &Json) -> Result<DataType> {
        self.data_type_from_v3(json)
    }

    fn type_from_v2(&self, json: &Json) -> Result<(DataType, Option<ByteOrder>)> {
        self.data_type_from_v2(json)
    }

    fn type_to_v2(&self, data_type: &DataType, order: &ByteOrder) -> Result<Json> {
        self.data_type_to_v2(data_type, order)
    }

    fn family_of(&self, data_type: &DataType) -> Result<FamilyRef<'_>> {
        self.family(data_type)
    }
}

fn one_type(json: &Json, mut takers: Vec<Result<DataType>>) -> Result<DataType> {
    match takers.len() {
        0 => Err(unknown_type(json)),
        1 => takers.remove(0),
        _ => Err(Error::argument(format!("several registered data types accept the name {json}"))),
    }
}

fn unknown_type(json: &Json) -> Error {
    let shown = json::shown(json, 120);
    Error::new(ErrorKind::Unsupported, format!("unknown data type {shown}"))
}

fn bad_type(json: &Json) -> Error {
    let shown = json::shown(json, 120);
    Error::metadata(format!("{shown} is not a data type; expected a name, or an object with a name"))
}
