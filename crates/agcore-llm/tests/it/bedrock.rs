//! Providers of Amazon Bedrock: regions, API keys and signed requests.

use agcore_chat::{ChatRequest, Message};
use agcore_llm::{
    Call, LlmErrorKind, LlmProviderExt, ProviderConfig,
    credential::{AwsKeys, AwsSigner, Credential},
};
use agcore_testkit::mock_server::{Answer, ApiError, Chunking, MockOptions, MockServer, Reply, Script};

const MODEL: &str = "bedrock:us.anthropic.claude-sonnet-4-6-v1:0";
const TOKEN: &str = "session-token-of-the-test";

fn request() -> ChatRequest {
    ChatRequest::new([Message::user("Hi")])
}

fn signer() -> Credential {
    let keys = AwsKeys::new("AKIDEXAMPLE", "secret-of-the-test").with_session_token(TOKEN);
    Credential::signer(AwsSigner::new(keys, "eu-central-1"))
}

fn config(server: &MockServer) -> ProviderConfig {
    ProviderConfig::parse(MODEL).unwrap().with_base_url(server.root_url())
}

#[tokio::test]
async fn an_api_key_is_a_bearer_token_and_the_model_a_segment_of_the_path() {
    let options = MockOptions::new().with_key("bedrock-api-key-1");
    let server = MockServer::start_with(options, Script::new([Reply::text("Hello")]))
        .await
        .unwrap();
    let provider = config(&server).with_api_key("bedrock-api-key-1").build().unwrap();
    let response = provider.chat(request()).await.unwrap();
    assert_eq!(response.text(), "Hello");
    assert_eq!(response.id.as_deref(), Some("req_mock0"));
    let sent = &server.requests()[0];
    assert_eq!(sent.path(), "/model/us.anthropic.claude-sonnet-4-6-v1%3A0/converse");
    assert_eq!(sent.prompt().model, "us.anthropic.claude-sonnet-4-6-v1:0");
    assert_eq!(sent.header("authorization"), Some("Bearer bedrock-api-key-1"));
    assert_eq!(sent.header("x-amz-date"), None);
}

#[tokio::test]
async fn requests_are_signed_with_the_keys_of_an_account() {
    let server = MockServer::start(Script::new([Reply::text("Hello"), Reply::text("Hello")]))
        .await
        .unwrap();
    let provider = config(&server).with_credential(signer()).build().unwrap();
    assert_eq!(provider.chat(request()).await.unwrap().text(), "Hello");
    let streamed = provider
        .chat_call(Call::new(request()).with_stream(true))
        .await
        .unwrap();
    assert_eq!(streamed.text(), "Hello");
    for sent in server.requests() {
        let authorization = sent.header("authorization").unwrap();
        assert!(
            authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"),
            "{authorization}"
        );
        assert!(
            authorization
                .contains("/eu-central-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token, "),
            "{authorization}"
        );
        assert_eq!(sent.header("x-amz-security-token"), Some(TOKEN));
        assert!(
            sent.header("x-amz-date")
                .is_some_and(|time| time.len() == 16 && time.ends_with('Z'))
        );
    }
}

/// The server quotes the signed headers, and so the session token, when it refuses a signature.
#[tokio::test]
async fn a_refused_signature_is_explained_without_the_session_token() {
    let words = format!(
        "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key.\n\n\
         The Canonical String for this request should have been\n'POST\nx-amz-security-token:{TOKEN}'"
    );
    let clock = "Signature expired: 20261130T120000Z is now earlier than 20261130T120500Z (20261130T121000Z - 5 min.)";
    let refused = |words: &str| {
        Reply::error(
            ApiError::new(403)
                .with_kind("InvalidSignatureException")
                .with_message(words),
        )
    };
    let server = MockServer::start(Script::new([refused(&words), refused(clock)]))
        .await
        .unwrap();
    let provider = config(&server).with_credential(signer()).build().unwrap();
    let error = provider.chat(request()).await.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Authentication);
    assert!(error.message().contains("check the secret access key"), "{error}");
    let all = format!("{error:#?} {} {:?}", error.chain(), error.body_excerpt());
    assert!(!all.contains(TOKEN) && !all.contains("secret-of-the-test"), "{all}");
    let error = provider.chat(request()).await.unwrap_err();
    assert!(
        error.message().contains("the clock of this machine is wrong"),
        "{error}"
    );
    assert!(!error.is_retryable());
}

#[test]
fn a_region_is_needed_and_becomes_the_host() {
    let build = |config: ProviderConfig| config.with_api_key("bedrock-api-key-1").build();
    let error = build(ProviderConfig::parse(MODEL).unwrap()).unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
    assert!(
        error.message().contains("need a region") && error.message().contains("AWS_REGION"),
        "{error}"
    );
    assert!(build(ProviderConfig::parse(MODEL).unwrap().with_region("eu-central-1")).is_ok());
    assert!(build(ProviderConfig::parse(MODEL).unwrap().with_region("cn-north-1")).is_ok());
    let arn = "bedrock:arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc";
    assert!(build(ProviderConfig::parse(arn).unwrap()).is_ok());
    for wrong in ["evil.example/", "eu central", "EU-CENTRAL-1", "a@b", "é"] {
        let error = build(ProviderConfig::parse(MODEL).unwrap().with_region(wrong)).unwrap_err();
        assert!(error.message().contains("is not a region"), "{error}");
    }
    let read: ProviderConfig = serde_json::from_str(
        r#"{"type": "amazon-bedrock", "model": "amazon.nova-lite-v1:0", "region": "us-east-1", "api_key": "bedrock-api-key-1"}"#,
    )
    .unwrap();
    assert_eq!(read.region(), Some("us-east-1"));
    assert!(read.build().is_ok());
    let error = ProviderConfig::parse(MODEL)
        .unwrap()
        .with_region("eu-central-1")
        .build()
        .unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Authentication);
    assert!(
        error.message().contains("AWS_BEARER_TOKEN_BEDROCK, or sign requests"),
        "{error}"
    );
}

#[tokio::test]
async fn there_is_no_list_of_models() {
    let server = MockServer::start(Script::new([])).await.unwrap();
    assert_eq!(config(&server).list_models().await.unwrap(), None);
    assert!(server.requests().is_empty(), "nothing is sent");
}

/// Signed reasoning goes back byte for byte in the two turns after it.
#[tokio::test]
async fn a_signed_reply_is_sent_back_unchanged() {
    let signed = Answer::new()
        .with_signed_reasoning("Let me think.", "c2lnbmF0dXJl+/==")
        .with_text("Four.");
    let replies = [
        Reply::answer(signed).with_chunking(Chunking::Chars(3)),
        Reply::text("Five."),
        Reply::text("Six."),
    ];
    let server = MockServer::start(Script::new(replies)).await.unwrap();
    let provider = config(&server).build().unwrap();
    let mut history = vec![Message::user("2 + 2?")];
    for next in ["And one more?", "And one more?", ""] {
        let request = ChatRequest::new(history.clone());
        let response = provider.chat_call(Call::new(request).with_stream(true)).await.unwrap();
        history.extend([response.message().unwrap().clone().into(), Message::user(next)]);
    }
    let expected = serde_json::json!([
        {"reasoningContent": {"reasoningText": {"text": "Let me think.", "signature": "c2lnbmF0dXJl+/=="}}},
        {"text": "Four."},
    ]);
    for sent in &server.requests()[1..] {
        let mut content = sent.json()["messages"][1]["content"].clone();
        content
            .as_array_mut()
            .unwrap()
            .retain(|block| block["cachePoint"].is_null());
        assert_eq!(content, expected);
    }
}
