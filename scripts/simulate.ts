/**
 * `npm run simulate [-- --seeds N | --seconds N] [--from N]`: simulates networks of validators generated from seeds
 * (test/simulation) on all cores, by default from a random seed; `--seed N [--trace]` repeats one, with each event on a
 * line. Prints statistics at the end; a seed with a violated invariant is reported in full and makes the command fail.
 */
import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import {
  addSeed,
  describeSeed,
  describeSetting,
  describeTotals,
  noTotals,
  reportFailure,
  type Totals,
  traceSeed,
} from "../test/simulation/report.ts";
import { runSetting, type SeedFigures } from "../test/simulation/runSeed.ts";
import { drawSetting } from "../test/simulation/setting.ts";

interface Share {
  readonly firstSeed: number;
  readonly stride: number;
  readonly seeds: number;
  readonly untilMs: number;
}

/** A worker's message before it begins with a seed. */
interface SeedBegun {
  readonly begun: number;
}

interface SeedNews {
  readonly seed: number;
  readonly isViolated: boolean;
  readonly figures: SeedFigures;
}

const DEFAULT_SEEDS = 1_000;
/** Bounds the output when the protocol is broken. */
const MOST_REPORTS = 3;
const TOLD_EVERY_MS = 10_000;
/** A simulation that takes longer never ends, for example because its messages multiply. */
const LONGEST_SEED_MS = 120_000;

if (isMainThread) await main(process.argv.slice(2));
else await runShare(workerData as Share);

async function main(words: readonly string[]): Promise<void> {
  const asked = readArguments(words);
  if (asked.seed !== undefined) {
    process.exitCode = (await repeat(asked.seed, asked.isTraced)) ? 0 : 1;
    return;
  }
  const firstSeed = asked.from ?? Math.floor(Math.random() * 2 ** 31);
  const seeds = asked.seeds ?? (asked.seconds === undefined ? DEFAULT_SEEDS : 2 ** 31);
  console.log(`simulating from seed ${firstSeed}`);
  const startMs = performance.now();
  const untilMs = Date.now() + (asked.seconds ?? 10 * 24 * 3600) * 1000;
  const { totals, violated } = await runAll({ firstSeed, seeds, untilMs });
  for (const seed of violated.slice(0, MOST_REPORTS)) await repeat(seed, false);
  console.log(describeTotals(totals, { seconds: (performance.now() - startMs) / 1000 }));
  console.log(
    `  ${violated.length} seeds with a violation${violated.length === 0 ? "" : `: ${violated.join(" ")}`}`,
  );
  process.exitCode = violated.length === 0 ? 0 : 1;
}

async function repeat(seed: number, isTraced: boolean): Promise<boolean> {
  if (isTraced) return (await traceSeed(seed, (line) => console.log(line))) === undefined;
  const setting = drawSetting(seed);
  const startMs = performance.now();
  const { violation, figures } = await runSetting(setting);
  const seconds = (performance.now() - startMs) / 1000;
  if (violation === undefined) {
    console.log(
      `${describeSetting(setting)}\nAll invariants hold.\n${describeSeed(setting, figures, { seconds })}`,
    );
    return true;
  }
  console.log(await reportFailure(setting, violation));
  return false;
}

async function runAll({
  firstSeed,
  seeds,
  untilMs,
}: Omit<Share, "stride">): Promise<{ totals: Totals; violated: number[] }> {
  const totals = noTotals();
  const violated: number[] = [];
  const stride = Math.min(availableParallelism(), seeds);
  const progress = setInterval(
    () => console.log(`  ${totals.seeds} seeds, ${violated.length} with a violation`),
    TOLD_EVERY_MS,
  );
  await Promise.all(
    Array.from({ length: stride }, (_, index) => {
      const share: Share = {
        firstSeed: firstSeed + index,
        stride,
        seeds: Math.ceil((seeds - index) / stride),
        untilMs,
      };
      const worker = new Worker(new URL(import.meta.url), { workerData: share });
      let watch: NodeJS.Timeout | undefined;
      worker.on("message", (news: SeedBegun | SeedNews) => {
        clearTimeout(watch);
        if ("begun" in news) {
          watch = setTimeout(() => giveUp(news.begun), LONGEST_SEED_MS);
          return;
        }
        const { seed, isViolated, figures } = news;
        addSeed(totals, drawSetting(seed), figures);
        if (isViolated) violated.push(seed);
      });
      return new Promise<void>((resolve, reject) => {
        worker.on("error", reject);
        worker.on("exit", () => resolve());
      });
    }),
  );
  clearInterval(progress);
  return { totals, violated };
}

function giveUp(seed: number): never {
  console.log(`seed ${seed} does not end: aborted after ${LONGEST_SEED_MS / 1000} s`);
  process.exit(1);
}

async function runShare({ firstSeed, stride, seeds, untilMs }: Share): Promise<void> {
  for (let done = 0; done < seeds && Date.now() < untilMs; done++) {
    const seed = firstSeed + done * stride;
    const begun: SeedBegun = { begun: seed };
    parentPort?.postMessage(begun);
    const { violation, figures } = await runSetting(drawSetting(seed));
    const news: SeedNews = { seed, isViolated: violation !== undefined, figures };
    parentPort?.postMessage(news);
  }
}

interface Asked {
  readonly seed?: number;
  readonly seeds?: number;
  readonly seconds?: number;
  readonly from?: number;
  readonly isTraced: boolean;
}

/** Accepts `--name N` and `--name=N`. */
function readArguments(words: readonly string[]): Asked {
  const numbers: Partial<Record<"seed" | "seeds" | "seconds" | "from", number>> = {};
  let isTraced = false;
  const rest = words.flatMap((word) => word.split("="));
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--trace") {
      isTraced = true;
      continue;
    }
    const name = word.slice(2);
    const value = rest.shift() ?? "";
    const isKnown = name === "seed" || name === "seeds" || name === "seconds" || name === "from";
    if (!(word.startsWith("--") && isKnown && /^\d+$/.test(value))) {
      console.error(`'${word} ${value}': use --seed N [--trace], or --seeds N, --seconds N, --from N`);
      process.exit(2);
    }
    numbers[name] = Number(value);
  }
  return { ...numbers, isTraced };
}
