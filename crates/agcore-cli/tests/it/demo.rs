//! `agcore demo`.

use crate::support::Agcore;

#[test]
fn an_agent_is_shown_at_work() {
    let agcore = Agcore::new();
    let ran = agcore.run(["demo"]);
    let shown = ran.assert_done();
    let mut rest = shown;
    // In this order.
    for part in [
        "the model is a script",
        "My name is Ada.",
        "● weather {\"city\":\"Lisbon\"}\n● local_time {\"city\":\"Lisbon\"}\n",
        "21 °C and sunny in Lisbon",
        "● save_note",
        "? save_note wants to run with {\"text\":\"book a table in Lisbon.\"}. The demo says yes.\n",
        "✓ save_note",
        "What is my name?",
        "Your name is Ada.",
        "All turns: ",
        "Cost: none, the model was a script.",
    ] {
        let (_, after) = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("no {part:?} in its place: {shown}"));
        rest = after;
    }
    assert_eq!(ran.stderr, "");
    assert!(agcore.files().is_empty());
}

#[test]
fn neither_settings_nor_proxies_lead_it_elsewhere() {
    let agcore = Agcore::new()
        .with("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        .with("HTTP_PROXY", "http://127.0.0.1:1")
        .with("http_proxy", "http://127.0.0.1:1")
        .with_file("agcore.toml", "this is no settings file");
    agcore.run(["demo"]).assert_done();
}
