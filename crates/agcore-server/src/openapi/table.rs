//! The operations of the server.

use serde_json::{Value, json};

use super::{
    operation::{Answer, Content, Link, Operation, Parameter},
    parts::{answer, empty, get, operation, path, post, query},
    uploads::uploads,
};
use crate::{
    api::{
        AgentList, AnswersBody, HistoryPage, ModelList, RunView, SessionChange, SessionDetails, SessionPage,
        SessionView, StartedView, UsageReport,
    },
    problem::ProblemCode as Code,
};

/// Returns all operations.
pub(crate) fn operations() -> Vec<Operation> {
    let mut all = runs();
    all.extend(running());
    all.extend(sessions());
    all.extend(uploads());
    all.extend(reports());
    all.extend(operators());
    all
}

fn runs() -> Vec<Operation> {
    vec![
        post("/api/v1/agent/run", "Starts a run and streams its events", stream())
            .with_body(Content::new(|_| run_input(&["threadId", "runId", "messages"])))
            .with([dialect()])
            .failing(START)
            .failing([Code::TooManyStreams]),
        post(
            "/api/v1/agent/agents/{name}/run",
            "Starts a run of an agent and streams its events",
            stream(),
        )
        .with_body(Content::new(|_| run_input(&["threadId", "runId", "messages"])))
        .with([path("name", "The name of the agent"), dialect()])
        .failing(START)
        .failing([Code::TooManyStreams]),
        post("/api/v1/agent/runs/{thread}", "Starts a run", accepted())
            .with_body(Content::new(|_| run_input(&[])).with_example(message))
            .with([thread()])
            .failing(START),
    ]
}

fn running() -> Vec<Operation> {
    vec![
        get(
            "/api/v1/agent/runs/{thread}/events",
            "Streams the events of a run",
            stream(),
        )
        .with([
            thread(),
            query("runId", true, json!({"type": "string"}), "The id of the run"),
            dialect(),
            query(
                "protocol",
                false,
                json!({"type": "string"}),
                "The AG-UI version of the client, such as 0.0.59",
            ),
            Parameter {
                place: "header",
                name: "Last-Event-ID",
                is_required: false,
                schema: json!({"type": "string"}),
                description: "The id of the last event that the client has",
            },
        ])
        .failing([
            Code::InvalidRequest,
            Code::InvalidEventId,
            Code::NotFound,
            Code::TooManyStreams,
        ]),
        post(
            "/api/v1/agent/runs/{thread}/{run}/cancel",
            "Cancels a run",
            answer::<RunView>("The run"),
        )
        .with([thread(), run()])
        .failing([Code::NotFound]),
        post(
            "/api/v1/agent/runs/{thread}/{run}/answers",
            "Answers questions of a run",
            accepted(),
        )
        .with_body(Content::of::<AnswersBody>())
        .with([thread(), run()])
        .failing(START),
    ]
}

fn sessions() -> Vec<Operation> {
    let page = answer::<SessionPage>("A page of sessions");
    vec![
        get("/api/v1/agent/sessions", "Lists sessions", page)
            .with([cursor(), limit()])
            .failing([Code::InvalidRequest]),
        get(SESSION, "Returns a session", answer::<SessionDetails>("The session"))
            .with([thread()])
            .failing([Code::NotFound]),
        operation("patch", SESSION, "Sets the title", answer::<SessionView>("The session"))
            .with_body(Content::of::<SessionChange>())
            .with([thread()])
            .failing([Code::NotFound]),
        operation("delete", SESSION, "Deletes a session", empty())
            .with([thread()])
            .failing([Code::NotFound, Code::SessionBusy]),
    ]
}

fn reports() -> Vec<Operation> {
    let id = |is_required| {
        query(
            "threadId",
            is_required,
            json!({"type": "string"}),
            "The id of the thread",
        )
    };
    let before = query(
        "before",
        false,
        json!({"type": "integer", "minimum": 0}),
        "Only messages before this number",
    );
    let messages = answer::<HistoryPage>("A page of messages");
    vec![
        get("/api/v1/agent/history", "Returns the messages of a thread", messages)
            .with([id(true), before, limit()])
            .failing([Code::InvalidRequest, Code::NotFound]),
        get(
            "/api/v1/agent/usage",
            "Returns what sessions have used",
            answer::<UsageReport>("The usage"),
        )
        .with([id(false), cursor(), limit()])
        .failing([Code::InvalidRequest, Code::NotFound]),
        get(
            "/api/v1/agent/agents",
            "Lists the agents",
            answer::<AgentList>("The agents"),
        ),
        get(
            "/api/v1/agent/models",
            "Lists the models",
            answer::<ModelList>("The models"),
        ),
    ]
}

fn operators() -> Vec<Operation> {
    let object = Content::new(|_| json!({"type": "object"}));
    let text = Content::new(|_| json!({"type": "string"}));
    let public = |path, summary, kind, content| Operation {
        is_guarded: false,
        ..get(
            path,
            summary,
            Answer {
                status: 200,
                description: summary,
                content: Some((kind, content)),
                links: &[],
            },
        )
    };
    let metrics = Answer {
        status: 200,
        description: "The numbers in the text form of Prometheus",
        content: Some(("application/openmetrics-text", text)),
        links: &[],
    };
    vec![
        public("/health", "Whether the process answers", "application/json", object),
        public(
            "/ready",
            "Whether the server takes requests",
            "application/json",
            object,
        )
        .failing([Code::StoreUnavailable, Code::ShuttingDown, Code::Internal]),
        get("/metrics", "Returns what the server counts", metrics),
        public("/openapi.json", "This document", "application/json", object),
        public("/docs", "A page that shows this document", "text/html", text),
    ]
}

/// The path of a session.
const SESSION: &str = "/api/v1/agent/sessions/{thread}";

/// The operations on a run that was started.
const STARTED: &[Link] = &[
    ("get_runs_thread_events", &[("thread", "threadId"), ("runId", "runId")]),
    (
        "post_runs_thread_run_cancel",
        &[("thread", "threadId"), ("run", "runId")],
    ),
    ("get_sessions_thread", &[("thread", "threadId")]),
    ("patch_sessions_thread", &[("thread", "threadId")]),
    ("delete_sessions_thread", &[("thread", "threadId")]),
    ("get_history", &[("threadId", "threadId")]),
    ("get_usage", &[("threadId", "threadId")]),
];

/// The problems of a start.
const START: [Code; 11] = [
    Code::InvalidRequest,
    Code::NotFound,
    Code::AgentNotFound,
    Code::SessionBusy,
    Code::RunIdTaken,
    Code::AgentMismatch,
    Code::AlreadyAnswered,
    Code::TooManyRuns,
    Code::QueueFull,
    Code::ShuttingDown,
    Code::StoreUnavailable,
];

fn accepted() -> Answer {
    Answer {
        status: 202,
        links: STARTED,
        ..answer::<StartedView>("The run was accepted, now or by an earlier request")
    }
}

fn stream() -> Answer {
    Answer {
        status: 200,
        description: "Server-sent events: AG-UI events as JSON",
        content: Some((
            "text/event-stream",
            Content::new(|_| json!({"description": "Each event has an event of AG-UI as its data."})),
        )),
        links: &[],
    }
}

/// Returns the schema of a `RunAgentInput`, of which AG-UI has the full one.
fn run_input(required: &[&str]) -> Value {
    let id = json!({"type": "string", "minLength": 1, "maxLength": 128});
    json!({
        "type": "object",
        "description": "The RunAgentInput of AG-UI. `forwardedProps.agent` chooses an agent.",
        "required": required,
        "properties": {
            "threadId": id,
            "runId": id,
            "messages": {"type": "array", "items": {
                "type": "object",
                "required": ["id", "role"],
                "properties": {"id": {"type": "string"}, "role": {"type": "string"}, "content": {}},
            }},
            "resume": {"type": "array", "items": {"type": "object"}},
            "forwardedProps": {
                "description": "`agent` chooses an agent or a flow. For flows: `variables` of the flow, the ids of `files`, and `job` for a run without a user.",
            },
        },
    })
}

/// Returns an example of the input of a run.
fn message() -> Value {
    json!({"messages": [{"id": "message-1", "role": "user", "content": "Hello"}]})
}

fn thread() -> Parameter {
    path("thread", "The id of the thread")
}

fn run() -> Parameter {
    path("run", "The id of the run")
}

fn cursor() -> Parameter {
    query(
        "cursor",
        false,
        json!({"type": "string"}),
        "The place at which the page begins",
    )
}

fn limit() -> Parameter {
    let schema = json!({"type": "integer", "minimum": 1, "maximum": 200});
    query("limit", false, schema, "The size of the page")
}

fn dialect() -> Parameter {
    let schema = json!({"enum": ["standard", "superset"]});
    query(
        "dialect",
        false,
        schema,
        "Where the members are that AG-UI does not define; also the header X-Agcore-Dialect",
    )
}
