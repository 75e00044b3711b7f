//! Words that earlier versions wrote in schedules and plan files.

/// Each word with the way out.
const RETIRED: [(&str, &str); 3] = [
    (
        "coefficients",
        "kernels receive all coefficients as arguments: delete `coefficients` and the word after it",
    ),
    ("trim", "`trim` is called `prologue`"),
    ("refill", "`refill` is called `prefetch_point`"),
];

/// Returns the message about a word that schedules no longer have.
pub(super) fn way_out(word: &str) -> Option<&'static str> {
    let found = RETIRED.iter().find(|(retired, _)| *retired == word);
    found.map(|(_, way_out)| *way_out)
}

#[cfg(test)]
mod tests {
    use crate::schedule::text::parse;

    #[test]
    fn retired_words_are_answered_with_the_way_out() {
        for (line, message) in [
            ("coefficients literal", "kernels receive all coefficients as arguments"),
            ("kernel march trim=1", "`trim` is called `prologue`"),
            ("kernel march refill=1", "`refill` is called `prefetch_point`"),
        ] {
            let found = parse(&format!("schedule {line} kernel direct")).unwrap_err();
            assert!(found.message.contains(message), "{}", found.message);
        }
    }
}
