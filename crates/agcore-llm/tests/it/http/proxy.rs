//! Proxies: those of the environment are used only if configured, those of the settings always.

use std::process::Command;

use agcore_llm::transport::http::Proxy;

use super::{
    raw_server::{RawServer, whole},
    *,
};

const URL: &str = "AGCORE_TEST_URL";
const PROXY: &str = "AGCORE_TEST_PROXY";

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
        let provider = provider(HttpOptions::new(url).with_proxy(Proxy::parse(&proxy).unwrap()));
        let (text, end) = read(provider.open(hello())).await;
        end.unwrap();
        assert_eq!(text, "one END");
    });
}

/// Calls `url` in a child process with all environment variables for proxies set to `proxy`.
async fn call_in_process(url: String, proxy: String, setting: &'static str) {
    let child = tokio::task::spawn_blocking(move || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "http::proxy::call_in_child", "--ignored"]);
        command
            .env(URL, url)
            .env(PROXY, setting)
            .env_remove("NO_PROXY")
            .env_remove("no_proxy");
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env(name, &proxy).env(name.to_lowercase(), &proxy);
        }
        command.output().unwrap()
    });
    let output = child.await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[tokio::test]
async fn ignores_the_environment_by_default() {
    let (server, proxy) = (
        RawServer::answering(whole("200 OK", "one END")).await,
        RawServer::answering("").await,
    );
    call_in_process(server.url(), proxy.origin(), "none").await;
    assert_eq!((server.connections(), proxy.connections()), (1, 0));
}

#[tokio::test]
async fn uses_the_environment_if_configured() {
    let (server, proxy) = (
        RawServer::answering("").await,
        RawServer::answering(whole("200 OK", "one END")).await,
    );
    call_in_process(server.url(), proxy.origin(), "environment").await;
    assert_eq!((server.connections(), proxy.connections()), (0, 1));
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
    let options = HttpOptions::new("http://model.example/v1").with_proxy(Proxy::parse(&address).unwrap());
    let (text, end) = read(provider(options).open(hello())).await;
    end.unwrap();
    assert_eq!(
        text, "post http://model.example/v1/lines http/1.1 basic bwu6c2vjcmv0 END",
        "base64 in lower case"
    );
}
