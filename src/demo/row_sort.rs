//! A sort that leaves equal rows in the order in which Postgres leaves them.
//!
//! `list` joins pages and tags and sorts by a column of the page alone, so the
//! order of a page's tags is whatever the database's sort happens to make of
//! equal rows. The recorded answers hold that order; a stable sort would not
//! give it. Postgres sorts with the quicksort of "Engineering a Sort Function"
//! (Software: Practice and Experience, 1993), after a look whether the rows are
//! in order already.

use std::cmp::Ordering;

/// Below this a range is sorted by insertion.
const SMALL: usize = 7;
/// Above this the pivot is the median of three medians.
const LARGE: usize = 40;

/// Sorts `rows` by `compare`, unstably, in the database's own way.
pub(super) fn row_sort<T>(rows: &mut [T], compare: &impl Fn(&T, &T) -> Ordering) {
    let mut rest = rows;
    loop {
        if rest.is_sorted_by(|a, b| compare(a, b).is_le()) {
            return;
        }
        if rest.len() < SMALL {
            insertion_sort(rest, compare);
            return;
        }
        let (less, greater) = partition(rest, compare);
        let len = rest.len();
        let (front, back) = std::mem::take(&mut rest).split_at_mut(len - greater);
        let Some(front) = front.get_mut(..less) else {
            return;
        };
        // The smaller part by recursion, the larger by the loop: shallow stack.
        if less <= greater {
            row_sort(front, compare);
            rest = back;
        } else {
            row_sort(back, compare);
            rest = front;
        }
    }
}

fn insertion_sort<T>(rows: &mut [T], compare: &impl Fn(&T, &T) -> Ordering) {
    for start in 1..rows.len() {
        let mut at = start;
        while at > 0 && order(rows, at - 1, at, compare).is_gt() {
            rows.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Puts the rows below the pivot first and those above it last; answers how
/// many there are of each.
fn partition<T>(rows: &mut [T], compare: &impl Fn(&T, &T) -> Ordering) -> (usize, usize) {
    let len = rows.len();
    rows.swap(0, pivot(rows, compare));
    // Rows equal to the pivot gather at both ends: before `equal_front` and
    // from `equal_back` on. `back` and `equal_back` are one past the row.
    let (mut equal_front, mut front) = (1, 1);
    let (mut back, mut equal_back) = (len, len);
    loop {
        while front < back {
            match order(rows, front, 0, compare) {
                Ordering::Greater => break,
                Ordering::Equal => {
                    rows.swap(equal_front, front);
                    equal_front += 1;
                }
                Ordering::Less => {}
            }
            front += 1;
        }
        while front < back {
            match order(rows, back - 1, 0, compare) {
                Ordering::Less => break,
                Ordering::Equal => {
                    rows.swap(back - 1, equal_back - 1);
                    equal_back -= 1;
                }
                Ordering::Greater => {}
            }
            back -= 1;
        }
        if front >= back {
            break;
        }
        rows.swap(front, back - 1);
        front += 1;
        back -= 1;
    }
    let less = front - equal_front;
    let greater = equal_back - back;
    swap_runs(rows, 0, front, equal_front.min(less));
    swap_runs(rows, front, len, greater.min(len - equal_back));
    (less, greater)
}

/// Exchanges the `count` rows from `from` on with the `count` rows before `to`.
fn swap_runs<T>(rows: &mut [T], from: usize, to: usize, count: usize) {
    for step in 0..count {
        rows.swap(from + step, to - count + step);
    }
}

fn pivot<T>(rows: &[T], compare: &impl Fn(&T, &T) -> Ordering) -> usize {
    let (len, middle) = (rows.len(), rows.len() / 2);
    let last = len - 1;
    if len <= SMALL {
        return middle;
    }
    if len <= LARGE {
        return median(rows, [0, middle, last], compare);
    }
    let step = len / 8;
    let medians = [
        median(rows, [0, step, 2 * step], compare),
        median(rows, [middle - step, middle, middle + step], compare),
        median(rows, [last - 2 * step, last - step, last], compare),
    ];
    median(rows, medians, compare)
}

fn median<T>(rows: &[T], [a, b, c]: [usize; 3], compare: &impl Fn(&T, &T) -> Ordering) -> usize {
    let less = |x, y| order(rows, x, y, compare).is_lt();
    let greater = |x, y| order(rows, x, y, compare).is_gt();
    let rises = less(a, b);
    if (rises && less(b, c)) || (!rises && greater(b, c)) {
        b
    } else if less(a, c) == rises {
        c
    } else {
        a
    }
}

fn order<T>(rows: &[T], a: usize, b: usize, compare: &impl Fn(&T, &T) -> Ordering) -> Ordering {
    match (rows.get(a), rows.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::row_sort;

    /// Sorts by the number alone, so the letter shows what became of equal rows.
    fn sorted(rows: &[(u32, char)]) -> String {
        let mut rows = rows.to_vec();
        row_sort(&mut rows, &|a, b| a.0.cmp(&b.0));
        rows.into_iter().map(|(_, letter)| letter).collect()
    }

    #[test]
    fn few_rows_are_sorted_stably() {
        let rows = [(2, 'a'), (1, 'b'), (2, 'c'), (1, 'd'), (2, 'e'), (1, 'f')];
        assert_eq!(sorted(&rows), "bdface");
    }

    #[test]
    fn rows_in_order_are_left_alone() {
        let rows: Vec<_> = ('a'..='z').map(|letter| (7, letter)).collect();
        assert_eq!(sorted(&rows), "abcdefghijklmnopqrstuvwxyz");
    }

    #[test]
    fn the_recorded_tags_of_the_first_page_come_out_of_order() {
        // The rows of the contract's six pages: the number is the page's.
        let rows = [
            (4, 'a'),
            (1, 'a'),
            (0, 'a'),
            (5, 'b'),
            (3, 'b'),
            (0, 'b'),
            (4, 'c'),
            (3, 'c'),
            (0, 'c'),
            (2, '-'),
        ];
        assert_eq!(sorted(&rows), "baca-bccab");
    }

    #[test]
    fn rows_of_any_number_are_sorted() {
        for count in 0..300_u32 {
            let mut rows: Vec<u32> = (0..count).map(|i| i * 7919 % 53).collect();
            let mut expected = rows.clone();
            expected.sort_unstable();
            row_sort(&mut rows, &u32::cmp);
            assert_eq!(rows, expected);
        }
    }
}
