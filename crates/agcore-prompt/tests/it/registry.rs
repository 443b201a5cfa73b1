//! The registry: names, laziness, files and folders.

use std::{error::Error, fs, io, path::PathBuf, thread};

use agcore_prompt::{PromptErrorKind, PromptTemplateRegistry, Value};

use crate::support::registry;

/// A folder that vanishes with the test.
struct Folder(PathBuf);

impl Folder {
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

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn templates_are_rendered_by_name() {
    let mut all = registry(&[("a", "A{{x}}"), ("b", "B")]);
    assert_eq!(all.render_from("a", &serde_json::json!({"x": 1})).unwrap(), "A1");
    assert_eq!(all.names().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(all.get("a").unwrap().name(), Some("a"));
    all.register("a", "changed").unwrap();
    assert_eq!(all.render("a", &Value::Null).unwrap(), "changed");
    assert!(all.remove("a") && !all.remove("a") && !all.contains("a") && all.contains("b"));
}

#[test]
fn an_unknown_template_is_an_error_with_near_names() {
    let error = registry(&[("greeting", "")])
        .render("greetings", &Value::Null)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "template `greetings` is not registered; did you mean `greeting`?"
    );
}

#[test]
fn names_must_fit_into_a_partial_tag() {
    let mut all = PromptTemplateRegistry::new();
    for name in ["", "a b", "a}}", "a~", "\"a\"", "a\n", "(a)", "a|b", "\u{3000}"] {
        for outcome in [all.register(name, "x"), all.register_lazy(name, "x")] {
            assert_eq!(
                outcome.unwrap_err().kind(),
                &PromptErrorKind::InvalidName { name: name.to_owned() }
            );
        }
    }
    for name in ["a", "a/b.c", "@a", "名/前", "v1.2-rc_3", "$"] {
        all.register(name, name).unwrap();
        all.register("main", format!("{{{{> {name}}}}}")).unwrap();
        assert_eq!(all.render("main", &Value::Null).unwrap(), name);
    }
}

#[test]
fn registering_a_fault_changes_nothing() {
    let mut all = registry(&[("a", "A")]);
    let error = all.register("a", "{{#if").unwrap_err();
    assert_eq!(error.location().unwrap().template.as_deref(), Some("a"));
    assert_eq!(all.render("a", &Value::Null).unwrap(), "A");
}

#[test]
fn lazy_templates_are_compiled_at_first_use() {
    let mut all = registry(&[("main", "{{> later}}")]);
    all.register_lazy("later", "L").unwrap();
    all.register_lazy("broken", "\n{{/if}}").unwrap();
    let shared = &all;
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(shared.render("main", &Value::Null).unwrap(), "L"));
        }
    });
    for _ in 0..2 {
        let error = all.get("broken").unwrap_err();
        assert_eq!(
            error.to_string(),
            "template `broken`, line 2, column 1: expected an open block to close, found `{{/if}}` (near `{{/if}}`)"
        );
    }
    all.register("asks", "{{> broken}}").unwrap();
    assert!(matches!(
        all.render("asks", &Value::Null).unwrap_err().kind(),
        PromptErrorKind::Syntax { .. }
    ));
}

#[test]
fn what_was_taken_out_or_cloned_sees_what_was_registered_then() {
    let mut all = registry(&[("main", "{{> p}}"), ("p", "old")]);
    let (template, clone) = (all.get("main").unwrap(), all.clone());
    all.register("p", "new").unwrap();
    assert_eq!(template.render(&Value::Null).unwrap(), "old");
    assert_eq!(clone.render("main", &Value::Null).unwrap(), "old");
    assert_eq!(all.render("main", &Value::Null).unwrap(), "new");
}

#[test]
fn files_are_read() {
    let folder = Folder::new("files");
    let mut all = PromptTemplateRegistry::new();
    all.register_file("greet", folder.write("a.txt", "\u{feff}Hi {{x}}\n"))
        .unwrap();
    assert_eq!(all.get("greet").unwrap().to_string(), "Hi {{x}}\n");

    let missing = folder.0.join("missing.txt");
    let error = all.register_file("m", &missing).unwrap_err();
    assert_eq!(error.kind(), &PromptErrorKind::Io { path: missing });
    assert_eq!(
        error.source().unwrap().downcast_ref::<io::Error>().unwrap().kind(),
        io::ErrorKind::NotFound
    );

    let error = all.register_file("b", folder.write("b.txt", b"\xff\xfe")).unwrap_err();
    assert_eq!(
        error.source().unwrap().downcast_ref::<io::Error>().unwrap().kind(),
        io::ErrorKind::InvalidData
    );
}

#[test]
fn folders_are_loaded_whole() {
    let folder = Folder::new("folder");
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

    let mut all = registry(&[("kept", "K"), ("main", "old")]);
    assert_eq!(all.load_folder(&folder.0, "hbs").unwrap(), 3);
    assert_eq!(
        all.names().collect::<Vec<_>>(),
        ["kept", "main", "parts/deep/x.y", "parts/头"]
    );
    assert_eq!(all.render("main", &Value::Null).unwrap(), "头!");
}

#[test]
fn a_folder_with_a_fault_changes_nothing() {
    let folder = Folder::new("fault");
    folder.write("a.hbs", "new");
    folder.write("z.hbs", "{{#if x}}");
    let mut all = registry(&[("a", "old")]);
    let error = all.load_folder(&folder.0, "hbs").unwrap_err();
    assert_eq!(error.location().unwrap().template.as_deref(), Some("z"));
    assert_eq!(all.render("a", &Value::Null).unwrap(), "old");
    assert!(matches!(
        all.load_folder(folder.0.join("none"), "hbs").unwrap_err().kind(),
        PromptErrorKind::Io { .. }
    ));

    folder.write("bad name.hbs", "x");
    folder.write("z.hbs", "z");
    assert!(matches!(
        all.load_folder(&folder.0, "hbs").unwrap_err().kind(),
        PromptErrorKind::InvalidName { .. }
    ));
}
