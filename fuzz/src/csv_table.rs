//! Tables of numbers: cells are compared with those of a simple second reader.
//!
//! The first byte gives the number of columns, the second which of them are wanted.

use drivelab_csv::read;

use crate::{Reader, check_message};

pub(crate) const READER: Reader = Reader {
    name: "csv_table",
    sources: &["crates/csv/src/read.rs"],
    check,
    seeds,
};

/// Rows of cells; only for text without quotes.
fn plain(text: &str) -> Vec<Vec<&str>> {
    let of_line = |line| str::split(line, ',').map(str::trim_ascii).collect();
    let rows = text.split('\n').map(of_line);
    rows.filter(|row: &Vec<&str>| row.iter().any(|cell| !cell.is_empty()))
        .collect()
}

/// The number in a cell; `None` if it is not a number.
fn number(cell: &str) -> Option<f64> {
    let (whole, fraction) = cell.split_once('.').unwrap_or((cell, ""));
    let digits = |part: &str| part.chars().all(|each| each.is_ascii_digit());
    (!whole.is_empty() && digits(whole) && digits(fraction)).then(|| cell.parse().ok())?
}

fn check(data: &[u8]) {
    let &[columns, chosen, ref text @ ..] = data else {
        return;
    };
    let width = usize::from(columns % 8) + 1;
    let wanted: Vec<usize> = (0..width)
        .filter(|place| chosen >> place & 1 == 1)
        .collect();
    let found = read(text, width, &wanted);
    let quoted = text.contains(&b'"');
    let rows = std::str::from_utf8(text)
        .ok()
        .filter(|_| !quoted)
        .map(plain);
    let block = match found {
        Ok(block) => block,
        Err(error) => {
            check_message(&error);
            if let Some(rows) = rows {
                let first = rows.iter().position(|row| row.len() != width);
                assert_eq!(Some(error.row), first);
            }
            return;
        }
    };
    assert_eq!(block.values.len(), block.rows * wanted.len());
    assert!(
        block
            .odd
            .iter()
            .all(|odd| odd.row < block.rows && odd.column < wanted.len())
    );
    // A plain number has no sign.
    assert!(
        block
            .values
            .iter()
            .all(|value| value.is_nan() || *value >= 0.0)
    );
    let Some(rows) = rows else {
        return;
    };
    assert_eq!(block.rows, rows.len());
    let cells = rows
        .iter()
        .flat_map(|row| wanted.iter().map(|&place| row[place]));
    for (cell, value) in cells.zip(&block.values) {
        let expected = number(cell).unwrap_or(f64::NAN);
        assert_eq!(value.to_bits(), expected.to_bits(), "the cell {cell:?}");
    }
    let odd = rows
        .iter()
        .flat_map(|row| wanted.iter().map(|&place| row[place]))
        .filter(|cell| !cell.is_empty() && number(cell).is_none());
    assert!(odd.eq(block.odd.iter().map(|odd| odd.text.as_str())));
}

fn seeds() -> Vec<Vec<u8>> {
    [
        "\x01\x030.25,64\r\n1., 4096 \n,\n,7\n",
        "\x01\x02\"0.5\",\"a \"\"b\"\"\"\n 1 , x\n",
        "\x07\u{7f}0.5,16,4096,65536,1,0.25,0,512\n1e3,-1,+2,NaN,inf,0x10,1.2.3,64KiB\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}
