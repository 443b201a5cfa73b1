//! The part of the table of routes that administrators use.

use serde_json::{Value, json};

use super::{
    super::endpoint::{Endpoint, cursor, delete, get, limit, patch, post, put, text},
    dead_letters, quotas, schedules, tenants, tokens, webhooks, workers,
};
use crate::{
    api::{
        DeadLetterDetails, DeadLetterPage, DeliveryPage, DeliveryView, NewTokenBody, PauseBody, QuotaLimitsBody,
        QuotaList, RunView, ShareBody, TenantPage, TenantQuotaList, TenantQuotaView, TenantSchedulePage,
        TenantScheduleView, TenantView, TenantWebhookPage, TenantWebhookView, TokenPage, TokenWithText, WorkerDetails,
        WorkerList, WorkerView,
    },
    openapi::{Answer, Content, Parameter},
    problem::ProblemCode as Code,
};

/// Returns the routes for administrators, who look after some tenants or all.
pub(in crate::routes) fn of_tenants() -> Vec<Endpoint> {
    let mut all = tenants_and_dead_letters();
    all.extend(quotas_of_tenants());
    all.extend(schedules_of_users());
    all.extend(webhooks_of_users());
    all.extend(tokens_of_users());
    all
}

/// Returns the routes for administrators of all tenants: those of the limits of tenants, and of workers.
pub(in crate::routes) fn of_operators() -> Vec<Endpoint> {
    let mut all = limits_of_tenants();
    all.extend(workers());
    all
}

fn workers() -> Vec<Endpoint> {
    let worker = |about| Answer::of::<WorkerView>(about);
    vec![
        get("/api/v1/admin/workers", workers::list).about(
            "Lists the processes that execute runs",
            Answer::of::<WorkerList>("The processes"),
        ),
        get("/api/v1/admin/workers/{worker}", workers::show)
            .about(
                "Returns a process with the runs that it has",
                Answer::of::<WorkerDetails>("The process"),
            )
            .failing([Code::NotFound]),
        post("/api/v1/admin/workers/{worker}/drain", workers::drain)
            .about(
                "Asks a process to claim no more runs",
                worker("The process, which learns this soon"),
            )
            .failing([Code::NotFound]),
        delete("/api/v1/admin/workers/{worker}/drain", workers::undrain)
            .about(
                "Lets a process claim runs again",
                worker("The process, which learns this soon"),
            )
            .failing([Code::NotFound]),
    ]
}

fn tenants_and_dead_letters() -> Vec<Endpoint> {
    let tenant = || Answer::of::<TenantView>("The tenant");
    vec![
        get("/api/v1/admin/tenants", tenants::list)
            .about(
                "Lists the tenants with the numbers of their runs",
                Answer::of::<TenantPage>("A page of tenants"),
            )
            .with([cursor(), limit()])
            .failing([Code::InvalidRequest]),
        get("/api/v1/admin/tenants/{tenant}", tenants::show)
            .about("Returns a tenant", tenant())
            .failing([Code::NotFound]),
        get("/api/v1/admin/tenants/{tenant}/dead-letters", dead_letters::list)
            .about(
                "Lists runs that have ended their workers",
                Answer::of::<DeadLetterPage>("A page of dead letters"),
            )
            .with([cursor(), limit()])
            .failing([Code::InvalidRequest, Code::NotFound]),
        get(
            "/api/v1/admin/tenants/{tenant}/dead-letters/{thread}/{run}",
            dead_letters::show,
        )
        .about(
            "Returns a run that has ended its workers",
            Answer::of::<DeadLetterDetails>("The dead letter"),
        )
        .failing([Code::NotFound]),
        post(
            "/api/v1/admin/tenants/{tenant}/dead-letters/{thread}/{run}/restart",
            dead_letters::restart,
        )
        .about(
            "Starts a run again that has ended its workers",
            Answer::of::<RunView>("The run, which waits for a worker").with_status(202),
        )
        .failing([Code::NotFound, Code::NotDeadLetter, Code::SessionBusy]),
        delete(
            "/api/v1/admin/tenants/{tenant}/dead-letters/{thread}/{run}",
            dead_letters::discard,
        )
        .about(
            "Discards a run that has ended its workers",
            Answer::empty("The run stays failed and is not listed any more"),
        )
        .failing([Code::NotFound, Code::NotDeadLetter, Code::SessionBusy]),
    ]
}

fn quotas_of_tenants() -> Vec<Endpoint> {
    vec![
        get("/api/v1/admin/tenants/{tenant}/quotas", quotas::list)
            .about(
                "Lists the quotas of a tenant itself",
                Answer::of::<TenantQuotaList>("The quotas"),
            )
            .failing([Code::NotFound]),
        get("/api/v1/admin/tenants/{tenant}/quotas/usage", quotas::usage)
            .about(
                "Returns the quotas that apply to a user, and what is used of them",
                Answer::of::<QuotaList>("The quotas that apply"),
            )
            .with([text("user", "The user").required()])
            .failing([Code::InvalidRequest, Code::NotFound]),
    ]
}

/// Limits protect tenants from each other, and their operator from all of them. No tenant lifts its own.
fn limits_of_tenants() -> Vec<Endpoint> {
    let tenant = || Answer::of::<TenantView>("The tenant");
    let quota = || Answer::of::<TenantQuotaView>("The quota");
    let limits = || Content::of::<QuotaLimitsBody>().with_example(daily);
    let deleted = || Answer::empty("The quota was deleted");
    vec![
        put("/api/v1/admin/tenants/{tenant}/share", tenants::set_share)
            .about("Sets the share of a tenant in all workers", tenant())
            .with_body(Content::of::<ShareBody>().with_example(share))
            .failing([Code::NotFound]),
        delete("/api/v1/admin/tenants/{tenant}/share", tenants::delete_share)
            .about(
                "Deletes the share of a tenant, so that the default applies",
                Answer::empty("The share was deleted"),
            )
            .failing([Code::NotFound]),
        put("/api/v1/admin/tenants/{tenant}/quotas/{scope}/{window}", quotas::set)
            .about("Sets a quota of a tenant, or of each of its users", quota())
            .with_body(limits())
            .failing([Code::NotFound]),
        delete("/api/v1/admin/tenants/{tenant}/quotas/{scope}/{window}", quotas::delete)
            .about("Deletes a quota of a tenant, or of each of its users", deleted())
            .failing([Code::InvalidRequest, Code::NotFound]),
        put(
            "/api/v1/admin/tenants/{tenant}/quotas/users/{user}/{window}",
            quotas::set_of_user,
        )
        .about("Sets a quota of a user", quota())
        .with_body(limits())
        .failing([Code::NotFound]),
        delete(
            "/api/v1/admin/tenants/{tenant}/quotas/users/{user}/{window}",
            quotas::delete_of_user,
        )
        .about("Deletes a quota of a user", deleted())
        .failing([Code::InvalidRequest, Code::NotFound]),
    ]
}

fn schedules_of_users() -> Vec<Endpoint> {
    vec![
        get("/api/v1/admin/tenants/{tenant}/schedules", schedules::list)
            .about(
                "Lists the schedules of a tenant",
                Answer::of::<TenantSchedulePage>("A page of schedules"),
            )
            .with([user(), cursor(), limit()])
            .failing([Code::InvalidRequest, Code::NotFound]),
        patch("/api/v1/admin/tenants/{tenant}/schedules/{schedule}", schedules::change)
            .about(
                "Pauses or resumes a schedule of a user",
                Answer::of::<TenantScheduleView>("The schedule"),
            )
            .with_body(Content::of::<PauseBody>().with_example(pause))
            .failing([Code::NotFound, Code::ScheduleChanged]),
        delete("/api/v1/admin/tenants/{tenant}/schedules/{schedule}", schedules::delete)
            .about(
                "Deletes a schedule of a user",
                Answer::empty("The schedule was deleted"),
            )
            .failing([Code::NotFound]),
    ]
}

fn webhooks_of_users() -> Vec<Endpoint> {
    let state = json!({"enum": ["pending", "delivered", "failed"]});
    let state = Parameter::query("state", state, "Only messages in this state");
    vec![
        get("/api/v1/admin/tenants/{tenant}/webhooks", webhooks::list)
            .about(
                "Lists the webhooks of a tenant",
                Answer::of::<TenantWebhookPage>("A page of webhooks"),
            )
            .with([user(), cursor(), limit()])
            .failing([Code::InvalidRequest, Code::NotFound]),
        patch("/api/v1/admin/tenants/{tenant}/webhooks/{webhook}", webhooks::change)
            .about(
                "Pauses or resumes a webhook of a user",
                Answer::of::<TenantWebhookView>("The webhook"),
            )
            .with_body(Content::of::<PauseBody>().with_example(pause))
            .failing([Code::NotFound, Code::WebhookChanged]),
        delete("/api/v1/admin/tenants/{tenant}/webhooks/{webhook}", webhooks::delete)
            .about("Deletes a webhook of a user", Answer::empty("The webhook was deleted"))
            .failing([Code::NotFound]),
        get(
            "/api/v1/admin/tenants/{tenant}/webhooks/{webhook}/deliveries",
            webhooks::deliveries,
        )
        .about(
            "Lists the messages to a webhook of a user",
            Answer::of::<DeliveryPage>("A page of messages"),
        )
        .with([state, cursor(), limit()])
        .failing([Code::InvalidRequest, Code::NotFound]),
        post(
            "/api/v1/admin/tenants/{tenant}/webhooks/{webhook}/deliveries/{delivery}/replay",
            webhooks::replay,
        )
        .about(
            "Sends a message to a webhook of a user again",
            Answer::of::<DeliveryView>("The message, which is sent soon").with_status(202),
        )
        .failing([Code::NotFound]),
    ]
}

fn tokens_of_users() -> Vec<Endpoint> {
    vec![
        get("/api/v1/admin/tenants/{tenant}/tokens", tokens::list)
            .about(
                "Lists the tokens of the users of a tenant",
                Answer::of::<TokenPage>("A page of tokens, without their texts"),
            )
            .with([user(), cursor(), limit()])
            .failing([Code::InvalidRequest, Code::NotFound]),
        post("/api/v1/admin/tenants/{tenant}/tokens", tokens::create)
            .about(
                "Creates a token of a user, by an administrator of all tenants",
                Answer::of::<TokenWithText>("The token, with its text").with_status(201),
            )
            .with_body(Content::of::<NewTokenBody>().with_example(token))
            .failing([Code::NotFound, Code::TooManyTokens]),
        delete("/api/v1/admin/tenants/{tenant}/tokens/{token}", tokens::revoke)
            .about("Revokes a token of a user", Answer::empty("The token was revoked"))
            .failing([Code::NotFound]),
    ]
}

/// Returns the parameter that selects what belongs to a user.
fn user() -> Parameter {
    text("user", "Only those of this user")
}

/// Returns an example of a share.
fn share() -> Value {
    json!({"weight": 2, "ceiling": 50})
}

/// Returns an example of the limits of a quota.
fn daily() -> Value {
    json!({"runs": 200, "tokens": 1_000_000, "money": "5.00 USD"})
}

/// Returns an example of a token to create.
fn token() -> Value {
    json!({"userId": "ann", "label": "laptop"})
}

/// Returns an example of a pause.
fn pause() -> Value {
    json!({"paused": true})
}
