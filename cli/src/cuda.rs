//! The seam to the CUDA executor: a device that is opened, a kernel that is prepared, a product that runs on it.

use crate::{args::On, failure::Failure};
use falchion::{
    arch::ArchKind,
    bench::{Line, SuiteProblem},
    desc::GemmDesc,
    device::HostProduct,
};

/// A GPU that answers.
#[derive(Clone, Debug)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its compute capability, major times 10 plus minor.
    pub sm: u32,
    /// The newest architecture tag that it has the instructions of.
    pub newest: ArchKind,
}

/// A kernel that is compiled and loaded.
#[derive(Clone, Debug)]
pub struct Kernel {}

/// Opens a device: the driver, NVRTC and the device are there.
pub fn open(_ordinal: usize) -> Result<Device, Failure> {
    Err(absent())
}

impl Device {
    /// Compiles and loads the kernel of a description.
    pub fn prepare(&self, _desc: &GemmDesc) -> Result<Kernel, Failure> {
        Err(absent())
    }

    /// Measures problems beside a peer; `measured` hears of each line as it comes.
    pub fn measure(
        &self,
        _suite: &str,
        _problems: &[SuiteProblem],
        _peers: &[String],
        _measured: &mut dyn FnMut(Line) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        Err(absent())
    }
}

impl Kernel {
    /// Computes D of a product in host memory: copies there, one launch, and back. Returns the launch's seconds.
    pub fn run(&self, _product: &mut HostProduct) -> Result<f64, Failure> {
        Err(absent())
    }
}

/// Where cubins are kept, and that they can be.
pub fn cache() -> Result<String, Failure> {
    Err(absent())
}

/// The compiler that was found: its version and its file.
pub fn nvrtc() -> Result<String, Failure> {
    Err(absent())
}

/// The driver that was found: its version.
pub fn driver() -> Result<String, Failure> {
    Err(absent())
}

fn absent() -> Failure {
    Failure::refused("this build has no CUDA executor")
}

/// Where a product is computed.
#[derive(Clone, Debug)]
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

    /// The architecture of kernels here, when none is asked for.
    pub fn arch(&self) -> ArchKind {
        match self {
            Self::Host => ArchKind::Sm80,
            Self::Cuda(device) => device.newest,
        }
    }
}
