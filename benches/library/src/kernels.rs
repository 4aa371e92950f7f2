//! Kernels that are launched by their names.

use cuda_tiles_host::{Grid, Launch, Stream};
use cuda_tiles_kernels::lessons::products;
use cuda_tiles_kernels::{softmax, vector};

use crate::Result;
use crate::array::Array;

/// Launches a product of the lessons, in wide tiles where the device supports them, on as many blocks as run at once.
macro_rules! launch_streamed {
    ($kernel:ident, $stream:ident, $arguments:ident) => {
        let (device, wide) = ($stream.device(), products::$kernel::<256>());
        let blocks = device.multiprocessors();
        if device.supports(wide.description())? {
            wide.launch_on($stream, blocks, $arguments)?;
        } else {
            products::$kernel::<128>().launch_on($stream, blocks, $arguments)?;
        }
    };
}

/// Launches the kernel of this name.
///
/// # Safety
/// The arrays lie on the stream's device, and the kernel may use them in the order of the stream.
pub(crate) unsafe fn launch(name: &str, stream: &Stream, arrays: &[Array]) -> Result<()> {
    match (name, arrays) {
        ("add_f32_4096", [x, y, z]) => {
            let grid = Grid::cover([z.extent(0)], [4096]);
            // SAFETY: the caller vouches for the arrays, each of which becomes the kernel's argument.
            let (x, y, mut z) = unsafe { (x.lend(stream)?, y.lend(stream)?, z.lend(stream)?) };
            let arguments = (x.view::<1>()?, y.view::<1>()?, z.view_mut::<1>()?);
            vector::add::<f32, 4096>().launch_on(stream, grid, arguments)?;
        }
        ("softmax_8192", [x, y]) => {
            let rows = y.extent(0) as u32;
            // SAFETY: as above.
            let (x, mut y) = unsafe { (x.lend(stream)?, y.lend(stream)?) };
            softmax::softmax::<8192>().launch_on(stream, rows, (x.view::<2>()?, y.view_mut::<2>()?))?;
        }
        ("gemm_loads", [a, b, c]) => {
            let grid = Grid::cover([c.extent(0), c.extent(1)], [128, 128]);
            // SAFETY: as above.
            let (a, b, mut c) = unsafe { (a.lend(stream)?, b.lend(stream)?, c.lend(stream)?) };
            let arguments = (a.view::<2>()?, b.view::<2>()?, c.view_mut::<2>()?);
            products::gemm_loads.launch_on(stream, grid, arguments)?;
        }
        ("gemm_streamed", [a, b, c]) => {
            // SAFETY: as above.
            let (a, b, mut c) = unsafe { (a.lend(stream)?, b.lend(stream)?, c.lend(stream)?) };
            let arguments = (a.view::<2>()?, b.view::<2>()?, c.view_mut::<2>()?);
            launch_streamed!(gemm_streamed, stream, arguments);
        }
        ("gemm_streamed_gelu", [a, b, bias, c]) => {
            // SAFETY: as above.
            let (a, b, bias) = unsafe { (a.lend(stream)?, b.lend(stream)?, bias.lend(stream)?) };
            // SAFETY: as above.
            let mut c = unsafe { c.lend(stream)? };
            let arguments = (a.view::<2>()?, b.view::<2>()?, bias.view::<1>()?, c.view_mut::<2>()?);
            launch_streamed!(gemm_streamed_gelu, stream, arguments);
        }
        _ => return Err(format!("there is no kernel `{name}` of {} arrays", arrays.len()).into()),
    }
    Ok(())
}
