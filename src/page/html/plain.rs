//! HTML as plain text.

use super::scan::{HtmlToken, scan};
use super::tag::HtmlTag;

/// HTML as plain text: a line a block, items with `- `, cells apart by tabs, `pre` as it is.
/// Scripts and styles are no text; what is hidden by style is.
pub fn plain_text(html: &str) -> String {
    let mut text = PlainTextWriter::default();
    let mut skipped = false;
    scan(html, |token, _| match token {
        HtmlToken::Open(tag) => {
            let attribute = |name| tag.attributes.get(name).unwrap_or_default();
            skipped = matches!(tag.name(), "script" | "style");
            match tag.name() {
                "br" => text.end_line(),
                "li" => {
                    text.end_line();
                    text.pending.push_str("- ");
                }
                "td" | "th" if text.is_in_line() => text.pending.push('\t'),
                "img" => text.add(attribute("alt")),
                "pre" => {
                    text.blank_line();
                    text.pre += 1;
                }
                // A heading's mark for its own link.
                "a" if attribute("class").contains("toc-anchor") => text.is_mark = true,
                _ => text.divide(tag),
            }
        }
        HtmlToken::Close(tag) => {
            skipped = false;
            text.is_mark = false;
            match tag.name() {
                "pre" => {
                    text.pre = text.pre.saturating_sub(1);
                    text.blank_line();
                }
                _ => text.divide(tag),
            }
        }
        HtmlToken::Text(words) if !skipped && !text.is_mark => text.add(words),
        _ => {}
    });
    let mut out = text.out;
    out.truncate(out.trim_end().len());
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Elements with a blank line before and behind them.
const SPACED: &str = "p h1 h2 h3 h4 h5 h6 ul ol table blockquote hr dl";
/// Others that begin and end a line.
const BLOCKS: &str = "div li tr dt dd section article header footer main nav aside figure figcaption \
    details summary tabset template thead tbody form address";

#[derive(Default)]
struct PlainTextWriter {
    out: String,
    /// Written before the next text, if one comes.
    pending: String,
    pre: usize,
    is_mark: bool,
}

impl PlainTextWriter {
    fn add(&mut self, text: &str) {
        if self.pre > 0 {
            self.out.push_str(&std::mem::take(&mut self.pending));
            self.out.push_str(text);
            return;
        }
        for (index, word) in text.split(|c: char| " \t\r\n".contains(c)).enumerate() {
            if index > 0 && self.is_in_line() && self.pending.is_empty() && !self.out.ends_with(' ')
            {
                self.pending.push(' ');
            }
            if !word.is_empty() {
                self.out.push_str(&std::mem::take(&mut self.pending));
                self.out.push_str(word);
            }
        }
    }

    fn is_in_line(&self) -> bool {
        !self.out.is_empty() && !self.out.ends_with('\n')
    }

    /// Begins or ends what a tag divides from the text around it.
    fn divide(&mut self, tag: &HtmlTag) {
        if tag.is_one_of(SPACED) {
            self.blank_line();
        } else if tag.is_one_of(BLOCKS) {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        self.pending.clear();
        if self.is_in_line() {
            self.out.push('\n');
        }
    }

    fn blank_line(&mut self) {
        self.end_line();
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::plain_text;

    #[test]
    fn plain_text_keeps_blocks_items_cells_and_code() {
        let html = "<h1 id=\"a\"><a href=\"#a\" class=\"toc-anchor\">¶</a> One</h1>\n<p>a &lt;b&gt;\n<b>c</b>, d</p>\n<ul>\n<li>x</li>\n<li>y</li>\n</ul><table><tr><th>1</th><th>2</th></tr><tr><td>3</td><td>4</td></tr></table><pre><code>if a {\n    b &amp;&amp; c\n}\n</code></pre><style>p{}</style><script>if (a<b) x('</p>')</script><!-- no --><template><div>tab</div></template>";
        assert_eq!(
            plain_text(html),
            "One\n\na <b> c, d\n\n- x\n- y\n\n1\t2\n3\t4\n\nif a {\n    b && c\n}\n\ntab\n"
        );
        assert_eq!(plain_text(""), "");
    }

    #[test]
    fn a_stray_quote_hides_no_text() {
        assert_eq!(
            plain_text("<div a=x\">one</div><p title='>two</p><p>it' three>four</p>"),
            "one\n\nfour\n"
        );
        assert_eq!(
            plain_text("a&#8203;b &amp;lt; &copy2 &euro;"),
            "a\u{200B}b &lt; ©2 €\n"
        );
    }
}
