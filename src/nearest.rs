//! Names what a caller most likely meant: the known texts most similar to an unknown one.

/// The most characters of a text that are compared: the time of comparing names grows with the
/// product of both lengths.
const MAX_COMPARED: usize = 128;

/// The similarity of two names, from 0 to 1. Letter case does not count.
pub fn name_likeness(one: &str, other: &str) -> f64 {
    strsim::jaro_winkler(&compared(one), &compared(other))
}

/// The similarity of two texts of several words, from 0 to 1, in linear time: the share of character
/// pairs that both have. Neither letter case nor white space counts.
pub(crate) fn text_likeness(one: &str, other: &str) -> f64 {
    strsim::sorensen_dice(&compared(one), &compared(other))
}

/// The `most` most similar items, the most similar first, if they are at least this similar; ties
/// keep their order.
pub fn most_alike<T>(
    known: impl IntoIterator<Item = T>,
    most: usize,
    least: f64,
    likeness: impl Fn(&T) -> f64,
) -> Vec<T> {
    let mut nearest: Vec<(f64, T)> = Vec::new();
    for one in known {
        let alike = likeness(&one);
        if alike < least {
            continue;
        }
        let place = nearest.partition_point(|(than, _)| *than >= alike);
        if place < most {
            nearest.insert(place, (alike, one));
            nearest.truncate(most);
        }
    }
    nearest.into_iter().map(|(_, one)| one).collect()
}

/// The known name most similar to an unknown one, if it is at least this similar.
pub fn nearest<N: AsRef<str>>(
    name: &str,
    known: impl IntoIterator<Item = N>,
    least: f64,
) -> Option<N> {
    let nearest = most_alike(known, 1, least, |known| name_likeness(known.as_ref(), name));
    nearest.into_iter().next()
}

/// A "did you mean" question for the end of a message; empty without a name.
pub fn did_you_mean(name: Option<impl std::fmt::Display>) -> String {
    name.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}

fn compared(text: &str) -> String {
    let chars = text.chars().take(MAX_COMPARED);
    chars.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::{did_you_mean, most_alike, nearest, text_likeness};

    #[test]
    fn the_nearest_come_first_and_no_more_than_asked_for() {
        let names = ["restore", "Back up", "backups", "backup", "pack up"];
        let nearest =
            |least| most_alike(names, 3, least, |name: &&str| text_likeness("backup", name));
        assert_eq!(nearest(0.5), ["Back up", "backup", "backups"]);
        assert_eq!(nearest(1.1), [""; 0]);
        assert!(text_likeness("Installing on Linux", &"on".repeat(1_000)) < 1.0);
    }

    #[test]
    fn a_question_is_asked_only_about_a_name_that_is_similar() {
        let known = ["update", "delete"];
        let asked = |name| did_you_mean(nearest(name, known, 0.7));
        assert_eq!(asked("Updte"), "; did you mean update?");
        assert_eq!(asked("xyz"), "");
    }
}
