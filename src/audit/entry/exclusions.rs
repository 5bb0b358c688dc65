//! The changes of a proposed set that a person left out, and how a record says so.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest list of numbers that a record has, in bytes; a record cuts longer reasons.
const MAX_NUMBERS: usize = 900;
/// More changes no set has.
const MAX_CHANGES: usize = 10_000;
/// Prefix of the reason.
const BEGINS: &str = "left out: ";
/// End of the reason where not all numbers have room.
const CUT: &str = ", …";

/// The changes of a proposed set that a person left out.
///
/// ```
/// use wikijs_gate_core::audit::Exclusions;
///
/// let omitted = Exclusions::new(vec![2, 4, 5, 6], 40).unwrap();
/// assert_eq!(omitted.to_string(), "left out: 4 of 40: 3, 5-7");
/// assert_eq!(Exclusions::read("left out: 4 of 40: 3, 5-7"), Some(omitted));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exclusions {
    /// Their numbers, from 0, in order.
    numbers: Vec<usize>,
    /// Number of changes of the set.
    of: usize,
}

impl Exclusions {
    /// Changes of a set of so many, by their numbers from 0; `None` if these are none.
    pub fn new(mut numbers: Vec<usize>, of: usize) -> Option<Self> {
        numbers.sort_unstable();
        numbers.dedup();
        (!numbers.is_empty()).then_some(Self { numbers, of })
    }

    /// Their numbers, from 0, in order.
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// The number of changes of the set.
    pub const fn of_all(&self) -> usize {
        self.of
    }

    /// Reads the count from a record's reason, whose numbers may be cut.
    pub fn count_of(reason: &str) -> Option<usize> {
        let (count, _) = reason.strip_prefix(BEGINS)?.split_once(" of ")?;
        count.parse().ok().filter(|count| *count <= MAX_CHANGES)
    }

    /// True if this is how a record of the others reads.
    pub fn is_read_of(&self, others: &Self) -> bool {
        Self::read(&others.to_string()).as_ref() == Some(self)
    }

    /// Reads the reason of a record; `None` if it says nothing of the kind. Where not all numbers
    /// had room in the record, those that had.
    pub fn read(reason: &str) -> Option<Self> {
        let (counts, ranges) = reason.strip_prefix(BEGINS)?.split_once(": ")?;
        let (_, of) = counts.split_once(" of ")?;
        let of = of.parse().ok().filter(|of| *of <= MAX_CHANGES)?;
        let ranges = ranges.strip_suffix(CUT).unwrap_or(ranges);
        let mut numbers = Vec::new();
        for range in ranges.split(", ") {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
            if first == 0 || last > of {
                return None;
            }
            numbers.extend(first.saturating_sub(1)..last);
        }
        Self::new(numbers, of)
    }

    /// The numbers as people count, from 1, those that follow one another as a range.
    fn ranges(&self) -> String {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for number in self.numbers.iter().map(|number| number.saturating_add(1)) {
            match ranges.last_mut() {
                Some((_, last)) if last.saturating_add(1) == number => *last = number,
                _ => ranges.push((number, number)),
            }
        }
        let mut told = String::new();
        for (first, last) in ranges {
            if told.len() > MAX_NUMBERS {
                told.push_str(CUT);
                break;
            }
            if !told.is_empty() {
                told.push_str(", ");
            }
            told.push_str(&first.to_string());
            if last > first {
                told.push('-');
                told.push_str(&last.to_string());
            }
        }
        told
    }
}

impl fmt::Display for Exclusions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.numbers.len();
        write!(f, "{BEGINS}{count} of {}: {}", self.of, self.ranges())
    }
}

#[cfg(test)]
mod tests {
    use super::Exclusions;

    #[test]
    fn what_a_record_says_is_read_back() {
        for numbers in [vec![0], vec![0, 1, 2], vec![1, 3, 4, 9], vec![9]] {
            let omitted = Exclusions::new(numbers, 10).unwrap();
            assert_eq!(Exclusions::read(&omitted.to_string()), Some(omitted));
        }
        assert_eq!(Exclusions::new(Vec::new(), 10), None);
    }

    #[test]
    fn a_long_list_has_room_in_a_record_and_says_that_it_is_cut() {
        let omitted = Exclusions::new((0..1_200).step_by(2).collect(), 1_200).unwrap();
        let told = omitted.to_string();
        assert!(told.len() < 1_024 && told.ends_with(", …"), "{told}");
        assert!(
            told.starts_with("left out: 600 of 1200: 1, 3, 5, "),
            "{told}"
        );
        let read = Exclusions::read(&told).unwrap();
        assert!(omitted.numbers().starts_with(read.numbers()));
        assert_eq!(
            (Exclusions::count_of(&told), read.of_all()),
            (Some(600), 1_200)
        );
    }

    #[test]
    fn another_reason_is_none_of_this() {
        for reason in [
            "",
            "left out: ",
            "left out: 1 of 2: ",
            "left out: 1 of 2: 0",
            "left out: 1 of 2: 3",
            "left out: 1 of 2: 1-99999999999999",
            "left out: 1 of x: 1",
            "left out: 1 of 99999999999999: 1-99999999999999",
            "by 0123456789abcdef",
        ] {
            assert_eq!(Exclusions::read(reason), None, "{reason}");
        }
    }
}
