//! Reading and writing compared with simple ways to do either.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_csv::{Column, Odd, RowError, RowProblem, read, write};
use proptest::prelude::*;

fn odd(row: usize, column: usize, text: &str) -> Odd {
    Odd {
        row,
        column,
        text: text.to_owned(),
    }
}

#[test]
fn cells_are_found_in_any_order() {
    let text = b"1,a,0.25,64.\r\n\n , ,,\n 2 ,\"b, \"\"c\"\"\",\" 3 \",\n";
    let block = read(text, 4, &[2, 0, 3]).unwrap();
    assert_eq!(block.rows, 2);
    assert_eq!(block.values[..5], [0.25, 1.0, 64.0, 3.0, 2.0]);
    assert!(block.values[5].is_nan());
    assert_eq!(block.odd, vec![]);
}

#[test]
fn what_is_no_plain_number_is_given_back() {
    let text = b"64KiB,nan,-1\n1e3,.5,1.2.3\n\"\",x\xff, 7\n";
    let block = read(text, 3, &[0, 1, 2]).unwrap();
    assert!(block.values[..8].iter().all(|value| value.is_nan()));
    assert_eq!(block.values[8], 7.0);
    assert_eq!(
        block.odd,
        vec![
            odd(0, 0, "64KiB"),
            odd(0, 1, "nan"),
            odd(0, 2, "-1"),
            odd(1, 0, "1e3"),
            odd(1, 1, ".5"),
            odd(1, 2, "1.2.3"),
            odd(2, 1, "x\u{fffd}"),
        ]
    );
}

#[test]
fn lines_that_are_no_rows_are_named() {
    let cells = |found, width| RowProblem::Cells { found, width };
    let cases: [(&[u8], usize, RowProblem); 6] = [
        (b"1,2\n1\n", 1, cells(1, 2)),
        (b"1,2\n\n1,2,3\n", 1, cells(3, 2)),
        (b"1,2,\n", 0, cells(3, 2)),
        (b"1,2\n3,4\n\"5,6\n", 2, RowProblem::Quote),
        (b"\"1\"2,3\n", 0, RowProblem::Quote),
        (b"1,\"2\"\"\n", 0, RowProblem::Quote),
    ];
    for (text, row, problem) in cases {
        assert_eq!(read(text, 2, &[0]), Err(RowError { row, problem }));
    }
    let message = cells(1, 8).to_string();
    assert!(message.starts_with("1 cells where 8 columns are named"));
}

#[test]
fn numbers_are_written_for_people_and_machines() {
    let exact = [4096.0, 0.25, f64::NAN, 0.1];
    let rounded = [1234567.8, 12345.678, 0.000123456789, 0.0];
    let flags = [0.0, 1.0, 0.0, 1.0];
    let text = write(&[
        Column::Exact(&exact),
        Column::Rounded(&rounded),
        Column::Flag(&flags),
    ]);
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "4096,1234568,false\n0.25,12345.7,true\n,0.000123457,false\n0.1,0,true\n"
    );
    assert!(write(&[]).is_empty());
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        numbers in prop::collection::vec(prop::num::f64::POSITIVE | prop::num::f64::ZERO, 1..50),
    ) {
        let text = write(&[Column::Exact(&numbers), Column::Rounded(&numbers)]);
        let block = read(&text, 2, &[0, 1]).unwrap();
        prop_assert_eq!(block.rows, numbers.len());
        for (number, cells) in numbers.iter().zip(block.values.chunks(2)) {
            prop_assert_eq!(cells[0].to_bits(), number.to_bits());
            prop_assert!((cells[1] - number).abs() <= 1e-5 * number, "{} {number}", cells[1]);
        }
    }

    #[test]
    fn plain_numbers_are_those_of_the_standard_library(text in "[0-9.]{0,12}") {
        let line = format!("{text}\n");
        let block = read(line.as_bytes(), 1, &[0]).unwrap();
        let expected = text.parse::<f64>().ok().filter(|_| !text.starts_with('.'));
        match expected {
            Some(value) => prop_assert_eq!(block.values[0].to_bits(), value.to_bits()),
            None => prop_assert_eq!(block.odd.len() + usize::from(text.is_empty()), 1),
        }
    }

    /// Any bytes give rows or an error, never a panic, and every row is complete.
    #[test]
    fn any_bytes_are_rows_or_refused(
        text in prop::collection::vec(prop::sample::select(b"12.,\"\n\r \xffx".to_vec()), 0..60),
    ) {
        if let Ok(block) = read(&text, 3, &[1, 2, 7]) {
            prop_assert_eq!(block.values.len(), 3 * block.rows);
        }
    }
}
