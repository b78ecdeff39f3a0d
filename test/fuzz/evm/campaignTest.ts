import { expect, it } from "vitest";
import { TEST_HANG_MS } from "../../hang.ts";
import { fromAsked, inputsAsked, isLong, secondsAsked, seedAsked } from "../fuzzing.ts";
import { type Campaign, campaign, type Source } from "./campaign.ts";
import type { Mismatch } from "./comparison.ts";
import { GO_ETHEREUM_VERSION, goEthereumVersion } from "./goEthereum.ts";
import { reportOf } from "./mismatchReport.ts";

/** A kind of programs, as `npm run fuzz` names it. */
export interface CampaignTest {
  readonly name: string;
  readonly source: Source;
  /** Programs of an ordinary test run. */
  readonly dailyPrograms: number;
  /** The least number of different things that come of them. */
  readonly outcomes: number;
}

/** Mismatches that are made small and told at length. */
const REPORTED = 3;

const version = goEthereumVersion();
const seed = seedAsked();

/** Declares the test of a kind of programs; skipped where there is no go-ethereum. */
export function testCampaign({ name, source, dailyPrograms, outcomes }: CampaignTest): void {
  it.skipIf(version === undefined)(
    `come to the same (IBEX_SEED=${seed})`,
    async () => {
      if (version?.startsWith(GO_ETHEREUM_VERSION) !== true)
        console.log(`go-ethereum is ${version}; the fuzz was made for ${GO_ETHEREUM_VERSION}`);
      const programs = inputsAsked ?? (isLong ? Number.MAX_SAFE_INTEGER : dailyPrograms);
      const done = await campaign({ source, seed, from: fromAsked, programs, seconds: secondsAsked });
      if (isLong) console.log(summaryOf(name, done));
      if (done.mismatches.length > 0) throw new Error(await reportOfAll(done.mismatches));
      expect(done.outcomes.get("succeeded") ?? 0).toBeGreaterThan(done.runs / 10);
      expect(done.outcomes.size).toBeGreaterThanOrEqual(outcomes);
    },
    isLong ? 24 * 3_600_000 : TEST_HANG_MS,
  );
  if (version === undefined && isLong)
    console.log(`SKIPPED: ${name}, here and in go-ethereum, for there is no \`evm\`; GO_EVM can name it`);
}

/** All in a line each, some at length. */
async function reportOfAll(mismatches: readonly Mismatch[]): Promise<string> {
  const lines = mismatches.map(
    ({ program, gasLimit, what }) => `${program.name}, ${program.fork}, gas limit ${gasLimit}: ${what}`,
  );
  for (const mismatch of mismatches.slice(0, REPORTED)) lines.push(await reportOf(mismatch));
  return [`${mismatches.length} mismatches`, ...lines].join("\n");
}

function summaryOf(
  name: string,
  { programs, runs, seconds, traced, blocks, forks, outcomes, mismatches }: Campaign,
): string {
  const list = (counts: ReadonlyMap<string, number>): string =>
    [...counts]
      .sort(([, a], [, b]) => b - a)
      .map(([name, times]) => `${name} ${times}`)
      .join(", ");
  return [
    `${name}: ${programs} programs, ${runs} runs in ${seconds.toFixed(0)} s (${Math.round(programs / seconds)} and ` +
      `${Math.round(runs / seconds)} a second), seed ${seed}, go-ethereum ${version}; the steps of ${traced} compared; ${blocks} blocks; ` +
      `${mismatches.length} mismatches`,
    `  forks: ${list(forks)}`,
    `  outcomes: ${list(outcomes)}`,
  ].join("\n");
}
