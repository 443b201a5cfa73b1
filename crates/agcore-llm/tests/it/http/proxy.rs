//! Proxies: those of the environment are used only if configured, those of the settings always.

use std::process::Command;

use agcore_llm::transport::http::Proxy;

use super::{
    forward_proxy::ForwardProxy,
    raw_server::{RawServer, whole},
    *,
};

const URL: &str = "AGCORE_TEST_URL";
const PROXY: &str = "AGCORE_TEST_PROXY";

/// A server that only a proxy can reach.
const REMOTE: &str = "http://model.example/v1";

pub(super) fn parsed(proxy: &str) -> Proxy {
    Proxy::parse(proxy).unwrap()
}

/// Makes a call in a child process, because the environment belongs to the whole process.
#[test]
#[ignore = "a part of the tests below, which start it in a child process"]
fn call_in_child() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the parent process passes its parameters in the environment"
    )]
    let [url, proxy] = [URL, PROXY].map(|name| std::env::var(name).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let provider = provider(HttpOptions::new(url).with_proxy(parsed(&proxy)));
        let (text, end) = read(provider.open(hello())).await;
        println!("<{}>", end.map_or_else(|error| error.message().to_owned(), |()| text));
    });
}

/// Calls `url` in a child process with these variables, and returns the answer or the message of the error.
pub(super) async fn call_in_process(url: &str, setting: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "http::proxy::call_in_child", "--ignored", "--nocapture"]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command
        .env(URL, url)
        .env(PROXY, setting)
        .envs(variables.iter().copied());
    let child = tokio::task::spawn_blocking(move || command.output().unwrap());
    let output = child.await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    let (_, result) = text.split_once('<').unwrap();
    result.split_once('>').unwrap().0.to_owned()
}

#[tokio::test]
async fn ignores_the_environment_by_default() {
    let server = RawServer::answering(whole("200 OK", "one END")).await;
    let proxy = RawServer::answering("").await;
    let variables = [("HTTP_PROXY", &*proxy.origin()), ("all_proxy", &*proxy.origin())];
    assert_eq!(call_in_process(&server.url(), "none", &variables).await, "one END");
    assert_eq!((server.connections(), proxy.connections()), (1, 0));
}

#[tokio::test]
async fn uses_the_environment_if_configured() {
    let server = RawServer::answering(whole("200 OK", "one END")).await;
    let proxy = ForwardProxy::to(server.origin().trim_start_matches("http://")).await;
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        let answer = call_in_process(REMOTE, "environment", &[(name, &proxy.url())]).await;
        assert_eq!(answer, "one END", "{name}");
    }
    assert_eq!(proxy.lines(), ["post http://model.example/v1/lines http/1.1"; 3]);
}

#[tokio::test]
async fn errors_name_the_variable() {
    let proxy = RawServer::answering("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await;
    let variables = [("https_proxy", &*proxy.origin())];
    let error = call_in_process("https://model.example/v1", "environment", &variables).await;
    let expected = format!(
        "the proxy {} (from https_proxy) refused to connect to https://model.example; \
         it does not allow this address or cannot reach it",
        proxy.origin()
    );
    assert_eq!(error, expected);
    let error = call_in_process(REMOTE, "environment", &[("HTTP_PROXY", "no-such-proxy.invalid:1")]).await;
    assert_eq!(
        error,
        "cannot resolve the host of the proxy http://no-such-proxy.invalid:1 (from HTTP_PROXY); \
         check HTTP_PROXY and the network"
    );
    let error = call_in_process(REMOTE, "environment", &[("ALL_PROXY", "socks5://127.0.0.1:1")]).await;
    assert_eq!(
        error,
        "cannot use the proxy socks5://127.0.0.1:1 (from ALL_PROXY): only http:// and https:// proxies are supported"
    );
}

#[tokio::test]
async fn servers_on_this_machine_and_exceptions_are_reached_without_it() {
    let server = RawServer::answering(whole("200 OK", "one END")).await;
    let proxy = RawServer::answering("").await;
    let proxy_url = proxy.origin();
    let answer = call_in_process(&server.url(), "environment", &[("HTTP_PROXY", &proxy_url)]).await;
    assert_eq!(answer, "one END");
    let variables = [("HTTP_PROXY", &*proxy_url), ("NO_PROXY", "no-such-host.invalid")];
    let error = call_in_process("http://no-such-host.invalid/v1", "environment", &variables).await;
    assert!(
        error.contains("cannot resolve the host of http://no-such-host.invalid;"),
        "{error}"
    );
    assert_eq!(proxy.connections(), 0);
}

#[tokio::test]
async fn sends_every_request_and_the_password_to_a_configured_proxy() {
    let proxy = RawServer::start(|mut connection| async move {
        let request = connection.request().await.unwrap();
        let line = request.head.lines().next().unwrap();
        let password = request.header("proxy-authorization").unwrap();
        connection
            .send(whole("200 OK", &format!("{line} {password} END")))
            .await;
    })
    .await;
    let address = proxy.origin().replace("http://", "http://me:secret@");
    let options = HttpOptions::new(REMOTE).with_proxy(parsed(&address));
    let (text, end) = read(provider(options).open(hello())).await;
    end.unwrap();
    assert_eq!(
        text, "post http://model.example/v1/lines http/1.1 basic bwu6c2vjcmv0 END",
        "base64 in lower case"
    );
}

#[tokio::test]
async fn sends_the_password_when_it_asks_for_a_tunnel() {
    let (sender, mut requests) = tokio::sync::mpsc::unbounded_channel();
    let proxy = RawServer::start(move |mut connection| {
        let sender = sender.clone();
        async move {
            sender.send(connection.request().await.unwrap()).unwrap();
        }
    })
    .await;
    let address = proxy.origin().replace("http://", "http://me:secret@");
    let options = HttpOptions::new("https://model.example/v1").with_proxy(parsed(&address));
    call_error(&provider(options), hello()).await;
    let request = requests.recv().await.unwrap();
    assert!(
        request.head.starts_with("connect model.example:443 http/1.1\r\n"),
        "{}",
        request.head
    );
    assert_eq!(
        request.header("proxy-authorization"),
        Some("basic bwu6c2vjcmv0"),
        "base64 in lower case"
    );
    assert_eq!(
        request.header("user-agent"),
        Some(concat!("agcore/", env!("CARGO_PKG_VERSION")))
    );
}

#[tokio::test]
async fn a_configured_proxy_is_used_for_this_machine_as_well() {
    let server = RawServer::answering(whole("200 OK", "one END")).await;
    let proxy = ForwardProxy::to(server.origin().trim_start_matches("http://")).await;
    let options = HttpOptions::new(server.url()).with_proxy(parsed(&proxy.url()));
    let (text, end) = read(provider(options).open(hello())).await;
    end.unwrap();
    assert_eq!((&*text, proxy.lines().len()), ("one END", 1));
}
