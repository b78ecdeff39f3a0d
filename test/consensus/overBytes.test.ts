import { describe, expect, it } from "vitest";
import type { MessageRouter } from "../../src/consensus/router/messageRouter.ts";
import { decodeMessage } from "../../src/ibft/codec/decoding.ts";
import { encodeMessage } from "../../src/ibft/codec/encoding.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { compareBytes, equalBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { addressOfPrivateKey } from "../../src/primitives/secp256k1.ts";
import { aMessageRouter } from "../builders/aMessageRouter.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock } from "../builders/handClock.ts";
import { aGenesisHead, aSchedule } from "../builders/toyChain.ts";
import { headOfDisk, runFor, startToyNode, type ToyDisk, type ToyNode, type ToySettings } from "./toyNode.ts";

const START_MS = 1_700_000_000_250;
/** In the order of their addresses, in which they propose. */
const KEYS = [1n, 2n, 3n, 4n]
  .map((key) => bigintToFixedBytes(key, 32))
  .sort((a, b) => compareBytes(addressOfPrivateKey(a), addressOfPrivateKey(b)));
const MEMBERS = KEYS.map(addressOfPrivateKey);

interface Trial {
  /** Whether two of them, by their indexes, are connected. */
  readonly isLink?: (a: number, b: number) => boolean;
  readonly settings?: (place: number) => Partial<ToySettings>;
  /** The running validators. */
  readonly places?: readonly number[];
  /** How one of them changes another's message, which it sends to all others before the author does. */
  readonly overtakes?: { readonly place: number; change(code: number, payload: Uint8Array): Uint8Array };
}

/** Four validators with real keys that exchange bytes only, with a delay of 5 ms. */
async function runNetwork(
  seconds: number,
  { isLink = () => true, settings, places = [0, 1, 2, 3], overtakes }: Trial,
) {
  const clock = createHandClock(START_MS);
  const schedule = aSchedule();
  const routers = new Map<number, MessageRouter>();
  const nodes = new Map<number, ToyNode>();
  let kept = 0;

  function carry(from: number, to: number, code: number, payload: Uint8Array): void {
    const sender = MEMBERS[from];
    if (sender === undefined || !isLink(from, to)) return;
    const author = MEMBERS[overtakes?.place ?? -1];
    if (
      overtakes !== undefined &&
      author !== undefined &&
      from !== overtakes.place &&
      to !== overtakes.place
    ) {
      const changed = overtakes.change(code, payload);
      clock.at(clock.nowMs() + 4, () => routers.get(to)?.receive({ sender: author, code, payload: changed }));
    }
    clock.at(clock.nowMs() + 5, () => routers.get(to)?.receive({ sender, code, payload }));
  }

  for (const place of places) {
    const self = MEMBERS[place] ?? new Uint8Array();
    const disk: ToyDisk = { heads: [aGenesisHead(MEMBERS, 1_700_000_000n)], votes: undefined };
    const router = aMessageRouter({
      self: addressOfPrivateKey(KEYS[place] ?? self),
      schedule,
      carrier: {
        send(code, payload, { to, except }) {
          const isFor = (address: Uint8Array): boolean =>
            to.some((one) => equalBytes(one, address)) && !except.some((one) => equalBytes(one, address));
          for (const other of places) if (isFor(MEMBERS[other] ?? self)) carry(place, other, code, payload);
        },
      },
      deliver: (message, waitedMs) => nodes.get(place)?.engine.receive(message, waitedMs),
      clock,
      logger: silentLogger,
      metrics: {
        received(result) {
          if (result === "buffered") kept += 1;
        },
        relayed: () => undefined,
      },
    });
    router.headAdvanced(headOfDisk(disk));
    routers.set(place, router);
    const own = { schedule, outbox: router, onHead: router.headAdvanced, ...settings?.(place) };
    const toySettings = { privateKey: KEYS[place] ?? self, ...own };
    nodes.set(place, startToyNode(toySettings, clock, disk, { messages: [], commits: [] }, `${place}`));
  }
  await runFor(clock, seconds * 1000, 5);
  const heads = [...nodes.values()].map(({ disk }) => disk.heads);
  const shortest = Math.min(...heads.map(({ length }) => length));
  const chains = heads.map((chain) => chain.slice(0, shortest).map(({ hash }) => toHex(hash)));
  for (const chain of chains) expect(chain).toEqual(chains[0]);
  const stamps = heads[0]?.map(({ header }) => Number(header.timestamp - 1_700_000_000n)) ?? [];
  return { height: shortest - 1, stamps, kept };
}

describe("four validators that exchange bytes only", () => {
  it("make a block a second, the same for all", async () => {
    const { height } = await runNetwork(10, {});
    expect(height).toBe(10);
  });

  it("do so though each is connected to only two others, with relaying", async () => {
    const { height } = await runNetwork(10, { isLink: (a, b) => (a + b) % 2 === 1 });
    expect(height).toBe(10);
  });

  it("do so though one commits late and buffers the messages of the next height", async () => {
    const settings = (place: number) => ({ commitMs: place === 3 ? 990 : 10 });
    const { height, stamps, kept } = await runNetwork(10, { settings });
    expect(stamps.length - 1).toBe(10);
    expect(height).toBe(9);
    expect(kept).toBeGreaterThan(5);
  });

  it("do so though one of them relays each proposal with another body before its author does", async () => {
    const change = (code: number, payload: Uint8Array): Uint8Array => {
      const read = decodeMessage(code, payload);
      if (!read.ok || read.value.kind !== "proposal") return payload;
      const { candidate } = read.value;
      const transactions = [aTransaction({})];
      return encodeMessage({ ...read.value, candidate: { ...candidate, transactions } }).payload;
    };
    const { height } = await runNetwork(10, { overtakes: { place: 3, change } });
    expect(height).toBe(10);
  });

  it("lose only one round when the proposer is down", async () => {
    const { stamps } = await runNetwork(12, { places: [0, 1, 3] });
    // It is the proposer after two blocks, and again after each three others.
    const pauses = stamps.slice(1).map((stamp, index) => stamp - (stamps[index] ?? 0));
    expect(pauses.slice(0, 7)).toEqual([1, 1, 2, 1, 1, 2, 1]);
  });
});
