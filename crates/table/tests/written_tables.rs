//! What is written is read back by the format's own reader. A test in Python reads it with another.

#![allow(clippy::unwrap_used)]

use drivelab_table::{Column, TableError, Values, write_parquet};
use parquet::data_type::AsBytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, RowAccessor};

fn column(name: &str, values: Values) -> Column {
    Column {
        name: name.to_owned(),
        values,
    }
}

fn table() -> Vec<Column> {
    vec![
        column(
            "drive",
            Values::Texts(vec![Some("sim:x25m".to_owned()), None, Some(String::new())]),
        ),
        column(
            "size_bytes",
            Values::Integers(vec![Some(4096), Some(i64::MAX), None]),
        ),
        column(
            "latency_ns",
            Values::Reals(vec![None, Some(0.1 + 0.2), Some(-0.0)]),
        ),
        column(
            "counts",
            Values::IntegerLists(vec![Some(vec![1, 2, 3]), Some(vec![]), None]),
        ),
    ]
}

#[test]
fn cells_come_back_with_their_types() {
    let properties = [("plan".to_owned(), "{\"seed\": 7}".to_owned())];
    let file = write_parquet(&table(), &properties).unwrap();
    let reader = SerializedFileReader::new(bytes(file)).unwrap();
    let metadata = reader.metadata().file_metadata();
    assert_eq!(metadata.num_rows(), 3);
    assert_eq!(metadata.created_by(), Some("Drivelab"));
    let kept = metadata.key_value_metadata().unwrap();
    assert!(
        kept.iter()
            .any(|entry| entry.key == "plan" && entry.value.as_deref() == Some("{\"seed\": 7}"))
    );
    let rows: Vec<_> = reader
        .get_row_iter(None)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let cell = |row: usize, column: usize| rows[row].get_column_iter().nth(column).unwrap().1;
    assert_eq!(rows[0].get_string(0).unwrap(), "sim:x25m");
    assert_eq!(cell(1, 0), &Field::Null);
    assert_eq!(rows[2].get_string(0).unwrap(), "");
    assert_eq!(rows[1].get_long(1).unwrap(), i64::MAX);
    assert_eq!(cell(2, 1), &Field::Null);
    assert_eq!(cell(0, 2), &Field::Null);
    assert_eq!(
        rows[1].get_double(2).unwrap().to_bits(),
        (0.1 + 0.2_f64).to_bits()
    );
    assert_eq!(
        rows[2].get_double(2).unwrap().to_bits(),
        (-0.0_f64).to_bits()
    );
    assert_eq!(
        rows[0].get_list(3).unwrap().elements(),
        [Field::Long(1), Field::Long(2), Field::Long(3)]
    );
    assert_eq!(rows[1].get_list(3).unwrap().len(), 0);
    assert_eq!(cell(2, 3), &Field::Null);
}

#[test]
fn the_same_table_gives_the_same_bytes() {
    let file = write_parquet(&table(), &[]).unwrap();
    assert_eq!(file, write_parquet(&table(), &[]).unwrap());
    assert_eq!(&file.as_bytes()[..4], b"PAR1");
}

#[test]
fn a_table_without_rows_is_a_table() {
    let file = write_parquet(&[column("a", Values::Reals(vec![]))], &[]).unwrap();
    let reader = SerializedFileReader::new(bytes(file)).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
}

#[test]
fn many_rows_come_back() {
    // More than one page of the format.
    let count = 100_000;
    let lists = (0..count).map(|row| Some((0..row % 4).collect())).collect();
    let columns = [
        column("row", Values::Integers((0..count).map(Some).collect())),
        column("list", Values::IntegerLists(lists)),
    ];
    let reader = SerializedFileReader::new(bytes(write_parquet(&columns, &[]).unwrap())).unwrap();
    for (row, found) in reader.get_row_iter(None).unwrap().enumerate() {
        let found = found.unwrap();
        assert_eq!(found.get_long(0).unwrap(), row as i64);
        assert_eq!(found.get_list(1).unwrap().len(), row % 4);
    }
}

#[test]
fn what_is_no_table_is_refused() {
    assert!(matches!(
        write_parquet(&[], &[]),
        Err(TableError::NoColumns)
    ));
    let twice = [table().remove(1), table().remove(1)];
    let refusal = write_parquet(&twice, &[]).unwrap_err();
    assert!(refusal.to_string().contains("named size_bytes"));
    let uneven = [
        column("a", Values::Integers(vec![Some(1)])),
        column("b", Values::Integers(vec![])),
    ];
    let refusal = write_parquet(&uneven, &[]).unwrap_err();
    assert!(
        refusal
            .to_string()
            .contains("column b has 0 rows and the first one has 1")
    );
}

fn bytes(file: Vec<u8>) -> bytes::Bytes {
    bytes::Bytes::from(file)
}
