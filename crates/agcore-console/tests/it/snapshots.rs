//! The HTML of every page and fragment.

use agcore_console::{
    Entry, Fragment, Language, composer_fragment, count_fragment, entry_fragment, inbox_fragment, run_fragment,
    runs_fragment,
};

use crate::data::{chat, inbox, pages, run_view, runs, shell};

/// Returns a document with a line for each tag, without the hashes of files, which change with every edit of a style.
fn lines(html: &str) -> String {
    let mut lines = html.replace("><", ">\n<");
    for extension in [".js", ".css", ".svg"] {
        let mut parts = lines.split(extension);
        let mut plain = parts.next().unwrap().to_owned();
        for part in parts {
            let stem = plain.len() - plain.rsplit('.').next().unwrap().len();
            plain.truncate(stem.saturating_sub(1));
            plain.push_str(extension);
            plain.push_str(part);
        }
        lines = plain;
    }
    lines
}

#[test]
fn pages_in_english() {
    for (name, html) in pages("abc", Language::English) {
        insta::assert_snapshot!(format!("en-{name}"), lines(&html));
    }
}

#[test]
fn pages_in_chinese() {
    for (name, html) in pages("abc", Language::Chinese) {
        if [
            "runs",
            "inbox",
            "chat",
            "login",
            "operations",
            "tenant",
            "dead-letter",
            "confirm-quota",
            "schedules",
            "webhook",
        ]
        .contains(&name)
        {
            insta::assert_snapshot!(format!("zh-{name}"), lines(&html));
        }
    }
}

#[test]
fn fragments_are_parts_of_pages() {
    let shell = shell("abc", Language::English);
    let all: String = pages("abc", Language::English)
        .into_iter()
        .map(|(_, html)| html)
        .collect();
    let thread = chat("abc", "An answer.").thread.unwrap();
    let fragments = [
        runs_fragment(&shell, &runs("abc")),
        run_fragment(&shell, &run_view("abc")),
        inbox_fragment(&shell, &inbox("abc")),
        composer_fragment(&shell, &thread),
        count_fragment(&shell),
    ];
    for fragment in fragments {
        assert!(all.contains(&fragment), "{fragment}");
        assert!(fragment.contains(" id=\""), "{fragment}");
    }
    // Messages of users are not sent by streams.
    for entry in thread.entries.iter().filter(|entry| !matches!(entry, Entry::User(..))) {
        assert!(all.contains(&entry_fragment(&shell, "abc", entry)), "{entry:?}");
    }
}

#[test]
fn the_text_of_an_answer_goes_where_it_is_written() {
    let shell = shell("abc", Language::English);
    for entry in [
        Entry::Writing("a b".to_owned(), String::new()),
        Entry::Reasoning("a b".to_owned(), String::new()),
    ] {
        let id = agcore_console::running_entry_id(&entry);
        assert!(
            entry_fragment(&shell, "t", &entry).contains(&format!("id=\"{id}\"")),
            "{id}"
        );
        assert!(entry_fragment(&shell, "t", &entry).contains(&format!("id=\"{}\"", entry.element())));
    }
    let event = Fragment::Remove("m-a%20b".to_owned()).to_event("3");
    assert_eq!(event, "id: 3\nevent: remove\ndata: m-a%20b\n\n");
}
