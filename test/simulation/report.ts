import { runSetting, type SeedFigures, type SeedViolation } from "./runSeed.ts";
import { drawSetting, FAULT_CLASSES, type Setting } from "./setting.ts";
import type { NetworkParts } from "./simulator.ts";
import { letterOfNode } from "./trace.ts";

const LINES_PER_NODE = 14;

/**
 * Describes a failed seed: its rates, the last events of each node, the command that repeats it, and
 * whether it still fails without each kind of fault.
 */
export async function reportFailure(
  setting: Setting,
  violation: SeedViolation,
  parts: NetworkParts = {},
): Promise<string> {
  const lastLines = new Map<number, string[]>();
  await runSetting(setting, {
    ...parts,
    observe({ index, nowMs }, line) {
      const lines = lastLines.get(index) ?? [];
      lines.push(`${(nowMs / 1000).toFixed(3)} ${line()}`);
      if (lines.length > LINES_PER_NODE) lines.shift();
      lastLines.set(index, lines);
    },
  });
  const comparisons: string[] = [];
  for (const [name, without] of Object.entries(FAULT_CLASSES)) {
    const { violation: again } = await runSetting(without(setting), parts);
    comparisons.push(`  without ${name}: ${again === undefined ? "holds" : again.message.split("\n")[0]}`);
  }
  const nodes = [...lastLines].sort(([a], [b]) => a - b);
  return [
    `seed ${setting.seed}: ${violation.message}`,
    "",
    describeSetting(setting),
    "",
    "The last transitions of each node, by its own clock:",
    ...nodes.flatMap(([index, lines]) => [
      `  node ${letterOfNode(index)}`,
      ...lines.map((line) => `    ${line}`),
    ]),
    "",
    "The same seed without one kind of fault:",
    ...comparisons,
    "",
    `Repeat it: npm run simulate -- --seed ${setting.seed} --trace`,
  ].join("\n");
}

export function describeSetting({
  seed,
  nodes,
  validators,
  byzantine,
  isRuthless,
  conditions,
  relays,
}: Setting): string {
  const rates = Object.entries(conditions).map(
    ([name, rate]: [string, number]) => `${name} ${Number(rate.toFixed(4))}`,
  );
  return `seed ${seed}: ${nodes} nodes, ${validators} validators, ${byzantine} of them ${isRuthless ? "ruthlessly " : ""}Byzantine\n  ${rates.join(", ")}\n  ${describeRelays(relays)}`;
}

function describeRelays(relays: Setting["relays"]): string {
  if (relays === undefined) return "all receive each other's messages directly";
  const limits = Object.entries(relays.limits).map(([name, limit]: [string, number]) => `${name} ${limit}`);
  return `messages are relayed, over ${Math.round(100 * relays.links)} % of the links; ${limits.join(", ")}`;
}

/** Prints every event of a seed, one per line: the true time, the node, its own time if different, and the event. */
export async function traceSeed(
  seed: number,
  print: (line: string) => void,
): Promise<SeedViolation | undefined> {
  const setting = drawSetting(seed);
  const startMs = performance.now();
  print(describeSetting(setting));
  const { violation, figures } = await runSetting(setting, {
    tell: (line, nowMs) => print(`${(nowMs / 1000).toFixed(3).padStart(9)} -- ${line()}`),
    observe({ index, isByzantine, nowMs, skewMs }, line) {
      const time = ((nowMs - skewMs) / 1000).toFixed(3).padStart(9);
      print(`${time} ${letterOfNode(index)}${isByzantine ? "!" : " "} ${line()}`);
    },
  });
  print(violation === undefined ? "All holds." : violation.message);
  print(describeSeed(setting, figures, { seconds: (performance.now() - startMs) / 1000 }));
  return violation;
}

/** The figures of one run. */
export function describeSeed(
  setting: Setting,
  figures: SeedFigures,
  took: { readonly seconds: number },
): string {
  const totals = noTotals();
  addSeed(totals, setting, figures);
  return describeTotals(totals, took);
}

/** Sums and maxima over many seeds. */
export interface Totals extends Record<(typeof SUMMED)[number], number> {
  seeds: number;
  withByzantine: number;
  withSetChanges: number;
  withRelays: number;
  longestCalmMs: number;
  highestRound: number;
}

const SUMMED = [
  "steps",
  "virtualMs",
  "heights",
  "laterRounds",
  "messages",
  "lost",
  "duplicated",
  "partitions",
  "kept",
  "crashes",
  "powerCuts",
  "pauses",
  "byzantineMessages",
  "doubleVotes",
] as const satisfies readonly (keyof SeedFigures)[];

export function noTotals(): Totals {
  const sums = Object.fromEntries(SUMMED.map((name) => [name, 0])) as Record<(typeof SUMMED)[number], number>;
  const counts = { seeds: 0, withByzantine: 0, withSetChanges: 0, withRelays: 0 };
  return { ...sums, ...counts, longestCalmMs: 0, highestRound: 0 };
}

export function addSeed(totals: Totals, { byzantine, relays }: Setting, figures: SeedFigures): void {
  totals.seeds += 1;
  totals.withByzantine += byzantine > 0 ? 1 : 0;
  totals.withSetChanges += figures.setChanges > 0 ? 1 : 0;
  totals.withRelays += relays === undefined ? 0 : 1;
  for (const name of SUMMED) totals[name] += figures[name];
  totals.longestCalmMs = Math.max(totals.longestCalmMs, figures.calmMs);
  totals.highestRound = Math.max(totals.highestRound, figures.highestRound);
}

/** The figures of many runs, as readable lines. */
export function describeTotals(totals: Totals, { seconds }: { readonly seconds: number }): string {
  const count = (value: number): string => Math.round(value).toLocaleString("en");
  const share = (part: number, whole: number): string =>
    `${count(part)} (${((100 * part) / Math.max(1, whole)).toFixed(1)} %)`;
  const duration = (minutes: number): string =>
    minutes < 120 ? `${minutes.toFixed(1)} minutes` : `${(minutes / 60).toFixed(1)} hours`;
  const { seeds, steps, heights, messages } = totals;
  return [
    `${seeds === 1 ? "1 network" : `${count(seeds)} networks`} in ${seconds.toFixed(seconds < 10 ? 1 : 0)} s, ${count(steps / seconds)} steps a second`,
    `  networks    ${count(totals.withByzantine)} with Byzantine validators, ${count(totals.withRelays)} with partial meshes and relays, ${count(totals.withSetChanges)} with changes of the validator set`,
    `  time        ${count(steps)} steps in ${duration(totals.virtualMs / 60_000)} of virtual time`,
    `  blocks      ${count(heights)}, of them decided in a round above 0: ${share(totals.laterRounds, heights)}; highest round of a validator: ${totals.highestRound}`,
    `  messages    ${count(messages)}, lost ${share(totals.lost, messages)}, doubled ${share(totals.duplicated, messages)}, kept for a later height ${count(totals.kept)}`,
    `  faults      ${count(totals.crashes)} crashes, of them power cuts: ${count(totals.powerCuts)}; ${count(totals.partitions)} partitions; ${count(totals.pauses)} pauses`,
    `  Byzantine   ${count(totals.byzantineMessages)} messages, ${count(totals.doubleVotes)} reports of double votes`,
    `  after it    longest wait for all blocks of a calm: ${(totals.longestCalmMs / 1000).toFixed(0)} s of virtual time`,
  ].join("\n");
}
