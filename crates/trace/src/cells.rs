//! Reads the cells of a Parquet column, a batch of rows at a time.

use parquet::basic::{LogicalType, TimeUnit};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

use crate::error::Problem;
use crate::record::Operation;

/// The content of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Whole(i64),
    Real(f64),
    Text(ByteArray),
}

/// A column in a group of rows.
pub(crate) struct CellReader {
    reader: ColumnReader,
}

impl CellReader {
    pub const fn new(reader: ColumnReader) -> Self {
        Self { reader }
    }

    /// Replaces `cells` with the next ones, at most `count`. An empty cell becomes `None`.
    pub fn read(
        &mut self,
        count: usize,
        cells: &mut Vec<Option<Cell>>,
    ) -> Result<(), ParquetError> {
        cells.clear();
        match &mut self.reader {
            ColumnReader::Int32ColumnReader(reader) => {
                plain(reader, count, cells, |value| Cell::Whole(i64::from(value)))
            }
            ColumnReader::Int64ColumnReader(reader) => plain(reader, count, cells, Cell::Whole),
            ColumnReader::FloatColumnReader(reader) => {
                plain(reader, count, cells, |value| Cell::Real(f64::from(value)))
            }
            ColumnReader::DoubleColumnReader(reader) => plain(reader, count, cells, Cell::Real),
            ColumnReader::ByteArrayColumnReader(reader) => plain(reader, count, cells, Cell::Text),
            ColumnReader::BoolColumnReader(reader) => {
                plain(reader, count, cells, |value| Cell::Whole(i64::from(value)))
            }
            _ => Err(ParquetError::General(
                "a column is neither of numbers nor of texts".to_owned(),
            )),
        }
    }
}

fn plain<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    count: usize,
    cells: &mut Vec<Option<Cell>>,
    cell: impl Fn(T::T) -> Cell,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    while cells.len() < count {
        values.clear();
        levels.clear();
        let wanted = count - cells.len();
        let (rows, ..) = reader.read_records(wanted, Some(&mut levels), None, &mut values)?;
        if rows == 0 {
            break;
        }
        let mut found = values.drain(..).map(&cell);
        if levels.is_empty() {
            cells.extend(found.by_ref().map(Some));
        } else {
            // Columns are not nested, so level 1 means a value.
            cells.extend(
                levels
                    .iter()
                    .map(|&level| if level > 0 { found.next() } else { None }),
            );
        }
    }
    Ok(())
}

/// The time unit of a column in ns, if the file gives it.
pub(crate) fn time_unit_ns(column: &ColumnDescriptor) -> Option<u64> {
    match column.logical_type_ref()? {
        LogicalType::Timestamp(time) | LogicalType::Time(time) => Some(match time.unit {
            TimeUnit::MILLIS => 1_000_000,
            TimeUnit::MICROS => 1_000,
            TimeUnit::NANOS => 1,
        }),
        _ => None,
    }
}

/// The largest double below 2^64.
const MOST_REAL: f64 = 18_446_744_073_709_549_568.0;

impl Cell {
    /// Converts to a number in units of `unit`; it must be 0 or more.
    pub fn scaled(&self, field: &'static str, unit: u64) -> Result<u64, Problem> {
        let wrong = Problem::Field {
            field,
            expected: "a number of 0 or more",
        };
        match self {
            Self::Whole(number) => {
                let number = u64::try_from(*number).map_err(|_| wrong)?;
                number.checked_mul(unit).ok_or(Problem::TooLarge { field })
            }
            Self::Real(number) if *number >= 0.0 => {
                let scaled = (number * unit as f64).round();
                if scaled > MOST_REAL {
                    return Err(Problem::TooLarge { field });
                }
                Ok(scaled as u64)
            }
            _ => Err(wrong),
        }
    }

    /// An operation given by its name, by its first letter, or as 0 for a read and 1 for a write.
    pub fn operation(&self) -> Option<Operation> {
        match self {
            Self::Whole(0) => Some(Operation::Read),
            Self::Whole(1) => Some(Operation::Write),
            Self::Whole(_) | Self::Real(_) => None,
            Self::Text(text) => {
                let text = std::str::from_utf8(text.data()).ok()?.to_ascii_lowercase();
                match text.as_str() {
                    "r" => Some(Operation::Read),
                    "w" => Some(Operation::Write),
                    "discard" | "unmap" => Some(Operation::Trim),
                    name => Operation::named(name),
                }
            }
        }
    }
}
