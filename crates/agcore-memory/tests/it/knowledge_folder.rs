//! Wikis as folders of Markdown files.

use std::{fs, path::Path};

use agcore_memory::{
    Actor, MemoryErrorKind,
    knowledge::{
        KnowledgePage, MAX_PAGE_BYTES,
        markdown::{file_name, read_file, read_folder, write_folder},
    },
};

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn a_wiki_comes_back_from_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let ids = [
        "garden/tomatoes",
        "garden",
        "Garden",
        "../../etc/passwd",
        "/",
        "con",
        "日本/茶",
        "a.md/b",
        "a",
        &"long".repeat(200),
    ];
    let ann = Actor::user("ann");
    let mut pages: Vec<KnowledgePage> = ids
        .iter()
        .map(|id| {
            KnowledgePage::new(*id, *id, "text\n")
                .with_owner(ann.clone())
                .with_reference("x")
        })
        .collect();
    let inner = folder.path().join("wiki/pages");
    assert_eq!(write_folder(&inner, &pages).unwrap(), ids.len());
    // Again, over the files that exist.
    assert_eq!(write_folder(&inner, &pages).unwrap(), ids.len());
    let mut read = read_folder(&inner, &ann).unwrap().pages;
    read.sort_by(|one, other| one.id.cmp(&other.id));
    pages.sort_by(|one, other| one.id.cmp(&other.id));
    assert_eq!(read, pages);
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        1,
        "something is outside of the folder"
    );
    assert!(inner.join("garden/tomatoes.md").is_file());
}

#[test]
fn files_of_people_are_pages() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            ("tea.md", "# Green tea\nHot."),
            ("food/soup.markdown", "---\ntags: [Food]\n---\nWarm."),
            ("notes.txt", "not a page"),
            (".obsidian/x.md", "hidden"),
        ],
    );
    let read = read_folder(folder.path(), &Actor::local()).unwrap();
    let found: Vec<_> = read
        .pages
        .iter()
        .map(|page| (page.id.as_str(), page.title.as_str()))
        .collect();
    assert_eq!(found, [("food/soup", "soup"), ("tea", "Green tea")]);
    let page = read_file(&folder.path().join("food/soup.markdown"), &Actor::local()).unwrap();
    assert_eq!(
        (page.id.as_str(), page.tags.as_slice()),
        ("soup", &["food".to_owned()][..])
    );
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret.txt");
    let wiki = folder.path().join("wiki");
    write(
        folder.path(),
        &[
            ("secret.txt", "secret"),
            ("wiki/a.md", "text"),
            ("outside/b.md", "secret"),
        ],
    );
    symlink(&secret, wiki.join("b.md")).unwrap();
    symlink(folder.path().join("outside"), wiki.join("linked")).unwrap();
    let read = read_folder(&wiki, &Actor::local()).unwrap();
    assert_eq!(read.pages.len(), 1);
    let skipped: Vec<_> = read
        .skipped
        .iter()
        .map(|skipped| skipped.path.to_str().unwrap())
        .collect();
    assert_eq!(skipped, ["b.md", "linked"]);

    // A link is replaced by the file, and its target is left alone.
    write_folder(&wiki, &[KnowledgePage::new("b", "", "new")]).unwrap();
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    assert!(fs::symlink_metadata(wiki.join("b.md")).unwrap().is_file());
    let error = write_folder(&wiki, &[KnowledgePage::new("linked/b", "", "new")]).unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::Storage);
    assert!(error.to_string().contains("linked"), "{error}");
    assert_eq!(
        fs::read_to_string(folder.path().join("outside/b.md")).unwrap(),
        "secret"
    );
}

#[test]
fn files_that_are_no_pages_do_not_stop_the_others() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            ("a.md", "---\nid: b\n---\n"),
            ("b.md", "text"),
            ("c.md", "---\ntitle: [\n---\n"),
            ("d.md", "text"),
            ("rule.md", "---\n\nA rule first\n\n---\n"),
        ],
    );
    fs::write(folder.path().join("e.md"), b"line\n\xff").unwrap();
    fs::write(folder.path().join("f.md"), "x".repeat(MAX_PAGE_BYTES + 1)).unwrap();
    fs::write(folder.path().join("g.md"), "x".repeat(50_000_000)).unwrap();
    let read = read_folder(folder.path(), &Actor::local()).unwrap();
    let ids: Vec<&str> = read.pages.iter().map(|page| page.id.as_str()).collect();
    assert_eq!(ids, ["b", "d", "rule"]);
    let expected = [
        (
            "b.md",
            "its page has the id `b`, as that of a.md; change the `id` of one of them",
        ),
        ("c.md", "the front matter is not YAML: line "),
        ("e.md", "the text is not UTF-8 in line 2; save the file as UTF-8"),
        (
            "f.md",
            "the page `f` has 4194306 bytes; at most 4194304 are allowed: split it into several pages",
        ),
        ("g.md", "the file has 50000000 bytes"),
    ];
    assert_eq!(read.skipped.len(), expected.len());
    for ((name, reason), skipped) in expected.into_iter().zip(&read.skipped) {
        assert_eq!((skipped.path.to_str(), skipped.is_page), (Some(name), true));
        assert!(skipped.reason.starts_with(reason), "{name}: {}", skipped.reason);
    }
}

#[test]
fn what_cannot_be_read_or_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let error = read_folder(&missing, &Actor::local()).unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::Storage);
    assert!(error.to_string().starts_with("cannot read the folder ") && error.to_string().ends_with("missing"));
    fs::write(&missing, "").unwrap();
    let error = write_folder(&missing, &[]).unwrap_err();
    assert!(error.to_string().starts_with("cannot create the folder "), "{error}");
    // A folder is where the file of the page should be.
    let wiki = folder.path().join("wiki");
    fs::create_dir_all(wiki.join(file_name("a"))).unwrap();
    let error = write_folder(&wiki, &[KnowledgePage::new("a", "", "")]).unwrap_err();
    assert!(error.to_string().starts_with("cannot write "), "{error}");
    assert_eq!(fs::read_dir(&wiki).unwrap().count(), 1, "a temporary file is left");
}

#[test]
fn deep_folders_end() {
    let folder = tempfile::tempdir().unwrap();
    let deep = vec!["d"; 70].join("/");
    write(folder.path(), &[(&format!("{deep}/a.md"), "text"), ("b.md", "text")]);
    let read = read_folder(folder.path(), &Actor::local()).unwrap();
    assert_eq!((read.pages.len(), read.skipped.len()), (1, 1));
    assert_eq!(
        (read.skipped[0].reason.as_str(), read.skipped[0].is_page),
        ("it is too deep", false)
    );
}
