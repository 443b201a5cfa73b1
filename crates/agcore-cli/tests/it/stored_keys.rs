//! `agcore keys`: keys in the file, and in the keyring of the system if one can be started.

use std::{fs, path::Path};

use serde_json::Value;

use crate::support::{Agcore, KEY, Server};

/// Returns the program with a home, without a keyring.
fn at_home() -> Agcore {
    Agcore::new().at_home().with("AGCORE_KEYRING", "off")
}

fn set(agcore: &Agcore, arguments: &[&str]) {
    let ran = agcore.run_with([&["keys", "set"], arguments].concat(), format!("{KEY}\n").as_bytes());
    let shown = ran.assert_success();
    assert!(shown.contains("is stored in"), "{shown}");
}

#[test]
fn a_stored_key_is_used_and_never_shown() {
    let server = Server::playground();
    let agcore = at_home().with("OPENAI_BASE_URL", &server.base_url());
    set(&agcore, &["openai"]);
    agcore.run(["chat", "hi"]).assert_success();
    let authorization = |index: usize| server.requests()[index].header("authorization").unwrap().to_owned();
    assert_eq!(authorization(0), format!("Bearer {KEY}"));
    for arguments in [
        &["keys", "list"][..],
        &["keys", "list", "--json"],
        &["config"],
        &["doctor"],
    ] {
        let ran = agcore.run(arguments);
        ran.assert_success();
        assert!(ran.stdout.contains("secrets.json"), "{}", ran.stdout);
    }
    // A variable has precedence, and the list says so.
    let agcore = agcore.with("OPENAI_API_KEY", "sk-of-environment");
    agcore.run(["chat", "hi"]).assert_success();
    let last = server.requests().len() - 1;
    assert_eq!(authorization(last), "Bearer sk-of-environment");
    let listed = agcore.run(["keys", "list"]);
    assert!(listed.assert_success().contains("is not used"), "{}", listed.stdout);
    assert!(!listed.stdout.contains("sk-of"), "{}", listed.stdout);
    agcore.run(["keys", "delete", "openai"]).assert_failed(
        2,
        &[
            "nothing was deleted: there is no terminal at which to ask",
            "Pass --yes to delete the key for openai.",
        ],
    );
    let ran = agcore.run(["keys", "delete", "openai", "--yes"]);
    ran.assert_success();
    assert!(ran.stderr.contains("is still set in the environment"), "{}", ran.stderr);
    assert!(!fs::read_to_string(agcore.state("secrets.json")).unwrap().contains(KEY));
    agcore
        .run(["keys", "delete", "openai", "-y"])
        .assert_failed(1, &["no key is stored for openai"]);
}

#[test]
fn the_keys_of_settings_have_precedence_over_a_stored_one() {
    let server = Server::playground();
    let agcore = at_home().with("OPENAI_BASE_URL", &server.base_url());
    set(&agcore, &["OPENAI_API_KEY"]);
    let agcore = agcore.with_user_settings("api_key = 'sk-of-file'");
    agcore.run(["chat", "hi"]).assert_success();
    let agcore = agcore.trusting().with_file(".env", "OPENAI_API_KEY=sk-of-dotenv\n");
    agcore.run(["chat", "hi"]).assert_success();
    let requests = server.requests();
    let sent: Vec<&str> = requests
        .iter()
        .filter_map(|request| request.header("authorization"))
        .collect();
    assert_eq!(sent, ["Bearer sk-of-file", "Bearer sk-of-dotenv"]);
}

#[test]
fn the_only_stored_key_selects_the_provider() {
    let agcore = at_home();
    set(&agcore, &["mistral"]);
    let ran = agcore.run(["config", "--json"]);
    let report: Value = serde_json::from_str(ran.assert_success()).unwrap();
    let provider = &report["settings"][0];
    assert_eq!(
        (&provider["value"], &provider["source"]),
        (&Value::from("mistral"), &Value::from("stored_key"))
    );
    // A variable is a stronger sign.
    let ran = agcore.with("XAI_API_KEY", "x").run(["config"]);
    assert!(ran.assert_success().contains("xai"), "{}", ran.stdout);
    let agcore = at_home();
    set(&agcore, &["mistral"]);
    set(&agcore, &["xai"]);
    agcore
        .run(["config"])
        .assert_failed(2, &["several API keys are stored", "--provider"]);
    set(&agcore, &["openai"]);
    assert!(agcore.run(["config"]).assert_success().contains("openai"));
}

#[test]
fn text_that_is_not_a_key_is_rejected_without_quoting_it() {
    let agcore = at_home();
    for input in [
        &b""[..],
        b"sk-secret one\n",
        b"sk-secret\nsk-secret\n",
        b"\xffsk-secret",
    ] {
        let ran = agcore.run_with(["keys", "set", "openai"], input);
        ran.assert_failed(2, &[]);
        assert!(!ran.stderr.contains("sk-secret"), "{}", ran.stderr);
    }
    agcore
        .run(["keys", "set", "opnai"])
        .assert_failed(2, &["did you mean `openai`?"]);
    assert!(!agcore.state("secrets.json").exists());
    let ran = agcore.run_with(["keys", "set", "openai", "--store", "keyring"], KEY.as_bytes());
    ran.assert_failed(1, &["AGCORE_KEYRING"]);
    let nowhere = Agcore::new().run_with(["keys", "set", "openai"], KEY.as_bytes());
    nowhere.assert_failed(1, &["HOME"]);
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_is_not_used() {
    use std::os::unix::fs::PermissionsExt;

    let agcore = at_home();
    set(&agcore, &["openai"]);
    let path = agcore.state("secrets.json");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(&agcore.state(""))), (0o600, 0o700));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    agcore.run(["keys", "list"]).assert_failed(1, &["chmod 600"]);
    agcore.run(["chat", "hi"]).assert_failed(3, &["warning: ", "chmod 600"]);
    let doctor = agcore.run(["doctor"]);
    assert!(doctor.stdout.contains("chmod 600"), "{}", doctor.stdout);
    assert_eq!(mode(&path), 0o644, "doctor only reads");
}

#[cfg(unix)]
#[test]
fn a_key_that_is_typed_is_not_shown() {
    use crate::person::Person;

    let mut person = Person::running(at_home(), &["keys", "set", "anthropic"]);
    person.sees("API key for anthropic (ANTHROPIC_API_KEY), which is not shown: ");
    person.types(KEY);
    let shown = person.sees("The key for anthropic is stored in ");
    assert!(!shown.contains("sk-"), "{shown}");
    let agcore = person.leaves_with(0);
    assert!(fs::read_to_string(agcore.state("secrets.json")).unwrap().contains(KEY));

    let mut person = Person::running(at_home(), &["keys", "set", "anthropic"]);
    person.sees("not shown: ");
    person.presses('c');
    let agcore = person.leaves_with(130);
    assert!(!agcore.state("secrets.json").exists());
}

/// Runs a script in a session of its own with GNOME Keyring, which has been unlocked. Returns `None`, and says so, if the
/// programs are not installed.
#[cfg(all(feature = "keyring", target_os = "linux"))]
fn in_session(agcore: &Agcore, script: &str) -> Option<crate::support::RunOutput> {
    use std::{io::Write as _, process::Command};

    #[expect(
        clippy::disallowed_methods,
        reason = "the programs are found in the path of the tests"
    )]
    let path = std::env::var_os("PATH")?;
    let is_there = |name: &str| std::env::split_paths(&path).any(|directory| directory.join(name).exists());
    if !["dbus-run-session", "gnome-keyring-daemon"]
        .iter()
        .all(|name| is_there(name))
    {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: dbus-run-session or gnome-keyring-daemon is not installed"
        );
        return None;
    }
    let unlocked =
        format!("printf password | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1; {script}");
    let program = agcore.command();
    let mut command = Command::new("dbus-run-session");
    command
        .args(["--", "/bin/sh", "-c", &unlocked])
        .arg(program.get_program());
    command
        .env_clear()
        .current_dir(agcore.directory.path())
        .env("PATH", path);
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Some(command.output().unwrap().into())
}

#[cfg(all(feature = "keyring", target_os = "linux"))]
#[test]
fn keys_are_kept_in_the_keyring_of_the_system() {
    let server = Server::playground();
    let agcore = Agcore::new().at_home().with("OPENAI_BASE_URL", &server.base_url());
    let script = format!(
        "printf '{KEY}' | \"$0\" keys set openai && \"$0\" keys list && \"$0\" -p hi >/dev/null && \"$0\" doctor && \
         \"$0\" keys delete openai --yes && \"$0\" keys list"
    );
    let Some(ran) = in_session(&agcore, &script) else {
        return;
    };
    let shown = ran.assert_success();
    assert!(
        shown.contains("The key for openai is stored in the keyring."),
        "{shown}"
    );
    assert!(
        shown.contains("OPENAI_API_KEY  keyring") || shown.contains("the keyring"),
        "{shown}"
    );
    assert!(
        shown.contains("set (keyring)") && shown.contains("1 stored, 1 of them in the keyring"),
        "{shown}"
    );
    assert!(shown.contains("No API keys are stored or set."), "{shown}");
    let sent = server.requests()[0].header("authorization").unwrap().to_owned();
    assert_eq!(sent, format!("Bearer {KEY}"));
    assert!(
        !fs::read_to_string(agcore.state("secrets.json"))
            .unwrap()
            .contains("sk-")
    );
}

#[cfg(unix)]
#[test]
fn keys_are_deleted_after_a_yes() {
    use crate::person::Person;

    let mut agcore = Agcore::new().at_home();
    let set = agcore.run_with(["keys", "set", "openai", "--store", "file"], KEY.as_bytes());
    set.assert_success();
    let kept = |agcore: &Agcore| fs::read_to_string(agcore.state("secrets.json")).unwrap().contains(KEY);
    for (answer, code) in [("", 1), ("n", 1), ("x", 1), ("\u{4}", 130), ("y", 0)] {
        assert!(kept(&agcore), "{answer:?}");
        let mut person = Person::running(agcore, &["keys", "delete", "openai"]);
        let prompt = "Delete the key for openai? [y]es, [n]o (Enter: no): ";
        person.sees(prompt);
        match answer {
            "\u{4}" => person.presses('d'),
            "x" => {
                person.types("x");
                person.sees("Type y or n.");
                person.sees(prompt);
                person.types("n");
            }
            answer => person.types(answer),
        }
        agcore = person.leaves_with(code);
    }
    assert!(!kept(&agcore));
}
