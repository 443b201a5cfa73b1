//! Every API that the libraries speak, through the command line.

use agcore_testkit::mock_server::{Api, MockOptions, Playground, RecordedRequest, Reply};
use serde_json::{Value, json};

use crate::support::{Agcore, KEY, Server};

/// An API as the command line knows it.
struct Spoken {
    provider: &'static str,
    dialect: &'static str,
    api: Api,
    /// Where the key stands; none where none is sent.
    key: Option<(&'static str, &'static str)>,
}

const ALL: [Spoken; 4] = [
    Spoken {
        provider: "openai",
        dialect: "openai-chat",
        api: Api::OpenAiChat,
        key: Some(("OPENAI_API_KEY", "authorization")),
    },
    Spoken {
        provider: "openai-responses",
        dialect: "openai-responses",
        api: Api::OpenAiResponses,
        key: Some(("OPENAI_API_KEY", "authorization")),
    },
    Spoken {
        provider: "anthropic",
        dialect: "anthropic",
        api: Api::Anthropic,
        key: Some(("ANTHROPIC_API_KEY", "x-api-key")),
    },
    Spoken {
        provider: "ollama-native",
        dialect: "ollama",
        api: Api::Ollama,
        key: None,
    },
];

impl Spoken {
    /// The program with the key and the address of a server of this API.
    fn agcore(&self, server: &Server) -> Agcore {
        let base_url = match self.api {
            Api::Ollama => server.root_url() + "/api",
            _ => server.base_url(),
        };
        let agcore = Agcore::new()
            .with("AGCORE_PROVIDER", self.provider)
            .with("AGCORE_BASE_URL", &base_url)
            .with("AGCORE_MODEL", "some-model");
        match self.key {
            Some((variable, _)) => agcore.with(variable, KEY),
            None => agcore,
        }
    }

    fn assert_asked(&self, request: &RecordedRequest) {
        assert_eq!(request.api(), self.api, "{}", request.path());
        self.assert_keyed(request);
    }

    fn assert_keyed(&self, request: &RecordedRequest) {
        if let Some((_, header)) = self.key {
            let sent = request.header(header).unwrap_or_default();
            assert!(sent.ends_with(KEY), "{header} of {}", self.provider);
        }
    }

    /// A whole answer of this API.
    fn whole(&self) -> Value {
        match self.api {
            Api::OpenAiChat => json!({
                "choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 1},
            }),
            Api::OpenAiResponses => json!({
                "id": "resp_1", "object": "response", "status": "completed", "model": "m",
                "output": [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": "Hello", "annotations": []}]}],
                "usage": {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4},
            }),
            Api::Anthropic => json!({
                "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
                "content": [{"type": "text", "text": "Hello"}],
                "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 1},
            }),
            Api::Ollama => json!({
                "model": "m", "created_at": "2024-01-01T00:00:00Z", "done": true, "done_reason": "stop",
                "message": {"role": "assistant", "content": "Hello"}, "prompt_eval_count": 3, "eval_count": 1,
            }),
            other => panic!("no answer of {other:?} is known"),
        }
    }
}

#[test]
fn a_streamed_chat_with_a_tool() {
    for spoken in ALL {
        let server = Server::playground();
        let ran = spoken.agcore(&server).run(["chat", "some arithmetic"]);
        let answer = ran.assert_done();
        assert!(
            answer.contains("**arithmetic** says: "),
            "{}: {answer}",
            spoken.provider
        );
        assert!(
            ran.stderr.contains("2 model calls"),
            "{}: {}",
            spoken.provider,
            ran.stderr
        );
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        for request in &requests {
            spoken.assert_asked(request);
            assert_eq!(request.json()["stream"], true);
            assert_eq!(request.json()["model"], "some-model");
        }
        assert_eq!(requests[1].prompt().results().len(), 1, "{}", spoken.provider);
    }
}

#[test]
fn a_server_that_does_not_stream_is_understood_too() {
    for spoken in ALL {
        let whole = spoken.whole();
        let server = Server::start(MockOptions::new(), move |_: &RecordedRequest| Reply::json(200, &whole));
        let ran = spoken.agcore(&server).run(["chat", "hi"]);
        assert_eq!(ran.assert_done(), "Hello\n", "{}", spoken.provider);
        assert!(ran.stderr.contains("3 tokens in, 1 out"), "{}", ran.stderr);
    }
}

#[test]
fn models_are_listed() {
    for spoken in ALL {
        let options = MockOptions::new().with_models(["big-1", "small-1"]);
        let server = Server::start(options, Playground::new());
        let agcore = spoken.agcore(&server);
        let ran = agcore.run(["models", "--json"]);
        let models: Value = serde_json::from_str(ran.assert_done()).unwrap();
        let names: Vec<_> = models.as_array().unwrap().iter().map(|model| &model["id"]).collect();
        assert_eq!(names, ["big-1", "small-1"], "{}", spoken.provider);
        let asked = &server.requests()[0];
        let path = if spoken.api == Api::Ollama {
            "/api/tags"
        } else {
            "/v1/models"
        };
        assert_eq!(asked.path(), path);
        spoken.assert_keyed(asked);
        let ran = agcore.run(["doctor"]);
        assert!(ran.assert_done().contains("answers; models: 2"), "{}", ran.stdout);
    }
}

#[test]
fn a_key_that_is_missing_is_asked_for_by_its_name() {
    for spoken in ALL {
        let ran = Agcore::new().run(["chat", "hi", "--model", "m", "--provider", spoken.provider]);
        match spoken.key {
            Some((variable, _)) => {
                ran.assert_failed(3, &["there is no API key", variable]);
            }
            // One's own server needs none; whether one runs here is not ours to say.
            None => assert_ne!(ran.code(), Some(3), "{}", ran.stderr),
        }
    }
}

#[test]
fn what_answers_with_a_page_is_told_the_path_of_its_api() {
    let paths = ["/chat/completions", "/responses", "/messages", "/chat"];
    for (spoken, path) in ALL.iter().zip(paths) {
        let page = |_: &RecordedRequest| Reply::html(200, "<html><title>Welcome</title></html>");
        let server = Server::start(MockOptions::new(), page);
        let advice = format!("it is what stands before {path}.");
        spoken
            .agcore(&server)
            .run(["chat", "hi"])
            .assert_failed(1, &[advice.as_str()]);
    }
}

#[test]
fn variables_of_openai_are_for_both_of_its_apis_and_no_other() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).with("OPENAI_MODEL", "of-openai");
    agcore.run(["chat", "hi", "--provider", "responses"]).assert_done();
    let requests = server.requests();
    assert_eq!(requests[0].api(), Api::OpenAiResponses);
    assert_eq!(requests[0].json()["model"], "of-openai");
    agcore
        .run(["chat", "hi", "--provider", "anthropic"])
        .assert_failed(2, &["no model is set for anthropic"]);
}

#[test]
fn saved_answers_are_inspected() {
    for spoken in ALL {
        let body = spoken.whole().to_string();
        let case = json!({
            "id": "hello", "dialect": spoken.dialect, "quirk": "a plain answer",
            "http": {"status": 200, "headers": {"content-type": "application/json"}},
            "body": body, "splits": [7], "close": "clean",
        });
        let agcore = Agcore::new()
            .with_file("case.json", &case.to_string())
            .with_file("body.json", &body);
        let ran = agcore.run(["inspect", "case", "case.json"]);
        let result: Value = serde_json::from_str(ran.assert_done()).unwrap();
        assert_eq!(result["text"], "Hello", "{}", spoken.dialect);
        let ran = agcore.run(["inspect", "stream", "body.json", "--dialect", spoken.dialect]);
        let shown = ran.assert_done();
        assert!(shown.contains("text       Hello\n"), "{}: {shown}", spoken.dialect);
        assert!(shown.contains("usage      3 in, 1 out"), "{}: {shown}", spoken.dialect);
    }
}
