import { loadInterpreter } from "../../src/execution/blockSession.ts";
import { type NodeKey, nodeKey } from "../../src/node/keys/nodeKey.ts";
import { compareBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import type { TxPool } from "../../src/txpool/txPool.ts";
import { decodeExtraData, encodeExtraData, VANITY_BYTES } from "../../src/types/extraData.ts";
import { createForgetfulDisk, type ForgetfulSettings } from "../builders/forgetfulDisk.ts";
import { genesisWith } from "../builders/genesisWith.ts";
import { type Agenda, createAgenda } from "./agenda.ts";
import { COUNTER, createClients } from "./clients.ts";
import { createConnections } from "./connections.ts";
import { drawMesh } from "./mesh.ts";
import { createRandom } from "./random.ts";
import { createRealNode, type RealNode } from "./realNode.ts";
import { createRealValidation, type RealValidation } from "./realValidation.ts";

/**
 * The slower level of simulation: a few real nodes (realNode.ts) in one process, in virtual time and from one seed, with
 * real keys, blocks, states and bytes. Clients send, nodes lose power or are stopped, connections break and
 * stall; then all faults end. In the end all nodes have the same blocks and states, nothing that was announced is
 * lost, everything sent is mined, and the databases are intact to the last entry (realValidation.ts).
 */
export interface RealSetting {
  readonly seed: number;
  readonly validators: number;
  readonly followers: number;
  /** The validators vote the first follower in. */
  readonly votesFollowerIn: boolean;
  /** Share of the possible links during the faulty phase. */
  readonly links: number;
  readonly delayMs: number;
  readonly partition: number;
  /** Probability that a node goes down, every two seconds. */
  readonly outage: number;
  /** Probability that it does so without a shutdown. */
  readonly powerCut: number;
  /** Probability that a validator which goes down loses its last blocks, of which another node has the newest. */
  readonly lostEnd: number;
  readonly downMs: number;
  readonly skewMs: number;
}

export interface RealFigures {
  readonly blocks: number;
  readonly laterRounds: number;
  readonly transactions: number;
  readonly powerCuts: number;
  readonly stops: number;
  readonly lostEnds: number;
  readonly partitions: number;
  readonly messages: number;
  /** Times that a node paused to catch up. */
  readonly pauses: number;
  /** In the end. */
  readonly validators: number;
  readonly virtualMs: number;
}

/** Sabotage of nodes that this level must catch. */
export interface RealSabotage extends Pick<ForgetfulSettings, "syncs"> {
  readonly forgetsVotes?: boolean;
}

export function drawRealSetting(seed: number): RealSetting {
  const random = createRandom(seed ^ 0x7ea1);
  const often = (usual: number, rare: number): number => (random.chance(0.7) ? usual : rare);
  return {
    seed,
    validators: random.between(4, 5),
    followers: 1,
    votesFollowerIn: random.chance(0.5),
    links: 0.4 + 0.6 * random.next(),
    delayMs: often(40, 300),
    partition: random.chance(0.4) ? 0 : random.next() * 0.5,
    outage: random.next() * 0.12,
    powerCut: 0.3 + 0.7 * random.next(),
    downMs: random.between(500, 16_000),
    skewMs: often(100, 700),
    lostEnd: 0.3 * random.next(),
  };
}

const FAULTY_PHASE_MS = 20_000;
/** Rounds that grew long in the faulty phase have to time out. */
const CALM_MS = 180_000;
const CALM_BLOCKS = 3;
const OUTAGE_EVERY_MS = 2_000;
const SEND_EVERY_MS = 150;
const SEND_AGAIN_EVERY_MS = 3_000;
/** Event-loop slices given to pending work before the next event. */
const TURNS_PER_EVENT = 4;
const START_MS = 1_800_000_000_000;

/** Runs one simulation to its end; throws a violation with all that is needed to reproduce it. */
export async function runRealSetting(
  setting: RealSetting,
  sabotage: RealSabotage = {},
): Promise<RealFigures> {
  // Like a node at its start: loading a module from the disk later takes real time, which in virtual
  // time is anything from nothing to minutes.
  await loadInterpreter();
  const { seed } = setting;
  const random = createRandom(seed);
  const losses = createRandom(seed ^ 0x105e);
  const agenda = createAgenda();
  const clients = createClients(createRandom(seed ^ 0xc11e));
  const validation = createRealValidation(clients, () => agenda.nowMs);
  const keys = drawKeys(setting);
  const genesis = genesisOf(keys.slice(0, setting.validators));
  const counts = { powerCuts: 0, stops: 0, lostEnds: 0, pauses: 0 };
  let isCalm = false;
  let lacking: { readonly index: number; readonly number: bigint } | undefined;

  const about = (durationMs: number): number => Math.round(durationMs * (0.5 + random.next() / 2));
  const later = (durationMs: number, action: () => void): void =>
    agenda.plan(agenda.nowMs + about(durationMs), action);

  const nodes: RealNode[] = keys.map((key, index) =>
    createRealNode(index, key, {
      agenda,
      random: createRandom(seed + 1 + index),
      genesis,
      disk: createForgetfulDisk({
        seed: seed * 100 + index,
        ...(sabotage.syncs && { syncs: sabotage.syncs }),
      }),
      forgetsVotes: sabotage.forgetsVotes ?? false,
      startMs: START_MS,
      onSaid: validation.onSaid,
      onHeadChanged: validation.onHeadChanged,
      onFault: (node, what) => validation.fault(`node ${node.index}: ${what}`),
      onGone: (node) => connections.drop(node.index),
      onPaused() {
        counts.pauses += 1;
      },
    }),
  );
  const connections = createConnections({
    agenda,
    random: createRandom(seed ^ 0x11e7),
    speakers: nodes,
    mesh: drawMesh(
      nodes.length,
      { share: setting.links, wellConnected: new Set() },
      createRandom(seed ^ 0x4e57),
    ),
    conditions: setting,
    onDisconnect(by, other, reason, detail) {
      if (reason === "breachOfProtocol")
        validation.fault(`node ${by} reports that ${other} breaks rules: ${detail}`);
    },
  });

  async function boot(node: RealNode): Promise<void> {
    node.setClock(isCalm ? 0 : Math.round((2 * random.next() - 1) * setting.skewMs));
    await node.boot();
    validation.onBoot(node);
    const follower = keys[setting.validators];
    if (setting.votesFollowerIn && follower !== undefined)
      node.running?.engine.proposals.propose({ recipient: follower.address, kind: "add" });
    connections.review();
  }

  /** A failure of the node itself is a violation, and ends the run. */
  function attempt(node: RealNode, what: string, work: Promise<void>): void {
    work.catch((error: unknown) => {
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      validation.fault(`node ${node.index} does not ${what}: ${reason}`);
    });
  }

  const bootNow = (node: RealNode): void => attempt(node, "start", boot(node));

  /** Only one at a time, so that the lost block stays where it was found. */
  function losesEnd(node: RealNode): boolean {
    const { head } = node.running?.chain ?? {};
    const lackingYet = nodes.find(({ index }) => index === lacking?.index);
    if (lacking !== undefined && (lackingYet?.running?.chain.head.header.number ?? -1n) < lacking.number)
      return false;
    const isElsewhere = nodes.some(
      (other) =>
        other !== node && (other.running?.chain.head.header.number ?? -1n) >= (head?.header.number ?? 0n),
    );
    if (head === undefined || !isElsewhere || !node.loseEnd(losses.between(1, 3))) return false;
    lacking = { index: node.index, number: head.header.number };
    return true;
  }

  function takeDown(node: RealNode): void {
    const bootLater = (): void => later(setting.downMs, () => bootNow(node));
    if (losses.chance(setting.lostEnd) && losesEnd(node)) {
      counts.lostEnds += 1;
      bootLater();
    } else if (random.chance(setting.powerCut)) {
      counts.powerCuts += 1;
      node.cutPower();
      bootLater();
    } else {
      counts.stops += 1;
      attempt(node, "stop", node.stop().then(bootLater));
    }
  }

  function maybeTakeDown(node: RealNode): void {
    later(OUTAGE_EVERY_MS, () => {
      if (isCalm) return;
      if (node.running !== undefined && random.chance(setting.outage)) takeDown(node);
      maybeTakeDown(node);
    });
  }

  /** The server of any node that answers. */
  function anyPool(): TxPool | undefined {
    const up = nodes.flatMap(({ running }) => running ?? []);
    return up[random.between(0, up.length - 1)]?.pool;
  }

  function sendNowAndThen(everyMs: number, send: (pool: TxPool) => void, isOver: () => boolean): void {
    later(everyMs, () => {
      if (isOver()) return;
      const pool = anyPool();
      if (pool !== undefined) send(pool);
      sendNowAndThen(everyMs, send, isOver);
    });
  }

  async function runUntil(endMs: number): Promise<void> {
    await runAgenda(agenda, endMs, () => {
      if (validation.faults.length > 0) throw new Error(reportOf(setting, validation, nodes));
    });
  }

  for (const node of nodes) {
    later(1_000, () => bootNow(node));
    maybeTakeDown(node);
  }
  sendNowAndThen(SEND_EVERY_MS, clients.sendNew, () => isCalm);
  sendNowAndThen(SEND_AGAIN_EVERY_MS, clients.sendAgain, () => false);
  await runUntil(FAULTY_PHASE_MS);

  isCalm = true;
  connections.heal();
  for (const node of nodes) node.setClock(0);
  const goal = validation.height + CALM_BLOCKS;
  for (
    let lacking = validation.unfinished(nodes, goal);
    lacking !== undefined;
    lacking = validation.unfinished(nodes, goal)
  ) {
    if (agenda.nowMs >= FAULTY_PHASE_MS + CALM_MS) validation.fault(`no end: ${lacking}`);
    await runUntil(agenda.nowMs + 50);
  }

  await validation.checkEnd(nodes);
  const { laterRounds, validators } = shapeOf(nodes[0]);
  for (const node of nodes) await node.stop();
  if (validation.faults.length > 0) throw new Error(reportOf(setting, validation, nodes));
  const { partitions, messages } = connections.figures;
  const { sent: transactions } = clients;
  const virtualMs = agenda.nowMs;
  return {
    blocks: validation.height,
    laterRounds,
    transactions,
    ...counts,
    partitions,
    messages,
    validators,
    virtualMs,
  };
}

/** Runs all due events in order, with time in between for the work that they start. */
async function runAgenda(agenda: Agenda, endMs: number, check: () => void): Promise<void> {
  for (;;) {
    check();
    const { nextMs } = agenda;
    if (nextMs === undefined || nextMs > endMs) break;
    agenda.runUntil(nextMs);
    for (let turn = 0; turn < TURNS_PER_EVENT; turn++) await new Promise((resume) => setImmediate(resume));
  }
  agenda.runUntil(endMs);
}

function drawKeys({ seed, validators, followers }: RealSetting): readonly NodeKey[] {
  return Array.from({ length: validators + followers }, (_, index) =>
    nodeKey(bigintToFixedBytes(BigInt(1_000 * seed + index + 1), 32)),
  );
}

function genesisOf(validators: readonly NodeKey[]): string {
  const extra = {
    vanity: new Uint8Array(VANITY_BYTES),
    validators: validators.map(({ address }) => address).sort(compareBytes),
    round: 0,
    seals: [],
  };
  const genesis = JSON.parse(
    genesisWith({ ibft2: { blockperiodseconds: 1, epochlength: 30_000, requesttimeoutseconds: 2 } }),
  ) as { alloc: object };
  const alloc = { ...genesis.alloc, [toHex(COUNTER.address)]: { balance: "0x0", code: COUNTER.code } };
  return JSON.stringify({ ...genesis, extraData: toHex(encodeExtraData(extra)), alloc });
}

/** How many blocks of a node's chain were decided in a round above 0, and by how many the next one is. */
function shapeOf(node: RealNode | undefined): { readonly laterRounds: number; readonly validators: number } {
  if (node?.running === undefined) throw new Error("the node is down");
  const { chain } = node.running;
  let laterRounds = 0;
  for (let number = 1n; number <= chain.head.header.number; number++) {
    const extra = decodeExtraData(chain.headerByNumber(number)?.header.extraData ?? new Uint8Array());
    if (extra.ok && extra.value.round > 0) laterRounds += 1;
  }
  return { laterRounds, validators: chain.tallyAfter(chain.head).validators.length };
}

function reportOf(setting: RealSetting, { faults }: RealValidation, nodes: readonly RealNode[]): string {
  const logs = nodes.flatMap(({ index, log }) => [`  node ${index}`, ...log.map((line) => `    ${line}`)]);
  return [
    ...faults.slice(0, 10),
    "",
    `IBEX_SEED=${setting.seed} npx vitest run --config test/vitest.config.ts test/simulation/realNetwork`,
    JSON.stringify(setting),
    "The last that each node said, by the true time:",
    ...logs,
  ].join("\n");
}
