//! Parquet: a column for every field, groups of rows, pages compressed with zstd.
//!
//! Unknown values become empty cells. The columns have the names that a reader expects, unless they
//! are mapped.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::{Cannot, Encoder, Written};
use crate::error::TraceError;
use crate::options::Columns;
use crate::record::{Record, UNKNOWN, UNKNOWN_PROCESS};

/// Rows in a group.
const GROUP_ROWS: usize = 1 << 17;

pub(super) struct Table {
    writer: SerializedFileWriter<Box<dyn Write + Send>>,
    records: Vec<Record>,
    /// The name of each request's device.
    devices: Vec<ByteArray>,
    last: Option<(Box<str>, ByteArray)>,
}

fn trouble(error: ParquetError) -> TraceError {
    match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(error) => TraceError::Write(*error),
            Err(other) => TraceError::Write(std::io::Error::other(other.to_string())),
        },
        other => TraceError::Write(std::io::Error::other(other.to_string())),
    }
}

fn schema() -> Result<Type, ParquetError> {
    let names = Columns::default();
    let column = |name: &str, physical, repetition, logical| {
        Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let number = |name: &str| column(name, Physical::INT64, Repetition::REQUIRED, None);
    let text = |name: &str| {
        let logical = Some(LogicalType::String);
        column(name, Physical::BYTE_ARRAY, Repetition::REQUIRED, logical)
    };
    let optional = |name: Option<String>| {
        let name = name.unwrap_or_default();
        column(&name, Physical::INT64, Repetition::OPTIONAL, None)
    };
    let fields = vec![
        number(&names.arrival)?,
        text(&names.device.unwrap_or_default())?,
        text(&names.operation)?,
        number(&names.offset)?,
        number(&names.size)?,
        optional(names.response)?,
        optional(names.queue)?,
        optional(names.device_time)?,
        optional(names.process)?,
    ];
    Type::group_type_builder("trace")
        .with_fields(fields)
        .build()
}

impl Table {
    pub fn new(output: Box<dyn Write + Send>) -> Result<Self, TraceError> {
        let settings = WriterProperties::builder()
            .set_created_by("Drivelab".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let schema = Arc::new(schema().map_err(trouble)?);
        let writer = SerializedFileWriter::new(output, schema, Arc::new(settings));
        Ok(Self {
            writer: writer.map_err(trouble)?,
            records: Vec::new(),
            devices: Vec::new(),
            last: None,
        })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let records = &self.records;
        let operations = Operations::default();
        let operation = |record: &Record| operations.0[record.operation.index()].clone();
        let process = |record: &Record| match record.process {
            UNKNOWN_PROCESS => UNKNOWN,
            process => u64::from(process),
        };
        let mut rows = self.writer.next_row_group()?;
        numbers(&mut rows, records, |record| record.arrival_ns)?;
        cells::<ByteArrayType, _>(&mut rows, &self.devices, None)?;
        let names: Vec<ByteArray> = records.iter().map(operation).collect();
        cells::<ByteArrayType, _>(&mut rows, &names, None)?;
        numbers(&mut rows, records, |record| record.offset_bytes)?;
        numbers(&mut rows, records, |record| record.size_bytes)?;
        known(&mut rows, records, |record| record.response_ns)?;
        known(&mut rows, records, |record| record.queue_ns)?;
        known(&mut rows, records, |record| record.device_ns)?;
        known(&mut rows, records, process)?;
        rows.close()?;
        self.records.clear();
        self.devices.clear();
        Ok(())
    }
}

/// The names of operations, by their index.
struct Operations([ByteArray; crate::Operation::ALL.len()]);

impl Default for Operations {
    fn default() -> Self {
        Self(crate::Operation::ALL.map(|operation| ByteArray::from(operation.name())))
    }
}

fn numbers<W: Write + Send>(
    rows: &mut SerializedRowGroupWriter<'_, W>,
    records: &[Record],
    of: impl Fn(&Record) -> u64,
) -> Result<(), ParquetError> {
    // Larger values were refused before.
    let values: Vec<i64> = records.iter().map(|record| of(record) as i64).collect();
    cells::<Int64Type, _>(rows, &values, None)
}

fn known<W: Write + Send>(
    rows: &mut SerializedRowGroupWriter<'_, W>,
    records: &[Record],
    of: impl Fn(&Record) -> u64,
) -> Result<(), ParquetError> {
    let all: Vec<u64> = records.iter().map(of).collect();
    let is_known = |value: &u64| *value != UNKNOWN;
    let levels: Vec<i16> = all.iter().map(|value| i16::from(is_known(value))).collect();
    let values: Vec<i64> = all
        .into_iter()
        .filter(is_known)
        .map(|value| value as i64)
        .collect();
    cells::<Int64Type, _>(rows, &values, Some(&levels))
}

fn cells<T: DataType, W: Write + Send>(
    rows: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut column) = rows.next_column()? else {
        return Err(ParquetError::General(
            "more columns than the schema has".to_owned(),
        ));
    };
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}

impl Encoder for Table {
    fn add(&mut self, record: &Record, device: &str, _: &mut Written) -> Result<(), Cannot> {
        let most = i64::MAX as u64;
        let times = [record.response_ns, record.queue_ns, record.device_ns];
        let mut known = times.into_iter().filter(|&time| time != UNKNOWN);
        let plain = [record.arrival_ns, record.offset_bytes, record.size_bytes];
        if plain.into_iter().any(|number| number > most) || known.any(|time| time > most) {
            return Err(format!("a number above {most}"));
        }
        let name = match &self.last {
            Some((last, name)) if **last == *device => name.clone(),
            _ => {
                let name = ByteArray::from(device);
                self.last = Some((device.into(), name.clone()));
                name
            }
        };
        self.records.push(*record);
        self.devices.push(name);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TraceError> {
        if self.records.len() < GROUP_ROWS {
            return Ok(());
        }
        self.write_group().map_err(trouble)
    }

    fn finish(mut self: Box<Self>) -> Result<(), TraceError> {
        if !self.records.is_empty() {
            self.write_group().map_err(trouble)?;
        }
        self.writer.close().map_err(trouble)?;
        Ok(())
    }

    fn holds_everything(&self) -> bool {
        true
    }
}
