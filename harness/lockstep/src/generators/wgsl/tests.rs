use std::collections::BTreeSet;

use crate::generators::Lane;
use naga::valid::{ModuleInfo, ValidationFlags, Validator};
use wgpu_types::{BufferBindingType, TextureFormat};

use super::*;

const CASES: u64 = 2_000;

/// The bytes that a campaign would feed case `index`.
fn bytes(index: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    crate::generators::bytes(Lane::Shaders, 1, index, &mut bytes);
    bytes
}

fn case(index: u64) -> Made<LayoutCase> {
    shader_case(&mut Unstructured::new(&bytes(index))).unwrap()
}

fn shader(case: &LayoutCase) -> &Shader {
    case.shader.as_ref().unwrap()
}

fn validate(module: &naga::Module) -> Result<ModuleInfo, String> {
    let mut validator = Validator::new(ValidationFlags::all(), CAPABILITIES);
    validator
        .validate(module)
        .map_err(|error| format!("{:?}", error.into_inner()))
}

/// The module before and after its overrides are given.
fn modules(case: &LayoutCase) -> (naga::Module, naga::Module, ModuleInfo) {
    let Shader { wgsl, overrides } = shader(case);
    let module =
        naga::front::wgsl::parse_str(wgsl).unwrap_or_else(|error| panic!("{}\n{wgsl}", error.emit_to_string(wgsl)));
    let info = validate(&module).unwrap_or_else(|error| panic!("{error}\n{wgsl}"));
    let constants = overrides.iter().map(|(key, value)| (key.clone(), *value)).collect();
    let (processed, info) = naga::back::pipeline_constants::process_overrides(&module, &info, None, &constants)
        .unwrap_or_else(|error| panic!("{error:?}\n{overrides:?}\n{wgsl}"));
    (module.clone(), processed.into_owned(), info.into_owned())
}

/// What the layout holds against the shader: a fault for each entry point's binding that does not fit.
fn misfits(case: &LayoutCase, module: &naga::Module, info: &ModuleInfo) -> BTreeSet<&'static str> {
    let mut misfits = BTreeSet::new();
    for (index, entry_point) in module.entry_points.iter().enumerate() {
        let stage = Stage::ALL
            .into_iter()
            .find(|stage| stage.naga() == entry_point.stage)
            .unwrap();
        for (handle, variable) in module.global_variables.iter() {
            let is_used = !info.get_entry_point(index)[handle].is_empty();
            if is_used && variable.space == naga::AddressSpace::Immediate && case.immediate_size == 0 {
                misfits.insert("no-immediates");
            }
            let Some(at) = variable.binding.filter(|_| is_used) else {
                continue;
            };
            let group = case.groups.get(at.group as usize).and_then(Option::as_ref);
            match group.and_then(|group| group.iter().find(|entry| entry.binding == at.binding)) {
                None => _ = misfits.insert("missing-binding"),
                Some(entry) if !entry.visibility.contains(stage.visibility()) => _ = misfits.insert("invisible"),
                Some(entry) if !same_kind(&entry.ty, variable, module) => _ = misfits.insert("other-kind"),
                Some(_) => {}
            }
        }
    }
    misfits
}

fn same_kind(ty: &BindingType, variable: &naga::GlobalVariable, module: &naga::Module) -> bool {
    let inner = match &module.types[variable.ty].inner {
        naga::TypeInner::BindingArray { base, .. } => &module.types[*base].inner,
        inner => inner,
    };
    match ty {
        BindingType::Buffer {
            ty: BufferBindingType::Uniform,
            ..
        } => variable.space == naga::AddressSpace::Uniform,
        BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only },
            ..
        } => match variable.space {
            naga::AddressSpace::Storage { access } => access.contains(naga::StorageAccess::STORE) != *read_only,
            _ => false,
        },
        BindingType::Sampler(ty) => {
            let comparison = *ty == SamplerBindingType::Comparison;
            *inner == naga::TypeInner::Sampler { comparison }
        }
        BindingType::AccelerationStructure { .. } => {
            matches!(inner, naga::TypeInner::AccelerationStructure { .. })
        }
        _ => matches!(inner, naga::TypeInner::Image { .. }),
    }
}

#[test]
fn every_shader_is_valid_and_only_faults_make_it_misfit() {
    let mut faults = BTreeSet::new();
    let mut faulty = 0;
    for index in 0..CASES {
        let Made { case, faults: named } = case(index);
        let (_, module, info) = modules(&case);
        assert_eq!(
            misfits(&case, &module, &info),
            named.iter().copied().collect(),
            "{case:?}"
        );
        faulty += named.len();
        faults.extend(named);
    }
    assert_eq!(faults, FAULTS.into_iter().collect());
    assert!((200..400).contains(&faulty), "{faulty}");
}

/// What wgpu's own validation, on its backend without a GPU, holds against a pipeline of each entry point.
struct Judge {
    device: wgpu::Device,
    /// For a fragment shader, which no pipeline can have alone.
    vertex: wgpu::ShaderModule,
    /// For a mesh shader, and for a task shader.
    task: wgpu::ShaderModule,
    mesh: wgpu::ShaderModule,
}

impl Judge {
    fn new() -> Judge {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::NOOP,
            backend_options: wgpu::BackendOptions {
                noop: wgpu::NoopBackendOptions::enabled(),
                ..Default::default()
            },
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapter = pollster::block_on(instance.request_adapter(&Default::default())).unwrap();
        let (device, _queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            required_features: wgpu::Features::TEXTURE_ATOMIC
                | wgpu::Features::PRIMITIVE_INDEX
                | wgpu::Features::IMMEDIATES
                | wgpu::Features::EXTERNAL_TEXTURE
                | wgpu::Features::TEXTURE_BINDING_ARRAY
                | wgpu::Features::BUFFER_BINDING_ARRAY
                | wgpu::Features::STORAGE_RESOURCE_BINDING_ARRAY
                | wgpu::Features::SAMPLED_TEXTURE_AND_STORAGE_BUFFER_ARRAY_NON_UNIFORM_INDEXING
                | wgpu::Features::STORAGE_TEXTURE_ARRAY_NON_UNIFORM_INDEXING
                | wgpu::Features::EXPERIMENTAL_MESH_SHADER
                | wgpu::Features::EXPERIMENTAL_RAY_QUERY,
            required_limits: adapter.limits(),
            // SAFETY: nothing runs on this backend.
            experimental_features: unsafe { wgpu::ExperimentalFeatures::enabled() },
            ..Default::default()
        }))
        .unwrap();
        let text = format!("{VARYINGS}\n@vertex fn main() -> Varyings {{ return Varyings(vec4<f32>(0.0), 0u); }}");
        let vertex = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
        let text = |text: &str| {
            let text = fill(text, |key| Some(if key == 'm' { "main" } else { "" }));
            let text = format!("enable wgpu_mesh_shader;\n{MESH_STRUCTS}\n{MESH_VARIABLES}\n{text}");
            device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: None,
                source: wgpu::ShaderSource::Wgsl(text.into()),
            })
        };
        let (task, mesh) = (text(TASK), text(MESH));
        Judge {
            device,
            vertex,
            task,
            mesh,
        }
    }

    /// The first error, if any.
    fn judge(&self, case: &LayoutCase, module: &naga::Module) -> Option<String> {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        self.create(case, module);
        pollster::block_on(scope.pop()).map(|error| error.to_string())
    }

    fn create(&self, case: &LayoutCase, module: &naga::Module) {
        let Shader { wgsl, overrides } = shader(case);
        let source = wgpu::ShaderSource::Wgsl(wgsl.into());
        let text = self
            .device
            .create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let layouts: Vec<_> = case.groups.iter().map(|group| self.bind_group_layout(group)).collect();
        let layouts: Vec<_> = layouts.iter().map(Option::as_ref).collect();
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &layouts,
            immediate_size: case.immediate_size,
        });
        let constants: Vec<_> = overrides.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        let constants = wgpu::PipelineCompilationOptions {
            constants: &constants,
            ..Default::default()
        };
        for entry_point in &module.entry_points {
            let name = &entry_point.name;
            match entry_point.stage {
                naga::ShaderStage::Compute => self.compute(&layout, &text, name, constants.clone()),
                naga::ShaderStage::Task | naga::ShaderStage::Mesh => {
                    self.mesh(&layout, &text, name, constants.clone(), entry_point.stage);
                }
                stage => self.render(&layout, &text, name, constants.clone(), stage),
            }
        }
    }

    fn bind_group_layout(&self, group: &Group) -> Option<wgpu::BindGroupLayout> {
        let entries = group.as_ref()?;
        Some(
            self.device
                .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries }),
        )
    }

    fn compute(
        &self,
        layout: &wgpu::PipelineLayout,
        module: &wgpu::ShaderModule,
        name: &str,
        compilation_options: wgpu::PipelineCompilationOptions<'_>,
    ) {
        let _ = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(layout),
            module,
            entry_point: Some(name),
            compilation_options,
            cache: None,
        });
    }

    fn mesh(
        &self,
        layout: &wgpu::PipelineLayout,
        module: &wgpu::ShaderModule,
        name: &str,
        compilation_options: wgpu::PipelineCompilationOptions<'_>,
        stage: naga::ShaderStage,
    ) {
        let of = |wanted: naga::ShaderStage| {
            if stage == wanted {
                compilation_options.clone()
            } else {
                Default::default()
            }
        };
        let is_task = stage == naga::ShaderStage::Task;
        let _ = self.device.create_mesh_pipeline(&wgpu::MeshPipelineDescriptor {
            label: None,
            layout: Some(layout),
            task: Some(wgpu::TaskState {
                module: if is_task { module } else { &self.task },
                entry_point: Some(if is_task { name } else { "main" }),
                compilation_options: of(naga::ShaderStage::Task),
            }),
            mesh: wgpu::MeshState {
                module: if is_task { &self.mesh } else { module },
                entry_point: Some(if is_task { "main" } else { name }),
                compilation_options: of(naga::ShaderStage::Mesh),
            },
            primitive: Default::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: TextureFormat::Depth32Float,
                depth_write_enabled: Some(false),
                depth_compare: Some(wgpu::CompareFunction::Always),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: Default::default(),
            fragment: None,
            multiview: None,
            cache: None,
        });
    }

    fn render(
        &self,
        layout: &wgpu::PipelineLayout,
        module: &wgpu::ShaderModule,
        name: &str,
        compilation_options: wgpu::PipelineCompilationOptions<'_>,
        stage: naga::ShaderStage,
    ) {
        let is_vertex = stage == naga::ShaderStage::Vertex;
        let attributes = wgpu::vertex_attr_array![0 => Uint32, 1 => Float32x4, 3 => Float32x3, 6 => Sint32x2];
        let buffer = wgpu::VertexBufferLayout {
            array_stride: 40,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &attributes,
        };
        let vertex = wgpu::VertexState {
            module: if is_vertex { module } else { &self.vertex },
            entry_point: is_vertex.then_some(name),
            compilation_options: if is_vertex {
                compilation_options.clone()
            } else {
                Default::default()
            },
            buffers: &[Some(buffer)],
        };
        let target = wgpu::ColorTargetState {
            format: TextureFormat::Rgba8Unorm,
            blend: None,
            write_mask: wgpu::ColorWrites::empty(),
        };
        let targets = [Some(target)];
        let fragment = wgpu::FragmentState {
            module,
            entry_point: Some(name),
            compilation_options,
            targets: &targets,
        };
        let depth = wgpu::DepthStencilState {
            format: TextureFormat::Depth32Float,
            depth_write_enabled: Some(false),
            depth_compare: Some(wgpu::CompareFunction::Always),
            stencil: Default::default(),
            bias: Default::default(),
        };
        let _ = self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: Some(layout),
            vertex,
            primitive: Default::default(),
            depth_stencil: Some(depth),
            multisample: Default::default(),
            fragment: (!is_vertex).then_some(fragment),
            multiview_mask: None,
            cache: None,
        });
    }
}

/// Of immediates that the layout has not, wgpu-core 30.0.2 says nothing until a draw.
#[test]
fn wgpu_takes_the_cases_without_a_fault_and_no_other() {
    let judge = Judge::new();
    let wrong = (0..CASES).filter_map(|index| {
        let Made { case, faults } = case(index);
        let module = naga::front::wgsl::parse_str(&shader(&case).wgsl).unwrap();
        let error = judge.judge(&case, &module);
        let is_due = faults.iter().any(|fault| *fault != "no-immediates");
        (error.is_some() != is_due).then(|| format!("{index} {faults:?} {error:?}"))
    });
    assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn every_text_is_used() {
    let all: Vec<String> = (0..CASES).map(|index| shader(&case(index).case).wgsl.clone()).collect();
    let all = all.join("\n");
    let loops = ["for (", "while (", "loop {", "switch (", "break if"];
    let others = [
        "discard;",
        "workgroupBarrier",
        "@invariant",
        "enable primitive_index",
        "fn main(",
        "@id(1)",
        "inputs: Attributes",
        "var<immediate>",
        "binding_array<",
        "texture_external",
        "= &",
        "@task\n",
        "@mesh(",
    ];
    for text in METAL_WORDS
        .iter()
        .map(|word| format!(" {word}: "))
        .chain(loops.into_iter().chain(others).map(str::to_string))
    {
        assert!(all.contains(&text), "{text}");
    }
    for read in READS {
        let name = read.text.split('(').next().unwrap();
        assert!(all.contains(name), "{name}");
    }
    for shape in SHAPES {
        assert!(all.contains(&format!(": {};", shape.ty)), "{}", shape.ty);
    }
}

#[test]
fn the_same_bytes_make_the_same_case() {
    for index in 0..100 {
        assert_eq!(case(index), case(index));
    }
}

#[test]
fn bytes_may_run_out_anywhere() {
    for index in 0..40 {
        let bytes = bytes(index);
        for len in 0..200 {
            let made = shader_case(&mut Unstructured::new(&bytes[..len])).unwrap();
            modules(&made.case);
        }
    }
}

/// A case is cheap: counted in the bytes that it reads, since a clock would judge the machine.
#[test]
fn a_case_reads_few_bytes() {
    let read = |index| {
        let bytes = bytes(index);
        let mut u = Unstructured::new(&bytes);
        shader_case(&mut u).unwrap();
        bytes.len() - u.len()
    };
    let read: usize = (0..CASES).map(read).sum();
    assert!(read as u64 / CASES < 400, "{} bytes a case", read as u64 / CASES);
}
