import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toHex } from "../../../src/primitives/hex.ts";
import type { Overlay } from "../../../src/state/overlay.ts";
import { CANCUN_FROM_THE_START, GO_COMMAND, genesisOf, secondsOf } from "../execution/goEvm.ts";
import type { Case } from "./instructions.ts";
import { addressOf, SENDER, TARGET } from "./stage.ts";

/** go-ethereum's `evm`, on the same state. */
export interface GoEthereum {
  /** Milliseconds for a case with this gas: the mean over a second; undefined above half a minute. */
  run(one: Case, gas: number): number | undefined;
  close(): void;
}

const PRAGUE_FROM_THE_START = {
  ...CANCUN_FROM_THE_START,
  pragueTime: 0,
  blobSchedule: {
    ...CANCUN_FROM_THE_START.blobSchedule,
    prague: { target: 6, max: 9, baseFeeUpdateFraction: 5007716 },
  },
};
const LONGEST_MS = 30_000;

/** Undefined when the command is not installed. */
export function findGoEthereum(world: Overlay): GoEthereum | undefined {
  if (spawnSync(GO_COMMAND, ["--version"]).status !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "ibex-bench-worst-"));
  const prestate = join(folder, "genesis.json");
  const codeFile = join(folder, "code");
  const inputFile = join(folder, "input");
  let written = 0;
  return {
    run({ code, input }, gas) {
      if (written !== gas)
        writeFileSync(prestate, JSON.stringify(genesisOf(world, PRAGUE_FROM_THE_START, gas)));
      written = gas;
      writeFileSync(codeFile, toHex(code).slice(2));
      writeFileSync(inputFile, toHex(input).slice(2));
      const options = [
        ["run", "--bench", "--prestate", prestate],
        ["--sender", toHex(SENDER), "--receiver", toHex(addressOf(TARGET))],
        ["--codefile", codeFile, "--inputfile", inputFile],
      ];
      const run = spawnSync(GO_COMMAND, options.flat(), { encoding: "utf8", timeout: LONGEST_MS });
      const seconds = secondsOf(`${run.stdout}${run.stderr}`);
      return seconds === undefined ? undefined : seconds * 1000;
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
