/**
 * `npm run fuzz -- [targets] [--inputs=N] [--seconds=N] [--seed=N] [--from=N]`: mutated inputs for the decoders of
 * untrusted peers' and operators' data (test/fuzz), and random programs, run here and by go-ethereum's `evm` (targets evm
 * and precompiles, where GO_EVM or the path has that command; `--from` is the first one's number). Targets are block, evm,
 * extraData, genesis, message, precompiles, toml, transaction; by default all, two at a time. Runs N inputs or N seconds for each, by default
 * 100,000 inputs, and prints the results per target.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runToEnd } from "./childProcess.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const TARGETS = ["block", "evm", "extraData", "genesis", "message", "precompiles", "toml", "transaction"];
const VARIABLES = {
  inputs: "IBEX_FUZZ_INPUTS",
  runs: "IBEX_FUZZ_INPUTS",
  seconds: "IBEX_FUZZ_SECONDS",
  seed: "IBEX_SEED",
  from: "IBEX_FUZZ_FROM",
};

const targets = [];
const asked = {};
for (const argument of process.argv.slice(2)) {
  const [, name, value] = /^--(\w+)=(\d+)$/.exec(argument) ?? [];
  if (name in VARIABLES) asked[VARIABLES[name]] = value;
  else if (TARGETS.includes(argument)) targets.push(argument);
  else {
    console.error(
      `'${argument}' is neither a target (${TARGETS.join(", ")}) nor --inputs=N, --seconds=N, --seed=N or --from=N`,
    );
    process.exit(2);
  }
}
if (!("IBEX_FUZZ_INPUTS" in asked || "IBEX_FUZZ_SECONDS" in asked)) asked.IBEX_FUZZ_INPUTS = "100000";

process.exitCode = await runToEnd(
  process.execPath,
  [
    join(root, "node_modules", "vitest", "vitest.mjs"),
    "run",
    "--config",
    "test/vitest.config.ts",
    ...(targets.length === 0 ? TARGETS : targets).map((target) => `test/fuzz/${target}.test.ts`),
  ],
  { cwd: root, env: { ...process.env, ...asked } },
);
