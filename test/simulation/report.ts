import { runSetting, type SeedFigures, type SeedViolation } from "./runSeed.ts";
import type { WorldParts } from "./simulator.ts";
import { letterOf } from "./trace.ts";
import { drawSetting, FAULT_CLASSES, type Setting } from "./weather.ts";

const LINES_PER_NODE = 14;

/**
 * All that is known of a seed that went wrong: its rates, the last words of each node, the command that repeats it, and
 * whether it still goes wrong without each kind of fault.
 */
export function reportFailure(setting: Setting, violation: SeedViolation, parts: WorldParts = {}): string {
  const lastLines = new Map<number, string[]>();
  runSetting(setting, {
    ...parts,
    observe({ index, nowMs }, line) {
      const lines = lastLines.get(index) ?? [];
      lines.push(`${(nowMs / 1000).toFixed(3)} ${line()}`);
      if (lines.length > LINES_PER_NODE) lines.shift();
      lastLines.set(index, lines);
    },
  });
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
    ...Object.entries(FAULT_CLASSES).map(([name, without]) => {
      const again = runSetting(without(setting), parts).violation;
      return `  without ${name}: ${again === undefined ? "holds" : again.message.split("\n")[0]}`;
    }),
    "",
    `Repeat it: npm run simulate -- --seed ${setting.seed} --trace`,
  ].join("\n");
}

export function describeSetting({ seed, nodes, validators, liars, isRuthless, storm }: Setting): string {
  const rates = Object.entries(storm).map(
    ([name, rate]: [string, number]) => `${name} ${Number(rate.toFixed(4))}`,
  );
  return `seed ${seed}: ${nodes} nodes, ${validators} validators, ${liars} of them ${isRuthless ? "ruthless " : ""}liars\n  ${rates.join(", ")}`;
}

/** Prints every event of a seed as it happens, a line each: the true time, the node, its own time if it is off, what happens. */
export function traceSeed(seed: number, print: (line: string) => void): SeedViolation | undefined {
  const setting = drawSetting(seed);
  print(describeSetting(setting));
  const { violation, figures } = runSetting(setting, {
    observe({ index, isLiar, nowMs, skewMs }, line) {
      const time = ((nowMs - skewMs) / 1000).toFixed(3).padStart(9);
      print(`${time} ${letterOfNode(index)}${isLiar ? "!" : " "} ${line()}`);
    },
  });
  print(violation === undefined ? "All holds." : violation.message);
  print(JSON.stringify(figures));
  return violation;
}

/** Sums of many seeds. */
export interface Totals {
  seeds: number;
  withLiars: number;
  withSetChanges: number;
  steps: number;
  messages: number;
  lies: number;
  crashes: number;
  powerCuts: number;
  heights: number;
  laterRounds: number;
  longestCalmMs: number;
}

export function noTotals(): Totals {
  return {
    seeds: 0,
    withLiars: 0,
    withSetChanges: 0,
    steps: 0,
    messages: 0,
    lies: 0,
    crashes: 0,
    powerCuts: 0,
    heights: 0,
    laterRounds: 0,
    longestCalmMs: 0,
  };
}

export function addSeed(totals: Totals, { liars }: Setting, figures: SeedFigures): void {
  totals.seeds += 1;
  totals.withLiars += liars > 0 ? 1 : 0;
  totals.withSetChanges += figures.setChanges > 0 ? 1 : 0;
  totals.steps += figures.steps;
  totals.messages += figures.messages;
  totals.lies += figures.lies;
  totals.crashes += figures.crashes;
  totals.powerCuts += figures.powerCuts;
  totals.heights += figures.heights;
  totals.laterRounds += figures.laterRounds;
  totals.longestCalmMs = Math.max(totals.longestCalmMs, figures.calmMs);
}

const letterOfNode = (index: number): string => letterOf(Uint8Array.of(index + 1));
