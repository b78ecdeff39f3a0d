import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Contender, root, startProgram } from "../../contenders.ts";
import { createRpcClient } from "../../httpClient.ts";
import { genesisWith, type LoggedBlock, readBlocks, startValidators } from "../../network.ts";
import { pause } from "../../pause.ts";
import { type CallerAttack, untilOver } from "./callerAttack.ts";
import { HonestCaller } from "./honestCaller.ts";
import { CALLER_ATTACKS } from "./list.ts";
import { NodeWatch } from "./nodeWatch.ts";
import { type AttackResult, printResult, printTable, spacingOf } from "./results.ts";
import { Tally } from "./tally.ts";

/** Blocks before an attack, so that code is compiled and the first figures do not count. */
const WARM_UP_MS = 4000;

/**
 * What callers can do to one node alone, or to the first of several validators: block spacing, the time of an honest caller's calls and
 * the largest memory, for each attack whose name contains `wanted`, each on a new chain; at the end a table of all.
 */
export async function measureCallerAttacks(
  seconds: number,
  { wanted, validators }: { readonly wanted: string; readonly validators: number },
): Promise<void> {
  const attacks = CALLER_ATTACKS.filter(({ name }) => name.includes(wanted));
  if (attacks.length === 0) return;
  const who = validators === 1 ? "one validator" : `one of ${validators} validators`;
  console.log(`\nblocks of one second of ${who} whose callers attack it for ${seconds} s`);
  const results: AttackResult[] = [];
  for (const attack of attacks) {
    const result = await measureAttack(attack, seconds, validators).catch(
      (error: unknown): AttackResult => ({ name: attack.name, failed: String(error) }),
    );
    printResult(result);
    results.push(result);
  }
  printTable(results);
}

async function measureAttack(
  attack: CallerAttack,
  seconds: number,
  validators: number,
): Promise<AttackResult> {
  const network = await (validators === 1 ? startAlone(attack) : startOneOf(validators, attack));
  const { node } = network;
  const client = createRpcClient(node.port, 16);
  const tally = new Tally();
  try {
    const begin = await attack.prepare({ port: node.port, wsPort: node.wsPort, client, tally });
    // Their threads are started and their code is compiled, too.
    for (const [method, params] of attack.honestCalls?.calls ?? []) await client.call(method, params);
    await pause(WARM_UP_MS);
    const watch = new NodeWatch(node);
    const honest = new HonestCaller(node.port, attack.honestCalls);
    const beganAtMs = Date.now();
    const isOver = (): boolean => Date.now() - beganAtMs > seconds * 1000;
    const underAttack = begin(isOver).catch((error: unknown) => tally.note(`the attack ended: ${error}`));
    await Promise.race([underAttack, untilOver(isOver)]);
    await untilOver(isOver);
    const spacing = spacingOf(network.blocks(), beganAtMs);
    const { groups, errors } = await honest.end();
    for (const error of errors) tally.note(`an honest caller got ${error}`);
    return { name: attack.name, spacing, honestMs: groups, node: watch.end(), refused: tally.text };
  } finally {
    client.close();
    await network.stop();
  }
}

interface AttackedNetwork {
  readonly node: Contender;
  blocks(): readonly LoggedBlock[];
  stop(): Promise<void>;
}

async function startAlone({ options = [], genesis }: CallerAttack): Promise<AttackedNetwork> {
  const folder = mkdtempSync(join(tmpdir(), "ibex-bench-"));
  const logFile = join(folder, "node.log");
  const common = ["--logging-format=JSON", "--min-gas-price=0", "--p2p-enabled=false", ...options];
  const node = await startProgram(
    join(folder, "data"),
    genesis === undefined ? common : [...common, ...ownGenesis(folder, genesis)],
    logFile,
  );
  return {
    node,
    blocks: () => readBlocks(logFile),
    async stop() {
      await node.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function ownGenesis(folder: string, genesis: Readonly<Record<string, unknown>>): readonly string[] {
  const file = join(folder, "genesis.json");
  writeFileSync(file, genesisWith(genesis));
  const key = join(root, "genesis", "dev.key");
  return [
    `--genesis-file=${file}`,
    `--node-private-key-file=${key}`,
    "--rpc-http-enabled",
    "--rpc-ws-enabled",
  ];
}

async function startOneOf(validators: number, attack: CallerAttack): Promise<AttackedNetwork> {
  const { options = [], genesis = {} } = attack;
  const network = await startValidators(validators, {
    genesis,
    optionsOf: (index) => (index === 0 ? ["--rpc-ws-enabled", ...withPeers(options)] : []),
  });
  const [node] = network.nodes;
  if (node === undefined) throw new Error("no validator");
  return { node, blocks: () => network.blocks(0), stop: () => network.stop() };
}

/** The start of a network asks its nodes for their peers. */
function withPeers(options: readonly string[]): readonly string[] {
  return options.map((option) => (option.startsWith("--rpc-http-api=") ? `${option},NET` : option));
}
