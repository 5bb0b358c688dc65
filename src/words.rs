//! Makes enums whose variants are words: the word stands beside its variant, once. Joins words for a
//! sentence.

use std::fmt::Display;

/// Makes an enum that is shown as its variants' words, and the method that gives one:
/// `enum Name: as_str { Variant = "word", }`.
/// `enum Name: as_str, ALL { … }` has the list of all variants, too.
#[doc(hidden)]
#[macro_export]
macro_rules! __words {
    ($(#[$of_enum:meta])* $visible:vis enum $name:ident: $word:ident {
        $($(#[$of_variant:meta])* $variant:ident = $text:literal,)+
    }) => {
        $(#[$of_enum])*
        $visible enum $name {
            $($(#[$of_variant])* $variant,)+
        }

        impl $name {
            /// Its word.
            $visible const fn $word(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.$word())
            }
        }
    };
    ($(#[$of_enum:meta])* $visible:vis enum $name:ident: $word:ident, ALL {
        $($(#[$of_variant:meta])* $variant:ident = $text:literal,)+
    }) => {
        $crate::words::words! {
            $(#[$of_enum])*
            $visible enum $name: $word {
                $($(#[$of_variant])* $variant = $text,)+
            }
        }

        impl $name {
            /// All of them, in their order.
            $visible const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];
        }
    };
}

pub use __words as words;

/// The value with this word.
pub fn one_of<T: Copy>(value: &str, all: &[T], word: fn(T) -> &'static str) -> Result<T, String> {
    let found = all.iter().find(|one| word(**one) == value).copied();
    let none = || format!("must be one of {}", words_of(all, word).join(", "));
    found.ok_or_else(none)
}

/// The words of these values.
pub fn words_of<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().copied().map(word).collect()
}

/// Joins words for a sentence: `a`, `a or b`, `a, b or c`, with this word before the last.
pub fn joined<T: ToString>(words: impl IntoIterator<Item = T>, before: &str) -> String {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
    match words.as_slice() {
        [others @ .., last] if !others.is_empty() => {
            format!("{} {before} {last}", others.join(", "))
        }
        words => words.concat(),
    }
}

/// Joins texts, with this between every two.
pub fn separated<T: ToString>(texts: impl IntoIterator<Item = T>, between: &str) -> String {
    let texts: Vec<String> = texts.into_iter().map(|text| text.to_string()).collect();
    texts.join(between)
}

/// A text behind this; nothing if it is empty.
pub fn behind(before: &str, text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!("{before}{text}"),
    }
}

/// The first of some names, and how many more there are.
pub fn first_of<T: ToString>(names: &[T], most: usize) -> String {
    let first = names.iter().take(most).map(ToString::to_string);
    separated(first, ", ") + &and_more(names.len().saturating_sub(most))
}

/// A number of things.
pub fn counted<N: Copy + PartialEq + From<u8> + Display>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    let word = if count == N::from(1) { one } else { many };
    format!("{count} {word}")
}

/// The number of others behind what is named; nothing if there are none.
pub fn and_more(more: usize) -> String {
    match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_thing_is_told_as_one() {
        let told = [0_u64, 1, 2].map(|count| counted(count, "page is", "pages are"));
        assert_eq!(told, ["0 pages are", "1 page is", "2 pages are"]);
    }
}
