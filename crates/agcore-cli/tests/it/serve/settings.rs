//! The table `[serve]`, and `--check`.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
};

use agcore_testkit::mock_server::{Fault, Hold, MockOptions, Point, RecordedRequest, Reply};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::json;

use super::{Serving, input};
use crate::support::{Agcore, Server};

#[test]
fn the_table_sets_what_options_do_not() {
    let model = Server::playground();
    let agcore = Agcore::talking_to(&model).at_home().with_user_settings(
        "[serve]\nlisten = '0.0.0.0:0'\nrequire_token = true\n[serve.limits]\nmax_body_bytes = 300\n",
    );
    let created = agcore.run(["serve", "tokens", "create"]);
    let header = format!("authorization: Bearer {}\r\n", created.assert_success().trim());
    // The option decides about the address.
    let serving = Serving::start(&agcore, &[]);
    let ask = |headers: &str, text: &str| serving.ask("POST", "/api/v1/agent/run", headers, &input("t", text));
    assert!(ask("", "good day").starts_with("HTTP/1.1 401"));
    assert!(ask(&header, "good day").contains("RUN_FINISHED"));
    assert!(ask(&header, &"long ".repeat(100)).contains("body_too_large"));
}

#[test]
fn tokens_of_another_service_name_the_user() {
    let keys = Ed25519KeyPair::from_seed_unchecked(&[3; 32]).unwrap();
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let jwks = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": encode(keys.public_key().as_ref())}]});
    let token = |expiry: u64| {
        let claims = json!({"aud": "agcore", "iss": "https://id", "sub": "ann", "org": "acme", "exp": expiry});
        let part = [json!({"alg": "EdDSA"}), claims].map(|part| encode(part.to_string().as_bytes()));
        let part = part.join(".");
        format!(
            "authorization: Bearer {part}.{}\r\n",
            encode(keys.sign(part.as_bytes()).as_ref())
        )
    };
    let model = Server::playground();
    let agcore = Agcore::talking_to(&model).at_home().with_user_settings(
        "[serve.jwt]\nkeys = 'jwks.json'\naudience = 'agcore'\nissuer = 'https://id'\ntenant_claim = 'org'\n",
    );
    // Next to the settings.
    agcore.run(["serve", "--check"]).assert_failed(2, &["jwks.json"]);
    let path = agcore.settings_directory().join("jwks.json");
    fs::write(path, jwks.to_string()).unwrap();
    agcore.run(["serve", "--check"]).assert_success();
    let serving = Serving::start(&agcore, &[]);
    let ask = |headers: &str| serving.ask("GET", "/api/v1/agent/sessions", headers, "");
    assert!(ask(&token(4_102_444_800)).starts_with("HTTP/1.1 200"));
    assert!(ask(&token(1)).starts_with("HTTP/1.1 401"));
    assert!(ask("").starts_with("HTTP/1.1 401"));
}

#[test]
fn keys_of_another_service_are_fetched_from_its_address() {
    let issuer = Ed25519KeyPair::from_seed_unchecked(&[3; 32]).unwrap();
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let set =
        json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": encode(issuer.public_key().as_ref())}]}).to_string();
    let claims = json!({"aud": "agcore", "sub": "ann", "exp": 4_102_444_800_u64});
    let part = [json!({"alg": "EdDSA"}), claims].map(|part| encode(part.to_string().as_bytes()));
    let part = part.join(".");
    let token = format!(
        "authorization: Bearer {part}.{}\r\n",
        encode(issuer.sign(part.as_bytes()).as_ref())
    );
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = service.local_addr().unwrap();
    std::thread::spawn(move || {
        for connection in service.incoming() {
            let mut connection = connection.unwrap();
            let mut head = BufReader::new(connection.try_clone().unwrap()).lines();
            let asked = head.next().unwrap().unwrap();
            head.by_ref().find(|line| line.as_deref().is_ok_and(str::is_empty));
            let (status, body) = match asked.as_str() {
                "GET /keys HTTP/1.1" => ("200 OK", &*set),
                _ => ("404 Not Found", ""),
            };
            let length = body.len();
            write!(
                connection,
                "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            )
            .unwrap();
        }
    });
    let model = Server::playground();
    let with = |keys: &str| {
        let settings = format!("[serve.jwt]\n{keys}\naudience = 'agcore'\n");
        Agcore::talking_to(&model).at_home().with_user_settings(&settings)
    };
    let agcore = with(&format!("keys_url = 'http://{address}/keys'"));
    agcore.run(["serve", "--check"]).assert_success();
    let serving = Serving::start(&agcore, &[]);
    let ask = |headers: &str| serving.ask("GET", "/api/v1/agent/sessions", headers, "");
    assert!(ask(&token).starts_with("HTTP/1.1 200"));
    assert!(ask("").starts_with("HTTP/1.1 401"));

    let wrong = format!("keys_url = 'http://{address}/other'");
    let check = |keys: &str, problem: &str| {
        with(keys).run(["serve", "--check"]).assert_failed(2, &[problem]);
    };
    check(&wrong, "the server answered 404");
    check("keys_url = 'http://id.example.org/keys'", "it must begin with https://");
    check("keys_url = 'https://me:pw@id.example.org/keys'", "remove them");
    check("keys_url = 'keys'", "it is not a URL");
    check("keys_url = 'https://id/keys'\nkeys = 'jwks.json'", "remove one of them");
    check("", "[serve.jwt] has no keys");
}

#[test]
fn localhost_is_this_machine_and_other_names_are_not_resolved() {
    let model = Server::playground();
    let agcore = Agcore::talking_to(&model).at_home();
    // Without credentials, only a loopback address is accepted.
    agcore
        .run(["serve", "--check", "--listen", "localhost:0"])
        .assert_success();
    let expected = "expected an IP address and a port, such as 127.0.0.1:8737, [::1]:8737 or localhost:8737";
    for command in [&["serve"][..], &["mcp", "serve"]] {
        let arguments = [command, &["--listen", "example.org:80"]].concat();
        agcore.run(arguments).assert_failed(2, &[expected]);
    }
    let agcore = agcore.with_user_settings("[serve]\nlisten = 'localhost:0'\n");
    agcore.run(["serve", "--check"]).assert_success();
}

#[test]
fn a_check_reports_all_problems_at_once() {
    let used = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = used.local_addr().unwrap().to_string();
    let model = Server::playground();
    let agcore = Agcore::talking_to(&model)
        .at_home()
        .with("AGCORE_STORE", "mysql://user:hidden@db")
        .with_user_settings(
            "[serve]\norigins = ['app.example.org/path']\n[serve.limits]\nmax_runs = 0\n\
             [serve.jwt]\nkeys = 'missing.json'\naudience = ''\n",
        );
    let checked = agcore.run(["serve", "--check", "--listen", &address]);
    checked.assert_failed(
        2,
        &[
            "6 problems",
            "cannot listen",
            "app.example.org",
            "max_runs",
            "missing.json",
            "`audience` of [serve.jwt] is empty",
            "AGCORE_STORE",
        ],
    );
    assert!(!checked.stderr.contains("hidden"), "{}", checked.stderr);
}

#[test]
fn the_limits_of_requests_apply_to_a_server() {
    let stall = |_: &RecordedRequest| {
        Reply::text("Hi.").with_fault(Fault::Stall {
            at: Point::BeforeHeaders,
            hold: Hold::Forever,
        })
    };
    let model = Server::start(MockOptions::new(), stall);
    let settings = "timeouts = { first_byte = '250ms' }\nretry = { max_retries = 1, base = '1ms' }\n";
    let agcore = Agcore::talking_to(&model).at_home().with_user_settings(settings);
    let serving = Serving::start(&agcore, &[]);
    let answer = serving.ask("POST", "/api/v1/agent/run", "", &input("a", "hello"));
    assert!(
        answer.contains("RUN_ERROR") && answer.contains("the model did not answer in time"),
        "{answer}"
    );
    assert_eq!(model.requests().len(), 2);
}
