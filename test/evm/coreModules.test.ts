import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { itIfThorough } from "../thorough.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

itIfThorough("the checked-in modules are those of the sources", () => {
  const build = `import { coreModules, keccakModule } from "./scripts/build/core.mjs";
      process.stdout.write(JSON.stringify([await coreModules(), await keccakModule()]));`;
  const built = execFileSync(process.execPath, ["--input-type=module", "--eval", build], { cwd: root });
  const files = [join("evm", "coreModules.ts"), join("primitives", "keccakModule.ts")];
  expect(JSON.parse(built.toString())).toEqual(
    files.map((file) => readFileSync(join(root, "src", file), "utf8")),
  );
});
