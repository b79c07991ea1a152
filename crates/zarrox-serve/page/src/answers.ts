/** The answers of the server, made from its types in Rust: `cargo xtask page --types` writes this file. */

/**
 * All that is known of an array.
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
 * The bytes of all elements in memory.
 */
bytes: number | null, 
/**
 * The reason why elements cannot be read.
 */
unreadable: string | null, 
/**
 * `null` if it was not counted.
 */
stored: Stored | null, 
/**
 * The arrays beside this one that are named as its dimensions and as long, if they were asked for and are short.
 */
coordinates?: { [key in string]: Coordinates }, };

/**
 * A line of the answer. The last one is the summary, or the error that ended the check.
 */
export type CheckLine = Json | CheckSummary | { error: string, };

export type CheckSummary = { done: boolean, clean: boolean, arrays: number, groups: number, chunks: number, bytes: number, };

export type Chunk = { index: Array<number>, key: string, bytes: number, inner?: Array<InnerChunk>, 
/**
 * The reason why the chunk cannot be decoded.
 */
damaged?: string, };

/**
 * The chunks of a region of the grid; of an array with shards, its shards.
 */
export type Chunks = { grid_shape: Array<number>, 
/**
 * The shape of a chunk; for chunks of several shapes, the largest length along each dimension.
 */
chunk_shape: Array<number>, 
/**
 * The shape of the chunks inside shards.
 */
inner_chunk_shape: Array<number> | null, 
/**
 * The begin and the end along each dimension.
 */
region: Array<[number, number]>, 
/**
 * The number of stored chunks, which are listed.
 */
stored: number, missing: number, chunks: Array<Chunk>, };

export type Codec = { name: string, kind: CodecKind, configuration: { [name: string]: Json }, };

/**
 * What a codec takes and makes.
 */
export type CodecKind = "array-to-array" | "array-to-bytes" | "bytes-to-bytes" | "unknown";

/**
 * The coordinates of a dimension.
 */
export type Coordinates = { data_type: TypeInfo, fill_value: Json, attributes: { [name: string]: Json }, values: Array<Json>, };

/**
 * A node in short.
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
 * The bytes of all elements in memory.
 */
bytes: number | null, 
/**
 * The reason why elements cannot be read.
 */
unreadable: string | null, } | { "kind": "folder" } | { "kind": "damaged", error: string, });

/**
 * The body of an answer that says what is wrong.
 */
export type ErrorAnswer = { error: ErrorInfo, };

export type ErrorInfo = { status: number, 
/**
 * The kind of the error in one word.
 */
kind: string, message: string, 
/**
 * A request that would be answered.
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
 * A float. What JSON has no number for is a string.
 */
export type Float = number | "NaN" | "Infinity" | "-Infinity";

/**
 * The nodes that a search finds.
 */
export type Found = { path: string, search: string, matches: Array<Entry>, 
/**
 * The number of nodes that were looked at.
 */
visited: number, 
/**
 * False if there may be more.
 */
complete: boolean, };

/**
 * The counts in bins of one width.
 */
export type Histogram = { 
/**
 * The begin of the first bin.
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
 * A JSON value, as in a document: its numbers keep their digits, and Python's tokens become strings.
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
 * The elements that each point stands for.
 */
step: number, 
/**
 * The selection in plain words, if it has some.
 */
select: string | null, } & ({ "reduce": "nearest", values: Array<Json>, } | { "reduce": "blocks", min: Array<Json>, max: Array<Json>, mean: Array<Json>, });

/**
 * All that is known of a node.
 */
export type NodeInfo = { path: string, 
/**
 * The path of the hierarchy that the node is in, which is not empty where the root holds several.
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
 * The metadata documents by their keys.
 */
documents?: { [key: string]: Json }, } & ({ "kind": "group" } | { "kind": "array" } & ArrayFacts);

/**
 * The roots, with their addresses, and the names of all calls.
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
 * A root, and its addresses without a `/` at the beginning.
 */
export type RootInfo = { name: string, 
/**
 * The path or URL of the store.
 */
place: string, data: string, v3: string, tree: string, };

/**
 * Elements in JSON.
 */
export type Slice = { shape: Array<number>, data_type: string, 
/**
 * The selection in plain words, if it has some.
 */
select: string | null, 
/**
 * Along each axis, the elements that each one stands for.
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
 * Statistics of numbers. NaN and `missing` are counted, and left out of everything else.
 */
export type Stats = { count: number, nan: number, missing: number, min: Json, max: Json, mean: Float | null, 
/**
 * The standard deviation of the population.
 */
std: Float | null, percentiles: Array<Percentile>, 
/**
 * The largest error of a percentile.
 */
percentile_error: Float, histogram: Histogram | null, 
/**
 * The different elements, unless there are more than were asked for.
 */
unique: Array<Unique> | null, 
/**
 * The selection in plain words, if it has some.
 */
select: string | null, 
/**
 * Along each axis of the selection, the elements that each one stands for.
 */
step: Array<number>, 
/**
 * True if not all selected elements were counted.
 */
sampled: boolean, };

/**
 * What is stored of an array.
 */
export type Stored = { 
/**
 * The number of all chunks, or shards if there are any.
 */
chunks: number | null, 
/**
 * The number of those that are stored.
 */
stored: number, missing: number | null, 
/**
 * All stored bytes, including metadata.
 */
bytes: number, chunk_bytes: number, 
/**
 * The bytes of the stored chunks in memory.
 */
decoded_bytes: number | null, ratio: number | null, };

/**
 * Whether Zarr 3 can describe the node.
 */
export type Translated = { possible: boolean, 
/**
 * What would differ.
 */
notes?: Array<string>, 
/**
 * The reason why it cannot.
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
