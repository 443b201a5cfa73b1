//! The request id and the useful headers of replies that succeed.

use agcore_chat::{ChatRequest, Message};
use agcore_llm::{Call, LlmProviderExt, ProviderConfig, ProviderType};
use agcore_testkit::mock_server::{MockServer, Reply, Script};

#[tokio::test]
async fn a_response_has_the_request_id_and_useful_headers() {
    for provider_type in ProviderType::all() {
        for stream in [false, true] {
            let reply = Reply::text("Good day.")
                .with_header("x-request-id", "req-7")
                .with_header("x-ratelimit-remaining-tokens", "149984")
                .with_header("x-powered-by", "curiosity");
            let server = MockServer::start(Script::new([reply])).await.unwrap();
            let url = match provider_type.name() {
                "ollama-native" => format!("{}/api", server.root_url()),
                "gemini-native" | "bedrock" => server.root_url(),
                _ => server.base_url(),
            };
            let config = ProviderConfig::new(provider_type.clone(), "small").with_base_url(url);
            let call = Call::new(ChatRequest::new([Message::user("Hello")])).with_stream(stream);
            let response = config.build().unwrap().chat_call(call).await.unwrap();
            let metadata = response.metadata.as_ref().unwrap();
            let case = format!("{provider_type}, stream: {stream}");
            assert_eq!(metadata.request_id(), Some("req-7"), "{case}");
            assert_eq!(
                metadata.header("x-ratelimit-remaining-tokens"),
                Some("149984"),
                "{case}"
            );
            assert_eq!(metadata.header("x-powered-by"), None, "{case}");
            assert_eq!(response.text(), "Good day.");
        }
    }
}
