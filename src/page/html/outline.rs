//! The outline of a page in HTML, as its visual and code editors store it and as the wiki
//! renders all pages.

use std::collections::HashMap;

use super::{HtmlToken, scan};
use crate::page::{Block, BlockKind, Outline};

/// The kinds of element that matter to an outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Heading(u8),
    Block(BlockKind),
}

const PARAGRAPH: Element = Element::Block(BlockKind::Paragraph);

const NAMES: [(&str, Element); 12] = [
    ("h1", Element::Heading(1)),
    ("h2", Element::Heading(2)),
    ("h3", Element::Heading(3)),
    ("h4", Element::Heading(4)),
    ("h5", Element::Heading(5)),
    ("h6", Element::Heading(6)),
    ("p", PARAGRAPH),
    ("pre", Element::Block(BlockKind::Code)),
    ("ul", Element::Block(BlockKind::List)),
    ("ol", Element::Block(BlockKind::List)),
    ("table", Element::Block(BlockKind::Table)),
    ("blockquote", Element::Block(BlockKind::Blockquote)),
];

/// An element that is open, and where it begins.
struct OutlineElement {
    name: &'static str,
    element: Element,
    start: usize,
    /// Its place among the blocks, if it counts.
    block: Option<usize>,
}

impl<'a> Outline<'a> {
    /// The outline of a page in HTML. A heading or block takes the bytes of its element.
    pub fn of_html(text: &'a str) -> Self {
        let mut outline = Self::empty(text);
        let mut open: Vec<OutlineElement> = Vec::new();
        // How many of each name are open: what was never opened closes nothing.
        let mut counts: HashMap<&str, usize> = HashMap::new();
        let (mut heading, mut mark, mut link) = (String::new(), false, None);
        scan(text, |token, at| match token {
            HtmlToken::Open(tag) if tag.name() == "a" => {
                let attribute = |name| tag.attributes.get(name);
                mark = attribute("class").is_some_and(|class| class.contains("toc-anchor"));
                if let Some(target) = attribute("href").filter(|_| !mark) {
                    link = Some(outline.targets.len());
                    outline.target(false, at.start, target.to_owned());
                }
            }
            HtmlToken::Open(tag) if tag.name() == "img" => {
                let source = tag.attributes.get("src").unwrap_or_default();
                outline.target(true, at.start, source.to_owned());
            }
            HtmlToken::Open(tag) => {
                let Some((name, element)) = known(tag.name()) else {
                    return;
                };
                // A block ends a paragraph that nobody closed.
                if let Some(paragraph) = open.pop_if(|open| open.element == PARAGRAPH) {
                    outline.end(&paragraph, at.start);
                    counts.entry(paragraph.name).and_modify(|count| *count -= 1);
                }
                let block = match element {
                    Element::Block(kind) if open.is_empty() || kind.counts_inside() => {
                        outline.blocks.push(Block {
                            kind,
                            range: at.clone(),
                        });
                        Some(outline.blocks.len() - 1)
                    }
                    _ => None,
                };
                heading.clear();
                open.push(OutlineElement {
                    name,
                    element,
                    start: at.start,
                    block,
                });
                *counts.entry(name).or_default() += 1;
            }
            HtmlToken::Close(tag) if tag.name() == "a" => (mark, link) = (false, None),
            HtmlToken::Close(tag) => {
                let Some((name, element)) = known(tag.name()) else {
                    return;
                };
                while counts.get(name) > Some(&0)
                    && let Some(closed) = open.pop()
                {
                    counts.entry(closed.name).and_modify(|count| *count -= 1);
                    outline.end(&closed, at.end);
                    if closed.name == name {
                        if let (Element::Heading(level), true) = (element, open.is_empty()) {
                            let words: Vec<&str> = heading.split_whitespace().collect();
                            outline.heading(level, words.join(" "), closed.start..at.end);
                        }
                        break;
                    }
                }
            }
            HtmlToken::Text(words) if !mark => {
                if let Some(target) = link.and_then(|link| outline.targets.get_mut(link)) {
                    target.text.push_str(words);
                }
                let last = open.last().map(|open| open.element);
                if let Some(Element::Heading(_)) = last {
                    heading.push_str(words);
                }
            }
            _ => {}
        });
        outline.close_sections();
        outline
    }

    fn end(&mut self, closed: &OutlineElement, end: usize) {
        if let Some(block) = closed.block.and_then(|block| self.blocks.get_mut(block)) {
            block.range.end = end;
        }
    }
}

fn known(name: &str) -> Option<(&'static str, Element)> {
    let mut all = NAMES.into_iter();
    all.find(|(known, _)| *known == name)
}

#[cfg(test)]
mod tests {
    use crate::page::Outline;

    #[test]
    fn headings_and_blocks_of_html_are_told() {
        let html = "<p>lead</p>\n<h1 id=\"x\"><a class=\"toc-anchor\" href=\"#x\">¶</a> One &amp;\n <em>two</em></h1><ul><li><pre>code</pre><ul><li>in</li></ul></li></ul>\n<!-- <h2>no</h2> --><H2>Two</H2>\n<p>open<p>next<table><tr><td><h3>no</h3></td></tr></table><script>'<h1>no</h1>'</script><a href=\"/x\">to x</a><img src=y.png>";
        let outline = Outline::of_html(html);
        let headings: Vec<_> = outline
            .headings
            .iter()
            .map(|heading| (heading.level, heading.text.as_str(), heading.line))
            .collect();
        assert_eq!(headings, [(1, "One & two", 2), (2, "Two", 4)]);
        let blocks: Vec<_> = outline
            .blocks
            .iter()
            .map(|block| (block.kind.name(), html.get(block.range.clone()).unwrap()))
            .collect();
        assert_eq!(
            blocks,
            [
                ("paragraph", "<p>lead</p>"),
                (
                    "list",
                    "<ul><li><pre>code</pre><ul><li>in</li></ul></li></ul>"
                ),
                ("code", "<pre>code</pre>"),
                ("paragraph", "<p>open"),
                ("paragraph", "<p>next"),
                ("table", "<table><tr><td><h3>no</h3></td></tr></table>"),
            ]
        );
        let targets: Vec<_> = outline
            .targets
            .iter()
            .map(|target| (target.target.as_str(), target.text.as_str()))
            .collect();
        assert_eq!(targets, [("/x", "to x"), ("y.png", "")]);
    }
}
