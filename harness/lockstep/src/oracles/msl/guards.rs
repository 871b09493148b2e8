//! Property 6: every dynamic index, image load and loop has its guard, and no loop is lost.

use super::EntryCheck;
use crate::msl::safety::Safety;
use crate::pipeline::Resolved;

impl EntryCheck<'_> {
    pub fn guards(&mut self, resolved: &Resolved<'_>, safety: &Safety) {
        for found in &safety.unguarded {
            let (line, function, what) = (found.line, &found.function, &found.what);
            self.problem(6, format!("line {line} of the MSL, `{function}`: {what}"));
        }
        let functions = resolved.module.functions.iter().map(|(_, function)| function);
        let entry = &resolved.entry_point().function;
        let loops: u64 = functions.chain([entry]).map(|function| loops(&function.body)).sum();
        if safety.loops != loops {
            self.problem(6, format!("{} loops in the MSL, {loops} in the module", safety.loops));
        }
    }
}

/// The loops in a block.
fn loops(block: &naga::Block) -> u64 {
    let of_statement = |statement: &naga::Statement| match statement {
        naga::Statement::Block(block) => loops(block),
        naga::Statement::If { accept, reject, .. } => loops(accept) + loops(reject),
        naga::Statement::Switch { cases, .. } => cases.iter().map(|case| loops(&case.body)).sum(),
        naga::Statement::Loop { body, continuing, .. } => 1 + loops(body) + loops(continuing),
        _ => 0,
    };
    block.iter().map(of_statement).sum()
}
