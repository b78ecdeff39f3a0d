import { tolerableFaults } from "../../src/ibft/validatorSet.ts";
import { createRandom, type Random } from "./random.ts";
import type { RouterLimits } from "./relays.ts";

/** Probabilities of faults, and durations in ms, of which each draw takes half to all. */
export interface NetworkConditions {
  /** That a message or block is lost. */
  readonly loss: number;
  /** Additional probability for blocks: others may then lack a block for long. */
  readonly blockLoss: number;
  readonly duplication: number;
  readonly delayMs: number;
  /** That a message takes ten times as long, so that later ones arrive before it. */
  readonly straggling: number;
  /** That the network is partitioned, in both directions or one, for some seconds. */
  readonly partition: number;
  /** That a node crashes at an effect. */
  readonly crash: number;
  /** That a crash loses unsynced writes. */
  readonly powerCut: number;
  readonly downMs: number;
  /** How long a vote log entry takes until it is durable. */
  readonly syncMs: number;
  readonly buildMs: number;
  readonly checkMs: number;
  readonly commitMs: number;
  /** Largest clock error in either direction; drawn anew at each start. */
  readonly skewMs: number;
  /** That a block carries a vote on a validator. */
  readonly vote: number;
  /** That a node's disk is full for some seconds, every few seconds; if positive, catching up takes time as well. */
  readonly pause: number;
  /** How long a remote signer takes; 5 unless given. */
  readonly signMs?: number;
  /** That it does not sign something in a round. */
  readonly signFailure?: number;
}

export const FAULT_FREE: NetworkConditions = {
  loss: 0,
  blockLoss: 0,
  duplication: 0,
  delayMs: 20,
  straggling: 0,
  partition: 0,
  crash: 0,
  powerCut: 0,
  downMs: 0,
  syncMs: 2,
  buildMs: 20,
  checkMs: 20,
  commitMs: 20,
  skewMs: 240,
  vote: 0,
  pause: 0,
};

/** The initial setting of one run. */
export interface Setting {
  readonly seed: number;
  readonly nodes: number;
  /** Number of validators at genesis; votes may change the set. */
  readonly validators: number;
  /** Number of Byzantine validators; at most a third, also after votes. */
  readonly byzantine: number;
  /** Byzantine validators show every fault all the time; else each has its own kinds of faults. */
  readonly isRuthless: boolean;
  /** The last node has the key of this one. Undefined: each node has its own. */
  readonly twinOf?: number;
  /** Every second honest validator has its key in another process. */
  readonly hasRemoteSigners?: boolean;
  /** In the faulty phase. */
  readonly conditions: NetworkConditions;
  /** Undefined: all receive each other's messages directly, without message routers. */
  readonly relays: RelaySetting | undefined;
}

/** A network with relaying. */
export interface RelaySetting {
  /** Share of the possible links between honest nodes in the faulty phase. */
  readonly links: number;
  /** These links instead of drawn ones, by the numbers of two nodes. */
  readonly areLinked?: (a: number, b: number) => boolean;
  readonly limits: RouterLimits & { readonly messageQueueLimit: number };
}

/** Draws rates for each seed, so that each kind of fault also occurs alone and in excess. */
export function drawSetting(seed: number): Setting {
  const random = createRandom(seed ^ 0x5eed);
  const upTo = (limit: number): number => (random.chance(0.3) ? 0 : random.next() ** 2 * limit);
  const often = (usual: number, rare: number): number => (random.chance(0.7) ? usual : rare);
  const validators = random.between(4, 10);
  const setting = {
    seed,
    validators,
    nodes: validators + random.between(0, 1),
    byzantine: random.chance(0.5) ? random.between(1, tolerableFaults(validators)) : 0,
    conditions: {
      loss: upTo(0.4),
      blockLoss: often(0, 0.95),
      duplication: upTo(0.3),
      delayMs: often(50, 1_000),
      straggling: upTo(0.1),
      partition: upTo(0.6),
      crash: upTo(0.03),
      powerCut: random.next(),
      downMs: random.between(10, 8_000),
      syncMs: often(5, 300),
      buildMs: often(50, 2_500),
      checkMs: often(50, 1_500),
      commitMs: often(50, random.between(500, 8_000)),
      skewMs: often(300, 4_000),
      vote: random.chance(0.5) ? 0 : 0.5 + random.next() / 2,
      pause: 0,
    },
    isRuthless: random.chance(0.2),
  };
  const pause = random.chance(0.6) ? 0 : random.next() * 0.3;
  return {
    ...setting,
    conditions: { ...setting.conditions, pause },
    relays: random.chance(0.4) ? undefined : drawRelays(random),
  };
}

export const USUAL_LIMITS: RelaySetting["limits"] = {
  duplicateMessageLimit: 100,
  gossipedHistoryLimit: 1_000,
  futureMessagesLimit: 1_000,
  futureMessagesMaxDistance: 10,
  messageQueueLimit: 1_000,
};

/** The usual limits, or small ones that are reached often. */
function drawRelays(random: Random): RelaySetting {
  const orSmall = (name: keyof RelaySetting["limits"], small: number): number =>
    random.chance(0.6) ? USUAL_LIMITS[name] : small;
  return {
    links: 0.2 + 0.8 * random.next() ** 2,
    limits: {
      duplicateMessageLimit: orSmall("duplicateMessageLimit", 20),
      gossipedHistoryLimit: orSmall("gossipedHistoryLimit", 200),
      futureMessagesLimit: orSmall("futureMessagesLimit", random.between(0, 15)),
      futureMessagesMaxDistance: orSmall("futureMessagesMaxDistance", random.between(1, 3)),
      messageQueueLimit: orSmall("messageQueueLimit", 40),
    },
  };
}

/** Removes one kind of fault from a setting, to see whether it matters. */
export const FAULT_CLASSES: Readonly<Record<string, (setting: Setting) => Setting>> = {
  loss: (setting) => withConditions(setting, { loss: 0, blockLoss: 0 }),
  duplication: (setting) => withConditions(setting, { duplication: 0 }),
  delay: (setting) => withConditions(setting, { delayMs: FAULT_FREE.delayMs, straggling: 0 }),
  partitions: (setting) => withConditions(setting, { partition: 0 }),
  crashes: (setting) => withConditions(setting, { crash: 0 }),
  powerCuts: (setting) => withConditions(setting, { powerCut: 0 }),
  slowDisk: (setting) =>
    withConditions(setting, { syncMs: FAULT_FREE.syncMs, commitMs: FAULT_FREE.commitMs }),
  slowBuilding: (setting) => withConditions(setting, { buildMs: FAULT_FREE.buildMs }),
  slowChecking: (setting) => withConditions(setting, { checkMs: FAULT_FREE.checkMs }),
  skew: (setting) => withConditions(setting, { skewMs: 0 }),
  votes: (setting) => withConditions(setting, { vote: 0 }),
  pauses: (setting) => withConditions(setting, { pause: 0 }),
  relays: (setting) => ({ ...setting, relays: undefined }),
  byzantine: (setting) => ({ ...setting, byzantine: 0 }),
};

function withConditions(setting: Setting, change: Partial<NetworkConditions>): Setting {
  return { ...setting, conditions: { ...setting.conditions, ...change } };
}
