/** The answers of the server, made from its types in Rust: `cargo xtask page --types` writes this file. */

/**
 * All properties of an array.
 */
export type ArrayFacts = { shape: Array<number>, data_type: TypeInfo, 
/**
 * The shape of a chunk, or of a chunk inside shards.
 */
chunk_shape: Array<number>, shard_shape: Array<number> | null, 
/**
 * The number of chunks, or of shards, along each dimension.
 */
grid_shape: Array<number>, chunk_grid: Json, dimension_names: Array<string | null> | null, fill_value: Json, fill_text: string, codecs: Array<Codec>, 
/**
 * The size of all elements in memory, in bytes.
 */
bytes: number | null, 
/**
 * The reason why elements cannot be read, if there is one.
 */
unreadable: string | null, 
/**
 * `null` if chunks were not counted.
 */
stored: Stored | null, 
/**
 * The coordinate arrays of the dimensions, if they were requested and are short.
 */
coordinates?: { [key in string]: Coordinates }, };

/**
 * A line of the response. The last line is the summary, or the error that stopped the check.
 */
export type CheckLine = Json | CheckSummary | { error: string, };

export type CheckSummary = { done: boolean, clean: boolean, arrays: number, groups: number, chunks: number, bytes: number, };

export type Chunk = { index: Array<number>, key: string, bytes: number, inner?: Array<InnerChunk>, 
/**
 * The reason why the chunk cannot be decoded.
 */
damaged?: string, };

/**
 * The chunks of a region of the grid, or the shards of an array with shards.
 */
export type Chunks = { grid_shape: Array<number>, 
/**
 * The shape of a chunk; for an irregular grid, the maximum length along each dimension.
 */
chunk_shape: Array<number>, 
/**
 * The shape of the chunks inside shards.
 */
inner_chunk_shape: Array<number> | null, 
/**
 * The start and the end along each dimension.
 */
region: Array<[number, number]>, 
/**
 * The number of stored chunks, which are listed.
 */
stored: number, missing: number, chunks: Array<Chunk>, };

export type Codec = { name: string, kind: CodecKind, configuration: { [name: string]: Json }, };

/**
 * The input and the output of a codec.
 */
export type CodecKind = "array-to-array" | "array-to-bytes" | "bytes-to-bytes" | "unknown";

/**
 * The coordinates of a dimension.
 */
export type Coordinates = { data_type: TypeInfo, fill_value: Json, attributes: { [name: string]: Json }, values: Array<Json>, };

/**
 * The summary of a node.
 */
export type Entry = { name: string, path: string, } & ({ "kind": "group", format: string, 
/**
 * The number of attributes.
 */
attributes: number, 
/**
 * The attribute `title`.
 */
title: string | null, } | { "kind": "array", format: string, 
/**
 * The number of attributes.
 */
attributes: number, 
/**
 * The attribute `long_name`, or else `standard_name`.
 */
title: string | null, units: string | null, shape: Array<number>, data_type: string, chunk_shape: Array<number>, 
/**
 * The size of all elements in memory, in bytes.
 */
bytes: number | null, 
/**
 * The reason why elements cannot be read.
 */
unreadable: string | null, } | { "kind": "folder" } | { "kind": "damaged", error: string, });

/**
 * The body of an error response.
 */
export type ErrorAnswer = { error: ErrorInfo, };

export type ErrorInfo = { status: number, 
/**
 * The kind of the error.
 */
kind: string, message: string, 
/**
 * A request that would succeed.
 */
advice?: string, };

/**
 * A field of structures.
 */
export type Field = { name: string, data_type: string, shape: Array<number>, };

/**
 * A file of another format.
 */
export type FileInfo = { format: string, 
/**
 * At the topmost node, the parts of the file that have no form in Zarr, with the reasons.
 */
left_out: Array<string>, };

/**
 * A float. Values that JSON cannot represent are strings.
 */
export type Float = number | "NaN" | "Infinity" | "-Infinity";

/**
 * The result of a search.
 */
export type Found = { path: string, search: string, matches: Array<Entry>, 
/**
 * The number of visited nodes.
 */
visited: number, 
/**
 * False if the search stopped early.
 */
complete: boolean, };

/**
 * The counts in bins of equal width.
 */
export type Histogram = { 
/**
 * The start of the first bin.
 */
low: Float, 
/**
 * The end of the last bin.
 */
high: Float, counts: Array<number>, };

/**
 * A chunk inside a shard.
 */
export type InnerChunk = { index: Array<number>, offset?: number, 
/**
 * `null` if it is not stored.
 */
bytes: number | null, };

/**
 * A JSON value of a document: numbers keep their digits, and the tokens NaN and Infinity become strings.
 */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/**
 * One line of elements.
 */
export type Line = { 
/**
 * The number of selected elements.
 */
length: number, 
/**
 * The number of elements that each point represents.
 */
step: number, 
/**
 * The selection in words, if it can be described.
 */
select: string | null, } & ({ "reduce": "nearest", values: Array<Json>, } | { "reduce": "blocks", min: Array<Json>, max: Array<Json>, mean: Array<Json>, });

/**
 * All properties of a node.
 */
export type NodeInfo = { path: string, 
/**
 * The path of the hierarchy of the node. It is not empty if the root contains several hierarchies.
 */
hierarchy: string, name: string, 
/**
 * The path or URL of the store.
 */
store: string, format: string, 
/**
 * The file of another format that is read as a hierarchy.
 */
file?: FileInfo, attributes: { [name: string]: Json }, v3: Translated, 
/**
 * The metadata documents by key.
 */
documents?: { [key: string]: Json }, } & ({ "kind": "group" } | { "kind": "array" } & ArrayFacts);

/**
 * The roots with their URLs, and the names of all calls.
 */
export type Overview = { 
/**
 * The version of the program.
 */
zarrox: string, 
/**
 * The version of the interface.
 */
api: string, roots: Array<RootInfo>, calls: Array<string>, };

/**
 * A node, and a page of the nodes directly below.
 */
export type Page = { path: string, node: Entry, 
/**
 * Sorted by name.
 */
children: Array<Entry>, 
/**
 * The name after which the next page begins.
 */
next: string | null, };

export type Percentile = { percent: Float, value: Float, };

/**
 * A root, and its relative URLs.
 */
export type RootInfo = { name: string, 
/**
 * The path or URL of the store.
 */
place: string, data: string, v3: string, tree: string, };

/**
 * Elements as JSON.
 */
export type Slice = { shape: Array<number>, data_type: string, 
/**
 * The selection in words, if it can be described.
 */
select: string | null, 
/**
 * The number of elements that each returned element represents, along each axis.
 */
step: Array<number>, 
/**
 * The name of the reduction.
 */
reduce: string, 
/**
 * Nested lists, or one value.
 */
values: Json, };

/**
 * Statistics of numbers. NaN and `missing` are counted, and excluded from all other statistics.
 */
export type Stats = { count: number, nan: number, missing: number, min: Json, max: Json, mean: Float | null, 
/**
 * The standard deviation of the population.
 */
std: Float | null, percentiles: Array<Percentile>, 
/**
 * The maximum error of a percentile.
 */
percentile_error: Float, histogram: Histogram | null, 
/**
 * The different elements, unless there are more than requested.
 */
unique: Array<Unique> | null, 
/**
 * The selection in words, if it can be described.
 */
select: string | null, 
/**
 * The number of elements that each counted element represents, along each axis of the selection.
 */
step: Array<number>, 
/**
 * True if only some of the selected elements were counted.
 */
sampled: boolean, };

/**
 * The stored chunks of an array.
 */
export type Stored = { 
/**
 * The number of chunks in the grid, or of shards.
 */
chunks: number | null, 
/**
 * The number of stored chunks or shards.
 */
stored: number, missing: number | null, 
/**
 * The number of stored bytes, including metadata.
 */
bytes: number, chunk_bytes: number, 
/**
 * The decoded size of the stored chunks, in bytes.
 */
decoded_bytes: number | null, ratio: number | null, };

/**
 * Whether the node can be expressed in Zarr 3.
 */
export type Translated = { possible: boolean, 
/**
 * The differences of the Zarr 3 form.
 */
notes?: Array<string>, 
/**
 * The reason why the node cannot be expressed.
 */
why?: string, };

export type TypeInfo = { name: string, kind: TypeKind, 
/**
 * The size of an element; zero if it is variable.
 */
bytes: number, fields: Array<Field> | null, };

export type TypeKind = "bool" | "int" | "uint" | "float" | "complex" | "bytes" | "text" | "struct" | "variable";

export type Unique = { 
/**
 * The element as text.
 */
value: string, count: number, };
