//! Where citations point.

use agcore_memory::knowledge::{KnowledgeStore, SourceStore};

use crate::support::{Handbook, fixture};

#[tokio::test]
async fn citations_point_at_pages_cells_headings_and_lines() {
    let handbook = Handbook::new();
    for name in [
        "report.pdf",
        "harvest.xlsx",
        "garden.docx",
        "garden.html",
        "harvest.csv",
        "harvest.json",
    ] {
        handbook.write(name, fixture(name));
    }
    let report = handbook.read().await;
    assert_eq!(report.failed().collect::<Vec<_>>(), []);
    for source in handbook.store.sources("local", "", None, 100).await.unwrap() {
        assert!(source.pages > 0, "{source:?}");
        let place = |id: u64| format!("{}/{id:04}", source.id["handbook/".len()..].split('.').next().unwrap());
        let page = handbook.store.get("local", &place(1)).await.unwrap();
        let page = match page {
            Some(page) => page,
            // Another file has the same name.
            None => handbook
                .store
                .get("local", &format!("{}/0001", source.id))
                .await
                .unwrap()
                .unwrap(),
        };
        let citation = page.citation();
        assert!(!citation.position.is_empty(), "{citation}");
        assert_eq!(page.summary, citation.to_string());
    }
    let page = handbook.store.get("local", "report/0001").await.unwrap().unwrap();
    assert_eq!(page.citation().position.page, Some(1));
}

#[tokio::test]
async fn lines_are_those_of_the_file() {
    let handbook = Handbook::new();
    let filler = "The pump hums in the cellar all day.\n".repeat(150);
    handbook.write(
        "long.md",
        format!("---\ntitle: Pump\ntags: [cellar]\n---\n\n# Start\n\n{filler}\n## Codes\n\nThe reset code is 4711.\n"),
    );
    handbook.write("short.md", "---\ntitle: T\n---\n\nFirst.\n\nLast.\n");
    handbook.write("values.csv", "\n\nsep=;\n\nname;note\na;\"two\nlines\"\n\nzebra;x\n");
    handbook.read().await;
    assert_eq!(
        handbook.cited("reset code").await,
        "handbook/long.md, lines 159 to 161, \"Codes\""
    );
    assert_eq!(
        handbook.cited("first and last").await,
        "handbook/short.md, lines 5 to 7"
    );
    assert_eq!(handbook.cited("zebra").await, "handbook/values.csv, lines 6 to 9");
    let page = handbook.search("reset code").await.remove(0).page;
    assert_eq!(
        (page.title.as_str(), page.tags.as_slice()),
        ("Pump: Codes", &["cellar".to_owned()][..])
    );
}

#[tokio::test]
async fn rows_of_tables_are_found_by_their_values_with_their_columns() {
    let handbook = Handbook::new();
    let rows: String = (1..=200)
        .map(|row| format!("part-{row:03},{},{}\n", row * 7, row % 9))
        .collect();
    handbook.write("stock.csv", format!("part,stock,shelf\n{rows}"));
    let table: String = (1..=60)
        .map(|row| format!("| valve-{row:02} | {} |\n", row * 3))
        .collect();
    let filler = "Nothing about the stock is here.\n\n".repeat(130);
    handbook.write(
        "valves.md",
        format!("# Valves\n\n{filler}\n| valve | bar |\n|---|---|\n{table}"),
    );
    handbook.read().await;
    let page = handbook.search("part-137 stock").await.remove(0).page;
    assert!(page.content.starts_with("| part | stock | shelf |"), "{}", page.content);
    assert!(page.content.contains("| part-137 | 959 | 2 |"));
    assert_eq!(page.citation().to_string(), "handbook/stock.csv, lines 122 to 141");
    let page = handbook.search("valve-58 bar").await.remove(0).page;
    assert!(
        page.content.contains("| valve | bar |") && page.content.contains("| valve-58 | 174 |"),
        "{}",
        page.content
    );
}
