//! `/permissions` adds and removes rules.

use std::fs;

use crate::{
    person::{Person, QUESTION},
    support::{Agcore, Server},
};

#[test]
fn a_rule_applies_until_the_chat_ends_or_for_good() {
    let server = Server::playground();
    let settings = "model = 'first' # mine\n\n[permissions]\nask = ['network'] # careful\n";
    let agcore = Agcore::talking_to(&server).at_home().with_user_settings(settings);
    let file = agcore.settings_directory().join("agcore.toml");
    let mut person = Person::chatting(agcore, &[]);
    person.types("/permissions allow save_note");
    person.sees("Added until this chat ends: allow save_note");
    person.next();
    person.types("save it");
    person.sees("Saved to agcore-notes.md");
    person.next();
    person.types("/permissions always deny save_note");
    person.sees("Added to ");
    person.next();
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "model = 'first' # mine\n\n[permissions]\nask = ['network'] # careful\ndeny = [\"save_note\"]\n"
    );
    person.types("save it");
    person.sees("permission denied");
    person.next();
    person.types("/permissions");
    person.sees("1  ask    network");
    person.sees("agcore.toml:4:8");
    person.sees("2  allow  save_note");
    person.sees("this chat");
    person.sees("3  deny   save_note");
    person.next();
    person.types("/permissions remove 3");
    person.sees("Removed: deny save_note");
    person.next();
    person.types("/permissions remove 2");
    person.sees("Removed: allow save_note");
    person.next();
    assert!(!fs::read_to_string(&file).unwrap().contains("save_note"));
    person.types("save it");
    person.sees(QUESTION);
    person.types("n");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn rules_have_the_checks_of_the_settings_file() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .at_home()
        .trusting()
        .with_file("agcore.toml", "[permissions]\nask = ['network']\n");
    let mut person = Person::chatting(agcore, &[]);
    for (typed, error) in [
        (
            "allow save_notes",
            "unknown tool or permission `save_notes`; did you mean `save_note`?",
        ),
        ("deny read_file(.env)", "files with secrets can only be allowed"),
        ("allow shell()", "the pattern is empty"),
        ("always allow a b:c", "is not a permission"),
        ("forbid shell", "type /permissions, /permissions allow|ask|deny RULE"),
        ("remove 7", "there is no answer 7"),
        ("remove 1", "the rule is in agcore.toml:2:8; remove it there"),
    ] {
        person.types(&format!("/permissions {typed}"));
        person.sees(error);
        person.next();
    }
    person.presses('d');
    let agcore = person.leaves_with(0);
    assert!(!agcore.settings_directory().join("agcore.toml").exists());
}

#[test]
fn a_secret_can_be_allowed_in_the_chat() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home().with_file(".env", "A=1\n");
    let mut person = Person::chatting(agcore, &[]);
    person.types("/permissions allow read_file(.env)");
    person.sees("Added until this chat ends: allow read_file(.env)");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}
