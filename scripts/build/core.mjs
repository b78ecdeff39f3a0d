/**
 * `npm run core`: compiles the EVM's core (src/evm/core, AssemblyScript) to WebAssembly and writes src/evm/coreModules.ts,
 * which is checked in, so that a start needs no compiler. Builds it twice: as it is, and with STEPS, so that it returns
 * after each instruction. The same sources make the same bytes (test/evm/coreModules.test.ts).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const GENERATED = join(root, "src", "evm", "coreModules.ts");

/** The text of src/evm/coreModules.ts. */
export async function coreModules() {
  const plain = await compiled(false);
  const stepping = await compiled(true);
  return `// Made by \`npm run core\` from src/evm/core: WebAssembly in base64.

/** The core that runs until something needs the driver. */
export const PLAIN_CORE = \`${plain}\`;

/** The core that returns after each instruction. */
export const STEPPING_CORE = \`${stepping}\`;
`;
}

async function compiled(steps) {
  let module;
  const { error, stderr } = await asc.main(
    [
      "core.ts",
      ...["-O3", "--noAssert", "--runtime", "stub", "--memoryBase", "8192"],
      ...["--initialMemory", "32", "--maximumMemory", "65535", "--outFile", "core.wasm"],
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

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(GENERATED, await coreModules());
