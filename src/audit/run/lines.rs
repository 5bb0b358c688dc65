//! Reading a log line by line in bounded memory.

use std::io::{self, BufRead, Read as _};

/// The longest line that is written or read, in bytes, with its end.
///
/// Only the first record of a run can come near it: it names every run found with about 180 bytes
/// each, so about 90,000 fit.
pub(in crate::audit) const MAX_LINE: u64 = 16 * 1024 * 1024;

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::audit) enum LineStatus {
    /// A whole line; its end is cut.
    Whole,
    /// The text after the last line end: an unfinished line.
    Rest,
    /// A line longer than [`MAX_LINE`].
    TooLong,
    /// Nothing is left.
    End,
}

/// Reads the next line into `buffer`, which is cleared first.
pub(in crate::audit) fn next_line(
    reader: &mut impl BufRead,
    buffer: &mut Vec<u8>,
) -> io::Result<LineStatus> {
    buffer.clear();
    reader.take(MAX_LINE).read_until(b'\n', buffer)?;
    Ok(match buffer.last() {
        None => LineStatus::End,
        Some(b'\n') => {
            buffer.pop();
            LineStatus::Whole
        }
        Some(_) if u64::try_from(buffer.len()).is_ok_and(|length| length < MAX_LINE) => {
            LineStatus::Rest
        }
        Some(_) => LineStatus::TooLong,
    })
}

#[cfg(test)]
mod tests {
    use super::{LineStatus, MAX_LINE, next_line};
    use std::io::BufReader;

    #[test]
    fn lines_come_one_by_one_and_an_unfinished_one_is_told_apart() {
        let mut reader = BufReader::new(&b"a\n\nbc"[..]);
        let mut buffer = Vec::new();
        let mut read = || (next_line(&mut reader, &mut buffer).unwrap(), buffer.clone());
        assert_eq!(read(), (LineStatus::Whole, b"a".to_vec()));
        assert_eq!(read(), (LineStatus::Whole, b"".to_vec()));
        assert_eq!(read(), (LineStatus::Rest, b"bc".to_vec()));
        assert_eq!(read(), (LineStatus::End, b"".to_vec()));
    }

    #[test]
    fn a_line_without_end_is_not_read_into_memory() {
        let mut reader = BufReader::new(std::io::repeat(b'x'));
        let mut buffer = Vec::new();
        assert_eq!(
            next_line(&mut reader, &mut buffer).unwrap(),
            LineStatus::TooLong
        );
        assert_eq!(u64::try_from(buffer.len()).unwrap(), MAX_LINE);
    }
}
