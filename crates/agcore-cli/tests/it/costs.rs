//! Costs of chats and single messages, by the prices of a catalog.

use serde_json::Value;

use crate::support::{Agcore, Server};

const CATALOG: &str = r#"
version = "2026-05"

[[vendors]]
name = "somebody"

[[vendors.endpoints]]
name = "chat"
api = "openai"
kinds = ["text"]

[[vendors.keys]]
name = "team"
secret = "${OPENAI_API_KEY}"
users = ["*"]

[[vendors.models]]
name = "priced"
kind = "text"
default = true

[[vendors.models.prices]]
currency = "USD"
tiers = [{ input = "1000000", output = "0" }]
"#;

fn cost(agcore: &Agcore, arguments: &[&str]) -> Value {
    let ran = agcore.run([&["-p", "hello", "--output-format", "json"], arguments].concat());
    let result: Value = serde_json::from_str(ran.assert_success()).unwrap();
    let mut cost = result["cost"].clone();
    cost["input"] = result["usage"]["turn"]["input"].clone();
    cost
}

#[test]
fn a_result_contains_the_cost_of_a_priced_model_and_null_for_others() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).with_file("prices.toml", CATALOG);
    let priced = cost(&agcore, &["--catalog", "prices.toml", "--model", "priced"]);
    // A token of input costs one dollar.
    let expected = format!("{}.000000", priced["input"]);
    assert_eq!(priced["amount"], expected);
    assert_eq!((&priced["currency"], &priced["exact"]), (&"USD".into(), &false.into()));
    assert_eq!(priced["price_table"], "prices.toml");
    let unknown = cost(&agcore, &["--catalog", "prices.toml", "--model", "other"]);
    assert_eq!(
        (&unknown["amount"], &unknown["price_table"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(cost(&agcore, &["--model", "priced"])["amount"], Value::Null);

    agcore
        .run(["-p", "hello", "--catalog", "gone.toml"])
        .assert_failed(2, &["cannot read gone.toml"]);
    let agcore = agcore.with_file("wrong.toml", "vendors = 1\n");
    agcore
        .run(["-p", "hello", "--catalog", "wrong.toml"])
        .assert_failed(1, &["the catalog has"]);
}

#[test]
fn the_settings_have_prices_for_models_that_no_catalog_has() {
    let server = Server::playground();
    let settings = "[prices]\npriced = { input = 2000000, output = 0 }\nown = { input = 1_000_000, output = 0.0, currency = 'EUR' }\n";
    let agcore = Agcore::talking_to(&server)
        .at_home()
        .with_user_settings(settings)
        .with_file("prices.toml", CATALOG);
    let file = agcore.settings_directory().join("agcore.toml").display().to_string();
    let amount = |cost: &Value| {
        let dollars = cost["input"].as_u64().unwrap();
        (cost["amount"].as_str().unwrap_or("none").to_owned(), dollars)
    };
    let own = cost(&agcore, &["--model", "own"]);
    let (text, tokens) = amount(&own);
    assert_eq!((text, &own["currency"]), (format!("{tokens}.000000"), &"EUR".into()));
    assert_eq!(own["price_table"], file);
    let doubled = cost(&agcore, &["--model", "priced"]);
    let (text, tokens) = amount(&doubled);
    assert_eq!(text, format!("{}.000000", 2 * tokens));
    // A catalog comes first.
    let priced = cost(&agcore, &["--catalog", "prices.toml", "--model", "priced"]);
    let (text, tokens) = amount(&priced);
    assert_eq!((text, &priced["currency"]), (format!("{tokens}.000000"), &"USD".into()));
    let own = cost(&agcore, &["--catalog", "prices.toml", "--model", "own"]);
    assert_eq!(own["currency"], "EUR");
    assert_eq!(cost(&agcore, &["--model", "other"])["amount"], Value::Null);

    let check = |text: &str, texts: &[&str]| {
        let agcore = Agcore::talking_to(&server).at_home().with_user_settings(text);
        agcore.run(["-p", "hello"]).assert_failed(2, texts);
    };
    check(
        "[prices.m]\ninput = 1\n",
        &["agcore.toml:1:1: ", "[prices.m] lacks the setting `output`"],
    );
    check(
        "[prices.m]\ninput = -1\noutput = 1\n",
        &["agcore.toml:1:9: invalid price: input: a rate is a decimal number"],
    );
    check(
        "[prices.m]\ninput = 1\noutput = 1\ncurrency = 'dollars'\n",
        &["agcore.toml:1:9: invalid price: currency: "],
    );
    check(
        "[prices.m]\ninput = 1\noutptu = 1\n",
        &["unknown setting `outptu`", "did you mean `output`?"],
    );
}

/// Returns the report of `agcore cost --json`.
#[cfg(feature = "sqlite")]
fn report(agcore: &Agcore, arguments: &[&str]) -> Value {
    let ran = agcore.run([&["cost", "--json"], arguments].concat());
    serde_json::from_str(ran.assert_success()).unwrap()
}

#[cfg(feature = "sqlite")]
#[test]
fn the_costs_of_kept_sessions_are_added() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home().with_file("prices.toml", CATALOG);
    assert_eq!(agcore.run(["cost"]).assert_success(), "There are no model calls.\n");
    let priced = cost(&agcore, &["--catalog", "prices.toml", "--model", "priced"]);
    cost(&agcore, &["--catalog", "prices.toml", "--model", "other"]);
    cost(&agcore, &["--model", "priced"]);

    // A later catalog changes nothing.
    let agcore = agcore.with_file("prices.toml", &CATALOG.replace("1000000", "5"));
    let models = report(&agcore, &["--by", "model"]);
    let rows = models["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{models}");
    let row = |model: &str| rows.iter().find(|row| row["model"] == model).unwrap();
    assert_eq!(row("priced")["costs"]["USD"], priced["amount"]);
    assert_eq!(
        (&row("priced")["calls"], &row("priced")["unpriced_calls"]),
        (&2.into(), &1.into())
    );
    assert_eq!(
        (&row("other")["calls"], &row("other")["unpriced_calls"]),
        (&1.into(), &1.into())
    );
    assert_eq!(models["total"]["costs"]["USD"], priced["amount"]);
    assert_eq!(models["total"]["input_tokens"], 3 * priced["input"].as_u64().unwrap());

    for (group, rows) in [("session", 3), ("day", 1), ("user", 1), ("key", 1)] {
        let grouped = report(&agcore, &["--by", group]);
        assert_eq!(grouped["rows"].as_array().unwrap().len(), rows, "{grouped}");
        assert_eq!(grouped["total"], models["total"], "{group}");
    }
    let text = agcore.run(["cost"]);
    let text = text.assert_success();
    assert!(
        text.contains("The price of 2 of 3 calls is unknown; the sums do not contain them."),
        "{text}"
    );
    // It is explained what to do about it.
    for advice in [
        "/agcore/catalog.toml, for a million tokens:",
        "tiers = [{ input = ",
        "agcore catalog check ",
    ] {
        assert!(text.contains(advice), "{advice}: {text}");
    }
    // Later calls of one of the models have a price, so that only the other one needs some.
    let priced = text.contains("To bill later calls of other, priced, write");
    assert!(priced, "{text}");
    let agcore = agcore.with_file("server.toml", "[prices]\nother = { input = 1, output = 2 }\n");
    let run = agcore.run(["cost", "--config", "server.toml"]);
    let text = run.assert_success();
    assert!(
        text.contains("has prices for other: later calls are billed")
            && text.contains("To bill later calls of priced, write"),
        "{text}"
    );
    let run = agcore.run(["cost", "--config", "server.toml", "--catalog", "prices.toml"]);
    let text = run.assert_success();
    assert!(
        text.contains("has prices for other, priced: ") && !text.contains("No list price is known"),
        "{text}"
    );
    assert_eq!(report(&agcore, &["--until", "2020-01-01"])["total"]["calls"], 0);
    assert_eq!(report(&agcore, &["--tenant", "acme"])["total"]["calls"], 0);
    agcore.run(["cost", "--since", "May"]).assert_failed(2, &["YYYY-MM-DD"]);
    agcore
        .run(["cost", "--file", "gone.db"])
        .assert_failed(2, &["there is no database gone.db"]);
}

#[cfg(unix)]
#[test]
fn a_chat_shows_the_cost_of_turn_and_session() {
    use crate::person::Person;

    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let directory = agcore.home.path().join("config").join("agcore");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("catalog.toml"), CATALOG).unwrap();
    let mut person = Person::chatting(agcore, &["--model", "priced"]);
    person.types("hello");
    person.sees("Cost: ");
    let turn = person.sees(" USD").trim().to_owned();
    assert!(turn.ends_with(".000000") && !turn.starts_with('0'), "{turn}");
    person.next();
    person.types("/cost");
    person.sees(&format!("cost of the session  {turn} USD"));
    person.next();
    // A model without a price makes the sum a lower bound.
    person.types("/model other");
    person.next();
    person.types("again");
    person.sees("Cost: unknown");
    person.next();
    person.types("/cost");
    person.sees(&format!(
        "cost of the session  at least {turn} USD; the price of 1 of 2 calls is unknown"
    ));
    person.next();
    person.presses('d');
    person.leaves_with(0);
}
