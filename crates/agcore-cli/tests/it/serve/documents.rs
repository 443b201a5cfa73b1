//! The catalog and the profiles in the database, which are put there before and while the server runs.

use super::{Serving, input};
use crate::support::{Agcore, Server};

const SETTINGS: &str = "[serve]\nrequire_token = true\nstored_catalog = true\nreload_seconds = 1\nprofiles = true\n";

const USER: &str = "00000000-0000-0000-0000-000000000007";

const PROFILES: &str = "
[[profiles]]
user_id = \"00000000-0000-0000-0000-000000000007\"
username = \"Ada\"
bio = \"grows beans\"
";

/// Returns a catalog with one model.
fn catalog(model: &str) -> String {
    format!(
        "[[vendors]]\nname = \"one\"\nendpoints = [{{ name = \"chat\", api = \"deepseek\", kinds = [\"text\"] }}]\n\
         keys = [{{ name = \"team\", secret = \"${{ONE_KEY}}\", users = [\"*\"] }}]\n\n[[vendors.models]]\nname = \"{model}\"\n"
    )
}

#[test]
fn a_stored_catalog_is_used_and_replaced_while_the_server_runs() {
    let model = Server::playground();
    let agcore = Agcore::talking_to(&model)
        .at_home()
        .with_user_settings(SETTINGS)
        .with_file("may.toml", &catalog("model-of-may"))
        .with_file("june.toml", &catalog("model-of-june"))
        .with_file("wrong.toml", "[[vendors]]\nname = 5\n");
    agcore.run(["serve", "--check"]).assert_failed(
        2,
        &["`stored_catalog` of [serve] is true", "agcore store catalog put FILE"],
    );
    agcore
        .run(["store", "catalog", "show"])
        .assert_failed(1, &["has no catalog"]);
    let put = agcore.run(["store", "catalog", "put", "may.toml"]);
    assert!(put.assert_success().contains("may.toml is version 1"), "{}", put.stdout);
    agcore.run(["serve", "--check"]).assert_success();
    agcore
        .run(["serve", "--check", "--catalog", "may.toml"])
        .assert_failed(2, &["--catalog names a catalog", "use one of them"]);

    let token = agcore.run(["serve", "tokens", "create"]);
    let header = format!("authorization: Bearer {}\r\n", token.assert_success().trim());
    let serving = Serving::start(&agcore, &[]);
    let models = || serving.ask("GET", "/api/v1/agent/models", &header, "");
    assert!(models().contains("model-of-may"), "{}", models());
    // A wrong one is refused with the place of the error, and changes nothing.
    let refused = agcore.run(["store", "catalog", "put", "wrong.toml"]);
    assert_ne!(refused.code(), Some(0));
    assert!(
        refused.stderr.contains("the catalog is not valid"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("name"), "{}", refused.stderr);
    let shown = agcore.run(["store", "catalog", "show", "--json"]);
    assert!(shown.assert_success().contains("\"version\": 1"), "{}", shown.stdout);
    assert!(models().contains("model-of-may"));

    agcore.run(["store", "catalog", "put", "june.toml"]).assert_success();
    // The server looks for it each second.
    while !models().contains("model-of-june") {
        std::thread::yield_now();
    }
    assert!(!models().contains("model-of-may"));
    // Another process finds the new one at once.
    assert!(
        agcore
            .run(["store", "catalog", "show"])
            .assert_success()
            .contains("model-of-june")
    );
}

#[test]
fn agents_know_the_profile_of_the_user() {
    let model = Server::playground();
    let agcore = Agcore::talking_to(&model)
        .at_home()
        .with_user_settings("[serve]\nrequire_token = true\nprofiles = true\n")
        .with_file("people.toml", PROFILES)
        .with_file("wrong.toml", &PROFILES.replace("username = \"Ada\"", "username = 5"));
    agcore.run(["store", "migrate"]).assert_success();
    let put = agcore.run(["store", "profiles", "put", "people.toml"]);
    assert_eq!(put.assert_success(), format!("{USER} has version 1.\n"));
    let refused = agcore.run(["store", "profiles", "put", "wrong.toml"]);
    refused.assert_failed(1, &["wrong.toml is not valid", "username"]);
    let listed = agcore.run(["store", "profiles", "list"]);
    assert_eq!(listed.assert_success(), format!("{USER}  version 1  Ada\n"));

    let serving = Serving::start(&agcore, &[]);
    let ask = |user: &str, thread: &str| {
        let token = agcore.run(["serve", "tokens", "create", "--user", user]);
        let header = format!("authorization: Bearer {}\r\n", token.assert_success().trim());
        let answer = serving.ask("POST", "/api/v1/agent/run", &header, &input(thread, "good day"));
        assert!(answer.contains("RUN_FINISHED"), "{answer}");
        let requests = model.requests();
        requests.last().unwrap().json()["messages"][0]["content"].to_string()
    };
    let prompt = ask(USER, "t1");
    assert!(prompt.contains("Ada") && prompt.contains("grows beans"), "{prompt}");
    assert!(!ask("ben", "t2").contains("grows beans"));

    // The next run uses the next version.
    let changed = PROFILES.replace("grows beans", "grows peas");
    std::fs::write(agcore.directory.path().join("people.toml"), changed).unwrap();
    agcore.run(["store", "profiles", "put", "people.toml"]).assert_success();
    assert!(ask(USER, "t3").contains("grows peas"));
    agcore.run(["store", "profiles", "delete", USER]).assert_success();
    agcore
        .run(["store", "profiles", "show", USER])
        .assert_failed(1, &["has no profile of", "agcore store profiles list"]);
    assert!(!ask(USER, "t4").contains("grows"));
}
