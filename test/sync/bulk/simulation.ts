import { silentLogger } from "../../../src/observability/logger.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { BULK_LIMITS, type BulkLimits, STARVED_MS } from "../../../src/sync/limits.ts";
import { createSync, type Sync } from "../../../src/sync/sync.ts";
import { createHandClock, type HandClock } from "../../builders/handClock.ts";
import { createRandom, type Random } from "../../simulation/random.ts";
import { createLocalChain, type LocalChain, simulatedBlocks } from "./simulatedChain.ts";
import {
  BLAMELESS,
  createSimulatedPeer,
  PEER_KINDS,
  type PeerKind,
  type SimulatedPeer,
} from "./simulatedPeers.ts";

/** One chain for all runs. */
const BLOCKS = simulatedBlocks(1_500, createRandom(1));
/** Small, so that this chain reaches them. */
const LIMITS: BulkLimits = {
  ...BULK_LIMITS,
  headers: 400,
  blocks: 200,
  bodyBytes: 512 * 1024,
  firstBytesOfRequest: 64 * 1024,
  mostBytesOfRequest: 256 * 1024,
  bytesOfSample: 32 * 1024,
};
/** Twice the estimates: those of bodies waited for and of samples, and what the import may always request. */
const MOST_WAITING_BYTES = 2 * (LIMITS.bodyBytes + LIMITS.sampleRequests * LIMITS.bytesOfSample + 64 * 1024);
const LONGEST_RUN_MS = 5 * 60_000;
/** The open groups become durable first, and a block that is being imported is finished. */
const LONGEST_TURN_MS = 400;

/** A node that syncs from peers of all kinds, is killed now and then, and sees them come and go. */
export class Simulation {
  readonly clock: HandClock = createHandClock(1_000_000);
  readonly #random: Random;
  readonly #importMs: number;
  readonly #group: number;
  readonly peers: SimulatedPeer[] = [];
  readonly problems = new Set<string>();
  chain: LocalChain;
  sync: Sync;
  kills = 0;

  constructor(seed: number) {
    this.#random = createRandom(seed);
    this.#importMs = [0, 1, 1, 8][this.#random.between(0, 3)] ?? 1;
    this.#group = this.#random.between(1, 100);
    this.#addPeer("honest");
    for (let count = this.#random.between(0, 9); count > 0; count--)
      this.#addPeer(PEER_KINDS[this.#random.between(0, PEER_KINDS.length - 1)] ?? "honest");
    this.chain = this.#startChain(this.#random.between(0, 400));
    this.sync = this.#startSync(this.chain);
  }

  get facts(): string {
    const kinds = this.peers.map(({ key, isMaintained, disconnectDetail }) =>
      [key, isMaintained ? "maintained" : "", disconnectDetail ?? ""].join(" "),
    );
    return `${this.chain.durable} at ${this.clock.nowMs()}, import ${this.#importMs} ms, groups of ${this.#group}: ${kinds.join("; ")}`;
  }

  get isCaughtUp(): boolean {
    return this.chain.durable === BLOCKS.length - 1;
  }

  async run(): Promise<void> {
    this.#disturb();
    const untilMs = this.clock.nowMs() + LONGEST_RUN_MS;
    this.sync.wake();
    await settled();
    while (!this.isCaughtUp && this.clock.nowMs() < untilMs && this.problems.size === 0) {
      this.clock.advanceTo(expectDefined(this.clock.nextAlarmMs, "something to come"));
      await settled();
      this.#check();
    }
    this.chain.kill();
    // Its open requests end with their connections, not with sync.
    void this.sync.close();
  }

  #addPeer(kind: PeerKind): void {
    const isMaintained = this.#random.chance(0.4);
    const name = `peer ${this.peers.length}`;
    this.peers.push(
      createSimulatedPeer({
        name,
        kind,
        isMaintained,
        blocks: BLOCKS,
        clock: this.clock,
        random: this.#random,
      }),
    );
  }

  #startChain(head: number): LocalChain {
    const parts = { blocks: BLOCKS, head, clock: this.clock, importMs: this.#importMs, group: this.#group };
    return createLocalChain({ ...parts, onHeadChanged: () => this.sync.wake() });
  }

  #startSync(chain: LocalChain): Sync {
    return createSync({
      peers: () => this.peers.filter(({ isConnected }) => isConnected),
      chain,
      clock: this.clock,
      logger: silentLogger,
      limits: LIMITS,
    });
  }

  /** Something happens every second or so. */
  #disturb(): void {
    const { clock } = this;
    clock.at(clock.nowMs() + this.#random.between(100, 2_000), () => {
      if (this.#random.chance(0.1) && this.kills < 5) this.#kill();
      if (this.#random.chance(0.3))
        this.chain.takeTurn((ms) => this.#expectWithin(ms, LONGEST_TURN_MS, "ms for a turn"));
      for (const peer of this.peers)
        if (peer.kind === "comesAndGoes") peer.isConnected = this.#random.chance(0.5);
      this.sync.wake();
      this.#disturb();
    });
  }

  /** As with kill -9: what is durable is all that is left. */
  #kill(): void {
    this.kills++;
    this.chain.kill();
    void this.sync.close();
    this.chain = this.#startChain(this.chain.durable);
    this.sync = this.#startSync(this.chain);
  }

  #check(): void {
    const { chain } = this;
    const requests = LIMITS.requests + LIMITS.sampleRequests;
    this.#expectWithin(chain.waitingBytes, MOST_WAITING_BYTES, "waiting bytes");
    this.#expectWithin(
      chain.waitingBlocks,
      LIMITS.blocks + LIMITS.sampleRequests * LIMITS.bodiesOfSample,
      "waiting blocks",
    );
    const idleMs = this.clock.nowMs() - (chain.idleSinceMs ?? this.clock.nowMs());
    this.#expectWithin(idleMs, STARVED_MS, "ms with an idle import");
    let openBodies = 0;
    for (const peer of this.peers) {
      // Those of a killed node and of the one after it may both be open.
      this.#expectWithin(peer.openHeaderRequests, 2 + this.kills * 2, `header requests of ${peer.key}`);
      this.#expectWithin(
        peer.openBodyRequests,
        (1 + this.kills) * (LIMITS.requestsOfPeer + 1),
        `body requests of ${peer.key}`,
      );
      openBodies += peer.openBodyRequests;
      if (BLAMELESS.includes(peer.kind) && peer.disconnectDetail !== undefined)
        this.problems.add(`${peer.key} was disconnected: ${peer.disconnectDetail}`);
    }
    this.#expectWithin(openBodies, (1 + this.kills) * (requests + 32), "body requests");
  }

  #expectWithin(amount: number, most: number, what: string): void {
    if (amount > most) this.problems.add(`${amount} ${what}, at most ${most}`);
  }
}

/** All that happens at one time of the clock; roots of bodies are computed in slices. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
