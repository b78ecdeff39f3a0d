import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { itIfThorough } from "../thorough.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

itIfThorough(
  "the checked-in modules are those of the sources",
  () => {
    const build = `import { coreModules } from "./scripts/build/core.mjs"; process.stdout.write(await coreModules());`;
    const built = execFileSync(process.execPath, ["--input-type=module", "--eval", build], { cwd: root });
    expect(built.toString()).toBe(readFileSync(join(root, "src", "evm", "coreModules.ts"), "utf8"));
  },
  60_000,
);
