//! `agcore init`.

use std::fs;

use agcore_demo::Playground;
use agcore_testkit::mock_server::MockOptions;

use crate::support::{Agcore, KEY, Server};

/// An address at which no Ollama runs.
const NO_OLLAMA: &str = "127.0.0.1:9";

fn at_home() -> Agcore {
    Agcore::new()
        .at_home()
        .with("AGCORE_KEYRING", "off")
        .with("OLLAMA_HOST", NO_OLLAMA)
}

fn settings(agcore: &Agcore) -> Option<String> {
    fs::read_to_string(agcore.settings_directory().join("agcore.toml")).ok()
}

#[test]
fn without_a_terminal_the_options_must_be_enough() {
    let agcore = at_home();
    agcore.run(["init"]).assert_failed(
        2,
        &["pass --provider", "Found no API key", "agcore init --provider openai"],
    );
    let found = at_home().with("MISTRAL_API_KEY", KEY);
    found.run(["init"]).assert_failed(
        2,
        &[
            "Found MISTRAL_API_KEY in the environment.",
            "agcore init --provider mistral",
        ],
    );
    agcore
        .run(["init", "--provider", "opnai"])
        .assert_failed(2, &["did you mean `openai`?"]);
    agcore
        .run(["init", "--provider", "compatible"])
        .assert_failed(2, &["--base-url"]);
    let url = ["--base-url", "http://127.0.0.1:1/v1"];
    let arguments = [&["init", "--provider", "compatible"], &url[..]].concat();
    agcore.run(arguments).assert_failed(2, &["--model"]);
    assert_eq!(settings(&agcore), None);
    let shown = agcore.run(["init", "--provider", "openai"]);
    let shown = shown.assert_success();
    assert!(
        shown.contains("Store the key:\n  agcore keys set openai\nThen try it:\n  agcore 'Why is the sky blue?'\n"),
        "{shown}"
    );
    assert_eq!(
        settings(&agcore).unwrap(),
        "provider = \"openai\"\nmodel = \"gpt-5-mini\"\n"
    );
}

#[test]
fn an_existing_file_changes_only_with_a_yes() {
    let before = "# mine\nprovider = 'openai'\n\n[permissions]\nallow = ['read_notes']\n";
    let agcore = at_home().with_user_settings(before);
    let arguments = ["init", "--provider", "xai", "--model", "grok-4"];
    agcore.run(arguments).assert_failed(
        2,
        &[
            "exists and would change; pass --yes",
            "provider = \"xai\" (was 'openai')",
        ],
    );
    assert_eq!(settings(&agcore).unwrap(), before);
    agcore.run([&arguments[..], &["--yes"]].concat()).assert_success();
    let after = settings(&agcore).unwrap();
    assert!(
        after.contains("# mine") && after.contains("allow = ['read_notes']"),
        "{after}"
    );
    assert!(after.contains("provider = \"xai\""), "{after}");
    // The same again needs no yes.
    let again = agcore.run(arguments);
    assert!(
        again.assert_success().contains("has these settings already"),
        "{}",
        again.stdout
    );
    let broken = at_home().with_user_settings("api_key = sk-1\n");
    broken
        .run(["init", "--provider", "xai", "--yes"])
        .assert_failed(2, &["line 1 is not valid TOML"]);
}

#[test]
fn a_local_ollama_is_found() {
    let server = Server::start(MockOptions::new().with_models(["qwen3", "gemma3"]), Playground::new());
    let address = server
        .root_url()
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    let agcore = at_home().with("OLLAMA_HOST", &address);
    agcore
        .run(["init"])
        .assert_failed(2, &["Found an Ollama server on this machine with 2 models."]);
    agcore.run(["init", "--provider", "ollama"]).assert_success();
    let written = settings(&agcore).unwrap();
    assert!(
        written.contains("model = \"qwen3\"") && written.contains(&server.base_url()),
        "{written}"
    );
    agcore.run(["-p", "hi"]).assert_success();
    assert_eq!(server.requests().last().unwrap().json()["model"], "qwen3");
}

#[cfg(unix)]
mod at_a_terminal {
    use super::*;
    use crate::person::Person;

    #[test]
    fn asks_for_what_is_missing_and_the_chat_then_works() {
        let options = MockOptions::new().with_models(["big", "small"]).with_key(KEY);
        let server = Server::start(options, Playground::new());
        let agcore = at_home();
        let mut person = Person::running(agcore, &["init", "--base-url", &server.base_url()]);
        person.sees("Found no API key");
        person.sees("Which provider? Number or name [openai]: ");
        person.types("99");
        person.sees("There is no such number.");
        person.types("opnai");
        person.sees("did you mean `openai`?");
        person.types("");
        // The address is named before the key is sent there.
        person.sees("Server: http://127.0.0.1:");
        person.sees(", --base-url");
        person.sees("API key for openai (it is not shown; Enter skips this): ");
        // Something that cannot be a key is asked for again, and so is a key that the server rejects; neither is kept.
        person.types("export OPENAI_API_KEY=sk-wrong");
        person.sees("this is not an API key: it contains a space");
        person.sees("Enter skips this): ");
        person.types("sk-wrong");
        person.sees("rejected the API key");
        // Where else a key could be does not matter here.
        let advice = person.sees("Enter skips this): ");
        assert!(
            advice.lines().count() <= 3 && !advice.contains("agcore config"),
            "{advice}"
        );
        person.types(KEY);
        let shown = person.sees("The key is stored in ");
        assert!(!shown.contains("sk-"), "{shown}");
        person.sees("Model [big] (? lists ");
        person.types("small");
        person.sees("The settings are in ");
        person.sees("agcore 'Why is the sky blue?'");
        let agcore = person.leaves_with(0);
        assert!(!settings(&agcore).unwrap().contains(KEY));
        agcore.run(["-p", "hi"]).assert_success();
        let request = server.requests().pop().unwrap();
        assert_eq!(request.json()["model"], "small");
    }

    #[test]
    fn a_stored_key_that_the_server_rejects_is_replaced() {
        let options = MockOptions::new().with_models(["small"]).with_key(KEY);
        let server = Server::start(options, Playground::new());
        let agcore = at_home();
        agcore.run_with(["keys", "set", "openai"], b"sk-wrong").assert_success();
        let mut person = Person::running(agcore, &["init", "--base-url", &server.base_url()]);
        person.sees("Found a stored key for openai.");
        person.sees("Which provider? Number or name [openai]: ");
        person.types("");
        person.sees("rejected the API key");
        person.sees("Enter skips this): ");
        person.types(KEY);
        person.sees("The key is stored in ");
        person.sees("Model [small] (? lists ");
        person.types("");
        person.sees("The settings are in ");
        let agcore = person.leaves_with(0);
        agcore.run(["-p", "hi"]).assert_success();
    }

    #[test]
    fn a_server_of_ones_own_may_need_a_key() {
        let options = MockOptions::new().with_models(["small"]).with_key(KEY);
        let server = Server::start(options, Playground::new());
        let url = server.base_url();
        let agcore = at_home();
        let mut person = Person::running(agcore, &["init", "--provider", "compatible", "--base-url", &url]);
        person.sees("asks for an API key");
        person.sees("API key for compatible (it is not shown; Enter skips this): ");
        person.types(&format!("\"{KEY}\""));
        person.sees("The key is stored in ");
        person.sees("Model [small] (? lists ");
        person.types("");
        person.sees("The settings are in ");
        let agcore = person.leaves_with(0);
        agcore.run(["-p", "hi"]).assert_success();
    }

    #[test]
    fn the_key_is_checked_at_the_server_that_a_chat_uses() {
        let options = MockOptions::new().with_models(["small"]).with_key(KEY);
        let server = Server::start(options, Playground::new());
        let agcore = at_home().with("OPENAI_BASE_URL", &server.base_url());
        let mut person = Person::running(agcore, &["init", "--provider", "openai"]);
        person.sees(", OPENAI_BASE_URL in the environment");
        person.sees("Enter skips this): ");
        person.types(KEY);
        person.sees("can be used and lists 1 model.");
        person.sees("Model [small] (? lists ");
        person.types("");
        let agcore = person.leaves_with(0);
        assert!(settings(&agcore).unwrap().contains(&server.base_url()));
    }

    #[test]
    fn a_model_that_the_server_does_not_list_is_asked_about() {
        let options = MockOptions::new().with_models(["small", "large"]).with_key(KEY);
        let server = Server::start(options, Playground::new());
        let agcore = at_home().with("OPENAI_API_KEY", KEY);
        let url = server.base_url();
        let mut person = Person::running(agcore, &["init", "--provider", "openai", "--base-url", &url]);
        person.sees("Model [small] (? lists ");
        person.types("?");
        person.sees("  large");
        person.sees("Model [small] (? lists ");
        person.types("smal");
        person.sees("The server does not list `smal`; did you mean `small`? Enter it again to use it anyway");
        person.sees("Model [small] (? lists ");
        person.types("smal");
        person.sees("The settings are in ");
        let agcore = person.leaves_with(0);
        assert!(settings(&agcore).unwrap().contains("\"smal\""));
    }

    #[test]
    fn an_address_without_its_version_is_noticed_and_can_be_corrected_later() {
        let server = Server::start(MockOptions::new().with_models(["small"]), Playground::new());
        let root = server.root_url().trim_end_matches('/').to_owned();
        let mut person = Person::running(at_home(), &["init", "--provider", "compatible"]);
        person.sees("Base URL, such as http://localhost:8000/v1: ");
        person.types(&root);
        person.sees("does not list its models; ");
        person.sees("/v1 lists 1 model.");
        person.sees("/v1 instead? [Y]es, [n]o: ");
        person.types("n");
        person.sees("is reachable, but does not list its models.");
        person.sees("Model: ");
        person.types(&server.base_url());
        person.sees("this is a URL, not the name of a model");
        person.types("sk-test-123456");
        person.sees("this looks like an API key");
        person.sees("Model: ");
        person.types("small");
        person.sees("The settings are in ");
        let agcore = person.leaves_with(0);

        let mut person = Person::running(agcore, &["init"]);
        person.sees("Which provider? Number or name [compatible]: ");
        person.types("");
        person.sees(&format!("Base URL [{root}]: "));
        person.types("");
        person.sees("/v1 instead? [Y]es, [n]o: ");
        person.types("");
        person.sees("can be used and lists 1 model.");
        person.sees("Model [small] (? lists ");
        person.types("");
        person.sees("Change them? [y]es, [n]o (Enter: no): ");
        person.types("y");
        person.sees("The settings are in ");
        let agcore = person.leaves_with(0);
        agcore.run(["-p", "hi"]).assert_success();
        let key = agcore.run(["init", "--provider", "xai", "--model", "sk-test-123456"]);
        key.assert_failed(2, &["--model: this looks like an API key"]);
        assert!(!key.stderr.contains("123456"), "{}", key.stderr);
    }

    #[test]
    fn an_address_that_cannot_be_reached_is_asked_for_again() {
        let options = MockOptions::new().with_models(["small"]).with_key(KEY);
        let server = Server::start(options, Playground::new());
        let arguments = ["init", "--provider", "openai", "--base-url", "http://127.0.0.1:9/v1"];
        let mut person = Person::running(at_home(), &arguments);
        person.sees("Server: http://127.0.0.1:9/v1, --base-url");
        person.sees("Enter skips this): ");
        person.types(KEY);
        person.sees("not checked: ");
        person.sees("The key is stored in ");
        person.sees("Base URL [http://127.0.0.1:9/v1]: ");
        person.types("localhost");
        person.sees("This is not a URL that starts with http:// or https://.");
        person.sees("Base URL [http://127.0.0.1:9/v1]: ");
        person.types(&server.base_url());
        person.sees("as entered");
        // The key that was entered is used.
        person.sees("can be used and lists 1 model.");
        person.sees("Model [small] (? lists 1 model): ");
        person.types("?");
        person.sees("  small");
        person.types("");
        person.sees("The settings are in ");
        let agcore = person.leaves_with(0);
        assert!(settings(&agcore).unwrap().contains(&server.base_url()));
        agcore.run(["-p", "hi"]).assert_success();
    }

    #[test]
    fn a_rejected_key_in_the_environment_is_to_be_corrected_there() {
        let server = Server::start(MockOptions::new().with_key(KEY), Playground::new());
        let agcore = at_home().with("OPENAI_API_KEY", "sk-wrong");
        let mut person = Person::running(
            agcore,
            &["init", "--provider", "openai", "--base-url", &server.base_url()],
        );
        person.sees("rejected the API key");
        let between = person.sees("This is the key in OPENAI_API_KEY in the environment: correct it there.");
        assert!(!between.contains("agcore keys"), "{between}");
        person.sees("Model [gpt-5-mini]: ");
        person.presses('c');
        person.leaves_with(130);
    }

    #[test]
    fn long_lines_break_between_words() {
        let mut person = Person::scripting(at_home(), "stty cols 50 rows 30 && exec \"$0\" init");
        person.sees("Which provider? Number or name [openai]: ");
        person.types("opnai");
        let shown = person.sees("Which provider?");
        assert!(shown.contains("unknown provider type"), "{shown}");
        assert!(shown.lines().all(|line| line.trim_end().len() < 51), "{shown}");
        person.presses('c');
        person.leaves_with(130);
    }

    #[test]
    fn an_existing_file_is_shown_and_kept_after_a_no() {
        let before = "provider = 'openai'\nmodel = 'old'\n";
        let agcore = at_home().with_user_settings(before).with("XAI_API_KEY", KEY);
        let arguments = [
            "init",
            "--provider",
            "xai",
            "--model",
            "grok-4",
            "--base-url",
            "http://127.0.0.1:9/v1",
        ];
        let mut person = Person::running(agcore, &arguments);
        person.sees("not checked: ");
        person.sees("Base URL [http://127.0.0.1:9/v1]: ");
        person.types("");
        person.sees("provider = \"xai\" (was 'openai')");
        person.sees("Change them? [y]es, [n]o (Enter: no): ");
        person.types("n");
        person.sees("is unchanged");
        let agcore = person.leaves_with(1);
        assert_eq!(settings(&agcore).unwrap(), before);
    }

    #[test]
    fn a_chat_without_a_key_offers_to_ask_for_it() {
        let options = MockOptions::new().with_models(["small"]).with_key(KEY);
        let server = Server::start(options, Playground::new());
        let mut person = Person::running(at_home(), &[]);
        person.sees("There is no API key for openai yet. `agcore init` asks for what is missing.");
        person.sees("Run it now? [y]es, [n]o: ");
        person.types("n");
        person.sees("error: openai: the API key is missing");
        person.sees("agcore demo --chat");
        let agcore = person.leaves_with(3);

        let mut person = Person::running(agcore, &[]);
        person.sees("Run it now? [y]es, [n]o: ");
        person.types("y");
        person.sees("Which provider? Number or name [openai]: ");
        person.types("compatible");
        person.sees("Base URL, such as ");
        person.types(&server.base_url());
        person.sees("Enter skips this): ");
        person.types(KEY);
        person.sees("Model [small] (? lists ");
        person.types("");
        person.sees("Ctrl-D exits.");
        person.next();
        person.types("hello");
        person.sees("messages in this request: 2");
        person.next();
        person.presses('d');
        person.leaves_with(0);
    }

    #[test]
    fn ctrl_c_writes_nothing() {
        let mut person = Person::running(at_home(), &["init"]);
        person.sees("Which provider? Number or name [openai]: ");
        person.presses('c');
        let agcore = person.leaves_with(130);
        assert_eq!(settings(&agcore), None);
    }
}
