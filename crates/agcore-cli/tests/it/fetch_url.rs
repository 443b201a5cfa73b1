//! The tool that reads web pages, with a server on this machine.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener},
    thread,
};

use crate::support::{Agcore, RunOutput};

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

fn fetch(agcore: &Agcore, url: &str, options: &[&str]) -> RunOutput {
    let arguments = format!("{{\"url\": {url:?}}}");
    agcore.run([&["tools", "call", "fetch_url", &arguments], options].concat())
}

#[test]
fn pages_are_returned_as_text_and_redirects_are_not_followed() {
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
    fetch("/away").assert_failed(
        1,
        &["redirects to http://example.org/x
"],
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
