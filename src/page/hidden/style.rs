//! Finds what styles hide.

use super::colour::{Background, Colour};
use super::css::{argument, is_faint, number, pixels, split};

/// The properties that are looked at, each with what makes it up.
const KNOWN: &[&str] = &[
    "display",
    "visibility",
    "content-visibility",
    "opacity",
    "zoom",
    "filter",
    "font",
    "font-size",
    "color",
    "-webkit-text-fill-color",
    "background",
    "background-color",
    "background-image",
    "background-clip",
    "-webkit-background-clip",
    "text-shadow",
    "text-indent",
    "letter-spacing",
    "white-space",
    "position",
    "left",
    "right",
    "top",
    "bottom",
    "inset",
    "z-index",
    "margin",
    "margin-left",
    "margin-top",
    "margin-right",
    "margin-bottom",
    "transform",
    "scale",
    "translate",
    "backface-visibility",
    "clip",
    "clip-path",
    "mask",
    "mask-image",
    "-webkit-mask-image",
    "overflow",
    "overflow-x",
    "overflow-y",
    "width",
    "height",
    "max-width",
    "max-height",
    "inline-size",
    "block-size",
    "line-height",
    "unicode-bidi",
    "-webkit-text-security",
    "fill",
    "fill-opacity",
];

/// The longest value that is looked at.
const MAX_VALUE: usize = 200;

/// The declarations that count for an element, the last of each property.
#[derive(Debug, Clone, Default)]
pub(super) struct Style {
    declared: Vec<(&'static str, String)>,
}

/// Effect of an element's own style on its text; `None` where it leaves that as it was.
#[derive(Debug, Default, PartialEq)]
pub(super) struct StyleEffect {
    /// The element and everything in it is invisible.
    pub(super) is_gone: bool,
    /// Its text is written backwards.
    pub(super) is_turned: bool,
    /// Its text is not seen.
    pub(super) is_unseen: Option<bool>,
    /// Its text is too small to be read.
    pub(super) is_tiny: Option<bool>,
    pub(super) colour: Option<Colour>,
    pub(super) background: Option<Background>,
}

impl Style {
    /// Adds declarations as they stand in a style sheet or an attribute, without comments and
    /// escapes (`clean`). What is invalid is passed over.
    pub(super) fn declare(&mut self, declarations: &str) {
        for declaration in split(declarations, ';') {
            let Some((name, value)) = declaration.split_once(':') else {
                continue;
            };
            let name = name.trim();
            let Some(known) = KNOWN.iter().find(|known| known.eq_ignore_ascii_case(name)) else {
                continue;
            };
            let value: String = value.trim().chars().take(MAX_VALUE).collect();
            let value = value.to_ascii_lowercase();
            let value = value.split('!').next().unwrap_or_default().trim();
            self.set(known, value.to_owned());
        }
    }

    fn set(&mut self, name: &'static str, value: String) {
        match self.declared.iter_mut().find(|(there, _)| *there == name) {
            Some((_, there)) => *there = value,
            None => self.declared.push((name, value)),
        }
    }

    /// Adds the declarations of another style, which win.
    pub(super) fn merge(&mut self, other: &Self) {
        for (name, value) in &other.declared {
            self.set(name, value.clone());
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.declared.is_empty()
    }

    fn get(&self, name: &str) -> &str {
        let found = self.declared.iter().find(|(there, _)| *there == name);
        found.map_or("", |(_, value)| value)
    }

    /// The first of these properties that is declared and is a length.
    fn length(&self, name: &str) -> Option<f64> {
        pixels(self.get(name))
    }

    pub(super) fn looks(&self) -> StyleEffect {
        if self.is_empty() {
            return StyleEffect::default();
        }
        StyleEffect {
            is_gone: self.is_gone(),
            is_turned: self.get("unicode-bidi").contains("override"),
            is_unseen: match self.get("visibility") {
                "hidden" | "collapse" => Some(true),
                "visible" => Some(false),
                _ => None,
            },
            is_tiny: self.is_tiny(),
            colour: self.colour(),
            background: self.background(),
        }
    }

    fn is_gone(&self) -> bool {
        self.get("display") == "none"
            || self.get("content-visibility") == "hidden"
            || is_faint(self.get("opacity"))
            || is_faint(self.get("fill-opacity"))
            || is_faint(self.get("zoom"))
            || argument(self.get("filter"), "opacity").is_some_and(is_faint)
            || matches!(
                self.get("-webkit-text-security"),
                "disc" | "circle" | "square"
            )
            || self
                .length("letter-spacing")
                .is_some_and(|length| length <= -6.0)
            || self.is_far()
            || self.is_transformed_away()
            || self.is_clipped()
            || self.is_flat()
    }

    /// True if it lies beyond the edge, or behind its background.
    fn is_far(&self) -> bool {
        const FAR: f64 = 500.0;
        let is_placed = matches!(
            self.get("position"),
            "absolute" | "fixed" | "relative" | "sticky"
        );
        let is_beyond = |length: f64| length <= -FAR || length >= 10.0 * FAR;
        let sides = ["left", "right", "top", "bottom"];
        let margins = ["margin-left", "margin-top", "margin-right", "margin-bottom"];
        let pushed = |name: &str| {
            let mut all = self.get(name).split_whitespace().filter_map(pixels);
            all.any(is_beyond)
        };
        let indent = self.length("text-indent");
        let hides_rest = self.is_cut_off() && self.get("white-space").contains("nowrap");
        is_placed && (sides.iter().any(|side| pushed(side)) || pushed("inset"))
            || margins
                .iter()
                .any(|margin| self.length(margin).is_some_and(|length| length <= -FAR))
            || self
                .get("margin")
                .split_whitespace()
                .filter_map(pixels)
                .any(|length| length <= -FAR)
            || indent.is_some_and(|indent| indent <= -100.0 || indent >= 10.0 * FAR)
            || hides_rest && self.get("text-indent") == "100%"
            || is_placed && self.get("z-index").starts_with('-')
    }

    fn is_transformed_away(&self) -> bool {
        let transform = self.get("transform");
        let is_none = |value: &str| {
            value
                .split([',', ' '])
                .any(|part| number(part) == Some(0.0))
        };
        let scales = ["scale", "scalex", "scaley", "scale3d"];
        let moves = ["translate", "translatex", "translatey", "translate3d"];
        let is_far = |value: &str| {
            let mut all = value.split([',', ' ']).filter_map(pixels);
            all.any(|length| length.abs() >= 500.0)
        };
        let is_edgeways = |name| {
            argument(transform, name).is_some_and(|turn| turn == "90deg" || turn == "-90deg")
        };
        let is_behind = |name| argument(transform, name).is_some_and(|turn| turn == "180deg");
        scales
            .iter()
            .any(|name| argument(transform, name).is_some_and(is_none))
            || argument(transform, "matrix").is_some_and(|matrix| matrix.starts_with('0'))
            || moves
                .iter()
                .any(|name| argument(transform, name).is_some_and(is_far))
            || is_edgeways("rotatex")
            || is_edgeways("rotatey")
            || self.get("backface-visibility") == "hidden"
                && (is_behind("rotatex") || is_behind("rotatey"))
            || !self.get("scale").is_empty() && is_none(self.get("scale"))
            || is_far(self.get("translate"))
    }

    fn is_clipped(&self) -> bool {
        let clip = argument(self.get("clip"), "rect").is_some_and(|rect| {
            let mut all = rect.split([',', ' ']).filter(|part| !part.is_empty());
            all.all(|part| pixels(part).is_some_and(|length| length <= 1.0))
        });
        let path = self.get("clip-path");
        let inset = argument(path, "inset").is_some_and(|inset| {
            let percent = inset
                .split([',', ' '])
                .find_map(|part| part.strip_suffix('%'));
            percent
                .and_then(number)
                .is_some_and(|percent| percent >= 49.0)
        });
        let round = ["circle", "ellipse"].iter().any(|name| {
            argument(path, name)
                .is_some_and(|size| size.split([',', ' ']).next().and_then(pixels) == Some(0.0))
        });
        let polygon = argument(path, "polygon").is_some_and(|points| {
            let mut all = points.split([',', ' ']).filter(|part| !part.is_empty());
            all.all(|part| pixels(part) == Some(0.0) || part == "0%")
        });
        let masks = ["mask", "mask-image", "-webkit-mask-image"];
        let is_masked = masks.iter().any(|name| {
            let stops = argument(self.get(name), "linear-gradient");
            stops.is_some_and(|stops| stops.split(',').all(|stop| stop.trim() == "transparent"))
        });
        clip || inset || round || polygon || is_masked
    }

    /// True if overflow is cut off.
    fn is_cut_off(&self) -> bool {
        ["overflow", "overflow-x", "overflow-y"]
            .iter()
            .any(|name| matches!(self.get(name).split(' ').next(), Some("hidden" | "clip")))
    }

    fn is_flat(&self) -> bool {
        let sizes = [
            "width",
            "height",
            "max-width",
            "max-height",
            "inline-size",
            "block-size",
        ];
        let is_at_most =
            |name: &str, most: f64| self.length(name).is_some_and(|length| length <= most);
        self.is_cut_off()
            && (sizes.iter().any(|name| is_at_most(name, 1.0)) || is_at_most("line-height", 0.0))
    }

    fn is_tiny(&self) -> Option<bool> {
        let size = match self.get("font-size") {
            "" => self
                .get("font")
                .split([' ', '/'])
                .find(|part| pixels(part).is_some())
                .unwrap_or_default(),
            size => size,
        };
        if size.is_empty() {
            return None;
        }
        match size.strip_suffix('%').map(number) {
            Some(percent) => percent.filter(|percent| *percent < 15.0).map(|_| true),
            // A relative size leaves a tiny text tiny.
            None if size.ends_with("em") && !size.ends_with("rem") => {
                pixels(size).filter(|size| *size < 2.5).map(|_| true)
            }
            None => pixels(size).map(|size| size < 2.5).or(Some(false)),
        }
    }

    fn colour(&self) -> Option<Colour> {
        let clips = [
            self.get("background-clip"),
            self.get("-webkit-background-clip"),
            self.get("background"),
        ];
        let shows_through = clips.iter().any(|clip| clip.contains("text"));
        let has_shadow = !matches!(self.get("text-shadow"), "" | "none");
        let fill = match self.get("-webkit-text-fill-color") {
            "" => self.get("color"),
            fill => fill,
        };
        match Colour::of(fill) {
            Some(_) if shows_through || has_shadow => Some(Colour::Unknown),
            colour => colour,
        }
    }

    fn background(&self) -> Option<Background> {
        let names = ["background-image", "background-color", "background"];
        let value = names
            .iter()
            .map(|name| self.get(name))
            .find(|value| !value.is_empty())?;
        Background::of(value)
    }
}
