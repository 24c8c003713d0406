//! Products on a device, and what is there to compute them.

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
    desc::GemmDesc,
    internals::{
        family::Target,
        pass::{PassDesc, transpose::TransposeDesc},
        sys::{driver, nvrtc::Nvrtc},
    },
    numeric::ElementKind,
};
use falchion_lab::{
    bench::{
        EventTimer, Line, Session, Settings, SuiteProblem,
        measure::{Bench, PeerLibrary, Run},
        transpose::{SuiteTranspose, TransposeLine, measure::TransposeBench},
    },
    explore::device::Gpu,
    gpus::GPUS,
    ladder::{
        Climb, TransposeClimb,
        measure::{climb, climb_transposes},
    },
    owned::{HostProduct, HostTranspose, ResidentArray, resident::Resident},
    sys::timing,
};
use std::sync::Arc;

/// A GPU that answers, and NVRTC.
pub struct Device {
    stream: Arc<CudaStream>,
    /// Its name.
    pub name: String,
    /// Its compute capability, major times 10 plus minor.
    pub sm: u32,
    /// The newest architecture tag that it has the instructions of.
    pub newest: ArchKind,
    /// Its limits.
    pub machine: Machine,
}

/// A kernel that is compiled and loaded.
pub struct Kernel {
    stream: Arc<CudaStream>,
    kernel: CudaKernel,
}

/// Opens a device: the driver, NVRTC and the device are there.
pub fn open(ordinal: usize) -> Result<Device, Failure> {
    let context = falchion::cuda::open(ordinal)?;
    Nvrtc::get()?;
    let machine = machine_of(&context)?;
    let newest = ArchKind::newest_of(machine.sm).ok_or_else(|| {
        Failure::refused(format!("the device is sm_{}, and kernels begin at sm_70", machine.sm))
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

    /// Climbs the ladder beside cuBLASLt; `reached` hears of each rung's number as it is done.
    pub fn climb(&self, size: usize, reached: &mut dyn FnMut(usize)) -> Result<Climb, Failure> {
        let bench = Bench::new(&self.stream, &PeerLibrary::Found)?;
        let at = (size, &falchion_lab::ladder::Machine::H200, self.name.as_str());
        self.timed(|session| climb(self.stream.context(), &bench, session, at, reached))
    }

    /// Climbs the transposes' ladder beside a copy.
    pub fn climb_transposes(
        &self,
        extents: (usize, usize),
        kind: ElementKind,
        reached: &mut dyn FnMut(usize),
    ) -> Result<TransposeClimb, Failure> {
        let mut bench = TransposeBench::new(&self.stream, false)?;
        self.timed(|session| {
            climb_transposes(&mut bench, session, (extents, kind, self.name.as_str()), reached)
        })
    }

    /// Opens the device for trials.
    pub fn trials(&self, with_peer: bool) -> Result<Gpu, Failure> {
        Ok(Gpu::new(&self.stream, with_peer)?)
    }

    /// Does `work` on a clock of this device.
    pub fn timed<T>(
        &self,
        work: impl FnOnce(&mut Session<'_>) -> Result<T, falchion_lab::Error>,
    ) -> Result<T, Failure> {
        let mut timer = EventTimer::new(&self.stream)?;
        Ok(work(&mut Session::new(&mut timer, Settings::default()))?)
    }

    /// Measures problems beside a peer; `measured` hears of each line as it comes.
    pub fn measure(
        &self,
        problems: &[SuiteProblem],
        run: &Run,
        measured: &mut dyn FnMut(Line) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let bench = Bench::new(&self.stream, &run.peer)?;
        self.each(problems, run, |session, problem| measured(bench.measure(session, problem, run)?))
    }

    /// The same of transposes.
    pub fn measure_transposes(
        &self,
        problems: &[SuiteTranspose],
        run: &Run,
        measured: &mut dyn FnMut(TransposeLine) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut bench = TransposeBench::new(&self.stream, run.peer != PeerLibrary::None)?;
        self.each(problems, run, |session, problem| measured(bench.measure(session, problem, run)?))
    }

    /// Does `work` with each problem, on one clock of this device.
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
    /// Computes D of a product in host memory: copies there, two launches, the second of which is
    /// timed, and back. Returns its seconds.
    pub fn run(&self, product: &mut HostProduct) -> Result<f64, Failure> {
        let problem = product.problem();
        let offsets = product.offsets().map(<[u32]>::to_vec);
        if product.is_array() {
            let calls = problem.with(product.matrices()?).each()?;
            let mut resident = ResidentArray::new(&self.stream, &calls)?;
            let seconds = second(&self.stream, || resident.run(&self.kernel))?;
            resident.download(calls)?;
            return Ok(seconds);
        }
        let matrices = product.matrices()?;
        let mut resident = Resident::new(&self.stream, &matrices)?;
        if let Some(offsets) = offsets {
            resident = resident.with_groups(offsets);
        }
        let seconds = second(&self.stream, || resident.run(&self.kernel, &problem, [0; 4]))?;
        resident.download(matrices.d)?;
        Ok(seconds)
    }
}

/// The seconds of the second of two launches: the first loads the module, and compiles a kernel of
/// narrower accesses where the operands ask for one.
fn second(
    stream: &Arc<CudaStream>,
    mut launch: impl FnMut() -> Result<(), Error>,
) -> Result<f64, Failure> {
    launch()?;
    Ok(timing::Stopwatch::new(stream)?.time(launch)? * 1e-6)
}

/// A transpose's kernel that is compiled and loaded.
pub struct TransposeKernel(Arc<CudaStream>);

impl Device {
    /// Compiles and loads a transpose's kernel.
    pub fn prepare_transpose(&self, desc: &TransposeDesc) -> Result<TransposeKernel, Failure> {
        CudaPass::prepare(self.stream.context(), &PassDesc::Transpose(*desc))?;
        Ok(TransposeKernel(self.stream.clone()))
    }
}

impl TransposeKernel {
    /// Computes D of a transpose in host memory, as [`Kernel::run`] does of a product.
    pub fn run(&self, transpose: &mut HostTranspose) -> Result<f64, Failure> {
        let (choice, combine, problem) =
            (transpose.choice(), transpose.combine(), *transpose.problem());
        let call = transpose.call()?;
        let mut resident = Resident::of_transpose(&self.0, &call)?;
        let seconds = second(&self.0, || resident.transpose(choice, combine, &problem, [0; 3]))?;
        resident.download(call.d.memory)?;
        Ok(seconds)
    }
}

/// Where cubins are kept, and that they can be.
pub fn cache() -> Result<String, Error> {
    let dir = Cache::global().dir();
    dir.check()?;
    Ok(match dir {
        CacheDir::Off => "off: every process compiles for itself".to_owned(),
        CacheDir::At(path) => print::path(path),
    })
}

/// Whether cubins are kept: what compiles for another machine has no other purpose.
pub fn cache_to_fill() -> Result<(), Failure> {
    // A file beyond `ulimit -f` is then an error of the write, and no signal.
    interrupt::watch();
    let dir = Cache::global().dir();
    if *dir == CacheDir::Off {
        return Err(Failure::refused(
            "--compile fills the cache of kernels, and there is none; set FALCHION_CACHE_DIR to a folder",
        ));
    }
    Ok(dir.check()?)
}

/// Refuses a run of `--compile` that could not write a kernel to the cache, for this reason.
pub fn cache_written(unwritten: Option<&str>) -> Result<(), Failure> {
    unwritten.map_or(Ok(()), |because| {
        Err(Failure::refused(format!(
            "a kernel could not be written to the cache, and --compile stopped: {because}"
        )))
    })
}

/// The compiler that was found: its version and its file.
pub fn nvrtc() -> Result<String, Error> {
    let nvrtc = Nvrtc::get()?;
    let (major, minor) = nvrtc.version();
    Ok(format!("{major}.{minor}, {}", print::path(nvrtc.path())))
}

/// The driver that was found: the newest CUDA that it speaks.
pub fn driver() -> Result<String, Error> {
    let (major, minor) = driver::version()?;
    Ok(format!("libcuda, CUDA {major}.{minor}"))
}

/// Where a product is computed.
pub enum Place {
    /// On the CPU.
    Host,
    /// On a device.
    Cuda(Device),
}

impl Place {
    /// The place that was asked for.
    pub fn of(on: On) -> Result<Self, Failure> {
        match on {
            On::Host => Ok(Self::Host),
            On::Cuda => open(0).map(Self::Cuda),
            On::Auto => Ok(open(0).map_or(Self::Host, Self::Cuda)),
        }
    }

    /// The same of a run that may be checked, which only the host is.
    pub fn of_run(on: On, checked: bool) -> Result<Self, Failure> {
        match (checked, on) {
            (true, On::Cuda) => Err(Failure::refused(
                "--checked watches the host executor; take --on host, or leave one of them out",
            )),
            (true, _) => Ok(Self::Host),
            (false, on) => Self::of(on),
        }
    }

    /// The kernel that is prepared where this is a device. A GPU that was not insisted on may turn
    /// out not to work.
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

    /// The machine that is explained for, when none is asked for.
    pub fn gpu(&self) -> NamedMachine {
        match self {
            // As its instructions are the newest, its limits are those of the first name.
            Self::Host => GPUS[0],
            Self::Cuda(device) => ("this GPU", device.machine),
        }
    }

    /// What a request is resolved for here.
    pub fn target(&self) -> Target {
        match self {
            // The host has every instruction.
            Self::Host => Target::Host(ArchKind::Sm90),
            Self::Cuda(device) => Target::Gpu(device.newest),
        }
    }
}
