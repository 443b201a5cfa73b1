//! The default instructions of chats and single messages.

use crate::support::{Agcore, KEY, Server};

/// Returns the instructions of the last request.
fn instructions(server: &Server) -> String {
    let request = server.requests().pop().unwrap();
    let message = &request.json()["messages"][0];
    assert!(
        message["role"] == "system" || message["role"] == "developer",
        "{message}"
    );
    message["content"].as_str().unwrap().to_owned()
}

#[test]
fn the_model_knows_where_it_works() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    std::fs::create_dir(agcore.directory.path().join(".git")).unwrap();
    let agcore = agcore.with_file(".git/HEAD", "ref: refs/heads/topic\n");
    agcore.run(["-p", "hi"]).assert_success();
    let sent = instructions(&server);
    let folder = agcore.directory.path().canonicalize().unwrap();
    for expected in [
        "# Work on files",
        &format!("- Working directory: {}", folder.display()),
        &format!("- Operating system: {}", std::env::consts::OS),
        "- Shell: ",
        "- Date: 20",
        "- Git: branch topic",
    ] {
        assert!(sent.contains(expected), "{expected}: {sent}");
    }
    assert!(!sent.contains(KEY), "{sent}");
    agcore.run(["-p", "hi", "--no-tools"]).assert_success();
    let sent = instructions(&server);
    assert!(
        !sent.contains("# Work on files") && sent.contains("- Git: branch topic"),
        "{sent}"
    );
}

#[test]
fn instructions_of_the_settings_replace_all_of_it() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    agcore.run(["-p", "hi", "--system", "Be brief."]).assert_success();
    assert_eq!(instructions(&server), "Be brief.");
    let agcore = agcore.with("AGCORE_SYSTEM", "Be kind.");
    agcore.run(["-p", "hi"]).assert_success();
    assert_eq!(instructions(&server), "Be kind.");
}
