//! As much of a text as fits, cut at a line.

use super::position::line_feeds;

/// The part of a text that fits a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// It, with the number of each line before it if these were asked for.
    pub text: String,
    /// Its start in the text, in bytes.
    pub start: usize,
    /// Its end, where the next slice begins.
    pub end: usize,
    /// Its first line.
    pub first_line: usize,
    /// Its last line.
    pub last_line: usize,
}

/// Takes from an offset on as many whole lines as fit into so many bytes, numbers included, or
/// what fits of a line that is longer than that alone. It always gets on by a character.
///
/// An offset within a character is taken back to its beginning. `first_line` is the number of
/// the text's first line.
pub fn slice(
    text: &str,
    offset: usize,
    most: usize,
    first_line: usize,
    is_numbered: bool,
) -> Slice {
    let start = text.floor_char_boundary(offset);
    let rest = text.get(start..).unwrap_or_default();
    let first_line = first_line + line_feeds(text.get(..start).unwrap_or_default());
    let mut slice = Slice {
        text: String::new(),
        start,
        end: start,
        first_line,
        last_line: first_line,
    };
    for (line, number) in rest.split_inclusive('\n').zip(first_line..) {
        let number_text = if is_numbered {
            format!("{number}\t")
        } else {
            String::new()
        };
        let room = most.saturating_sub(slice.text.len() + number_text.len());
        let taken = if line.len() <= room {
            line
        } else if slice.end == start {
            let least = line.chars().next().map_or(0, char::len_utf8);
            let end = line.floor_char_boundary(room).max(least);
            line.get(..end).unwrap_or_default()
        } else {
            break;
        };
        slice.text.push_str(&number_text);
        slice.text.push_str(taken);
        slice.end += taken.len();
        slice.last_line = number;
        if taken.len() < line.len() {
            break;
        }
    }
    slice
}

#[cfg(test)]
mod tests {
    use super::slice;
    use proptest::prelude::*;

    #[test]
    fn lines_are_numbered_from_the_first() {
        let slice = slice("a\nb\nc", 2, 100, 5, true);
        assert_eq!(slice.text, "6\tb\n7\tc");
        assert_eq!((slice.first_line, slice.last_line, slice.end), (6, 7, 5));
    }

    proptest! {
        #[test]
        fn slices_in_a_row_are_the_text(text in "[aä\n😀]{0,60}", most in 1_usize..20, is_numbered: bool) {
            let (mut offset, mut whole) = (0, String::new());
            while offset < text.len() {
                let part = slice(&text, offset, most, 1, is_numbered);
                prop_assert_eq!(part.start, offset);
                prop_assert!(part.end > offset);
                let taken = text.get(offset..part.end).unwrap();
                if taken.chars().count() > 1 {
                    prop_assert!(part.text.len() <= most);
                }
                let ends_line = taken.ends_with('\n') || part.end == text.len();
                prop_assert!(ends_line || !taken.contains('\n'), "cut within a line: {:?}", taken);
                prop_assert_eq!(part.last_line - part.first_line, taken.trim_end_matches('\n').matches('\n').count() + taken.len().abs_diff(taken.trim_end_matches('\n').len()).saturating_sub(1));
                whole.push_str(taken);
                offset = part.end;
            }
            prop_assert_eq!(whole, text);
        }
    }
}
