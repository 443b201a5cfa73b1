//! Servers without a list of models.

use agcore_llm::ProviderConfig;

use super::raw_server::{RawServer, whole};

async fn config(status: &str, body: &str) -> (RawServer, ProviderConfig) {
    let server = RawServer::answering(whole(status, body)).await;
    let config = ProviderConfig::new("compatible".parse().unwrap(), "small")
        .with_base_url(server.url())
        .with_http_client(crate::http_client());
    (server, config)
}

#[tokio::test]
async fn a_server_without_a_list_is_no_error() {
    for (status, body) in [
        ("404 Not Found", r#"{"error": {"message": "no such path"}}"#),
        ("405 Method Not Allowed", "Method Not Allowed"),
        ("501 Not Implemented", r#"{"error": {"message": "not implemented"}}"#),
    ] {
        let (_server, config) = config(status, body).await;
        assert_eq!(config.list_models().await.unwrap(), None, "{status}");
    }
}

#[tokio::test]
async fn other_failures_and_empty_lists_are_what_they_are() {
    for status in [401, 403, 500, 503] {
        let (_server, config) = config(&format!("{status} X"), "it failed").await;
        let error = config.list_models().await.unwrap_err();
        assert_eq!((error.status(), error.provider()), (Some(status), Some("compatible")));
    }
    let (_server, config) = config("200 OK", r#"{"object": "list", "data": []}"#).await;
    assert_eq!(config.list_models().await.unwrap(), Some(Vec::new()));
}
