import { describe, expect, it } from "vitest";
import { type Campaign, campaign } from "./evm/campaign.ts";
import type { Mismatch } from "./evm/comparison.ts";
import { GO_ETHEREUM_VERSION, goEthereumVersion } from "./evm/goEthereum.ts";
import { reportOf } from "./evm/mismatchReport.ts";
import { fromAsked, inputsAsked, isLong, secondsAsked, seedAsked } from "./fuzzing.ts";

/*
 * Random programs over all instructions and forks, run here and by go-ethereum's `evm` (the command that GO_EVM names,
 * else the one on the path), each with gas limits at which it stops anywhere. The state root says what was paid and
 * written, the hash of the logs what was logged, and what a called contract returned and had left.
 */
const DAILY_PROGRAMS = 300;
/** Mismatches that are made small and told at length. */
const REPORTED = 3;

const version = goEthereumVersion();
const seed = seedAsked();

describe("programs, here and in go-ethereum", () => {
  it.skipIf(version === undefined)(
    `come to the same (IBEX_SEED=${seed})`,
    async () => {
      if (version?.startsWith(GO_ETHEREUM_VERSION) !== true)
        console.log(`go-ethereum is ${version}; the fuzz was made for ${GO_ETHEREUM_VERSION}`);
      const programs = inputsAsked ?? (isLong ? Number.MAX_SAFE_INTEGER : DAILY_PROGRAMS);
      const done = await campaign({ seed, from: fromAsked, programs, seconds: secondsAsked });
      if (isLong) console.log(summaryOf(done));
      if (done.mismatches.length > 0) throw new Error(await reportOfAll(done.mismatches));
      expect(done.outcomes.get("succeeded") ?? 0).toBeGreaterThan(done.runs / 10);
      expect(done.outcomes.size).toBeGreaterThan(8);
    },
    isLong ? 24 * 3_600_000 : 120_000,
  );
  if (version === undefined && isLong)
    console.log("SKIPPED: programs, here and in go-ethereum, for there is no `evm`; GO_EVM can name it");
});

/** All in a line each, some at length. */
async function reportOfAll(mismatches: readonly Mismatch[]): Promise<string> {
  const lines = mismatches.map(
    ({ program, gasLimit, what }) => `${program.name}, ${program.fork}, gas limit ${gasLimit}: ${what}`,
  );
  for (const mismatch of mismatches.slice(0, REPORTED)) lines.push(await reportOf(mismatch));
  return [`${mismatches.length} mismatches`, ...lines].join("\n");
}

function summaryOf({
  programs,
  runs,
  seconds,
  traced,
  blocks,
  forks,
  outcomes,
  mismatches,
}: Campaign): string {
  const list = (counts: ReadonlyMap<string, number>): string =>
    [...counts]
      .sort(([, a], [, b]) => b - a)
      .map(([name, times]) => `${name} ${times}`)
      .join(", ");
  return [
    `evm: ${programs} programs, ${runs} runs in ${seconds.toFixed(0)} s (${Math.round(programs / seconds)} and ` +
      `${Math.round(runs / seconds)} a second), seed ${seed}, go-ethereum ${version}; the steps of ${traced} compared; ${blocks} blocks; ` +
      `${mismatches.length} mismatches`,
    `  forks: ${list(forks)}`,
    `  outcomes: ${list(outcomes)}`,
  ].join("\n");
}
