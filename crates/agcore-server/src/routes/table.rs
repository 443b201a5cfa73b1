//! The table of routes: the method, path and handler of each, and its part of the document.

mod bodies;
mod doors;
mod reports;

use std::sync::Arc;

use axum::routing::MethodRouter;
use serde_json::json;

use self::bodies::{any_event, daily, hook, message, run_input};
use super::{
    admin,
    endpoint::{Endpoint, cursor, delete, get, limit, patch, post, text},
    events, files, hooks, operations, runs, schedules, sessions, webhooks,
};
use crate::{
    api::{
        AnswersBody, BranchBody, DeliveryAnswer, DeliveryPage, DeliveryView, FileList, FileView, NewScheduleBody,
        NewWebhookBody, OccurrenceList, RunView, ScheduleChangeBody, SchedulePage, ScheduleView, SessionChange,
        SessionDetails, SessionPage, SessionView, StartedView, StateBody, StateView, WebhookChangeBody, WebhookPage,
        WebhookView, WebhookWithSecret,
    },
    openapi::{Answer, Content, Link, Parameter, Scope, Scoped},
    problem::ProblemCode as Code,
    service::App,
};

/// An operation with its scope.
pub(super) type Route = Scoped<MethodRouter<Arc<App>>>;

/// Returns all routes, in the order of the document.
pub(super) fn routes() -> Vec<Route> {
    let mut all = Scope::User.of(runs_of_agents());
    all.extend(Scope::User.of(sessions_and_files()));
    all.extend(Scope::User.of(schedules_of_users()));
    all.extend(Scope::User.of(webhooks_of_users()));
    all.extend(Scope::User.of(reports::routes()));
    all.extend(Scope::User.of(doors::routes(&START)));
    all.extend(Scope::Public.of(vec![deliveries()]));
    all.extend(Scope::Administrator.of(admin::table::of_tenants()));
    all.extend(Scope::Operator.of(admin::table::of_operators()));
    all.extend(Scope::Public.of(probes()));
    all.extend(Scope::User.of(numbers()));
    all.extend(Scope::Public.of(documents()));
    all
}

fn runs_of_agents() -> Vec<Endpoint> {
    let input = Content::json(|_| run_input(&["threadId", "runId", "messages"]));
    vec![
        post("/api/v1/agent/run", runs::run)
            .about("Starts a run and streams its events", stream())
            .with_body(input)
            .with([dialect()])
            .failing(START)
            .failing([Code::TooManyStreams]),
        post("/api/v1/agent/agents/{name}/run", runs::run_agent)
            .about("Starts a run of an agent and streams its events", stream())
            .with_body(input)
            .with([dialect()])
            .failing(START)
            .failing([Code::TooManyStreams]),
        post("/api/v1/agent/connect", runs::connect::connect)
            .about("Shows a thread again and streams its active run", stream())
            .with_body(input)
            .with([dialect()])
            .failing([Code::InvalidRequest, Code::TooManyStreams]),
        post("/api/v1/agent/runs/{thread}", runs::start)
            .about("Starts a run", accepted())
            .with_body(Content::json(|_| run_input(&[])).with_example(message))
            .failing(START),
        get("/api/v1/agent/runs/{thread}/events", events::follow)
            .about("Streams the events of a run", stream())
            .with([text("runId", "The id of the run").required()])
            .with([dialect()])
            .with([text("protocol", "The AG-UI version of the client, such as 0.0.59")])
            .with([Parameter::header(
                "Last-Event-ID",
                "The id of the last event that the client has",
            )])
            .failing([Code::InvalidRequest, Code::InvalidEventId])
            .failing([Code::NotFound, Code::TooManyStreams]),
        post("/api/v1/agent/runs/{thread}/{run}/cancel", runs::cancel)
            .about("Cancels a run", Answer::of::<RunView>("The run"))
            .failing([Code::NotFound]),
        post("/api/v1/agent/runs/{thread}/{run}/answers", runs::answer)
            .about("Answers questions of a run", accepted())
            .with_body(Content::of::<AnswersBody>())
            .failing(START),
    ]
}

fn sessions_and_files() -> Vec<Endpoint> {
    let name = json!({"type": "string", "minLength": 1, "maxLength": 255});
    let name = Parameter::query("name", name, "The name of the file, without a path");
    let state = || Answer::of::<StateView>("The state with its version");
    let bytes = Content::new(
        "application/octet-stream",
        |_| json!({"type": "string", "format": "binary"}),
    );
    vec![
        get("/api/v1/agent/sessions", sessions::list)
            .about("Lists sessions", Answer::of::<SessionPage>("A page of sessions"))
            .with([cursor(), limit()])
            .failing([Code::InvalidRequest]),
        get("/api/v1/agent/sessions/{thread}", sessions::show)
            .about("Returns a session", Answer::of::<SessionDetails>("The session"))
            .failing([Code::NotFound]),
        patch("/api/v1/agent/sessions/{thread}", sessions::rename)
            .about("Sets the title", Answer::of::<SessionView>("The session"))
            .with_body(Content::of::<SessionChange>())
            .failing([Code::NotFound]),
        delete("/api/v1/agent/sessions/{thread}", sessions::delete)
            .about("Deletes a session", Answer::empty("The session was deleted"))
            .failing([Code::NotFound, Code::SessionBusy]),
        post("/api/v1/agent/sessions/{thread}/branches", sessions::branch::create)
            .about(
                "Creates a session that continues from a message of another one",
                Answer::of::<SessionView>("The new session").with_status(201),
            )
            .with_body(Content::of::<BranchBody>())
            .failing([Code::InvalidRequest, Code::NotFound, Code::AgentNotFound])
            .failing([Code::AgentMismatch, Code::ThreadExists, Code::SessionBusy]),
        get("/api/v1/agent/sessions/{thread}/state", sessions::state::show)
            .about("Returns the state that a session shares with its client", state())
            .failing([Code::NotFound]),
        patch("/api/v1/agent/sessions/{thread}/state", sessions::state::change)
            .about("Changes the state", state())
            .with_body(Content::of::<StateBody>())
            .failing([Code::InvalidRequest, Code::NotFound, Code::StateChanged]),
        post("/api/v1/agent/files", files::upload)
            .about("Stores a file for the runs of flows", stored())
            .with_body(bytes)
            .with([name.required()])
            .failing([Code::NotFound, Code::TooManyFiles]),
        get("/api/v1/agent/files", files::list)
            .about("Lists the files", Answer::of::<FileList>("The files"))
            .failing([Code::NotFound]),
        delete("/api/v1/agent/files/{file}", files::delete)
            .about("Deletes a file", Answer::empty("The file was deleted"))
            .failing([Code::NotFound]),
    ]
}

fn schedules_of_users() -> Vec<Endpoint> {
    let schedule = || Answer::of::<ScheduleView>("The schedule");
    vec![
        get("/api/v1/agent/schedules", schedules::list)
            .about("Lists schedules", Answer::of::<SchedulePage>("A page of schedules"))
            .with([cursor(), limit()])
            .failing([Code::InvalidRequest, Code::NotFound]),
        post("/api/v1/agent/schedules", schedules::create)
            .about(
                "Creates a schedule, which starts runs at certain times",
                schedule().with_status(201).with_links(SCHEDULE),
            )
            .with_body(Content::of::<NewScheduleBody>().with_example(daily))
            .failing([Code::InvalidRequest, Code::NotFound, Code::AgentNotFound])
            .failing([Code::TooManySchedules, Code::SessionBusy]),
        get("/api/v1/agent/schedules/{schedule}", schedules::show)
            .about("Returns a schedule", schedule())
            .failing([Code::NotFound]),
        patch("/api/v1/agent/schedules/{schedule}", schedules::change)
            .about("Changes, pauses or resumes a schedule", schedule())
            .with_body(Content::of::<ScheduleChangeBody>())
            .failing([Code::InvalidRequest, Code::NotFound, Code::AgentNotFound])
            .failing([Code::ScheduleChanged]),
        delete("/api/v1/agent/schedules/{schedule}", schedules::delete)
            .about("Deletes a schedule", Answer::empty("The schedule was deleted"))
            .failing([Code::NotFound]),
        post("/api/v1/agent/schedules/{schedule}/run", schedules::run)
            .about("Starts a run of a schedule now", accepted())
            .failing(START),
        get("/api/v1/agent/schedules/{schedule}/occurrences", schedules::occurrences)
            .about(
                "Returns what has become of the last times",
                Answer::of::<OccurrenceList>("The last times"),
            )
            .failing([Code::NotFound]),
    ]
}

fn webhooks_of_users() -> Vec<Endpoint> {
    let webhook = || Answer::of::<WebhookView>("The webhook");
    let with_secret = || Answer::of::<WebhookWithSecret>("The webhook with its secret");
    let message = || Answer::of::<DeliveryView>("The message, which is sent soon").with_status(202);
    let state = json!({"enum": ["pending", "delivered", "failed"]});
    let state = Parameter::query("state", state, "Only messages in this state");
    vec![
        get("/api/v1/agent/webhooks", webhooks::list)
            .about("Lists webhooks", Answer::of::<WebhookPage>("A page of webhooks"))
            .with([cursor(), limit()])
            .failing([Code::InvalidRequest, Code::NotFound]),
        post("/api/v1/agent/webhooks", webhooks::create)
            .about(
                "Creates a webhook, which is notified when runs end or wait for a person",
                with_secret().with_status(201).with_links(WEBHOOK),
            )
            .with_body(Content::of::<NewWebhookBody>().with_example(hook))
            .failing([Code::InvalidRequest, Code::NotFound])
            .failing([Code::TooManyWebhooks, Code::SessionBusy]),
        get("/api/v1/agent/webhooks/{webhook}", webhooks::show)
            .about("Returns a webhook", webhook())
            .failing([Code::NotFound]),
        patch("/api/v1/agent/webhooks/{webhook}", webhooks::change)
            .about("Changes, pauses or resumes a webhook", webhook())
            .with_body(Content::of::<WebhookChangeBody>())
            .failing([Code::InvalidRequest, Code::NotFound, Code::WebhookChanged]),
        delete("/api/v1/agent/webhooks/{webhook}", webhooks::delete)
            .about("Deletes a webhook", Answer::empty("The webhook was deleted"))
            .failing([Code::NotFound]),
        post("/api/v1/agent/webhooks/{webhook}/secret", webhooks::renew_secret)
            .about("Replaces the secret of a webhook", with_secret())
            .failing([Code::NotFound, Code::WebhookChanged]),
        post("/api/v1/agent/webhooks/{webhook}/test", webhooks::test)
            .about("Sends a message to try out a webhook", message())
            .failing([Code::NotFound]),
        get("/api/v1/agent/webhooks/{webhook}/deliveries", webhooks::deliveries)
            .about(
                "Lists the messages to a webhook",
                Answer::of::<DeliveryPage>("A page of messages"),
            )
            .with([state, cursor(), limit()])
            .failing([Code::InvalidRequest, Code::NotFound]),
        post(
            "/api/v1/agent/webhooks/{webhook}/deliveries/{delivery}/replay",
            webhooks::replay,
        )
        .about("Sends a message again", message())
        .failing([Code::NotFound]),
    ]
}

fn probes() -> Vec<Endpoint> {
    vec![
        get("/health", operations::health).returning("Whether the process answers", object()),
        get("/ready", operations::ready)
            .returning("Whether the server takes requests", object())
            .failing([Code::StoreUnavailable, Code::ShuttingDown, Code::Internal]),
    ]
}

fn numbers() -> Vec<Endpoint> {
    let numbers = Answer::new(
        "The numbers in the text form of Prometheus",
        text_of("application/openmetrics-text"),
    );
    vec![get("/metrics", operations::metrics).about("Returns what the server counts", numbers)]
}

fn documents() -> Vec<Endpoint> {
    vec![
        get("/openapi.json", operations::document).returning("This document", object()),
        get("/docs", operations::page).returning("A page that shows this document", text_of("text/html")),
    ]
}

/// Returns the operation that needs no credentials, because the signature of a delivery is one.
fn deliveries() -> Endpoint {
    let answer = || Answer::of::<DeliveryAnswer>("The result of the delivery");
    post("/hooks/{hook}", hooks::receive)
        .about(
            "Starts a run for a delivery of another program",
            answer().with_status(202).with_links(RUN),
        )
        .with_body(Content::json(|_| any_event()))
        .also(answer())
        .failing([
            Code::Unauthenticated,
            Code::NotFound,
            Code::AgentMismatch,
            Code::SessionBusy,
        ])
        .failing([
            Code::TooManyDeliveries,
            Code::TooManyRuns,
            Code::QueueFull,
            Code::QuotaExceeded,
        ])
        .failing([Code::ShuttingDown, Code::StoreUnavailable, Code::Internal])
}

fn object() -> Content {
    Content::json(|_| json!({"type": "object"}))
}

fn text_of(kind: &'static str) -> Content {
    Content::new(kind, |_| json!({"type": "string"}))
}

/// The operations on a run that was started.
const RUN: &[Link] = &[
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

/// The operations on a file that was stored.
const FILE: &[Link] = &[("delete_files_file", &[("file", "fileId")])];

/// The operations on a schedule that was created.
const SCHEDULE: &[Link] = &[
    ("get_schedules_schedule", &[("schedule", "scheduleId")]),
    ("patch_schedules_schedule", &[("schedule", "scheduleId")]),
    ("delete_schedules_schedule", &[("schedule", "scheduleId")]),
    ("post_schedules_schedule_run", &[("schedule", "scheduleId")]),
    ("get_schedules_schedule_occurrences", &[("schedule", "scheduleId")]),
];

/// The operations on a webhook that was created.
const WEBHOOK: &[Link] = &[
    ("get_webhooks_webhook", &[("webhook", "webhookId")]),
    ("patch_webhooks_webhook", &[("webhook", "webhookId")]),
    ("delete_webhooks_webhook", &[("webhook", "webhookId")]),
    ("post_webhooks_webhook_secret", &[("webhook", "webhookId")]),
    ("post_webhooks_webhook_test", &[("webhook", "webhookId")]),
    ("get_webhooks_webhook_deliveries", &[("webhook", "webhookId")]),
];

/// The problems of a start.
const START: [Code; 13] = [
    Code::InvalidRequest,
    Code::NotFound,
    Code::AgentNotFound,
    Code::SessionBusy,
    Code::RunIdTaken,
    Code::StateChanged,
    Code::AgentMismatch,
    Code::AlreadyAnswered,
    Code::TooManyRuns,
    Code::QueueFull,
    Code::QuotaExceeded,
    Code::ShuttingDown,
    Code::StoreUnavailable,
];

fn accepted() -> Answer {
    Answer::of::<StartedView>("The run was accepted, now or by an earlier request")
        .with_status(202)
        .with_links(RUN)
}

fn stored() -> Answer {
    Answer::of::<FileView>("The file was stored")
        .with_status(201)
        .with_links(FILE)
}

fn stream() -> Answer {
    let event = |_: &mut _| json!({"description": "Each event has an event of AG-UI as its data."});
    Answer::new(
        "Server-sent events: AG-UI events as JSON",
        Content::new("text/event-stream", event),
    )
}

fn dialect() -> Parameter {
    let schema = json!({"enum": ["standard", "superset"]});
    let description = "Where the members are that AG-UI does not define; also the header X-Agcore-Dialect";
    Parameter::query("dialect", schema, description)
}
