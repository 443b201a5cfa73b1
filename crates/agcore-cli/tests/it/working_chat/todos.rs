//! The list of todos.

use serde_json::{Value, json};

use super::{Step, last_messages, offered, scripted};
use crate::{
    person::Person,
    support::{Agcore, Server},
};

fn todos(states: [&str; 3]) -> Value {
    let texts = ["read the parser", "改测试", "run the tests"];
    let todo = |(content, status): (&str, &str)| json!({"content": content, "status": status});
    json!({"todos": texts.into_iter().zip(states).map(todo).collect::<Vec<_>>()})
}

fn server() -> Server {
    scripted(&[
        Step::Call("update_todos", todos(["in_progress", "pending", "pending"])),
        Step::Call("update_todos", todos(["completed", "in_progress", "pending"])),
        Step::Text("One is done."),
    ])
}

#[test]
fn a_chat_shows_todos_when_they_change_and_on_request() {
    let server = server();
    let mut person = Person::at(&server, &[]);
    person.types("/todos");
    person.sees("There are no todos.");
    person.next();
    // No question is asked.
    person.types("work");
    person.sees("✓ todos 0 of 3 done\r\n  ▶ read the parser\r\n  ○ 改测试\r\n  ○ run the tests\r\n");
    person.sees("✓ todos 1 of 3 done\r\n  ✓ read the parser\r\n  ▶ 改测试\r\n  ○ run the tests\r\n");
    person.sees("One is done.");
    person.next();
    person.types("/todos");
    person.sees("Todos, 1 of 3 done:\r\n  ✓ read the parser\r\n  ▶ 改测试\r\n");
    person.next();
    person.types("/status");
    person.sees("todos");
    person.sees("1 of 3 done");
    person.next();
    person.types("/clear");
    person.next();
    person.types("/todos");
    person.sees("There are no todos.");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[cfg(feature = "sqlite")]
#[test]
fn todos_survive_a_compaction_and_a_restart() {
    let server = server();
    let mut person = Person::chatting(Agcore::talking_to(&server).at_home(), &[]);
    person.types("work");
    person.sees("One is done.");
    person.next();
    for message in ["one", "two", "three", "four", "five"] {
        person.types(message);
        person.sees("Nothing is left to do.");
        person.next();
    }
    // The call is still in the conversation.
    assert!(!last_messages(&server).contains("<todos>"));
    person.types("/compact");
    person.sees("Summarized the older part of the conversation");
    person.next();
    person.types("six");
    person.sees("Nothing is left to do.");
    person.next();
    let sent = last_messages(&server);
    assert!(sent.contains("<todos>") && sent.contains("改测试"), "{sent}");
    person.presses('d');
    let agcore = person.leaves_with(0);

    let mut person = Person::running(agcore, &["chat", "--continue"]);
    person.sees("Todos, 1 of 3 done:\r\n  ✓ read the parser\r\n  ▶ 改测试\r\n");
    person.next();
    person.types("seven");
    person.sees("Nothing is left to do.");
    person.next();
    assert!(last_messages(&server).contains("<todos>"));
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn todos_are_for_chats_only() {
    let server = server();
    let agcore = Agcore::talking_to(&server);
    let ran = agcore.run(["-p", "work"]);
    ran.assert_success();
    assert!(
        ran.stderr.contains("✓ todos 1 of 3 done\n  ✓ read the parser\n"),
        "{}",
        ran.stderr
    );
    let names = ["update_todos", "shell_output", "shell_stop", "\"background\""];
    let chat = server.requests().pop().unwrap();
    for name in names {
        assert!(offered(&chat).contains(name), "{name}");
    }
    assert!(
        chat.json()["messages"]
            .to_string()
            .contains("keep a list with `update_todos`")
    );
    agcore.run(["-p", "work", "--no-tools"]).assert_success();
    let without = server.requests().pop().unwrap();
    assert!(!without.json().to_string().contains("update_todos"));
    // A task has a plan of its own.
    agcore.run(["run", "work"]);
    let task = server.requests().pop().unwrap();
    for name in names {
        assert!(!task.json().to_string().contains(name), "{name}");
    }
}
