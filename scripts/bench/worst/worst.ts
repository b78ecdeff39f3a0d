import type { Overlay } from "../../../src/state/overlay.ts";
import { generator, type Random } from "../../../test/storage/random.ts";
import { findGoEthereum } from "./goEthereum.ts";
import { type Case, drawInstruction, INSTRUCTIONS } from "./instructions.ts";
import { type OurTime, runOurs } from "./ours.ts";
import { drawPrecompile, PRECOMPILES } from "./precompileInputs.ts";
import { drawSequence, SEQUENCES } from "./sequences.ts";
import { buildWorld } from "./stage.ts";

export interface WorstSettings {
  readonly seed: number;
  /** Duration of the search. Measuring the worst takes some more seconds for each, and at most MEASURED_MS for all. */
  readonly seconds: number;
  /** Of each line of the table. */
  readonly gas: number;
}

/** How many of the slowest cases are measured, and how many lines are printed. */
const MEASURED = 45;
const LINES = 25;
const MEASURED_MS = 180_000;
const SEARCH_MS = 25;
const SMALLEST_GAS = 100_000;
const LONGEST_MS = 10_000;

/**
 * Searches for the code with the most time per gas: each instruction with operands, each precompiled contract with
 * inputs, and sequences, drawn by a seed from families of expensive ones; then measures the worst of each kind, beside
 * go-ethereum's `evm` if GO_EVM names it.
 */
export async function measureWorst({ seed, seconds, gas }: WorstSettings): Promise<void> {
  const random = generator(seed);
  const world = buildWorld(random);
  console.log(`\nthe most time per gas, seed ${seed} (--seed=${seed} repeats it)`);
  const found = await search(world, random, seconds * 1000);
  const go = findGoEthereum(world);
  if (go === undefined) console.log("go-ethereum's evm is not here; GO_EVM can name it");
  const lines: Line[] = [];
  const endMs = performance.now() + MEASURED_MS;
  for (const one of found.slice(0, MEASURED)) {
    if (performance.now() > endMs) break;
    const ours = await measure(world, one.case, gas);
    const goMs = ours && go?.run(one.case, ours.gas);
    if (ours !== undefined) lines.push({ name: one.case.name, ours, goMs });
  }
  go?.close();
  print("by milliseconds per million gas", lines, ({ ours }) => ours.ms / ours.gas);
  if (go !== undefined)
    print("by ratio to go-ethereum", lines, ({ ours, goMs }) => ours.ms / (goMs ?? ours.ms));
}

interface Found {
  readonly case: Case;
  readonly msPerGas: number;
}

/** The worst of each kind, the worst first. Draws in rounds, so that the time limit skips no kind. */
async function search(world: Overlay, random: Random, budgetMs: number): Promise<readonly Found[]> {
  const kinds: readonly (readonly [string, () => Case])[] = [
    ...INSTRUCTIONS.map((each) => [each[1], () => drawInstruction(each, random)] as const),
    ...PRECOMPILES.map((each) => [each[1], () => drawPrecompile(each, random)] as const),
    ...Array.from({ length: SEQUENCES }, () => ["", () => drawSequence(random)] as const),
  ];
  const worst = new Map<string, Found>();
  const endMs = performance.now() + budgetMs;
  let tried = 0;
  while (performance.now() < endMs) {
    for (const [kind, draw] of kinds) {
      // Always drawn, so that later draws do not depend on the speed of the computer.
      const drawn = draw();
      if (performance.now() > endMs) continue;
      const time = await rateOf(world, drawn);
      tried++;
      const key = kind === "" ? drawn.name : kind;
      if (time > (worst.get(key)?.msPerGas ?? 0)) worst.set(key, { case: drawn, msPerGas: time });
    }
  }
  console.log(`${tried} cases tried, of ${worst.size} kinds`);
  return [...worst.values()].sort((a, b) => b.msPerGas - a.msPerGas);
}

/** Milliseconds per gas, by runs with increasing gas until one is long enough to measure. */
async function rateOf(world: Overlay, one: Case): Promise<number> {
  let rate = 0;
  for (let gas = SMALLEST_GAS; gas <= 64 * SMALLEST_GAS; gas *= 4) {
    const time = await runOurs(world, one, gas, LONGEST_MS);
    if (time === undefined) return LONGEST_MS / gas;
    rate = time.ms / gas;
    if (time.ms > SEARCH_MS) break;
  }
  return rate;
}

/** Measures with this gas, or as much as ends within the time limit. */
async function measure(world: Overlay, one: Case, gas: number): Promise<OurTime | undefined> {
  for (let asked = gas; asked >= SMALLEST_GAS; asked = Math.floor(asked / 4)) {
    const time = await runOurs(world, one, asked, LONGEST_MS);
    if (time !== undefined) return time;
  }
  return undefined;
}

interface Line {
  readonly name: string;
  readonly ours: OurTime;
  readonly goMs: number | undefined;
}

function print(title: string, lines: readonly Line[], by: (line: Line) => number): void {
  console.log(`\n${title}`);
  const [name, ...heads] = ["case", "Mgas", "ms", "ms/Mgas", "go ms", "ratio", "longest step ms"];
  console.log(`${name?.padEnd(72)} ${heads.map((head) => head.padStart(9)).join(" ")}`);
  for (const line of lines.toSorted((a, b) => by(b) - by(a)).slice(0, LINES)) {
    const { ours, goMs } = line;
    const ratio = goMs === undefined ? undefined : ours.ms / goMs;
    const figures = [ours.gas / 1e6, ours.ms, (ours.ms / ours.gas) * 1e6, goMs, ratio, ours.longestMs];
    const written = figures.map((figure) => (figure === undefined ? "-" : shown(figure)).padStart(9));
    console.log(`${line.name.slice(0, 72).padEnd(72)} ${written.join(" ")}`);
  }
}

function shown(figure: number): string {
  return figure >= 100 ? figure.toFixed(0) : figure.toFixed(2);
}
