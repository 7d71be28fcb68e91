//! Markdown as HTML that fetches nothing: addresses are text, and raw HTML is shown as what it is.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::xml::escaped;

/// A text of a lesson, such as a prompt, as HTML; one paragraph alone stands without its element.
pub fn html(markdown: &str) -> String {
    let mut html = String::with_capacity(markdown.len());
    let mut addresses = Vec::new();
    for event in Parser::new_ext(markdown, Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                addresses.push((html.len(), dest_url));
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                if let Some((start, address)) = addresses.pop() {
                    let address = escaped(&address);
                    if html.get(start..) != Some(address.as_str()) {
                        html.push_str(&format!(" ({address})"));
                    }
                }
            }
            Event::Start(tag) => {
                if let Some(element) = element(&tag.to_end()) {
                    html.push_str(&format!("<{element}>"));
                }
            }
            Event::End(tag) => {
                if let Some(element) = element(&tag) {
                    html.push_str(&format!("</{element}>"));
                }
            }
            Event::Code(code) => html.push_str(&format!("<code>{}</code>", escaped(&code))),
            Event::SoftBreak => html.push(' '),
            Event::HardBreak => html.push_str("<br>"),
            Event::Rule => html.push_str("<hr>"),
            Event::TaskListMarker(done) => html.push_str(if done { "[x] " } else { "[ ] " }),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => html.push_str(&escaped(&text)),
        }
    }
    let alone = html.strip_prefix("<p>").and_then(|rest| rest.strip_suffix("</p>"));
    match alone.filter(|text| !text.contains("<p>")) {
        Some(text) => text.to_owned(),
        None => html,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "tags that carry no style of their own")]
fn element(tag: &TagEnd) -> Option<&'static str> {
    Some(match tag {
        TagEnd::Paragraph => "p",
        // A heading inside a page has no level of its own.
        TagEnd::Heading(_) => "h4",
        TagEnd::Strong => "strong",
        TagEnd::Emphasis => "em",
        TagEnd::Strikethrough => "s",
        TagEnd::CodeBlock => "pre",
        TagEnd::BlockQuote(_) => "blockquote",
        TagEnd::List(true) => "ol",
        TagEnd::List(false) => "ul",
        TagEnd::Item => "li",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::html;

    #[test]
    fn markdown_becomes_elements() {
        for (markdown, expected) in [
            (
                "**Turn** `a*b` up\nto *2*.",
                "<strong>Turn</strong> <code>a*b</code> up to <em>2</em>.",
            ),
            ("one\n\ntwo", "<p>one</p><p>two</p>"),
            ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
            ("```cuda\nif (a < b)\n```", "<pre>if (a &lt; b)&#10;</pre>"),
        ] {
            assert_eq!(html(markdown), expected);
        }
    }

    #[test]
    fn nothing_is_fetched_or_run() {
        let page = html(
            "See <script>x</script> <b>y</b> ![p](https://e/p.png) [l](javascript:x) <https://e/>",
        );
        assert_eq!(
            page,
            "See &lt;script&gt;x&lt;/script&gt; &lt;b&gt;y&lt;/b&gt; p (https://e/p.png) l (javascript:x) https://e/"
        );
    }
}
