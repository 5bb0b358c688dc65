//! Colours of texts and of their backgrounds.

/// A colour, as far as it can be determined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Colour {
    /// Nothing of it is seen.
    Transparent,
    /// Red, green and blue.
    Known([u8; 3]),
    /// Any.
    Unknown,
}

/// The background of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Background {
    /// One colour.
    Known([u8; 3]),
    /// A picture, a gradient, or a colour that cannot be determined.
    Unknown,
}

const NAMED: [(&str, [u8; 3]); 22] = [
    ("white", [255, 255, 255]),
    ("black", [0, 0, 0]),
    ("red", [255, 0, 0]),
    ("lime", [0, 255, 0]),
    ("blue", [0, 0, 255]),
    ("yellow", [255, 255, 0]),
    ("cyan", [0, 255, 255]),
    ("aqua", [0, 255, 255]),
    ("magenta", [255, 0, 255]),
    ("silver", [192, 192, 192]),
    ("gray", [128, 128, 128]),
    ("grey", [128, 128, 128]),
    ("maroon", [128, 0, 0]),
    ("green", [0, 128, 0]),
    ("navy", [0, 0, 128]),
    ("snow", [255, 250, 250]),
    ("ivory", [255, 255, 240]),
    ("ghostwhite", [248, 248, 255]),
    ("whitesmoke", [245, 245, 245]),
    ("floralwhite", [255, 250, 240]),
    ("azure", [240, 255, 255]),
    ("mintcream", [245, 255, 250]),
];

impl Colour {
    /// The colour that a value names, if any.
    pub(super) fn of(value: &str) -> Option<Self> {
        let value = value.trim();
        if value.is_empty() || matches!(value, "inherit" | "unset" | "currentcolor") {
            return None;
        }
        if value == "transparent" {
            return Some(Self::Transparent);
        }
        if let Some((_, known)) = NAMED.iter().find(|(name, _)| *name == value) {
            return Some(Self::Known(*known));
        }
        if let Some(hex) = value.strip_prefix('#') {
            return Some(hexadecimal(hex));
        }
        let (function, inside) = value.split_once('(').unwrap_or((value, ""));
        let mut parts = inside.trim_end_matches(')').split([',', ' ', '/']);
        let mut next = || parts.find(|part| !part.is_empty());
        let all = [next(), next(), next(), next()];
        let [.., alpha] = all;
        let is_faint = alpha.is_some_and(|alpha| share(alpha, 1.0) < 0.06);
        Some(match (function, all) {
            _ if is_faint => Self::Transparent,
            ("rgb" | "rgba", [Some(red), Some(green), Some(blue), _]) => {
                Self::Known([red, green, blue].map(|part| byte(share(part, 255.0))))
            }
            ("hsl" | "hsla", [_, _, Some(light), _]) if share(light, 1.0) > 0.98 => {
                Self::Known([255, 255, 255])
            }
            ("hsl" | "hsla", [_, _, Some(light), _]) if share(light, 1.0) < 0.02 => {
                Self::Known([0, 0, 0])
            }
            _ => Self::Unknown,
        })
    }

    /// True if a text of this colour is invisible on this background.
    pub(super) fn is_lost_on(self, background: Option<Background>, may_be_painted: bool) -> bool {
        /// A page's own colour, where nothing is painted over it.
        const PAGE: [u8; 3] = [255, 255, 255];
        match (self, background) {
            (Self::Transparent, _) => true,
            (Self::Known(colour), Some(Background::Known(background))) => {
                is_near(colour, background)
            }
            (Self::Known(colour), None) => !may_be_painted && is_near(colour, PAGE),
            (Self::Known(_), Some(Background::Unknown)) | (Self::Unknown, _) => false,
        }
    }
}

impl Background {
    /// The background that a CSS value paints, if any.
    pub(super) fn of(value: &str) -> Option<Self> {
        let value = value.trim();
        if matches!(
            value,
            "none" | "transparent" | "inherit" | "unset" | "initial"
        ) {
            return None;
        }
        match Colour::of(value) {
            Some(Colour::Known(colour)) => Some(Self::Known(colour)),
            Some(Colour::Transparent) | None => None,
            Some(Colour::Unknown) => Some(Self::Unknown),
        }
    }
}

fn is_near(a: [u8; 3], b: [u8; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 12)
}

fn hexadecimal(hex: &str) -> Colour {
    let digits: Option<Vec<u8>> = hex
        .chars()
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let pairs: Vec<u8> = match digits.as_deref() {
        Some(digits @ ([_, _, _] | [_, _, _, _])) => {
            digits.iter().map(|digit| digit * 17).collect()
        }
        Some(digits @ ([_, _, _, _, _, _] | [_, _, _, _, _, _, _, _])) => {
            let pairs = digits.chunks(2);
            pairs
                .map(|pair| pair.iter().fold(0, |all, digit| all * 16 + digit))
                .collect()
        }
        _ => return Colour::Unknown,
    };
    match pairs.as_slice() {
        [_, _, _, alpha] if *alpha < 16 => Colour::Transparent,
        [red, green, blue, ..] => Colour::Known([*red, *green, *blue]),
        _ => Colour::Unknown,
    }
}

/// A number, or a percentage of all.
fn share(text: &str, all: f64) -> f64 {
    let number = |text: &str| text.trim().parse().unwrap_or(all);
    match text.strip_suffix('%') {
        Some(percent) => number(percent) * all / 100.0,
        None => number(text),
    }
}

fn byte(number: f64) -> u8 {
    // Through a text: a cast would need more words to be right.
    format!("{:.0}", number.clamp(0.0, 255.0))
        .parse()
        .unwrap_or(u8::MAX)
}
