//! `knowledge`: pages of a wiki.

use std::fs;

use serde_json::Value;

use crate::support::Agcore;

/// A home with three pages, two of them from a folder.
fn wiki() -> Agcore {
    let agcore = Agcore::new().at_home().with_file(
        "tomatoes.md",
        "---\nid: garden/tomatoes\ntitle: Growing tomatoes\ntags: [garden]\n---\n\nBuy seeds.\nWater them in the morning.\n",
    );
    let folder = agcore.directory.path().join("notes");
    fs::create_dir_all(folder.join("园艺")).unwrap();
    fs::write(folder.join("园艺").join("番茄.md"), "# 种番茄\n\n早上浇水最好。\n").unwrap();
    fs::write(folder.join("roses.md"), "# Roses\n\nCut them in spring.\n").unwrap();
    let ran = agcore.run(["knowledge", "add", "tomatoes.md", "notes"]);
    assert_eq!(
        ran.assert_success(),
        "3 files were added, 0 changed, 0 unchanged. 3 pages were saved, 0 deleted.\n"
    );
    agcore
}

fn json(agcore: &Agcore, arguments: &[&str]) -> Value {
    let ran = agcore.run(arguments);
    serde_json::from_str(ran.assert_success()).unwrap()
}

#[test]
fn files_become_pages_and_are_found() {
    let agcore = wiki();
    let ran = agcore.run(["knowledge", "search", "When", "do I water tomatoes?"]);
    let found = ran.assert_success();
    assert!(
        found.starts_with(
            "1.00  garden/tomatoes  Growing tomatoes\n      tomatoes.md, lines 7 to 8\n      Water them in the morning.\n"
        ),
        "{found}"
    );
    let found = json(
        &agcore,
        &["knowledge", "search", "番茄什么时候浇水？", "--limit", "1", "--json"],
    );
    assert_eq!(found["hits"][0]["page"]["id"], "园艺/番茄");
    assert_eq!(found["hits"][0]["citation"]["source"], "notes/园艺/番茄.md");
    assert_eq!(found["hits"][0]["citation"]["position"]["line"], 1);
    assert_eq!(found["hits"][0]["breakdown"]["channels"][0]["channel"], "text");
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    let ran = agcore.run(["knowledge", "rebuild"]);
    assert_eq!(ran.assert_success(), "3 pages were indexed again.\n");
    let ran = agcore.run(["knowledge", "search", "zeppelin"]);
    assert_eq!((ran.assert_success(), ran.stderr.as_str()), ("", "No page matches.\n"));

    let ran = agcore.run(["knowledge", "list", "--tag", "Garden"]);
    let listed = ran.assert_success();
    assert!(
        listed.starts_with("garden/tomatoes  Growing tomatoes  garden  20"),
        "{listed}"
    );
    let listed = json(&agcore, &["knowledge", "list", "--prefix", "园", "--json"]);
    assert_eq!(
        (&listed["pages"][0]["title"], listed["pages"].as_array().unwrap().len()),
        (&"种番茄".into(), 1)
    );
    let ran = agcore.run(["knowledge", "show", "roses"]);
    assert!(
        ran.assert_success()
            .ends_with("---\n\n# Roses\n\nCut them in spring.\n")
    );
    assert_eq!(
        json(&agcore, &["knowledge", "show", "roses", "--json"])["title"],
        "Roses"
    );
}

#[test]
fn pages_come_from_standard_input_and_options() {
    let agcore = Agcore::new().at_home().with_file("a.txt", "Text");
    let arguments = [
        "knowledge",
        "add",
        "-",
        "--id",
        "茶",
        "--title",
        "绿茶",
        "--tag",
        "Food ",
    ];
    agcore.run_with(arguments, "水温八十度。".as_bytes()).assert_success();
    let page = json(&agcore, &["knowledge", "show", "茶", "--json"]);
    assert_eq!((&page["title"], &page["tags"][0]), (&"绿茶".into(), &"food".into()));
    agcore
        .run(["knowledge", "add", "a.txt", "--title", "A"])
        .assert_success();
    assert_eq!(json(&agcore, &["knowledge", "show", "a", "--json"])["title"], "A");
    let check = |arguments: &[&str], texts: &[&str]| agcore.run(arguments).assert_failed(2, texts);
    check(&["knowledge", "add", "-"], &["needs an id; pass --id"]);
    check(&["knowledge", "add", "a.txt", "-", "--id", "x"], &["several are given"]);
    check(
        &["knowledge", "add", "a.txt", "-", "--name", "x"],
        &["several are given"],
    );
    check(
        &["knowledge", "add", ".", "--id", "x"],
        &["--id and --title are for a single file, but . is a folder"],
    );
    check(
        &["knowledge", "add", "a.txt", "--tag", "\u{7}"],
        &["a tag contains a control character"],
    );
}

#[test]
fn a_folder_is_exported_edited_and_imported_again() {
    let agcore = wiki();
    let ran = agcore.run(["knowledge", "export", "out"]);
    assert_eq!(ran.assert_success(), "3 pages were written to out.\n");
    let out = agcore.directory.path().join("out");
    let ran = agcore.run(["knowledge", "import", "out"]);
    assert_eq!(ran.assert_success(), "0 pages were added, 0 replaced, 3 unchanged.\n");

    let edited = fs::read_to_string(out.join("garden/tomatoes.md")).unwrap() + "Zeppelins too.\n";
    fs::write(out.join("garden/tomatoes.md"), edited).unwrap();
    fs::remove_file(out.join("roses.md")).unwrap();
    let result = json(&agcore, &["knowledge", "import", "out", "--json"]);
    assert_eq!(
        (&result["replaced"][0], &result["unchanged"]),
        (&"garden/tomatoes".into(), &1.into())
    );
    assert_eq!(result.get("deleted"), None);
    assert!(
        agcore
            .run(["knowledge", "search", "zeppelin"])
            .assert_success()
            .contains("Zeppelins too.")
    );
    let result = json(&agcore, &["knowledge", "import", "out", "--delete-others", "--json"]);
    assert_eq!(result["deleted"], serde_json::json!(["roses"]));
    assert_eq!(
        json(&agcore, &["knowledge", "list", "--json"])["pages"]
            .as_array()
            .unwrap()
            .len(),
        2
    );

    // One file that cannot be read, and nothing changes.
    fs::write(out.join("broken.md"), "---\ntitle: [a\n---\n").unwrap();
    fs::remove_file(out.join("garden/tomatoes.md")).unwrap();
    let ran = agcore.run(["knowledge", "import", "out", "--delete-others"]);
    ran.assert_failed(2, &["broken.md", "the front matter is not YAML"]);
    assert_eq!(
        json(&agcore, &["knowledge", "list", "--json"])["pages"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    fs::create_dir(agcore.directory.path().join("empty")).unwrap();
    agcore
        .run(["knowledge", "import", "empty", "--delete-others"])
        .assert_failed(2, &["empty contains no pages; nothing was deleted"]);
    agcore
        .run(["knowledge", "import", "no"])
        .assert_failed(2, &["cannot read the folder no"]);
    agcore
        .run(["knowledge", "export", "x", "--tag", "no"])
        .assert_failed(2, &["there are no such pages; nothing was written"]);
    assert!(!agcore.directory.path().join("x").exists());
}

#[test]
fn pages_are_deleted_all_or_none() {
    let agcore = wiki();
    agcore
        .run(["knowledge", "delete", "roses", "garden/tomatos"])
        .assert_failed(
            2,
            &["there is no page `garden/tomatos`; did you mean `garden/tomatoes`?"],
        );
    let ran = agcore.run(["knowledge", "delete", "roses", "roses", "garden/tomatoes"]);
    assert_eq!(ran.assert_success(), "2 pages were deleted.\n");
    agcore
        .run(["knowledge", "show", "roses"])
        .assert_failed(2, &["there is no page `roses`", "`agcore knowledge list`"]);
    assert_eq!(
        json(&agcore, &["knowledge", "list", "--json"])["pages"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_missing_database_is_explained_and_not_created() {
    let agcore = Agcore::new().at_home();
    for arguments in [
        &["knowledge", "list"][..],
        &["knowledge", "search", "tea"],
        &["knowledge", "show", "tea"],
        &["knowledge", "export", "out", "--file", "no.db"],
    ] {
        let texts = ["there is no database", "`agcore knowledge add` creates it"];
        agcore.run(arguments).assert_failed(2, &texts);
    }
    agcore
        .run(["knowledge", "add", "no.md"])
        .assert_failed(2, &["cannot read no.md"]);
    assert!(agcore.files().is_empty() && !agcore.state("agcore.db").exists());
    let agcore = Agcore::new();
    agcore
        .run(["knowledge", "list"])
        .assert_failed(2, &["HOME is not set", "--file"]);
}

#[test]
fn hostile_pages_do_not_reach_the_terminal() {
    let agcore = Agcore::new().at_home();
    let text = "---\ntitle: \"a\\e[2Jb\"\n---\n\nevil \u{1b}]0;x\u{7} text\n";
    agcore
        .run_with(["knowledge", "add", "-", "--id", "a"], text.as_bytes())
        .assert_success();
    for arguments in [
        &["knowledge", "list"][..],
        &["knowledge", "search", "evil"],
        &["knowledge", "show", "a"],
    ] {
        // Fails if there is an escape code.
        assert!(agcore.run(arguments).assert_success().contains("b"));
    }
}

#[test]
fn documents_and_tables_become_several_pages() {
    let agcore = Agcore::new().at_home();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/files");
    let rows: String = (0..60).map(|row| format!("bean {row},{row}\n")).collect();
    let agcore = agcore
        .with_file("prices.csv", &format!("plant,price\n{rows}"))
        .with_file("page.html", "<h1>Roses</h1><p>Cut them in spring.</p>");
    let report = format!("{fixtures}/report.pdf");
    let garden = format!("{fixtures}/garden.docx");
    let harvest = format!("{fixtures}/harvest.xlsx");
    let ran = agcore.run([
        "knowledge",
        "add",
        "prices.csv",
        "page.html",
        &report,
        &garden,
        &harvest,
    ]);
    ran.assert_success();
    let page = json(&agcore, &["knowledge", "show", "prices/0003", "--json"]);
    assert_eq!(page["summary"], "prices.csv, lines 42 to 61");
    assert!(page["content"].as_str().unwrap().contains("| bean 59 | 59 |"), "{page}");
    let page = json(&agcore, &["knowledge", "show", "report/0001", "--json"]);
    assert!(
        page["summary"].as_str().unwrap().starts_with("report.pdf, page 1"),
        "{page}"
    );
    let found = json(&agcore, &["knowledge", "search", "cut roses", "--json"]);
    assert_eq!(found["hits"][0]["page"]["id"], "page/0001");
    for id in ["garden/0001", "harvest/0001"] {
        agcore.run(["knowledge", "show", id]).assert_success();
    }

    let locked = format!("{fixtures}/locked.pdf");
    let ran = agcore.run(["knowledge", "add", &locked]);
    ran.assert_failed(2, &["cannot read ", "locked.pdf"]);
    let picture = format!("{fixtures}/picture.pdf");
    agcore
        .run(["knowledge", "add", &picture])
        .assert_failed(2, &["it has no text"]);
}

/// Returns a PDF file with a text in the font F1, which is Helvetica, and F2, which does not say what its characters are.
fn pdf_file(text: &str) -> Vec<u8> {
    let content = format!("BT 50 700 Td {text} ET");
    let stream = format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len());
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>",
        &stream,
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [7 0 R] >>",
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X >>",
    ];
    let mut file = String::from("%PDF-1.4\n");
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (number, object) in (1..).zip(objects) {
        table.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let start = file.len();
    let size = objects.len() + 1;
    format!("{file}{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").into_bytes()
}

#[test]
fn text_that_cannot_be_read_is_reported() {
    let agcore = Agcore::new().at_home();
    let known = "/F1 10 Tf (harvest) Tj";
    for (name, text, warning) in [
        (
            "report.pdf",
            "/F1 10 Tf (harvest) Tj /F2 10 Tf 0 -12 Td <00010002> Tj",
            "its fonts do not say what 2 of its 9 characters are (page 1)",
        ),
        (
            "scan.pdf",
            "3 Tr /F1 10 Tf (harvest) Tj",
            "its text is invisible (page 1)",
        ),
        ("cut.pdf", "/F1 10 Tf (harvest) Tj (cut", "its content is damaged"),
    ] {
        fs::write(agcore.directory.path().join(name), pdf_file(text)).unwrap();
        let ran = agcore.run(["knowledge", "add", name]);
        assert_eq!(
            ran.assert_success(),
            "1 file was added, 0 changed, 0 unchanged. 1 page was saved, 0 deleted.\n"
        );
        let expected = format!("warning: a part of {name} was not read: {warning}");
        assert!(ran.stderr.starts_with(&expected), "{}", ran.stderr);
        // The warning is on standard error as well as in the result.
        let ran = agcore.run(["knowledge", "add", name, "--json", "--tag", "again"]);
        let result: Value = serde_json::from_str(ran.assert_success()).unwrap();
        let warnings = result["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
        assert!(
            matches!(warnings, [found] if found.as_str().is_some_and(|found| found.contains(warning))),
            "{result}"
        );
        assert!(ran.stderr.starts_with(&expected), "{}", ran.stderr);
    }
    fs::write(agcore.directory.path().join("whole.pdf"), pdf_file(known)).unwrap();
    let ran = agcore.run(["knowledge", "add", "whole.pdf", "--json"]);
    let result: Value = serde_json::from_str(ran.assert_success()).unwrap();
    assert!(result.get("warnings").is_none(), "{result}");
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
}

#[test]
fn a_file_of_which_nothing_can_be_read_is_an_error() {
    let agcore = Agcore::new().at_home();
    let write = |name: &str, text: &str| fs::write(agcore.directory.path().join(name), pdf_file(text)).unwrap();
    let broken = agcore.directory.path().join("broken.pdf");
    fs::write(&broken, &pdf_file("(harvest) Tj")[..60]).unwrap();
    for (name, text, message) in [
        ("unknown.pdf", "/F2 10 Tf <00010002> Tj", "do not say which characters"),
        ("empty.pdf", "/F1 10 Tf", "it has no text"),
        ("cut.pdf", "/F1 10 Tf (harvest", "it has no text"),
    ] {
        write(name, text);
        for arguments in [vec![name], vec![name, "--json"], vec![name, "broken.pdf"]] {
            let arguments = ["knowledge", "add"].into_iter().chain(arguments);
            let ran = agcore.run(arguments.collect::<Vec<_>>());
            ran.assert_failed(2, &[name, message]);
        }
    }
    agcore
        .run(["knowledge", "add", "broken.pdf"])
        .assert_failed(2, &["cannot read broken.pdf: ", "not a complete PDF file"]);
    let ran = agcore.run(["knowledge", "list"]);
    assert_eq!(ran.assert_success(), "");
    let files = json(&agcore, &["knowledge", "files", "--failed", "--json"]);
    assert_eq!(files["files"].as_array().unwrap().len(), 4);
}

#[test]
fn files_that_cannot_be_read_do_not_keep_the_others_from_being_saved() {
    let agcore = Agcore::new().at_home().with_file("note.md", "Water them early.");
    let folder = agcore.directory.path().join("notes");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("good.md"), "Prune them late.").unwrap();
    fs::write(folder.join("broken.md"), "---\ntitle: [a\n---\n").unwrap();
    let broken = agcore.directory.path().join("broken.pdf");
    fs::write(&broken, &pdf_file("(harvest) Tj")[..60]).unwrap();
    let paths = ["broken.pdf", "note.md", "missing.md", "notes"];
    let add = |more: &[&str]| {
        let arguments = [&["knowledge", "add"], &paths[..], more].concat();
        agcore.run(arguments)
    };

    let ran = add(&[]);
    assert_eq!(
        ran.stdout,
        "2 files were added, 0 changed, 0 unchanged. 2 pages were saved, 0 deleted.\n"
    );
    ran.assert_failed(
        1,
        &[
            "error: 3 files could not be read; everything else is saved",
            "cannot read broken.pdf: ",
            "cannot read missing.md: ",
            "notes/broken.md: the front matter is not YAML",
        ],
    );
    for id in ["note", "good"] {
        agcore.run(["knowledge", "show", id]).assert_success();
    }

    let ran = add(&["--json"]);
    ran.assert_failed(1, &["error: 3 files could not be read"]);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(result["unchanged"], 2);
    let failed = result["failed"].as_array().unwrap();
    let named = |(path, reason): (&str, &str)| {
        failed.iter().any(|failed| {
            failed["path"] == path && failed["reason"].as_str().is_some_and(|found| found.contains(reason))
        })
    };
    let expected = [
        ("broken.pdf", "not a complete PDF file"),
        ("missing.md", "No such file"),
        ("notes/broken.md", "the front matter is not YAML"),
    ];
    assert!(failed.len() == 3 && expected.into_iter().all(named), "{result}");

    // Parts of an earlier version stay if the file cannot be read any more.
    fs::write(&broken, pdf_file("/F1 10 Tf (harvest) Tj")).unwrap();
    agcore.run(["knowledge", "add", "broken.pdf"]).assert_success();
    fs::write(&broken, "%PDF-1.4").unwrap();
    add(&[]).assert_failed(1, &["broken.pdf"]);
    agcore.run(["knowledge", "show", "broken/0001"]).assert_success();
}

/// Adds a file, and returns the contents of all pages, one after the other.
fn added(name: &str, content: &[u8]) -> String {
    let agcore = Agcore::new().at_home();
    fs::write(agcore.directory.path().join(name), content).unwrap();
    agcore.run(["knowledge", "add", name]).assert_success();
    let pages = json(&agcore, &["knowledge", "list", "--json"]);
    let pages = pages["pages"].as_array().unwrap().iter().map(|page| {
        let id = page["id"].as_str().unwrap();
        let page = json(&agcore, &["knowledge", "show", id, "--json"]);
        format!(
            "{}\n{}\n",
            page["title"].as_str().unwrap(),
            page["content"].as_str().unwrap()
        )
    });
    pages.collect()
}

#[test]
fn everything_that_is_read_from_a_file_is_in_its_pages() {
    let page = added(
        "a.html",
        b"<title>T</title><table><tr><td>Navigation<td>The whole article</table>",
    );
    assert!(page.contains("Navigation\n\nThe whole article"), "{page}");
    let page = added(
        "a.html",
        b"<h1>Report</h1><h2>Prices</h2><table><caption>Table 1</caption><tr><th>item<tr><td>pear</table>",
    );
    assert!(page.contains("Prices\nTable 1\n\n| item |"), "{page}");
    let page = added(
        "a.html",
        b"<meta http-equiv=content-type content='text/html; charset=gb2312'><p>\xbc\xdb\xb8\xf1",
    );
    assert!(page.contains("价格"), "{page}");
    let page = added("a.csv", b"Account 7\n\nday;sum\n1;2,50\n2;3,50\n");
    assert!(page.contains("Account 7\n\n| day | sum |"), "{page}");
    assert!(added("a.csv", b"only,names\n").contains("| only | names |"));
}

#[test]
fn every_kind_of_file_is_known_by_its_content_and_name() {
    let lines = b"{\"plant\":\"pear\",\"eur\":2}\n{\"plant\":\"fig\",\"eur\":3}\n";
    for name in ["a.jsonl", "a.ndjson"] {
        assert!(added(name, lines).contains("| pear | 2 |"));
    }
    assert!(added("a.tab", b"plant\teur\npear\t2\n").contains("| pear | 2 |"));
    assert!(added("a.xls", b"<html><table><tr><th>plant<tr><td>pear</table>").contains("| pear |"));
    assert!(added("a.xhtml", b"<p>pear</p>").ends_with("\npear\n"));
    let fixture = |name: &str| fs::read(format!("{}/../../fixtures/files/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    assert!(added("a.xlsm", &fixture("harvest.xlsx")).contains("Harvest of 2025\n\n| plant |"));
    assert!(added("a.docm", &fixture("garden.docx")).contains("The garden has two beds"));
    // A note in another encoding.
    let note: Vec<u8> = "\u{feff}# Grün".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(added("a.md", &note).contains("# Grün"));

    let refused = |name: &str, content: &[u8], text: &str| {
        let agcore = Agcore::new().at_home();
        fs::write(agcore.directory.path().join(name), content).unwrap();
        agcore.run(["knowledge", "add", name]).assert_failed(2, &[text]);
    };
    let mut old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    old.extend("Workbook".encode_utf16().flat_map(u16::to_le_bytes));
    refused("a.xls", &old, "format of before 2007 (.xls); save it as .xlsx");
    refused("a.csv", b"a,b\n1,\x002\n", "it contains NUL bytes");
    refused("a", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", "it is a picture (image/png)");
}

#[test]
fn what_is_missing_of_a_file_is_reported() {
    let agcore = Agcore::new().at_home();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/files");
    let ran = agcore.run(["knowledge", "add", &format!("{fixtures}/harvest.xlsx")]);
    ran.assert_success();
    assert!(
        ran.stderr
            .contains("warning: a part of harvest.xlsx was not read: it contains formulas whose values"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_note_that_cannot_be_read_does_not_stop_the_others() {
    let agcore = Agcore::new().at_home();
    let notes = agcore.directory.path().join("notes");
    fs::create_dir(&notes).unwrap();
    fs::write(notes.join("broken.md"), "---\ntitle: [a\n---\n").unwrap();
    let ran = agcore.run(["knowledge", "add", "notes"]);
    ran.assert_failed(
        2,
        &[
            "none of the files can be read; nothing was saved",
            "broken.md: the front matter is not YAML",
        ],
    );
    fs::write(
        notes.join("rule.md"),
        "---\n\nJust a horizontal rule first\n\n---\n\nmore\n",
    )
    .unwrap();
    fs::write(notes.join("dots.md"), "---\ntitle: x\n...\nbody\n").unwrap();
    fs::write(notes.join("hugo.md"), "+++\ntitle = \"H\"\n+++\nbody\n").unwrap();
    let ran = agcore.run(["knowledge", "add", "notes"]);
    assert_eq!(
        ran.stdout,
        "3 files were added, 0 changed, 0 unchanged. 3 pages were saved, 0 deleted.\n"
    );
    ran.assert_failed(
        1,
        &[
            "error: 1 file could not be read; everything else is saved",
            "notes/broken.md: the front matter is not YAML",
        ],
    );
    let title = |id: &str| json(&agcore, &["knowledge", "show", id, "--json"])["title"].clone();
    assert_eq!((title("dots"), title("hugo")), ("x".into(), "H".into()));
    let ran = agcore.run(["knowledge", "import", "notes", "--delete-others"]);
    ran.assert_failed(2, &["nothing was changed", "broken.md"]);
}

#[test]
fn long_notes_become_several_pages() {
    let agcore = Agcore::new().at_home();
    let path = agcore.directory.path().join("manual.md");
    let filler = "The pump hums in the cellar.\n\n".repeat(200);
    let text = format!("---\ntitle: Manual\ntags: [pump]\n---\n# Use\n\n{filler}\n## Reset\n\nThe code is 4711.\n");
    fs::write(&path, &text).unwrap();
    agcore.run(["knowledge", "add", "manual.md"]).assert_success();
    let found = json(&agcore, &["knowledge", "search", "code", "--json"]);
    let page = &found["hits"][0]["page"];
    assert_eq!(
        (&page["title"], &page["tags"][0]),
        (&"Manual: Reset".into(), &"pump".into())
    );
    assert_eq!(page["source"]["id"], "manual.md");
    assert!(page["source"]["position"]["line"].as_u64().unwrap() > 400, "{page}");
    let parts = json(&agcore, &["knowledge", "list", "--json"])["pages"]
        .as_array()
        .unwrap()
        .len();
    assert!(parts > 3, "{parts}");
    // A shorter version has fewer parts.
    fs::write(&path, text.replacen(&filler, &filler[..filler.len() * 7 / 10], 1)).unwrap();
    let result = json(&agcore, &["knowledge", "add", "manual.md", "--json"]);
    assert!(result["pages_deleted"].as_u64().unwrap() > 0, "{result}");
    assert!(
        json(&agcore, &["knowledge", "list", "--json"])["pages"]
            .as_array()
            .unwrap()
            .len()
            < parts
    );
    // One that is short is a single page.
    fs::write(&path, "# Manual\n\nThe code is 0815.\n").unwrap();
    agcore.run(["knowledge", "add", "manual.md"]).assert_success();
    let listed = json(&agcore, &["knowledge", "list", "--json"]);
    assert_eq!(
        (listed["pages"].as_array().unwrap().len(), &listed["pages"][0]["id"]),
        (1, &"manual".into())
    );
}

#[test]
fn a_folder_of_any_files_is_followed() {
    let agcore = Agcore::new().at_home();
    let folder = agcore.directory.path().join("handbook");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("prices.csv"), "plant,price\nrose,7.50\n").unwrap();
    fs::write(folder.join("garden.md"), "# Garden\n\nWater tomatoes in the morning.\n").unwrap();
    fs::write(folder.join("photo.png"), b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR").unwrap();
    let ran = agcore.run(["knowledge", "add", "handbook"]);
    assert_eq!(
        ran.assert_success(),
        "2 files were added, 0 changed, 0 unchanged, 1 without text skipped. 2 pages were saved, 0 deleted.\n"
    );
    let ran = agcore.run(["knowledge", "search", "rose", "price"]);
    assert!(
        ran.assert_success().contains("\n      handbook/prices.csv, line 2\n"),
        "{}",
        ran.stdout
    );

    fs::remove_file(folder.join("prices.csv")).unwrap();
    let result = json(&agcore, &["knowledge", "add", "handbook", "--json"]);
    assert_eq!(
        (&result["removed"][0], &result["unchanged"], &result["pages_deleted"]),
        (&"handbook/prices.csv".into(), &1.into(), &1.into())
    );
    assert_eq!(result["skipped"][0]["path"], "handbook/photo.png");

    let listed = agcore.run(["knowledge", "files"]);
    assert!(
        listed.assert_success().starts_with("handbook/garden.md  1 page  20"),
        "{}",
        listed.stdout
    );
    agcore
        .run(["knowledge", "remove", "handbook/gardn.md"])
        .assert_failed(2, &["did you mean `handbook/garden.md`?", "`agcore knowledge files`"]);
    let ran = agcore.run(["knowledge", "remove", "handbook"]);
    assert_eq!(ran.assert_success(), "1 file was removed; 1 page was deleted.\n");
    let ran = agcore.run(["knowledge", "files"]);
    assert!(
        ran.assert_success().is_empty() && ran.stderr.contains("There are no such files"),
        "{}",
        ran.stderr
    );
}
