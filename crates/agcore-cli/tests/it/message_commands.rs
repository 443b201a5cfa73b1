//! Commands in files: messages of the folder and of the user, and skills.

use std::fs;

use crate::{
    person::{Person, QUESTION},
    support::{Agcore, Server},
};

fn with_commands(server: &Server) -> Agcore {
    let agcore = Agcore::talking_to(server).at_home();
    let (folder, user) = (
        agcore.directory.path().join(".agcore"),
        agcore.home.path().join("config/agcore/commands"),
    );
    fs::create_dir_all(folder.join("commands")).unwrap();
    fs::create_dir_all(folder.join("skills/tea")).unwrap();
    fs::create_dir_all(&user).unwrap();
    let fix =
        "---\ndescription: Fixes an \u{1b}]0;issue\u{7}\nargument-hint: NUMBER\n---\nFix the issue $1 in @notes.md.\n";
    fs::write(folder.join("commands/fix.md"), fix).unwrap();
    fs::write(folder.join("commands/model.md"), "Never sent.").unwrap();
    let tea = "---\nname: tea\ndescription: Makes tea.\n---\nBoil the water first.\n";
    fs::write(folder.join("skills/tea/SKILL.md"), tea).unwrap();
    fs::write(user.join("fix.md"), "That of the user.").unwrap();
    fs::write(user.join("review_2.md"), "Review my changes.").unwrap();
    fs::write(agcore.directory.path().join("notes.md"), "Issue 7: 茶 is cold.").unwrap();
    agcore
}

#[test]
fn a_command_in_a_file_sends_its_message() {
    let server = Server::playground();
    let agcore = with_commands(&server);
    agcore.run(["trust", "--yes"]).assert_success();
    let mut person = Person::running(agcore, &["chat", "--no-tools"]);
    person.sees(".agcore/commands/model.md is not used: /model is a command of the program");
    person.next();
    person.types("/help");
    person.sees("/fix NUMBER");
    person.sees("/review_2");
    person.sees("/tea [TEXT]    Makes tea.");
    person.next();
    let last = |server: &Server| server.requests().pop().unwrap().prompt().last_user().to_owned();
    person.types("/fix 7 soon");
    person.sees("The message of .agcore/commands/fix.md is sent.");
    person.sees("messages in this request");
    person.next();
    let sent = last(&server);
    assert!(sent.contains("Fix the issue 7 in @notes.md."), "{sent}");
    assert!(sent.contains("茶 is cold"), "{sent}");
    person.types("/review_2 thoroughly");
    person.sees("messages in this request");
    person.next();
    assert_eq!(last(&server), "Review my changes.\n\nthoroughly");
    person.types("/tea for two");
    person.sees("messages in this request");
    person.next();
    assert_eq!(last(&server), "Use the skill `tea`.\n\nfor two");
    person.types("/fixx");
    person.sees("did you mean `/fix`?");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn commands_of_a_folder_need_trust() {
    let server = Server::playground();
    let agcore = with_commands(&server);
    agcore
        .run(["trust"])
        .assert_failed(2, &[".agcore: skills: tea; commands: fix, model (3 files)"]);
    let mut person = Person::running(agcore, &["chat", "--no-tools"]);
    person.sees(QUESTION);
    person.types("n");
    person.next();
    person.types("/fix 7");
    person.sees("The message of");
    person.sees("messages in this request");
    person.next();
    let request = server.requests().pop().unwrap();
    let prompt = request.prompt();
    assert_eq!(prompt.last_user(), "That of the user.\n\n7");
    person.types("/tea");
    person.sees("unknown command /tea");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}
