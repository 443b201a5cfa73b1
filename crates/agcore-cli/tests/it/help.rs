//! Help pages, the version, and invalid arguments.

use crate::support::Agcore;

#[test]
fn shows_help_without_arguments() {
    let ran = Agcore::new().run::<&str>([]);
    assert_eq!(ran.code(), Some(2));
    assert!(ran.stderr.contains("Usage: agcore <COMMAND>"), "{}", ran.stderr);
    for command in ["inspect", "tools"] {
        let ran = Agcore::new().run([command]);
        assert_eq!(ran.code(), Some(2));
        let usage = format!("Usage: agcore {command} [OPTIONS] <COMMAND>");
        assert!(ran.stderr.contains(&usage), "{}", ran.stderr);
    }
}

#[test]
fn help_lists_examples_and_exit_codes() {
    #[cfg(feature = "sqlite")]
    let stored = [
        "add", "files", "remove", "search", "list", "show", "delete", "import", "export", "rebuild",
    ]
    .map(|command| vec!["knowledge", command, "--help"])
    .into_iter()
    .chain(["list", "forget"].map(|command| vec!["memory", command, "--help"]));
    #[cfg(not(feature = "sqlite"))]
    let stored = std::iter::empty::<Vec<&str>>();
    let pages = [
        &["--help"][..],
        &["demo", "--help"],
        &["chat", "--help"],
        &["tools", "list", "--help"],
        &["tools", "show", "--help"],
        &["tools", "call", "--help"],
        &["init", "--help"],
        &["keys", "set", "--help"],
        &["keys", "list", "--help"],
        &["keys", "delete", "--help"],
        &["trust", "--help"],
        &["models", "--help"],
        &["config", "--help"],
        &["doctor", "--help"],
        &["inspect", "case", "--help"],
        &["inspect", "stream", "--help"],
        &["catalog", "check", "--help"],
        &["catalog", "update", "--help"],
        &["catalog", "price", "--help"],
        &["schema", "--help"],
    ];
    for page in pages.map(<[&str]>::to_vec).into_iter().chain(stored) {
        let ran = Agcore::new().run(&page);
        let help = ran.assert_success();
        assert!(
            help.contains("Example") && help.contains("\n  agcore "),
            "{page:?}: {help}"
        );
    }
    // Unit tests compare the exit codes with the program's.
    assert!(
        Agcore::new()
            .run(["--help"])
            .assert_success()
            .contains("Exit codes:\n  0    success\n")
    );
}

#[test]
fn help_fits_in_windows_of_any_width() {
    for page in [
        &["--help"][..],
        &["chat", "--help"],
        &["run", "--help"],
        &["cost", "--help"],
    ] {
        for width in [100, 60] {
            let ran = Agcore::new().with("COLUMNS", &width.to_string()).run(page);
            for line in ran.assert_success().lines() {
                // Words are not broken.
                let fits = line.chars().count() <= width || line.split_whitespace().count() < 2;
                assert!(fits, "{page:?} {width}: {line}");
            }
        }
    }
    let chat = Agcore::new().with("COLUMNS", "60").run(["chat", "--help"]);
    let help = chat.assert_success();
    for part in [
        "\nSession:\n  -c, --continue",
        "\nModel:\n  -m, --model",
        // A list continues in its second column.
        "\n  acceptEdits        allow them if the tool only changes\n                     files, and ask",
    ] {
        assert!(help.contains(part), "{part}: {help}");
    }
}

#[test]
fn the_short_help_fits_on_a_screen() {
    for width in [100, 80] {
        let agcore = Agcore::new().with("COLUMNS", &width.to_string());
        let (short, long) = (agcore.run(["-h"]), agcore.run(["--help"]));
        let (short, long) = (short.assert_success(), long.assert_success());
        let count = short.lines().count();
        assert!((24..=30).contains(&count), "{count}: {short}");
        assert!(short.lines().all(|line| line.len() <= width), "{short}");
        for part in ["Usage: agcore", "-m, --model", "\nSee `agcore --help` for more"] {
            assert!(short.contains(part), "{part}: {short}");
        }
        // Every command that the long help describes.
        let commands = long.lines().filter_map(|line| line.strip_prefix("  "));
        let names = commands.take_while(|line| !line.starts_with("    --no-color"));
        let names = names.filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()));
        let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
        assert!(names.len() > 20, "{names:?}");
        for name in names {
            assert!(
                short.split([' ', ',', '\n']).any(|word| word == name),
                "{name}: {short}"
            );
        }
    }
}

#[test]
fn run_has_a_help_of_its_own() {
    let ran = Agcore::new().run(["run", "--help"]);
    let help = ran.assert_success();
    assert!(help.contains("Usage: agcore run [OPTIONS] [TASK]"), "{help}");
    for absent in [
        "Answer once",
        "--suspend",
        "--fork-session",
        "--schema",
        "a chat begins",
    ] {
        assert!(!help.contains(absent), "{absent}: {help}");
    }
}

#[test]
fn exec_has_the_help_of_a_single_message() {
    let ran = Agcore::new().run(["exec", "--help"]);
    let help = ran.assert_success();
    assert!(
        help.starts_with("Answer a prompt once and exit, the same as -p\n"),
        "{help}"
    );
    assert!(help.contains("Usage: agcore exec [OPTIONS] [PROMPT]"), "{help}");
}

#[test]
fn a_message_without_quotation_marks_is_explained() {
    let ran = Agcore::new().run(["what", "is", "this"]);
    ran.assert_failed(
        2,
        &[
            "unrecognized subcommand 'what'",
            "needs quotation marks: agcore \"what is this\"",
        ],
    );
}

#[test]
fn prints_the_version() {
    assert_eq!(
        Agcore::new().run(["--version"]).assert_success(),
        format!("agcore {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn reports_invalid_arguments() {
    let check = |arguments: &[&str], texts: &[&str]| Agcore::new().run(arguments).assert_failed(2, texts);
    check(&["chta"], &["unrecognized subcommand 'chta'", "'chat'"]);
    check(
        &["chat", "--modle", "x"],
        &["unexpected argument '--modle'", "'--model'"],
    );
    check(&["chat", "--model", ""], &["--model"]);
    check(&["--verison"], &["unexpected argument '--verison'", "'--version'"]);
    check(
        &["--max-turns", "1"],
        &["unexpected argument '--max-turns'", "agcore chat --help"],
    );
    check(&["inspect", "case"], &["<FILE>..."]);
    check(&["tools", "show"], &["<NAME>"]);
    check(&["tools", "lst"], &["unrecognized subcommand 'lst'", "'list'"]);
    check(
        &["inspect", "case", "a.json", "--mode", "slow"],
        &["invalid value 'slow'", "listed, whole, bytes"],
    );
}
