//! Other users do not find what belongs to a user: a walk over all operations of the document.

mod administrators;

use std::{collections::BTreeSet, sync::Arc};

use agcore_chat::{Actor, SystemClock};
use agcore_files::LocalStorage;
use agcore_openai::{CallId, ResponseId};
use agcore_schedule::InMemorySchedules;
use agcore_server::{WebhookMessage, WebhookSender};
use agcore_session::quota::{InMemoryQuotas, QuotaDefaults};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_webhook::{Attempt, InMemoryWebhooks};
use async_trait::async_trait;
use http::Method;
use serde_json::{Value, json};

use crate::{
    admin::with_administrators,
    support::{Answer, Running, builder, call, input, store},
    tenants::{bearer, tokens},
};

/// The threads of Ann: with a run that is over, with one that waits for a person, and with one that is active.
const THREADS: [&str; 3] = ["done", "asking", "live"];

/// The placeholders of ids in the requests of the walk.
const NAMES: [&str; 8] = ["{t}", "{q}", "{f}", "{s}", "{w}", "{d}", "{r}", "{c}"];

/// The way in which an operation is tried with ids of another user.
enum Case {
    /// Requests that name a thread `{t}`, a question `{q}`, a file `{f}`, a schedule `{s}`, a webhook `{w}` or a message to
    /// it `{d}`, a response of OpenAI `{r}`, or
    /// a call of one `{c}`, each with a body.
    Ids(&'static [(&'static str, Option<&'static str>)]),
    /// The same, for operations that create a thread if no user has one with this id.
    Starts(&'static [(&'static str, Option<&'static str>)]),
    /// Requests without ids, whose answers contain nothing of others.
    Lists(&'static str, Option<&'static str>),
    /// Requests of administrators, with `acme` as the tenant. Users are refused.
    Administers(&'static str, Option<&'static str>),
}

/// A request with placeholders of ids.
#[derive(Clone, Copy)]
struct Request {
    method: &'static str,
    path: &'static str,
    body: Option<&'static str>,
    /// Whether it creates a thread if none has this id.
    creates: bool,
    /// Whether it is one of administrators.
    administers: bool,
}

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const ANSWER: &str = r#"{"answers":[{"interruptId":"{q}","status":"resolved","payload":true}]}"#;
const SAME: &str = r#"{"threadId":"{t}","runId":"r1","messages":[{"id":"r1-m","role":"user","content":"Hello"}]}"#;
const OTHER: &str = r#"{"threadId":"{t}","runId":"r1","messages":[{"id":"x","role":"user","content":"Is it this?"}]}"#;
const NEW: &str = r#"{"threadId":"{t}","runId":"r7","messages":[{"id":"x","role":"user","content":"Hello"}]}"#;
const RESUME: &str = r#"{"threadId":"{t}","runId":"r9","messages":[],"resume":[{"interruptId":"{q}","status":"resolved","payload":true}]}"#;
const RESUME_SAME: &str = r#"{"threadId":"{t}","runId":"r1","messages":[],"resume":[{"interruptId":"{q}","status":"resolved","payload":true}]}"#;
const SCHEDULED: &str = r#"{"timing":{"cron":"0 9 * * *"},"input":{"messages":[{"id":"x","role":"user","content":"Hello"}],"forwardedProps":{"files":["{f}"]}}}"#;
const HOOK: &str = r#"{"url":"https://example.com/other"}"#;
const FILE: &str = r#"{"threadId":"new-{f}","runId":"r1","messages":[{"id":"x","role":"user","content":"Hello"}],"forwardedProps":{"files":["{f}"]}}"#;

const CHAT: &str = r#"{"model":"ada","messages":[{"role":"user","content":"Hello"}],"metadata":{"thread_id":"{t}"}}"#;
const PREVIOUS: &str = r#"{"model":"ada","input":"Hello","previous_response_id":"{r}"}"#;
const OUTPUT: &str = r#"{"model":"ada","input":[{"type":"function_call_output","call_id":"{c}","output":"x"}]}"#;
const RESULT: &str = r#"{"model":"ada","messages":[{"role":"tool","tool_call_id":"{c}","content":"x"}]}"#;

const UI: &str = r#"{"id":"{t}","messages":[{"id":"x","role":"user","parts":[{"type":"text","text":"Hello"}]}]}"#;

/// One of the threads of Ann.
const ASKING: &str = r#"{"threadId":"asking","runId":"r1","messages":[]}"#;

/// The bodies that create a thread if no user has one with the id.
const CREATING: [&str; 5] = [SAME, OTHER, NEW, CHAT, UI];

/// Returns how an operation is tried; `None` if it is not known here, which fails the test.
fn case(operation: &str) -> Option<Case> {
    Some(match operation {
        "POST /api/v1/agent/run" => Case::Starts(&[
            ("/api/v1/agent/run", Some(SAME)),
            ("/api/v1/agent/run", Some(OTHER)),
            ("/api/v1/agent/run", Some(NEW)),
            ("/api/v1/agent/run", Some(RESUME)),
            ("/api/v1/agent/run", Some(RESUME_SAME)),
            ("/api/v1/agent/run", Some(FILE)),
        ]),
        "POST /api/v1/agent/agents/{name}/run" => Case::Starts(&[
            ("/api/v1/agent/agents/ada/run", Some(SAME)),
            ("/api/v1/agent/agents/ada/run", Some(OTHER)),
            ("/api/v1/agent/agents/ada/run", Some(NEW)),
            ("/api/v1/agent/agents/ada/run", Some(RESUME)),
            ("/api/v1/agent/agents/ada/run", Some(RESUME_SAME)),
        ]),
        "POST /api/v1/agent/runs/{thread}" => Case::Starts(&[
            ("/api/v1/agent/runs/{t}", Some(SAME)),
            ("/api/v1/agent/runs/{t}", Some(OTHER)),
            ("/api/v1/agent/runs/{t}", Some(NEW)),
            ("/api/v1/agent/runs/{t}", Some(RESUME)),
            ("/api/v1/agent/runs/{t}", Some(RESUME_SAME)),
        ]),
        "GET /api/v1/agent/runs/{thread}/events" => Case::Ids(&[
            ("/api/v1/agent/runs/{t}/events?runId=r1", None),
            ("/api/v1/agent/runs/{t}/events?runId=nothing", None),
        ]),
        "POST /api/v1/agent/runs/{thread}/{run}/cancel" => Case::Ids(&[
            ("/api/v1/agent/runs/{t}/r1/cancel", Some("{}")),
            ("/api/v1/agent/runs/{t}/nothing/cancel", Some("{}")),
        ]),
        "POST /api/v1/agent/runs/{thread}/{run}/answers" => Case::Ids(&[
            ("/api/v1/agent/runs/{t}/r1/answers", Some(ANSWER)),
            ("/api/v1/agent/runs/{t}/r1/answers", Some(r#"{"answers":[]}"#)),
        ]),
        "GET /api/v1/agent/history" => Case::Ids(&[("/api/v1/agent/history?threadId={t}", None)]),
        "GET /api/v1/agent/sessions" => Case::Lists("/api/v1/agent/sessions", None),
        "GET /api/v1/agent/sessions/{thread}" => Case::Ids(&[("/api/v1/agent/sessions/{t}", None)]),
        "PATCH /api/v1/agent/sessions/{thread}" => {
            Case::Ids(&[("/api/v1/agent/sessions/{t}", Some(r#"{"title":"Mine"}"#))])
        }
        "DELETE /api/v1/agent/sessions/{thread}" => Case::Ids(&[("/api/v1/agent/sessions/{t}", None)]),
        "POST /api/v1/agent/sessions/{thread}/branches" => Case::Ids(&[
            ("/api/v1/agent/sessions/{t}/branches", Some("{}")),
            ("/api/v1/agent/sessions/{t}/branches", Some(r#"{"after":"nothing"}"#)),
        ]),
        "GET /api/v1/agent/sessions/{thread}/state" => Case::Ids(&[("/api/v1/agent/sessions/{t}/state", None)]),
        "PATCH /api/v1/agent/sessions/{thread}/state" => {
            Case::Ids(&[("/api/v1/agent/sessions/{t}/state", Some(r#"{"version":0,"state":1}"#))])
        }
        "POST /api/v1/agent/files" => Case::Lists("/api/v1/agent/files?name=x.txt", Some("{}")),
        "GET /api/v1/agent/files" => Case::Lists("/api/v1/agent/files", None),
        "DELETE /api/v1/agent/files/{file}" => Case::Ids(&[("/api/v1/agent/files/{f}", None)]),
        "GET /api/v1/agent/schedules" => Case::Lists("/api/v1/agent/schedules", None),
        "POST /api/v1/agent/schedules" => Case::Ids(&[("/api/v1/agent/schedules", Some(SCHEDULED))]),
        "GET /api/v1/agent/schedules/{schedule}" => Case::Ids(&[("/api/v1/agent/schedules/{s}", None)]),
        "PATCH /api/v1/agent/schedules/{schedule}" => {
            Case::Ids(&[("/api/v1/agent/schedules/{s}", Some(r#"{"paused":true}"#))])
        }
        "DELETE /api/v1/agent/schedules/{schedule}" => Case::Ids(&[("/api/v1/agent/schedules/{s}", None)]),
        "POST /api/v1/agent/schedules/{schedule}/run" => Case::Ids(&[("/api/v1/agent/schedules/{s}/run", Some("{}"))]),
        "GET /api/v1/agent/schedules/{schedule}/occurrences" => {
            Case::Ids(&[("/api/v1/agent/schedules/{s}/occurrences", None)])
        }
        _ => {
            return webhook_case(operation)
                .or_else(|| openai_case(operation))
                .or_else(|| report_case(operation))
                .or_else(|| administrators::case(operation));
        }
    })
}

fn openai_case(operation: &str) -> Option<Case> {
    Some(match operation {
        "POST /v1/chat/completions" => Case::Starts(&[
            ("/v1/chat/completions", Some(CHAT)),
            ("/v1/chat/completions", Some(RESULT)),
        ]),
        "POST /v1/responses" => Case::Ids(&[("/v1/responses", Some(PREVIOUS)), ("/v1/responses", Some(OUTPUT))]),
        "GET /v1/responses/{response}" => Case::Ids(&[("/v1/responses/{r}", None)]),
        "POST /v1/responses/{response}/cancel" => Case::Ids(&[("/v1/responses/{r}/cancel", Some("{}"))]),
        "POST /api/v1/agent/ui" => Case::Starts(&[("/api/v1/agent/ui", Some(UI))]),
        // Without a thread of the user there is nothing, also if another user has one with this id.
        "POST /api/v1/agent/connect" => Case::Lists("/api/v1/agent/connect", Some(ASKING)),
        "GET /api/v1/agent/ui/{thread}/stream" => Case::Lists("/api/v1/agent/ui/live/stream", None),
        "GET /v1/models" => Case::Lists("/v1/models", None),
        "GET /v1/models/{name}" => Case::Lists("/v1/models/ada", None),
        _ => return None,
    })
}

fn webhook_case(operation: &str) -> Option<Case> {
    Some(match operation {
        "GET /api/v1/agent/webhooks" => Case::Lists("/api/v1/agent/webhooks", None),
        "POST /api/v1/agent/webhooks" => Case::Lists("/api/v1/agent/webhooks", Some(HOOK)),
        "GET /api/v1/agent/webhooks/{webhook}" => Case::Ids(&[("/api/v1/agent/webhooks/{w}", None)]),
        "PATCH /api/v1/agent/webhooks/{webhook}" => Case::Ids(&[("/api/v1/agent/webhooks/{w}", Some(HOOK))]),
        "DELETE /api/v1/agent/webhooks/{webhook}" => Case::Ids(&[("/api/v1/agent/webhooks/{w}", None)]),
        "POST /api/v1/agent/webhooks/{webhook}/secret" => {
            Case::Ids(&[("/api/v1/agent/webhooks/{w}/secret", Some("{}"))])
        }
        "POST /api/v1/agent/webhooks/{webhook}/test" => Case::Ids(&[("/api/v1/agent/webhooks/{w}/test", Some("{}"))]),
        "GET /api/v1/agent/webhooks/{webhook}/deliveries" => {
            Case::Ids(&[("/api/v1/agent/webhooks/{w}/deliveries", None)])
        }
        "POST /api/v1/agent/webhooks/{webhook}/deliveries/{delivery}/replay" => {
            Case::Ids(&[("/api/v1/agent/webhooks/{w}/deliveries/{d}/replay", Some("{}"))])
        }
        _ => return None,
    })
}

fn report_case(operation: &str) -> Option<Case> {
    Some(match operation {
        "GET /api/v1/agent/runs" => Case::Lists("/api/v1/agent/runs", None),
        "GET /api/v1/agent/questions" => Case::Lists("/api/v1/agent/questions", None),
        "GET /api/v1/agent/runs/{thread}/{run}/timeline" => Case::Ids(&[
            ("/api/v1/agent/runs/{t}/r1/timeline", None),
            ("/api/v1/agent/runs/{t}/nothing/timeline", None),
        ]),
        "GET /api/v1/agent/costs" => Case::Lists("/api/v1/agent/costs", None),
        "GET /api/v1/agent/usage" => Case::Ids(&[("/api/v1/agent/usage?threadId={t}", None)]),
        "GET /api/v1/agent/quotas" => Case::Lists("/api/v1/agent/quotas", None),
        "GET /api/v1/agent/agents" => Case::Lists("/api/v1/agent/agents", None),
        "GET /api/v1/agent/models" => Case::Lists("/api/v1/agent/models", None),
        // Tokens of users give no access: it is the signature that counts.
        "POST /hooks/{hook}" => Case::Lists("/hooks/anns", Some("{}")),
        "GET /metrics" => Case::Lists("/metrics", None),
        "GET /health" => Case::Lists("/health", None),
        "GET /ready" => Case::Lists("/ready", None),
        "GET /openapi.json" => Case::Lists("/openapi.json", None),
        "GET /docs" => Case::Lists("/docs", None),
        _ => return None,
    })
}

/// Returns the operations of the document, such as `GET /health`.
pub(crate) async fn operations(server: &Running) -> BTreeSet<String> {
    let document = server.get("/openapi.json").await.json();
    let mut all = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            all.insert(format!("{} {path}", method.to_uppercase()));
        }
    }
    all
}

/// Sends nothing.
#[derive(Debug)]
struct NoSender;

#[async_trait]
impl WebhookSender for NoSender {
    fn check(&self, _: &str) -> Result<(), String> {
        Ok(())
    }

    async fn send(&self, _: WebhookMessage) -> Attempt {
        std::future::pending().await
    }
}

/// A server with the things of Ann.
struct Fixture {
    server: Running,
    ann: String,
    question: String,
    file: String,
    schedule: String,
    webhook: String,
    message: String,
    _folder: tempfile::TempDir,
}

impl Fixture {
    async fn new(users: [(u8, Actor); 3]) -> (Self, Vec<String>) {
        let store = store();
        let tokens = tokens(&store);
        let ann = bearer(&tokens, 1, Actor::new("acme", "ann")).await;
        let mut others = Vec::new();
        for (number, actor) in users {
            others.push(bearer(&tokens, number, actor).await);
        }
        let folder = tempfile::tempdir().unwrap();
        let provider = ScriptedProvider::new([
            ScriptStep::text("Secret."),
            ScriptStep::calls([call("secret-call", "pay")]),
            ScriptStep::text("Secret.").then_hang(),
        ]);
        let files = LocalStorage::open(folder.path()).unwrap();
        let builder = with_administrators(builder(&provider, &store))
            .with_quotas(
                Arc::new(InMemoryQuotas::new(Arc::new(SystemClock::new()))),
                QuotaDefaults::default(),
            )
            .with_authenticator(tokens)
            .with_files(Arc::new(files))
            .with_hook(crate::hooks::bearer_hook("anns").with_owner(Actor::new("acme", "ann")))
            .with_schedules(Arc::new(InMemorySchedules::new(Arc::new(SystemClock::new()))))
            .with_webhooks(
                Arc::new(InMemoryWebhooks::new(Arc::new(SystemClock::new()))),
                Arc::new(NoSender),
            );
        let server = Running::start(builder).await;
        let headers = [("authorization", &*ann)];
        let path = "/api/v1/agent/run";
        for thread in ["done", "asking"] {
            let body = input(thread, "r1", "Hello");
            let run = server.with(Method::POST, path, &headers, Some(&body)).await;
            assert_eq!(run.status.as_u16(), 200, "{}", run.text);
        }
        let body = input("live", "r1", "Hello");
        let mut live = server.stream(Method::POST, path, &headers, Some(&body)).await;
        live.until("TEXT_MESSAGE_CONTENT").await;
        let asking = server
            .with(Method::GET, "/api/v1/agent/sessions/asking", &headers, None)
            .await;
        let question = asking.json()["questions"][0]["interruptId"]
            .as_str()
            .unwrap()
            .to_owned();
        let name = "/api/v1/agent/files?name=secret.json";
        let file = server
            .with(Method::POST, name, &headers, Some(&json!({"a": "Secret."})))
            .await;
        let file = file.json()["fileId"].as_str().unwrap().to_owned();
        let body = json!({
            "title": "Secret.", "timing": {"cron": "0 9 1 1 *"},
            "input": {"messages": [{"id": "x", "role": "user", "content": "Secret."}]},
        });
        let path = "/api/v1/agent/schedules";
        let schedule = server.with(Method::POST, path, &headers, Some(&body)).await;
        assert_eq!(schedule.status.as_u16(), 201, "{}", schedule.text);
        let schedule = schedule.json()["scheduleId"].as_str().unwrap().to_owned();
        let body = json!({"title": "Secret.", "url": "https://example.com/secret-call"});
        let path = "/api/v1/agent/webhooks";
        let webhook = server.with(Method::POST, path, &headers, Some(&body)).await;
        assert_eq!(webhook.status.as_u16(), 201, "{}", webhook.text);
        let webhook = webhook.json()["webhookId"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/agent/webhooks/{webhook}/test");
        let message = server.with(Method::POST, &path, &headers, Some(&json!({}))).await;
        let message = message.json()["deliveryId"].as_str().unwrap().to_owned();
        let fixture = Self {
            server,
            ann,
            question,
            file,
            schedule,
            webhook,
            message,
            _folder: folder,
        };
        (fixture, others)
    }

    async fn ask(&self, request: Request, token: &str, ids: [&str; 6]) -> Answer {
        let response = ResponseId::new(ids[0], "r1").encode();
        let call = CallId::new(ids[0], "secret-call").encode();
        let [thread, question, file, schedule, webhook, message] = ids;
        let ids = [thread, question, file, schedule, webhook, message, &response, &call];
        let fill = |text: &str| {
            NAMES
                .iter()
                .zip(ids)
                .fold(text.to_owned(), |text, (name, id)| text.replace(name, id))
        };
        let body = request.body;
        let body = body.map(|body| serde_json::from_str::<Value>(&fill(body)).unwrap());
        let method = Method::from_bytes(request.method.as_bytes()).unwrap();
        let headers = [("authorization", token)];
        let path = fill(request.path);
        self.server.with(method, &path, &headers, body.as_ref()).await
    }

    /// Tries a request with ids of Ann, which may be allowed to create a thread with such an id. Returns the number of requests.
    async fn try_ids(&self, request: Request, is_allowed: bool, token: &str, what: &str) -> usize {
        let Request { path, body, .. } = request;
        for thread in THREADS {
            let ids = [
                thread,
                &self.question,
                &self.file,
                &self.schedule,
                &self.webhook,
                &self.message,
            ];
            let known = self.ask(request, token, ids).await;
            if request.administers {
                known.assert_problem(403, "forbidden");
            }
            for secret in ["Secret.", "secret-call", "secret.json", &self.question] {
                assert!(!known.text.contains(secret), "{what}: {}", known.text);
            }
            if is_allowed
                || request.administers
                || !NAMES
                    .iter()
                    .any(|name| path.contains(name) || body.is_some_and(|body| body.contains(name)))
            {
                continue;
            }
            match path.starts_with("/v1/") {
                true => known.assert_openai_error(404, "not_found"),
                false => known.assert_problem(404, "not_found"),
            }
            if body.is_none_or(|body| !CREATING.contains(&body)) {
                let unknown = self
                    .ask(
                        request,
                        token,
                        ["nobodys", "nobodys?0", "file-0", "schedule-0", "webhook-0", "msg_0"],
                    )
                    .await;
                let heads = (known.headers.len(), unknown.headers.len());
                assert_eq!((&known.text, heads.0), (&unknown.text, heads.1), "{what} {thread}");
            }
        }
        THREADS.len()
    }

    /// Returns what Ann sees of her threads, files, schedules and webhooks.
    async fn view(&self) -> String {
        let mut view = String::new();
        let paths = THREADS.map(|thread| format!("/api/v1/agent/sessions/{thread}"));
        let messages = format!("/api/v1/agent/webhooks/{}/deliveries", self.webhook);
        for path in paths.iter().map(String::as_str).chain([
            "/api/v1/agent/files",
            "/api/v1/agent/schedules",
            "/api/v1/agent/webhooks",
            &messages,
        ]) {
            let headers = [("authorization", &*self.ann)];
            view += &self.server.with(Method::GET, path, &headers, None).await.text;
        }
        view
    }
}

/// Returns the requests by which an operation is tried.
fn requests_of(operation: &str) -> Vec<Request> {
    let method = operation.split(' ').next().unwrap();
    let method = METHODS.into_iter().find(|known| *known == method).unwrap();
    let request = |path, body| Request {
        method,
        path,
        body,
        creates: false,
        administers: false,
    };
    match case(operation) {
        None => panic!("{operation} is not in the walk; add how it is tried with ids of other users"),
        Some(Case::Lists(path, body)) => vec![request(path, body)],
        Some(Case::Administers(path, body)) => vec![Request {
            administers: true,
            ..request(path, body)
        }],
        Some(Case::Ids(requests)) => requests.iter().map(|(path, body)| request(path, *body)).collect(),
        Some(Case::Starts(requests)) => {
            let creates = |body: &str| CREATING.contains(&body);
            let start = |(path, body): &(&'static str, Option<&'static str>)| Request {
                creates: body.is_some_and(creates),
                ..request(path, *body)
            };
            requests.iter().map(start).collect()
        }
    }
}

#[tokio::test]
async fn what_belongs_to_a_user_is_not_found_by_others() {
    let colleague = Actor::new("acme", "bob");
    let other_line = Actor::new("acme", "ann").with_line("loans");
    let stranger = Actor::new("evil", "ann");
    let (fixture, tokens) = Fixture::new([(2, colleague), (3, other_line), (4, stranger)]).await;
    let before = fixture.view().await;
    let mut tried = 0;
    let operations = operations(&fixture.server).await;
    // Those that create threads come last: the other tenant has threads with the same ids from then on.
    for (creates, (user, token)) in [false, true]
        .into_iter()
        .flat_map(|creates| tokens.iter().enumerate().map(move |one| (creates, one)))
    {
        for operation in &operations {
            for request in requests_of(operation) {
                if request.creates == creates {
                    let what = format!("user {user}: {operation}: {} {:?}", request.path, request.body);
                    let is_allowed = creates && user == 2;
                    tried += fixture.try_ids(request, is_allowed, token, &what).await;
                }
            }
        }
    }
    assert!(tried > 150, "{tried}");
    assert_eq!(fixture.view().await, before, "somebody has changed what belongs to Ann");
    fixture.server.kill().await;
}
