//! `quotas`: how much tenants and users may use.

use agcore_testkit::mock_server::{Answer, MockOptions, Reply, TokenUsage};
use serde_json::{Value, json};

use crate::{
    serve::{Serving, input},
    support::{Agcore, Server},
};

fn json_of<const N: usize>(agcore: &Agcore, arguments: [&str; N]) -> Value {
    let arguments = ["quotas"].into_iter().chain(arguments).chain(["--json"]);
    let ran = agcore.run(arguments);
    serde_json::from_str(ran.assert_success()).unwrap()
}

/// Returns what a command prints, without the end of the line.
fn printed<const N: usize>(agcore: &Agcore, arguments: [&str; N]) -> String {
    let ran = agcore.run(["quotas"].into_iter().chain(arguments));
    ran.assert_success().trim_end().to_owned()
}

/// A model whose calls all use 120 tokens, and an agent with prices for it: a token of a request costs 1 millionth, one of a reply 10.
fn priced(settings: &str) -> (Server, Agcore) {
    let model = Server::start(MockOptions::new(), |_: &_| {
        Reply::answer(
            Answer::new()
                .with_text("Good day.")
                .with_usage(TokenUsage::new(100, 20)),
        )
    });
    let settings = format!("[prices.priced]\ninput = 1\noutput = 10\n{settings}");
    let agcore = Agcore::talking_to(&model).at_home().with_user_settings(&settings);
    (model, agcore)
}

fn ask(serving: &Serving, thread: &str) -> String {
    serving.ask("POST", "/api/v1/agent/run", "", &input(thread, "good day"))
}

#[test]
fn quotas_are_set_listed_and_deleted() {
    let agcore = Agcore::new().at_home();
    let ran = agcore.run(["quotas", "list"]);
    assert_eq!(ran.assert_success(), "");
    assert!(ran.stderr.contains("`agcore quotas set --help`"), "{}", ran.stderr);
    let ran = agcore.run(["quotas", "usage"]);
    assert_eq!(ran.assert_success(), "");
    assert!(ran.stderr.contains("No quota applies"), "{}", ran.stderr);

    let month = ["set", "--tenant", "acme", "--per", "month", "--money", "500 USD"];
    assert_eq!(printed(&agcore, month), "Set the quota of the tenant acme per month");
    let day = [
        "set",
        "--tenant",
        "acme",
        "--each-user",
        "--per",
        "day",
        "--tokens",
        "5000",
    ];
    assert_eq!(
        printed(&agcore, day),
        "Set the quota of each user of the tenant acme per day"
    );
    let user = "ann\u{1b}[2J";
    let own = [
        "set", "--tenant", "acme", "--user", user, "--per", "day", "--tokens", "9", "--runs", "3",
    ];
    let text = printed(&agcore, own);
    assert!(
        text.starts_with("Set the quota of user ann") && !text.contains('\u{1b}'),
        "{text:?}"
    );

    let listed = printed(&agcore, ["list", "--tenant", "acme"]);
    assert!(
        listed.contains("500.000000 USD") && listed.contains("3 runs, 9 tokens"),
        "{listed}"
    );
    assert!(!listed.contains('\u{1b}'), "{listed:?}");
    let all = json_of(&agcore, ["list", "--tenant", "acme"]);
    assert_eq!(
        all["quotas"],
        json!([
            {"scope": "tenant", "window": "month", "money": "500.000000 USD"},
            {"scope": "each_user", "window": "day", "tokens": 5000},
            {"scope": "user", "user": user, "window": "day", "runs": 3, "tokens": 9},
        ])
    );
    let usage = json_of(&agcore, ["usage", "--tenant", "acme", "--user", user]);
    assert_eq!(usage["usage"][1]["quota"]["tokens"], 9, "{usage}");
    let usage = json_of(&agcore, ["usage", "--tenant", "acme", "--user", "bob"]);
    assert_eq!(usage["usage"][1]["quota"]["tokens"], 5000, "{usage}");

    let delete = ["delete", "--tenant", "acme", "--per", "month"];
    assert_eq!(
        printed(&agcore, delete),
        "Deleted the quota of the tenant acme per month"
    );
    agcore.run(["quotas"].into_iter().chain(delete)).assert_failed(
        2,
        &["there is no quota of the tenant acme per month", "`agcore quotas list`"],
    );
}

#[test]
fn quotas_that_make_no_sense_are_refused() {
    let agcore = Agcore::new().at_home();
    for (arguments, words) in [
        (&["set", "--tokens", "5"][..], "--per"),
        (&["set", "--per", "day"], "--tokens"),
        (&["set", "--per", "week", "--runs", "5"], "minute, hour, day, month"),
        (&["set", "--per", "day", "--money", "5"], "0.50 USD"),
        (&["set", "--per", "day", "--money=-5 USD"], "negative"),
        (&["set", "--per", "day", "--user", "", "--runs", "1"], "1 to 1024 bytes"),
        (
            &["set", "--per", "day", "--user", "a", "--each-user", "--runs", "1"],
            "--user",
        ),
    ] {
        let arguments = ["quotas"].iter().chain(arguments).copied();
        agcore.run(arguments).assert_failed(2, &[words]);
    }
    printed(&agcore, ["set", "--per", "day", "--money", "5 USD"]);
    let other = ["quotas", "set", "--per", "month", "--money", "5 EUR"];
    agcore.run(other).assert_failed(2, &["USD", "EUR"]);
}

#[test]
fn a_server_enforces_the_quotas_of_the_settings_and_of_the_database() {
    let settings = "[[serve.quotas]]\nscope = 'tenant'\nper = 'month'\nruns = 2\nmoney = '1.00 USD'\n";
    let (model, agcore) = priced(settings);
    let serving = Serving::start(&agcore, &["--model", "priced"]);
    for thread in ["one", "two"] {
        let events = ask(&serving, thread);
        assert!(events.contains("RUN_FINISHED"), "{events}");
    }
    let refused = ask(&serving, "three");
    assert!(
        refused.starts_with("HTTP/1.1 429") && refused.contains("quota_exceeded") && refused.contains("retry-after: "),
        "{refused}"
    );
    let used = loop {
        let usage = json_of(&agcore, ["usage"])["usage"][0].clone();
        if usage["used"]["money"] == "0.000600 USD" {
            break usage;
        }
    };
    assert_eq!(
        used["used"],
        json!({"runs": 2, "model_calls": 2, "tokens": 240, "money": "0.000600 USD"})
    );
    assert_eq!(used["held"]["tokens"], 0, "{used}");
    let table = printed(&agcore, ["usage"]);
    assert!(
        table.contains("limit 2 runs") && table.contains("used 0.000600 USD"),
        "{table}"
    );

    // The quota in the database replaces that of the settings, at once.
    printed(
        &agcore,
        ["set", "--per", "month", "--runs", "3", "--money", "0.0007 USD"],
    );
    let events = ask(&serving, "four");
    assert!(
        events.contains(r#""code":"limit""#) && events.contains("your tenant may use 0.000700 USD in a month"),
        "{events}"
    );
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn calls_without_a_price_are_refused_if_money_is_limited() {
    let settings = "[[serve.quotas]]\nscope = 'each-user'\nper = 'day'\nmoney = '1.00 USD'\n";
    let (model, agcore) = priced(settings);
    let serving = Serving::start(&agcore, &["--model", "another"]);
    let events = ask(&serving, "t");
    assert!(events.contains("RUN_ERROR") && events.contains("another"), "{events}");
    assert!(model.requests().is_empty());
}

#[test]
fn quotas_in_the_settings_are_checked() {
    let settings = "[[serve.quotas]]\nscope = 'tenant'\nper = 'day'\n";
    let (_model, agcore) = priced(settings);
    for command in [&["serve", "--check"][..], &["quotas", "usage"]] {
        agcore
            .run(command)
            .assert_failed(2, &["[[serve.quotas]]: the quota limits nothing"]);
    }
}

#[test]
fn a_quota_in_another_currency_than_those_of_the_settings_is_refused() {
    let settings = "[[serve.quotas]]\nscope = 'tenant'\nper = 'month'\nmoney = '1.00 USD'\n";
    let (_model, agcore) = priced(settings);
    let clashing = ["quotas", "set", "--per", "day", "--money", "5 EUR"];
    agcore
        .run(clashing)
        .assert_failed(2, &["USD", "EUR", "[[serve.quotas]]"]);
    // It replaces the one in the other currency.
    printed(&agcore, ["set", "--per", "month", "--money", "5 EUR"]);
    printed(&agcore, ["set", "--per", "day", "--money", "5 EUR"]);
    let needed = ["quotas", "delete", "--per", "month"];
    agcore.run(needed).assert_failed(2, &["USD", "EUR"]);
    printed(&agcore, ["delete", "--per", "day"]);
    printed(&agcore, ["delete", "--per", "month"]);
}
