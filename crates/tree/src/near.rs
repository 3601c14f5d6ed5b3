//! Whether questions lie near any training data.

use crate::{Matrix, TreeError};

/// For each row, whether any of `others` lies within `radius` of it, by Euclidean distance.
///
/// # Errors
/// If the two have different numbers of columns.
pub fn any_within(
    rows: &Matrix<'_>,
    others: &Matrix<'_>,
    radius: f64,
) -> Result<Vec<bool>, TreeError> {
    let (expected, columns) = (others.columns(), rows.columns());
    if columns != expected {
        return Err(TreeError::ColumnCount { expected, columns });
    }
    let reach = radius * radius;
    let near = |row: &[f64]| {
        others
            .iter()
            .any(|other| squared_distance(row, other) <= reach)
    };
    Ok(rows.iter().map(near).collect())
}

fn squared_distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_radius_itself_is_near() {
        let others = [0.0, 0.0, 10.0, 0.0];
        let rows = [3.0, 4.0, 3.0, 4.1, 10.0, 5.0, 5.0, 0.0, 5.1, 0.5];
        let others = Matrix::new(&others, 2, 2).unwrap();
        let rows = Matrix::new(&rows, 5, 2).unwrap();
        assert_eq!(
            any_within(&rows, &others, 5.0).unwrap(),
            vec![true, false, true, true, true]
        );
        assert_eq!(any_within(&rows, &others, 0.0).unwrap(), vec![false; 5]);
    }

    #[test]
    fn nothing_is_near_nothing_and_columns_match() {
        let row = Matrix::new(&[1.0, 2.0], 1, 2).unwrap();
        let none = Matrix::new(&[], 0, 2).unwrap();
        assert_eq!(any_within(&row, &none, 9.0).unwrap(), vec![false]);
        let narrow = Matrix::new(&[1.0], 1, 1).unwrap();
        let refused = any_within(&row, &narrow, 9.0).unwrap_err();
        assert!(matches!(refused, TreeError::ColumnCount { .. }));
    }
}
