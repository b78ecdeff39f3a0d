import { expect, it } from "vitest";
import { ok, type Result } from "../../src/primitives/result.ts";
import { BULK_LIMITS } from "../../src/sync/limits.ts";
import { generator, type Random } from "../storage/random.ts";
import { describeWithVectors } from "../vectors.ts";
import { aNode, aPeer, aRecordedChain, silence, type ToyNode, type ToyPeer } from "./toyPeers.ts";

const SEED = Number(process.env["IBEX_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const RUNS = Number(process.env["IBEX_SYNC_RUNS"] ?? 40);
const STEP_MS = 250;
/** Far above what any mix of peers below costs, on the node's clock. */
const LONGEST_MS = 30 * 60_000;

/** Responds after `ms` of the node's clock. */
function after<T>(node: ToyNode, ms: number, response: T): T | Promise<T> {
  if (ms === 0) return response;
  return new Promise((resolve) => {
    node.clock.at(node.clock.nowMs() + ms, () => resolve(response));
  });
}

/** Closes sync, with the time that passes meanwhile. */
async function close(node: ToyNode): Promise<void> {
  let isClosed = false;
  void node.sync.close().then(() => {
    isClosed = true;
  });
  while (!isClosed) {
    await node.settle();
    node.clock.advanceBy(STEP_MS);
  }
}

/** How a peer treats each response, drawn anew for each. */
const TREATMENTS = {
  honest: <T>(items: readonly T[]): Result<readonly T[]> => ok(items),
  silent: (): Result<never> => silence,
  empty: <T>(): Result<readonly T[]> => ok<readonly T[]>([]),
  short: <T>(items: readonly T[]): Result<readonly T[]> => ok(items.slice(0, Math.ceil(items.length / 3))),
  reversed: <T>(items: readonly T[]): Result<readonly T[]> => ok([...items].reverse()),
  doubled: <T>(items: readonly T[]): Result<readonly T[]> => ok(items.flatMap((item) => [item, item])),
} as const;

type Treatment = keyof typeof TREATMENTS;

describeWithVectors(`a node far behind a mix of peers (IBEX_SEED=${SEED})`, () => {
  const source = aRecordedChain();
  const HEAD = Number(source.head.header.number);

  function aFaultyPeer(key: string, random: Random, node: () => ToyNode): ToyPeer {
    const names = Object.keys(TREATMENTS) as Treatment[];
    const own = Array.from(
      { length: 1 + random.below(3) },
      () => names[random.below(names.length)] ?? "honest",
    );
    const drawn = (): Treatment => own[random.below(own.length)] ?? "honest";
    const delayMs = (): number => random.below(3) * random.below(2_000);
    return aPeer(key, source, {
      height: BigInt(random.below(2) === 0 ? HEAD : 10 ** 9),
      isMaintained: random.below(4) === 0,
      headers: (honest) => after(node(), delayMs(), TREATMENTS[drawn()](honest)),
      bodies: (honest) => after(node(), delayMs(), TREATMENTS[drawn()](honest)),
    });
  }

  it(`arrives at the head, whatever they send and whenever the node is killed, ${RUNS} times`, async () => {
    for (let seed = SEED; seed < SEED + RUNS; seed++) {
      const random = generator(seed);
      const why = `IBEX_SEED=${seed}`;
      let node = aNode(source, random.below(200), { groupBlocks: 1 + random.below(64) });
      const honestMs = random.below(400);
      const honest = aPeer("honest", source, {
        headers: (headers) => after(node, honestMs, ok(headers)),
        bodies: (bodies) => after(node, honestMs, ok(bodies)),
      });
      const count = random.below(8);
      let peers: ToyPeer[] = [honest];
      for (let index = 0; index < count; index++) peers.push(aFaultyPeer(`${index}`, random, () => node));
      peers = peers.sort(() => random.below(3) - 1);
      node.peers = peers;
      node.sync.wake();
      let spentMs = 0;
      let shown = node.head.header.number;
      for (; node.head.header.number < BigInt(HEAD) && spentMs < LONGEST_MS; spentMs += STEP_MS) {
        await node.settle();
        node.clock.advanceBy(STEP_MS);
        expect(node.head.header.number, why).toBeGreaterThanOrEqual(shown);
        shown = node.head.header.number;
        if (random.below(40) > 0) continue;
        // A kill: what is durable remains.
        await close(node);
        node = aNode(source, Number(shown), { groupBlocks: 1 + random.below(64) });
        node.peers = peers.filter(({ disconnectDetail }) => disconnectDetail === undefined);
        node.sync.wake();
      }
      expect([node.head.header.number, honest.disconnectDetail], `${why}, ${spentMs} ms`).toEqual([
        BigInt(HEAD),
        undefined,
      ]);
      for (const peer of peers) {
        for (const bodies of peer.bodyRequests)
          expect(bodies).toBeLessThanOrEqual(BULK_LIMITS.bodiesOfRequest);
        for (const { max } of peer.headerRequests) expect(max).toBeLessThanOrEqual(200);
      }
      await close(node);
    }
  });

  it("asks several peers for bodies at once, each for other blocks, and one that gave none yet for a few", async () => {
    const node = aNode(source, 0);
    const open: (() => void)[] = [];
    const held = (key: string, isMaintained: boolean): ToyPeer =>
      aPeer(key, source, {
        isMaintained,
        bodies: (bodies) =>
          new Promise((resolve) => {
            open.push(() => resolve(ok(bodies)));
          }),
      });
    const [one, other, unknown] = [held("a", true), held("b", true), held("c", false)] as const;
    node.peers = [one, other, unknown];
    node.sync.wake();
    await node.settle();
    expect(one.headerRequests.length + other.headerRequests.length).toBeGreaterThanOrEqual(4);
    for (const { bodyRequests } of [one, other]) {
      expect(bodyRequests.length).toBeGreaterThanOrEqual(1);
      expect(bodyRequests.length).toBeLessThanOrEqual(BULK_LIMITS.requestsOfPeer);
    }
    expect(unknown.bodyRequests[0] ?? 0).toBeLessThanOrEqual(BULK_LIMITS.bodiesOfSample);
    while (open.length > 0) {
      open.shift()?.();
      await node.settle();
    }
    expect(node.head.header.number).toBe(BigInt(HEAD));
    const full = source.blocks.filter(({ transactions }) => transactions.length > 0).length;
    const asked = [one, other, unknown].flatMap(({ bodyRequests }) => bodyRequests);
    expect(asked.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(full + BULK_LIMITS.bodiesOfSample);
  });

  it("counts what each step takes in and is done with", async () => {
    const node = aNode(source, 0);
    node.peers = [aPeer("a", source, { isMaintained: true })];
    node.sync.wake();
    while (node.head.header.number < BigInt(HEAD)) await node.settle();
    const full = source.blocks.filter(({ transactions }) => transactions.length > 0).length;
    expect(node.processed).toEqual({
      "headers added": HEAD,
      "headers removed": HEAD,
      "bodies added": full,
      "bodies removed": full,
      "importBlock added": HEAD,
      "importBlock removed": HEAD,
    });
  });

  it("closes the bulk import while nobody delivers the next body", async () => {
    const node = aNode(source, 0, { groupBlocks: 1_000 });
    const slow = aPeer("slow", source, { isMaintained: true, bodies: () => new Promise(() => undefined) });
    node.peers = [slow];
    node.sync.wake();
    await node.settle();
    const firstFull = source.blocks.find(({ transactions }) => transactions.length > 0)?.header.number ?? 0n;
    node.clock.advanceBy(100);
    await node.settle();
    expect(node.head.header.number).toBe(firstFull - 1n);
  });
});
