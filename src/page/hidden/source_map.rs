//! HTML made from a source, with the place in the source of each piece.

/// HTML in the making.
#[derive(Debug, Default)]
pub(super) struct Mapped {
    html: String,
    /// Starts of the pieces: in the HTML, and in the source.
    pieces: Vec<(usize, usize)>,
}

impl Mapped {
    /// Adds a piece as it stands in the source.
    pub(super) fn raw(&mut self, piece: &str, source: usize) {
        self.pieces.push((self.html.len(), source));
        self.html.push_str(piece);
    }

    /// Adds a tag.
    pub(super) fn tag(&mut self, name: &str, is_end: bool, source: usize) {
        self.begin(source);
        self.html.push_str(if is_end { "</" } else { "<" });
        self.html.push_str(name);
        self.html.push('>');
    }

    /// Adds text.
    pub(super) fn text(&mut self, text: &str, source: usize) {
        self.begin(source);
        for c in text.chars() {
            match c {
                '<' => self.html.push_str("&lt;"),
                '&' => self.html.push_str("&amp;"),
                c => self.html.push(c),
            }
        }
    }

    fn begin(&mut self, source: usize) {
        if self.pieces.last().is_none_or(|(_, last)| *last < source) {
            self.pieces.push((self.html.len(), source));
        }
    }

    pub(super) fn html(&self) -> &str {
        &self.html
    }

    /// Maps places of the HTML to places of the source. Places must be asked for in order.
    pub(super) fn sources(&self) -> impl FnMut(usize) -> usize {
        let mut passed = 0;
        move |at| {
            while self
                .pieces
                .get(passed + 1)
                .is_some_and(|(start, _)| *start <= at)
            {
                passed += 1;
            }
            let (start, source) = self.pieces.get(passed).copied().unwrap_or_default();
            let next = self
                .pieces
                .get(passed + 1)
                .map_or(usize::MAX, |(_, source)| *source);
            let place = source + at.saturating_sub(start);
            place.min(next.max(source))
        }
    }
}
