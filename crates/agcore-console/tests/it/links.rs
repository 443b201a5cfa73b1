//! The parts that every page has, and its links.

use agcore_console::{HEADERS, Language, asset};

use crate::{data::pages, html::tags};

#[test]
fn every_page_has_a_language_a_heading_and_one_main_part() {
    for language in Language::ALL {
        for (name, html) in pages("abc", language) {
            let tags = tags(&html);
            let count = |wanted: &str| tags.iter().filter(|tag| tag.name == wanted).count();
            assert_eq!((count("main"), count("title")), (1, 1), "{name}");
            assert!(count("h1") == 1, "{name}: {}", count("h1"));
            let root = tags.iter().find(|tag| tag.name == "html").unwrap();
            assert_eq!(root.get("lang"), Some(language.code()), "{name}");
        }
    }
}

#[test]
fn every_field_has_a_label() {
    for (name, html) in pages("abc", Language::English) {
        let tags = tags(&html);
        let labels: Vec<&str> = tags
            .iter()
            .filter(|tag| tag.name == "label")
            .filter_map(|tag| tag.get("for"))
            .collect();
        for field in tags
            .iter()
            .filter(|tag| ["input", "textarea", "select"].contains(&tag.name.as_str()))
        {
            let is_hidden = field.get("type") == Some("hidden");
            let is_labelled = field
                .get("id")
                .map_or(field.name == "select", |id| labels.contains(&id));
            assert!(is_hidden || is_labelled, "{name}: {field:?}");
        }
    }
}

#[test]
fn scripts_and_styles_are_files_of_ours() {
    for (name, html) in pages("abc", Language::Chinese) {
        for tag in tags(&html) {
            let address = match tag.name.as_str() {
                "script" => tag.get("src"),
                "link" => tag.get("href"),
                "style" => panic!("{name} has styles of its own"),
                _ => continue,
            };
            let file = address.unwrap().strip_prefix("/console/assets/").unwrap();
            assert!(asset(file).is_some(), "{name}: {file}");
        }
        assert!(
            !html.contains("</script><script>") || !html.contains("<script>"),
            "{name}"
        );
    }
}

#[test]
fn ids_are_unique() {
    for (name, html) in pages("abc", Language::English) {
        let mut ids: Vec<String> = tags(&html)
            .iter()
            .filter_map(|tag| tag.get("id").map(str::to_owned))
            .collect();
        // The questions of the data have the same id on purpose.
        ids.retain(|id| !id.contains("abc"));
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all, "{name}: {ids:?}");
    }
}

#[test]
fn forms_send_the_token_and_links_lead_to_pages_that_exist() {
    let known = [
        "/console/runs",
        "/console/inbox",
        "/console/chat",
        "/console/cost",
        "/console/operations",
        "/console/schedules",
        "/console/webhooks",
        "/console/assets/",
        "/console/login",
        "/console/logout",
        "/console/view",
    ];
    for (name, html) in pages("abc", Language::English) {
        let tags = tags(&html);
        for tag in &tags {
            for attribute in ["href", "action"] {
                let Some(address) = tag.get(attribute) else { continue };
                assert!(
                    address == "#content" || known.iter().any(|known| address.starts_with(known)),
                    "{name}: {address}"
                );
            }
        }
        let forms = tags
            .iter()
            .filter(|tag| tag.name == "form" && tag.get("method") == Some("post"))
            .count();
        let tokens = tags.iter().filter(|tag| tag.get("name") == Some("form_token")).count();
        assert_eq!(forms, tokens, "{name}");
    }
}

#[test]
fn the_policy_allows_nothing_from_elsewhere() {
    let policy = HEADERS
        .iter()
        .find(|(name, _)| *name == "content-security-policy")
        .unwrap()
        .1;
    assert_eq!(
        policy,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; \
         frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types agcore-fragments"
    );
}
