//! `admin`: tenants, workers and dead letters, and tokens for the administrators of a server.

use serde_json::{Value, json};

use crate::{
    serve::Serving,
    support::{Agcore, Server},
};

fn json_of<const N: usize>(agcore: &Agcore, arguments: [&str; N]) -> Value {
    let arguments = ["admin"].into_iter().chain(arguments).chain(["--json"]);
    serde_json::from_str(agcore.run(arguments).assert_success()).unwrap()
}

/// Returns what a command prints, without the end of the line.
fn printed<const N: usize>(agcore: &Agcore, arguments: [&str; N]) -> String {
    let ran = agcore.run(["admin"].into_iter().chain(arguments));
    ran.assert_success().trim_end().to_owned()
}

#[test]
fn tenants_have_shares() {
    let agcore = Agcore::new().at_home();
    assert_eq!(json_of(&agcore, ["tenants", "list"]), json!({"tenants": []}));
    assert_eq!(
        printed(
            &agcore,
            ["tenants", "share", "acme", "--weight", "3", "--ceiling", "50"]
        ),
        "Set the share of the tenant acme: weight 3, at most 50 runs"
    );
    let listed = printed(&agcore, ["tenants", "list"]);
    assert!(
        listed.contains("acme") && listed.contains("0 waiting") && listed.contains("weight 3"),
        "{listed}"
    );
    let expected = json!({
        "tenant": "acme", "waiting": 0, "running": 0, "dead_letters": 0, "share": {"weight": 3, "ceiling": 50},
    });
    assert_eq!(json_of(&agcore, ["tenants", "list"])["tenants"], json!([expected]));
    printed(&agcore, ["tenants", "unshare", "acme"]);
    let absent = ["admin", "tenants", "unshare", "acme"];
    agcore
        .run(absent)
        .assert_failed(2, &["acme has no share", "`agcore admin tenants list`"]);
    let heavy = ["admin", "tenants", "share", "acme", "--weight", "1001"];
    agcore.run(heavy).assert_failed(2, &["1 to 1000"]);
}

#[test]
fn unknown_workers_and_dead_letters_are_refused() {
    let agcore = Agcore::new().at_home();
    assert_eq!(json_of(&agcore, ["workers", "list"]), json!({"workers": []}));
    for command in ["drain", "undrain", "show"] {
        let unknown = ["admin", "workers", command, "process-\u{1b}1"];
        let ran = agcore.run(unknown);
        ran.assert_failed(2, &["there is no process", "`agcore admin workers list`"]);
        assert!(!ran.stderr.contains('\u{1b}'), "{:?}", ran.stderr);
    }
    assert_eq!(json_of(&agcore, ["dead-letters", "list"]), json!({"dead_letters": []}));
    for command in ["restart", "discard"] {
        let unknown = ["admin", "dead-letters", command, "t", "r"];
        agcore
            .run(unknown)
            .assert_failed(2, &["run", "`agcore admin dead-letters list --tenant local`"]);
    }
}

#[test]
fn a_token_that_was_made_opens_the_routes_of_administrators() {
    let model = Server::playground();
    let agcore = Agcore::talking_to(&model).at_home();
    let ran = agcore.run([
        "admin",
        "token",
        "--name",
        "on \"call\"",
        "--tenant",
        "acme",
        "--tenant",
        "b",
    ]);
    let settings = ran.assert_success().to_owned();
    let token = ran.stderr.lines().next().unwrap().to_owned();
    assert!(
        token.starts_with("agcore_admin_") && !settings.contains(&token),
        "{settings}"
    );
    assert!(settings.contains("tenants = [\"acme\",\"b\"]"), "{settings}");
    let agcore = agcore.with_user_settings(&settings);
    printed(&agcore, ["tenants", "share", "acme", "--weight", "7"]);
    let serving = Serving::start(&agcore, &[]);
    let ask = |path: &str, token: &str| {
        let headers = format!("Authorization: Bearer {token}\r\n");
        serving.ask("GET", path, &headers, "")
    };
    let acme = ask("/api/v1/admin/tenants/acme", &token);
    assert!(
        acme.starts_with("HTTP/1.1 200") && acme.contains(r#""weight":7"#),
        "{acme}"
    );
    let other = ask("/api/v1/admin/tenants/other", &token);
    assert!(other.starts_with("HTTP/1.1 404"), "{other}");
    let wrong = ask("/api/v1/admin/tenants/acme", "agcore_admin_wrong");
    assert!(wrong.starts_with("HTTP/1.1 401"), "{wrong}");
    let user = ask("/api/v1/agent/sessions", &token);
    assert!(user.starts_with("HTTP/1.1 403") && user.contains("forbidden"), "{user}");
}

#[test]
fn a_server_that_has_its_database_alone_drains_by_the_command() {
    let model = Server::playground();
    let agcore = Agcore::talking_to(&model).at_home();
    let serving = Serving::start(&agcore, &[]);
    let id = loop {
        let workers = json_of(&agcore, ["workers", "list"]);
        if let Some(id) = workers["workers"][0]["id"].as_str() {
            break id.to_owned();
        }
    };
    let shown = json_of(&agcore, ["workers", "show", &id]);
    assert_eq!((&shown["worker"]["id"], &shown["leases"]), (&json!(id), &json!([])));
    assert_eq!(printed(&agcore, ["workers", "drain", &id]), format!("Draining {id}"));
    let listed = printed(&agcore, ["workers", "list"]);
    assert!(listed.contains("draining") || listed.contains("drained"), "{listed}");
    printed(&agcore, ["workers", "undrain", &id]);
    assert!(printed(&agcore, ["workers", "list"]).contains("active"));
    // Without administrators, there are no routes for them.
    let absent = serving.ask("GET", "/api/v1/admin/workers", "", "");
    assert!(absent.starts_with("HTTP/1.1 404"), "{absent}");
}

#[test]
fn administrators_in_the_settings_are_checked() {
    for (settings, words) in [
        (
            "[[serve.admins]]\nname = 'ops'\ntoken_sha256 = 'abc'\n",
            "64 hexadecimal digits",
        ),
        ("[[serve.admins]]\nname = 'ops'\n", "token_sha256"),
        (
            "[[serve.admins]]\nname = 'ops'\ntoken_sha256 = '0'\ntenants = []\n",
            "`tenants` is empty",
        ),
        (
            "[serve.jwt]\nkeys = 'absent.json'\naudience = 'a'\nadmin_claim = 'roles'\n",
            "absent.json",
        ),
    ] {
        let model = Server::playground();
        let agcore = Agcore::talking_to(&model).at_home().with_user_settings(settings);
        agcore.run(["serve", "--check"]).assert_failed(2, &[words]);
    }
}
