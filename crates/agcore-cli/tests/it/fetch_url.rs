//! The tool that reads web pages, with a server on this machine.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener},
    thread,
};

use crate::{
    proxy::ForwardProxy,
    support::{Agcore, RunOutput, Server},
};

/// Serves pages until the test ends.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = String::new();
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            lines.read_line(&mut request).unwrap();
            let path = request.split(' ').nth(1).unwrap();
            let (status, header, body) = match path {
                "/page" => (
                    "200 OK",
                    "content-type: text/html",
                    "<h1>Title</h1><p>Some text".to_owned(),
                ),
                "/away" => ("302 Found", "location: http://example.org/x", String::new()),
                "/moved" => ("301 Moved Permanently", "location: steps/../page", String::new()),
                "/loop" => ("307 Temporary Redirect", "location: /loop", String::new()),
                "/file" => ("302 Found", "location: file:///etc/passwd", String::new()),
                "/user" => ("302 Found", "location: //user:pw@127.0.0.1/page", String::new()),
                "/broken" => ("302 Found", "location: http://[", String::new()),
                "/nowhere" => ("302 Found", "content-type: text/plain", "no location".to_owned()),
                // Another port of the same host, which no rule allows.
                "/port" => ("302 Found", "location: http://127.0.0.1:1/page", String::new()),
                "/cookie" => ("302 Found", "location: /headers\r\nset-cookie: id=7", String::new()),
                "/headers" => ("200 OK", "content-type: text/plain", read_headers(&mut lines)),
                "/image" => ("200 OK", "content-type: image/png", "x".to_owned()),
                "/large" => ("200 OK", "content-type: text/plain", "line\n".repeat(1_000_000)),
                _ => ("404 Not Found", "content-type: text/plain", format!("no {path}")),
            };
            let length = body.len();
            let reply =
                format!("HTTP/1.1 {status}\r\n{header}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
            // The program does not read the end of a large page.
            let _ = stream.write_all(reply.as_bytes());
        }
    });
    address
}

/// Returns the headers of a request.
fn read_headers(lines: &mut impl BufRead) -> String {
    let lines = lines.lines().map(Result::unwrap);
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn fetch(agcore: &Agcore, url: &str, options: &[&str]) -> RunOutput {
    let arguments = format!("{{\"url\": {url:?}}}");
    agcore.run([&["tools", "call", "fetch_url", &arguments], options].concat())
}

#[test]
fn pages_are_returned_as_text() {
    let address = serve();
    let rules = format!("[permissions]\nallow = ['fetch_url(http://{address}/*)']\n");
    let agcore = Agcore::new().with_file("rules.toml", &rules);
    let fetch = |path: &str| fetch(&agcore, &format!("http://{address}{path}"), &["--config", "rules.toml"]);
    let ran = fetch("/page");
    let text = ran.assert_success();
    assert!(
        text.starts_with(&format!("http://{address}/page (HTTP 200)\n\n")),
        "{text}"
    );
    assert!(
        text.contains("Title") && text.contains("Some text") && !text.contains('<'),
        "{text}"
    );
    let ran = fetch("/gone?a=1");
    assert!(
        ran.assert_success().contains("(HTTP 404)\n\nno /gone?a=1"),
        "{}",
        ran.stdout
    );
    fetch("/image").assert_failed(1, &["is not text but \"image/png\""]);
    let ran = fetch("/large");
    let text = ran.assert_success();
    assert!(
        text.contains("[the rest of the page is left out]") && text.len() < 60_000,
        "{}",
        text.len()
    );
}

#[test]
fn redirects_pass_the_checks_of_a_call() {
    let address = serve();
    let rules = format!("[permissions]\nallow = ['fetch_url(http://{address}/*)']\ndeny = ['fetch_url(*/secret*)']\n");
    let agcore = Agcore::new().with_file("rules.toml", &rules);
    let fetch = |path: &str| fetch(&agcore, &format!("http://{address}{path}"), &["--config", "rules.toml"]);
    let ran = fetch("/moved");
    let text = ran.assert_success();
    assert!(
        text.starts_with(&format!("http://{address}/page (HTTP 200)\n\n")),
        "{text}"
    );
    fetch("/loop").assert_failed(1, &["more than 5 redirects"]);
    fetch("/away").assert_failed(1, &["redirects to http://example.org/x, about which the rules"]);
    fetch("/file").assert_failed(1, &["it redirects, and file:///etc/passwd does not begin with http"]);
    let ran = fetch("/user");
    ran.assert_failed(1, &["it redirects, and a URL with a user name or password"]);
    assert!(!ran.stderr.contains("pw"), "{}", ran.stderr);
    fetch("/broken").assert_failed(1, &["redirects to something that is not a URL"]);
    fetch("/port").assert_failed(1, &["http://127.0.0.1:1/page is on a private or local address"]);
    fetch("/secret").assert_failed(1, &["fetch_url was denied"]);
    let ran = fetch("/nowhere");
    assert!(
        ran.assert_success().contains("(HTTP 302)\n\nno location"),
        "{}",
        ran.stdout
    );
    let ran = fetch("/cookie");
    let headers = ran.assert_success().to_lowercase();
    assert!(headers.contains("accept: text/html"), "{headers}");
    for sent in ["cookie", "authorization", "referer"] {
        assert!(!headers.contains(sent), "{headers}");
    }
}

#[test]
fn pages_are_fetched_through_the_proxy() {
    let server = Server::playground();
    let proxy = ForwardProxy::to(&server);
    let url = "http://no-such-host.invalid/v1/models";
    let request = "GET http://no-such-host.invalid/v1/models HTTP/1.1";
    let by_variable = Agcore::new().with("HTTP_PROXY", &proxy.url());
    fetch(&by_variable, url, &["--yes"]).assert_success();
    assert_eq!(proxy.take_lines(), [request]);
    // The setting takes precedence over the environment.
    let file = format!("proxy = '{}'\n", proxy.url());
    let by_setting = Agcore::new()
        .with("HTTP_PROXY", "http://127.0.0.1:9")
        .with_file("proxy.toml", &file);
    fetch(&by_setting, url, &["--yes", "--config", "proxy.toml"]).assert_success();
    assert_eq!(proxy.take_lines(), [request]);
    let off = by_variable.with("AGCORE_PROXY", "off");
    fetch(&off, url, &["--yes"]).assert_failed(1, &["cannot find the host no-such-host.invalid"]);
    // A proxy does not give access to private addresses.
    let agcore = Agcore::new().with("AGCORE_PROXY", &proxy.url());
    for url in [
        "http://169.254.169.254/latest",
        "http://localhost:1/",
        "http://metadata.google.internal/",
    ] {
        fetch(&agcore, url, &["--yes"]).assert_failed(1, &["is on a private or local address"]);
    }
    assert!(proxy.take_lines().is_empty());
}

#[test]
fn private_addresses_and_other_schemes_are_refused() {
    let address = serve();
    let agcore = Agcore::new();
    // Without a rule, a person must be asked.
    fetch(&agcore, &format!("http://{address}/page"), &[]).assert_failed(6, &["fetch_url was denied"]);
    for url in [
        format!("http://{address}/page"),
        format!("http://localhost:{}/page", address.port()),
        format!("http://[::ffff:127.0.0.1]:{}/page", address.port()),
        format!("http://2130706433:{}/page", address.port()),
        "http://169.254.169.254/latest/meta-data".to_owned(),
    ] {
        fetch(&agcore, &url, &["--yes"]).assert_failed(1, &["is on a private or local address"]);
    }
    fetch(&agcore, "file:///etc/passwd", &["--yes"]).assert_failed(1, &["does not begin with http"]);
    fetch(&agcore, "http://user:pw@example.org/", &["--yes"]).assert_failed(1, &["user name or password"]);
    fetch(&agcore, "nonsense", &["--yes"]).assert_failed(1, &["is not a URL"]);
}
