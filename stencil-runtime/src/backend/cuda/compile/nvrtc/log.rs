//! Reads the resources of a kernel from the compiler's log.

/// The resources of a multiprocessor that one kernel takes, as the assembler reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// The kernel.
    pub name: String,
    /// Registers a thread.
    pub registers: u32,
    /// Bytes of registers written out to local memory, summed over the instructions.
    pub spill_stores: u32,
    /// Bytes of registers read back from local memory.
    pub spill_loads: u32,
    /// Bytes of stack frame a thread.
    pub stack: u32,
    /// Bytes of static shared memory a block.
    pub shared_bytes: u32,
    /// Hardware barriers a block.
    pub barriers: u32,
}

impl Resources {
    /// Whether any register was spilled.
    pub fn spills(&self) -> bool {
        self.spill_stores + self.spill_loads > 0
    }

    /// Returns registers of a thread, and bytes that it spills: the numbers that the performance model needs.
    pub(crate) fn taken(&self) -> (u32, u32) {
        (self.registers, self.spill_loads + self.spill_stores)
    }

    /// Takes in one line of the form `12 bytes stack frame, 0 bytes spill stores, ..`.
    fn read(&mut self, line: &str) {
        for part in line.split(", ") {
            let words: Vec<&str> =
                part.split_whitespace().filter(|word| !word.eq_ignore_ascii_case("used")).collect();
            let Some(number) = words.first().and_then(|word| word.parse().ok()) else {
                continue;
            };
            match words[1..] {
                ["registers"] => self.registers = number,
                ["barriers"] => self.barriers = number,
                ["bytes", "smem"] => self.shared_bytes = number,
                ["bytes", "stack", "frame"] => self.stack = number,
                ["bytes", "spill", "stores"] => self.spill_stores = number,
                ["bytes", "spill", "loads"] => self.spill_loads = number,
                _ => {}
            }
        }
    }
}

/// The log without the assembler's own timing: same input, same bytes.
pub(super) fn without_times(log: &str) -> String {
    let timed = |line: &str| line.starts_with("ptxas") && line.contains(": Compile time =");
    log.split_inclusive('\n').filter(|line| !timed(line)).collect()
}

/// The resources of each kernel in a log made with `--ptxas-options=-v`, in the order of the log.
pub fn parse_resources(log: &str) -> Vec<Resources> {
    let mut kernels: Vec<Resources> = Vec::new();
    // A device function that was not inlined has its own properties; they are not the kernel's.
    let mut of_kernel = false;
    for line in log.lines() {
        let Some(text) = line
            .strip_prefix("ptxas")
            .and_then(|rest| rest.split_once([':', '.']))
            .map(|(_, text)| text)
        else {
            continue;
        };
        if let Some(rest) = text.trim().strip_prefix("Compiling entry function '") {
            let name = rest.split('\'').next().unwrap_or_default().to_owned();
            kernels.push(Resources { name, ..Resources::default() });
        }
        let Some(kernel) = kernels.last_mut() else {
            continue;
        };
        if let Some(name) = text.trim().strip_prefix("Function properties for ") {
            of_kernel = name == kernel.name;
        } else if text.contains("Used ") || (of_kernel && text.contains("bytes stack frame")) {
            kernel.read(text);
        }
    }
    kernels
}
