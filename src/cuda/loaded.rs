//! Compilation and loading of kernels, and the registry of the loaded kernels of the process.

use super::{
    cache::{Cache, Entry, Key},
    report::Report,
    target::CodeTarget,
};
use crate::{
    Error,
    codegen::{TensorGemmParams, TensorMap, TranslationUnit},
    refusal::Refusal,
    sys::{
        driver::{self, Kernels, driver},
        nvrtc::{Compiled, ImageKind, Nvrtc, Program},
        tensor_map::encode,
    },
    threadblock::{Launch, TmaTensor},
};
use cudarc::{
    driver::{CudaContext, CudaFunction, CudaStream, DriverError, sys},
    nvrtc::Ptx,
};
use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, LazyLock, PoisonError, RwLock},
};

/// Returns the program that NVRTC compiles for a unit.
fn program(unit: &TranslationUnit, target: CodeTarget) -> Program {
    Program {
        name: format!("{}.cu", unit.entry),
        source: unit.source.clone(),
        headers: unit
            .included()
            .into_iter()
            .map(|(name, text)| (name.to_owned(), text.to_owned().into()))
            .collect(),
        arch: target.name(),
        // The compiler must not contract products and sums to FMA. Kernels write each FMA
        // explicitly, so that the host computes the same bits.
        options: ["-default-device", "--fmad=false", "--ptxas-options=-v"]
            .map(str::to_owned)
            .to_vec(),
    }
}

/// Compiles a unit for a compute capability or another [`CodeTarget`], or finds it in `cache`.
/// Needs no device.
///
/// # Errors
/// [`Error::Library`] if NVRTC is missing. [`Error::Compile`] if NVRTC rejects the source. The
/// error names the user's epilogue node or transform that contains the first error.
pub fn compile(
    cache: &Cache,
    unit: &TranslationUnit,
    target: impl Into<CodeTarget>,
) -> Result<Arc<Entry>, Error> {
    let nvrtc = Nvrtc::get()?;
    let program = program(unit, target.into());
    let compiled = || -> Result<Compiled, Error> {
        #[cfg(feature = "tracing")]
        let _span = tracing::info_span!("compile", arch = %program.arch).entered();
        nvrtc.compile(&program).map_err(name_text)
    };
    cache.get_or_compile(&Key::new(&program, nvrtc.version()), compiled)
}

/// Compiles a unit as [`compile`] does, and checks that the cubin is in the cache's folder.
///
/// # Errors
/// The errors of [`compile`]. [`Error::Io`] if the cubin is not in the folder, for example on a
/// full disk.
pub fn compile_to_disk(
    cache: &Cache,
    unit: &TranslationUnit,
    target: impl Into<CodeTarget>,
) -> Result<Arc<Entry>, Error> {
    let target = target.into();
    let entry = compile(cache, unit, target)?;
    cache.check_on_disk(&Key::new(&program(unit, target), Nvrtc::get()?.version()))?;
    Ok(entry)
}

/// Adds the name of the user's epilogue node or transform that contains the first error.
fn name_text(error: Error) -> Error {
    match error {
        Error::Compile { log, .. } => {
            let first = log.lines().find(|line| line.contains("error"));
            let name = |kind: &str| {
                let (_, rest) = first?.split_once(kind)?;
                Some(rest.split_once('(')?.0.to_owned())
            };
            let (node, transform) = (name("epilogue node "), name("operand transform "));
            Error::Compile { log, node, transform }
        }
        other => other,
    }
}

/// Writes the encoded tensor maps of a launch to its parameters.
///
/// # Errors
/// The errors of [`encode`].
pub(super) fn packed(mut launch: Launch) -> Result<Launch, Error> {
    for (number, tensor) in launch.tensors.into_iter().enumerate() {
        let Some(TmaTensor { desc, address }) = tensor else { continue };
        let map = encode(&desc, address)?;
        let at = TensorGemmParams::FIRST_MAP + number * size_of::<TensorMap>();
        launch.params.0[at..at + size_of::<TensorMap>()].copy_from_slice(bytemuck::bytes_of(&map));
    }
    Ok(launch)
}

/// Kernel that is loaded on a device.
pub struct Loaded {
    /// Kernel function.
    pub function: CudaFunction,
    /// Function of the second kernel, if the unit has one.
    reduction: Option<CudaFunction>,
    /// Whether the kernels start with programmatic dependent launch, before the preceding grid
    /// ends.
    dependent: bool,
    /// Resources of the kernel.
    pub report: Report,
    /// Source of the kernel.
    pub unit: TranslationUnit,
}

impl Loaded {
    /// Compiles `unit`, or finds it in the cache, and loads it with `shared_bytes` bytes of dynamic
    /// shared memory. For PTX, the driver reports registers and memory.
    ///
    /// # Errors
    /// The errors of [`compile`]. [`Error::Driver`] if the driver cannot load the kernel.
    pub fn new(
        context: &Arc<CudaContext>,
        unit: TranslationUnit,
        target: impl Into<CodeTarget>,
        shared_bytes: u32,
    ) -> Result<Self, Error> {
        let target = target.into();
        let entry = compile(Cache::global(), &unit, target)?;
        let mut image = entry.image.clone();
        if let CodeTarget::Ptx(_) = target {
            // The driver reads text up to a NUL.
            image.push(0);
        }
        let module =
            context.load_module(Ptx::from_binary(image)).map_err(driver("cuModuleLoadData"))?;
        let function = module.load_function(unit.entry).map_err(driver("cuModuleGetFunction"))?;
        let reduction = unit
            .second
            .map(|second| module.load_function(second))
            .transpose()
            .map_err(driver("cuModuleGetFunction"))?;
        let shared =
            sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        function
            .set_attribute(shared, shared_bytes as i32)
            .map_err(driver("cuFuncSetAttribute"))?;
        let report = match target {
            CodeTarget::Cubin(_) => Report::read(&entry.log).unwrap_or_default(),
            CodeTarget::Ptx(_) => driver_report(&function)?,
        };
        let dependent = unit.waits && target.sm() >= 90 && driver::launches_dependents();
        Ok(Self { function, reduction, dependent, report, unit })
    }

    /// Enqueues a launch with [`packed`] tensors. Memory is cleared before the kernel, and the
    /// reduction of split-K partials follows the kernel.
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver refuses the launch.
    pub(super) fn launch(&self, stream: &CudaStream, launch: &Launch) -> Result<(), Error> {
        self.launch_with(stream, launch, &launch.params.0)
    }

    /// Enqueues a launch with other parameters, for the pass that writes records.
    ///
    /// # Errors
    /// The errors of [`launch`](Self::launch).
    pub(super) fn launch_with(
        &self,
        stream: &CudaStream,
        launch: &Launch,
        params: &[u8],
    ) -> Result<(), Error> {
        let kernels = Kernels {
            function: &self.function,
            reduction: self.reduction.as_ref(),
            dependent: self.dependent,
        };
        driver::launch(&kernels, stream, launch, params)
    }
}

/// Returns the resources of a function that the driver compiled. The driver counts spills as stack,
/// and reports no warnings.
fn driver_report(function: &CudaFunction) -> Result<Report, Error> {
    let figure = |figure: Result<i32, DriverError>| {
        figure
            .map_err(driver("cuFuncGetAttribute"))
            .map(|figure| u32::try_from(figure).unwrap_or(0))
    };
    Ok(Report {
        kind: ImageKind::Ptx,
        registers: figure(function.num_regs())?,
        shared_bytes: figure(function.shared_size_bytes())?,
        stack_bytes: figure(function.local_size_bytes())?,
        ..Report::default()
    })
}

/// Loaded kernels `K` of the process by CUDA context and description `D`.
pub(super) struct Registry<D, K>(LazyLock<RwLock<HashMap<(usize, D), K>>>);

impl<D: Copy + Eq + Hash, K: Clone> Registry<D, K> {
    pub const fn new() -> Self {
        Self(LazyLock::new(RwLock::default))
    }

    pub fn get(&self, context: &CudaContext, desc: &D) -> Option<K> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&(context.cu_ctx() as usize, *desc))
            .cloned()
    }

    /// Stores a kernel and returns it. If another thread has stored one for the same key, returns
    /// that one.
    pub fn keep(&self, context: &CudaContext, desc: &D, kernel: K) -> K {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.entry((context.cu_ctx() as usize, *desc)).or_insert(kernel).clone()
    }

    /// Returns the kernel for a run on `stream`. If the kernel is not loaded, prepares it, except
    /// during stream capture.
    pub fn for_run(
        &self,
        stream: &CudaStream,
        desc: &D,
        prepare: impl FnOnce() -> Result<K, Error>,
    ) -> Result<K, Error> {
        if let Some(kernel) = self.get(stream.context(), desc) {
            return Ok(kernel);
        }
        uncaptured(stream, Refusal::NOT_PREPARED)?;
        prepare()
    }
}

/// Returns `refusal` if the stream is being captured. The host cannot wait for such a stream.
pub fn uncaptured(stream: &CudaStream, refusal: Refusal) -> Result<(), Error> {
    match stream.capture_status().map_err(driver("cuStreamIsCapturing"))? {
        sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE => Ok(()),
        _ => Err(refusal.into()),
    }
}
