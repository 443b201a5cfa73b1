//! Skills and agents in files: of a trusted folder, and of the user.

use std::fs;

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::{Value, json};

use crate::support::{Agcore, Server};

const TEA: &str = "---\nname: tea\ndescription: How to make tea.\n---\nBoil the water first.\n";
const TESTER: &str =
    "---\nname: tester\ndescription: Runs the tests.\ntools: [read_file]\nmodel: small\n---\nYou run tests.\n";

fn write(agcore: &Agcore, name: &str, text: &str) {
    let path = agcore.directory.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn with_files(server: &Server) -> Agcore {
    let agcore = Agcore::talking_to(server).at_home();
    write(&agcore, ".agcore/skills/tea/SKILL.md", TEA);
    write(&agcore, ".agcore/skills/tea/times.md", "2 minutes");
    write(&agcore, ".agcore/agents/tester.md", TESTER);
    let users = agcore.home.path().join("config/agcore");
    fs::create_dir_all(users.join("skills/notes")).unwrap();
    fs::create_dir_all(users.join("agents")).unwrap();
    let notes = "---\nname: notes\ndescription: How to write notes.\n---\n";
    fs::write(users.join("skills/notes/SKILL.md"), notes).unwrap();
    fs::write(
        users.join("agents/cook.toml"),
        "name = 'cook'\nsystem_prompt = 'You cook.'\n",
    )
    .unwrap();
    agcore
}

fn names(agcore: &Agcore, command: &str, options: &[&str]) -> Vec<String> {
    let ran = agcore.run([&[command, "list", "--json"], options].concat());
    let list: Value = serde_json::from_str(ran.assert_success()).unwrap();
    let names = list[command].as_array().unwrap().iter();
    names.map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn those_of_a_folder_need_trust() {
    let server = Server::playground();
    let agcore = with_files(&server);
    assert_eq!(names(&agcore, "skills", &[]), ["notes"]);
    assert_eq!(names(&agcore, "agents", &[]), ["cook"]);
    assert_eq!(names(&agcore, "skills", &["--trust-folder"]), ["notes", "tea"]);
    assert_eq!(names(&agcore, "agents", &["--trust-folder"]), ["cook", "tester"]);
    let ran = agcore.run(["skills", "list"]);
    ran.assert_success();
    assert!(
        ran.stderr
            .contains("warning: .agcore is ignored, because this folder is not trusted"),
        "{}",
        ran.stderr
    );

    // The question names them.
    let ran = agcore.run(["trust"]);
    ran.assert_failed(2, &[".agcore: skills: tea; agents: tester (3 files)"]);
    agcore.run(["trust", "--yes"]).assert_success();
    let ran = agcore.run(["skills", "list"]);
    assert!(
        ran.assert_success()
            .contains("tea: How to make tea.\n  .agcore/skills/tea\n"),
        "{}",
        ran.stdout
    );
    write(&agcore, ".agcore/skills/tea/times.md", "3 minutes");
    assert_eq!(names(&agcore, "skills", &[]), ["notes"], "a change ends the trust");
}

#[test]
fn skills_of_other_programs_are_used_as_well() {
    let server = Server::playground();
    let agcore = with_files(&server);
    let skill = |name: &str| format!("---\nname: {name}\ndescription: About {name}.\nallowed-tools: Read, Grep\n---\n");
    write(&agcore, ".agents/skills/rust/SKILL.md", &skill("rust"));
    write(&agcore, ".claude/skills/sql/SKILL.md", &skill("sql"));
    write(&agcore, ".claude/skills/tea/SKILL.md", &skill("tea"));
    write(&agcore, ".claude/settings.json", "{}");
    assert_eq!(names(&agcore, "skills", &[]), ["notes"]);
    agcore.run(["trust"]).assert_failed(
        2,
        &[
            ".agents/skills: skills: rust (1 file)",
            ".claude/skills: skills: sql, tea (2 files)",
        ],
    );
    agcore.run(["trust", "--yes"]).assert_success();
    let ran = agcore.run(["skills", "list"]);
    let shown = ran.assert_success();
    for expected in [
        "rust: About rust.\n  .agents/skills/rust\n",
        "sql: About sql.\n",
        "tea: How to make tea.\n",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    write(&agcore, ".agents/skills/rust/SKILL.md", &skill("rusty"));
    assert_eq!(names(&agcore, "skills", &[]), ["notes"], "a change ends the trust");
}

#[test]
fn broken_files_are_reported_and_harm_nothing_else() {
    let server = Server::playground();
    let agcore = with_files(&server).trusting();
    write(&agcore, ".agcore/skills/bad/SKILL.md", "no front matter");
    write(&agcore, ".agcore/agents/bad.md", "---\nname: ../../x\n---\n");
    write(&agcore, ".agcore/agents/cook.md", "---\nname: cook\n---\nAnother cook.");
    let ran = agcore.run(["skills", "list"]);
    assert!(ran.assert_success().contains("tea: "));
    for expected in [
        "warning: .agcore/skills/bad/SKILL.md: it must begin with front matter",
        "warning: .agcore/agents/bad.md: the agent cannot be used: the name must have",
        "cook.toml is not used: there is another agent with the name `cook`",
    ] {
        assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
    }
    agcore.run(["chat", "hi"]).assert_success();
}

#[test]
fn agents_that_name_unknown_tools_are_reported_and_not_offered() {
    let server = Server::playground();
    let agcore = with_files(&server).trusting();
    let agent =
        |name: &str, tools: &str| format!("---\nname: {name}\ndescription: Helps.\ntools: [{tools}]\n---\nYou help.\n");
    write(&agcore, ".agcore/agents/reader.md", &agent("reader", "read_fil"));
    write(&agcore, ".agcore/agents/boss.md", &agent("boss", "ask_reader"));
    // The tools of a server are known when it is connected.
    write(&agcore, ".agcore/agents/buyer.md", &agent("buyer", "shop_buy"));
    let agcore = agcore.with_file(
        "agcore.toml",
        // A rule for an agent that cannot be used is not an error, either.
        "[permissions]\nallow = ['ask_reader']\n[mcp.servers.shop]\ncommand = 'agcore-no-such-program'\n",
    );
    let ran = agcore.run(["chat", "hi"]);
    ran.assert_success();
    for expected in [
        ".agcore/agents/reader.md: the agent `reader` cannot be used: it names the tool `read_fil`, which does not exist; did you \
         mean `read_file`?",
        ".agcore/agents/boss.md: the agent `boss` cannot be used: it names the tool `ask_reader`",
    ] {
        assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
    }
    assert!(!ran.stderr.contains("shop_buy"), "{}", ran.stderr);
    let offered = server.requests()[0].json()["tools"].to_string();
    assert!(
        offered.contains("ask_tester") && offered.contains("ask_buyer"),
        "{offered}"
    );
    assert!(
        !offered.contains("ask_reader") && !offered.contains("ask_boss"),
        "{offered}"
    );
    let ran = agcore.run(["chat", "hi", "--no-tools"]);
    assert!(!ran.stderr.contains("read_fil"), "{}", ran.stderr);
    #[cfg(unix)]
    {
        let mut person = crate::person::Person::chatting(agcore, &[]);
        person.types("/agents");
        person.sees("reader: Helps.");
        person.sees("the agent `reader` cannot be used");
        person.next();
        person.presses('d');
        person.leaves_with(0);
    }
}

/// Calls a tool with these arguments in the first round, and repeats its result.
fn calling(name: &'static str, arguments: Value) -> impl Fn(&RecordedRequest) -> Reply {
    move |request: &RecordedRequest| {
        let json = request.json();
        let messages = json["messages"].as_array().unwrap();
        if messages[0]["content"].as_str().unwrap().starts_with("You run tests.") {
            return Reply::text("All tests pass.");
        }
        match messages.last().unwrap() {
            last if last["role"] == "tool" => Reply::text(last["content"].as_str().unwrap()),
            _ => Reply::tool_calls([ToolCall::new(name, &arguments)]),
        }
    }
}

#[test]
fn a_model_reads_a_skill_when_it_needs_it() {
    let server = Server::start(MockOptions::new(), calling("use_skill", json!({"name": "tea"})));
    let agcore = with_files(&server).trusting();
    let ran = agcore.run(["chat", "Make tea."]);
    let answer = ran.assert_success();
    assert!(
        answer.contains("Boil the water first.") && answer.contains("times.md"),
        "{answer}"
    );
    let system = server.requests()[0].json()["messages"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        system.contains("- tea: How to make tea.") && !system.contains("Boil"),
        "{system}"
    );
    let ran = agcore.run(["chat", "Make tea.", "--no-tools"]);
    assert!(ran.stdout.contains("no tool named"), "{}", ran.stdout);
    let requests = server.requests();
    let last = requests.last().unwrap().json();
    assert!(
        last["tools"].is_null() && !last["messages"][0]["content"].as_str().unwrap().contains("tea"),
        "{last}"
    );
}

#[test]
fn a_file_outside_of_a_skill_is_not_read() {
    let arguments = json!({"name": "tea", "file": "../../../agcore.toml"});
    let server = Server::start(MockOptions::new(), calling("use_skill", arguments));
    let ran = with_files(&server).trusting().run(["chat", "Make tea."]);
    assert!(ran.assert_success().contains("without `..`"), "{}", ran.stdout);
}

#[test]
fn a_model_asks_an_agent_of_the_folder() {
    let server = Server::start(
        MockOptions::new(),
        calling("ask_tester", json!({"task": "Run the tests."})),
    );
    let agcore = with_files(&server).trusting();
    let ran = agcore.run(["chat", "Do the tests pass?"]);
    assert_eq!(ran.assert_success(), "All tests pass.\n");
    let requests = server.requests();
    let request = requests[1].json();
    assert_eq!(request["model"], "small");
    let tools = request["tools"].as_array().unwrap();
    assert_eq!((tools.len(), &tools[0]["function"]["name"]), (1, &json!("read_file")));
}

#[test]
fn an_agent_of_a_file_answers_a_chat() {
    let server = Server::start(MockOptions::new(), calling("use_skill", json!({"name": "tea"})));
    let agcore = with_files(&server).trusting();
    let ran = agcore.run(["chat", "Hello", "--agent", "tester"]);
    assert_eq!(ran.assert_success(), "All tests pass.\n");
    agcore
        .run(["chat", "Hello", "--agent", "testre"])
        .assert_failed(2, &["unknown agent `testre`", "tester"]);
}
