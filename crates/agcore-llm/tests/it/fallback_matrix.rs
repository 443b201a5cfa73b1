//! Ordinary parameters on pairs of vendors: a failure of one that passes is never made permanent by the other, which lacks
//! the parameter.

use std::{collections::BTreeMap, sync::Arc};

use agcore_chat::{ChatRequest, Message, Tool, ToolDefinition};
use agcore_llm::{
    LlmError, LlmErrorKind, LlmProvider, LlmProviderExt, ProviderConfig,
    layer::{
        retry::{Retry, RetryPolicy},
        router::{Route, Router},
    },
};
use agcore_testkit::{
    clock::ManualClock,
    mock_server::{ApiError, MockServer, Reply, Script},
};
use serde_json::json;

use crate::support::always;

/// The first and the second provider. Each pair is also tested in reverse.
const PAIRS: [[&str; 2]; 8] = [
    ["openai", "anthropic"],
    ["openai-responses", "anthropic"],
    ["openai", "deepseek"],
    ["mistral", "gemini"],
    ["groq", "ollama-native"],
    ["xai", "zhipu"],
    ["openai", "gemini-native"],
    ["anthropic", "bedrock"],
];

type Change = fn(&mut ChatRequest);

/// The parameters, and whether they only tune the reply.
const PARAMETERS: [(&str, bool, Change); 15] = [
    ("seed", true, |request| request.seed = Some(1)),
    ("prompt_cache_key", true, |request| {
        request.prompt_cache_key = Some("conversation".into());
    }),
    ("frequency_penalty", true, |request| {
        request.frequency_penalty = Some(0.5);
    }),
    ("presence_penalty", true, |request| request.presence_penalty = Some(0.5)),
    ("temperature", true, |request| request.temperature = Some(1.3)),
    ("verbosity", true, |request| request.verbosity = Some("low".into())),
    ("reasoning_effort", true, |request| {
        request.reasoning_effort = Some("minimal".into());
    }),
    ("store", true, |request| request.store = Some(true)),
    ("metadata", true, |request| {
        request.metadata = Some(BTreeMap::from([("run".to_owned(), "7".to_owned())]));
    }),
    ("name", true, |request| {
        let message = json!({"role": "user", "content": "Hello", "name": "ada"});
        request.messages = vec![Arc::new(serde_json::from_value(message).unwrap())].into();
    }),
    ("service_tier", true, |request| {
        request.service_tier = Some("flex".into());
    }),
    ("logit_bias", false, |request| {
        request.logit_bias = Some(BTreeMap::from([("50256".to_owned(), -100.0)]));
    }),
    ("top_logprobs", false, |request| {
        (request.logprobs, request.top_logprobs) = (Some(true), Some(2));
    }),
    ("n", false, |request| request.n = Some(2)),
    ("parallel_tool_calls", false, |request| {
        let tool = ToolDefinition::new(
            "clock",
            "Returns the time.",
            json!({"type": "object", "properties": {}}),
        );
        request.tools = Arc::from([Tool::from(tool)]);
        request.parallel_tool_calls = Some(false);
    }),
];

/// Returns the provider of a type on this server, without a retry.
fn connect(provider_type: &str, server: &MockServer) -> Arc<dyn LlmProvider> {
    let url = match provider_type {
        "ollama-native" => format!("{}/api", server.root_url()),
        "gemini-native" | "bedrock" => server.root_url(),
        _ => server.base_url(),
    };
    let config = ProviderConfig::parse(&format!("{provider_type}:some-model")).unwrap();
    config.with_base_url(url).build().unwrap()
}

async fn server(replies: impl IntoIterator<Item = Reply>) -> MockServer {
    MockServer::start(Script::new(replies)).await.unwrap()
}

fn overloaded() -> Reply {
    Reply::error(ApiError::new(503))
}

/// The two providers of a pair on their servers, as routes.
struct Pair {
    servers: [MockServer; 2],
    names: [&'static str; 2],
}

impl Pair {
    /// The first provider answers as scripted, the second one always.
    async fn start(names: [&'static str; 2], first: impl IntoIterator<Item = Reply>) -> Self {
        let second = MockServer::start(Script::new([Reply::text("second")]).repeating());
        let servers = [server(first).await, second.await.unwrap()];
        Self { servers, names }
    }

    fn router(&self, adapted: bool) -> Router {
        let mut router = Router::builder(Arc::new(ManualClock::new()), always(0.5)).with_adapted_requests(adapted);
        for (at, name) in self.names.iter().enumerate() {
            let route = Route::new(format!("{at} {name}"), connect(name, &self.servers[at]));
            router = router.with_route(route);
        }
        router.build().unwrap()
    }
}

fn request(change: Change) -> ChatRequest {
    let mut request = ChatRequest::new([Message::user("Hello")]);
    change(&mut request);
    request
}

async fn text(provider: &impl LlmProvider, change: Change) -> Result<String, LlmError> {
    let response = provider.chat(request(change)).await?;
    Ok(response.text().into_owned())
}

/// All pairs in both orders, with all parameters.
fn cases() -> impl Iterator<Item = ([&'static str; 2], &'static (&'static str, bool, Change))> {
    let pairs = PAIRS.iter().flat_map(|[one, other]| [[*one, *other], [*other, *one]]);
    pairs.flat_map(|pair| PARAMETERS.iter().map(move |parameter| (pair, parameter)))
}

/// Returns whether a vendor's API lacks the parameter.
async fn lacks(name: &str, change: Change) -> bool {
    let server = server([Reply::text("alone")]).await;
    match text(&connect(name, &server), change).await {
        Ok(_) => false,
        Err(error) => {
            assert!(error.is_unsupported(), "{name}: {error}");
            assert!(server.requests().is_empty(), "{name}: a refused request is not sent");
            true
        }
    }
}

#[tokio::test]
async fn an_overloaded_first_provider_never_ends_in_a_permanent_error() {
    let mut lacking = 0;
    for (names, (parameter, _, change)) in cases() {
        let case = format!("{} -> {}: {parameter}", names[0], names[1]);
        let first_lacks = lacks(names[0], *change).await;
        let second_lacks = lacks(names[1], *change).await;
        lacking += usize::from(second_lacks);

        let pair = Pair::start(names, [overloaded()]).await;
        match text(&pair.router(false), *change).await {
            Ok(answer) => assert!(answer == "second" && !second_lacks, "{case}"),
            Err(error) if first_lacks && second_lacks => assert!(error.is_unsupported(), "{case}: {error}"),
            Err(error) => {
                assert!(second_lacks, "{case}: {error}");
                assert_eq!(error.kind(), LlmErrorKind::Overloaded, "{case}: {error}");
                assert!(error.is_retryable(), "{case}: {error}");
            }
        }

        // With a retry, the call is answered as soon as any provider that has the parameter is available.
        let pair = Pair::start(names, [overloaded(), Reply::text("first")]).await;
        let clock = Arc::new(ManualClock::jumping());
        let provider = Retry::new(pair.router(false), RetryPolicy::new(), clock, always(0.5));
        let answer = text(&provider, *change).await;
        match (first_lacks, second_lacks) {
            (true, true) => assert!(answer.unwrap_err().is_unsupported(), "{case}"),
            (false, true) => assert_eq!(answer.unwrap(), "first", "{case}"),
            (_, false) => assert_eq!(answer.unwrap(), "second", "{case}"),
        }
    }
    assert!(
        lacking > 60,
        "only {lacking} cases have a spare provider that lacks the parameter"
    );
}

#[tokio::test]
async fn a_parameter_that_the_first_provider_lacks_goes_to_the_second() {
    for (names, (parameter, _, change)) in cases() {
        let case = format!("{} -> {}: {parameter}", names[0], names[1]);
        let pair = Pair::start(names, [Reply::text("first")]).await;
        let answer = text(&pair.router(false), *change).await;
        match (lacks(names[0], *change).await, lacks(names[1], *change).await) {
            (false, _) => assert_eq!(answer.unwrap(), "first", "{case}"),
            (true, false) => assert_eq!(answer.unwrap(), "second", "{case}"),
            (true, true) => assert!(answer.unwrap_err().is_unsupported(), "{case}"),
        }
    }
}

#[tokio::test]
async fn adapted_requests_are_answered_by_the_spare_provider_at_once() {
    for (names, (parameter, only_tunes, change)) in cases() {
        let case = format!("{} -> {}: {parameter}", names[0], names[1]);
        let pair = Pair::start(names, [overloaded()]).await;
        match text(&pair.router(true), *change).await {
            Ok(answer) => assert_eq!(answer, "second", "{case}"),
            Err(error) => {
                assert!(!only_tunes, "{case}: {error}");
                assert!(
                    error.is_retryable() || lacks(names[0], *change).await,
                    "{case}: {error}"
                );
            }
        }
        let spare = pair.servers[1].requests().len();
        assert!(spare <= 1, "{case}: {spare} requests to the spare provider");
    }
}
