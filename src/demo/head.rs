//! The head of the wiki's HTML pages: measured on 2.5.314.

/// The additions of an administrator to the pages of the site.
#[derive(Debug, Clone, Default)]
pub(super) struct Theme {
    /// Styles of every page, minified.
    pub(super) css: String,
    /// HTML at the end of the head of every page that readers see.
    pub(super) head: String,
}

/// A page's HTML up to its body. The editor is shown the site's styles and nothing else of the
/// theme, readers those of the page behind them.
pub(super) fn html(title: &str, description: &str, styles: &str, behind: &str) -> String {
    let (title, description) = (escape(title), escape(description));
    let styles = match styles {
        "" => String::new(),
        styles => format!("<style type=\"text/css\">{styles}</style>"),
    };
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"UTF-8\"><title>{title} | Wiki.js</title>\
         <meta name=\"description\" content=\"{description}\">\
         <script>var siteConfig = {{\"title\":\"Wiki.js\",\"lang\":\"en\"}}\nvar siteLangs = []\n</script>\
         {styles}{behind}</head><body>"
    )
}

/// Nothing else is escaped; line breaks stand as they are.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
