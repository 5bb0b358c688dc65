//! Finds what styles do to a text.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::RegexSet;

use super::words::{has_one, plain};
use crate::page::css::colour::Colour;

/// The longest value that is examined.
const MAX_VALUE: usize = 200;

/// Declarations that keep a text from being seen, alone or along with others.
static HIDING: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    let lines = include_str!("lists/hiding_styles.txt").lines();
    RegexSet::new(lines.filter(|line| !line.starts_with('#'))).ok()
});

/// Properties that keep no text from being seen alone, or not with all that is in it.
const NOT_ALONE: &str = "overflow overflow-x overflow-y width height max-width max-height \
    inline-size block-size line-height backface-visibility rotate visibility font font-size \
    unicode-bidi text-shadow background background-clip -webkit-background-clip";

/// The declarations that count for an element.
#[derive(Debug, Clone, Default)]
pub(super) struct Style {
    /// By property: true if its value is one that hides.
    hides: HashMap<String, bool>,
    colour: Option<Colour>,
    fill: Option<Colour>,
    background: Option<Colour>,
}

/// What an element's style and those around it do to its text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Look {
    is_gone: bool,
    /// Unseen by visibility, by the font's size, by colours: each until an element sets it anew.
    unseen: [bool; 3],
    colour: Option<Colour>,
    background: Option<Colour>,
    /// A class may paint a background.
    may_be_painted: bool,
}

impl Look {
    /// The look of an element within one that looks so.
    pub(super) fn inside(self, style: &Style, is_gone: bool, has_class: bool) -> Self {
        let own = style.fill.or(style.colour);
        // Text shows by its shadow, or as a hole.
        let is_cut = style.any("text-shadow background background-clip -webkit-background-clip");
        let own = own.map(|own| if is_cut { Colour::Unknown } else { own });
        let (colour, background) = (own.or(self.colour), style.background.or(self.background));
        let may_be_painted = self.may_be_painted || has_class;
        let is_lost = |colour: Colour| colour.is_lost_on(background, may_be_painted);
        let hides = |name: &str| style.hides.get(name).copied();
        let is_coloured = own.or(style.background).is_some();
        let by_colour = is_coloured.then(|| colour.is_some_and(is_lost));
        let by_size = hides("font-size").or(hides("font"));
        let [visibility, size, lost] = self.unseen;
        Self {
            is_gone: self.is_gone || is_gone || style.is_gone(),
            unseen: [
                hides("visibility").unwrap_or(visibility),
                by_size.unwrap_or(size),
                by_colour.unwrap_or(lost),
            ],
            colour,
            background,
            may_be_painted,
        }
    }

    /// True if its text is not seen.
    pub(super) fn is_hidden(&self) -> bool {
        self.is_gone || self.unseen.contains(&true)
    }
}

impl Style {
    /// Adds a declaration, which wins over an earlier one.
    pub(super) fn declare(&mut self, name: &str, value: &str) {
        let value: String = value.chars().take(MAX_VALUE).collect();
        let value = value.split('!').next().unwrap_or_default();
        let value = plain(value);
        match name {
            "color" => self.colour = Colour::of(&value),
            "-webkit-text-fill-color" => self.fill = Colour::of(&value),
            "background" | "background-color" | "background-image" => {
                let own = Colour::of(&value).filter(|own| *own != Colour::Transparent);
                self.background = own.or(self.background);
            }
            "transform" => self.declare("rotate", &value),
            _ => {}
        }
        let hiding = HIDING.as_ref();
        let hides = hiding.is_some_and(|hiding| hiding.is_match(&format!("{name}:{value}")));
        // A relative size leaves a tiny text tiny.
        let is_relative = value.ends_with('%') || value.ends_with("em") && !value.ends_with("rem");
        if hides || name != "font-size" || !is_relative {
            self.hides.insert(name.to_owned(), hides);
        }
    }

    /// Adds the declarations of another style, which win.
    pub(super) fn merge(&mut self, other: &Self) {
        self.hides.extend(other.hides.clone());
        self.colour = other.colour.or(self.colour);
        self.fill = other.fill.or(self.fill);
        self.background = other.background.or(self.background);
    }

    /// True if it may hide something.
    pub(super) fn matters(&self) -> bool {
        let colours = [self.colour, self.fill, self.background];
        self.hides.values().any(|hides| *hides) || colours.iter().any(Option::is_some)
    }

    /// True if one of these properties has a value that hides.
    pub(super) fn any(&self, names: &str) -> bool {
        let mut names = names.split_ascii_whitespace();
        names.any(|name| self.hides.get(name) == Some(&true))
    }

    fn is_gone(&self) -> bool {
        let mut hiding = self.hides.iter().filter(|(_, hides)| **hides);
        hiding.any(|(name, _)| !has_one(NOT_ALONE, name))
            || self.any("backface-visibility") && self.any("rotate")
            || self.any("overflow overflow-x overflow-y")
                && self.any("width height max-width max-height inline-size block-size line-height")
    }
}

#[cfg(test)]
mod tests {
    use super::HIDING;

    #[test]
    fn declarations_that_hide_are_told_from_ordinary_ones() {
        let hiding = HIDING.as_ref().unwrap();
        for hides in [
            "opacity:.05",
            "left:calc(-9999px)",
            "margin:-999em 0 0 0",
            "transform:rotate(0deg) scaley(0)",
            "clip:rect(1px 1px 1px 1px)",
            "font:1px/1 arial",
            "font-size:.1em",
            "max-height:1px",
        ] {
            assert!(hiding.is_match(hides), "{hides}");
        }
        for shows in [
            "opacity:.06",
            "left:-20px",
            "margin:-1.5rem auto",
            "transform:translate(-50%,-50%)",
            "transform:scale(1.1) translate(0, 0)",
            "clip-path:inset(0)",
            "font:700 12px/1 arial",
            "font-size:90%",
            "line-height:1",
            "max-height:100%",
        ] {
            assert!(!hiding.is_match(shows), "{shows}");
        }
    }
}
