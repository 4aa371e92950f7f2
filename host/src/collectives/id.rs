//! What the ranks of a communicator find each other by.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

#[allow(unused_imports, reason = "for links in the documentation")]
use super::error::CollectiveError;
use super::error::Result;
use super::nccl;
use crate::device::Device;

/// What the ranks of one communicator find each other by: 128 bytes.
///
/// One rank makes it and hands it to the others, by whatever means the program has: a variable, a file, a socket, the environment of
/// processes that it starts. As text it is 256 hexadecimal digits.
///
/// ```
/// use cuda_tiles_host::Device;
/// use cuda_tiles_host::collectives::UniqueId;
///
/// let id = UniqueId::new(&Device::cpu())?;
/// let text = id.to_string();
/// assert_eq!(text.parse::<UniqueId>().unwrap(), id);
/// assert_eq!(UniqueId::from_bytes(*id.as_bytes()), id);
/// # Ok::<(), cuda_tiles_host::collectives::CollectiveError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct UniqueId {
    bytes: [u8; UniqueId::BYTES],
}

/// How an identity of ranks on the CPU begins. NCCL's own begin with random bytes.
const CPU: &[u8; 16] = b"cuda-tiles, CPU\0";

impl UniqueId {
    /// Its length.
    pub const BYTES: usize = 128;

    /// An identity that no other communicator has, for ranks on devices of the same kind as this one. For GPUs it says where on the network this
    /// process waits for the other ranks.
    ///
    /// # Errors
    /// For a GPU [`CollectiveError::NoLibrary`], and [`CollectiveError::Identity`] if NCCL finds no network.
    pub fn new(device: &Device) -> Result<Self> {
        if device.is_gpu() {
            return Ok(Self { bytes: nccl::unique_id()? });
        }
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let numbers = [
            u64::from(std::process::id()),
            COUNT.fetch_add(1, Ordering::Relaxed),
            now.as_secs(),
            now.subsec_nanos().into(),
        ];
        let mut bytes = [0; Self::BYTES];
        bytes[..CPU.len()].copy_from_slice(CPU);
        for (place, number) in bytes[CPU.len()..].chunks_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        Ok(Self { bytes })
    }

    /// The identity with these bytes, which came from [`UniqueId::as_bytes`].
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self { bytes }
    }

    /// The bytes, for other ranks.
    pub fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.bytes
    }

    /// Whether it is one of ranks on the CPU.
    pub(super) fn is_for_cpu(&self) -> bool {
        self.bytes.starts_with(CPU)
    }

    /// Whether it is one of ranks on the CPU, and made by this process.
    pub(super) fn is_of_this_process(&self) -> bool {
        self.bytes[CPU.len()..].starts_with(&u64::from(std::process::id()).to_le_bytes())
    }
}

impl fmt::Display for UniqueId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for UniqueId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "UniqueId({self})")
    }
}

impl FromStr for UniqueId {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let digits = text.as_bytes();
        if digits.len() != 2 * Self::BYTES {
            return Err(format!(
                "the identity of a communicator has {} hexadecimal digits, not {}",
                2 * Self::BYTES,
                digits.len()
            ));
        }
        let mut bytes = [0; Self::BYTES];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            let digit = |digit: u8| char::from(digit).to_digit(16);
            let value = digit(pair[0]).zip(digit(pair[1])).map(|(high, low)| (high * 16 + low) as u8);
            *byte = value.ok_or("the identity of a communicator is made of hexadecimal digits")?;
        }
        Ok(Self { bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_differ_and_survive_as_text() {
        let (one, other) = (UniqueId::new(&Device::cpu()).unwrap(), UniqueId::new(&Device::cpu()).unwrap());
        assert_ne!(one, other);
        assert_eq!(one.to_string().parse(), Ok(one));
        assert!(one.is_for_cpu() && one.is_of_this_process());
        assert!("00".parse::<UniqueId>().unwrap_err().contains("has 256 hexadecimal digits, not 2"));
        assert!("zz".repeat(128).parse::<UniqueId>().is_err());
        assert!("ä".repeat(128).parse::<UniqueId>().is_err());
    }
}
