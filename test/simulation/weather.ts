import { tolerableFaults } from "../../src/ibft/quorum.ts";
import { createRandom } from "./random.ts";

/** Probabilities, and durations in ms of which half to all is taken. */
export interface Weather {
  /** That a message or block gets lost on its way. */
  readonly loss: number;
  /** That a block does, besides: what one node holds may then be news to the others for long. */
  readonly blockLoss: number;
  readonly duplication: number;
  readonly delayMs: number;
  /** That a message takes ten times as long as others, so that later ones overtake it. */
  readonly straggling: number;
  /** That the network is parted in two, both ways or one way, for some seconds. */
  readonly partition: number;
  /** That a node stops at any one effect. */
  readonly crash: number;
  /** That it takes what was not synced with it. */
  readonly powerCut: number;
  readonly downMs: number;
  /** How long a vote record takes until it is durable. */
  readonly syncMs: number;
  readonly buildMs: number;
  readonly checkMs: number;
  readonly commitMs: number;
  /** How far a clock may be off, either way; drawn anew at each start. */
  readonly skewMs: number;
  /** That a block carries a vote on a validator. */
  readonly vote: number;
}

export const FAIR: Weather = {
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
};

/** One world, before anything has happened in it. */
export interface Setting {
  readonly seed: number;
  readonly nodes: number;
  /** Of the nodes, those that are validators at genesis; votes may change that. */
  readonly validators: number;
  /** Of the validators, those that lie; at most a third, whoever is voted in or out. */
  readonly liars: number;
  /** The liars do all that liars do, all the time; else each has vices of its own. */
  readonly isRuthless: boolean;
  readonly storm: Weather;
}

/** Rates of its own for each seed, so that each kind of fault also comes alone and in excess. */
export function drawSetting(seed: number): Setting {
  const random = createRandom(seed ^ 0x5eed);
  const upTo = (limit: number): number => (random.chance(0.3) ? 0 : random.next() ** 2 * limit);
  const often = (usual: number, rare: number): number => (random.chance(0.7) ? usual : rare);
  const validators = random.between(4, 10);
  return {
    seed,
    validators,
    nodes: validators + random.between(0, 1),
    liars: random.chance(0.5) ? random.between(1, tolerableFaults(validators)) : 0,
    storm: {
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
    },
    isRuthless: random.chance(0.2),
  };
}

/** How to take one kind of fault out of a setting, to see whether it matters. */
export const FAULT_CLASSES: Readonly<Record<string, (setting: Setting) => Setting>> = {
  loss: (setting) => inWeather(setting, { loss: 0, blockLoss: 0 }),
  duplication: (setting) => inWeather(setting, { duplication: 0 }),
  delay: (setting) => inWeather(setting, { delayMs: FAIR.delayMs, straggling: 0 }),
  partitions: (setting) => inWeather(setting, { partition: 0 }),
  crashes: (setting) => inWeather(setting, { crash: 0 }),
  powerCuts: (setting) => inWeather(setting, { powerCut: 0 }),
  slowDisk: (setting) => inWeather(setting, { syncMs: FAIR.syncMs, commitMs: FAIR.commitMs }),
  slowBuilding: (setting) => inWeather(setting, { buildMs: FAIR.buildMs }),
  slowChecking: (setting) => inWeather(setting, { checkMs: FAIR.checkMs }),
  skew: (setting) => inWeather(setting, { skewMs: 0 }),
  votes: (setting) => inWeather(setting, { vote: 0 }),
  liars: (setting) => ({ ...setting, liars: 0 }),
};

function inWeather(setting: Setting, change: Partial<Weather>): Setting {
  return { ...setting, storm: { ...setting.storm, ...change } };
}
