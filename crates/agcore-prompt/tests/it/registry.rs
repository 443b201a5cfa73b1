//! The registry: names, lazy compilation, files and folders.

use std::{error::Error, fs, io, path::PathBuf, thread};

use agcore_prompt::{PromptErrorKind, PromptTemplateRegistry, Value};

use crate::support::registry;

/// A folder that is deleted when the test ends.
struct TempFolder(PathBuf);

impl TempFolder {
    fn new(test: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("prompts-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn renders_templates_by_name() {
    let mut prompts = registry(&[("a", "A{{x}}"), ("b", "B")]);
    assert_eq!(prompts.render_from("a", &serde_json::json!({"x": 1})).unwrap(), "A1");
    assert_eq!(prompts.names().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(prompts.get("a").unwrap().name(), Some("a"));
    prompts.register("a", "changed").unwrap();
    assert_eq!(prompts.render("a", &Value::Null).unwrap(), "changed");
    assert!(prompts.remove("a") && !prompts.remove("a") && !prompts.contains("a") && prompts.contains("b"));
}

#[test]
fn suggests_similar_names_for_an_unknown_template() {
    let error = registry(&[("greeting", "")])
        .render("greetings", &Value::Null)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "template `greetings` is not registered; did you mean `greeting`?"
    );
}

#[test]
fn rejects_names_that_no_partial_tag_can_contain() {
    let mut prompts = PromptTemplateRegistry::new();
    for name in ["", "a b", "a}}", "a~", "\"a\"", "a\n", "(a)", "a|b", "\u{3000}"] {
        for outcome in [prompts.register(name, "x"), prompts.register_lazy(name, "x")] {
            assert_eq!(
                outcome.unwrap_err().kind(),
                &PromptErrorKind::InvalidName { name: name.to_owned() }
            );
        }
    }
    for name in ["a", "a/b.c", "@a", "名/前", "v1.2-rc_3", "$"] {
        prompts.register(name, name).unwrap();
        prompts.register("main", format!("{{{{> {name}}}}}")).unwrap();
        assert_eq!(prompts.render("main", &Value::Null).unwrap(), name);
    }
}

#[test]
fn keeps_the_old_template_if_the_new_one_is_invalid() {
    let mut prompts = registry(&[("a", "A")]);
    let error = prompts.register("a", "{{#if").unwrap_err();
    assert_eq!(error.location().unwrap().template.as_deref(), Some("a"));
    assert_eq!(prompts.render("a", &Value::Null).unwrap(), "A");
}

#[test]
fn compiles_lazy_templates_at_first_use() {
    let mut prompts = registry(&[("main", "{{> later}}")]);
    prompts.register_lazy("later", "L").unwrap();
    prompts.register_lazy("broken", "\n{{/if}}").unwrap();
    let shared = &prompts;
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(shared.render("main", &Value::Null).unwrap(), "L"));
        }
    });
    for _ in 0..2 {
        let error = prompts.get("broken").unwrap_err();
        assert_eq!(
            error.to_string(),
            "template `broken`, line 2, column 1: expected an open block to close, found `{{/if}}` (near `{{/if}}`)"
        );
    }
    prompts.register("asks", "{{> broken}}").unwrap();
    assert!(matches!(
        prompts.render("asks", &Value::Null).unwrap_err().kind(),
        PromptErrorKind::Syntax { .. }
    ));
}

#[test]
fn templates_and_clones_keep_a_snapshot_of_the_registry() {
    let mut prompts = registry(&[("main", "{{> p}}"), ("p", "old")]);
    let (template, clone) = (prompts.get("main").unwrap(), prompts.clone());
    prompts.register("p", "new").unwrap();
    assert_eq!(template.render(&Value::Null).unwrap(), "old");
    assert_eq!(clone.render("main", &Value::Null).unwrap(), "old");
    assert_eq!(prompts.render("main", &Value::Null).unwrap(), "new");
}

#[test]
fn registers_files() {
    let folder = TempFolder::new("files");
    let mut prompts = PromptTemplateRegistry::new();
    prompts
        .register_file("greet", folder.write("a.txt", "\u{feff}Hi {{x}}\n"))
        .unwrap();
    assert_eq!(prompts.get("greet").unwrap().to_string(), "Hi {{x}}\n");

    let missing = folder.0.join("missing.txt");
    let error = prompts.register_file("m", &missing).unwrap_err();
    assert_eq!(error.kind(), &PromptErrorKind::Io { path: missing });
    assert_eq!(
        error.source().unwrap().downcast_ref::<io::Error>().unwrap().kind(),
        io::ErrorKind::NotFound
    );

    let error = prompts
        .register_file("b", folder.write("b.txt", b"\xff\xfe"))
        .unwrap_err();
    assert_eq!(
        error.source().unwrap().downcast_ref::<io::Error>().unwrap().kind(),
        io::ErrorKind::InvalidData
    );
}

#[test]
fn loads_folders_recursively() {
    let folder = TempFolder::new("folder");
    for (name, content) in [
        ("main.hbs", "{{> parts/头}}"),
        ("parts/头.hbs", "头{{> parts/deep/x.y}}"),
        ("parts/deep/x.y.hbs", "!"),
    ] {
        folder.write(name, content);
    }
    for ignored in [
        ".hidden.hbs",
        ".git/config.hbs",
        "notes.md",
        "hbs",
        ".hbs",
        "x.hbs.bak",
        "yhbs",
    ] {
        folder.write(ignored, "{{#broken");
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(&folder.0, folder.0.join("parts/round")).unwrap();

    let mut prompts = registry(&[("kept", "K"), ("main", "old")]);
    assert_eq!(prompts.load_folder(&folder.0, "hbs").unwrap(), 3);
    assert_eq!(
        prompts.names().collect::<Vec<_>>(),
        ["kept", "main", "parts/deep/x.y", "parts/头"]
    );
    assert_eq!(prompts.render("main", &Value::Null).unwrap(), "头!");
}

#[test]
fn keeps_the_registry_if_a_folder_cannot_be_loaded() {
    let folder = TempFolder::new("invalid");
    folder.write("a.hbs", "new");
    folder.write("z.hbs", "{{#if x}}");
    let mut prompts = registry(&[("a", "old")]);
    let error = prompts.load_folder(&folder.0, "hbs").unwrap_err();
    assert_eq!(error.location().unwrap().template.as_deref(), Some("z"));
    assert_eq!(prompts.render("a", &Value::Null).unwrap(), "old");
    assert!(matches!(
        prompts.load_folder(folder.0.join("none"), "hbs").unwrap_err().kind(),
        PromptErrorKind::Io { .. }
    ));

    folder.write("bad name.hbs", "x");
    folder.write("z.hbs", "z");
    assert!(matches!(
        prompts.load_folder(&folder.0, "hbs").unwrap_err().kind(),
        PromptErrorKind::InvalidName { .. }
    ));
}
