//! `/api/v1`: the tree, nodes, elements, statistics, chunks, checks.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::fs;

use serde_json::{Value, json};
use zarrox::{DataType, OpenOptions, s};
use zarrox_serve::Server;

use crate::common::{Client, NAMES, Place, array_of, expected, typed};

fn types() -> (tempfile::TempDir, Client) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.zarr");
    typed(&path);
    let client = Client::new(Server::new().token(None).root("t", &path).unwrap());
    (directory, client)
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|child| child["name"].as_str().unwrap()).collect()
}

#[test]
fn errors_name_the_calls_and_the_parameters() {
    let (_directory, client) = types();
    let overview = client.json("/api/v1/");
    let calls = overview["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 9);
    let unknown = client.get("/api/v1/trees/t/");
    assert_eq!(unknown.status, 404);
    for call in calls.iter().map(|call| call.as_str().unwrap()) {
        assert!(unknown.message().contains(call), "{}", unknown.message());
        let answer = client.get(&format!("/api/v1/{call}/nothing/"));
        let expected = if call == "roots" { 200 } else { 404 };
        assert_eq!(answer.status, expected, "{call}");
        let parameter = client.get(&format!("/api/v1/{call}/t/float?no=1"));
        assert_eq!(parameter.status, 400, "{call}");
        assert!(parameter.message().starts_with("unknown parameter `no`, "), "{}", parameter.message());
    }
    assert!(client.get("/api/v1/node/").message().contains("expected one of t"));
    assert!(client.get("/api/v2/").message().contains("/api/v1/"));
    assert!(client.get("/apis").message().contains("'/apis'"));
    for (query, message) in [
        ("no=1", "unknown parameter `no`, expected one of `select`, `indexing`, "),
        ("width=0", "width: '0' is not an integer from 1 to 65536"),
        ("as=tiff", "as: unknown variant `tiff`, expected one of `raw`, `json`, `npy`, `png`"),
        ("colormap=x", "colormap: unknown colormap 'x'; expected one of viridis, "),
        ("step=1,1&width=1", "step cannot be combined with width or height"),
        ("select=0&select=1", "duplicate parameter `select`"),
    ] {
        let answer = client.get(&format!("/api/v1/slice/t/float?{query}"));
        assert_eq!(answer.status, 400, "{query}");
        assert!(answer.message().starts_with(message), "{}", answer.message());
    }
}

#[test]
fn a_path_may_be_escaped_and_have_further_slashes() {
    let (_directory, client) = types();
    let plain = client.json("/api/v1/node/t/float");
    for path in ["/%61pi/v1/n%6fde/t/fl%6Fat", "//api//v1/node/t//float/", "/api/v1/node/t/float?token=any"] {
        assert_eq!(client.json(path), plain, "{path}");
    }
}

#[test]
fn a_slice_has_the_times_of_fetching_and_decoding() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let array = zarrox::create_array(&path).shape([400, 500]).chunks([200, 500]).data_type(DataType::UInt8);
    array.create().unwrap().write(s![..200], 7_u8).unwrap();
    let client = Client::new(Server::new().token(None).root("a", &path).unwrap());
    let numbers = |uri: &str| -> Vec<f64> {
        let text = client.ok(uri).header("server-timing").to_owned();
        let parts = text.split(|c: char| !c.is_ascii_digit() && c != '.').filter(|part| !part.is_empty());
        parts.map(|part| part.parse().unwrap()).collect()
    };
    let [fetch, decode, bytes, total] = numbers("/api/v1/slice/a/?select=::10")[..] else { panic!() };
    let stored = client.json("/api/v1/chunks/a/")["chunks"][0]["bytes"].as_f64().unwrap();
    assert!(fetch > 0.0 && decode > 0.0 && total > 0.0, "{fetch} {decode} {total}");
    assert_eq!(bytes, stored);
    // The second chunk is missing: nothing is decoded.
    let [_, decode, bytes, _] = numbers("/api/v1/slice/a/?select=200:")[..] else { panic!() };
    assert_eq!((decode, bytes), (0.0, 0.0));
}

#[test]
fn numbers_of_documents_keep_their_digits() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    zarrox::create_group(&path).unwrap();
    let attributes = r#"{"exact": 1.50, "large": 12345678901234567890123, "none": NaN, "list": [-Infinity]}"#;
    let document = format!(r#"{{"zarr_format": 3, "node_type": "group", "attributes": {attributes}}}"#);
    fs::write(path.join("zarr.json"), document).unwrap();
    let client = Client::new(Server::new().token(None).root("a", &path).unwrap());
    let text = String::from_utf8(client.ok("/api/v1/node/a/").body).unwrap();
    let expected =
        r#""attributes":{"exact":1.50,"large":12345678901234567890123,"none":"NaN","list":["-Infinity"]}"#;
    assert!(text.contains(expected), "{text}");
}

#[test]
fn the_tree_opens_level_by_level() {
    let place = Place::new();
    let client = place.client();
    let top = client.json("/api/v1/tree/v2.zarr/");
    assert_eq!((top["node"]["kind"].as_str(), names(&top["children"])), (Some("group"), vec!["g"]));
    let below = client.json("/api/v1/tree/v2.zarr/g");
    let array = &below["children"][0];
    assert_eq!((array["path"].as_str(), array["kind"].as_str()), (Some("g/a"), Some("array")));
    assert_eq!((&array["shape"], array["data_type"].as_str()), (&json!([7, 10]), Some("int32")));
    assert_eq!(client.get("/api/v1/tree/v2.zarr/nothing").status, 404);
}

#[test]
fn large_groups_come_in_pages_and_are_searched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("many.zarr");
    let root = zarrox::create_group(&path).unwrap();
    let document = root.create_array("a000").shape([1]).data_type(DataType::Int8).create().unwrap();
    let text = serde_json::to_vec(
        &serde_json::from_str::<Value>(&zarrox::json::Json::from(document.document().unwrap()).to_string())
            .unwrap(),
    );
    for number in 1..500 {
        fs::create_dir(path.join(format!("a{number:03}"))).unwrap();
        fs::write(path.join(format!("a{number:03}/zarr.json")), text.as_ref().unwrap()).unwrap();
    }
    fs::create_dir(path.join("a250x")).unwrap();
    fs::write(path.join("a250x/zarr.json"), "broken").unwrap();
    let client = Client::new(Server::new().token(None).root("r", &path).unwrap());
    let (mut after, mut all, mut pages) = (String::new(), Vec::new(), 0);
    loop {
        let page = client.json(&format!("/api/v1/tree/r/?limit=77&after={after}"));
        all.extend(page["children"].as_array().unwrap().clone());
        pages += 1;
        let Some(next) = page["next"].as_str() else { break };
        after = next.to_owned();
    }
    assert_eq!((all.len(), pages), (501, 7));
    let damaged: Vec<_> = all.iter().filter(|child| child["kind"] == "damaged").collect();
    assert_eq!(damaged.len(), 1);
    assert!(damaged[0]["error"].as_str().unwrap().contains("JSON"));
    let found = client.json("/api/v1/tree/r/?search=A49");
    assert_eq!((names(&found["matches"]).len(), &found["complete"]), (10, &json!(true)));
    let found = client.json("/api/v1/tree/r/?search=a?00&limit=3");
    assert_eq!((names(&found["matches"]), &found["complete"]), (vec!["a000", "a100", "a200"], &json!(false)));
}

#[test]
fn the_hierarchies_of_a_directory_are_searched() {
    let directory = tempfile::tempdir().unwrap();
    for path in ["a.zarr", "below/b.zarr", "below/deeper/c.zarr"] {
        let group = zarrox::create_group(directory.path().join(path)).unwrap();
        group.create_array("north").shape([2, 3]).data_type(DataType::Int8).create().unwrap();
    }
    fs::create_dir(directory.path().join("northern")).unwrap();
    fs::write(directory.path().join("northern/zarr.json"), "broken").unwrap();
    let single = directory.path().join("a.zarr/north");
    let server = Server::new().token(None).root("r", directory.path()).unwrap().root("one", single).unwrap();
    let client = Client::new(server);
    let paths = |uri: &str| -> Vec<String> {
        let found = client.json(uri);
        let matches = found["matches"].as_array().unwrap();
        matches.iter().map(|entry| entry["path"].as_str().unwrap().to_owned()).collect()
    };
    let all = ["a.zarr/north", "below/b.zarr/north", "below/deeper/c.zarr/north", "northern"];
    assert_eq!(paths("/api/v1/tree/r/?search=north"), all);
    assert_eq!(paths("/api/v1/tree/r/below/?search=NORTH"), all[1..3]);
    assert_eq!(paths("/api/v1/tree/r/?search=north&limit=2"), all[..2]);
    assert!(paths("/api/v1/tree/one/?search=north").is_empty());
    assert_eq!(client.get("/api/v1/tree/r/nothing/?search=north").status, 404);
}

#[test]
fn a_node_tells_all_that_is_known_of_it() {
    let place = Place::new();
    let client = place.client();
    for name in NAMES {
        let node = client.json(&format!("/api/v1/node/{name}{}", array_of(name)));
        assert_eq!((node["kind"].as_str(), &node["shape"]), (Some("array"), &json!([7, 10])), "{name}");
        assert_eq!(node["data_type"], json!({"name": "int32", "kind": "int", "bytes": 4, "fields": null}));
        assert_eq!(node["chunk_shape"], json!([2, 5]), "{name}");
        let (stored, missing) = if name == "shards.zarr" { (1, 1) } else { (7, 1) };
        assert_eq!(
            (&node["stored"]["stored"], &node["stored"]["missing"]),
            (&json!(stored), &json!(missing)),
            "{name}"
        );
        assert!(
            node["codecs"].as_array().unwrap().iter().any(|codec| codec["kind"] == "array-to-bytes"),
            "{node}"
        );
        assert_eq!(node["v3"]["possible"], true, "{name}");
    }
    assert_eq!(client.json("/api/v1/node/v3.zarr/g/none?optional=true"), Value::Null);
    assert_eq!(client.get("/api/v1/node/v3.zarr/g/none").status, 404);
    let shards = client.json("/api/v1/node/shards.zarr/g/a?documents=true&stored=none");
    assert_eq!((&shards["shard_shape"], &shards["stored"]), (&json!([4, 10]), &Value::Null));
    assert_eq!(shards["documents"]["g/a/zarr.json"]["zarr_format"], 3);
}

#[test]
fn elements_are_those_that_are_selected() {
    let place = Place::new();
    let client = place.client();
    for name in NAMES {
        let uri = format!("/api/v1/slice/{name}{}", array_of(name));
        let answer = client.ok(&format!("{uri}?select=1:6:2,-3:"));
        assert_eq!(answer.header("x-zarrox-shape"), "3,3");
        assert_eq!(
            (answer.header("x-zarrox-dtype"), answer.header("x-zarrox-select")),
            ("<i4", "1:6:2, 7:10")
        );
        let wanted = expected(name);
        let wanted: Vec<u8> =
            wanted.slice(ndarray::s![1..6;2, -3..]).iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(answer.body, wanted, "{name}");
        let json = client.json(&format!("{uri}?select=[0,6],3&as=json"));
        assert_eq!(json["values"], json!([expected(name)[[0, 3]], expected(name)[[6, 3]]]), "{name}");
    }
}

#[test]
fn elements_are_thinned_or_reduced_to_what_is_asked_for() {
    let (_directory, client) = types();
    let uri = "/api/v1/slice/t/float?as=json";
    let thinned = client.json(&format!("{uri}&width=3&height=2"));
    assert_eq!(thinned["values"], json!([[0.0, 2.0, 4.0], [20.0, 22.0, 24.0]]));
    assert_eq!((&thinned["step"], thinned["select"].as_str()), (&json!([2, 2]), Some("0:4:2, 0:6:2")));
    let mean = client.json(&format!("{uri}&width=3&height=2&reduce=mean"));
    assert_eq!(mean["values"][0], json!([5.5, 7.5, 9.5]));
    let same = client.json(&format!("{uri}&step=2,2&reduce=mean"));
    assert_eq!((&same["values"], &same["step"]), (&mean["values"], &mean["step"]));
    let numbers = client.json(&format!("{uri}&step=2,2&reduce=mean&missing=0,1,10"));
    assert_eq!(numbers["values"][0], json!([11.0, 7.5, 9.5]));
    for bad in ["step=2", "step=0,1", "step=x,1", "step=2,2&width=3", "missing=x"] {
        assert_eq!(client.get(&format!("{uri}&reduce=mean&{bad}")).status, 400, "{bad}");
    }
    // NaN is ignored.
    assert!((mean["values"][1][2].as_f64().unwrap() - (24.0 + 25.0 + 34.0) / 3.0).abs() < 1e-5);
    let deviation = client.json(&format!("{uri}&step=1,2&reduce=std&missing=2"));
    assert_eq!((&deviation["values"][0], &deviation["reduce"]), (&json!([0.5, 0.0, 0.5]), &json!("std")));
    assert_eq!(
        client.json(&format!("{uri}&step=1,1&reduce=std"))["values"][0],
        json!([0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    );
    let max = client.json(&format!("{uri}&max_elements=1&reduce=max"));
    assert_eq!((&max["values"], &max["step"]), (&json!([[34.0]]), &json!([4, 6])));
    let min = client.json(&format!("{uri}&max_pixels=4&reduce=min&select=::-1,1:"));
    assert_eq!(min["values"], json!([[11.0, 14.0], [1.0, 4.0]]));
}

#[test]
fn all_types_have_a_form() {
    let (_directory, client) = types();
    let json = |name: &str| client.json(&format!("/api/v1/slice/t/{name}?as=json"))["values"].clone();
    assert_eq!(json("text"), json!(["ä", "", "long text"]));
    assert_eq!(json("complex"), json!([[3.0, 4.0], [0.0, -1.0]]));
    assert_eq!(json("bool"), json!([true, false, true]));
    assert_eq!(json("scalar"), json!(-7));
    assert_eq!(json("float")[3][5], "NaN");
    let half = client.ok("/api/v1/slice/t/half");
    assert_eq!((half.header("x-zarrox-dtype"), half.header("x-zarrox-data-type")), ("<f4", "bfloat16"));
    assert_eq!(half.body, [1.5_f32.to_le_bytes(), (-2.0_f32).to_le_bytes()].concat());
    assert_eq!(client.get("/api/v1/slice/t/text").status, 422);
    let npy = client.ok("/api/v1/slice/t/float?as=npy&select=0&download=1");
    assert!(npy.body.starts_with(b"\x93NUMPY") && npy.header("content-disposition").contains("float.npy"));
    assert_eq!(npy.body[npy.body.len() - 4..], 5.0_f32.to_le_bytes());
}

#[test]
fn pictures_are_png() {
    let (_directory, client) = types();
    let size = |uri: &str| {
        let answer = client.ok(uri);
        assert_eq!(answer.header("content-type"), "image/png");
        assert!(answer.body.starts_with(b"\x89PNG"));
        let length = |at: usize| u32::from_be_bytes(answer.body[at..at + 4].try_into().unwrap());
        (length(16), length(20))
    };
    assert_eq!(size("/api/v1/slice/t/float?as=png"), (6, 4));
    assert_eq!(size("/api/v1/slice/t/float?as=png&width=3&colormap=rdbu&low=0&high=1&scale=linear"), (3, 4));
    assert_eq!(size("/api/v1/slice/t/rgb?as=png"), (2, 2));
    assert_eq!(size("/api/v1/slice/t/complex?as=png&scale=log"), (2, 1));
    assert_eq!(size("/api/v1/slice/t/scalar?as=png"), (1, 1));
    for bad in ["colormap=none", "low=nan", "scale=log&low=-1", "scale=x"] {
        assert_eq!(client.get(&format!("/api/v1/slice/t/float?as=png&{bad}")).status, 400, "{bad}");
    }
}

#[test]
fn a_line_has_its_elements_or_the_extremes_of_blocks() {
    let (_directory, client) = types();
    let line = client.json("/api/v1/line/t/float?select=1");
    assert_eq!((&line["values"], &line["step"]), (&json!([10.0, 11.0, 12.0, 13.0, 14.0, 15.0]), &json!(1)));
    let blocks = client.json("/api/v1/line/t/float?select=:,2&points=2");
    assert_eq!(
        (&blocks["min"], &blocks["max"], &blocks["mean"]),
        (&json!([2.0, 22.0]), &json!([12.0, 32.0]), &json!([7.0, 27.0]))
    );
    assert_eq!(client.json("/api/v1/line/t/text?points=2")["values"], json!(["ä", "long text"]));
    assert_eq!(client.get("/api/v1/line/t/float").status, 400);
}

#[test]
fn statistics_are_those_of_the_selection() {
    let (_directory, client) = types();
    let stats = client.json("/api/v1/stats/t/float?percentiles=0,50,100&unique=100");
    assert_eq!(
        (&stats["count"], &stats["nan"], &stats["min"], &stats["max"]),
        (&json!(24), &json!(1), &json!(0.0), &json!(34.0))
    );
    assert_eq!((stats["percentiles"].as_array().unwrap().len(), &stats["sampled"]), (3, &json!(false)));
    let row = client.json("/api/v1/stats/t/float?select=2");
    assert_eq!((&row["mean"], &row["count"]), (&json!(22.5), &json!(6)));
    let histogram = client.json("/api/v1/histogram/t/float?bins=2&low=0&high=40")["histogram"].clone();
    assert_eq!(histogram, json!({"low": 0.0, "high": 40.0, "counts": [12, 11]}));
    assert_eq!(client.json("/api/v1/histogram/t/float")["histogram"]["counts"].as_array().unwrap().len(), 64);
    let part = client.json("/api/v1/stats/t/float?select=2&missing=20,24,1e300,0.5&bins=2&percentiles=0");
    assert_eq!(
        (&part["count"], &part["missing"], &part["min"], &part["mean"]),
        (&json!(6), &json!(2), &json!(21.0), &json!(22.75))
    );
    let (least, error) = (part["percentiles"][0]["value"].as_f64(), part["percentile_error"].as_f64());
    assert!((least.unwrap() - 21.0).abs() <= error.unwrap() && error.unwrap() < 1e-4);
    assert_eq!(part["histogram"], json!({"low": 21.0, "high": 25.0, "counts": [2, 2]}));
    let sampled = client.json("/api/v1/stats/t/float?max_elements=6");
    assert_eq!(
        (&sampled["sampled"], &sampled["step"], &sampled["count"]),
        (&json!(true), &json!([2, 2]), &json!(6))
    );
    for bad in ["low=1", "low=2&high=1", "percentiles=101", "percentiles=x", "bins=0", "field=x", "missing=x"]
    {
        assert_eq!(client.get(&format!("/api/v1/stats/t/float?{bad}")).status, 400, "{bad}");
    }
    assert_eq!(client.get("/api/v1/stats/t/text").status, 422);
}

#[test]
fn chunks_are_stored_missing_or_damaged() {
    let place = Place::new();
    fs::write(place.path("v3.zarr/g/a/c/3/1"), "no zstd").unwrap();
    let client = place.client();
    for name in NAMES.into_iter().filter(|name| *name != "shards.zarr") {
        let chunks = client.json(&format!("/api/v1/chunks/{name}{}", array_of(name)));
        assert_eq!(
            (&chunks["grid_shape"], &chunks["stored"], &chunks["missing"]),
            (&json!([4, 2]), &json!(7), &json!(1)),
            "{name}"
        );
        let part = client.json(&format!("/api/v1/chunks/{name}{}?region=:2,0", array_of(name)));
        assert_eq!(
            (&part["region"], &part["chunks"][0]["index"]),
            (&json!([[0, 2], [0, 1]]), &json!([1, 0])),
            "{name}"
        );
    }
    let verified = client.json("/api/v1/chunks/v3.zarr/g/a?verify=true");
    let damaged: Vec<&Value> =
        verified["chunks"].as_array().unwrap().iter().filter(|chunk| !chunk["damaged"].is_null()).collect();
    assert_eq!((damaged.len(), &damaged[0]["index"]), (1, &json!([3, 1])));
    let chunk = &client.json("/api/v1/chunks/v3.zarr/g/a")["chunks"][0];
    assert_eq!(chunk["key"], format!("g/a/c/{}/{}", chunk["index"][0], chunk["index"][1]));
    let shards = client.json("/api/v1/chunks/shards.zarr/g/a?inner=true");
    assert_eq!(
        (&shards["inner_chunk_shape"], shards["chunks"][0]["inner"].as_array().unwrap().len()),
        (&json!([2, 5]), 4)
    );
    assert_eq!(client.get("/api/v1/chunks/v2.zarr/g/a?region=::2").status, 400);
    assert_eq!(client.get("/api/v1/chunks/v2.zarr/g").status, 400);
}

#[test]
fn a_check_tells_what_is_wrong_line_by_line() {
    let place = Place::new();
    fs::write(place.path("v3.zarr/g/a/c/3/1"), "no zstd").unwrap();
    let client = place.client();
    let lines = |uri: &str| -> Vec<Value> {
        let answer = client.ok(uri);
        assert_eq!(answer.header("content-type"), "application/x-ndjson");
        String::from_utf8(answer.body)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let found = lines("/api/v1/check/v3.zarr/");
    assert_eq!((&found[0]["chunk"], found[0]["severity"].as_str()), (&json!([3, 1]), Some("error")));
    assert_eq!(
        (&found.last().unwrap()["done"], &found.last().unwrap()["clean"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(lines("/api/v1/check/v3.zarr/g/a?level=quick").len(), 1);
    assert_eq!(lines("/api/v1/check/v2.zarr/g")[0]["clean"], true);
    assert_eq!(client.get("/api/v1/check/v2.zarr/nothing").status, 404);
}

#[test]
fn broken_arrays_show_what_is_wrong_while_others_work() {
    let place = Place::new();
    fs::write(place.path("v3.zarr/g/a/c/3/1"), "no zstd").unwrap();
    let client = place.client();
    // Damage is reported even between the elements that an unreduced line would show.
    for call in
        ["slice/v3.zarr/g/a", "line/v3.zarr/g/a?select=:,5&points=1", "line/v3.zarr/g/a?select=6,:&points=1"]
    {
        let answer = client.get(&format!("/api/v1/{call}"));
        assert_eq!(
            (answer.status, answer.json()["error"]["kind"].as_str()),
            (422, Some("corrupt")),
            "{call}"
        );
    }
    let answer = client.get("/api/v1/slice/v3.zarr/g/a");
    assert!(
        answer.message().contains("[3, 1]") && answer.message().contains("g/a/c/3/1"),
        "{}",
        answer.message()
    );
    assert_eq!(client.get("/api/v1/slice/v3.zarr/g/a?select=:6").status, 200);
    assert_eq!(client.get("/api/v1/slice/v2.zarr/g/a").status, 200);
}

#[test]
fn nobody_computes_what_is_too_large() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large.zarr");
    let options = OpenOptions::new();
    let large = options
        .create_array(&path)
        .shape([1_000_000, 1_000_000])
        .chunks([1000, 1000])
        .data_type(DataType::Float32)
        .create()
        .unwrap();
    large.write(s![0, 0], 1.0_f32).unwrap();
    let client = Client::new(Server::new().token(None).root("l", &path).unwrap());
    for (uri, word) in [
        ("slice/l/", "max_elements"),
        ("slice/l/?width=100&height=100&reduce=mean", "nearest"),
        ("slice/l/?width=1000&height=1000", "smaller part"),
        ("stats/l/", "smaller part"),
        ("chunks/l/", "region"),
        ("slice/l/?select=:2000,:2000&as=json", "max_elements"),
    ] {
        let start = std::time::Instant::now();
        let answer = client.get(&format!("/api/v1/{uri}"));
        assert_eq!(answer.status, 413, "{uri}: {}", String::from_utf8_lossy(&answer.body));
        assert!(answer.json()["error"]["advice"].as_str().unwrap().contains(word), "{uri}");
        assert!(start.elapsed().as_secs() < 20, "{uri}");
    }
    let thinned = client.json("/api/v1/slice/l/?max_elements=16&as=json");
    assert_eq!((&thinned["shape"], &thinned["values"][0][0]), (&json!([4, 4]), &json!(1.0)));
    assert_eq!(client.ok("/api/v1/slice/l/?select=500000:501000,:1000").body.len(), 4_000_000);
    let region = client.json("/api/v1/chunks/l/?region=:10,:10");
    assert_eq!((&region["stored"], &region["missing"]), (&json!(1), &json!(99)));
}
