import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Contender, root, startProgram } from "../../contenders.ts";
import { createRpcClient } from "../../httpClient.ts";
import { readBlocks } from "../../network.ts";
import { pause } from "../../pause.ts";
import { atQuantile } from "../../report.ts";
import type { CallerAttack } from "./callerAttack.ts";
import { endlessCalls, endlessCallsOfOneAddress } from "./endlessCalls.ts";
import { startHonestCaller } from "./honestCaller.ts";
import { largeTrace } from "./largeTrace.ts";
import { unreadReceipts } from "./unreadReceipts.ts";

const ATTACKS: readonly CallerAttack[] = [unreadReceipts, largeTrace, endlessCalls, endlessCallsOfOneAddress];

/** Blocks before an attack, so that code is compiled and the first figures do not count. */
const WARM_UP_MS = 4000;
const MEMORY_PERIOD_MS = 50;

/**
 * What callers can do to one node alone: block spacing (p95, longest), the time of an honest caller's small calls (p95, longest) and
 * the largest memory, for each attack whose name contains `wanted`, each on a new chain.
 */
export async function measureCallerAttacks(seconds: number, wanted: string): Promise<void> {
  console.log(`\nblocks of one second of one validator whose callers attack it for ${seconds} s`);
  for (const attack of ATTACKS) {
    if (!attack.name.includes(wanted)) continue;
    console.log(`${attack.name.padEnd(48)} ${await measureAttack(attack, seconds)}`);
  }
}

async function measureAttack(attack: CallerAttack, seconds: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "ibex-bench-"));
  const logFile = join(folder, "node.log");
  const node = await startProgram(join(folder, "data"), optionsOf(attack, folder), logFile);
  const client = createRpcClient(node.port, 16);
  try {
    const begin = await attack.prepare({ port: node.port, wsPort: node.wsPort, client });
    await pause(WARM_UP_MS);
    const memory = watchMemory(node);
    const honest = startHonestCaller(node.port);
    const beganAtMs = Date.now();
    const isOver = (): boolean => Date.now() - beganAtMs > seconds * 1000;
    const underAttack = begin(isOver).catch((error: unknown) => console.error(`the attack ended: ${error}`));
    await Promise.race([underAttack, untilOver(isOver)]);
    await untilOver(isOver);
    const times = await honest.end();
    return `${spacing(logFile, beganAtMs)}; ${answers(times)}; ${memory.end()}`;
  } finally {
    client.close();
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function optionsOf({ options = [], genesis }: CallerAttack, folder: string): readonly string[] {
  const common = ["--logging-format=JSON", "--min-gas-price=0", "--p2p-enabled=false", ...options];
  if (genesis === undefined) return common;
  const development: object = JSON.parse(readFileSync(join(root, "genesis", "dev.json"), "utf8"));
  const genesisFile = join(folder, "genesis.json");
  writeFileSync(genesisFile, JSON.stringify({ ...development, ...genesis }));
  return [
    ...common,
    `--genesis-file=${genesisFile}`,
    `--node-private-key-file=${join(root, "genesis", "dev.key")}`,
    "--rpc-http-enabled",
    "--rpc-ws-enabled",
  ];
}

/** A missing block counts as if it arrived now. */
function spacing(logFile: string, beganAtMs: number): string {
  const times = readBlocks(logFile).map(({ atMs }) => atMs);
  const first = times.findLastIndex((atMs) => atMs < beganAtMs);
  const marks = [...times.slice(Math.max(first, 0)), Date.now()];
  const gaps = marks.slice(1).map((atMs, at) => (atMs - (marks[at] ?? 0)) / 1000);
  const counted = (gaps.at(-1) ?? 0) > 1 ? gaps : gaps.slice(0, -1);
  return `blocks p95 ${atQuantile(counted, 0.95).toFixed(2)} s, longest ${Math.max(...counted).toFixed(2)} s`;
}

function answers(times: readonly number[]): string {
  const seconds = (quantile: number): string => (atQuantile(times, quantile) / 1000).toFixed(3);
  return `honest calls p95 ${seconds(0.95)} s, longest ${seconds(1)} s`;
}

function watchMemory(node: Contender): { end(): string } {
  let largest = 0;
  const timer = setInterval(() => {
    largest = Math.max(largest, node.residentMb());
  }, MEMORY_PERIOD_MS);
  return {
    end() {
      clearInterval(timer);
      return `memory ${Math.round(largest)} MB`;
    },
  };
}

async function untilOver(isOver: () => boolean): Promise<void> {
  while (!isOver()) await pause(50);
}
