//! Communicators: what a rank is part of.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::error::{CollectiveError, Failure, Result};
use super::id::UniqueId;
use super::nccl::GpuRank;
use super::world::World;
use crate::device::Device;
use crate::stream::Stream;

/// The most ranks: far more than there are GPUs in one place, and few enough to be listed.
const MOST_RANKS: usize = 1 << 20;

/// A rank's part in the ranks that do things together. See [the module](super) for how ranks, threads and devices go together.
///
/// Dropping a communicator waits until its work is done, no longer than the time-out. Calls that other ranks of the process still wait
/// for fail then.
pub struct Communicator {
    pub(super) member: Arc<Member>,
}

/// What calls of a rank need to know of it.
pub(super) struct Member {
    pub(super) rank: usize,
    pub(super) world_size: usize,
    pub(super) device: Device,
    pub(super) timeout: Duration,
    pub(super) world: Arc<World>,
    /// None on the CPU.
    pub(super) gpu: Option<Arc<GpuRank>>,
}

impl Communicator {
    /// Communicators of this process alone, one for each device; the rank is the place in the list. On the CPU a device may stand there
    /// several times.
    ///
    /// No call takes longer than `timeout`, and no work that a call has given to a stream; the latter includes what the stream has to do before.
    ///
    /// # Errors
    /// [`CollectiveError::Ranks`] if the devices are not all GPUs or all the CPU, if a GPU stands there twice, or if NCCL refuses them;
    /// [`CollectiveError::NoLibrary`]; [`CollectiveError::Failed`] if they do not come together in time.
    #[doc(alias("ncclCommInitAll"))]
    pub fn all(devices: &[Device], timeout: Duration) -> Result<Vec<Self>> {
        let Some(first) = devices.first() else { return Ok(Vec::new()) };
        let world_size = devices.len();
        for (rank, device) in devices.iter().enumerate() {
            let refuse = |problem: String| Err(CollectiveError::Ranks { rank, world_size, problem });
            if device.is_gpu() != first.is_gpu() {
                return refuse("the devices of a communicator are all GPUs, or all the CPU".to_owned());
            }
            if device.is_gpu() && devices[..rank].contains(device) {
                return refuse(format!("{} is another rank's: a GPU has one rank", device.short_name()));
            }
        }
        let id = UniqueId::new(first)?;
        let begin = |(rank, device)| Member::begin(device, rank, world_size, &id, timeout);
        let members = devices.iter().enumerate().map(begin).collect::<Result<Vec<_>>>()?;
        members.iter().try_for_each(Member::wait_for_all)?;
        Ok(members.into_iter().map(|member| Self { member: Arc::new(member) }).collect())
    }

    /// The communicator of one rank, with others in other threads, processes or machines. It waits for the others to call the same.
    ///
    /// `id` is what one of the ranks made by [`UniqueId::new`]. It serves for one call on each rank. `timeout` is as for [`Communicator::all`].
    ///
    /// ```
    /// use std::thread;
    /// use std::time::Duration;
    ///
    /// use cuda_tiles_host::collectives::{CollectiveError, Communicator, UniqueId};
    /// use cuda_tiles_host::{Device, Tensor};
    ///
    /// let id = UniqueId::new(&Device::cpu())?;
    /// let run = move |rank: usize| -> Result<Vec<u8>, CollectiveError> {
    ///     let device = Device::cpu(); // or Device::gpu(rank)?
    ///     let communicator = Communicator::new(&device, rank, 2, &id, Duration::from_secs(10))?;
    ///     let mut x = Tensor::from_slice(&device, [2], &[rank as u8, 7])?;
    ///     communicator.broadcast(&device.default_stream(), 1, &mut x)?;
    ///     communicator.synchronize(&device.default_stream())?;
    ///     Ok(x.to_vec()?)
    /// };
    /// let other = thread::spawn(move || run(0));
    /// assert_eq!(run(1)?, [1, 7]);
    /// assert_eq!(other.join().unwrap()?, [1, 7]);
    /// # Ok::<(), CollectiveError>(())
    /// ```
    ///
    /// # Errors
    /// [`CollectiveError::Ranks`] if there is no such rank, if the identity is for other devices, or if NCCL refuses it;
    /// [`CollectiveError::NoLibrary`]; [`CollectiveError::Failed`] if the others do not come in time.
    #[doc(alias("ncclCommInitRank", "init_process_group"))]
    pub fn new(
        device: &Device,
        rank: usize,
        world_size: usize,
        id: &UniqueId,
        timeout: Duration,
    ) -> Result<Self> {
        let refuse = |problem: String| Err(CollectiveError::Ranks { rank, world_size, problem });
        if !(1..=MOST_RANKS).contains(&world_size) {
            return refuse(format!("there are from 1 to {MOST_RANKS} ranks"));
        }
        if rank >= world_size {
            return refuse(format!("of {world_size} ranks the last one is {}", world_size - 1));
        }
        if device.is_gpu() == id.is_for_cpu() {
            let kind = if device.is_gpu() { "the CPU" } else { "GPUs" };
            return refuse(format!(
                "the identity was made for {kind}: make it with a device of the same kind"
            ));
        }
        if id.is_for_cpu() && !id.is_of_this_process() {
            let problem = "the identity comes from another process, and ranks on the CPU are threads of one";
            return refuse(problem.to_owned());
        }
        let member = Member::begin(device, rank, world_size, id, timeout)?;
        member.wait_for_all()?;
        Ok(Self { member: Arc::new(member) })
    }

    /// Number of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.member.rank
    }

    /// How many ranks there are.
    #[doc(alias("ncclCommCount"))]
    pub fn world_size(&self) -> usize {
        self.member.world_size
    }

    /// The device of this rank.
    pub fn device(&self) -> &Device {
        &self.member.device
    }

    /// How long calls and their work may take.
    pub fn timeout(&self) -> Duration {
        self.member.timeout
    }

    /// Waits until all work given to the stream is done, that of calls on this communicator included. When it returns `Ok`, the tensors have
    /// what the calls say.
    ///
    /// # Errors
    /// [`CollectiveError::Failed`] if a call has failed, on this rank or on another one of the process, or is not done in time;
    /// [`CollectiveError::Argument`] if the stream is another device's; [`CollectiveError::Device`] if a kernel went wrong.
    #[doc(alias("ncclCommGetAsyncError"))]
    pub fn synchronize(&self, stream: &Stream) -> Result<()> {
        let member = &self.member;
        member.check_device("synchronize", "the stream", &stream.device())?;
        match &member.gpu {
            None => stream.synchronize()?,
            Some(gpu) => gpu.synchronize(stream)?.map_err(|failure| member.failed("synchronize", failure))?,
        }
        match member.world.failure() {
            None => Ok(()),
            Some(failure) => Err(member.failed("synchronize", failure)),
        }
    }
}

impl Member {
    /// Begins to join the other ranks.
    fn begin(
        device: &Device,
        rank: usize,
        world_size: usize,
        id: &UniqueId,
        timeout: Duration,
    ) -> Result<Self> {
        let refuse = |problem| CollectiveError::Ranks { rank, world_size, problem };
        let world = World::of(id.as_bytes(), world_size).map_err(refuse)?;
        world.join(rank).map_err(refuse)?;
        let mut member = Self { rank, world_size, device: device.clone(), timeout, world, gpu: None };
        if let Some(gpu) = device.as_gpu() {
            let world = Arc::clone(&member.world);
            member.gpu = Some(GpuRank::join(gpu, world, rank, world_size, id.as_bytes(), timeout)?);
        }
        Ok(member)
    }

    /// Waits until all ranks have joined.
    fn wait_for_all(&self) -> Result<()> {
        let joined = match &self.gpu {
            None => self.world.wait_for_all(self.timeout),
            Some(gpu) => gpu.wait_until_joined(),
        };
        joined.map_err(|failure| self.failed("`Communicator::new`", failure))
    }

    pub(super) fn failed(&self, operation: impl fmt::Display, failure: Failure) -> CollectiveError {
        let (rank, world_size, operation) = (self.rank, self.world_size, operation.to_string());
        CollectiveError::Failed { rank, world_size, operation, failure }
    }

    pub(super) fn refused(&self, operation: impl fmt::Display, problem: String) -> CollectiveError {
        let (rank, world_size, operation) = (self.rank, self.world_size, operation.to_string());
        CollectiveError::Argument { rank, world_size, operation, problem }
    }

    /// Refuses what is on another device.
    pub(super) fn check_device(
        &self,
        operation: impl fmt::Display,
        what: &str,
        device: &Device,
    ) -> Result<()> {
        match *device == self.device {
            true => Ok(()),
            false => {
                let (found, own) = (device.short_name(), self.device.short_name());
                Err(self.refused(operation, format!("{what} is on {found}, but this rank is on {own}")))
            }
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let Some(gpu) = &self.gpu {
            gpu.close();
        }
        self.world.leave(self.rank);
    }
}

impl fmt::Debug for Communicator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Member { rank, world_size, device, .. } = &*self.member;
        write!(formatter, "Communicator of rank {rank} of {world_size} on {}", device.short_name())
    }
}
