//! Skills: their folders, the list in the system prompt, and the tool that reads them.

use std::{fs, path::Path};

use agcore_agent::{AgentSpec, Skills, agent};
use agcore_chat::ToolCall;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde_json::{Value, json};
use tempfile::TempDir;

const TEA: &str = "---\nname: tea\ndescription: How to make <tea>.\n---\n\nBoil the water. See times.md.\n";

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "tea/SKILL.md", TEA);
    write(folder.path(), "tea/times.md", "绿茶: 2 分钟");
    write(folder.path(), "tea/more/black.md", "4 minutes");
    folder
}

/// Returns the results of these calls of `use_skill`, as the model sees them.
async fn results(skills: Skills, calls: &[Value]) -> Vec<String> {
    let steps = calls.iter().enumerate().map(|(index, arguments)| {
        ScriptStep::calls([ToolCall::function(
            format!("call_{index}"),
            "use_skill",
            arguments.to_string(),
        )])
    });
    let model = ScriptedProvider::new(steps.chain([ScriptStep::text("done")]));
    let session = agent(model).with_skills(skills).session().unwrap();
    session.turn("Make tea.").await.unwrap();
    let messages = session.messages().await;
    let tools = messages.iter().skip(2).step_by(2);
    tools.map(|message| message.text().into_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_reads_what_it_needs() {
    let folder = folder();
    let skills = Skills::read(folder.path()).unwrap();
    assert_eq!(skills.list().len(), 1);
    assert_eq!(skills.get("tea").unwrap().description, "How to make <tea>.");
    let results = results(
        skills,
        &[
            json!({"name": "tea"}),
            json!({"name": "tea", "file": "times.md"}),
            json!({"name": "tae"}),
            json!({"name": "tea", "file": "none.md"}),
        ],
    )
    .await;
    assert_eq!(
        results[0],
        "Boil the water. See times.md.\n\nFiles of this skill: more/black.md, times.md"
    );
    assert_eq!(results[1], "绿茶: 2 分钟");
    assert!(
        results[2].contains("there is no skill `tae`; did you mean tea?"),
        "{}",
        results[2]
    );
    assert!(results[3].contains("there is no such file"), "{}", results[3]);
}

#[tokio::test]
async fn the_system_prompt_lists_skills_for_agents_that_can_read_them() {
    let folder = folder();
    let skills = Skills::read(folder.path()).unwrap();
    for (spec, is_listed) in [
        (AgentSpec::new("a", "Be kind."), true),
        (AgentSpec::new("a", "Be kind.").with_tools(["use_skill"]), true),
        (AgentSpec::new("a", "Be kind.").with_tools(Vec::<String>::new()), false),
    ] {
        let model = ScriptedProvider::new([ScriptStep::text("done")]);
        let requests = model.clone();
        let bundle = agent(model).with_skills(skills.clone()).build().unwrap();
        bundle.session("s", spec).turn("Hello").await.unwrap();
        let prompt = requests.requests()[0].messages[0].text().into_owned();
        assert_eq!(
            prompt.ends_with("`use_skill`.\n- tea: How to make &lt;tea&gt;."),
            is_listed,
            "{prompt}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_outside_of_a_skill_are_out_of_reach() {
    let folder = folder();
    write(folder.path(), "secret.txt", "secret");
    write(folder.path(), "tea/big.md", "x".repeat(300_000));
    write(folder.path(), "tea/binary.md", b"\xff\xfe");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(folder.path().join("secret.txt"), folder.path().join("tea/link.md")).unwrap();
        symlink("/dev/zero", folder.path().join("tea/zero.md")).unwrap();
    }
    let absolute = folder.path().join("secret.txt").display().to_string();
    let names = [
        "../secret.txt",
        "more/../../secret.txt",
        &absolute,
        "link.md",
        "zero.md",
        "big.md",
        "binary.md",
        "more",
        "",
    ];
    let calls: Vec<Value> = names.iter().map(|name| json!({"name": "tea", "file": name})).collect();
    let results = results(Skills::read(folder.path()).unwrap(), &calls).await;
    assert_eq!(results.len(), names.len());
    for (name, result) in names.iter().zip(results) {
        assert!(result.contains("cannot be read: "), "{name}: {result}");
        assert!(result != "secret", "{name}");
    }
}

#[test]
fn unusable_skills_are_reported_and_harm_no_others() {
    let folder = folder();
    let long = format!("---\nname: long\ndescription: {}\n---\n", "x".repeat(2000));
    for (name, text) in [
        ("none", "Just text."),
        ("upper", "---\nname: Tea Time\ndescription: x\n---\n"),
        ("silent", "---\nname: silent\n---\n"),
        ("long", long.as_str()),
        ("yaml", "---\nname: [\n---\n"),
        // After the first one, by the order of folders.
        ("tea2", TEA),
    ] {
        write(folder.path(), &format!("{name}/SKILL.md"), text);
    }
    write(folder.path(), "empty/README.md", "");
    let skills = Skills::read(folder.path()).unwrap();
    assert_eq!(skills.list().len(), 1);
    assert!(skills.get("tea").unwrap().folder.ends_with("tea"));
    let problems = skills.problems();
    assert_eq!(problems.len(), 6, "{problems:#?}");
    for text in [
        "must begin with front matter",
        "the name must have",
        "the description must have",
        "not YAML",
        "another skill with the name `tea`",
    ] {
        assert!(
            problems.iter().any(|problem| problem.contains(text)),
            "{text}: {problems:#?}"
        );
    }

    assert!(Skills::read(folder.path().join("missing")).unwrap().list().is_empty());
    Skills::read(folder.path().join("tea/SKILL.md")).unwrap_err();

    // The first one of a name is kept.
    let other = tempfile::tempdir().unwrap();
    write(other.path(), "a/SKILL.md", TEA.replace("<tea>", "coffee"));
    write(other.path(), "b/SKILL.md", TEA.replace("name: tea", "name: a"));
    let both = skills.with(&Skills::read(other.path()).unwrap());
    let names: Vec<&str> = both.list().iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["a", "tea"]);
    assert_eq!(both.get("tea").unwrap().description, "How to make <tea>.");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_in_memory_are_used_as_they_were_read() {
    let files = [
        ("tea/SKILL.md", TEA.as_bytes().to_vec()),
        ("tea/times.md", "2 minutes".into()),
        ("tea/logo.png", vec![0xff]),
        ("README.md", "not a skill".into()),
        ("none/notes.md", "not a skill".into()),
        ("bad/SKILL.md", "---\nname: Bad Name\ndescription: x\n---\n".into()),
        ("twice/SKILL.md", TEA.into()),
        ("broken/SKILL.md", "---\nname: [\n---\n".into()),
    ];
    let skills = Skills::from_files("project/skills", files);
    assert_eq!(skills.list().len(), 1);
    assert_eq!(skills.list()[0].folder, Path::new("project/skills/tea"));
    let problems = skills.problems().join("\n");
    for expected in [
        "project/skills/bad/SKILL.md: the name must have",
        "project/skills/broken/SKILL.md: the front matter is not YAML: line",
        "project/skills/twice/SKILL.md: there is another skill with the name `tea`",
    ] {
        assert!(problems.contains(expected), "{problems}");
    }
    let calls = ["./times.md", "../twice/SKILL.md", "/etc/passwd", "logo.png", "none.md"];
    let calls: Vec<Value> = calls.iter().map(|file| json!({"name": "tea", "file": file})).collect();
    let results = results(skills, &[&[json!({"name": "tea"})], &calls[..]].concat()).await;
    assert!(
        results[0].ends_with("Files of this skill: logo.png, times.md"),
        "{}",
        results[0]
    );
    assert_eq!(results[1], "2 minutes");
    for (result, expected) in results[2..]
        .iter()
        .zip(["without `..`", "without `..`", "not UTF-8", "no such file"])
    {
        assert!(result.contains(expected), "{result}");
    }
}
