//! Azure Blob Storage.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use zarrox_stores::{
    AzureOptions, AzureStore, ByteRange, Condition, RetryStore, Store, StoreErrorKind, StoreExt,
};
use zarrox_testkit::proxy::Proxy;
use zarrox_testkit::servers::address;
use zarrox_testkit::store::{key, store_suite};

use super::remote::{all_fail, fresh, unique, unreachable, unused_address};

/// The account of every emulator, whose key is public.
const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const WRONG_KEY: &str = "d3JvbmcgYW5kIHNlY3JldCBrZXkgb2Ygbm9ib2R5IGF0IGFsbA==";

fn options(endpoint: &str) -> AzureOptions {
    AzureOptions::new().account(ACCOUNT).access_key(KEY).endpoint(endpoint).allow_http(true)
}

fn container() -> Option<AzureStore> {
    Some(options(&address("AZURE")?).open("zarrox").unwrap())
}

#[test]
fn passes_the_suite() {
    let Some(store) = container() else { return };
    // The store retries, as a store of a URL does, since the emulator interrupts connections under load.
    store_suite(|| fresh(Arc::new(RetryStore::new(Arc::new(store.clone())))));
}

#[test]
fn the_place_is_named_without_secrets() {
    let store = AzureOptions::new().account("weather").shared_access_signature("sv=1&sig=SECRET").open("c");
    let store = store.unwrap();
    assert_eq!(store.location(), "https://weather.blob.core.windows.net/c");
    assert!(!format!("{store:?}").contains("SECRET"));
    let options =
        AzureOptions::new().connection_string("AccountName=a;AccountKey=SECRET").bearer_token("SECRET");
    assert!(!format!("{options:?}").contains("SECRET"));
}

#[test]
fn connection_strings_say_everything() {
    let open = |text: &str| AzureOptions::new().connection_string(text).open("zarrox");
    let long = format!(
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={KEY};EndpointSuffix=core.example.org;"
    );
    assert_eq!(open(&long).unwrap().location(), "https://a.blob.core.example.org/zarrox");
    let signed = "BlobEndpoint=https://b.blob.core.windows.net/;SharedAccessSignature=sv=1&sig=abc%3D";
    assert_eq!(open(signed).unwrap().location(), "https://b.blob.core.windows.net/zarrox");
    for text in ["AccountKey=SECRET", "SECRET", "UseDevelopmentStorage=true", "BlobEndpoint=SECRET"] {
        let error = open(text).unwrap_err();
        assert!(!error.to_string().contains("SECRET"), "{error}");
    }
    let Some(url) = address("AZURE") else { return };
    let store =
        open(&format!("AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={url};QueueEndpoint=x")).unwrap();
    assert_eq!(store.get(&key("nothing")).unwrap(), None);
}

#[test]
fn wrong_credentials_are_forbidden() {
    let Some(url) = address("AZURE") else { return };
    let wrong = options(&url).access_key(WRONG_KEY).open("zarrox").unwrap();
    all_fail(&wrong, StoreErrorKind::Forbidden, &[WRONG_KEY]);
    let signed = AzureOptions::new().account(ACCOUNT).endpoint(&url).allow_http(true);
    let signed = signed.shared_access_signature("sv=2020-10-02&sp=r&sig=c2VjcmV0").open("zarrox").unwrap();
    all_fail(&signed, StoreErrorKind::Forbidden, &["c2VjcmV0"]);
}

#[test]
fn a_missing_container_is_not_a_missing_value() {
    let Some(url) = address("AZURE") else { return };
    all_fail(&options(&url).open("nothing-here").unwrap(), StoreErrorKind::NotFound, &[KEY]);
}

#[test]
fn a_server_that_is_not_there_is_unreachable() {
    unreachable(&options(&format!("{}/{ACCOUNT}", unused_address())).open("zarrox").unwrap());
}

#[test]
fn each_read_is_one_request_but_that_of_an_end() {
    let Some(url) = address("AZURE") else { return };
    let proxy = Proxy::new(&url).unwrap();
    let store = options(proxy.url()).open("zarrox").unwrap();
    let name = key(&format!("{}/with space/дом#?%20", unique()));
    store.set(&name, b"0123456789", Condition::Always).unwrap();
    let ranges = [
        (ByteRange::From { offset: 2, length: Some(3) }, 1),
        (ByteRange::From { offset: 8, length: None }, 1),
        (ByteRange::Suffix { length: 2 }, 2),
    ];
    for (range, expected) in ranges {
        proxy.reset();
        let value = store.open_with(&name, Some(range)).unwrap().unwrap();
        let within = range.resolve(10).unwrap();
        value.read(within.start, within.end - within.start).unwrap();
        let seen = proxy.requests();
        assert_eq!(seen.len(), expected, "{range:?}: {seen:?}");
    }
}
