//! What ranks do together.

use super::communicator::Communicator;
#[allow(unused_imports, reason = "for links in the documentation")]
use super::error::CollectiveError;
use super::error::Result;
use super::group::Group;
use super::{Reduce, Reduction, Transfer};
use crate::stream::Stream;
use crate::tensor::{TensorView, TensorViewMut};

/// # What all calls have in common
/// Tensors are those of the rank's device. Their elements lie one after the other: whole tensors, or slices along the first axis. Element
/// types, shapes and the reduction are the same on all ranks. Calls differ in nothing but the rank and the tensors.
///
/// A call is work on the stream, and a use of the tensors as a launch is. It cannot be captured into a graph. It returns when the stream
/// has the work; on the CPU when the work is done.
///
/// # Errors
/// [`CollectiveError::Argument`] if a tensor or the stream does not fit; nothing has happened then. [`CollectiveError::Failed`] if the
/// ranks do not come together. [`CollectiveError::Device`] if the device fails.
impl Communicator {
    /// Gives every rank the reduction of the tensors of all ranks.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use cuda_tiles_host::collectives::{Communicator, Reduction};
    /// use cuda_tiles_host::{Device, Tensor};
    ///
    /// let device = Device::cpu();
    /// let ranks = Communicator::all(&[device.clone()], Duration::from_secs(10))?; // one rank alone
    /// let x = Tensor::from_slice(&device, [2], &[1, 2])?;
    /// let mut sum = Tensor::zeros(&device, [2])?;
    /// ranks[0].all_reduce(&device.default_stream(), Reduction::Sum, &x, &mut sum)?;
    /// assert_eq!(sum.to_vec()?, [1, 2]);
    /// # Ok::<(), cuda_tiles_host::collectives::CollectiveError>(())
    /// ```
    ///
    /// # Errors
    /// See [above](#errors).
    #[doc(alias("ncclAllReduce"))]
    pub fn all_reduce<'tensors, T: Reduce, const RANK: usize>(
        &self,
        stream: &Stream,
        reduction: Reduction,
        source: impl Into<TensorView<'tensors, T, RANK>>,
        target: impl Into<TensorViewMut<'tensors, T, RANK>>,
    ) -> Result<()> {
        let mut group = Group::new();
        group.all_reduce(self, stream, reduction, source, target)?;
        group.run()
    }

    /// Replaces the tensor of every rank by the reduction of all.
    ///
    /// # Errors
    /// See [above](#errors).
    pub fn all_reduce_in_place<'tensors, T: Reduce, const RANK: usize>(
        &self,
        stream: &Stream,
        reduction: Reduction,
        tensor: impl Into<TensorViewMut<'tensors, T, RANK>>,
    ) -> Result<()> {
        let mut group = Group::new();
        group.all_reduce_in_place(self, stream, reduction, tensor)?;
        group.run()
    }

    /// Gives every rank the parts of all ranks, one behind the other in their order. Of N parts of shape `[a, b]` the whole has shape `[N *
    /// a, b]` or `[N, a, b]`.
    ///
    /// # Errors
    /// See [above](#errors).
    #[doc(alias("ncclAllGather"))]
    pub fn all_gather<'tensors, T: Transfer, const PART: usize, const WHOLE: usize>(
        &self,
        stream: &Stream,
        part: impl Into<TensorView<'tensors, T, PART>>,
        whole: impl Into<TensorViewMut<'tensors, T, WHOLE>>,
    ) -> Result<()> {
        let mut group = Group::new();
        group.all_gather(self, stream, part, whole)?;
        group.run()
    }

    /// As [`Communicator::all_gather`], where each rank's part is in its place in the whole already.
    ///
    /// # Errors
    /// See [above](#errors).
    pub fn all_gather_in_place<'tensors, T: Transfer, const RANK: usize>(
        &self,
        stream: &Stream,
        whole: impl Into<TensorViewMut<'tensors, T, RANK>>,
    ) -> Result<()> {
        let mut group = Group::new();
        group.all_gather_in_place(self, stream, whole)?;
        group.run()
    }

    /// Gives every rank its part of the reduction of the tensors of all ranks. The shapes are as for [`Communicator::all_gather`].
    ///
    /// # Errors
    /// See [above](#errors).
    #[doc(alias("ncclReduceScatter"))]
    pub fn reduce_scatter<'tensors, T: Reduce, const WHOLE: usize, const PART: usize>(
        &self,
        stream: &Stream,
        reduction: Reduction,
        whole: impl Into<TensorView<'tensors, T, WHOLE>>,
        part: impl Into<TensorViewMut<'tensors, T, PART>>,
    ) -> Result<()> {
        let mut group = Group::new();
        group.reduce_scatter(self, stream, reduction, whole, part)?;
        group.run()
    }

    /// As [`Communicator::reduce_scatter`], where the result replaces the rank's own part of its tensor. The other parts stay.
    ///
    /// # Errors
    /// See [above](#errors).
    pub fn reduce_scatter_in_place<'tensors, T: Reduce, const RANK: usize>(
        &self,
        stream: &Stream,
        reduction: Reduction,
        whole: impl Into<TensorViewMut<'tensors, T, RANK>>,
    ) -> Result<()> {
        let mut group = Group::new();
        group.reduce_scatter_in_place(self, stream, reduction, whole)?;
        group.run()
    }

    /// Replaces the tensor of every rank by that of the rank `root`.
    ///
    /// # Errors
    /// See [above](#errors).
    #[doc(alias("ncclBroadcast", "ncclBcast"))]
    pub fn broadcast<'tensors, T: Transfer, const RANK: usize>(
        &self,
        stream: &Stream,
        root: usize,
        tensor: impl Into<TensorViewMut<'tensors, T, RANK>>,
    ) -> Result<()> {
        let mut group = Group::new();
        group.broadcast(self, stream, root, tensor)?;
        group.run()
    }

    /// Sends the tensor to another rank, which calls [`Communicator::receive`] for as many elements.
    ///
    /// Messages between two ranks are received in the order in which they are sent. Two ranks that both send before they receive wait for
    /// each other: put both calls into a [`Group`].
    ///
    /// # Errors
    /// See [above](#errors).
    #[doc(alias("ncclSend"))]
    pub fn send<'tensors, T: Transfer, const RANK: usize>(
        &self,
        stream: &Stream,
        to: usize,
        tensor: impl Into<TensorView<'tensors, T, RANK>>,
    ) -> Result<()> {
        let mut group = Group::new();
        group.send(self, stream, to, tensor)?;
        group.run()
    }

    /// Replaces the tensor by what another rank sends.
    ///
    /// # Errors
    /// See [above](#errors).
    #[doc(alias("ncclRecv"))]
    pub fn receive<'tensors, T: Transfer, const RANK: usize>(
        &self,
        stream: &Stream,
        from: usize,
        tensor: impl Into<TensorViewMut<'tensors, T, RANK>>,
    ) -> Result<()> {
        let mut group = Group::new();
        group.receive(self, stream, from, tensor)?;
        group.run()
    }
}
