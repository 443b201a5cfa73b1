//! `man`: manual pages.

use crate::support::Agcore;

#[test]
fn the_program_and_its_commands_have_pages() {
    let page = Agcore::new().run(["man"]).stdout;
    for text in [
        ".TH agcore 1",
        "LLM agents on the command line",
        "agcore\\-doctor(1)",
        "Exit codes:",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    assert!(!page.contains("agcore\\-prompt(1)"), "the hidden command is listed");
    let page = Agcore::new().run(["man", "mcp", "serve"]).stdout;
    for text in [".TH agcore-mcp-serve 1", "agcore mcp serve", "\\-\\-listen"] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    Agcore::new()
        .run(["man", "chatt"])
        .assert_failed(2, &["there is no command `chatt`; `agcore --help` lists the commands"]);
}

#[test]
fn all_pages_are_written_to_a_directory() {
    let agcore = Agcore::new();
    let ran = agcore.run(["man", "--dir", "share/man1"]);
    assert!(
        ran.assert_success().contains("pages are written to share/man1."),
        "{}",
        ran.stdout
    );
    let files = crate::support::files(&agcore.directory.path().join("share/man1"));
    for name in ["agcore.1", "agcore-chat.1", "agcore-mcp-serve.1", "agcore-keys-set.1"] {
        assert!(files.iter().any(|file| file == name), "{name}: {files:?}");
    }
    assert!(
        !files
            .iter()
            .any(|file| file.contains("prompt") || file.contains("help")),
        "{files:?}"
    );
    let blocked = Agcore::new().with_file("file", "");
    blocked
        .run(["man", "--dir", "file"])
        .assert_failed(1, &["cannot write to file"]);
}

#[test]
fn man_reads_the_page() {
    let found = std::process::Command::new("man").arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        println!("skipped: man: not installed");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("agcore.1");
    std::fs::write(&file, Agcore::new().run(["man"]).stdout).unwrap();
    let shown = std::process::Command::new("man")
        .args(["-l", "-P", "cat"])
        .arg(&file)
        .output()
        .unwrap();
    let (text, warnings) = (
        String::from_utf8_lossy(&shown.stdout),
        String::from_utf8_lossy(&shown.stderr),
    );
    assert!(shown.status.success() && text.contains("NAME"), "{text}{warnings}");
}
