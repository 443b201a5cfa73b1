//! Proxies of the environment, of the settings and of the option `--proxy`.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use agcore_demo::Playground;
use agcore_testkit::mock_server::MockOptions;
use serde_json::Value;

use crate::support::{Agcore, KEY, Server};

/// A server that only the proxy can reach.
const REMOTE: &str = "http://model.example/v1";

/// A URL of a proxy that is not running, with a password.
const DEAD: &str = "http://me:hunter2@127.0.0.1:1";

/// A proxy on loopback that records the first line of every request. Its threads end with the tests.
pub(crate) struct ForwardProxy {
    address: SocketAddr,
    lines: Arc<Mutex<Vec<String>>>,
}

impl ForwardProxy {
    /// Starts a proxy that forwards every request to this server, whatever host is asked for.
    pub(crate) fn to(server: &Server) -> Self {
        let target = server.root_url().replace("http://", "");
        Self::start(move |client, head| {
            let mut upstream = TcpStream::connect(&target)?;
            upstream.write_all(head)?;
            let (mut from_client, mut to_upstream) = (client.try_clone()?, upstream.try_clone()?);
            thread::spawn(move || {
                let _ = io::copy(&mut from_client, &mut to_upstream);
                to_upstream.shutdown(Shutdown::Write)
            });
            io::copy(&mut upstream, client)?;
            client.shutdown(Shutdown::Both)
        })
    }

    /// Starts a proxy that answers every request with this status.
    fn refusing(status: &'static str) -> Self {
        Self::start(move |client, _| write!(client, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n"))
    }

    fn start(serve: impl Fn(&mut TcpStream, &[u8]) -> io::Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (seen, serve) = (Arc::clone(&lines), Arc::new(serve));
        thread::spawn(move || {
            for mut client in listener.incoming().map_while(Result::ok) {
                let (seen, serve) = (Arc::clone(&seen), Arc::clone(&serve));
                thread::spawn(move || {
                    let head = read_head(&mut client)?;
                    let line = String::from_utf8_lossy(&head)
                        .lines()
                        .next()
                        .unwrap_or_default()
                        .to_owned();
                    seen.lock().unwrap().push(line);
                    serve(&mut client, &head)
                });
            }
        });
        Self { address, lines }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the first lines of the requests since the last call.
    pub(crate) fn take_lines(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap())
    }
}

/// Reads at least the head of a request.
fn read_head(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut chunk = [0; 4096];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        match client.read(&mut chunk)? {
            0 => break,
            read => head.extend_from_slice(&chunk[..read]),
        }
    }
    Ok(head)
}

fn server() -> Server {
    Server::start(MockOptions::new().with_models(["gpt-5-mini"]), Playground::new())
}

fn at(url: &str) -> Agcore {
    Agcore::new()
        .with("OPENAI_API_KEY", KEY)
        .with("AGCORE_BASE_URL", url)
        .with("AGCORE_HISTORY", "off")
}

/// Returns the message of a check of `doctor --json`.
fn check(agcore: &Agcore, arguments: &[&str], name: &str) -> String {
    let ran = agcore.run([&["doctor", "--json"], arguments].concat());
    ran.assert_clean();
    assert!(!ran.stdout.contains("hunter2"), "{}", ran.stdout);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let mut checks = report["checks"].as_array().unwrap().iter();
    let found = checks.find(|check| check["name"] == name);
    found.unwrap()["message"].as_str().unwrap().to_owned()
}

#[test]
fn every_command_uses_the_environment() {
    let server = server();
    let proxy = ForwardProxy::to(&server);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        let agcore = at(REMOTE).with(name, &proxy.url());
        assert!(agcore.run(["chat", "hello"]).assert_success().contains("hello"));
        assert!(agcore.run(["models"]).assert_success().contains("gpt-5-mini"));
        let expected = format!("{} (environment, {name})", proxy.url());
        assert_eq!(check(&agcore, &[], "proxy"), expected);
        assert_eq!(
            proxy.take_lines(),
            [
                "POST http://model.example/v1/chat/completions HTTP/1.1",
                "GET http://model.example/v1/models HTTP/1.1",
                "GET http://model.example/v1/models HTTP/1.1",
            ]
        );
    }
}

#[test]
fn exceptions_and_servers_on_this_machine_need_no_proxy() {
    let server = server();
    let agcore = at(&server.base_url()).with("HTTP_PROXY", DEAD).with("ALL_PROXY", DEAD);
    agcore.run(["chat", "hello"]).assert_success();
    let none = "none: the environment sets no proxy for this server";
    assert_eq!(check(&agcore, &[], "proxy"), none);

    let agcore = at("http://no-such-host.invalid/v1")
        .with("HTTP_PROXY", DEAD)
        .with("NO_PROXY", "other.example,.invalid");
    assert_eq!(check(&agcore, &[], "proxy"), none);
    agcore
        .run(["models"])
        .assert_failed(4, &["cannot resolve the host of http://no-such-host.invalid;"]);
}

#[test]
fn the_setting_overrides_the_environment() {
    let server = server();
    let proxy = ForwardProxy::to(&server);
    let agcore = at(&server.base_url()).with("HTTP_PROXY", DEAD);
    // An explicit proxy is used for servers on this machine, too.
    agcore.run(["models", "--proxy", &proxy.url()]).assert_success();
    let agcore = agcore
        .trusting()
        .with_file("agcore.toml", &format!("proxy = '{}'", proxy.url()));
    agcore.run(["models"]).assert_success();
    assert_eq!(check(&agcore, &[], "proxy"), format!("{} (agcore.toml)", proxy.url()));
    assert_eq!(proxy.take_lines().len(), 3);

    let agcore = agcore.with("AGCORE_PROXY", DEAD);
    assert_eq!(
        check(&agcore, &[], "proxy"),
        "http://127.0.0.1:1 (environment, AGCORE_PROXY)"
    );
    agcore.run(["models", "--proxy", "off"]).assert_success();
    assert_eq!(check(&agcore, &["--proxy", "off"], "proxy"), "off (option --proxy)");
    agcore.run(["models", "--proxy", "environment"]).assert_success();
    assert!(proxy.take_lines().is_empty());
}

#[test]
fn a_proxy_that_is_not_running() {
    let agcore = at("https://model.example/v1").with("https_proxy", DEAD);
    let expected = [
        "the proxy http://127.0.0.1:1 (from https_proxy) refused the connection; is it running there?",
        "Check the proxy (--proxy or the variable that sets it), or connect without one (--proxy off).",
    ];
    let ran = agcore.run(["chat", "hello"]);
    ran.assert_failed(4, &expected);
    assert_eq!(ran.stderr.matches("↻ ").count(), 1, "{}", ran.stderr);
    for unwanted in ["hunter2", "?:", "error sending request", "is the server running"] {
        assert!(!ran.stderr.contains(unwanted), "{unwanted:?} in {}", ran.stderr);
    }
    agcore.run(["models"]).assert_failed(4, &expected);
    assert_eq!(check(&agcore, &[], "server"), "openai: ".to_owned() + expected[0]);
}

#[test]
fn a_proxy_that_refuses() {
    let agcore = |proxy: &ForwardProxy| at("https://model.example/v1").with("HTTPS_PROXY", &proxy.url());
    let proxy = ForwardProxy::refusing("407 Proxy Authentication Required");
    let ran = agcore(&proxy).run(["models"]);
    ran.assert_failed(
        4,
        &["(from HTTPS_PROXY) requires a user name and password; set HTTPS_PROXY to"],
    );
    assert!(!ran.stderr.contains("API key"), "{}", ran.stderr);
    assert_eq!(proxy.take_lines(), ["CONNECT model.example:443 HTTP/1.1"]);

    let proxy = ForwardProxy::refusing("403 Forbidden");
    agcore(&proxy)
        .run(["models"])
        .assert_failed(4, &["(from HTTPS_PROXY) refused to connect to https://model.example;"]);
    // Without encryption, the proxy sees the request itself.
    let proxy = ForwardProxy::refusing("407 Proxy Authentication Required");
    at(REMOTE)
        .run(["models", "--proxy", &proxy.url()])
        .assert_failed(4, &["requires a user name and password; set the URL of the proxy to"]);
}

#[test]
fn invalid_settings() {
    let expected = "invalid proxy; expected a URL such as http://host:3128, `off` or `environment`";
    let check = |agcore: Agcore, origin: &str| {
        let ran = agcore.run(["chat", "hello"]);
        ran.assert_failed(2, &[&format!("{origin}: {expected}")]);
        assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
    };
    check(
        at(REMOTE).with("AGCORE_PROXY", "me:hunter2@host"),
        "environment, AGCORE_PROXY",
    );
    check(
        at(REMOTE)
            .trusting()
            .with_file("agcore.toml", "proxy = 'ftp://me:hunter2@host'"),
        "agcore.toml:1:9",
    );
    let ran = at(REMOTE).with("HTTP_PROXY", "ftp://me:hunter2@host").run(["models"]);
    ran.assert_failed(2, &["the variable HTTP_PROXY is not the URL of a proxy"]);
    assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
}

#[test]
fn the_configuration_is_shown_without_the_password() {
    let shown = |agcore: &Agcore| {
        let ran = agcore.run(["config", "--json"]);
        let report: Value = serde_json::from_str(ran.assert_success()).unwrap();
        let mut settings = report["settings"].as_array().unwrap().iter();
        let found = settings.find(|setting| setting["name"] == "proxy").unwrap();
        (
            found["value"].as_str().unwrap().to_owned(),
            found["source"].as_str().unwrap().to_owned(),
        )
    };
    let owned = |value: &str, source: &str| (value.to_owned(), source.to_owned());
    assert_eq!(shown(&at(REMOTE)), owned("environment", "default"));
    assert_eq!(
        shown(&at(REMOTE).with("AGCORE_PROXY", "off")),
        owned("off", "environment")
    );
    // A directory must not redirect the requests of a tool that reads its variables from the environment.
    let agcore = at(REMOTE).with_file(".env", &format!("HTTP_PROXY={DEAD}\n"));
    assert_eq!(
        check(&agcore, &[], "proxy"),
        "none: the environment sets no proxy for this server"
    );
    let agcore = agcore.trusting().with_file("agcore.toml", &format!("proxy = '{DEAD}'"));
    assert_eq!(shown(&agcore), owned("http://***@127.0.0.1:1", "file"));
}
