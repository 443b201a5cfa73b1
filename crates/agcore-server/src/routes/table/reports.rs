//! The part of the table with reports about runs, threads and the server.

use agcore_session::RunStatus;
use serde_json::json;

use crate::{
    api::{
        AgentList, CostReportView, HistoryPage, ModelList, QuestionPage, QuotaList, RunPage, TimelineView, UsageReport,
    },
    openapi::{Answer, Parameter},
    problem::ProblemCode as Code,
    routes::{
        catalog,
        endpoint::{Endpoint, cursor, get, limit, text},
        history, runs, usage,
    },
};

/// Returns the routes.
pub(super) fn routes() -> Vec<Endpoint> {
    let thread = || text("threadId", "The id of the thread");
    let before = json!({"type": "integer", "minimum": 0});
    let before = Parameter::query("before", before, "Only messages before this number");
    let messages = Answer::of::<HistoryPage>("A page of messages");
    let names = json!({"enum": RunStatus::ALL.map(RunStatus::as_str)});
    let status = Parameter::query("status", names, "Only runs with this status");
    let from = json!({"type": "integer", "minimum": 0});
    let from = Parameter::query("from", from, "The number of spans before the page");
    vec![
        get("/api/v1/agent/runs", runs::reports::list)
            .about(
                "Lists the runs of all threads, with what they have used",
                Answer::of::<RunPage>("A page of runs"),
            )
            .with([
                status,
                text("agent", "Only runs of threads of this agent"),
                cursor(),
                limit(),
            ])
            .failing([Code::InvalidRequest]),
        get("/api/v1/agent/runs/{thread}/{run}/timeline", runs::reports::timeline)
            .about(
                "Returns what a run has done, as spans with their times",
                Answer::of::<TimelineView>("A page of spans"),
            )
            .with([from, limit()])
            .failing([Code::InvalidRequest, Code::NotFound]),
        get("/api/v1/agent/questions", runs::reports::questions)
            .about(
                "Lists the open questions of all threads",
                Answer::of::<QuestionPage>("A page of questions"),
            )
            .with([cursor(), limit()])
            .failing([Code::InvalidRequest]),
        get("/api/v1/agent/history", history::history)
            .about("Returns the messages of a thread", messages)
            .with([thread().required(), before, limit()])
            .failing([Code::InvalidRequest, Code::NotFound]),
    ]
    .into_iter()
    .chain(spending(thread()))
    .collect()
}

/// Returns the routes of usage, costs and quotas, and those of the server.
fn spending(thread: Parameter) -> Vec<Endpoint> {
    vec![
        get("/api/v1/agent/usage", usage::usage)
            .about(
                "Returns what sessions have used",
                Answer::of::<UsageReport>("The usage"),
            )
            .with([thread, cursor(), limit()])
            .failing([Code::InvalidRequest, Code::NotFound]),
        get("/api/v1/agent/costs", usage::costs)
            .about(
                "Returns what the user has spent, by day, model and agent",
                Answer::of::<CostReportView>("The costs"),
            )
            .with([
                text(
                    "since",
                    "The first day in UTC, such as `2026-11-01`; thirty days up to the last one by default",
                ),
                text("until", "The last day in UTC; today by default"),
            ])
            .failing([Code::InvalidRequest]),
        get("/api/v1/agent/quotas", usage::quotas).about(
            "Returns the quotas of the user and the tenant, and what is used of them",
            Answer::of::<QuotaList>("The quotas that apply"),
        ),
        get("/api/v1/agent/agents", catalog::agents).about("Lists the agents", Answer::of::<AgentList>("The agents")),
        get("/api/v1/agent/models", catalog::models).about("Lists the models", Answer::of::<ModelList>("The models")),
    ]
}
