//! A tag of HTML, with its attributes.

/// A tag.
#[derive(Debug, Default)]
pub(in crate::page) struct HtmlTag {
    pub(super) name: Vec<u8>,
    pub(in crate::page) attributes: Attributes,
}

impl HtmlTag {
    /// Its name, in lower case; a name that is no UTF-8 cannot be.
    pub(in crate::page) fn name(&self) -> &str {
        std::str::from_utf8(&self.name).unwrap_or_default()
    }

    /// True if its name is one of these, which are apart by spaces.
    pub(in crate::page) fn is_one_of(&self, names: &str) -> bool {
        names
            .split_ascii_whitespace()
            .any(|name| name == self.name())
    }

    pub(super) fn clear(&mut self) {
        self.name.clear();
        self.attributes.text.clear();
        self.attributes.ends.clear();
    }
}

/// The attributes of a tag, in its order.
#[derive(Debug, Default)]
pub(in crate::page) struct Attributes {
    /// Names and values, one behind the other.
    text: Vec<u8>,
    /// End of each name in it, and of its value.
    ends: Vec<(usize, usize)>,
}

impl Attributes {
    /// The value of an attribute, empty where it has none. Of several with one name the first
    /// counts.
    pub(in crate::page) fn get(&self, wanted: &str) -> Option<&str> {
        self.iter()
            .find(|(name, _)| *name == wanted)
            .map(|(_, value)| value)
    }

    /// All of them, repeated names too.
    pub(in crate::page) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut start = 0;
        let part = |range| std::str::from_utf8(self.text.get(range)?).ok();
        self.ends.iter().map(move |(name, value)| {
            let both = (part(start..*name), part(*name..*value));
            start = *value;
            (both.0.unwrap_or_default(), both.1.unwrap_or_default())
        })
    }

    pub(super) fn begin(&mut self) {
        let end = self.text.len();
        self.ends.push((end, end));
    }

    pub(super) fn push(&mut self, bytes: &[u8], is_name: bool) {
        self.text.extend_from_slice(bytes);
        let end = self.text.len();
        if let Some(ends) = self.ends.last_mut() {
            *ends = (if is_name { end } else { ends.0 }, end);
        }
    }
}
