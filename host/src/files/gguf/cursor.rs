//! Reading a header of unknown length from front to back.

use crate::files::error::FileError;
use crate::files::source::Source;
use crate::tensor::host_vec;

/// So many bytes of a file that is not in memory are read at a time.
const BUFFER_BYTES: u64 = 64 << 10;

/// A place in a file, and what lies around it.
pub(super) struct Cursor<'file> {
    source: &'file Source,
    at: u64,
    /// Bytes of the file from `start` on.
    buffer: Vec<u8>,
    start: u64,
    /// What is being read, for messages.
    part: &'static str,
}

impl<'file> Cursor<'file> {
    pub(super) fn new(source: &'file Source) -> Self {
        Self { source, at: 0, buffer: Vec::new(), start: 0, part: "the header" }
    }

    /// Names what is read from now on.
    pub(super) fn enter(&mut self, part: &'static str) {
        self.part = part;
    }

    /// The byte that is read next.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Bytes up to the end of the file.
    pub(super) fn left(&self) -> u64 {
        self.source.len() - self.at
    }

    /// An error at this place.
    pub(super) fn refused(&self, problem: impl Into<String>) -> FileError {
        self.source.malformed(self.at, None, format!("{}: {}", self.part, problem.into()))
    }

    /// The next so many bytes.
    fn bytes(&mut self, count: u64) -> Result<&[u8], FileError> {
        if count > self.left() {
            let problem = format!("{count} bytes are claimed, and the file ends {} bytes later", self.left());
            return Err(self.refused(problem));
        }
        let buffered = self.at >= self.start && self.at + count <= self.start + self.buffer.len() as u64;
        if !buffered {
            let ahead = count.max(BUFFER_BYTES).min(self.left()) as usize;
            let mut buffer = host_vec(ahead)?;
            buffer.resize(ahead, 0);
            self.source.read_at(self.at, &mut buffer)?;
            (self.buffer, self.start) = (buffer, self.at);
        }
        let first = (self.at - self.start) as usize;
        self.at += count;
        Ok(&self.buffer[first..first + count as usize])
    }

    /// A number of values, each of which takes `least_bytes` at least, so that no more room is made than the file may fill.
    pub(super) fn several<T>(
        &mut self,
        count: u64,
        least_bytes: u64,
        mut take: impl FnMut(&mut Self) -> Result<T, FileError>,
    ) -> Result<Vec<T>, FileError> {
        if count.checked_mul(least_bytes).is_none_or(|bytes| bytes > self.left()) {
            let problem = format!(
                "{count} values of at least {least_bytes} byte(s) are claimed, and the file ends {} bytes later",
                self.left()
            );
            return Err(self.refused(problem));
        }
        let mut values = host_vec(count as usize)?;
        for _ in 0..count {
            values.push(take(self)?);
        }
        Ok(values)
    }
}

/// What can be read.
pub(super) trait Take: Sized {
    /// The fewest bytes that it takes.
    const LEAST_BYTES: u64;
    fn take(cursor: &mut Cursor<'_>) -> Result<Self, FileError>;
}

macro_rules! numbers {
    ($($type:ty)*) => { $(
        impl Take for $type {
            const LEAST_BYTES: u64 = size_of::<Self>() as u64;

            fn take(cursor: &mut Cursor<'_>) -> Result<Self, FileError> {
                let mut bytes = [0; size_of::<Self>()];
                bytes.copy_from_slice(cursor.bytes(Self::LEAST_BYTES)?);
                Ok(Self::from_le_bytes(bytes))
            }
        }
    )* };
}
numbers!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

impl Take for bool {
    const LEAST_BYTES: u64 = 1;

    fn take(cursor: &mut Cursor<'_>) -> Result<Self, FileError> {
        match u8::take(cursor)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(cursor.refused(format!("a bool is 0 or 1, and here is {other}"))),
        }
    }
}

impl Take for String {
    const LEAST_BYTES: u64 = 8;

    fn take(cursor: &mut Cursor<'_>) -> Result<Self, FileError> {
        let length = u64::take(cursor)?;
        let bytes = cursor.bytes(length)?.to_vec();
        Self::from_utf8(bytes).map_err(|_| cursor.refused("a text is not UTF-8"))
    }
}
