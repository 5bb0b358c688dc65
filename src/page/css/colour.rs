//! Colours of texts and of their backgrounds.

/// A colour, as far as it can be determined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::page) enum Colour {
    /// Nothing of it is seen.
    Transparent,
    /// Red, green and blue, up to 255.
    Known([f64; 3]),
    /// Any; of a background: a picture or a gradient, too.
    Unknown,
}

/// The names of colours that are often written, and of those that are nearly white.
const NAMED: &str = "white fff black 000 red f00 lime 0f0 blue 00f yellow ff0 cyan 0ff aqua 0ff \
    magenta f0f fuchsia f0f silver c0c0c0 gray 808080 grey 808080 maroon 800000 green 008000 \
    navy 000080 snow fffafa ivory fffff0 ghostwhite f8f8ff whitesmoke f5f5f5 floralwhite fffaf0 \
    azure f0ffff mintcream f5fffa";

const WHITE: [f64; 3] = [255.0; 3];
const BLACK: [f64; 3] = [0.0; 3];

impl Colour {
    /// The colour that a value names, if any.
    pub(in crate::page) fn of(value: &str) -> Option<Self> {
        let mut names = NAMED.split_ascii_whitespace();
        let by_name = names.find(|name| *name == value).and_then(|_| names.next());
        if let Some(hex) = by_name.or_else(|| value.strip_prefix('#')) {
            return Some(hexadecimal(hex).unwrap_or(Self::Unknown));
        }
        let (function, inside) = value.split_once('(').unwrap_or((value, ""));
        let parts = inside.trim_end_matches(')').split([',', ' ', '/']);
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        Some(match (function.trim_end_matches('a'), parts.as_slice()) {
            ("" | "inherit" | "initial" | "unset" | "currentcolor", _) => return None,
            ("transparent" | "none", _) => Self::Transparent,
            (_, [_, _, _, alpha, ..]) if share(alpha, 1.0) < 0.06 => Self::Transparent,
            ("rgb", [red, green, blue, ..]) => {
                Self::Known([red, green, blue].map(|part| share(part, 255.0)))
            }
            ("hsl", [_, _, light, ..]) if share(light, 1.0) > 0.98 => Self::Known(WHITE),
            ("hsl", [_, _, light, ..]) if share(light, 1.0) < 0.02 => Self::Known(BLACK),
            _ => Self::Unknown,
        })
    }

    /// True if a text of this colour is invisible on this background; a page's own is white.
    pub(in crate::page) fn is_lost_on(
        self,
        background: Option<Self>,
        may_be_painted: bool,
    ) -> bool {
        let background = background.or(Some(Self::Known(WHITE)).filter(|_| !may_be_painted));
        let is_near = |(a, b): (f64, f64)| (a - b).abs() <= 12.0;
        match (self, background) {
            (Self::Known(colour), Some(Self::Known(background))) => {
                colour.into_iter().zip(background).all(is_near)
            }
            (colour, _) => colour == Self::Transparent,
        }
    }
}

/// The colour of 3, 4, 6 or 8 digits.
fn hexadecimal(hex: &str) -> Option<Colour> {
    let doubled: String = hex.chars().flat_map(|digit| [digit; 2]).collect();
    let whole = if hex.len() < 6 { &doubled } else { hex };
    let number = u32::from_str_radix(&format!("{whole:f<8}"), 16).ok()?;
    let [red, green, blue, alpha] = number.to_be_bytes();
    let is_seen = alpha >= 16;
    let known = Colour::Known([red, green, blue].map(f64::from));
    Some(if is_seen { known } else { Colour::Transparent })
}

/// A number, or a percentage of all.
fn share(text: &str, all: f64) -> f64 {
    let share = text.strip_suffix('%');
    let (number, unit) = share.map_or((text, 1.0), |share| (share, all / 100.0));
    number.parse().map_or(all, |number: f64| number * unit)
}
