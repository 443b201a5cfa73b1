//! Folders whose files come, change and go.

use std::{fs, path::Path, sync::Arc};

use agcore_files::{FolderLimits, Limits, StandardPreprocessor};
use agcore_ingest::{FileStatus, Ingest, IngestError};
use agcore_memory::knowledge::{KnowledgePage, KnowledgeStore, SourceStore};

use crate::support::{Handbook, fixture, outcome, outcomes};

#[tokio::test]
async fn only_what_has_changed_is_read_again() {
    let handbook = Handbook::new();
    handbook.write("tea.md", "# Tea\n\nGreen.\n");
    handbook.write("sub/prices.csv", "item,price\ntea,3\n");
    handbook.write("gone.md", "Gone soon.\n");
    let report = handbook.read().await;
    assert_eq!(
        outcomes(&report),
        [
            "handbook/gone.md: added",
            "handbook/sub/prices.csv: added",
            "handbook/tea.md: added"
        ]
    );
    assert_eq!(handbook.pages().await, ["gone", "sub/prices/0001", "tea"]);
    let tea = handbook.store.get("local", "tea").await.unwrap().unwrap();

    let report = handbook.read().await;
    assert_eq!((outcomes(&report), report.unchanged), (Vec::new(), 3));

    fs::remove_file(handbook.folder().join("gone.md")).unwrap();
    handbook.write("sub/prices.csv", "item,price\ntea,4\n");
    handbook.write("new.md", "New.\n");
    let report = handbook.read().await;
    assert_eq!(
        outcomes(&report),
        [
            "handbook/new.md: added",
            "handbook/sub/prices.csv: changed",
            "handbook/gone.md: removed"
        ]
    );
    let pages = report.pages();
    assert_eq!((report.unchanged, pages.saved, pages.deleted), (1, 2, 1));
    assert_eq!(handbook.pages().await, ["new", "sub/prices/0001", "tea"]);
    assert_eq!(handbook.store.get("local", "tea").await.unwrap().unwrap(), tea);
    assert!(handbook.search("gone soon").await.is_empty());
}

#[tokio::test]
async fn a_bad_file_is_a_record_and_not_an_end() {
    let handbook = Handbook::new();
    handbook.write("a.md", "Good.\n");
    handbook.write("broken.md", "---\ntitle: [a\n---\nText\n");
    handbook.write("locked.pdf", fixture("locked.pdf"));
    handbook.write("photo.png", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR");
    handbook.write("z.md", "Good, too.\n");
    for _ in 0..2 {
        let report = handbook.read().await;
        let failed: Vec<(&str, &str)> = report.failed().collect();
        assert!(
            failed[0].0 == "handbook/broken.md" && failed[0].1.contains("front matter"),
            "{failed:?}"
        );
        assert!(
            failed[1].0 == "handbook/locked.pdf" && failed[1].1.contains("password"),
            "{failed:?}"
        );
        assert_eq!(failed.len(), 2);
        assert_eq!(report.count(|status| matches!(status, FileStatus::Skipped(_))), 1);
        assert_eq!(handbook.pages().await, ["a", "z"]);
    }
    let record = handbook
        .store
        .source("local", "handbook/locked.pdf")
        .await
        .unwrap()
        .unwrap();
    assert!(record.problem.unwrap().contains("password"));
    assert_eq!(
        handbook.store.source("local", "handbook/photo.png").await.unwrap(),
        None
    );

    // A file that becomes bad keeps the pages of its earlier content, and one that is repaired gets some.
    handbook.write("a.md", "---\ntitle: [a\n---\nText\n");
    handbook.write("broken.md", "Mended.\n");
    let report = handbook.read().await;
    assert_eq!(report.failed().count(), 2);
    assert_eq!(handbook.pages().await, ["a", "broken", "z"]);
    let record = handbook.store.source("local", "handbook/a.md").await.unwrap().unwrap();
    assert!(record.pages == 1 && record.problem.is_some());
    assert_eq!(
        handbook
            .store
            .source("local", "handbook/broken.md")
            .await
            .unwrap()
            .unwrap()
            .problem,
        None
    );
}

#[tokio::test]
async fn files_with_the_same_name_do_not_replace_each_other() {
    let handbook = Handbook::new();
    handbook.write("plan.csv", "a,b\n1,2\n");
    handbook.write("plan.md", "The plan.\n");
    handbook.write("plan.txt", "The other plan.\n");
    handbook.write("own.md", "---\nid: plan\n---\nMine.\n");
    handbook.write("zoo.md", "---\nid: plan\n---\nMine, too.\n");
    let report = handbook.read().await;
    let failed: Vec<(&str, &str)> = report.failed().collect();
    assert!(failed.len() == 1 && failed[0].0 == "handbook/zoo.md", "{failed:?}");
    assert!(
        failed[0].1.contains("belongs to the source `handbook/own.md`"),
        "{failed:?}"
    );
    let expected = ["handbook/plan.md", "handbook/plan.txt", "plan", "plan/0001"];
    assert_eq!(handbook.pages().await, expected);
    let report = handbook.read().await;
    assert_eq!((report.unchanged, report.files.len()), (4, 1));
    assert_eq!(handbook.pages().await, expected);
}

#[tokio::test]
async fn edited_pages_and_pages_of_others_stay() {
    let handbook = Handbook::new();
    handbook
        .store
        .upsert(KnowledgePage::new("note", "Note", "By hand."))
        .await
        .unwrap();
    let tea = handbook.write("tea.md", "Green.\n");
    handbook.read().await;
    let mut page = handbook.store.get("local", "tea").await.unwrap().unwrap();
    (page.content, page.source) = ("Green or black.\n".to_owned(), None);
    handbook.store.update(page).await.unwrap();
    fs::remove_file(tea).unwrap();
    handbook.write("other.md", "x\n");
    handbook.read().await;
    assert_eq!(handbook.pages().await, ["note", "other", "tea"]);
}

#[tokio::test]
async fn an_empty_or_missing_folder_removes_nothing() {
    let handbook = Handbook::new();
    let path = handbook.write("tea.md", "Green.\n");
    handbook.read().await;
    fs::remove_file(path).unwrap();
    let error = handbook.ingest().folder(&handbook.folder(), |_| ()).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("has no files, but had 1; nothing was removed"),
        "{error}"
    );
    fs::remove_dir(handbook.folder()).unwrap();
    let error = handbook.ingest().folder(&handbook.folder(), |_| ()).await.unwrap_err();
    assert!(matches!(error, IngestError::Folder(_)), "{error}");
    assert_eq!(handbook.pages().await, ["tea"]);
    // One file that is gone is.
    let outcome = handbook.ingest().remove("handbook/tea.md").await.unwrap();
    assert_eq!(outcome, Some(1));
}

#[tokio::test]
async fn limits_and_links_are_kept() {
    let handbook = Handbook::new();
    handbook.write("deep/a.md", "a\n");
    handbook.write("large.md", "x".repeat(2000));
    let preprocessor = StandardPreprocessor::new(Arc::new(agcore_chat::SystemClock::new()));
    let small = preprocessor.with_limits(Limits::new().with_bytes(1000));
    let ingest = Ingest::new(Arc::clone(&handbook.store), Arc::new(small));
    let shallow = ingest.clone().with_folder_limits(FolderLimits::new().with_depth(0));
    let report = shallow.folder(&handbook.folder(), |_| ()).await.unwrap();
    assert_eq!(report.left_out[0].reason, "it is more than 0 folders deep");
    let failed: Vec<(&str, &str)> = report.failed().collect();
    assert!(failed[0].1.contains("larger than 1000 bytes"), "{failed:?}");
    // Files below a folder that was not read are not gone.
    ingest.folder(&handbook.folder(), |_| ()).await.unwrap();
    shallow.folder(&handbook.folder(), |_| ()).await.unwrap();
    assert_eq!(handbook.pages().await, ["deep/a"]);
    let few = ingest.clone().with_folder_limits(FolderLimits::new().with_entries(2));
    let error = few.folder(&handbook.folder(), |_| ()).await.unwrap_err();
    assert!(error.to_string().contains("more than 2 files and folders"), "{error}");
    // A limit that was raised.
    assert_eq!(outcomes(&handbook.read().await), ["handbook/large.md: added"]);
}

#[cfg(unix)]
#[tokio::test]
async fn links_out_of_the_folder_are_not_followed() {
    let handbook = Handbook::new();
    handbook.write("a.md", "a\n");
    let secret = handbook.directory.path().join("secret.md");
    fs::write(&secret, "secret\n").unwrap();
    std::os::unix::fs::symlink(&secret, handbook.folder().join("link.md")).unwrap();
    std::os::unix::fs::symlink(handbook.directory.path(), handbook.folder().join("up")).unwrap();
    let report = handbook.read().await;
    assert_eq!(handbook.pages().await, ["a"]);
    assert_eq!(report.left_out.len(), 2);
    // A person may name a link.
    let file = handbook
        .ingest()
        .file(&handbook.folder().join("link.md"))
        .await
        .unwrap();
    assert_eq!(outcome(&file), "secret.md: added");
}

#[tokio::test]
async fn a_file_is_known_by_its_place() {
    let handbook = Handbook::new();
    let path = handbook.write("tea.md", "Green.\n");
    handbook.read().await;
    let ingest = handbook.ingest();
    assert_eq!(
        outcome(&ingest.file(&path).await.unwrap()),
        "handbook/tea.md: unchanged"
    );
    fs::write(&path, "Black.\n").unwrap();
    assert_eq!(outcome(&ingest.file(&path).await.unwrap()), "handbook/tea.md: changed");
    fs::remove_file(&path).unwrap();
    assert_eq!(outcome(&ingest.file(&path).await.unwrap()), "handbook/tea.md: removed");
    let error = ingest.file(&path).await.unwrap_err();
    assert!(error.to_string().contains("there is no such file"), "{error}");
    let error = ingest.file(Path::new("/no/such.md")).await.unwrap_err();
    assert!(error.to_string().contains("check its path"), "{error}");

    // Another folder with the same name needs another one here, unless the first is gone.
    handbook.write("tea.md", "Green.\n");
    handbook.read().await;
    let other = tempfile::tempdir().unwrap();
    let folder = other.path().join("handbook");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("tea.md"), "Other.\n").unwrap();
    let report = ingest.folder(&folder, |_| ()).await.unwrap();
    let failed: Vec<(&str, &str)> = report.failed().collect();
    assert!(failed[0].1.contains("pass another name"), "{failed:?}");
    let report = ingest.clone().with_name("other").folder(&folder, |_| ()).await.unwrap();
    assert_eq!(outcomes(&report), ["other/tea.md: added"]);
    assert_eq!(handbook.pages().await, ["other/tea.md", "tea"]);
}

#[tokio::test]
async fn options_are_part_of_what_is_compared() {
    let handbook = Handbook::new();
    handbook.write("tea.md", "Green.\n");
    handbook.read().await;
    let tagged = handbook.ingest().with_tag("Food");
    let report = tagged.folder(&handbook.folder(), |_| ()).await.unwrap();
    assert_eq!(outcomes(&report), ["handbook/tea.md: changed"]);
    assert_eq!(
        handbook.store.get("local", "tea").await.unwrap().unwrap().tags,
        ["food"]
    );
    let mut seen = Vec::new();
    tagged
        .folder(&handbook.folder(), |progress| {
            seen.push((progress.done, progress.total));
        })
        .await
        .unwrap();
    assert_eq!(seen, [(1, 1)]);
}
