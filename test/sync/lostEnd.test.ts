import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import type { Address } from "../../src/primitives/address.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import type { Hash } from "../../src/primitives/hash.ts";
import { ok } from "../../src/primitives/result.ts";
import { addressOfPrivateKey } from "../../src/primitives/secp256k1.ts";
import { LostEndSearch } from "../../src/sync/lostEnd.ts";
import type { SyncPeer } from "../../src/sync/ports.ts";
import { createRestoringSync, type LostEnd } from "../../src/sync/restoration.ts";
import type { NamedHeader } from "../../src/types/block.ts";
import { decodeExtraData, encodeExtraData } from "../../src/types/extraData.ts";
import type { Header } from "../../src/types/header.ts";
import { aChain } from "../builders/aChain.ts";
import { FOUR_KEYS, GENESIS_OF_FOUR } from "../builders/fourValidators.ts";
import { createHandClock, type HandClock } from "../builders/handClock.ts";
import { type LoggedLine, loggedLines } from "../builders/loggedLines.ts";
import { commitBlock } from "../builders/sealedChain.ts";

const START_MS = 1_700_000_000_000;
const [us, ...others] = FOUR_KEYS;
const OTHERS = others.map(({ privateKey }) => privateKey);
const DEV_ADDRESS = addressOfPrivateKey(DEV_VALIDATOR_KEY);

/** A chain of four blocks, and one that has only the first of them. */
interface World {
  readonly whole: Chain;
  readonly cut: Chain;
}

let four: World;
let forked: World;
let alone: World;

beforeAll(async () => {
  four = await aWorld(GENESIS_OF_FOUR, us.address, OTHERS);
  // The same validators have sealed other blocks, which takes more Byzantine validators than there may be.
  forked = await aWorld(GENESIS_OF_FOUR, others[0].address, OTHERS);
  alone = await aWorld(readFileSync(DEV_GENESIS_FILE, "utf8"), DEV_ADDRESS, [DEV_VALIDATOR_KEY]);
});

describe("the search for blocks that a validator has lost", () => {
  it("takes the headers of any peer for proof which lead to the very block with the seals of a quorum", async () => {
    const { search, proven, wake } = searchIn(four, [us.address]);
    expect([1n, 2n, 4n].map((number) => search.admits(number, hashAt(four.whole, number)))).toEqual([
      false,
      false,
      false,
    ]);
    await wake([aPeer("a follower", four.whole)]);
    expect([search.isProven, proven.times]).toEqual([true, 1]);
    for (const number of [2n, 3n, 4n]) expect(search.admits(number, hashAt(four.whole, number))).toBe(true);
    expect(search.admits(3n, hashAt(four.whole, 2n))).toBe(false);
    expect(search.admits(5n, hashAt(four.whole, 2n))).toBe(true);
    expect(search.isRestored).toBe(false);
    await wake([aPeer("another", four.whole)]);
    expect(proven.times).toBe(1);
  });

  it("takes no header with fewer seals, and no headers that end before the block", async () => {
    const { search, wake } = searchIn(four, [us.address]);
    await wake([
      aPeer("two seals", four.whole, { alter: withSeals(2) }),
      aPeer("no seals", four.whole, { alter: withSeals(0) }),
      aPeer("too short", four.whole, { most: 2 }),
    ]);
    expect(search.isProven).toBe(false);
  });

  it("does not take another block for the lost one, even with a quorum of seals, and reports it as an error", async () => {
    const { search, lines, wake } = searchIn({ ...four, cut: forked.cut }, [us.address]);
    await wake([aPeer("a fork", forked.whole)]);
    expect(search.isProven).toBe(false);
    expect(lines.filter(({ message }) => /another block, sealed by a quorum/.test(message))).toHaveLength(1);
  });

  it("takes no block for proof which this validator could have sealed alone", async () => {
    const ours = searchIn(alone, [DEV_ADDRESS]);
    await ours.wake([aPeer("a follower", alone.whole)]);
    expect(ours.search.isProven).toBe(false);
    const anothers = searchIn(alone, [us.address]);
    await anothers.wake([aPeer("a follower", alone.whole)]);
    expect(anothers.search.isProven).toBe(true);
  });

  it("asks a peer once in two seconds, and none that does not claim the block", async () => {
    const { clock, wake } = searchIn(four, [us.address]);
    const silent = aPeer("silent", four.whole, { most: 0 });
    const low = aPeer("low", four.whole, { height: 3n });
    for (let times = 0; times < 3; times++) await wake([silent, low]);
    expect([silent.asked, low.asked]).toEqual([1, 0]);
    clock.advanceBy(2_000);
    await wake([silent, low]);
    expect([silent.asked, low.asked]).toEqual([2, 0]);
  });

  it("tells every half minute what it waits for, how many peers have it, and what can be done, until it is closed", async () => {
    const { search, clock, lines, wake } = searchIn(four, [us.address]);
    search.begin();
    await wake([aPeer("low", four.whole, { height: 3n }), aPeer("silent", four.whole, { most: 0 })]);
    for (let seconds = 0; seconds < 70; seconds += 2) clock.advanceBy(2_000);
    const told = lines.filter(({ message }) => message.includes("still waits"));
    expect(told).toHaveLength(2);
    expect(told[0]?.message).toMatch(
      /waits for block 4, .* none of 2 peers has shown it with the seals of a quorum, and 1 of them claims .*Start the other nodes, .*Only if no node/,
    );
    search.close();
    clock.advanceBy(120_000);
    expect(lines.filter(({ message }) => message.includes("still waits"))).toHaveLength(2);
  });
});

describe("the sync of a node", () => {
  function syncOf(peer: SyncPeer, lost: LostEnd | undefined) {
    const clock = createHandClock(START_MS + 60_000);
    const { logger } = loggedLines();
    const sync = createRestoringSync({ peers: () => [peer], chain: four.cut, clock, logger }, lost);
    onTestFinished(() => sync.close());
    return sync;
  }

  it("fetches nothing before a peer has proven what was lost, and is not in sync before it is back", async () => {
    let bodies = 0;
    const unproven = aPeer("no seals", four.whole, { alter: withSeals(0) });
    const peer = Object.assign(unproven, {
      async requestBodies() {
        bodies++;
        return ok([]);
      },
    });
    const lost = { block: { number: 4n, hash: four.whole.head.hash }, addresses: [us.address] };
    const sync = syncOf(peer, lost);
    sync.begin();
    sync.wake();
    await settle();
    expect(peer.asked).toBe(1);
    expect([bodies, sync.isRestored, sync.isInSync]).toEqual([0, false, false]);
  });

  it("is that of any node where nothing was lost", async () => {
    const peer = aPeer("level", four.cut, { height: 1n });
    const sync = syncOf(peer, undefined);
    sync.begin();
    await settle();
    expect([sync.isRestored, sync.isInSync]).toEqual([true, true]);
  });
});

interface Searching {
  readonly search: LostEndSearch;
  readonly clock: HandClock;
  readonly lines: readonly LoggedLine[];
  readonly proven: { readonly times: number };
  /** Connects these peers, and gives them time to answer. */
  wake(peers: readonly SyncPeer[]): Promise<void>;
}

/** A search for the last block of the whole chain, by a node that has the cut one. */
function searchIn({ whole, cut }: World, addresses: readonly Address[]): Searching {
  const clock = createHandClock(START_MS + 60_000);
  const { logger, lines } = loggedLines();
  const proven = { times: 0 };
  let peers: readonly SyncPeer[] = [];
  const search = new LostEndSearch({ number: 4n, hash: whole.head.hash }, addresses, {
    ...{ chain: cut, peers: () => peers, clock, logger },
    onProven: () => void proven.times++,
  });
  return {
    ...{ search, clock, lines, proven },
    async wake(connected) {
      peers = connected;
      search.wake();
      await settle();
    },
  };
}

/** All work on toy peers is promises and event-loop turns. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 50; turns++) await new Promise((resume) => setImmediate(resume));
}

interface CountingPeer extends SyncPeer {
  readonly asked: number;
}

function aPeer(
  key: string,
  chain: Chain,
  {
    height = 4n,
    most = 200,
    alter = (header) => header,
  }: { readonly height?: bigint; readonly most?: number; readonly alter?: (header: Header) => Header } = {},
): CountingPeer {
  let asked = 0;
  return {
    ...{ key, height, isMaintained: false, penalise: () => undefined, disconnect: () => undefined },
    address: others[0].address,
    get asked() {
      return asked;
    },
    async requestHeaders({ start: { number }, max }) {
      asked++;
      const left = Math.max(0, Math.min(max, most - Number(number - 2n)));
      return ok(
        Array.from({ length: left }, (_, index) => alter(headerAt(chain, number + BigInt(index)).header)),
      );
    },
    requestBodies: async () => ok([]),
  };
}

function headerAt(chain: Chain, number: bigint): NamedHeader {
  return expectDefined(chain.headerByNumber(number), "a header");
}

const hashAt = (chain: Chain, number: bigint): Hash => headerAt(chain, number).hash;

/** Cuts the seals, which no hash covers. */
function withSeals(count: number): (header: Header) => Header {
  return (header) => {
    const extra = decodeExtraData(header.extraData);
    if (!extra.ok) throw new Error(extra.error.message);
    const extraData = encodeExtraData({ ...extra.value, seals: extra.value.seals.slice(0, count) });
    return { ...header, extraData };
  };
}

async function aWorld(genesis: string, builder: Address, keys: readonly Uint8Array[]): Promise<World> {
  const clock = createHandClock(START_MS);
  const whole = (await aChain({ genesis, clock, builder })).chain;
  const cut = (await aChain({ genesis, clock, builder })).chain;
  for (let number = 1; number <= 4; number++) {
    clock.advanceBy(1_000);
    const block = await commitBlock(whole, BigInt(clock.nowMs() / 1_000), [], { keys });
    const imported = number === 1 ? await cut.importBlock(block) : undefined;
    if (imported?.ok === false) throw new Error(imported.error.message);
  }
  return { whole, cut };
}
