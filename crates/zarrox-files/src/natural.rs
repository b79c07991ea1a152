//! Natural name order, in which numbers are compared by value.

use std::cmp::Ordering;

/// Compares names. Runs of digits are compared as numbers.
pub(crate) fn natural(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one, other);
    loop {
        let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (of_one, of_other) = (digits(one), digits(other));
        if of_one > 0 && of_other > 0 {
            let (number, of_number) = (&one[..of_one], &other[..of_other]);
            let order = by_value(number, of_number);
            if order.is_ne() {
                return order;
            }
            (one, other) = (&one[of_one..], &other[of_other..]);
            continue;
        }
        let (mut rest, mut of_rest) = (one.chars(), other.chars());
        match (rest.next(), of_rest.next()) {
            (Some(a), Some(b)) if a == b => (one, other) = (rest.as_str(), of_rest.as_str()),
            (a, b) => return a.cmp(&b),
        }
    }
}

/// Compares decimal numbers of any length.
fn by_value(one: &str, other: &str) -> Ordering {
    let plain = |digits: &str| digits.trim_start_matches('0').to_owned();
    let (one, other) = (plain(one), plain(other));
    one.len().cmp(&other.len()).then_with(|| one.cmp(&other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_compared_by_their_values() {
        let mut names = ["b10.png", "b9.png", "a.png", "b010x.png", "b.png", "b9a.png", "ä1.png"];
        names.sort_by(|one, other| natural(one, other));
        assert_eq!(names, ["a.png", "b.png", "b9.png", "b9a.png", "b10.png", "b010x.png", "ä1.png"]);
        let long = "1".repeat(400);
        assert_eq!(natural(&long, &format!("0{long}0")), Ordering::Less);
    }
}
