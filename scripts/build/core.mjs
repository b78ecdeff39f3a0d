/**
 * `npm run core`: compiles the EVM's core (src/evm/core, AssemblyScript) to WebAssembly and writes src/evm/coreModules.ts,
 * which is checked in, so that a start needs no compiler. Builds it twice: as it is, and with STEPS, so that it returns
 * after each instruction. Its Keccak-256 alone becomes src/primitives/keccakModule.ts. The same sources make the same bytes
 * (test/evm/coreModules.test.ts).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const CORE_MODULES = join(root, "src", "evm", "coreModules.ts");
const KECCAK_MODULE = join(root, "src", "primitives", "keccakModule.ts");

/** The text of src/evm/coreModules.ts. */
export async function coreModules() {
  const plain = await compiled("core.ts", { pages: 32 });
  const stepping = await compiled("core.ts", { pages: 32, steps: true });
  return `// Made by \`npm run core\` from src/evm/core: WebAssembly in base64.

/** The core that runs until something needs the driver. */
export const PLAIN_CORE = \`${plain}\`;

/** The core that returns after each instruction. */
export const STEPPING_CORE = \`${stepping}\`;
`;
}

/** The text of src/primitives/keccakModule.ts. */
export async function keccakModule() {
  const module = await compiled("hash.ts", { pages: 2, mostPages: 2 });
  return `// Made by \`npm run core\` from src/evm/core/keccak.ts: WebAssembly in base64.
export const KECCAK_MODULE = \`${module}\`;
`;
}

async function compiled(entry, { pages, mostPages = 65535, steps = false }) {
  let module;
  const { error, stderr } = await asc.main(
    [
      entry,
      ...["-O3", "--noAssert", "--runtime", "stub", "--memoryBase", "8192"],
      ...["--initialMemory", `${pages}`, "--maximumMemory", `${mostPages}`, "--outFile", "core.wasm"],
    ],
    {
      readFile: (name) => sourceOf(name, steps),
      writeFile: (_, contents) => {
        module = contents;
      },
      listFiles: () => [],
    },
  );
  if (error !== null) throw new Error(`the core does not compile:\n${stderr.toString()}`, { cause: error });
  return Buffer.from(module)
    .toString("base64")
    .replace(/.{8000}/g, "$&\n");
}

function sourceOf(name, steps) {
  if (steps && name === "mode.ts") return "export const STEPS: bool = true;\n";
  try {
    return readFileSync(join(root, "src", "evm", "core", name), "utf8");
  } catch {
    return null;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(CORE_MODULES, await coreModules());
  writeFileSync(KECCAK_MODULE, await keccakModule());
}
