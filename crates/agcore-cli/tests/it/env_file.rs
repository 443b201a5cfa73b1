//! `.env` files.

use crate::support::{Agcore, KEY, Server};

#[test]
fn invalid_lines_are_ignored_with_a_warning() {
    let server = Server::playground();
    let text = format!("DATABASE_PASSWORD\nGREETING=it's {KEY}\nsk secret\n\nOPENAI_MODEL=of-dotenv\n");
    let agcore = Agcore::talking_to(&server).trusting().with_file(".env", &text);
    let ran = agcore.run(["chat", "hi"]);
    ran.assert_success();
    let warnings: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|line| line.starts_with("warning: "))
        .collect();
    assert_eq!(
        warnings,
        [1, 2, 3].map(|line| format!("warning: .env:{line} is ignored: expected NAME=value"))
    );
    assert_eq!(server.requests()[0].json()["model"], "of-dotenv");
    for command in [&["config"][..], &["models"], &["doctor"]] {
        agcore.run(command).assert_clean();
    }
}

#[test]
fn an_invalid_line_of_the_program_is_an_error_without_its_key() {
    let agcore = Agcore::new().trusting();
    for line in [
        format!("OPENAI_API_KEY={KEY} {KEY}"),
        format!("export ANTHROPIC_API_KEY {KEY}"),
        format!("AGCORE_API_KEY='{KEY}"),
    ] {
        let name = line
            .trim_start_matches("export ")
            .split(['=', ' '])
            .next()
            .unwrap()
            .to_owned();
        let agcore_dotenv = format!("OPENAI_MODEL=m\n{line}\n");
        std::fs::write(agcore.directory.path().join(".env"), agcore_dotenv).unwrap();
        agcore
            .run(["chat", "hi"])
            .assert_failed(2, &[&format!("error: .env:2: expected {name}=value; quote values")]);
    }
}

#[test]
fn an_invalid_file_of_another_project_stops_nothing() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).with_file(".env", "PASSED_ON\nOPENAI_API_KEY x\n");
    let ran = agcore.run(["chat", "hi"]);
    ran.assert_success();
    assert!(
        ran.stderr
            .contains("warning: .env (OPENAI_API_KEY) is ignored, because"),
        "{}",
        ran.stderr
    );
    let agcore = agcore.with_file(".env", "PASSED_ON\nDATABASE_URL=x\n");
    let ran = agcore.run(["chat", "hi"]);
    ran.assert_success();
    assert!(
        !ran.stderr.contains("warning"),
        "nothing in it is for this program: {}",
        ran.stderr
    );
}

#[test]
fn can_be_left_out() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .trusting()
        .with_file(".env", "OPENAI_MODEL=of-dotenv\nAGCORE_MODEL x\n");
    agcore.run(["chat", "hi", "--no-env-file"]).assert_success();
    assert_eq!(server.requests()[0].json()["model"], "gpt-5-mini");
}

#[test]
fn a_directory_of_this_name_is_no_problem() {
    let agcore = Agcore::new().trusting();
    std::fs::create_dir(agcore.directory.path().join(".env")).unwrap();
    let ran = agcore.run(["config"]);
    ran.assert_success();
    assert_eq!(ran.stderr, "");
}
