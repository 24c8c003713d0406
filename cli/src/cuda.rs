//! GEMMs and transposes on a device, and checks of the libraries that they need.

use crate::{
    args::{NamedMachine, On},
    failure::Failure,
    interrupt, print,
};
use falchion::cudarc::driver::CudaStream;
use falchion::{
    Error,
    arch::{ArchKind, Machine},
    cuda::{
        CudaKernel, CudaPass,
        cache::{Cache, CacheDir},
        machine_of,
    },
    internals::{
        nest::Target,
        operand::{
            PassDesc,
            transpose::{Choice, TransposeDesc},
        },
        sys::{driver, nvrtc::Nvrtc},
    },
    nest::GemmDesc,
    numeric::ElementKind,
};
use falchion_lab::{
    bench::{
        EventTimer, Line, Session, Settings, SuiteProblem,
        measure::{Bench, PeerLibrary, Run},
        transpose::SuiteTranspose,
    },
    explore::device::Gpu,
    gpus::GPUS,
    ladder::{
        Climb, TransposeClimb,
        measure::{climb, climb_transposes},
    },
    owned::{HostProduct, ResidentArray, resident::Resident},
    sys::timing,
};
use std::sync::Arc;

/// An open device with a loaded driver and NVRTC.
pub struct Device {
    stream: Arc<CudaStream>,
    /// Name of the device.
    pub name: String,
    /// Compute capability: 10 * major + minor.
    pub sm: u32,
    /// Newest architecture whose instructions the device supports.
    pub newest: ArchKind,
    /// Limits of the device.
    pub machine: Machine,
}

/// A compiled and loaded kernel.
pub struct Kernel {
    stream: Arc<CudaStream>,
    kernel: CudaKernel,
}

/// Opens a device. The error names a missing driver, NVRTC, or device.
pub fn open(ordinal: usize) -> Result<Device, Failure> {
    let context = falchion::cuda::open(ordinal)?;
    Nvrtc::get()?;
    let machine = machine_of(&context)?;
    let newest = ArchKind::newest_of(machine.sm).ok_or_else(|| {
        Failure::refused(format!(
            "the device is sm_{}, but Falchion needs sm_70 or newer",
            machine.sm
        ))
    })?;
    let stream = context.new_stream().map_err(driver::driver("cuStreamCreate"))?;
    let name = context.name().map_err(driver::driver("cuDeviceGetName"))?;
    Ok(Device { stream, name, sm: machine.sm, newest, machine })
}

impl Device {
    /// Compiles and loads the kernel of a description.
    pub fn prepare(&self, desc: &GemmDesc) -> Result<Kernel, Failure> {
        let kernel = CudaKernel::prepare(self.stream.context(), desc)?;
        Ok(Kernel { stream: self.stream.clone(), kernel })
    }

    /// Verifies the ladder, and measures it relative to cuBLASLt. Calls `reached` with the number
    /// of each finished rung.
    pub fn climb(&self, size: usize, reached: &mut dyn FnMut(usize)) -> Result<Climb, Failure> {
        let bench = Bench::new(&self.stream, &PeerLibrary::Found)?;
        let at = (size, &falchion_lab::ladder::Machine::H200, self.name.as_str());
        self.timed(|session| climb(self.stream.context(), &bench, session, at, reached))
    }

    /// Verifies the ladder of transposes, and measures it relative to a copy.
    pub fn climb_transposes(
        &self,
        extents: (usize, usize),
        kind: ElementKind,
        reached: &mut dyn FnMut(usize),
    ) -> Result<TransposeClimb, Failure> {
        let bench = Bench::new(&self.stream, &PeerLibrary::None)?;
        self.timed(|session| {
            climb_transposes(&bench, session, (extents, kind, self.name.as_str()), reached)
        })
    }

    /// Opens the device for trials.
    pub fn trials(&self, with_peer: bool) -> Result<Gpu, Failure> {
        Ok(Gpu::new(&self.stream, with_peer)?)
    }

    /// Runs `work` with a timing session on this device.
    pub fn timed<T>(
        &self,
        work: impl FnOnce(&mut Session<'_>) -> Result<T, falchion_lab::Error>,
    ) -> Result<T, Failure> {
        let mut timer = EventTimer::new(&self.stream)?;
        Ok(work(&mut Session::new(&mut timer, Settings::default()))?)
    }

    /// Measures problems relative to a peer. Calls `measured` with each result.
    pub fn measure(
        &self,
        problems: &[SuiteProblem],
        run: &Run,
        measured: &mut dyn FnMut(Line) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let bench = Bench::new(&self.stream, &run.peer)?;
        self.each(problems, run, |session, problem| measured(bench.measure(session, problem, run)?))
    }

    /// Measures transposes relative to a peer. Calls `measured` with each result.
    pub fn measure_transposes(
        &self,
        problems: &[SuiteTranspose],
        run: &Run,
        measured: &mut dyn FnMut(Line<SuiteTranspose>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let bench = Bench::new(&self.stream, &PeerLibrary::None)?;
        self.each(problems, run, |session, problem| {
            measured(bench.measure_transpose(session, problem, run)?)
        })
    }

    /// Runs `work` for each problem in one timing session.
    fn each<P>(
        &self,
        problems: &[P],
        run: &Run,
        mut work: impl FnMut(&mut Session<'_>, &P) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut timer = EventTimer::new(&self.stream)?;
        let defaults = Settings::default();
        let seconds = run.seconds.unwrap_or(defaults.seconds);
        let mut session = Session::new(&mut timer, Settings { seconds, ..defaults });
        problems.iter().try_for_each(|problem| work(&mut session, problem))
    }
}

impl Kernel {
    /// Computes D of a GEMM in host memory: copies the operands to the device, launches twice, and
    /// copies D back. Returns the seconds of the second launch.
    pub fn run(&self, product: &mut HostProduct) -> Result<f64, Failure> {
        let problem = product.problem();
        let (offsets, lists) = (product.offsets().map(<[u32]>::to_vec), product.lists().clone());
        if product.is_array() {
            let calls = problem.with(product.matrices()?).each()?;
            let mut resident = ResidentArray::new(&self.stream, &calls)?;
            let seconds = second_launch_seconds(&self.stream, || resident.run(&self.kernel))?;
            resident.download(calls)?;
            return Ok(seconds);
        }
        let matrices = product.matrices()?;
        let mut resident = Resident::new(&self.stream, &matrices)?;
        if let Some(offsets) = offsets {
            resident = resident.with_groups(offsets);
        }
        resident = resident.with_lists(lists);
        let seconds =
            second_launch_seconds(&self.stream, || resident.run(&self.kernel, &problem, [0; 4]))?;
        resident.download_results(&matrices.operands)?;
        resident.download(matrices.d)?;
        Ok(seconds)
    }
}

/// Seconds of the second of two launches. The first launch loads the module, and compiles a kernel
/// with narrower accesses if the operands need one.
fn second_launch_seconds(
    stream: &Arc<CudaStream>,
    mut launch: impl FnMut() -> Result<(), Error>,
) -> Result<f64, Failure> {
    launch()?;
    Ok(timing::Stopwatch::new(stream)?.time(launch)? * 1e-6)
}

/// A compiled and loaded transpose kernel.
pub struct TransposeKernel(Arc<CudaStream>);

impl Device {
    /// Compiles and loads a transpose kernel.
    pub fn prepare_transpose(&self, desc: &TransposeDesc) -> Result<TransposeKernel, Failure> {
        CudaPass::prepare(self.stream.context(), &PassDesc::Transpose(*desc))?;
        Ok(TransposeKernel(self.stream.clone()))
    }
}

impl TransposeKernel {
    /// Computes D of a transpose in host memory, like [`Kernel::run`] for a GEMM.
    pub fn run(&self, choice: Choice, transpose: &mut HostProduct) -> Result<f64, Failure> {
        let problem = transpose.problem();
        let matrices = transpose.matrices()?;
        let mut resident = Resident::new(&self.0, &matrices)?;
        let seconds =
            second_launch_seconds(&self.0, || resident.transpose(choice, &problem, [0; 4]))?;
        resident.download(matrices.d)?;
        Ok(seconds)
    }
}

/// Folder of the kernel cache. A folder that is not writable is an error.
pub fn cache() -> Result<String, Error> {
    let dir = Cache::global().dir();
    dir.check()?;
    Ok(match dir {
        CacheDir::Off => "off: every process compiles its kernels".to_owned(),
        CacheDir::At(path) => print::path(path),
    })
}

/// Refuses `--compile` without a kernel cache, which is its only output.
pub fn cache_to_fill() -> Result<(), Failure> {
    // The handler turns the signal of a file beyond `ulimit -f` into a write error.
    interrupt::watch();
    let dir = Cache::global().dir();
    if *dir == CacheDir::Off {
        return Err(Failure::refused(
            "--compile needs a kernel cache; set FALCHION_CACHE_DIR to a folder",
        ));
    }
    Ok(dir.check()?)
}

/// Refuses a run of `--compile` that could not write a kernel to the cache. `unwritten` is the
/// reason.
pub fn cache_written(unwritten: Option<&str>) -> Result<(), Failure> {
    unwritten.map_or(Ok(()), |because| {
        Err(Failure::refused(format!(
            "--compile stopped, because it could not write a kernel to the cache: {because}"
        )))
    })
}

/// Version and path of NVRTC.
pub fn nvrtc() -> Result<String, Error> {
    let nvrtc = Nvrtc::get()?;
    let (major, minor) = nvrtc.version();
    Ok(format!("{major}.{minor}, {}", print::path(nvrtc.path())))
}

/// Newest CUDA version that the driver supports.
pub fn driver() -> Result<String, Error> {
    let (major, minor) = driver::version()?;
    Ok(format!("libcuda, CUDA {major}.{minor}"))
}

/// Device of a computation: the CPU or a GPU.
pub enum Place {
    /// The CPU.
    Host,
    /// An open device.
    Cuda(Device),
}

impl Place {
    /// Opens the place that `--on` selects.
    pub fn open(on: On) -> Result<Self, Failure> {
        match on {
            On::Host => Ok(Self::Host),
            On::Cuda => open(0).map(Self::Cuda),
            On::Auto => Ok(open(0).map_or(Self::Host, Self::Cuda)),
        }
    }

    /// Opens the place of a run. Checked runs need the host.
    pub fn open_for_run(on: On, checked: bool) -> Result<Self, Failure> {
        match (checked, on) {
            (true, On::Cuda) => Err(Failure::refused(
                "--checked needs the host executor; use --on host, or remove --checked",
            )),
            (true, _) => Ok(Self::Host),
            (false, on) => Self::open(on),
        }
    }

    /// Prepares the kernel on a device. Returns `None` on the host, or if the GPU fails without
    /// `--on cuda`.
    pub fn kernel<K>(
        &self,
        on: On,
        prepare: impl FnOnce(&Device) -> Result<K, Failure>,
    ) -> Result<Option<K>, Failure> {
        match self {
            Self::Host => Ok(None),
            Self::Cuda(device) if on == On::Cuda => prepare(device).map(Some),
            Self::Cuda(device) => Ok(prepare(device).ok()),
        }
    }

    /// The machine that `--explain` describes by default.
    pub fn gpu(&self) -> NamedMachine {
        match self {
            // The host supports the newest instructions, so the newest GPU supplies the limits.
            Self::Host => GPUS[0],
            Self::Cuda(device) => ("this GPU", device.machine),
        }
    }

    /// The target of requests.
    pub fn target(&self) -> Target {
        match self {
            // The host supports every instruction.
            Self::Host => Target::Host(ArchKind::Sm90),
            Self::Cuda(device) => Target::Gpu(device.newest),
        }
    }
}
