//! [`markdown`]: Markdown of others as HTML, without what could do harm.

mod tree;

use maud::{Markup, PreEscaped, html};

use self::tree::{Block, Node, parse};
use crate::visible::{beginning, visible, visible_text};

/// The size in bytes above which a text is shown as it is.
const MAX_BYTES: usize = 256 * 1024;

/// Returns Markdown as HTML. HTML in it is shown as text; links lead to the web only and show where; images are those in the text
/// itself, of types that browsers only draw.
pub(crate) fn markdown(text: &str) -> Markup {
    let (text, is_cut) = beginning(text, MAX_BYTES);
    if is_cut {
        return html! { pre class="plain" { (visible(text)) "…" } };
    }
    nodes(&parse(text))
}

fn nodes(list: &[Node]) -> Markup {
    html! { @for node in list { (one(node)) } }
}

fn one(node: &Node) -> Markup {
    match node {
        Node::Text(text) => visible(text),
        Node::Code(code) => html! { code { (visible(code)) } },
        Node::Break => html! { br; },
        Node::Rule => html! { hr; },
        Node::Task(is_done) => html! { span class="task" { @if *is_done { "☑ " } @else { "☐ " } } },
        Node::CodeBlock(language, code) => code_block(language, code),
        Node::Link(url, children) => link(url, &nodes(children)),
        Node::Image(url, alt) => image(url, alt),
        Node::Block(block, children) => within(*block, &nodes(children)),
    }
}

fn within(block: Block, content: &Markup) -> Markup {
    match block {
        Block::Paragraph => html! { p { (content) } },
        // The page has its own headings of the first levels.
        Block::Heading(level) => {
            let level = level.saturating_add(2).min(6);
            html! { (PreEscaped(format!("<h{level}>"))) (content) (PreEscaped(format!("</h{level}>"))) }
        }
        Block::Quote => html! { blockquote { (content) } },
        Block::List(None) => html! { ul { (content) } },
        Block::List(Some(start)) => html! { ol start=(start) { (content) } },
        Block::Item => html! { li { (content) } },
        Block::Emphasis => html! { em { (content) } },
        Block::Strong => html! { strong { (content) } },
        Block::Deleted => html! { del { (content) } },
        Block::Table => html! { div class="scroll" tabindex="0" { table { (content) } } },
        Block::Row => html! { tr { (content) } },
        Block::HeadCell => html! { th { (content) } },
        Block::Cell => html! { td { (content) } },
    }
}

fn code_block(language: &str, code: &str) -> Markup {
    html! {
        div class="code" {
            @if !language.is_empty() { span class="lang" { (visible(language)) } }
            pre tabindex="0" { code { (visible(code)) } }
        }
    }
}

/// Returns a link if it leads to the web. Otherwise, the text with the address.
fn link(url: &str, content: &Markup) -> Markup {
    html! {
        @if is_web(url) {
            a href=(url) rel="noopener noreferrer nofollow" target="_blank" { (content) }
            " " span class="url" { "(" (visible(url)) ")" }
        } @else {
            (content)
            @if !url.is_empty() { " " span class="url" { "(" (visible(url)) ")" } }
        }
    }
}

fn image(url: &str, alt: &str) -> Markup {
    html! {
        @if is_picture(url) {
            img src=(url) alt=(visible_text(alt)) loading="lazy";
        } @else {
            span class="url" { "🖼 " (visible(alt)) " (" (visible(beginning(url, 200).0)) ")" }
        }
    }
}

/// Returns whether an address is one of the web, and has no characters that are hidden or could be read in two ways.
fn is_web(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https")) && url.chars().all(|char| !char.is_control() && char != '\\')
}

fn is_picture(url: &str) -> bool {
    let types = ["png", "jpeg", "gif", "webp"];
    let rest = url
        .strip_prefix("data:image/")
        .and_then(|rest| rest.split_once(";base64,"));
    rest.is_some_and(|(kind, data)| {
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        types.contains(&kind) && data.bytes().all(is_base64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(markdown(text).into_string(), expected, "{text}");
    }

    #[test]
    fn markdown_becomes_html() {
        check(
            "Hello **you** and *me*",
            "<p>Hello <strong>you</strong> and <em>me</em></p>",
        );
        check("# A\n\ntext  \nnext", "<h3>A</h3><p>text<br>next</p>");
        check("3. a\n4. b", "<ol start=\"3\"><li>a</li><li>b</li></ol>");
        check("- [x] done", "<ul><li><span class=\"task\">☑ </span>done</li></ul>");
        check("> q", "<blockquote><p>q</p></blockquote>");
        check("~~no~~ `x<y`", "<p><del>no</del> <code>x&lt;y</code></p>");
        check(
            "```rust\nfn a() {}\n```",
            "<div class=\"code\"><span class=\"lang\">rust</span><pre tabindex=\"0\"><code>fn a() {}\n</code></pre></div>",
        );
        check(
            "|a|\n|-|\n|1|",
            "<div class=\"scroll\" tabindex=\"0\"><table><tr><th>a</th></tr><tr><td>1</td></tr></table></div>",
        );
        check("---", "<hr>");
        check("", "");
    }

    #[test]
    fn html_is_text() {
        check("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
        check("a <b onclick=x>b</b>", "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>");
        check("<!-- c -->", "&lt;!-- c --&gt;");
    }

    #[test]
    fn links_lead_to_the_web_only() {
        let web = markdown("[a](https://example.org/?q=\"x)").into_string();
        assert!(
            web.contains("rel=\"noopener noreferrer nofollow\"") && web.contains("(https://example.org/"),
            "{web}"
        );
        for url in [
            "javascript:alert(1)",
            "JaVaScRiPt:x",
            "data:text/html,x",
            "//evil.example",
            "/runs",
            "vbscript:x",
            "http:\\\\x",
            "file:///etc",
        ] {
            let shown = markdown(&format!("[a](<{url}>)")).into_string();
            assert!(!shown.contains("<a "), "{url}: {shown}");
        }
    }

    #[test]
    fn images_are_in_the_text_itself() {
        check(
            "![x](data:image/png;base64,AAAA)",
            "<p><img src=\"data:image/png;base64,AAAA\" alt=\"x\" loading=\"lazy\"></p>",
        );
        for url in [
            "https://example.org/a.png",
            "data:image/svg+xml;base64,AAAA",
            "data:image/png;base64,A\"A",
            "data:text/html;base64,AA",
        ] {
            let shown = markdown(&format!("![x](<{url}>)")).into_string();
            assert!(!shown.contains("<img"), "{url}: {shown}");
        }
    }

    #[test]
    fn deep_and_large_texts_are_bounded() {
        let deep = markdown(&"> ".repeat(10_000)).into_string();
        assert!(
            deep.matches("<blockquote>").count() <= tree::MAX_DEPTH,
            "{}",
            deep.len()
        );
        let large = markdown(&"*a* ".repeat(100_000)).into_string();
        assert!(large.starts_with("<pre class=\"plain\">") && large.len() <= MAX_BYTES + 100);
    }
}
