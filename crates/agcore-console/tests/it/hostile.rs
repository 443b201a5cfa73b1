//! Hostile texts: a page stays the same page.

use agcore_console::{Language, chat_page};
use proptest::prelude::*;

use crate::{
    data::{chat, pages, shell},
    html::{tags, without_numbers},
};

/// Texts that try to be more than texts.
const SEEDS: &[&str] = &[
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "\" autofocus onfocus=\"alert(1)",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</style><style>*{display:none}</style>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?php",
    "&lt;script&gt;",
    "&#60;script&#62;",
    "&quot;&amp;&nbsp;",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "//evil.example/x",
    "https://evil.example/?a=\"><b>",
    "../../../etc/passwd",
    "..",
    "/",
    "?a=b#c",
    "%00%0d%0a",
    "\r\nSet-Cookie: a=b",
    "\0",
    "a\u{202e}b",
    "\u{2066}x\u{2069}",
    "\u{200b}\u{feff}",
    "\u{e0041}\u{e0042}",
    "\u{1b}[31mred",
    "{{7*7}}",
    "${7*7}",
    "{n} {user} {time}",
    "`${alert(1)}`",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<form action=//evil.example><button>",
    "<a href=javascript:alert(1)>x</a>",
    "<math><mtext></mtext></math>",
    "<template><script>alert(1)</script></template>",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    "👩\u{200d}👩\u{200d}👧",
    "你好，世界",
    "\u{fffd}\u{ffff}",
    "data-live=\"/evil\"",
];

/// Returns more than two hundred texts: the seeds, and the seeds within each other.
fn corpus() -> Vec<String> {
    let plain = SEEDS.iter().map(|seed| (*seed).to_owned());
    let wrapped = SEEDS.iter().flat_map(|seed| {
        [
            format!("\"{seed}\""),
            format!("'>{seed}<'"),
            format!("</div></main>{seed}"),
            format!("{seed}\n\n{seed}"),
        ]
    });
    plain.chain(wrapped).collect()
}

/// Returns the shape of a page: its tags with the names of their attributes, without what marks names in JSON.
fn shape(html: &str) -> Vec<String> {
    let tags = tags(&without_numbers(html));
    let shapes = tags
        .iter()
        .filter(|tag| tag.name != "b" && tag.name != "/b")
        .map(crate::html::Tag::shape);
    shapes.collect()
}

fn check(text: &str) {
    let benign = pages("abc", Language::English);
    for ((name, html), (_, expected)) in pages(text, Language::English).iter().zip(&benign) {
        assert_eq!(shape(html), shape(expected), "{name}: {text:?}");
        for tag in tags(html) {
            for (attribute, value) in &tag.attributes {
                assert!(
                    !attribute.starts_with("on") && attribute != "style" && attribute != "srcdoc",
                    "{name}: {tag:?}"
                );
                if ["href", "src", "action", "formaction"].contains(&attribute.as_str()) {
                    assert!(
                        value.starts_with("/console") || value == "#content",
                        "{name}: {value} for {text:?}"
                    );
                }
            }
        }
        let hidden = html
            .chars()
            .find(|char| matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\0'));
        // Values that the browser sends back are as they were.
        assert!(hidden.is_none() || html.contains("type=\"hidden\""), "{name}: {text:?}");
    }
}

#[test]
fn two_hundred_hostile_texts_change_no_page() {
    let corpus = corpus();
    assert!(corpus.len() >= 200, "{}", corpus.len());
    for text in &corpus {
        check(text);
    }
}

#[test]
fn hostile_markdown_has_only_what_the_pages_know() {
    let allowed = [
        "p",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "li",
        "em",
        "strong",
        "del",
        "code",
        "pre",
        "blockquote",
        "table",
        "tr",
        "th",
        "td",
        "br",
        "hr",
        "a",
        "span",
        "div",
        "img",
    ];
    let shell = shell("abc", Language::English);
    let frame = |text: &str| {
        let html = chat_page(&shell, &chat("abc", text));
        let (_, after) = html.split_once("<div class=\"markdown\">").unwrap();
        let (inner, _) = after.split_once("<div id=\"e-7\"").unwrap();
        inner.to_owned()
    };
    for seed in corpus() {
        for text in [
            seed.clone(),
            format!("[a]({seed})"),
            format!("![a]({seed})"),
            format!("```{seed}\n{seed}\n```"),
            format!("| {seed} |\n|-|\n| {seed} |"),
            format!("<{seed}>"),
        ] {
            for tag in tags(&frame(&text)) {
                let name = tag.name.trim_start_matches('/');
                assert!(allowed.contains(&name), "{tag:?} of {text:?}");
                let known = [
                    "class", "href", "rel", "target", "src", "alt", "loading", "start", "tabindex",
                ];
                assert!(
                    tag.attributes.iter().all(|(name, _)| known.contains(&name.as_str())),
                    "{tag:?} of {text:?}"
                );
                if let Some(address) = tag.get("href") {
                    assert!(
                        address.starts_with("http://") || address.starts_with("https://"),
                        "{address} of {text:?}"
                    );
                    assert_eq!(tag.get("rel"), Some("noopener noreferrer nofollow"));
                }
                if let Some(address) = tag.get("src") {
                    assert!(address.starts_with("data:image/"), "{address} of {text:?}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_text_changes_a_page(text in "\\PC{1,40}") {
        check(&text);
    }

    #[test]
    fn no_mark_up_changes_a_page(text in "[<>\"'&/=a-z!\\-\\\\ \\n\\t]{1,60}") {
        check(&text);
    }
}
