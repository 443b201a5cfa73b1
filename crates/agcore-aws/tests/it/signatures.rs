//! The test suite that Amazon publishes for version 4 of its signatures, and requests of other services.

use std::time::{Duration, SystemTime};

use agcore_aws::{AwsKeys, RequestParts, Signer};
use proptest::prelude::*;

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const HOST: &str = "example.amazonaws.com";

/// 2015-08-30T12:36:00Z.
fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_440_938_160)
}

fn keys() -> AwsKeys {
    AwsKeys::new("AKIDEXAMPLE", SECRET)
}

/// Checks a case of the suite by its name: the names of the signed headers, and the signature.
#[track_caller]
fn check(case: &str, request: &RequestParts<'_>, signed: &str, signature: &str) {
    let headers = Signer::new("service", "us-east-1").sign(&keys(), request, now());
    let (name, authorization) = headers.last().unwrap();
    let expected = format!(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders={signed}, \
         Signature={signature}"
    );
    assert_eq!(
        (*name, authorization.as_str()),
        ("authorization", expected.as_str()),
        "{case}"
    );
}

fn get<'a>(path: &'a str) -> RequestParts<'a> {
    RequestParts::new("GET", HOST, path)
}

fn post() -> RequestParts<'static> {
    RequestParts::new("POST", HOST, "/")
}

#[test]
fn paths_and_queries_of_the_suite() {
    let plain = "host;x-amz-date";
    let vanilla = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";
    check("get-vanilla", &get("/"), plain, vanilla);
    check("an empty path", &get(""), plain, vanilla);
    check(
        "get-utf8",
        &get("/ሴ"),
        plain,
        "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85",
    );
    check(
        "get-space",
        &get("/example space/"),
        plain,
        "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741",
    );
    check(
        "get-unreserved",
        &get("/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
        plain,
        "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f",
    );
    for (case, query, signature) in [
        (
            "get-vanilla-query-order-key-case",
            "Param2=value2&Param1=value1",
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
        (
            "get-vanilla-query-order-key",
            "Param1=value2&Param1=Value1",
            "eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1",
        ),
        (
            "get-vanilla-query-order-value",
            "Param1=value2&Param1=value1",
            "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694",
        ),
        (
            "get-vanilla-empty-query-key",
            "Param1=value1",
            "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb",
        ),
        (
            "get-vanilla-utf8-query",
            "%E1%88%B4=bar",
            "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04",
        ),
    ] {
        check(case, &get("/").with_query(query), plain, signature);
    }
}

#[test]
fn headers_and_bodies_of_the_suite() {
    let vanilla = "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b";
    check("post-vanilla", &post(), "host;x-amz-date", vanilla);
    check(
        "post-vanilla-query",
        &post().with_query("Param1=value1"),
        "host;x-amz-date",
        "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
    );
    check(
        "post-header-key-sort",
        &post().with_headers(&[("My-Header1", "value1")]),
        "host;my-header1;x-amz-date",
        "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
    );
    check(
        "post-header-value-case",
        &post().with_headers(&[("My-Header1", "VALUE1")]),
        "host;my-header1;x-amz-date",
        "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
    );
    check(
        "get-header-value-trim",
        &get("/").with_headers(&[("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")]),
        "host;my-header1;my-header2;x-amz-date",
        "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
    );
    let form = [("content-type", "application/x-www-form-urlencoded")];
    check(
        "post-x-www-form-urlencoded",
        &post().with_headers(&form).with_body(b"Param1=value1"),
        "content-type;host;x-amz-date",
        "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
    );
}

#[test]
fn a_session_token_is_signed_and_sent() {
    // The case "post-sts-header-before".
    let token = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwth\
        Ax7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0\
        rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";
    let keys = keys().with_session_token(token);
    let headers = Signer::new("service", "us-east-1").sign(&keys, &post(), now());
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["x-amz-date", "x-amz-security-token", "authorization"]);
    assert_eq!(headers[1].1, token);
    assert!(
        headers[2]
            .1
            .contains("SignedHeaders=host;x-amz-date;x-amz-security-token,")
    );
    assert!(
        headers[2]
            .1
            .ends_with("Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"),
        "{}",
        headers[2].1
    );
    assert!(!format!("{keys:?}").contains("AQoD") && !format!("{keys:?}").contains("wJalr"));
}

#[test]
fn escapes_in_the_path_of_a_model_are_escaped_again() {
    let keys = AwsKeys::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
        .with_session_token("session-token");
    let host = "bedrock-runtime.eu-central-1.amazonaws.com";
    let request = RequestParts::new("POST", host, "/model/eu.amazon.nova-lite-v1%3A0/converse");
    let request = request
        .with_headers(&[("content-type", "application/json")])
        .with_body(br#"{"messages":[]}"#);
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_040_000);
    let headers = Signer::new("bedrock", "eu-central-1").sign(&keys, &request, now);
    assert_eq!(headers[0].1, "20261130T120000Z");
    // Computed with an independent implementation.
    let (_, authorization) = headers.last().unwrap();
    assert!(
        authorization.ends_with("Signature=778adcd156112b63e2b5a61b13b9581cb523733b945ff020df1c2894c4032b41"),
        "{authorization}"
    );
}

#[test]
fn s3_signs_the_path_as_it_is_sent_and_the_hash_of_the_body() {
    // The example "GET Object" in Amazon's description of the signatures.
    let keys = AwsKeys::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
    let request = RequestParts::new("GET", "examplebucket.s3.amazonaws.com", "/test.txt");
    let request = request.with_headers(&[("range", "bytes=0-9")]);
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_369_353_600);
    let headers = Signer::new("s3", "us-east-1").sign(&keys, &request, now);
    assert_eq!(headers[0].0, "x-amz-content-sha256");
    assert_eq!(
        headers.last().unwrap().1,
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
         SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, \
         Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    );
}

proptest! {
    /// Any parts are signed, and the signature depends on each of them.
    #[test]
    fn anything_is_signed(method in "[A-Z]{1,8}", path in ".{0,40}", query in ".{0,40}", body in any::<Vec<u8>>()) {
        let sign = |request: &RequestParts<'_>| Signer::new("service", "r").sign(&keys(), request, now()).pop().unwrap().1;
        let request = RequestParts::new(&method, HOST, &path).with_query(&query).with_body(&body);
        let signature = sign(&request);
        prop_assert_eq!(&signature, &sign(&request));
        let longer = [&body[..], b"x"].concat();
        prop_assert_ne!(signature, sign(&request.with_body(&longer)));
    }
}
