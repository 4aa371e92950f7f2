//! Memory, streams, events, loading and launching on a real GPU. Without one the tests say so and do nothing.

mod kernels;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cuda_tiles::launch::{Description, Kernel};
use cuda_tiles_host::{
    Artifact, Code, Device, Error, Grid, Launch, PinnedBuffer, Tensor, TensorView, Timer, workspace,
};
use kernels::{DELAY, DELAYED_COPY, INCREMENT, KERNELS, LEN, description, entry, filled, gpu, grid, image};

#[test]
fn a_launch_computes() {
    let Some(device) = gpu() else { return };
    let mut x = filled(&device, 1.5);
    INCREMENT.launch(&device, grid(), (&mut x,)).unwrap();
    INCREMENT.launch(&device, grid(), (x.view_mut().slice(0, 10..20).unwrap(),)).unwrap();
    let x = x.to_vec().unwrap();
    assert!(x.iter().enumerate().all(|(i, &x)| x == if (10..20).contains(&i) { 3.5 } else { 2.5 }), "{x:?}");
}

#[test]
fn the_device_tells_its_properties() {
    let Some(device) = gpu() else { return };
    assert!(device.capability().unwrap() >= (7, 0));
    assert!(device.multiprocessors() > 0);
    assert!(device.shared_memory_limit().unwrap() >= 48 * 1024);
    let (free, total) = device.memory().unwrap().unwrap();
    assert!(0 < free && free <= total);
    assert!(device.to_string().starts_with("GPU 0 (NVIDIA"), "{device}");
    assert_eq!(device, Device::gpu(0).unwrap());
    assert!(matches!(Device::gpu(1000), Err(Error::NoSuchGpu { ordinal: 1000, .. })));
}

/// Tests that take much of the pool's memory, one at a time.
static MUCH_MEMORY: Mutex<()> = Mutex::new(());

#[test]
fn the_pool_keeps_what_it_is_told_to() {
    let _alone = MUCH_MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(device) = gpu() else { return };
    let Some(before) = device.pool().unwrap() else { return };
    device.set_release_threshold(u64::MAX).unwrap();
    const BYTES: usize = 64 << 20;
    let x = Tensor::<u8, 1>::zeros(&device, [BYTES]).unwrap();
    let with = device.pool().unwrap().unwrap();
    assert_eq!(with.release_threshold, u64::MAX);
    // Other tests have tensors too, of a few kilobytes.
    assert!(
        with.used >= BYTES as u64 && with.most_used >= with.used && with.reserved >= with.used,
        "{with:?}"
    );
    drop(x);
    device.synchronize().unwrap();
    assert!(device.pool().unwrap().unwrap().reserved >= BYTES as u64);
    device.set_release_threshold(before.release_threshold).unwrap();
    device.trim_pool(0).unwrap();
    let after = device.pool().unwrap().unwrap();
    assert!(after.reserved < with.reserved, "{after:?}, and was {with:?}");
}

#[test]
fn launches_are_timed_by_the_gpu() {
    let _alone = MUCH_MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(device) = gpu() else { return };
    let stream = device.stream().unwrap();
    let mut x = filled(&device, 0.0);
    for cold in [false, true] {
        let timer = Timer::new().samples(3).cold(cold);
        let timing = timer.measure(&stream, || INCREMENT.launch_on(&stream, grid(), (&mut x,))).unwrap();
        // Kernels of other tests run at the same time, some of them for a second.
        assert!(!timing.median.is_zero() && timing.median < Duration::from_secs(5), "{timing}");
    }
    // An H200 copies 4.3 TB/s; no GPU copies less than 10 GB/s, nor more than 100 TB/s.
    let rate = Timer::new().samples(3).copy_rate(&device).unwrap();
    assert!((1e10..1e14).contains(&rate), "{rate}");
}

#[test]
fn a_writer_on_another_stream_is_waited_for() {
    let Some(device) = gpu() else { return };
    let (slow, fast) = (device.stream().unwrap(), device.stream().unwrap());
    let (x, mut y) = (filled(&device, 7.0), filled(&device, 0.0));
    DELAYED_COPY.launch_on(&slow, grid(), (&x, &mut y, DELAY)).unwrap();
    INCREMENT.launch_on(&fast, grid(), (&mut y,)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [8.0; LEN]);
}

#[test]
fn a_writer_waits_for_all_readers() {
    let Some(device) = gpu() else { return };
    let streams = [device.stream().unwrap(), device.stream().unwrap(), device.stream().unwrap()];
    let (mut x, mut slow, mut fast) = (filled(&device, 7.0), filled(&device, 0.0), filled(&device, 0.0));
    DELAYED_COPY.launch_on(&streams[0], grid(), (&x, &mut slow, DELAY)).unwrap();
    DELAYED_COPY.launch_on(&streams[1], grid(), (&x, &mut fast, 0)).unwrap();
    INCREMENT.launch_on(&streams[2], grid(), (&mut x,)).unwrap();
    assert_eq!(slow.to_vec().unwrap(), [7.0; LEN]);
    assert_eq!(fast.to_vec().unwrap(), [7.0; LEN]);
    assert_eq!(x.to_vec().unwrap(), [8.0; LEN]);
}

#[test]
fn memory_in_use_is_not_given_to_others() {
    let Some(device) = gpu() else { return };
    let stream = device.stream().unwrap();
    let mut y = filled(&device, 0.0);
    let x = filled(&device, 7.0);
    DELAYED_COPY.launch_on(&stream, grid(), (&x, &mut y, DELAY)).unwrap();
    drop(x);
    let others: Vec<_> = (0..16).map(|_| Tensor::<f32, 1>::poisoned(&device, [LEN]).unwrap()).collect();
    assert_eq!(y.to_vec().unwrap(), [7.0; LEN]);
    drop(others);
}

#[test]
fn pinned_copies_are_in_order() {
    let Some(device) = gpu() else { return };
    let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
    let mut input = PinnedBuffer::from_slice(&device, &[3.0_f32; LEN]).unwrap();
    let mut output = PinnedBuffer::<f32>::zeros(&device, LEN).unwrap();
    let (mut x, mut y) = (filled(&device, 0.0), filled(&device, 0.0));

    x.copy_from_pinned(&first, &input).unwrap();
    DELAYED_COPY.launch_on(&first, grid(), (&x, &mut y, DELAY)).unwrap();
    y.copy_to_pinned(&second, &mut output).unwrap();
    input.as_mut_slice().unwrap().fill(4.0);
    assert_eq!(output.as_slice().unwrap(), [3.0; LEN]);
    assert_eq!(x.to_vec().unwrap(), [3.0; LEN]);
    x.copy_from_pinned(&second, &input).unwrap();
    assert_eq!(x.to_vec().unwrap(), [4.0; LEN]);
}

#[test]
fn events_measure_and_order() {
    let Some(device) = gpu() else { return };
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let (x, mut y) = (filled(&device, 1.0), filled(&device, 0.0));
    let start = stream.record_event().unwrap();
    DELAYED_COPY.launch_on(&stream, grid(), (&x, &mut y, DELAY)).unwrap();
    let end = stream.record_event().unwrap();
    other.wait(&end).unwrap();
    other.synchronize().unwrap();
    let elapsed = end.elapsed_since(&start).unwrap();
    assert!((Duration::from_nanos(DELAY)..Duration::from_secs(1)).contains(&elapsed), "{elapsed:?}");
    let of_cpu = Device::cpu().stream().unwrap().record_event().unwrap();
    assert!(matches!(end.elapsed_since(&of_cpu), Err(Error::WrongDevice { .. })));
}

#[test]
fn tensors_of_another_device_are_refused() {
    let Some(device) = gpu() else { return };
    let mut x = filled(&Device::cpu(), 1.0);
    let message = INCREMENT.launch(&device, grid(), (&mut x,)).unwrap_err().to_string();
    assert!(
        message.starts_with("kernel `increment`, argument 1 (`x`): the tensor is on the CPU, but"),
        "{message}"
    );
    let message =
        INCREMENT.launch(&Device::cpu(), grid(), (&mut filled(&device, 1.0),)).unwrap_err().to_string();
    assert!(message.contains("the tensor is on GPU 0 (NVIDIA"), "{message}");
}

#[test]
fn empty_tensors_and_grids_launch_nothing() {
    let Some(device) = gpu() else { return };
    let mut x = Tensor::<f32, 1>::zeros(&device, [0]).unwrap();
    INCREMENT.launch(&device, Grid::cover([0], [128]), (&mut x,)).unwrap();
    INCREMENT.launch(&device, 1, (&mut x,)).unwrap();
    assert!(x.to_vec().unwrap().is_empty());
    assert!(x.view().to_vec().unwrap().is_empty());
}

#[test]
fn what_cannot_be_compiled_says_why_when_it_is_launched() {
    // SAFETY: nobody compiles it.
    static BROKEN: Artifact = unsafe {
        Artifact::new(
            "broken",
            &[image(
                ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry bogus() { bogus.u32; ret; }\n",
                &[entry("bogus")],
            )],
            None,
        )
    };
    // SAFETY: as above.
    static FUTURE: Artifact = unsafe {
        Artifact::new(
            "future",
            &[image(
                ".version 99.0\n.target sm_70\n.address_size 64\n.visible .entry later() { ret; }\n",
                &[entry("later")],
            )],
            None,
        )
    };
    // SAFETY: the entry of this name is never compiled.
    static BOGUS: Kernel<()> = unsafe { Kernel::new(description("bogus", &[]), |_, _| ()) };
    // SAFETY: as above.
    static LATER: Kernel<()> = unsafe { Kernel::new(description("later", &[]), |_, _| ()) };
    let Some(device) = gpu() else { return };
    device.load(&BROKEN).unwrap();
    device.load(&FUTURE).unwrap();
    for _ in 0..2 {
        let message = BOGUS.launch(&device, 1, ()).unwrap_err().to_string();
        assert!(
            message.starts_with("the driver could not compile kernel `bogus` of `broken` (sm_70)"),
            "{message}"
        );
        assert!(message.contains("instruction: 'bogus'"), "the compiler's own words are missing: {message}");
    }
    let message = LATER.launch(&device, 1, ()).unwrap_err().to_string();
    assert!(
        message.starts_with(
            "the NVIDIA driver is too old for kernel `later` of `future`: the code is PTX ISA 99.0"
        ),
        "{message}"
    );
    // Both stand in nobody else's way.
    let mut told = 0;
    device.warm_up(&KERNELS, |_| told += 1).unwrap();
    assert_eq!(told, 1, "it is one module");
    assert!(device.warm_up(&BROKEN, |_| ()).is_err());
    assert!(device.warm_up_kernels(&[INCREMENT.description(), LATER.description()], |_| ()).is_err());
    let code = device.code_of(INCREMENT.description()).unwrap();
    assert_eq!(code, Some(Code::Ptx { reason: "the image is one text of PTX".to_owned() }));
}

#[test]
fn threads_may_launch_a_kernel_first_at_the_same_time() {
    let Some(device) = gpu() else { return };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut x = Tensor::full(&device, [256], 1.0_f32).unwrap();
                INCREMENT.launch(&device, 2, (&mut x,)).unwrap();
                assert_eq!(x.to_vec().unwrap(), [2.0; 256]);
            });
        }
    });
}

#[test]
fn scratch_memory_stays_on_its_gpu() {
    let Some(first) = gpu() else { return };
    let Ok(second) = Device::gpu(1) else {
        eprintln!("skipped: there is one GPU");
        return;
    };
    second.load(&KERNELS).unwrap();
    for device in [&first, &second, &first] {
        // Default streams of all GPUs have the same handle; a launch refuses memory of another GPU.
        let stream = device.default_stream();
        workspace(&stream, [100], |mut view| {
            view.copy_from_slice(&[1.0; 100])?;
            INCREMENT.launch_on(&stream, 1, (view.reborrow(),))?;
            assert_eq!(view.as_view().to_vec()?, [2.0; 100]);
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn kernels_are_found_by_path() {
    // SAFETY: the entries do what the kernels of the same names declare.
    static ABSENT: Kernel<()> = unsafe { Kernel::new(description("absent", &[]), |_, _| ()) };
    // SAFETY: the entries do what the kernels of the same names declare.
    static TWICE: Kernel<()> = unsafe { Kernel::new(description("twice", &[]), |_, _| ()) };
    const TWICE_PTX: &str =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry twice() { ret; }\n";
    // SAFETY: the entries do what the kernels of the same names declare.
    static FIRST: Artifact = unsafe { Artifact::new("first", &[image(TWICE_PTX, &[entry("twice")])], None) };
    // SAFETY: the entries do what the kernels of the same names declare.
    static SECOND: Artifact =
        unsafe { Artifact::new("second", &[image(TWICE_PTX, &[entry("twice")])], None) };
    let Some(device) = gpu() else { return };
    device.load(&KERNELS).unwrap();
    let message = ABSENT.launch(&device, 1, ()).unwrap_err().to_string();
    assert!(
        message.starts_with("kernel `absent` (`absent`) is in none of the artifacts loaded on GPU 0"),
        "{message}"
    );
    assert!(message.contains("`tests`"), "{message}");
    device.load(&FIRST).unwrap();
    TWICE.launch(&device, 1, ()).unwrap();
    device.load(&SECOND).unwrap();
    let message = TWICE.launch(&device, 1, ()).unwrap_err().to_string();
    assert!(message.contains("`first`, `second`"), "{message}");
}

#[test]
fn shared_memory_is_asked_for_and_limited() {
    const fn wants(name: &'static str, shared_bytes: u32) -> Kernel<()> {
        // SAFETY: the entries do what the kernels of the same names declare.
        unsafe {
            Kernel::new(Description { shared_bytes: [shared_bytes; 3], ..description(name, &[]) }, |_, _| ())
        }
    }
    static LARGE: Kernel<()> = wants("large", 64 * 1024);
    static TOO_LARGE: Kernel<()> = wants("too_large", 1 << 30);
    // SAFETY: the entries do what the kernels of the same names declare.
    static SIZES: Artifact = unsafe {
        Artifact::new(
            "sizes",
            &[image(
                ".version 7.0\n.target sm_70\n.address_size 64\n.extern .shared .align 16 .b8 memory[];\n\
             .visible .entry large() { .reg .b32 %r; mov.u32 %r, 1; st.shared.u32 [memory+65532], %r; ret; }\n\
             .visible .entry too_large() { ret; }\n",
                &[entry("large"), entry("too_large")],
            )],
            None,
        )
    };
    let Some(device) = gpu() else { return };
    device.load(&SIZES).unwrap();
    LARGE.launch(&device, 1, ()).unwrap();
    device.synchronize().unwrap();
    let message = TOO_LARGE.launch(&device, 1, ()).unwrap_err().to_string();
    assert!(message.contains("needs 1073741824 bytes of shared memory a block, but GPU 0"), "{message}");
}

#[test]
fn strided_views_read_and_write_their_elements_only() {
    let Some(device) = gpu() else { return };
    let mut x = Tensor::from_vec(&device, [3, 4], (0..12).collect::<Vec<i32>>()).unwrap();
    x.view_mut().slice(1, 1..3).unwrap().copy_from_slice(&[-1, -2, -3, -4, -5, -6]).unwrap();
    assert_eq!(x.to_vec().unwrap(), [0, -1, -2, 3, 4, -3, -4, 7, 8, -5, -6, 11]);
    let column = |view: TensorView<'_, i32, 2>| view.slice(1, 1..2).unwrap().to_vec().unwrap();
    assert_eq!(column(x.view()), [-1, -3, -5]);
    assert_eq!(x.view().transpose().to_vec().unwrap(), [0, 4, 8, -1, -3, -5, -2, -4, -6, 3, 7, 11]);
}

/// Two GPUs of which the first can use the memory of the second, and the other way round; `None`, and a line in the log, without them.
fn two_gpus() -> Option<[Device; 2]> {
    let first = gpu()?;
    if Device::gpu_count() < 2 {
        eprintln!("skipped: one GPU");
        return None;
    }
    let second = Device::gpu(1).unwrap();
    second.load(&KERNELS).unwrap();
    for (device, peer) in [(&first, &second), (&second, &first)] {
        if !device.can_access_peer(peer).unwrap() {
            assert!(matches!(device.enable_peer_access(peer), Err(Error::NoPeerAccess { .. })));
            eprintln!("skipped: {device} has no way to {peer}");
            return None;
        }
    }
    Some([first, second])
}

#[test]
fn kernels_use_tensors_of_another_gpu() {
    let Some([here, there]) = two_gpus() else { return };
    let mut x = filled(&there, 1.0);
    // No other test enables it.
    let error = INCREMENT.launch(&here, grid(), (&mut x,)).unwrap_err().to_string();
    assert!(error.contains("is on GPU 1") && error.contains("`Device::enable_peer_access`"), "{error}");
    here.enable_peer_access(&there).unwrap();
    here.enable_peer_access(&there).unwrap();

    // Each launch comes after the one before, whichever GPU that was on, and the streams are default ones too.
    let ones = filled(&there, 1.0);
    let streams =
        [here.default_stream(), there.stream().unwrap(), here.stream().unwrap(), there.default_stream()];
    for round in 0..3 {
        DELAYED_COPY.launch_on(&there.default_stream(), grid(), (&ones, &mut x, DELAY)).unwrap();
        for stream in &streams {
            INCREMENT.launch_on(stream, grid(), (&mut x,)).unwrap();
        }
        let mut y = filled(&here, 0.0);
        DELAYED_COPY.launch_on(&streams[2], grid(), (&x, &mut y, DELAY)).unwrap();
        // The kernel still reads it.
        let own = std::mem::replace(&mut x, filled(&there, -1.0));
        drop(own);
        assert_eq!(y.to_vec().unwrap(), [5.0; LEN], "round {round}");
    }
    // New memory of the pool is open too.
    let big = Tensor::full(&there, [64 << 20], 2.0_f32).unwrap();
    let mut y = filled(&here, 0.0);
    DELAYED_COPY.launch(&here, grid(), (big.view().slice(0, 0..LEN).unwrap(), &mut y, 0)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [2.0; LEN]);
}

#[test]
fn streams_of_two_gpus_wait_for_each_other() {
    let Some([here, there]) = two_gpus() else { return };
    let (source, mut slow) = (filled(&there, 3.0), filled(&there, 0.0));
    DELAYED_COPY.launch(&there, grid(), (&source, &mut slow, 10 * DELAY)).unwrap();
    let end = there.default_stream().record_event().unwrap();
    // The default stream of the one is not that of the other.
    here.default_stream().wait(&end).unwrap();
    here.default_stream().synchronize().unwrap();
    assert!(end.is_done().unwrap());
}

#[test]
fn tensors_are_copied_between_devices() {
    let Some(first) = gpu() else { return };
    let gpus: Vec<Device> = (0..Device::gpu_count()).map(|number| Device::gpu(number).unwrap()).collect();
    if gpus.len() < 2 {
        eprintln!("skipped: one GPU, between which and the CPU copies go");
    }
    let numbers: Vec<f32> = (0..LEN).map(|number| number as f32).collect();
    let mut tensor = Tensor::from_slice(&Device::cpu(), [LEN], &numbers).unwrap();
    let mut route = vec![Device::cpu(), first.clone(), first.clone()];
    route.extend(gpus.iter().cloned());
    route.extend(gpus.iter().rev().cloned());
    route.push(Device::cpu());
    for device in &route {
        tensor = tensor.copy_to(device).unwrap();
        assert_eq!(&tensor.device(), device);
        if device.is_gpu() {
            device.load(&KERNELS).unwrap();
            INCREMENT.launch_on(&device.stream().unwrap(), grid(), (&mut tensor,)).unwrap();
        }
    }
    let launches = route.iter().filter(|device| device.is_gpu()).count();
    let expected: Vec<f32> = numbers.iter().map(|number| number + launches as f32).collect();
    assert_eq!(tensor.to_vec().unwrap(), expected);

    let last = gpus.last().unwrap();
    let (mut there, here) = (filled(last, 0.0), filled(&first, 7.0));
    // The stream may be that of either.
    for stream in [first.default_stream(), last.default_stream(), first.stream().unwrap()] {
        there.fill(0.0).unwrap();
        let half = here.view().slice(0, 0..LEN / 2).unwrap();
        there.view_mut().slice(0, LEN / 2..LEN).unwrap().copy_from(&stream, half).unwrap();
        let (before, copied) = (vec![0.0; LEN / 2], vec![7.0; LEN / 2]);
        assert_eq!(there.to_vec().unwrap(), [before, copied].concat());
    }
    let host = Tensor::full(&Device::cpu(), [LEN], 1.0_f32).unwrap();
    let message = there.copy_from(&last.default_stream(), &host).unwrap_err().to_string();
    assert!(message.starts_with("the source of a copy is on the CPU, but the stream is on GPU"), "{message}");
    assert!(matches!(first.enable_peer_access(&Device::cpu()), Err(Error::NoPeerAccess { .. })));
    first.enable_peer_access(&first).unwrap();
}

/// Tensors from and to other libraries, which here are this one.
#[cfg(all(feature = "dlpack", feature = "cuda-array-interface"))]
mod exchange {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Instant;

    use cuda_tiles_host::cuda_array::CudaArrayInterface;
    use cuda_tiles_host::{ReadOnlyTensor, dlpack};

    use super::*;

    /// Says when it is dropped.
    struct Owner(Arc<AtomicBool>);

    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[test]
    fn an_owner_ends_behind_the_last_use_and_nobody_waits_for_it() {
        let Some(device) = gpu() else { return };
        let (slow, theirs) = (device.stream().unwrap(), device.stream().unwrap());
        let mut memory = filled(&device, 3.0);
        let mut y = filled(&device, 0.0);
        // The first launch brings code to the GPU, which takes time.
        DELAYED_COPY.launch_on(&slow, grid(), (&memory, &mut y, 0)).unwrap();
        let described = CudaArrayInterface::of_mut(&mut memory.view_mut(), &theirs).unwrap();
        assert_eq!(described.stream, Some(theirs.handle() as usize));
        let ended = Arc::new(AtomicBool::new(false));
        // SAFETY: `memory` has the elements, and is used again when `x` has ended.
        let x = unsafe { described.to_tensor::<f32, 1>(&device, Owner(Arc::clone(&ended))) }.unwrap();
        let start = Instant::now();
        DELAYED_COPY.launch_on(&slow, grid(), (&x, &mut y, 10 * DELAY)).unwrap();
        drop(x);
        // What other tests ask of the driver at the same time may hold up a call of this one until the kernel has ended.
        let has_ended = ended.load(Ordering::SeqCst);
        assert!(!has_ended || start.elapsed() >= Duration::from_nanos(10 * DELAY), "the kernel still reads");
        slow.synchronize().unwrap();
        let start = Instant::now();
        while !ended.load(Ordering::SeqCst) && start.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(ended.load(Ordering::SeqCst), "the kernel has long ended");
        assert_eq!(y.to_vec().unwrap(), [3.0; LEN]);
        // With nothing under way it ends at once.
        let ended = Arc::new(AtomicBool::new(false));
        // SAFETY: as above.
        drop(unsafe { described.to_tensor::<f32, 1>(&device, Owner(Arc::clone(&ended))) }.unwrap());
        assert!(ended.load(Ordering::SeqCst));
    }

    #[test]
    fn work_keeps_its_order_through_dlpack() {
        let Some(device) = gpu() else { return };
        let [slow, theirs, fast] = [(); 3].map(|()| device.stream().unwrap());
        let (x, mut y) = (filled(&device, 7.0), filled(&device, 0.0));
        DELAYED_COPY.launch_on(&slow, grid(), (&x, &mut y, DELAY)).unwrap();
        let managed = y.into_dlpack(&theirs).unwrap();
        assert_eq!((managed.device().device_type, managed.device().device_id), (2, 0));
        let mut y = Tensor::<f32, 1>::from_dlpack(managed, &theirs).unwrap();
        INCREMENT.launch_on(&fast, grid(), (&mut y,)).unwrap();
        let y = Arc::new(y);
        let part = dlpack::share(&y, |y| y.view().slice(0, 10..20), &theirs).unwrap();
        drop(y);
        let part = ReadOnlyTensor::<f32, 1>::from_dlpack(part, &theirs).unwrap();
        assert_eq!(part.to_vec().unwrap(), [8.0; 10]);
        let managed = filled(&device, 1.0).into_dlpack(&theirs).unwrap();
        let message = Tensor::<f32, 1>::from_dlpack(managed, &Device::cpu().default_stream()).unwrap_err();
        assert_eq!(message.to_string(), "the array is in memory of GPU 0, but the stream is one of the CPU");
    }
}
