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
