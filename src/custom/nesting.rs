//! Limits how deep brackets nest: the parser of GraphQL goes as deep as a text does, and a deep one
//! would end the process.

/// The deepest that is parsed.
const MOST: usize = 60;

/// True if brackets of a text nest too deep to be parsed.
pub(super) fn is_too_deep(text: &str) -> bool {
    let mut depth: usize = 0;
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[', '(', '}', ']', ')', '#', '"']) {
        let (_, found) = rest.split_at(at);
        let next = found.chars().next().unwrap_or_default();
        let mut after = found.get(1..).unwrap_or_default();
        match next {
            '{' | '[' | '(' => depth += 1,
            '#' => after = after.split_once(['\n', '\r']).map_or("", |(_, rest)| rest),
            '"' => after = after_text(after),
            _ => depth = depth.saturating_sub(1),
        }
        if depth > MOST {
            return true;
        }
        rest = after;
    }
    false
}

/// The rest after a string, from behind its first quote.
fn after_text(rest: &str) -> &str {
    if let Some(block) = rest.strip_prefix("\"\"") {
        let mut from = 0;
        while let Some(at) = block.get(from..).and_then(|rest| rest.find("\"\"\"")) {
            let end = from + at;
            from = end + 3;
            if !block.get(..end).is_some_and(|it| it.ends_with('\\')) {
                break;
            }
        }
        return block.get(from..).filter(|_| from > 0).unwrap_or_default();
    }
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '"' | '\n' => return rest.get(at + 1..).unwrap_or_default(),
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::is_too_deep;

    #[test]
    fn brackets_are_counted_outside_of_comments_and_texts() {
        let deep = "[".repeat(100);
        for text in [
            format!("# {deep}\n{{ a }}"),
            format!("{{ a(b: \"{deep}\\\" {deep}\") }}"),
            format!("\"\"\" {deep} \\\"\"\" {deep} \"\"\" type A"),
            "{ a }".repeat(1_000),
            String::new(),
        ] {
            assert!(!is_too_deep(&text), "{text}");
        }
        for text in [
            deep.clone(),
            "{a(b:[".repeat(30),
            format!("\"\" {deep}"),
            format!("# x\n{deep}"),
            format!("\"\"\" x \"\"\" {deep}"),
        ] {
            assert!(is_too_deep(&text), "{text}");
        }
    }
}
