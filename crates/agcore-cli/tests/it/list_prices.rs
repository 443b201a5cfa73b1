//! List prices of vendors: in first chats without a catalog, in lists of models, and updates of them.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use agcore_demo::Playground;
use agcore_testkit::mock_server::MockOptions;
use serde_json::{Value, json};

use crate::{
    proxy::ForwardProxy,
    support::{Agcore, KEY, Server},
};

/// Vendors with a host of theirs and the variable of the key, and a model.
const VENDORS: [(&str, &str, &str, &str); 6] = [
    ("openai", "api.openai.com", "OPENAI_API_KEY", "gpt-4o-mini-2024-07-18"),
    (
        "anthropic",
        "api.anthropic.com",
        "ANTHROPIC_API_KEY",
        "claude-haiku-4-5",
    ),
    ("xai", "api.x.ai", "XAI_API_KEY", "grok-4.3"),
    ("groq", "api.groq.com", "GROQ_API_KEY", "openai/gpt-oss-20b"),
    ("deepseek", "api.deepseek.com", "DEEPSEEK_API_KEY", "deepseek-v4-flash"),
    ("moonshot", "api.moonshot.ai", "MOONSHOT_API_KEY", "kimi-k2.5"),
];

/// Returns the program, for which a proxy leads to the test server instead of the server of a vendor.
fn at_vendor(proxy: &ForwardProxy, (provider, host, variable, model): (&str, &str, &str, &str)) -> Agcore {
    Agcore::new()
        .at_home()
        .with("AGCORE_PROVIDER", provider)
        .with("AGCORE_BASE_URL", &format!("http://{host}/v1"))
        .with("AGCORE_MODEL", model)
        .with("AGCORE_PROXY", &proxy.url())
        .with(variable, KEY)
}

fn result(agcore: &Agcore, arguments: &[&str]) -> Value {
    let ran = agcore.run([&["-p", "hello", "--output-format", "json"], arguments].concat());
    serde_json::from_str(ran.assert_success()).unwrap()
}

#[test]
fn a_first_message_to_a_vendor_has_a_cost() {
    let server = Server::playground();
    let proxy = ForwardProxy::to(&server);
    for vendor in VENDORS {
        let agcore = at_vendor(&proxy, vendor);
        let cost = &result(&agcore, &[])["cost"];
        let amount = cost["amount"].as_str().unwrap_or_else(|| panic!("{vendor:?}: {cost}"));
        assert!(
            amount.bytes().any(|byte| (b'1'..=b'9').contains(&byte)),
            "{vendor:?}: {amount}"
        );
        assert_eq!(cost["currency"], "USD");
        let table = cost["price_table"].as_str().unwrap();
        assert!(table.starts_with("the built-in list of 20"), "{table}");
        #[cfg(feature = "sqlite")]
        {
            // The bill is stored, with the list as the version of the price.
            let report = agcore.run(["cost", "--json"]);
            let report: Value = serde_json::from_str(report.assert_success()).unwrap();
            assert_eq!(report["total"]["costs"]["USD"], cost["amount"], "{vendor:?}");
        }
    }
}

#[test]
fn a_local_server_has_no_price_of_a_vendor() {
    let server = Server::playground();
    for provider in ["openai", "compatible", "ollama", "llama.cpp", "vllm"] {
        let agcore = Agcore::talking_to(&server)
            .with("AGCORE_PROVIDER", provider)
            .with("AGCORE_BASE_URL", &server.base_url())
            .with("AGCORE_MODEL", "gpt-4o");
        let ran = agcore.run(["-p", "hello", "--output-format", "json"]);
        let result: Value = serde_json::from_str(ran.assert_success()).unwrap();
        assert_eq!(result["cost"]["amount"], Value::Null, "{provider}");
        assert!(!ran.stderr.contains("price"), "{}", ran.stderr);
    }
}

#[test]
fn a_catalog_of_the_user_has_precedence() {
    let server = Server::playground();
    let proxy = ForwardProxy::to(&server);
    let settings = "[prices]\ngpt-4o-mini = { input = 1_000_000, output = 0 }\n";
    let agcore = at_vendor(&proxy, ("openai", "api.openai.com", "OPENAI_API_KEY", "gpt-4o-mini"));
    let own = result(&agcore.with_user_settings(settings), &[]);
    let tokens = own["usage"]["turn"]["input"].as_u64().unwrap();
    assert_eq!(own["cost"]["amount"], format!("{tokens}.000000"));
    let table = own["cost"]["price_table"].as_str().unwrap();
    assert!(table.contains("agcore.toml and the built-in list of 20"), "{table}");
}

#[test]
fn a_model_of_a_vendor_without_a_price_is_reported_once() {
    let server = Server::playground();
    let proxy = ForwardProxy::to(&server);
    let agcore = at_vendor(&proxy, ("openai", "api.openai.com", "OPENAI_API_KEY", "gpt-4o-minx"));
    let ran = agcore.run(["-p", "hello"]);
    ran.assert_success();
    let note =
        "The price of `gpt-4o-minx` is not known, so its calls have no cost. Models with a similar name: gpt-4o-mini";
    assert_eq!(ran.stderr.matches(note).count(), 1, "{}", ran.stderr);
    assert_eq!(result(&agcore, &[])["cost"]["amount"], Value::Null);
}

#[cfg(unix)]
#[test]
fn a_chat_shows_costs_without_a_catalog() {
    use crate::person::Person;

    let server = Server::playground();
    let proxy = ForwardProxy::to(&server);
    let agcore = at_vendor(&proxy, ("openai", "api.openai.com", "OPENAI_API_KEY", "gpt-4o"));
    let mut person = Person::chatting(agcore, &[]);
    person.types("hello");
    person.sees("Cost: 0.0");
    person.sees(" USD");
    person.next();
    person.types("/model gpt-4o-x");
    person.next();
    person.types("again");
    person.sees("Cost: unknown");
    person.sees("The price of `gpt-4o-x` is not known");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn models_have_the_price_and_the_window_of_the_list() {
    let options = MockOptions::new().with_models(["gpt-4o", "gpt-unknown"]).with_key(KEY);
    let server = Server::start(options, Playground::new());
    let proxy = ForwardProxy::to(&server);
    let agcore = at_vendor(&proxy, ("openai", "api.openai.com", "OPENAI_API_KEY", "gpt-4o"));
    let shown = agcore.run(["models"]);
    assert_eq!(
        shown.assert_success(),
        "gpt-4o       128000 tokens  2.5 / 10 USD  agcore-mock\n\
         gpt-unknown                 no price      agcore-mock\n"
    );
    let models: Value = serde_json::from_str(agcore.run(["models", "--json"]).assert_success()).unwrap();
    assert_eq!(models["models"][0]["listed"]["prices"][0]["tiers"][0]["input"], "2.5");
    assert_eq!(models["models"][1]["listed"], Value::Null);
    let text = Agcore::new().run(["models", "--listed", "--filter", "gpt-4o-mini"]);
    let line = text
        .assert_success()
        .lines()
        .find(|line| line.starts_with("openai  gpt-4o-mini "));
    assert!(
        line.is_some_and(|line| line.contains("0.15 / 0.6 USD")),
        "{}",
        text.stdout
    );
    let json = Agcore::new().run(["models", "--listed", "--json", "--filter", "claude"]);
    let json: Value = serde_json::from_str(json.assert_success()).unwrap();
    assert_eq!(json["sources"][0]["license"], "MIT");
    let none = Agcore::new().run(["models", "--listed", "--filter", "no such model"]);
    none.assert_failed(1, &["no model of the list matches ("]);
}

#[test]
fn the_built_in_list_is_valid() {
    let ran = Agcore::new().run(["catalog", "check"]);
    let text = ran.assert_success();
    assert!(
        text.starts_with("the built-in list of 20") && text.contains(" is valid: vendors "),
        "{text}"
    );
    let role = Agcore::new().run(["catalog", "check", "--role", "intent"]);
    role.assert_failed(2, &["list prices have no roles"]);
}

/// A list in which the price of a model is another one than the one that is built in.
fn list(input: &Value) -> String {
    json!({"openai": {"models": {"gpt-4o": {"cost": {"input": input, "output": 10}}, "gpt-new": {"cost": {"input": 1, "output": 2}}}}})
        .to_string()
}

#[test]
fn an_update_shows_the_difference_and_needs_consent() {
    let server = Server::playground();
    let proxy = ForwardProxy::to(&server);
    let agcore = at_vendor(&proxy, ("openai", "api.openai.com", "OPENAI_API_KEY", "gpt-new"))
        .with_file("list.json", &list(&json!(2)));
    let path = agcore.settings_directory().join("snapshot.jsonl");
    let ran = agcore.run(["catalog", "update", "--from", "list.json"]);
    ran.assert_failed(
        2,
        &["was not written: there is no terminal at which to ask; pass --yes"],
    );
    assert!(
        ran.stdout
            .contains("~ openai/gpt-4o: 2.5/10 USD -> 2/10 USD, without hit, batch, priority\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("+ openai/gpt-new: 1/2 USD\n"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains(": 1 new, 0 removed, 1 with other prices,"),
        "{}",
        ran.stdout
    );
    assert!(!path.exists());

    let ran = agcore.run(["catalog", "update", "--from", "list.json", "--yes"]);
    assert!(
        ran.assert_success().contains("snapshot.jsonl is written."),
        "{}",
        ran.stdout
    );
    let cost = &result(&agcore, &[])["cost"];
    assert!(cost["amount"].is_string(), "{cost}");
    assert!(
        cost["price_table"].as_str().unwrap().ends_with("snapshot.jsonl"),
        "{cost}"
    );
    let ran = agcore.run(["catalog", "update", "--from", "list.json", "--yes"]);
    assert!(ran.assert_success().contains("nothing is different"), "{}", ran.stdout);
    let checked = agcore.run(["catalog", "check"]);
    assert!(
        checked.assert_success().contains("snapshot.jsonl is valid"),
        "{}",
        checked.stdout
    );

    // A damaged file is not passed over in silence.
    std::fs::write(&path, "nonsense").unwrap();
    agcore.run(["-p", "hello"]).assert_failed(
        2,
        &[
            "cannot use the list of prices",
            "Run `agcore catalog update` again, or remove the file",
        ],
    );
    let ran = agcore.run(["catalog", "update", "--from", "list.json", "--yes"]);
    assert!(
        ran.assert_success().contains("snapshot.jsonl is written."),
        "{}",
        ran.stdout
    );
    agcore.run(["-p", "hello"]).assert_success();
}

#[test]
fn a_model_that_would_become_free_keeps_its_price() {
    let free = list(&json!(0)).replace("10", "0");
    let agcore = Agcore::new().at_home().with_file("list.json", &free);
    let ran = agcore.run(["catalog", "update", "--from", "list.json", "--yes"]);
    let shown = ran.assert_success();
    assert!(
        shown.contains("! openai.gpt-4o.prices: 0 is refused: the model costs money by now"),
        "{shown}"
    );
    assert!(shown.contains("+ openai/gpt-new: 1/2 USD\n"), "{shown}");
    assert!(!shown.contains("~ openai/gpt-4o"), "{shown}");
    let written = std::fs::read_to_string(agcore.settings_directory().join("snapshot.jsonl")).unwrap();
    let row = written.lines().find(|line| line.contains(r#""id":"gpt-4o","#)).unwrap();
    assert!(row.contains(r#""input":2.5,"output":10"#), "{row}");
}

#[test]
fn a_hostile_or_broken_list_is_refused() {
    let agcore = Agcore::new().at_home();
    let path = agcore.settings_directory().join("snapshot.jsonl");
    let refused = |text: &str, code: i32, expected: &str| {
        std::fs::write(agcore.directory.path().join("list.json"), text).unwrap();
        let ran = agcore.run(["catalog", "update", "--from", "list.json", "--yes"]);
        ran.assert_failed(code, &[expected]);
        assert!(!path.exists(), "{expected}");
    };
    refused(
        &list(&json!(-1)),
        1,
        "gpt-4o.input: \"-1\" is refused: a rate is a decimal number of at least 0",
    );
    refused(&list(&json!("NaN")), 1, "\"NaN\" is refused");
    refused(
        "{\"openai\": {\"models\": {\"gpt-4o\": {\"cost\": {\"input\": NaN}}}}}",
        1,
        "is refused",
    );
    refused("<html>Not found</html>", 1, "it is not JSON of LiteLLM or models.dev");
    refused("", 1, "it is not JSON of LiteLLM or models.dev");
    let twice = r#"{"openai": {"models": {"gpt-4o": {}, "gpt-4o": {}}}}"#;
    refused(twice, 1, "the name \"gpt-4o\" occurs twice");
    let header = r#"{"agcore_snapshot":1,"id":"x","date":"2026-05-01","sources":[]}"#;
    // Nor does a list decide which hosts have the prices of a vendor.
    let hosts = format!("{header}\n{}\n", r#"{"vendor":"openai","hosts":["*","127.0.0.1"]}"#);
    refused(&hosts, 1, "it is a list of this program");
    refused(&" ".repeat((32 << 20) + 1), 1, "which no list has");
    let missing = agcore.run(["catalog", "update", "--from", "gone.json", "--yes"]);
    missing.assert_failed(2, &["cannot read gone.json"]);
    let plain = agcore.run(["catalog", "update", "--from", "http://example.com/list.json"]);
    plain.assert_failed(2, &["it must begin with https://"]);
}

/// Serves an answer to each request, until the test ends. Returns the address, and the number of requests so far.
fn serve(answer: String) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/list.json", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            seen.fetch_add(1, Ordering::SeqCst);
            let _ = client.read(&mut [0; 4096]);
            let _ = client.write_all(answer.as_bytes());
        }
    });
    (url, count)
}

#[test]
fn a_list_is_downloaded_only_when_it_is_asked_for() {
    let body = list(&json!(2));
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let (url, count) = serve(answer);
    let agcore = Agcore::new().at_home();
    let ran = agcore.run(["catalog", "update", "--from", &url, "--yes"]);
    assert!(
        ran.assert_success().contains("~ openai/gpt-4o: 2.5/10 USD -> 2/10 USD"),
        "{}",
        ran.stdout
    );
    assert_eq!(count.load(Ordering::SeqCst), 1);
    agcore.run(["catalog", "check"]).assert_success();
    agcore
        .run(["models", "--listed", "--filter", "gpt-4o"])
        .assert_success();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let (url, _) = serve("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned());
    let ran = agcore.run(["catalog", "update", "--from", &url, "--yes"]);
    ran.assert_failed(
        1,
        &[
            "cannot download http://127.0.0.1:",
            "the server answers with the status 404",
        ],
    );
}
