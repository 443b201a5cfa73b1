//! Administrators find nothing of other tenants, and nothing that belongs to users: the same walk with their tokens.

use agcore_chat::Actor;

use super::{Case, Fixture, Request, operations, requests_of};
use crate::admin::header;

const SHARE: &str = r#"{"weight":7}"#;
const LIMITS: &str = r#"{"runs":7}"#;
const PAUSE: &str = r#"{"paused":true}"#;
const TOKEN: &str = r#"{"userId":"ann","label":"laptop"}"#;

/// Returns how an operation of administrators is tried.
pub(super) fn case(operation: &str) -> Option<Case> {
    let administers = |path, body| Some(Case::Administers(path, body));
    match operation {
        "GET /api/v1/admin/tenants" => administers("/api/v1/admin/tenants", None),
        "GET /api/v1/admin/tenants/{tenant}" => administers("/api/v1/admin/tenants/acme", None),
        "PUT /api/v1/admin/tenants/{tenant}/share" => administers("/api/v1/admin/tenants/acme/share", Some(SHARE)),
        "DELETE /api/v1/admin/tenants/{tenant}/share" => administers("/api/v1/admin/tenants/acme/share", None),
        "GET /api/v1/admin/tenants/{tenant}/dead-letters" => {
            administers("/api/v1/admin/tenants/acme/dead-letters", None)
        }
        "GET /api/v1/admin/tenants/{tenant}/dead-letters/{thread}/{run}" => {
            administers("/api/v1/admin/tenants/acme/dead-letters/{t}/r1", None)
        }
        "POST /api/v1/admin/tenants/{tenant}/dead-letters/{thread}/{run}/restart" => {
            administers("/api/v1/admin/tenants/acme/dead-letters/{t}/r1/restart", None)
        }
        "DELETE /api/v1/admin/tenants/{tenant}/dead-letters/{thread}/{run}" => {
            administers("/api/v1/admin/tenants/acme/dead-letters/{t}/r1", None)
        }
        "GET /api/v1/admin/tenants/{tenant}/quotas" => administers("/api/v1/admin/tenants/acme/quotas", None),
        "GET /api/v1/admin/tenants/{tenant}/quotas/usage" => {
            administers("/api/v1/admin/tenants/acme/quotas/usage?user=ann", None)
        }
        "PUT /api/v1/admin/tenants/{tenant}/quotas/{scope}/{window}" => {
            administers("/api/v1/admin/tenants/acme/quotas/tenant/day", Some(LIMITS))
        }
        "DELETE /api/v1/admin/tenants/{tenant}/quotas/{scope}/{window}" => {
            administers("/api/v1/admin/tenants/acme/quotas/tenant/day", None)
        }
        "PUT /api/v1/admin/tenants/{tenant}/quotas/users/{user}/{window}" => {
            administers("/api/v1/admin/tenants/acme/quotas/users/ann/day", Some(LIMITS))
        }
        "DELETE /api/v1/admin/tenants/{tenant}/quotas/users/{user}/{window}" => {
            administers("/api/v1/admin/tenants/acme/quotas/users/ann/day", None)
        }
        _ => kept_case(operation),
    }
}

fn kept_case(operation: &str) -> Option<Case> {
    let administers = |path, body| Some(Case::Administers(path, body));
    match operation {
        "GET /api/v1/admin/tenants/{tenant}/schedules" => administers("/api/v1/admin/tenants/acme/schedules", None),
        "PATCH /api/v1/admin/tenants/{tenant}/schedules/{schedule}" => {
            administers("/api/v1/admin/tenants/acme/schedules/{s}", Some(PAUSE))
        }
        "DELETE /api/v1/admin/tenants/{tenant}/schedules/{schedule}" => {
            administers("/api/v1/admin/tenants/acme/schedules/{s}", None)
        }
        "GET /api/v1/admin/tenants/{tenant}/webhooks" => administers("/api/v1/admin/tenants/acme/webhooks", None),
        "PATCH /api/v1/admin/tenants/{tenant}/webhooks/{webhook}" => {
            administers("/api/v1/admin/tenants/acme/webhooks/{w}", Some(PAUSE))
        }
        "DELETE /api/v1/admin/tenants/{tenant}/webhooks/{webhook}" => {
            administers("/api/v1/admin/tenants/acme/webhooks/{w}", None)
        }
        "GET /api/v1/admin/tenants/{tenant}/webhooks/{webhook}/deliveries" => {
            administers("/api/v1/admin/tenants/acme/webhooks/{w}/deliveries", None)
        }
        "POST /api/v1/admin/tenants/{tenant}/webhooks/{webhook}/deliveries/{delivery}/replay" => {
            administers("/api/v1/admin/tenants/acme/webhooks/{w}/deliveries/{d}/replay", None)
        }
        "GET /api/v1/admin/tenants/{tenant}/tokens" => administers("/api/v1/admin/tenants/acme/tokens", None),
        "POST /api/v1/admin/tenants/{tenant}/tokens" => administers("/api/v1/admin/tenants/acme/tokens", Some(TOKEN)),
        "DELETE /api/v1/admin/tenants/{tenant}/tokens/{token}" => {
            // That of Ann, whose id follows from its text.
            administers("/api/v1/admin/tenants/acme/tokens/48fe5dc2a3b2", None)
        }
        "GET /api/v1/admin/workers" => administers("/api/v1/admin/workers", None),
        "GET /api/v1/admin/workers/{worker}" => administers("/api/v1/admin/workers/none", None),
        "POST /api/v1/admin/workers/{worker}/drain" => administers("/api/v1/admin/workers/none/drain", None),
        "DELETE /api/v1/admin/workers/{worker}/drain" => administers("/api/v1/admin/workers/none/drain", None),
        _ => None,
    }
}

impl Fixture {
    /// Asks with the ids of Ann.
    async fn ask_as(&self, request: Request, token: &str) -> crate::support::Answer {
        let ids = [
            "done",
            &self.question,
            &self.file,
            &self.schedule,
            &self.webhook,
            &self.message,
        ];
        self.ask(request, token, ids).await
    }
}

#[tokio::test]
async fn an_administrator_of_another_tenant_finds_no_more_than_of_an_unknown_one() {
    let users = [2, 3, 4].map(|number| (number, Actor::new("other", "bob")));
    let (fixture, _) = Fixture::new(users).await;
    let before = fixture.view().await;
    let stranger = header(103);
    let mut tried = 0;
    for operation in operations(&fixture.server).await {
        for request in requests_of(&operation)
            .into_iter()
            .filter(|request| request.administers)
        {
            let known = fixture.ask_as(request, &stranger).await;
            assert!(
                !known.text.contains("Secret") && !known.text.contains("acme"),
                "{operation}: {}",
                known.text
            );
            match request.path.contains("acme") {
                true => {
                    let path = request.path.replace("acme", "nobodys");
                    let unknown = fixture
                        .ask_as(
                            Request {
                                path: path.leak(),
                                ..request
                            },
                            &stranger,
                        )
                        .await;
                    known.assert_problem(404, "not_found");
                    assert_eq!(
                        (&known.text, known.headers.len()),
                        (&unknown.text, unknown.headers.len()),
                        "{operation}"
                    );
                }
                false if request.path.contains("workers") => known.assert_problem(403, "forbidden"),
                false => assert_eq!(known.json()["tenants"], serde_json::json!([])),
            }
            tried += 1;
        }
    }
    assert!(tried >= 26, "{tried}");
    assert_eq!(fixture.view().await, before, "somebody has changed what belongs to Ann");
    fixture.server.kill().await;
}

#[tokio::test]
async fn an_administrator_reaches_no_route_of_users() {
    let users = [2, 3, 4].map(|number| (number, Actor::new("other", "bob")));
    let (fixture, _) = Fixture::new(users).await;
    let before = fixture.view().await;
    let public = ["GET /health", "GET /ready", "GET /openapi.json", "GET /docs"];
    let mut tried = 0;
    for token in [101, 102].map(header) {
        for operation in operations(&fixture.server).await {
            for request in requests_of(&operation)
                .into_iter()
                .filter(|request| !request.administers)
            {
                let answer = fixture.ask_as(request, &token).await;
                match operation.as_str() {
                    // The signature of a delivery is the credential.
                    "POST /hooks/{hook}" => answer.assert_problem(401, "unauthenticated"),
                    public_one if public.contains(&public_one) => {
                        assert_eq!(answer.status.as_u16(), 200, "{operation}");
                    }
                    openai if openai.contains(" /v1/") => answer.assert_openai_error(403, "forbidden"),
                    _ => answer.assert_problem(403, "forbidden"),
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 80, "{tried}");
    assert_eq!(
        fixture.view().await,
        before,
        "an administrator has changed what belongs to Ann"
    );
    fixture.server.kill().await;
}

#[tokio::test]
async fn an_administrator_of_a_tenant_reaches_all_that_the_tenant_has() {
    let users = [2, 3, 4].map(|number| (number, Actor::new("other", "bob")));
    let (fixture, _) = Fixture::new(users).await;
    let support = header(102);
    for operation in operations(&fixture.server).await {
        for request in requests_of(&operation)
            .into_iter()
            .filter(|request| request.administers)
        {
            // Those that delete would keep the others from finding it.
            if request.path.contains("acme") && request.method != "DELETE" && !request.path.contains("dead-letters/") {
                let answer = fixture.ask_as(request, &support).await;
                // What limits the tenant, or acts for its users, is changed by administrators of all tenants.
                match request.method == "PUT" || operation == "POST /api/v1/admin/tenants/{tenant}/tokens" {
                    true => answer.assert_problem(403, "forbidden"),
                    false => assert!(answer.status.is_success(), "{operation}: {}", answer.text),
                }
            }
        }
    }
    fixture.server.kill().await;
}
