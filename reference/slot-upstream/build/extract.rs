//! Takes the wanted functions of wgpu-hal's Metal backend, and every item that they reach, out of its source.
//!
//! Paths are followed token by token: `super::X`, `crate::X`, an imported name, a name of the same module. What a
//! name stands for on a Mac (Metal's objects, the device) is in [`STAND_INS`] and written by hand in `src/`.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, ToTokens};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};

/// The source of one wgpu-hal package.
#[derive(Clone, Debug)]
pub struct Package {
    /// Version of the package, for messages.
    pub version: String,
    /// Text by file of [`MODULES`].
    pub files: BTreeMap<&'static str, String>,
}

/// Modules of wgpu-hal that are looked into, and their files.
pub const MODULES: &[(&str, &str)] = &[
    ("", "src/lib.rs"),
    ("auxil", "src/auxil/mod.rs"),
    ("metal", "src/metal/mod.rs"),
    ("metal::adapter", "src/metal/adapter.rs"),
    ("metal::command", "src/metal/command.rs"),
    ("metal::conv", "src/metal/conv.rs"),
    ("metal::device", "src/metal/device.rs"),
];

/// The functions that are called: module, type, method.
const WANTED: &[(&str, &str, &str)] = &[
    ("metal::device", "Device", "create_pipeline_layout"),
    ("metal::device", "Device", "create_bind_group"),
    ("metal::device", "Device", "load_shader"),
    ("metal::command", "CommandEncoder", "set_bind_group"),
    ("metal::command", "CommandEncoder", "update_bind_group_state"),
    ("metal::command", "CommandEncoder", "set_immediates"),
    ("metal::command", "CommandEncoder", "set_render_pipeline"),
    ("metal::command", "CommandEncoder", "set_compute_pipeline"),
    ("metal::command", "CommandEncoder", "set_vertex_buffer"),
    ("metal::command", "CommandState", "reset"),
    ("metal::command", "CommandState", "make_sizes_buffer_update"),
];

/// The types that the hand-written parts name, with those that [`STAND_INS`] needs.
const TYPES: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "BindGroupDescriptor",
            "BindGroupEntry",
            "BufferBinding",
            "ExternalTextureBinding",
            "NagaShader",
            "PipelineLayoutDescriptor",
            "ProgrammableStage",
            "TextureBinding",
        ],
    ),
    (
        "metal",
        &[
            "AccelerationStructure",
            "BindGroup",
            "BindGroupLayout",
            "BindGroupLayoutInfo",
            "Buffer",
            "CommandState",
            "ComputePipeline",
            "PipelineLayout",
            "PipelineStageInfo",
            "RenderPipeline",
            "Sampler",
            "ShaderModule",
            "ShaderModuleSource",
            "Temp",
            "TextureView",
        ],
    ),
];

/// Where in a method an expression stands.
enum Place {
    /// The value of `let NAME`.
    Let(&'static str),
    /// The value of a struct's field.
    Field { of: &'static str, name: &'static str },
    /// The condition of the `if` whose block calls this method.
    If { calls: &'static str },
}

/// Single expressions of long functions that need a Mac: module, type, method, place, and the signature to give them
/// as a method of `Device`.
const EXPRESSIONS: &[(&str, &str, &str, Place, &str)] = &[
    (
        "metal::adapter",
        "CapabilitiesQuery",
        "new",
        Place::Let("msl_version"),
        "fn msl_version() -> MTLLanguageVersion",
    ),
    (
        "metal::device",
        "Device",
        "load_shader",
        Place::Field {
            of: "Options",
            name: "lang_version",
        },
        "fn lang_version(&self) -> (u8, u8)",
    ),
    (
        "metal::device",
        "Device",
        "load_shader",
        Place::If {
            calls: "setPreserveInvariance",
        },
        "fn preserve_invariance() -> bool",
    ),
    (
        "metal::device",
        "Device",
        "create_render_pipeline",
        Place::Field {
            of: "VertexBufferMapping",
            name: "id",
        },
        "fn vertex_buffer_id(&self, i: usize) -> u32",
    ),
];

/// Items that are written by hand, by module: they stand for what needs a Mac or what a macro makes.
const STAND_INS: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "DeviceError",
            "DynAccelerationStructure",
            "DynBindGroupLayout",
            "DynBuffer",
            "DynSampler",
            "DynShaderModule",
            "DynTextureView",
            "FormatAspects",
            "PipelineError",
            "PipelineLayoutFlags",
        ],
    ),
    (
        "metal",
        &["AdapterShared", "CommandEncoder", "Device", "PrivateCapabilities"],
    ),
];

/// Answers the text of a module that holds the wanted functions and what they reach, laid out as wgpu-hal's modules
/// are. `base` is the path of the module that holds it as `hal`, beside `stand_ins` and `externs`.
///
/// # Errors
///
/// One line that names the item, the file and the package, when a wanted item is not there, when a reached path leads
/// to nothing, or when a file does not parse.
pub fn extract(package: &Package, base: &str) -> Result<String, String> {
    let mut modules = BTreeMap::new();
    for (path, file) in MODULES {
        let text = package.files.get(file).map_or("", String::as_str);
        let parsed = syn::parse_file(text)
            .map_err(|error| format!("{file} of wgpu-hal {} does not parse as Rust: {error}", package.version))?;
        modules.insert(*path, Module::new(parsed));
    }
    let mut extraction = Extraction {
        package,
        modules,
        taken: BTreeSet::new(),
        called: BTreeSet::new(),
        methods: BTreeMap::new(),
    };
    extraction.take_wanted()?;
    extraction.take_reached_methods()?;
    let base: TokenStream = base.parse().expect("the base is a path");
    let file = syn::parse2(extraction.emit("", &base))
        .map_err(|error| format!("what was taken of wgpu-hal {} does not parse: {error}", package.version))?;
    Ok(prettyplease::unparse(&file))
}

/// One module's items, apart from its modules.
struct Module {
    items: BTreeMap<String, syn::Item>,
    impls: Vec<syn::ItemImpl>,
    uses: BTreeMap<String, Vec<String>>,
    /// Traits imported `as _`.
    traits: Vec<Vec<String>>,
}

impl Module {
    fn new(file: syn::File) -> Module {
        let mut module = Module {
            items: BTreeMap::new(),
            impls: Vec::new(),
            uses: BTreeMap::new(),
            traits: Vec::new(),
        };
        for item in file.items {
            match item {
                syn::Item::Impl(item) => module.impls.push(item),
                syn::Item::Use(item) => module.add_uses(&item.tree, Vec::new()),
                item => {
                    if let Some(name) = name(&item) {
                        module.items.entry(name).or_insert(item);
                    }
                }
            }
        }
        module
    }

    fn add_uses(&mut self, tree: &syn::UseTree, mut path: Vec<String>) {
        match tree {
            syn::UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.add_uses(&tree.tree, path);
            }
            syn::UseTree::Name(tree) => {
                if tree.ident != "self" {
                    path.push(tree.ident.to_string());
                }
                self.uses.insert(path.last().cloned().unwrap_or_default(), path);
            }
            syn::UseTree::Rename(tree) => {
                path.push(tree.ident.to_string());
                if tree.rename == "_" {
                    self.traits.push(path);
                } else {
                    self.uses.insert(tree.rename.to_string(), path);
                }
            }
            syn::UseTree::Group(tree) => tree.items.iter().for_each(|tree| self.add_uses(tree, path.clone())),
            _ => {}
        }
    }
}

/// The name by which paths reach an item.
fn name(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

struct Extraction<'a> {
    package: &'a Package,
    modules: BTreeMap<&'static str, Module>,
    /// Names that are taken, by module: items, imports, stand-ins.
    taken: BTreeSet<(String, String)>,
    /// Names of methods and associated functions that are called somewhere in what is taken.
    called: BTreeSet<String>,
    /// Methods that are taken, by module and number of the impl; whole impls of traits have none listed.
    methods: BTreeMap<(&'static str, usize), BTreeSet<String>>,
}

impl Extraction<'_> {
    fn take_wanted(&mut self) -> Result<(), String> {
        for &(module, of, method) in WANTED {
            let (number, _) = self.method(module, of, method)?;
            self.resolve("metal", &[of.to_string()], module)?;
            self.take_method(module, number, method)?;
        }
        for (module, types) in TYPES {
            for name in *types {
                if !self.modules[module].items.contains_key(*name) {
                    return Err(self.missing(module, &format!("no type `{name}`")));
                }
                self.resolve(module, &[name.to_string()], module)?;
            }
        }
        for (module, of, method, place, signature) in EXPRESSIONS {
            let expression = self.expression(module, of, method, place)?;
            self.scan(module, quote!(#expression))?;
            let signature: TokenStream = signature.parse().expect("a signature");
            self.scan(module, signature)?;
        }
        Ok(())
    }

    /// Takes methods that are called, and impls of others' traits, of every type that is taken; until nothing is new.
    fn take_reached_methods(&mut self) -> Result<(), String> {
        loop {
            let before = (self.taken.len(), self.called.len(), self.methods.len());
            for (module, number) in self.impls() {
                let item = self.modules[module].impls[number].clone();
                let Some(of) = self.self_type(module, &item) else {
                    continue;
                };
                // What a stand-in of the root does is written by hand; a device and an encoder have upstream's methods.
                if !self.taken.contains(&of) || (of.0.is_empty() && is_stand_in(&of.0, &of.1)) {
                    continue;
                }
                if item.trait_.as_ref().is_some_and(|(path, _)| foreign(path)) {
                    if !is_stand_in(&of.0, &of.1) && self.methods.insert((module, number), BTreeSet::new()).is_none() {
                        self.scan(module, item.to_token_stream())?;
                    }
                    continue;
                }
                for method in methods(&item) {
                    let method = method.sig.ident.to_string();
                    if self.called.contains(&method) {
                        self.take_method(module, number, &method)?;
                    }
                }
            }
            if before == (self.taken.len(), self.called.len(), self.methods.len()) {
                return Ok(());
            }
        }
    }

    fn impls(&self) -> Vec<(&'static str, usize)> {
        self.modules
            .iter()
            .flat_map(|(path, module)| (0..module.impls.len()).map(|number| (*path, number)))
            .collect()
    }

    fn take_method(&mut self, module: &'static str, number: usize, method: &str) -> Result<(), String> {
        if !self
            .methods
            .entry((module, number))
            .or_default()
            .insert(method.to_string())
        {
            return Ok(());
        }
        let item = self.modules[module].impls[number].clone();
        let Some(method) = methods(&item).find(|found| found.sig.ident == method) else {
            return Ok(());
        };
        self.scan(module, method.to_token_stream())?;
        self.scan(module, item.self_ty.to_token_stream())
    }

    /// The module and name of the type that an impl is for.
    fn self_type(&self, module: &str, item: &syn::ItemImpl) -> Option<(String, String)> {
        let syn::Type::Path(of) = &*item.self_ty else {
            return None;
        };
        let path: Vec<String> = of
            .path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        self.place(module, &path)
            .map(|(module, name)| (module.to_string(), name))
    }

    /// The module and name of an item or stand-in that a path from `module` leads to, through no import.
    fn place(&self, module: &str, path: &[String]) -> Option<(&'static str, String)> {
        let (mut at, rest) = start(module, path);
        for (index, segment) in rest.iter().enumerate() {
            match self.modules.get_key_value(join(&at, segment).as_str()) {
                Some((child, _)) if index + 1 < rest.len() => at = child.to_string(),
                _ => {
                    let (at, found) = self.modules.get_key_value(at.as_str())?;
                    let known = found.items.contains_key(segment) || is_stand_in(at, segment);
                    return known.then(|| (*at, segment.clone()));
                }
            }
        }
        None
    }

    /// Finds a method that must be there.
    fn method(&self, module: &str, of: &str, method: &str) -> Result<(usize, syn::ImplItemFn), String> {
        for (number, item) in self.modules[module].impls.iter().enumerate() {
            let found = methods(item).find(|found| found.sig.ident == method);
            let found = found.filter(|_| self.self_type(module, item).is_some_and(|(_, name)| name == of));
            if let Some(found) = found {
                return Ok((number, found.clone()));
            }
        }
        Err(self.missing(module, &format!("no method `{method}` of `{of}`")))
    }

    /// Finds an expression that must be there.
    fn expression(&self, module: &str, of: &str, method: &str, place: &Place) -> Result<syn::Expr, String> {
        let body = self.modules[module]
            .impls
            .iter()
            .filter(|item| item.self_ty.to_token_stream().to_string().ends_with(of))
            .flat_map(methods)
            .find(|found| found.sig.ident == method);
        let Some(body) = body else {
            return Err(self.missing(module, &format!("no method `{method}` of `{of}`")));
        };
        let mut finder = Finder { place, found: None };
        finder.visit_impl_item_fn(body);
        finder
            .found
            .ok_or_else(|| self.missing(module, &format!("in `{of}::{method}` no {}", place.words())))
    }

    /// The message about something that is not where it was.
    fn missing(&self, module: &str, what: &str) -> String {
        let file = MODULES
            .iter()
            .find(|(path, _)| *path == module)
            .map_or("", |(_, file)| file);
        format!(
            "{what} in {file} of wgpu-hal {}: look where it went in that release and correct the lists at the top of \
             reference/slot-upstream/build/extract.rs",
            self.package.version
        )
    }

    /// Takes what every path in these tokens leads to.
    fn scan(&mut self, module: &str, tokens: TokenStream) -> Result<(), String> {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut index = 0;
        while index < trees.len() {
            match &trees[index] {
                TokenTree::Group(group) => self.scan(module, group.stream())?,
                TokenTree::Ident(first) if !is_punct(&trees, index.wrapping_sub(1), '\'') => {
                    let is_member = is_punct(&trees, index.wrapping_sub(1), '.');
                    let mut path = vec![first.to_string()];
                    while let Some(TokenTree::Ident(next)) = after_colons(&trees[index + 1..]) {
                        path.push(next.to_string());
                        index += 3;
                    }
                    if is_member || path.len() > 1 {
                        self.called.extend(path.last().cloned());
                    }
                    if !is_member {
                        self.resolve(module, &path, module)?;
                    }
                }
                _ => {}
            }
            index += 1;
        }
        Ok(())
    }

    /// Takes what a path written in `module` leads to. A path out of the module must lead somewhere.
    fn resolve(&mut self, module: &str, path: &[String], written_in: &str) -> Result<(), String> {
        let (mut at, rest) = start(module, path);
        let mut rest = rest.to_vec();
        let mut must_be = rest.len() < path.len();
        while let Some(name) = rest.first().cloned() {
            let child = join(&at, &name);
            if self.modules.contains_key(child.as_str()) && (must_be || rest.len() > 1) {
                (at, must_be) = (child, true);
                rest.remove(0);
                continue;
            }
            let Some(found) = self.modules.get(at.as_str()) else {
                return Ok(());
            };
            if is_stand_in(&at, &name) {
                self.taken.insert((at, name));
            } else if let Some(item) = found.items.get(&name) {
                let tokens = item.to_token_stream();
                if self.taken.insert((at.clone(), name)) {
                    self.scan(&at, tokens)?;
                }
            } else if let Some(import) = found.uses.get(&name).cloned() {
                self.taken.insert((at.clone(), name));
                if is_own(&import[0]) || self.modules.contains_key(join(&at, &import[0]).as_str()) {
                    let path: Vec<String> = import.into_iter().chain(rest.drain(1..)).collect();
                    return self.resolve(&at, &path, written_in);
                }
            } else if must_be {
                return Err(self.missing(
                    written_in,
                    &format!("`{}` leads to nothing that is known, as used", path.join("::")),
                ));
            }
            return Ok(());
        }
        Ok(())
    }

    /// The tokens of one module and of those in it.
    fn emit(&self, at: &str, base: &TokenStream) -> TokenStream {
        let module = &self.modules[at];
        let stand_ins_of = if at.is_empty() {
            format_ident!("root")
        } else {
            format_ident!("metal")
        };
        // By name, so that they stand before the crates that are called so.
        let mut tokens = quote!(use #base::externs::{alloc, naga, wgt};);
        let of_upstream = |tokens: TokenStream| crate_to(tokens, &quote!(#base::hal));
        for (_, name) in self.taken.iter().filter(|(of, _)| of == at) {
            let ident = Ident::new(name, Span::call_site());
            if is_stand_in(at, name) {
                tokens.extend(quote!(pub use #base::stand_ins::#stand_ins_of::#ident;));
            } else if let Some(item) = module.items.get(name) {
                tokens.extend(of_upstream(public(item.clone())));
            } else {
                let path = self.import(at, &module.uses[name], base);
                tokens.extend(quote!(pub(crate) use #path as #ident;));
            }
        }
        for path in module
            .traits
            .iter()
            .filter(|path| ["alloc", "core", "std"].contains(&path[0].as_str()))
        {
            let path = self.import(at, path, base);
            tokens.extend(quote!(use #path as _;));
        }
        for (number, item) in module.impls.iter().enumerate() {
            if let Some((_, taken)) = self.methods.iter().find(|((of, n), _)| (*of, *n) == (at, number)) {
                tokens.extend(of_upstream(emit_impl(item, taken)));
            }
        }
        for (_, of, method, place, signature) in EXPRESSIONS.iter().filter(|(module, ..)| *module == at) {
            let expression = self.expression(at, of, method, place).expect("it was found before");
            let signature: TokenStream = signature.parse().expect("a signature");
            let expression = of_upstream(quote!(#expression));
            tokens.extend(quote!(impl super::Device { pub #signature { #expression } }));
        }
        for child in self
            .modules
            .keys()
            .filter(|path| !path.is_empty() && parent(path) == at)
        {
            let ident = format_ident!("{}", child.rsplit("::").next().expect("a name"));
            let inner = self.emit(child, base);
            tokens.extend(quote!(pub mod #ident { #inner }));
        }
        tokens
    }

    /// The path to write for an import: of wgpu-hal's own as it is, of others through `externs`.
    fn import(&self, at: &str, path: &[String], base: &TokenStream) -> TokenStream {
        let idents = path.iter().map(|segment| Ident::new(segment, Span::call_site()));
        if is_own(&path[0]) || self.modules.contains_key(join(at, &path[0]).as_str()) {
            crate_to(quote!(#(#idents)::*), &quote!(#base::hal))
        } else {
            quote!(#base::externs::#(#idents)::*)
        }
    }
}

/// The methods of an impl that are taken, as methods of the type itself; or a whole impl of another's trait.
fn emit_impl(item: &syn::ItemImpl, taken: &BTreeSet<String>) -> TokenStream {
    if item.trait_.as_ref().is_some_and(|(path, _)| foreign(path)) {
        return item.to_token_stream();
    }
    let (generics, _, bounds) = item.generics.split_for_impl();
    let of = &item.self_ty;
    let methods = methods(item)
        .filter(|method| taken.contains(&method.sig.ident.to_string()))
        .map(|method| {
            let mut method = method.clone();
            method.vis = syn::parse_quote!(pub);
            method
        });
    quote!(impl #generics #of #bounds { #(#methods)* })
}

impl Place {
    fn words(&self) -> String {
        match self {
            Place::Let(name) => format!("`let {name}`"),
            Place::Field { of, name } => format!("field `{name}` of a `{of}`"),
            Place::If { calls } => format!("`if` around a call of `{calls}`"),
        }
    }
}

struct Finder<'a> {
    place: &'a Place,
    found: Option<syn::Expr>,
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        match (self.place, &local.init) {
            (Place::Let(name), Some(init)) if local.pat.to_token_stream().to_string() == *name => {
                self.found.get_or_insert_with(|| (*init.expr).clone());
            }
            _ => visit::visit_local(self, local),
        }
    }

    fn visit_expr_struct(&mut self, literal: &'ast syn::ExprStruct) {
        if let Place::Field { of, name } = self.place {
            let is_it = literal.path.segments.last().is_some_and(|segment| segment.ident == of);
            let mut fields = literal.fields.iter().filter(|_| is_it);
            if let Some(field) = fields.find(|field| field.member.to_token_stream().to_string() == *name) {
                self.found.get_or_insert_with(|| field.expr.clone());
            }
        }
        visit::visit_expr_struct(self, literal);
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        // The innermost comes first.
        visit::visit_expr_if(self, branch);
        match self.place {
            Place::If { calls } if branch.then_branch.to_token_stream().to_string().contains(calls) => {
                self.found.get_or_insert_with(|| (*branch.cond).clone());
            }
            _ => {}
        }
    }
}

fn methods(item: &syn::ItemImpl) -> impl Iterator<Item = &syn::ImplItemFn> {
    item.items.iter().filter_map(|item| match item {
        syn::ImplItem::Fn(method) => Some(method),
        _ => None,
    })
}

fn is_own(first: &str) -> bool {
    ["crate", "super", "self"].contains(&first)
}

/// A trait of none of wgpu-hal's modules.
fn foreign(path: &syn::Path) -> bool {
    path.segments
        .first()
        .is_some_and(|segment| !is_own(&segment.ident.to_string()))
}

fn is_stand_in(module: &str, name: &str) -> bool {
    STAND_INS
        .iter()
        .any(|(of, names)| *of == module && names.contains(&name))
}

/// What follows `::`.
fn after_colons(trees: &[TokenTree]) -> Option<&TokenTree> {
    trees
        .get(2)
        .filter(|_| is_punct(trees, 0, ':') && is_punct(trees, 1, ':'))
}

fn is_punct(trees: &[TokenTree], index: usize, punct: char) -> bool {
    matches!(trees.get(index), Some(TokenTree::Punct(found)) if found.as_char() == punct)
}

/// The module that a path starts from, and what is left of it.
fn start<'p>(module: &str, path: &'p [String]) -> (String, &'p [String]) {
    match path.first().map(String::as_str) {
        Some("crate") => (String::new(), &path[1..]),
        Some("super") => start(parent(module), &path[1..]),
        Some("self") => (module.to_string(), &path[1..]),
        _ => (module.to_string(), path),
    }
}

fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(parent, _)| parent)
}

fn join(module: &str, name: &str) -> String {
    if module.is_empty() {
        name.to_string()
    } else {
        format!("{module}::{name}")
    }
}

/// An item that the hand-written parts can reach: it and its fields are made public, and it stands on every platform.
fn public(mut item: syn::Item) -> TokenStream {
    let visibility: syn::Visibility = syn::parse_quote!(pub);
    let attributes = match &mut item {
        syn::Item::Const(item) => (&mut item.vis, &mut item.attrs),
        syn::Item::Enum(item) => (&mut item.vis, &mut item.attrs),
        syn::Item::Fn(item) => (&mut item.vis, &mut item.attrs),
        syn::Item::Static(item) => (&mut item.vis, &mut item.attrs),
        syn::Item::Struct(item) => {
            item.fields.iter_mut().for_each(|field| field.vis = visibility.clone());
            (&mut item.vis, &mut item.attrs)
        }
        syn::Item::Trait(item) => (&mut item.vis, &mut item.attrs),
        syn::Item::Type(item) => (&mut item.vis, &mut item.attrs),
        _ => return item.to_token_stream(),
    };
    *attributes.0 = visibility;
    attributes.1.retain(|attribute| !attribute.path().is_ident("cfg"));
    item.to_token_stream()
}

/// Writes `crate::` as the path of the module that stands for wgpu-hal's crate; also inside of macros.
fn crate_to(tokens: TokenStream, root: &TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut out = TokenStream::new();
    for (index, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Ident(ident) if ident == "crate" && is_punct(&trees, index + 1, ':') => out.extend(root.clone()),
            TokenTree::Group(group) => {
                let inner = crate_to(group.stream(), root);
                out.extend([TokenTree::Group(Group::new(group.delimiter(), inner))]);
            }
            tree => out.extend([tree.clone()]),
        }
    }
    out
}
