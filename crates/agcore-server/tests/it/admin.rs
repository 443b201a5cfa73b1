//! Administrators: their credentials, and the log of what they change.

pub(crate) mod dead_letters;
mod kept;
mod tokens;
mod workers;

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_server::{AdminTokens, Administrator, ServerBuilder};
use agcore_session::{SessionWriter as _, TenantShare};
use agcore_testkit::spans::SpanLog;
use http::Method;
use serde_json::{Value, json};

use crate::{
    ownership::operations,
    support::{Answer, Running, builder, store, texts},
    tenants::{bearer, tokens},
};

pub(crate) const TENANTS: &str = "/api/v1/admin/tenants";

/// Returns the header of an administrator's token.
pub(crate) fn header(number: u8) -> String {
    format!("Bearer {}", AdminTokens::token([number; 32]))
}

/// Adds administrators: 101 of all tenants, 102 of `acme` only, and 103 of `evil` only.
pub(crate) fn with_administrators(builder: ServerBuilder) -> ServerBuilder {
    let hash = |number: u8| AdminTokens::hash_of(&AdminTokens::token([number; 32]));
    let tokens = AdminTokens::new()
        .with_hash(&hash(101), Administrator::new("ops"))
        .and_then(|tokens| tokens.with_hash(&hash(102), Administrator::new("support").with_tenant("acme")))
        .and_then(|tokens| tokens.with_hash(&hash(103), Administrator::new("stranger").with_tenant("evil")));
    builder.with_administrators(Arc::new(tokens.unwrap()))
}

/// A server and the administrator who asks it.
pub(crate) struct Admin<'a> {
    pub(crate) server: &'a Running,
    pub(crate) number: u8,
}

impl<'a> Admin<'a> {
    /// The administrator of all tenants.
    pub(crate) fn of_all(server: &'a Running) -> Self {
        Self { server, number: 101 }
    }

    pub(crate) async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let token = header(self.number);
        self.server.with(method, path, &[("authorization", &token)], body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, None).await
    }

    /// Asks for a change that is possible.
    pub(crate) async fn change(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let answer = self.ask(method, path, body).await;
        assert!(answer.status.is_success(), "{path}: {}", answer.text);
        answer
    }
}

#[tokio::test]
async fn without_administrators_there_are_no_routes_for_them() {
    let store = store();
    let described = Running::start(with_administrators(builder(&texts([]), &store))).await;
    let operations = operations(&described).await;
    described.stop().await;
    let tokens = tokens(&store);
    let user = bearer(&tokens, 1, Actor::new("acme", "ann")).await;
    let server = Running::start(builder(&texts([]), &store).with_authenticator(tokens)).await;
    let mut tried = 0;
    for operation in operations.iter().filter(|operation| operation.contains("/admin/")) {
        let (method, path) = operation.split_once(' ').unwrap();
        let method: Method = method.parse().unwrap();
        for token in [user.clone(), header(101)] {
            let headers = [("authorization", token.as_str())];
            let known = server.with(method.clone(), path, &headers, Some(&json!({}))).await;
            let unknown = server
                .with(method.clone(), "/api/v1/nothing", &headers, Some(&json!({})))
                .await;
            known.assert_problem(404, "not_found");
            assert_eq!(
                (&known.text, known.headers.len()),
                (&unknown.text, unknown.headers.len())
            );
        }
        tried += 1;
    }
    assert!(tried > 20, "{tried}");
    assert!(!server.get("/openapi.json").await.text.contains("/admin/"));
    server.stop().await;
}

#[tokio::test]
async fn administrators_need_credentials_of_their_own() {
    let store = store();
    let tokens = tokens(&store);
    let user = bearer(&tokens, 1, Actor::new("acme", "ann")).await;
    let builder = builder(&texts([]), &store).with_authenticator(tokens);
    let server = Running::start(with_administrators(builder)).await;
    let ask = async |headers: &[(&str, &str)]| server.with(Method::GET, TENANTS, headers, None).await;
    assert_eq!(ask(&[("authorization", &header(101))]).await.status.as_u16(), 200);
    ask(&[("authorization", &user)]).await.assert_problem(403, "forbidden");
    for headers in [
        vec![],
        vec![("authorization", "Bearer")],
        vec![("authorization", "Bearer agcore_admin_wrong")],
        vec![("authorization", "Basic YTpi")],
        vec![("x-agcore-user", "root")],
    ] {
        let answer = ask(&headers).await;
        answer.assert_problem(401, "unauthenticated");
        assert!(!answer.text.contains("wrong"));
    }
    // The token of an administrator is not one of a user.
    let sessions = "/api/v1/agent/sessions";
    let refused = server
        .with(Method::GET, sessions, &[("authorization", &header(101))], None)
        .await;
    refused.assert_problem(403, "forbidden");
    server.stop().await;
}

#[tokio::test]
async fn a_server_for_this_machine_has_administrators_with_tokens() {
    let server = Running::start(with_administrators(builder(&texts([]), &store()))).await;
    server.get(TENANTS).await.assert_problem(401, "unauthenticated");
    assert_eq!(server.get("/api/v1/agent/sessions").await.status.as_u16(), 200);
    let headers = [("authorization", &*header(101))];
    let refused = server.with(Method::GET, "/api/v1/agent/sessions", &headers, None).await;
    refused.assert_problem(403, "forbidden");
    assert_eq!(Admin::of_all(&server).get(TENANTS).await.json()["tenants"], json!([]));
    server.stop().await;
}

#[cfg(feature = "jwt")]
#[tokio::test]
async fn a_claim_makes_administrators() {
    use agcore_chat::SystemClock;
    use agcore_server::JwtVerifier;

    use crate::jwt::{Issuer, jwks};

    let issuer = Issuer::new("k", 7);
    let verifier = JwtVerifier::new(&jwks(&[issuer.jwk()]), "agcore", Arc::new(SystemClock::new())).unwrap();
    let verifier = verifier
        .with_tenant_claim("org")
        .with_admin_claim("scope", "agcore:admin");
    assert!(verifier.has_admins());
    let verifier = Arc::new(verifier);
    let store = store();
    store.set_share("acme", TenantShare::new(2)).await.unwrap();
    let builder = builder(&texts([]), &store)
        .with_authenticator(Arc::<JwtVerifier>::clone(&verifier))
        .with_administrators(verifier);
    let server = Running::start(builder).await;
    let ask = async |path: &str, claims: Value| {
        let token = format!("Bearer {}", issuer.token(json!({}), claims));
        server.with(Method::GET, path, &[("authorization", &token)], None).await
    };
    let admin = |org: &str| json!({"org": org, "scope": "openid agcore:admin"});
    let acme = format!("{TENANTS}/acme");
    assert_eq!(ask(&acme, admin("acme")).await.json()["share"]["weight"], 2);
    ask(&acme, admin("evil")).await.assert_problem(404, "not_found");
    ask(&acme, json!({"org": "acme", "scope": "openid"}))
        .await
        .assert_problem(403, "forbidden");
    ask(&acme, json!({"scope": "agcore:admin"}))
        .await
        .assert_problem(401, "unauthenticated");
    ask(&acme, json!({"org": "acme", "scope": "agcore:admin", "exp": 1}))
        .await
        .assert_problem(401, "unauthenticated");
    // It has one tenant only.
    ask("/api/v1/admin/workers", admin("acme"))
        .await
        .assert_problem(403, "forbidden");
    ask("/api/v1/agent/sessions", admin("acme"))
        .await
        .assert_problem(403, "forbidden");
    assert_eq!(
        ask("/api/v1/agent/sessions", json!({"org": "acme"}))
            .await
            .status
            .as_u16(),
        200
    );
    server.stop().await;
}

#[tokio::test]
async fn tenants_have_shares_and_pages() {
    let store = store();
    for tenant in ["acme", "b", "evil"] {
        let new = agcore_session::NewSession::new("s").with_owner(Actor::new(tenant, "ann"));
        store.create(new).await.unwrap();
    }
    let server = Running::start(with_administrators(builder(&texts([]), &store))).await;
    let ops = Admin::of_all(&server);
    let names = |page: &Value| {
        let tenants = page["tenants"].as_array().unwrap().iter();
        tenants
            .map(|tenant| tenant["tenant"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let first = ops.get(&format!("{TENANTS}?limit=2")).await.json();
    assert_eq!(names(&first), ["acme", "b"]);
    let rest = format!("{TENANTS}?limit=2&cursor={}", first["cursor"].as_str().unwrap());
    let rest = ops.get(&rest).await.json();
    assert_eq!((names(&rest), &rest["cursor"]), (vec!["evil".to_owned()], &Value::Null));
    for limit in ["0", "201", "-1", "x", "99999999999999999999"] {
        let refused = ops.get(&format!("{TENANTS}?limit={limit}")).await;
        refused.assert_problem(400, "invalid_request");
    }
    let acme = format!("{TENANTS}/acme");
    let expected = json!({"tenant": "acme", "waitingRuns": 0, "runningRuns": 0, "deadLetters": 0});
    assert_eq!(ops.get(&acme).await.json(), expected);
    let share = format!("{acme}/share");
    for wrong in [
        json!({}),
        json!({"weight": 0}),
        json!({"weight": 1001}),
        json!({"weight": -1}),
        json!({"weight": "2"}),
        json!({"weight": 2, "ceiling": -1}),
        json!({"weight": 2, "celing": 1}),
        json!([]),
        json!(null),
    ] {
        let refused = ops.ask(Method::PUT, &share, Some(&wrong)).await;
        assert_eq!(refused.status.as_u16(), 400, "{wrong}: {}", refused.text);
    }
    ops.ask(Method::DELETE, &share, None)
        .await
        .assert_problem(404, "not_found");
    let set = ops
        .change(Method::PUT, &share, Some(&json!({"weight": 3, "ceiling": 5})))
        .await;
    assert_eq!(set.json()["share"], json!({"weight": 3, "ceiling": 5}));
    assert_eq!(store.share("acme").await.unwrap(), TenantShare::new(3).with_ceiling(5));
    ops.change(Method::PUT, &share, Some(&json!({"weight": 3}))).await;
    assert_eq!(
        store.share("acme").await.unwrap(),
        TenantShare::new(3),
        "a share is replaced as a whole"
    );
    ops.change(Method::DELETE, &share, None).await;
    assert_eq!(store.share("acme").await.unwrap(), TenantShare::default());
    // A tenant can have a share before it has users.
    ops.change(
        Method::PUT,
        &format!("{TENANTS}/a%20b%2Fc/share"),
        Some(&json!({"weight": 2})),
    )
    .await;
    assert_eq!(store.share("a b/c").await.unwrap(), TenantShare::new(2));
    ops.get(&format!("{TENANTS}/nobody"))
        .await
        .assert_problem(404, "not_found");

    // Others see their tenants only, and all others look the same.
    let support = Admin {
        server: &server,
        number: 102,
    };
    assert_eq!(names(&support.get(TENANTS).await.json()), ["acme"]);
    assert_eq!(
        names(&support.get(&format!("{TENANTS}?cursor=acme")).await.json()),
        [""; 0]
    );
    // Nor do they lift the limits of their own tenants.
    for (method, body) in [(Method::PUT, Some(json!({"weight": 9}))), (Method::DELETE, None)] {
        let refused = support.ask(method, &share, body.as_ref()).await;
        refused.assert_problem(403, "forbidden");
    }
    let [known, unknown] = ["evil", "nobody"].map(|tenant| format!("{TENANTS}/{tenant}/share"));
    let known = support.ask(Method::PUT, &known, Some(&json!({"weight": 9}))).await;
    let unknown = support.ask(Method::PUT, &unknown, Some(&json!({"weight": 9}))).await;
    known.assert_problem(404, "not_found");
    assert_eq!(known.text, unknown.text);
    assert_eq!(store.share("evil").await.unwrap(), TenantShare::default());
    server.stop().await;
}

#[tokio::test]
async fn each_change_is_logged_without_what_it_sets() {
    // With a single listener, tracing asks only the thread that meets a span first, which may be that of another test.
    let _other = SpanLog::new().listen();
    let log = SpanLog::new();
    let guard = log.listen();
    let server = Running::start(with_administrators(builder(&texts([]), &store()))).await;
    let ops = Admin::of_all(&server);
    let path = format!("{TENANTS}/acme/share");
    ops.get(TENANTS).await;
    ops.change(Method::PUT, &path, Some(&json!({"weight": 777}))).await;
    let refused = format!("{TENANTS}/acme/webhooks/w");
    ops.ask(Method::DELETE, &refused, None)
        .await
        .assert_problem(404, "not_found");
    let stranger = Admin {
        server: &server,
        number: 103,
    };
    stranger
        .ask(Method::DELETE, &path, None)
        .await
        .assert_problem(404, "not_found");
    server.stop().await;
    drop(guard);
    let requests = log.named("http_request");
    let who: Vec<_> = requests.iter().map(|span| span.field("agcore.administrator")).collect();
    assert_eq!(who, [Some("ops"), Some("ops"), Some("ops"), Some("stranger")]);
    let events = log.warnings();
    let changes: Vec<_> = events
        .iter()
        .filter(|event| event.contains_key("administrator"))
        .map(|event| ["administrator", "method", "path", "tenant", "status"].map(|name| event[name].as_str()))
        .collect();
    assert_eq!(
        changes,
        [
            ["ops", "PUT", path.as_str(), "acme", "200"],
            ["ops", "DELETE", &refused, "acme", "404"],
            ["stranger", "DELETE", &path, "acme", "404"],
        ]
    );
    let all = format!("{events:?}{requests:?}");
    assert!(!all.contains("777") && !all.contains("agcore_admin_"), "{all}");
}
