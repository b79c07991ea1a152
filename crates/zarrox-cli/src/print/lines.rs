//! A line-by-line diff of two texts.

/// The maximum number of lines of a diff; longer texts are shown in full, before and after.
const MOST: usize = 2000;

/// Returns the lines of a diff: `-` marks old lines, `+` new lines, and a space unchanged lines around them.
pub(crate) fn changed_lines(before: &str, after: &str) -> Vec<(char, String)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut all = Vec::new();
    if old.len().max(new.len()) > MOST {
        all.extend(old.iter().map(|line| ('-', *line)));
        all.extend(new.iter().map(|line| ('+', *line)));
    } else {
        all = aligned(&old, &new);
    }
    let is_near =
        |at: usize| all[at.saturating_sub(1)..all.len().min(at + 2)].iter().any(|(sign, _)| *sign != ' ');
    let near = (0..all.len()).filter(|&at| is_near(at)).map(|at| (all[at].0, all[at].1.to_owned()));
    near.collect()
}

/// Aligns all lines along a longest common subsequence.
fn aligned<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(char, &'t str)> {
    // For each pair of lines, the length of the longest common subsequence that starts at these lines.
    let mut common = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for row in (0..old.len()).rev() {
        for column in (0..new.len()).rev() {
            common[row][column] = match old[row] == new[column] {
                true => common[row + 1][column + 1] + 1,
                false => common[row + 1][column].max(common[row][column + 1]),
            };
        }
    }
    let (mut row, mut column, mut all) = (0, 0, Vec::new());
    while row < old.len() || column < new.len() {
        let is_same = row < old.len() && column < new.len() && old[row] == new[column];
        if is_same {
            all.push((' ', old[row]));
            (row, column) = (row + 1, column + 1);
        } else if column == new.len()
            || (row < old.len() && common[row + 1][column] >= common[row][column + 1])
        {
            all.push(('-', old[row]));
            row += 1;
        } else {
            all.push(('+', new[column]));
            column += 1;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_come_with_their_neighbours() {
        let found = changed_lines("a\nb\nc\nd\ne", "a\nb\nx\nd\ne\nf");
        let shown: Vec<String> = found.iter().map(|(sign, line)| format!("{sign}{line}")).collect();
        assert_eq!(shown, [" b", "-c", "+x", " d", " e", "+f"]);
        assert!(changed_lines("a\nb", "a\nb").is_empty());
        assert_eq!(changed_lines("", "a"), [('+', "a".to_owned())]);
    }
}
