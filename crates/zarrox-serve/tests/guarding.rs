//! Access control: tokens, hosts, origins, prefixes.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use ndarray::ArrayD;
use std::sync::Arc;

use zarrox::stores::{Condition, Key, MemoryStore, Store, StoreExt as _};
use zarrox::{DataType, ErrorKind, OpenOptions};
use zarrox_serve::Server;
use zarrox_testkit::errors::assert_error;

use crate::common::{Client, Place};

fn guarded(place: &Place) -> Server {
    let server = Server::new().token(Some("a-secret".to_owned())).prefix("/user/me/proxy/8000/");
    let server = server.allow_origin("https://viewer.example.org").allow_host("hub.example.org");
    server.root("v2.zarr", place.path("v2.zarr")).unwrap()
}

#[test]
fn only_who_knows_the_token_gets_answers() {
    let place = Place::new();
    let client = Client::new(guarded(&place));
    for uri in ["/", "/data/v2.zarr/", "/v3/v2.zarr/zarr.json", "/api/v1/", "/nothing", "/?token=wrong"] {
        let answer = client.get(uri);
        assert_eq!((answer.status, answer.header("www-authenticate")), (401, "Bearer"), "{uri}");
        assert_eq!(answer.json()["error"]["kind"], "token");
        assert!(!String::from_utf8_lossy(&answer.body).contains("a-secret"));
    }
    let welcome = client.get("/?token=a-secret");
    assert_eq!((welcome.status, welcome.header("location")), (303, "/user/me/proxy/8000/"));
    let cookie = welcome.header("set-cookie").to_owned();
    for part in ["zarrox-8000=a-secret", "HttpOnly", "SameSite=Lax", "Path=/user/me/proxy/8000/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap();
    for known in [("cookie", cookie), ("authorization", "Bearer a-secret"), ("x-zarrox-token", "a-secret")] {
        assert_eq!(client.ask("GET", "/v3/v2.zarr/zarr.json", &[known]).status, 200, "{known:?}");
    }
    let page = client.ask("GET", "/", &[("cookie", cookie)]);
    let text = String::from_utf8(page.body.clone()).unwrap();
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(text.contains("v3/v2%2Ezarr/zarr.json") || text.contains("v3/v2.zarr/zarr.json"), "{text}");
    assert_eq!(client.get("/v3/v2.zarr/zarr.json?token=a-secret").status, 200);
}

#[test]
fn other_hosts_get_no_answers() {
    let place = Place::new();
    let client = place.client();
    let status = |host: &str| client.ask("GET", "/api/v1/", &[("host", host)]).status;
    for host in ["localhost", "127.0.0.1:8000", "[::1]:8000", "localhost:9999"] {
        assert_eq!(status(host), 200, "{host}");
    }
    for host in ["evil.example.org", "127.0.0.1.example.org:8000", "192.168.0.1", "localhost.", "x"] {
        assert_eq!(status(host), 421, "{host}");
    }
    let client = Client::new(guarded(&place));
    let known = [("host", "hub.example.org"), ("authorization", "Bearer a-secret")];
    assert_eq!(client.ask("GET", "/api/v1/", &known).status, 200);
}

#[test]
fn pages_of_allowed_origins_may_ask() {
    let place = Place::new();
    let client = Client::new(guarded(&place));
    let preflight = |origin: &str| {
        let headers = [
            ("origin", origin),
            ("access-control-request-method", "GET"),
            ("access-control-request-headers", "authorization,range"),
        ];
        client.ask("OPTIONS", "/v3/v2.zarr/zarr.json", &headers)
    };
    let allowed = preflight("https://viewer.example.org");
    assert_eq!(allowed.status, 204);
    assert_eq!(allowed.header("access-control-allow-origin"), "https://viewer.example.org");
    assert!(allowed.header("access-control-allow-headers").contains("range"));
    assert_eq!(preflight("https://evil.example.org").header("access-control-allow-origin"), "");
    let known = [("origin", "https://viewer.example.org"), ("authorization", "Bearer a-secret")];
    let answer = client.ask("GET", "/v3/v2.zarr/zarr.json", &known);
    assert_eq!(answer.header("access-control-allow-origin"), "https://viewer.example.org");
    assert!(answer.header("access-control-expose-headers").contains("content-range"));
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    // Errors are readable as well, so that a page can show them.
    let refused = client.ask("GET", "/v3/v2.zarr/zarr.json", &known[..1]);
    assert_eq!(
        (refused.status, refused.header("access-control-allow-origin")),
        (401, "https://viewer.example.org")
    );
    let all = Client::new(place.server().allow_origin("*"));
    let answer =
        all.ask("GET", "/v3/v2.zarr/zarr.json", &[("origin", "https://neuroglancer-demo.appspot.com")]);
    assert_eq!(answer.header("access-control-allow-origin"), "*");
}

#[test]
fn addresses_lead_through_proxies_with_a_prefix_and_without() {
    let place = Place::new();
    let client = Client::new(guarded(&place));
    let known = [("authorization", "Bearer a-secret")];
    for prefix in ["", "/user/me/proxy/8000"] {
        assert_eq!(client.ask("GET", &format!("{prefix}/v3/v2.zarr/zarr.json"), &known).status, 200);
        assert_eq!(client.ask("GET", &format!("{prefix}/"), &known).status, 200);
    }
    assert_eq!(client.ask("GET", "/user/me/proxy/8001/", &known).status, 404);
    assert_eq!(client.ask("GET", "/user/me/proxy/8000", &known).status, 200);
}

#[test]
fn nothing_is_written() {
    let place = Place::new();
    let client = place.client();
    for method in ["PUT", "POST", "DELETE", "PATCH", "CONNECT", "TRACE", "MKCOL", "PROPFIND"] {
        let answer = client.ask(method, "/data/v2.zarr/g/a/.zarray", &[]);
        assert_eq!((answer.status, answer.header("allow")), (405, "GET, HEAD, OPTIONS"), "{method}");
    }
}

#[test]
fn names_of_roots_differ_and_fit_into_addresses() {
    let place = Place::new();
    let server = Server::new().root("x", place.path("v2.zarr")).unwrap();
    assert!(server.root("x", place.path("v3.zarr")).unwrap_err().to_string().contains("NAME=PATH"));
    for bad in ["", ".", "..", "a/b", "a\\b"] {
        assert_error(
            Server::new().root(bad, place.path("v2.zarr")),
            ErrorKind::InvalidArgument,
            "cannot be the name of a root",
        );
    }
    let odd = "ü %?#&\"<b>";
    let client = Client::new(Server::new().token(None).root(odd, place.path("v2.zarr")).unwrap());
    let listed = client.json("/api/v1/")["roots"][0].clone();
    assert_eq!(listed["name"], odd);
    assert_eq!(client.json(&format!("/{}zarr.json", listed["v3"].as_str().unwrap()))["node_type"], "group");
    assert!(!String::from_utf8(client.ok("/").body).unwrap().contains("<b>"));
}

#[test]
fn frames_of_other_pages_have_the_token_in_the_path() {
    let place = Place::new();
    let client = Client::new(guarded(&place));
    for prefix in ["", "/user/me/proxy/8000"] {
        let page = client.get(&format!("{prefix}/t/a-secret/"));
        assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
        assert_eq!((page.header("set-cookie"), page.header("x-frame-options")), ("", ""));
        let policy = page.header("content-security-policy");
        assert!(policy.contains("script-src 'self'") && !policy.contains("frame-ancestors"), "{policy}");
        for path in
            ["page.js", "page.css", "api/v1/", "v3/v2.zarr/zarr.json", "data/v2.zarr/", "?token=a-secret"]
        {
            let answer = client.get(&format!("{prefix}/t/a-secret/{path}"));
            assert_eq!(answer.status, 200, "{path}");
            assert!(!answer.header("content-security-policy").contains("frame-ancestors"), "{path}");
        }
        // Relative URLs begin after the slash, wherever a proxy has put the page.
        let without = client.get(&format!("{prefix}/t/a-secret"));
        assert_eq!((without.status, without.header("location")), (303, "./a-secret/"));
        assert_eq!(client.get(&format!("{prefix}/t/a-secret/nothing")).status, 404);
    }
    // A proxy passes on its own host name; a request with the token in its path is accepted under any host name.
    let asked = |path: &str| client.ask("GET", path, &[("host", "lab.example.org")]).status;
    assert_eq!((asked("/t/a-secret/api/v1/"), asked("/t/wrong/api/v1/"), asked("/api/v1/")), (200, 421, 421));
    assert_eq!(client.ask("PUT", "/t/a-secret/", &[]).status, 405);
}

#[test]
fn a_wrong_token_in_the_path_is_answered_like_none() {
    let place = Place::new();
    let client = Client::new(guarded(&place));
    let none = client.get("/api/v1/");
    for path in ["/t/wrong/", "/t/wrong/api/v1/", "/t/", "/t/wrong", "/t/a-secret%00/", "/t/a-secret/../t/x/"]
    {
        let answer = client.get(path);
        if path.starts_with("/t/a-secret/") {
            assert_eq!(answer.status, 400, "{path}");
            continue;
        }
        assert_eq!((answer.status, &answer.body), (401, &none.body), "{path}");
        assert_eq!(answer.headers, none.headers, "{path}");
        assert!(answer.header("content-security-policy").contains("frame-ancestors 'none'"));
    }
    // A valid token in a header does not replace the token in the path.
    let known = [("authorization", "Bearer a-secret")];
    assert_eq!(client.ask("GET", "/t/wrong/api/v1/", &known).status, 401);
    // Without the token in the path, no other page may embed a response in a frame.
    let page = client.ask("GET", "/", &known);
    assert!(page.header("content-security-policy").contains("frame-ancestors 'self'"));
    assert_eq!(client.ask("GET", "/t", &known).status, 404);
}

#[test]
fn where_everyone_may_ask_frames_need_no_token_but_the_name_of_the_host() {
    let place = Place::new();
    let client = place.client();
    assert_eq!(client.get("/t/-/api/v1/").status, 200);
    assert_eq!(client.ask("GET", "/t/-/api/v1/", &[("host", "evil.example.org")]).status, 421);
}

#[test]
fn roots_are_added_while_it_runs() {
    let place = Place::new();
    let bound = place.server().bind().unwrap();
    let (roots, stop, url) = (bound.shared_roots(), bound.stop_handle(), bound.url());
    let running = std::thread::spawn(move || bound.run());
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = OpenOptions::new()
        .create_array((store.clone(), "deep/a"))
        .shape([3])
        .data_type(DataType::Float64)
        .create()
        .unwrap();
    array.write(.., 2.0).unwrap();
    roots.add("memory", (store.clone(), ""), &OpenOptions::new()).unwrap();
    let asked = |path: &str| zarrox::open_array(format!("{url}/v3/{path}")).unwrap();
    assert_eq!(asked("memory/deep/a").read::<ArrayD<f64>>(..).unwrap().sum(), 6.0);
    roots.add("again", place.path("v2.zarr"), &OpenOptions::new()).unwrap();
    assert_eq!(asked("again/g/a").shape(), [7, 10]);
    let taken = roots.add("again", (store, ""), &OpenOptions::new());
    assert_error(taken, ErrorKind::InvalidArgument, "again");
    let divided = roots.add("a/b", place.path("v2.zarr"), &OpenOptions::new());
    assert_error(divided, ErrorKind::InvalidArgument, "a/b");
    stop.stop();
    running.join().unwrap().unwrap();
}

#[test]
fn archives_are_not_looked_for_beside_a_store_that_is_no_directory() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    store.set(&Key::new("a.zip").unwrap(), b"no archive", Condition::Always).unwrap();
    let server = Server::new().token(None).root_with("m", (store, ""), &OpenOptions::new()).unwrap();
    let answer = Client::new(server).get("/api/v1/node/m/a.zip");
    assert_eq!(answer.status, 422);
    assert!(answer.message().contains("archives are opened in directories only"), "{}", answer.message());
}
