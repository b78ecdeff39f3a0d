import { curve } from "../../../src/primitives/secp256k1.ts";
import type { Identity } from "../../../test/network/identities.ts";
import { createRpcClient } from "../httpClient.ts";
import { startValidators, type ValidatorProcesses } from "../network.ts";
import { pause } from "../pause.ts";
import { atQuantile } from "../report.ts";
import { measureCallerAttacks } from "./callers/run.ts";
import { prepareCallsInTurn, sendEndlessWork, sendLargeTransactions, sendPowers } from "./costlyRequests.ts";
import { sendCertificates, sendLargeProposals, sendMadeUpTransactions } from "./hostileMessages.ts";
import type { Attack, Target } from "./target.ts";

/** The preparation of an attack is measured separately. */
interface PreparedAttack {
  readonly preparation: string;
  readonly prepare: (target: Target) => Promise<Attack>;
}

const ATTACKS: ReadonlyMap<string, Attack | PreparedAttack> = new Map<string, Attack | PreparedAttack>([
  ["nothing", async (_, isOver) => untilOver(isOver)],
  ["costly powers (MODEXP)", sendPowers],
  ["endless work", sendEndlessWork],
  ["180 contracts of 24 KB in turn", { preparation: "their deployment", prepare: prepareCallsInTurn }],
  ["200 transactions of 120 kB", sendLargeTransactions],
  ["a proposal of 9 MB a second", sendLargeProposals],
  ["200 certificates of 4,096 signatures a second", sendCertificates],
  ["messages of 10,900 made-up transactions", sendMadeUpTransactions],
]);

const VALIDATORS = 4;
const ATTACKED = 0;
const BYZANTINE = 3;
/** Time for the blocks after the attack, which must also be made. */
const AFTERMATH_MS = 5000;

/**
 * Four validators on one computer, one of which is attacked for `seconds` by each attack whose name contains `wanted`,
 * each time on a new network. Prints the block spacing at the slowest node, and the CPU use of each process. An attack
 * that needs a Byzantine validator uses the fourth one's key; that validator's own process stays honest, and is not
 * connected to the target. Then callers attack one node alone, or one of `attackedOf` validators.
 */
export async function measureAttacks(
  seconds: number,
  { wanted, attackedOf }: { readonly wanted: string; readonly attackedOf: number },
): Promise<void> {
  if (![...ATTACKS.keys()].some((name) => name.includes(wanted)))
    return measureCallerAttacks(seconds, { wanted, validators: attackedOf });
  console.log(`\nblocks of one second of ${VALIDATORS} validators, one of them attacked for ${seconds} s`);
  for (const [name, attack] of ATTACKS) {
    if (!name.includes(wanted)) continue;
    console.log(`${name.padEnd(48)} ${await measureAttack(attack, seconds)}`);
  }
  await measureCallerAttacks(seconds, { wanted, validators: attackedOf });
}

async function measureAttack(attack: Attack | PreparedAttack, seconds: number): Promise<string> {
  const network = await startValidators(VALIDATORS, {
    areLinked: (one, other) => !([one, other].includes(ATTACKED) && [one, other].includes(BYZANTINE)),
  });
  const node = network.nodes[ATTACKED];
  if (node === undefined) throw new Error("no validator");
  const client = createRpcClient(node.port, 64);
  try {
    const target = targetOf(network, client);
    const begin = typeof attack === "function" ? attack : await prepare(attack, target, network);
    const cpuBefore = network.nodes.map((each) => each.cpuSeconds());
    const beganAtMs = Date.now();
    const isOver = (): boolean => Date.now() - beganAtMs > seconds * 1000;
    const underAttack = begin(target, isOver).catch((error: unknown) => {
      console.error(`the attack ended: ${error}`);
    });
    await Promise.race([underAttack, untilOver(isOver)]);
    await untilOver(isOver);
    const cpu = network.nodes.map((each, index) => cpuSince(each, cpuBefore[index] ?? 0));
    await pause(AFTERMATH_MS);
    return `${spacingOf(network, beganAtMs)}; CPU ${cpu.map((used) => `${Math.round((used / seconds) * 100)} %`).join(" ")}`;
  } finally {
    client.close();
    await network.stop();
  }
}

async function prepare(
  { preparation, prepare }: PreparedAttack,
  target: Target,
  network: ValidatorProcesses,
): Promise<Attack> {
  const beganAtMs = Date.now();
  const attack = await prepare(target);
  await pause(AFTERMATH_MS);
  const tookSeconds = (Date.now() - beganAtMs) / 1000;
  console.log(
    `${preparation.padEnd(48)} ${spacingOf(network, beganAtMs)}; ${tookSeconds.toFixed(1)} s in all`,
  );
  return attack;
}

function targetOf(network: ValidatorProcesses, client: Target["client"]): Target {
  const [key, port] = [network.keys[ATTACKED], network.peerPorts[ATTACKED]];
  const byzantineKey = network.keys[BYZANTINE];
  if (key === undefined || port === undefined || byzantineKey === undefined)
    throw new Error("no such validator");
  return {
    address: { nodeId: curve.publicKey(key), host: "127.0.0.1", tcpPort: port },
    client,
    byzantine: identityOf(byzantineKey),
    headNumber: async () => Number(await client.call<string>("eth_blockNumber")),
  };
}

const identityOf = (privateKey: Uint8Array): Identity => ({
  privateKey,
  nodeId: curve.publicKey(privateKey),
});

/** Block spacing of the slowest node. A missing block counts as if it arrived now. */
function spacingOf(network: ValidatorProcesses, beganAtMs: number): string {
  const spacings = network.nodes.map((_, index) => {
    const blocks = network.blocks(index);
    const times = blocks.map(({ atMs }) => atMs).filter((atMs) => atMs >= beganAtMs - 1500);
    const marks = [...times, Date.now()];
    const gaps = marks.slice(1).map((atMs, at) => (atMs - (marks[at] ?? 0)) / 1000);
    const late = blocks.filter(({ atMs, round }) => atMs >= beganAtMs && round > 0).length;
    return { gaps: (gaps.at(-1) ?? 0) > 1 ? gaps : gaps.slice(0, -1), late };
  });
  const worst = spacings.toSorted((a, b) => Math.max(...b.gaps) - Math.max(...a.gaps))[0];
  if (worst === undefined || worst.gaps.length === 0) return "no blocks";
  const [p50, p95] = [atQuantile(worst.gaps, 0.5), atQuantile(worst.gaps, 0.95)];
  return (
    `p50 ${p50.toFixed(2)} s, p95 ${p95.toFixed(2)} s, longest ${Math.max(...worst.gaps).toFixed(2)} s ` +
    `of ${worst.gaps.length}, of later rounds ${worst.late}`
  );
}

/** NaN for a process that has exited. */
function cpuSince(node: { cpuSeconds(): number }, before: number): number {
  try {
    return node.cpuSeconds() - before;
  } catch {
    return Number.NaN;
  }
}

async function untilOver(isOver: () => boolean): Promise<void> {
  while (!isOver()) await pause(50);
}
