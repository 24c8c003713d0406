//! From text to a function on a device, and which functions this process has.

use super::{
    cache::{Cache, Entry, Key},
    report::Report,
    tensor_maps::tensor_map,
};
use crate::{
    call::{Launch, TmaTensor},
    codegen::{TensorMap, TranslationUnit},
    error::Error,
    refusal::Refusal,
    sys::{
        driver::{self, driver},
        nvrtc::{Compiled, Nvrtc, Program},
    },
};
use cudarc::{
    driver::{CudaContext, CudaFunction, CudaStream, sys},
    nvrtc::Ptx,
};
use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, LazyLock, PoisonError, RwLock},
};

/// The program that NVRTC is given for a unit on `sm`.
fn program(unit: &TranslationUnit, sm: u32) -> Program {
    Program {
        name: format!("{}.cu", unit.entry),
        source: unit.source.clone(),
        headers: unit.included().into_iter().map(|(name, text)| (name.to_owned(), text.to_owned().into())).collect(),
        arch: if sm >= 90 { format!("sm_{sm}a") } else { format!("sm_{sm}") },
        // Products and sums contract only where the kernel says fma: the host computes the same bits.
        options: ["-default-device", "--fmad=false", "--ptxas-options=-v"].map(str::to_owned).to_vec(),
    }
}

/// Compiles a unit for `sm`, or finds it in `cache`. No device is needed.
///
/// # Errors
/// [`Error::Library`] without NVRTC, [`Error::Compile`] when it refuses the text, which names the user's node it refuses.
pub fn compile(cache: &Cache, unit: &TranslationUnit, sm: u32) -> Result<Arc<Entry>, Error> {
    let nvrtc = Nvrtc::get()?;
    let program = program(unit, sm);
    let compiled = || -> Result<Compiled, Error> {
        #[cfg(feature = "tracing")]
        let _span = tracing::info_span!("compile", arch = %program.arch).entered();
        nvrtc.compile(&program).map_err(name_node)
    };
    cache.get_or_compile(&Key::new(&program, nvrtc.version()), compiled)
}

/// Names the user's epilogue node that the compiler's first error lies in.
fn name_node(error: Error) -> Error {
    match error {
        Error::Compile { log, .. } => {
            let first = log.lines().find(|line| line.contains("error"));
            let node = first
                .and_then(|line| line.split_once("epilogue node "))
                .and_then(|(_, rest)| rest.split_once('('))
                .map(|(name, _)| name.to_owned());
            Error::Compile { log, node }
        }
        other => other,
    }
}

/// A launch with the maps of its tensors in its parameters.
///
/// # Errors
/// Those of [`tensor_map`].
pub(super) fn packed(mut launch: Launch) -> Result<Launch, Error> {
    for (number, tensor) in launch.tensors.into_iter().enumerate() {
        let Some(TmaTensor { desc, address }) = tensor else { continue };
        let map = tensor_map(&desc, address)?;
        let at = number * size_of::<TensorMap>();
        launch.params.0[at..at + size_of::<TensorMap>()].copy_from_slice(bytemuck::bytes_of(&map));
    }
    Ok(launch)
}

/// A compiled kernel on a device.
pub struct Loaded {
    /// What a launch names.
    pub function: CudaFunction,
    /// What the assembler said.
    pub report: Report,
    /// The text that was compiled.
    pub unit: TranslationUnit,
}

impl Loaded {
    /// Compiles `unit` for `sm`, unless the cache has it, and loads it with so much dynamic shared memory.
    ///
    /// # Errors
    /// Those of [`compile`]; [`Error::Driver`].
    pub fn new(context: &Arc<CudaContext>, unit: TranslationUnit, sm: u32, shared_bytes: u32) -> Result<Self, Error> {
        let entry = compile(Cache::global(), &unit, sm)?;
        let module = context.load_module(Ptx::from_binary(entry.cubin.clone())).map_err(driver("cuModuleLoadData"))?;
        let function = module.load_function(unit.entry).map_err(driver("cuModuleGetFunction"))?;
        let shared = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        function.set_attribute(shared, shared_bytes as i32).map_err(driver("cuFuncSetAttribute"))?;
        Ok(Self { function, report: Report::read(&entry.log).unwrap_or_default(), unit })
    }

    /// Enqueues a launch whose tensors are [`packed`], and before it what clears its memory.
    ///
    /// # Errors
    /// [`Error::Driver`] when the launch is refused.
    pub(super) fn launch(&self, stream: &CudaStream, launch: &Launch) -> Result<(), Error> {
        driver::launch(&self.function, stream, launch)
    }
}

/// The kernels `K` of descriptions `D` that this process has loaded, by the context that they belong to.
pub(super) struct Registry<D, K>(LazyLock<RwLock<HashMap<(usize, D), K>>>);

impl<D: Copy + Eq + Hash, K: Clone> Registry<D, K> {
    pub const fn new() -> Self {
        Self(LazyLock::new(RwLock::default))
    }

    pub fn get(&self, context: &CudaContext, desc: &D) -> Option<K> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&(context.cu_ctx() as usize, *desc)).cloned()
    }

    /// Keeps a kernel, or the one that another thread has kept meanwhile.
    pub fn keep(&self, context: &CudaContext, desc: &D, kernel: K) -> K {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.entry((context.cu_ctx() as usize, *desc)).or_insert(kernel).clone()
    }

    /// The kernel for a run on `stream`: prepared now if need be, unless the stream is being captured.
    pub fn for_run(&self, stream: &CudaStream, desc: &D, prepare: impl FnOnce() -> Result<K, Error>) -> Result<K, Error> {
        if let Some(kernel) = self.get(stream.context(), desc) {
            return Ok(kernel);
        }
        let status = stream.capture_status().map_err(driver("cuStreamIsCapturing"))?;
        if status != sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE {
            return Err(Refusal::NotPrepared.into());
        }
        prepare()
    }
}
