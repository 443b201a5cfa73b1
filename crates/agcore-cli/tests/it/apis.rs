//! Every supported API, used through the command line.

use agcore_demo::Playground;
use agcore_testkit::mock_server::{Api, MockOptions, RecordedRequest, Reply};
use serde_json::{Value, json};

use crate::support::{Agcore, KEY, Server};

/// An API and its settings.
struct ApiCase {
    provider: &'static str,
    dialect: &'static str,
    api: Api,
    /// The variable and the header of the key, or `None` if no key is sent.
    key: Option<(&'static str, &'static str)>,
}

const ALL: [ApiCase; 4] = [
    ApiCase {
        provider: "openai",
        dialect: "openai-chat",
        api: Api::OpenAiChat,
        key: Some(("OPENAI_API_KEY", "authorization")),
    },
    ApiCase {
        provider: "openai-responses",
        dialect: "openai-responses",
        api: Api::OpenAiResponses,
        key: Some(("OPENAI_API_KEY", "authorization")),
    },
    ApiCase {
        provider: "anthropic",
        dialect: "anthropic",
        api: Api::Anthropic,
        key: Some(("ANTHROPIC_API_KEY", "x-api-key")),
    },
    ApiCase {
        provider: "ollama-native",
        dialect: "ollama",
        api: Api::Ollama,
        key: None,
    },
];

impl ApiCase {
    /// Returns the program with the key and the address of a server for this API.
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

    fn assert_request(&self, request: &RecordedRequest) {
        assert_eq!(request.api(), self.api, "{}", request.path());
        self.assert_key(request);
    }

    fn assert_key(&self, request: &RecordedRequest) {
        if let Some((_, header)) = self.key {
            let sent = request.header(header).unwrap_or_default();
            assert!(sent.ends_with(KEY), "{header} of {}", self.provider);
        }
    }

    /// Returns a complete response of this API.
    fn complete_response(&self) -> Value {
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
            other => panic!("no response is defined for {other:?}"),
        }
    }
}

#[test]
fn a_streamed_chat_with_a_tool() {
    for case in ALL {
        let server = Server::playground();
        let ran = case.agcore(&server).run(["chat", "some arithmetic"]);
        let answer = ran.assert_success();
        assert!(
            answer.contains("**arithmetic** returned: "),
            "{}: {answer}",
            case.provider
        );
        assert!(
            ran.stderr.contains("2 model calls"),
            "{}: {}",
            case.provider,
            ran.stderr
        );
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        for request in &requests {
            case.assert_request(request);
            assert_eq!(request.json()["stream"], true);
            assert_eq!(request.json()["model"], "some-model");
        }
        assert_eq!(requests[1].prompt().results().len(), 1, "{}", case.provider);
    }
}

#[test]
fn accepts_servers_that_do_not_stream() {
    for case in ALL {
        let whole = case.complete_response();
        let server = Server::start(MockOptions::new(), move |_: &RecordedRequest| Reply::json(200, &whole));
        let ran = case.agcore(&server).run(["chat", "hi"]);
        assert_eq!(ran.assert_success(), "Hello\n", "{}", case.provider);
        assert!(ran.stderr.contains("3 tokens in, 1 out"), "{}", ran.stderr);
    }
}

#[test]
fn lists_models() {
    for case in ALL {
        let options = MockOptions::new().with_models(["big-1", "small-1"]);
        let server = Server::start(options, Playground::new());
        let agcore = case.agcore(&server);
        let ran = agcore.run(["models", "--json"]);
        let models: Value = serde_json::from_str(ran.assert_success()).unwrap();
        let names: Vec<_> = models["models"]
            .as_array()
            .unwrap()
            .iter()
            .map(|model| &model["id"])
            .collect();
        assert_eq!(names, ["big-1", "small-1"], "{}", case.provider);
        let request = &server.requests()[0];
        let path = if case.api == Api::Ollama {
            "/api/tags"
        } else {
            "/v1/models"
        };
        assert_eq!(request.path(), path);
        case.assert_key(request);
        let ran = agcore.run(["doctor"]);
        assert!(
            ran.assert_success().contains("is reachable; models: 2"),
            "{}",
            ran.stdout
        );
    }
}

#[test]
fn a_missing_key_is_reported_with_its_variable() {
    for case in ALL {
        let arguments = ["chat", "hi", "--model", "m", "--provider", case.provider];
        match case.key {
            Some((variable, _)) => {
                Agcore::new()
                    .run(arguments)
                    .assert_failed(3, &["the API key is missing", variable]);
            }
            // A local server needs no key. One that may run on this machine is not asked.
            None => {
                let arguments = [&arguments[..], &["--base-url", "http://127.0.0.1:9/api"]].concat();
                Agcore::new().run(&arguments).assert_failed(4, &["connection refused"]);
            }
        }
    }
}

#[test]
fn advice_for_a_web_page_names_the_path_of_the_api() {
    let paths = ["/chat/completions", "/responses", "/messages", "/chat"];
    for (case, path) in ALL.iter().zip(paths) {
        let page = |_: &RecordedRequest| Reply::html(200, "<html><title>Welcome</title></html>");
        let server = Server::start(MockOptions::new(), page);
        let advice = format!("{path} is appended to it.");
        case.agcore(&server)
            .run(["chat", "hi"])
            .assert_failed(1, &[advice.as_str()]);
    }
}

#[test]
fn openai_variables_apply_to_both_openai_apis_only() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).with("OPENAI_MODEL", "of-openai");
    agcore.run(["chat", "hi", "--provider", "responses"]).assert_success();
    let requests = server.requests();
    assert_eq!(requests[0].api(), Api::OpenAiResponses);
    assert_eq!(requests[0].json()["model"], "of-openai");
    agcore
        .run(["chat", "hi", "--provider", "anthropic"])
        .assert_failed(2, &["no model is set for anthropic"]);
}

#[test]
fn inspects_saved_responses() {
    for case in ALL {
        let body = case.complete_response().to_string();
        let saved = json!({
            "id": "hello", "dialect": case.dialect, "quirk": "a plain answer",
            "http": {"status": 200, "headers": {"content-type": "application/json"}},
            "body": body, "splits": [7], "close": "clean",
        });
        let agcore = Agcore::new()
            .with_file("case.json", &saved.to_string())
            .with_file("body.json", &body);
        let ran = agcore.run(["inspect", "case", "case.json"]);
        let result: Value = serde_json::from_str(ran.assert_success()).unwrap();
        assert_eq!(result["text"], "Hello", "{}", case.dialect);
        let ran = agcore.run(["inspect", "stream", "body.json", "--dialect", case.dialect]);
        let shown = ran.assert_success();
        assert!(shown.contains("text       Hello\n"), "{}: {shown}", case.dialect);
        assert!(shown.contains("usage      3 in, 1 out"), "{}: {shown}", case.dialect);
    }
}

/// Returns the program with the address of a server for Bedrock, in an empty home directory.
fn bedrock(server: &Server) -> Agcore {
    Agcore::new().at_home().with("AGCORE_BASE_URL", &server.root_url())
}

const CHAT_WITH_BEDROCK: [&str; 4] = ["chat", "some arithmetic", "-m", "bedrock:us.amazon.nova-lite-v1:0"];

#[test]
fn bedrock_is_asked_with_an_api_key() {
    let server = Server::playground();
    let agcore = bedrock(&server)
        .with("AWS_BEARER_TOKEN_BEDROCK", KEY)
        .with("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
    let ran = agcore.run(CHAT_WITH_BEDROCK);
    assert!(
        ran.assert_success().contains("**arithmetic** returned: "),
        "{}",
        ran.stdout
    );
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        assert_eq!(request.path(), "/model/us.amazon.nova-lite-v1%3A0/converse-stream");
        assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    }
}

#[test]
fn bedrock_is_asked_with_the_keys_of_an_account() {
    let server = Server::playground();
    let scope = |request: &RecordedRequest| {
        let authorization = request.header("authorization").unwrap().to_owned();
        let credential = authorization.strip_prefix("AWS4-HMAC-SHA256 Credential=").unwrap();
        let mut parts = credential.split('/');
        (parts.next().unwrap().to_owned(), parts.nth(1).unwrap().to_owned())
    };
    let of_variables = bedrock(&server)
        .with("AWS_ACCESS_KEY_ID", "AKIDVARIABLE")
        .with("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")
        .with("AWS_SESSION_TOKEN", "token-of-the-test")
        .with("AWS_REGION", "eu-central-1");
    let ran = of_variables.run(CHAT_WITH_BEDROCK);
    ran.assert_success();
    assert!(!ran.stderr.contains("of-the-test"), "{}", ran.stderr);
    let sent = server.requests().pop().unwrap();
    assert_eq!(scope(&sent), ("AKIDVARIABLE".to_owned(), "eu-central-1".to_owned()));
    assert_eq!(sent.header("x-amz-security-token"), Some("token-of-the-test"));

    let of_profile = bedrock(&server).with("AWS_PROFILE", "work");
    let folder = of_profile.home.path().join(".aws");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config"), "[profile work]\nregion = eu-west-3\n").unwrap();
    let keys = "[work]\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = secret-of-the-test\n";
    std::fs::write(folder.join("credentials"), keys).unwrap();
    of_profile.run(CHAT_WITH_BEDROCK).assert_success();
    let sent = server.requests().pop().unwrap();
    assert_eq!(scope(&sent), ("AKIDPROFILE".to_owned(), "eu-west-3".to_owned()));
    assert_eq!(sent.header("x-amz-security-token"), None);
}

#[test]
fn what_bedrock_lacks_is_reported() {
    let home = || Agcore::new().at_home();
    home()
        .run(CHAT_WITH_BEDROCK)
        .assert_failed(3, &["the API key is missing", "AWS_BEARER_TOKEN_BEDROCK"]);
    home()
        .with("AWS_BEARER_TOKEN_BEDROCK", KEY)
        .run(CHAT_WITH_BEDROCK)
        .assert_failed(2, &["need a region", "AWS_REGION"]);
    home()
        .with("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        .run(CHAT_WITH_BEDROCK)
        .assert_failed(3, &["AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY"]);
    home()
        .with("AWS_PROFILE", "missing")
        .run(CHAT_WITH_BEDROCK)
        .assert_failed(3, &["there is no AWS profile `missing`"]);
    let of_sign_on = home().with("AWS_PROFILE", "work");
    let folder = of_sign_on.home.path().join(".aws");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config"), "[profile work]\nsso_session = mine\n").unwrap();
    of_sign_on.run(CHAT_WITH_BEDROCK).assert_failed(
        3,
        &["single sign-on", "aws configure export-credentials --profile work"],
    );
}
