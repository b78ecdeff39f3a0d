import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { EMPTY_TRIE_ROOT } from "../../src/primitives/hash.ts";
import { err, ok } from "../../src/primitives/result.ts";
import type { OfferedBlock } from "../../src/sync/ports.ts";
import type { Block } from "../../src/types/block.ts";
import { hashOfHeader } from "../../src/types/blockHash.ts";
import type { Header } from "../../src/types/header.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import type { RecordedChain } from "../builders/recordedChain.ts";
import { describeWithVectors } from "../vectors.ts";
import {
  aNode,
  aPeer,
  aRecordedChain,
  silence,
  type ToyNode,
  type ToyPeer,
  type ToyPeerBehaviour,
} from "./toyPeers.ts";

describeWithVectors("a node behind its peers", () => {
  const source = aRecordedChain();
  const HEAD = 717n;

  async function caughtUp(node: ToyNode): Promise<void> {
    node.sync.wake();
    await node.settle();
  }

  it("fetches ranges of headers and the bodies that are not empty, and imports in order", async () => {
    const node = aNode(source, 150);
    const peer = aPeer("a", source);
    node.peers = [peer];
    await caughtUp(node);
    expect(node.head.header.number).toBe(HEAD);
    expect(node.imported).toEqual(Array.from({ length: 567 }, (_, index) => BigInt(151 + index)));
    expect(peer.headerRequests.map(({ start, max }) => [start.number, max])).toEqual([
      [151n, 200],
      [351n, 200],
      [551n, 167],
    ]);
    const withTransactions = source.blocks.slice(151).filter(({ transactions }) => transactions.length > 0);
    expect(peer.bodyRequests.reduce((sum, count) => sum + count, 0)).toBe(withTransactions.length);
  });

  it("keeps no response longer than its headers are needed, however long the download", async () => {
    const responses: WeakRef<readonly Header[]>[] = [];
    const node = aNode(source, 0);
    const peer = aPeer("a", source, {
      isMaintained: true,
      headers(honest) {
        // The last response does not come, so that the download goes on.
        if (honest.at(-1)?.number === source.head.header.number) return new Promise(() => undefined);
        responses.push(new WeakRef(honest));
        return ok(honest);
      },
    });
    node.peers = [peer];
    await caughtUp(node);
    expect(node.head.header.number).toBe(600n);
    // The clock of the test forgets cancelled alarms once they would have been due.
    node.clock.advanceBy(10_000);
    await node.settle();
    setFlagsFromString("--expose_gc");
    runInNewContext("gc")();
    const kept = responses.map((response) => response.deref() !== undefined);
    expect(kept.slice(0, -1)).toEqual([false, false]);
  });

  it("neither blames nor disconnects peers that remove old blocks, and says once that no peer has the bodies", async () => {
    const { logger, lines } = loggedLines();
    const node = aNode(source, 150, { logger });
    const pruned = ["one", "another"].map((key) =>
      aPeer(key, source, {
        // The chain that they claim is longer than the recorded one.
        headers: (honest) => (honest.length < 80 ? new Promise(() => undefined) : ok(honest)),
        bodies: () => ok([]),
        height: 100_000n,
        isMaintained: true,
      }),
    );
    const advance = async (endMs: number): Promise<void> => {
      while (node.clock.nowMs() < endMs && node.head.header.number < HEAD) {
        node.clock.advanceTo(Math.min(node.clock.nextAlarmMs ?? endMs, endMs));
        await node.settle();
      }
    };
    node.peers = pruned;
    await caughtUp(node);
    await advance(node.clock.nowMs() + 50_000);
    const said = lines.filter((line) =>
      JSON.stringify(line).includes("no peer has the body of the next block"),
    );
    expect(said).toHaveLength(1);
    for (const { disconnectDetail, penalties, bodyRequests } of pruned)
      expect([disconnectDetail, penalties, bodyRequests.length]).toEqual([undefined, 0, 1]);
    node.peers = [...pruned, aPeer("whole", source, { isMaintained: true })];
    await caughtUp(node);
    await advance(node.clock.nowMs() + 200_000);
    expect(node.head.header.number).toBe(HEAD);
  });

  it("starts from genesis as well", async () => {
    const node = aNode(source, 0);
    node.peers = [aPeer("a", source)];
    await caughtUp(node);
    expect(node.head.header.number).toBe(HEAD);
  });

  it("is compared with peers when a height is known, and was followed up", async () => {
    const node = aNode(source, 150);
    const peer = aPeer("a", source);
    expect(node.sync.comparison.isMade).toBe(false);
    await caughtUp(node);
    expect(node.sync.comparison.isMade).toBe(false);
    peer.height = undefined;
    node.peers = [peer];
    await caughtUp(node);
    expect(node.sync.comparison.isMade).toBe(false);
    peer.height = HEAD;
    node.sync.wake();
    expect(node.sync.comparison.isMade).toBe(false);
    await node.settle();
    expect([node.sync.comparison.isMade, node.head.header.number]).toEqual([true, HEAD]);
    node.peers = [];
    expect(node.sync.comparison.isMade).toBe(false);
    await caughtUp(node);
    node.peers = [peer];
    expect(node.sync.comparison.isMade).toBe(false);
    await caughtUp(node);
    expect(node.sync.comparison.isMade).toBe(true);
  });

  it("requests the bodies missing in a response again, and accepts any order", async () => {
    const node = aNode(source, 0);
    node.peers = [aPeer("a", source, { bodies: (honest) => ok(honest.slice(0, 3).reverse()) })];
    await caughtUp(node);
    expect(node.head.header.number).toBe(HEAD);
  });

  it("asks the highest of the configured peers", async () => {
    const node = aNode(source, 700);
    const low = aPeer("low", source, { height: 710n, isMaintained: true });
    const high = aPeer("high", source, { isMaintained: true });
    node.peers = [low, high];
    await caughtUp(node);
    expect([low.headerRequests.length, high.headerRequests.length]).toEqual([0, 1]);
  });

  const failures: readonly (readonly [what: string, ways: Partial<ToyPeerBehaviour>])[] = [
    ["does not respond", { headers: () => silence }],
    ["has no headers", { headers: () => ok([]) }],
    ["does not return bodies", { bodies: () => silence }],
    ["has no bodies", { bodies: () => ok([]) }],
  ];
  it.each(failures)("turns to another peer when one %s, without disconnecting it", async (_, behaviour) => {
    const node = aNode(source, 100);
    const bad = aPeer("bad", source, { ...behaviour, height: 1000n });
    node.peers = [bad, aPeer("good", source)];
    await caughtUp(node);
    expect(node.head.header.number).toBe(HEAD);
    expect(bad.disconnectDetail).toBeUndefined();
    expect(node.refused).toEqual(["missingBlocks"]);
  });

  const invalidData: readonly (readonly [what: string, ways: Partial<ToyPeerBehaviour>])[] = [
    ["headers with a gap", { headers: (honest) => ok(honest.toSpliced(5, 1)) }],
    ["headers of other numbers", { headers: () => ok(headersOf(source, 150, 160)) }],
    [
      "a header that does not follow",
      {
        headers: (honest) =>
          ok(honest.map((header, index) => (index === 7 ? withOtherParent(header) : header))),
      },
    ],
    ["bodies of other blocks", { bodies: () => ok(source.blocks.slice(38, 39)) }],
    [
      "bodies with a missing transaction",
      {
        bodies: (honest) => ok(honest.map((body) => ({ ...body, transactions: body.transactions.slice(1) }))),
      },
    ],
    ["a chain of invalid blocks", { headers: ([first]) => ok(first === undefined ? [] : [invalid(first)]) }],
  ];
  it.each(invalidData)(
    "disconnects a peer that sends %s, and catches up from another",
    async (_, behaviour) => {
      const node = aNode(source, 100);
      const faulty = aPeer("faulty", source, { ...behaviour, height: 1000n });
      node.peers = [faulty, aPeer("good", source)];
      await caughtUp(node);
      expect(faulty.disconnectDetail).toBeDefined();
      expect(node.head.header.number).toBe(HEAD);
      expect(node.refused).toEqual(["invalidBlock"]);
    },
  );

  it("suspects its own genesis file once the blocks of all peers break its rules, and not before", async () => {
    const invalidPeer = (key: string) =>
      aPeer(key, source, { headers: ([first]) => ok(first === undefined ? [] : [invalid(first)]) });
    const warningsOf = async (peers: readonly ToyPeer[]): Promise<readonly string[]> => {
      const { logger, lines } = loggedLines("WARN");
      const node = aNode(source, 100, { logger });
      node.peers = [...peers];
      await caughtUp(node);
      return lines.map(({ message }) => message.split(":")[0] ?? "");
    };
    const cutOff = "peer sent invalid blocks; disconnecting it";
    expect(await warningsOf([invalidPeer("a"), invalidPeer("b")])).toEqual([
      cutOff,
      "the blocks of every peer break this node's rules",
      cutOff,
    ]);
    expect(await warningsOf([invalidPeer("a"), aPeer("good", source)])).not.toContain(
      "the blocks of every peer break this node's rules",
    );
  });

  it("requests no body from a peer whose next block is forged, alone or among others", async () => {
    for (const others of [[], [aPeer("good", source)]]) {
      const node = aNode(source, 100);
      const faulty = aPeer("faulty", source, {
        height: 1000n,
        headers: ([first]) =>
          ok(
            first === undefined
              ? []
              : [{ ...first, stateRoot: first.parentHash, transactionsRoot: first.stateRoot }],
          ),
      });
      node.peers = [faulty, ...others];
      await caughtUp(node);
      expect(faulty.bodyRequests).toEqual([]);
      expect(faulty.disconnectDetail).toBeDefined();
    }
  });

  it("backs off a peer on another branch, keeps its own, and logs where they part", async () => {
    const { logger, lines } = loggedLines("WARN");
    const node = aNode(source, 100, { logger });
    const BRANCH_POINT = 37n;
    const other = aPeer("other", source, {
      headers: (honest) =>
        ok(honest.map((header) => (header.number > BRANCH_POINT ? withOtherParent(header) : header))),
    });
    node.peers = [other];
    await caughtUp(node);
    expect(other.disconnectDetail).toBeUndefined();
    expect(other.headerRequests.filter(({ start }) => start.number > 100n)).toHaveLength(1);
    expect(other.headerRequests.length).toBeLessThan(10);
    expect([node.sync.isInSync, node.imported]).toEqual([true, []]);
    expect(lines.at(-1)).toMatchObject({ commonAncestor: Number(BRANCH_POINT), head: 100 });
  });

  it("retries a peer that returned nothing after 2 s, then 4 s, and at most a minute", async () => {
    const node = aNode(source, 100);
    const peer = aPeer("silent", source, { headers: () => silence });
    node.peers = [peer];
    await caughtUp(node);
    for (const [seconds, times] of [
      [1.9, 1],
      [0.1, 2],
      [3.9, 2],
      [0.1, 3],
    ] as const) {
      node.clock.advanceBy(seconds * 1000);
      await node.settle();
      expect(peer.headerRequests).toHaveLength(times);
    }
  });

  it("continues from where consensus has moved the head in the meantime", async () => {
    const node = aNode(source, 700);
    const peer = aPeer("a", source, {
      headers(honest) {
        node.moveHead(710);
        return ok(honest);
      },
    });
    node.peers = [peer];
    await caughtUp(node);
    expect(peer.headerRequests).toHaveLength(1);
    expect(node.imported).toEqual([711n, 712n, 713n, 714n, 715n, 716n, 717n]);
  });

  it("pauses for some seconds when an import fails for a local reason, and disconnects no peer", async () => {
    const node = aNode(source, 700);
    const peer = aPeer("a", source);
    node.peers = [peer];
    node.refuse = () => err({ code: "diskFull", fault: "local", message: "no room" });
    await caughtUp(node);
    expect([peer.headerRequests.length, peer.disconnectDetail]).toEqual([1, undefined]);
    node.refuse = () => undefined;
    node.clock.advanceBy(5_000);
    await node.settle();
    expect(node.head.header.number).toBe(HEAD);
  });

  it("disconnects no peer for a block ahead of the local clock", async () => {
    const node = aNode(source, 700);
    const peer = aPeer("a", source);
    node.peers = [peer];
    node.refuse = () => err({ code: "timestampInFuture", fault: "peer", message: "too early" });
    await caughtUp(node);
    expect(peer.disconnectDetail).toBeUndefined();
  });

  it("reports its progress", async () => {
    const node = aNode(source, 700);
    const seen: unknown[] = [];
    node.peers = [
      aPeer("a", source, {
        isMaintained: true,
        headers(honest) {
          seen.push(node.sync.status);
          return ok(honest);
        },
      }),
    ];
    await caughtUp(node);
    expect(seen).toEqual([{ startingBlock: 700n, currentBlock: 700n, highestBlock: 717n }]);
    expect(node.sync.status).toBeUndefined();
  });

  it("is out of sync from the sixth fetched block to the fifth before the last", async () => {
    const node = aNode(source, 100);
    node.peers = [aPeer("a", source)];
    const changes: unknown[] = [];
    let wasInSync = node.sync.isInSync;
    node.refuse = ({ header: { number } }) => {
      if (node.sync.isInSync !== wasInSync) changes.push([number - 1n, node.sync.isInSync]);
      wasInSync = node.sync.isInSync;
      return undefined;
    };
    await caughtUp(node);
    expect(changes).toEqual([
      [106n, false],
      [712n, true],
    ]);
  });

  it("stays out of sync while sealed headers show how far behind it is, whatever peers fail meanwhile", async () => {
    const node = aNode(source, 100);
    const failing = aPeer("failing", source, { isMaintained: true, bodies: () => silence });
    node.peers = [failing, aPeer("good", source, { isMaintained: true })];
    const states = new Map<bigint, boolean>();
    node.refuse = ({ header: { number } }) => {
      states.set(number - 1n, node.sync.isInSync);
      return undefined;
    };
    await caughtUp(node);
    expect(failing.bodyRequests).not.toEqual([]);
    expect([...states].filter(([number, isInSync]) => isInSync !== number >= HEAD - 5n)).toEqual([]);
    expect([states.size, node.sync.isInSync]).toEqual([617, true]);
  });

  it("logs how far it is every ten seconds, also while no block comes", async () => {
    const { logger, lines } = loggedLines("INFO");
    const node = aNode(source, 100, { logger });
    const answers: (() => void)[] = [];
    const slow = aPeer("slow", source, {
      isMaintained: true,
      bodies: (honest) => new Promise((resolve) => void answers.push(() => resolve(ok(honest)))),
    });
    node.peers = [slow];
    await caughtUp(node);
    const head = node.head.header.number;
    for (let interval = 0; interval < 2; interval++) {
      node.clock.advanceBy(10_000);
      await node.settle();
    }
    const progress = lines.filter((line) => "percent" in line);
    expect(progress).toHaveLength(2);
    expect(progress[1]).toMatchObject({
      number: Number(head),
      highest: 717,
      blocksPerSecond: 0,
      transactionsPerSecond: 0,
    });
    expect(progress[1]).not.toHaveProperty("secondsLeft");
    for (let round = 0; node.head.header.number < HEAD && round < 100; round++) {
      for (const answer of answers.splice(0)) answer();
      await node.settle();
    }
    node.clock.advanceBy(60_000);
    expect(lines.filter((line) => "percent" in line)).toHaveLength(2);
    expect(lines.at(-1)).toMatchObject({ message: "caught up with peers", from: 100, to: 717 });
  });

  it("does not say that it has caught up when the last peer leaves on the way", async () => {
    const { logger, lines } = loggedLines("INFO");
    const node = aNode(source, 100, { logger });
    let requests = 0;
    const leaving = aPeer("leaving", source, {
      isMaintained: true,
      bodies(honest) {
        requests++;
        if (requests === 1) return ok(honest);
        node.peers = [];
        return silence;
      },
    });
    node.peers = [leaving];
    await caughtUp(node);
    const to = Number(node.head.header.number);
    expect(to).toBeGreaterThan(100);
    expect(to).toBeLessThan(717);
    expect(lines.filter(({ message }) => /^(caught|catching) up with peers/.test(message))).toMatchObject([
      { message: "catching up with peers", head: 100, height: 717 },
      {
        message: "catching up with peers ended early, as none is ahead any more",
        from: 100,
        to,
        height: 717,
      },
    ]);
  });

  it("says that a stop has ended it", async () => {
    const { logger, lines } = loggedLines("INFO");
    const node = aNode(source, 100, { logger });
    let requests = 0;
    let closed: Promise<void> | undefined;
    const peer = aPeer("peer", source, {
      isMaintained: true,
      bodies(honest) {
        requests++;
        if (requests > 1) closed ??= node.sync.close();
        return ok(honest);
      },
    });
    node.peers = [peer];
    await caughtUp(node);
    await closed;
    expect(requests).toBe(2);
    expect(lines.at(-1)).toMatchObject({
      message: "catching up with peers ended early, as this node stops; the next start goes on",
      from: 100,
      height: 717,
    });
  });

  it("is in sync whatever a peer claims, until the peer has proven it", async () => {
    const node = aNode(source, 717);
    const seen: boolean[] = [];
    const faultyPeers = [silence, ok([]), ok([withOtherParent(source.blocks[717]?.header as Header)])].map(
      (answer, index) =>
        aPeer(`faulty ${index}`, source, {
          height: 10n ** 9n,
          headers() {
            seen.push(node.sync.isInSync);
            return answer;
          },
        }),
    );
    node.peers = faultyPeers;
    await caughtUp(node);
    expect(seen).toEqual([true, true, true]);
    expect(node.sync.isInSync).toBe(true);
  });

  it("is not syncing with a peer that only claims to be ahead, however often it is asked", async () => {
    const node = aNode(source, 717);
    const seen: unknown[] = [];
    node.peers = [silence, ok([]), silence].map((answer, index) =>
      aPeer(`faulty ${index}`, source, {
        height: 10n ** 9n,
        headers() {
          seen.push(node.sync.status);
          return answer;
        },
      }),
    );
    await caughtUp(node);
    for (let seconds = 0; seconds < 60; seconds++) {
      node.clock.advanceBy(1_000);
      await node.settle();
    }
    expect(seen).toEqual(Array.from({ length: 15 }));
  });

  it("asks configured peers before others", async () => {
    const node = aNode(source, 700);
    const untrusted = aPeer("untrusted", source, { height: 10n ** 9n, headers: () => silence });
    const named = aPeer("named", source, { isMaintained: true });
    node.peers = [untrusted, named];
    await caughtUp(node);
    expect(node.head.header.number).toBe(HEAD);
    expect(named.headerRequests).toHaveLength(1);
  });

  it("turns from a peer that returns one block at a time and claims to have many", async () => {
    const node = aNode(source, 100);
    const stingy = aPeer("miser", source, { height: 10n ** 9n, headers: (honest) => ok(honest.slice(0, 1)) });
    node.peers = [stingy, aPeer("good", source)];
    await caughtUp(node);
    expect(node.head.header.number).toBe(HEAD);
    expect(stingy.headerRequests.map(({ max }) => max)).toEqual([1, 200]);
    expect(node.refused).toEqual(["missingBlocks"]);
  });

  it("turns from a slow peer to one that connects in the meantime", async () => {
    const node = aNode(source, 700);
    const slow = aPeer("slow", source, { height: 10n ** 9n, headers: () => new Promise(() => undefined) });
    node.peers = [slow];
    await caughtUp(node);
    node.clock.advanceBy(4_000);
    node.peers = [slow, aPeer("good", source)];
    await caughtUp(node);
    node.clock.advanceBy(500);
    await node.settle();
    expect(node.head.header.number).toBe(HEAD);
  });

  it("backs off a slow peer longer each time, though others come and go", async () => {
    const node = aNode(source, 700);
    const slow = aPeer("slow", source, { isMaintained: true, headers: () => new Promise(() => undefined) });
    const other = aPeer("other", source, { height: 701n, headers: () => silence });
    node.peers = [slow, other];
    await caughtUp(node);
    const askedMs: number[] = [];
    const startMs = node.clock.nowMs();
    for (let count = slow.headerRequests.length; node.clock.nowMs() - startMs < 40_000; ) {
      node.clock.advanceBy(500);
      await node.settle();
      if (slow.headerRequests.length > count) askedMs.push(node.clock.nowMs() - startMs);
      count = slow.headerRequests.length;
    }
    const pausesMs = askedMs.map((ms, index) => ms - (askedMs[index - 1] ?? 0));
    expect(
      pausesMs.slice(1).every((ms, index) => ms > (pausesMs[index] ?? 0)),
      pausesMs.join(),
    ).toBe(true);
  });

  it("asks validators before untrusted peers", async () => {
    const validator = aPeer("validator", source);
    const node = aNode(source, 700, { validators: [validator.address] });
    const untrusted = aPeer("untrusted", source, { height: 10n ** 9n });
    node.peers = [untrusted, validator];
    await caughtUp(node);
    expect(validator.headerRequests.map(({ start }) => start.number)).toEqual([701n]);
    expect(untrusted.headerRequests.map(({ start }) => start.number)).toEqual([718n]);
  });

  it("imports announced blocks while a slow peer delays a range", async () => {
    const node = aNode(source, 716);
    let answer: () => void = () => undefined;
    const slow = aPeer("slow", source, {
      height: 10n ** 9n,
      headers: () =>
        new Promise((resolve) => {
          answer = () => resolve(silence);
        }),
    });
    node.peers = [slow];
    await caughtUp(node);
    const last = source.blocks[717];
    if (last === undefined) throw new Error("no such block");
    node.sync.offer(offered(last, { peer: "another" }));
    await node.settle();
    expect(node.head.header.number).toBe(HEAD);
    answer();
    await node.settle();
  });

  it("does nothing after close", async () => {
    const node = aNode(source, 700);
    node.peers = [aPeer("a", source)];
    await node.sync.close();
    await caughtUp(node);
    expect(node.imported).toEqual([]);
  });
});

describeWithVectors("a node with twenty untrusted peers that claim to be far ahead", () => {
  const source = aRecordedChain();
  const HEAD = 717;

  /** Ways to delay the node, and the longest total delay that they may cause, on the node's clock. */
  const behaviour: readonly (readonly [
    what: string,
    longestMs: number,
    ways: (later: Later) => Partial<ToyPeerBehaviour>,
  ])[] = [
    ["never respond", 1_000, (later) => ({ headers: () => later(5_000, silence) })],
    ["respond late, with nothing", 1_000, (later) => ({ headers: () => later(4_900, ok([])) })],
    ["respond at once, with nothing", 1_000, () => ({ headers: () => ok([]) })],
    [
      "forge a block and withhold its body",
      1_000,
      (later) => ({
        headers: ([first]) =>
          ok(first === undefined ? [] : [{ ...first, transactionsRoot: first.stateRoot }]),
        bodies: () => later(5_000, silence),
      }),
    ],
    [
      "have the next block and withhold the others",
      42_000,
      (later) => ({ headers: (honest) => (honest.length === 1 ? ok(honest) : later(5_000, silence)) }),
    ],
    ["have no old bodies, as where old blocks are removed", 1_000, () => ({ bodies: () => ok([]) })],
    [
      "return one body after another, late",
      42_000,
      (later) => ({
        bodies: (honest) => (honest.length === 1 ? ok(honest) : later(4_900, ok(honest.slice(0, 1)))),
      }),
    ],
  ];

  it.each(behaviour)(
    "and %s, catches up from one honest peer within %i ms",
    async (_, longestMs, behaviourOf) => {
      const node = aNode(source, 30);
      const { clock } = node;
      const later: Later = (ms, outcome) =>
        new Promise((resolve) => clock.at(clock.nowMs() + ms, () => resolve(outcome)));
      const faultyPeers = Array.from({ length: 20 }, (_, index) =>
        aPeer(`faulty ${index}`, source, { ...behaviourOf(later), height: 10n ** 9n }),
      );
      node.peers = [
        ...faultyPeers,
        aPeer("honest", source, {
          headers: (honest) => later(100, ok(honest)),
          bodies: (honest) => later(100, ok(honest)),
        }),
      ];
      const startMs = clock.nowMs();
      node.sync.wake();
      await node.settle();
      while (node.head.header.number < HEAD && clock.nowMs() - startMs <= longestMs) {
        clock.advanceTo(clock.nextAlarmMs ?? clock.nowMs() + longestMs);
        await node.settle();
      }
      expect(node.head.header.number).toBe(BigInt(HEAD));
      await node.sync.close();
    },
  );

  type Later = <T>(ms: number, outcome: T) => Promise<T>;
});

describeWithVectors("announced blocks", () => {
  const source = aRecordedChain();
  const offer = (node: ToyNode, number: number, { peer = "a", block = blockAt(number) } = {}): void => {
    node.sync.offer({ ...offered(block, { peer }), hash: blockAt(number).hash });
  };

  function blockAt(number: number): Block & { readonly hash: (typeof source)["blocks"][0]["hash"] } {
    const block = source.blocks[number];
    if (block === undefined) throw new Error("no such block");
    return block;
  }

  it("are imported when their parent is the head", async () => {
    const node = aNode(source, 700);
    offer(node, 701);
    await node.settle();
    expect(node.imported).toEqual([701n]);
  });

  it("wait for their parents, whatever the order", async () => {
    const node = aNode(source, 700);
    for (const number of [704, 703, 702, 701]) offer(node, number);
    await node.settle();
    expect(node.imported).toEqual([701n, 702n, 703n, 704n]);
  });

  it("are imported once the blocks before them were fetched", async () => {
    const node = aNode(source, 700);
    node.peers = [aPeer("a", source, { height: 709n })];
    offer(node, 710);
    await node.settle();
    expect(node.imported.at(-1)).toBe(710n);
  });

  it.each([
    { order: ["honest", "faulty"], blames: 0 },
    { order: ["faulty", "honest"], blames: 1 },
  ])("are tried from each peer, because the hash excludes seals ($order)", async ({ order, blames }) => {
    const node = aNode(source, 700);
    const bad = { ...blockAt(702), transactions: blockAt(38).transactions };
    const faulty = aPeer("faulty", source, { height: 700n });
    node.peers = [faulty];
    for (const peer of order) offer(node, 702, { peer, ...(peer === "faulty" && { block: bad }) });
    offer(node, 701);
    await node.settle();
    expect(node.imported).toEqual([701n, 702n]);
    expect([faulty.penalties, faulty.disconnectDetail]).toEqual([blames, undefined]);
  });

  it("stay undecoded when their headers are invalid", async () => {
    const node = aNode(source, 700);
    const faulty = aPeer("faulty", source, { height: 700n });
    node.peers = [faulty];
    const { header } = blockAt(701);
    let opened = 0;
    node.sync.offer({
      ...offered({ ...blockAt(701), header: invalid(header) }, { peer: "faulty" }),
      open() {
        opened++;
        return ok(blockAt(701));
      },
    });
    await node.settle();
    expect([opened, faulty.penalties, node.imported, node.relayed]).toEqual([0, 1, [], []]);
    expect(node.refused).toEqual(["invalidBlock"]);
  });

  it("disconnect their peer when they are malformed", async () => {
    const node = aNode(source, 700);
    const faulty = aPeer("faulty", source, { height: 700n });
    node.peers = [faulty];
    node.sync.offer({
      ...offered(blockAt(701), { peer: "faulty" }),
      open: () => err({ code: "malformed", fault: "peer", message: "nonsense" }),
    });
    await node.settle();
    expect(faulty.disconnectDetail).toBe("nonsense");
    expect([node.refused, node.relayed]).toEqual([["invalidBlock"], []]);
  });

  it("are relayed before they are imported, once their headers are valid", async () => {
    const node = aNode(source, 700);
    offer(node, 702);
    offer(node, 701);
    await node.settle();
    expect(node.imported).toEqual([701n, 702n]);
    expect(node.relayed).toEqual([
      { number: 701n, head: 700n },
      { number: 702n, head: 701n },
    ]);
  });

  it("wait up to forty per peer", async () => {
    const node = aNode(source, 600);
    for (let number = 602; number <= 650; number++) offer(node, number);
    offer(node, 601, { peer: "b" });
    await node.settle();
    expect(node.imported.at(-1)).toBe(641n);
  });
});

function offered(block: Block, { peer }: { readonly peer: string }): OfferedBlock {
  const hash = hashOfHeader(block.header);
  if (!hash.ok) throw new Error(hash.error.message);
  return { header: block.header, hash: hash.value, bytes: 1_000, open: () => ok(block), peer };
}

/** The same header with a wrong state root; without transactions, so that no body is missing. */
function invalid(header: Header): Header {
  return { ...header, stateRoot: header.parentHash, transactionsRoot: EMPTY_TRIE_ROOT };
}

const headersOf = ({ blocks }: RecordedChain, from: number, until: number): Header[] =>
  blocks.slice(from, until).map(({ header }) => header);

/** The same number with another parent. */
function withOtherParent(header: Header): Header {
  return { ...header, parentHash: header.stateRoot };
}
