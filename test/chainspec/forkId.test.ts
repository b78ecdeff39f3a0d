import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deriveGenesisBlock } from "../../src/chain/genesisBlock.ts";
import {
  encodeForkId,
  type ForkId,
  ForkIds,
  type ForkPoints,
  forkIdFromItems,
  forkPoints,
} from "../../src/chainspec/forkId.ts";
import { parseGenesis } from "../../src/chainspec/genesis.ts";
import { hashFromHex } from "../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { readRlp } from "../../src/primitives/rlp.ts";
import { recordedBlocks } from "../builders/recordedChain.ts";
import { describeWithVectors, readVectorJson, vectorPath } from "../vectors.ts";

const SOME_HASH = hashFromHex(`0x${"5a".repeat(32)}`);
/** Two forks by number, two by time. */
const MIXED: ForkPoints = { blocks: [10n, 20n], times: [1000n, 2000n] };

function forkIdsOf(genesisText: string, source: string): ForkIds {
  const spec = parseGenesis(genesisText, source);
  if (!spec.ok) throw new Error(spec.error.message);
  const { header, hash } = deriveGenesisBlock(spec.value);
  return new ForkIds(hash, forkPoints(spec.value.forks, header.timestamp));
}

function checksumText({ checksum }: ForkId): string {
  return `0x${checksum.toString(16).padStart(8, "0")}`;
}

function readForkId(bytes: Uint8Array): ForkId {
  const read = forkIdFromItems(readRlp(bytes, 1));
  if (!read.ok) throw new Error(read.error.message);
  return read.value;
}

function expectedOn(
  forkIds: ForkIds,
  [number, timestamp]: readonly [bigint, bigint],
  remote: ForkId,
): string {
  const expected = forkIds.check({ number, timestamp }, remote);
  return expected.ok ? "accept" : expected.error.code;
}

describe("fork points", () => {
  it("leave out what the genesis block has, and name each point once, numbers and times apart", () => {
    const points = forkPoints(
      {
        activations: [
          { fork: "frontier", at: { block: 0n } },
          { fork: "homestead", at: { block: 0n } },
          { fork: "istanbul", at: { block: 7n } },
          { fork: "muirGlacier", at: { block: 7n } },
          { fork: "berlin", at: { block: 9n } },
          { fork: "shanghai", at: { time: 99n } },
          { fork: "cancun", at: { time: 100n } },
          { fork: "prague", at: { time: 101n } },
        ],
      },
      100n,
    );
    expect(points).toEqual({ blocks: [7n, 9n], times: [101n] });
  });
});

describe("a fork id", () => {
  it("changes as fork numbers and then fork times are reached", () => {
    const forkIds = new ForkIds(SOME_HASH, MIXED);
    const nexts = [
      [0n, 0n],
      [9n, 5000n],
      [10n, 0n],
      [20n, 999n],
      [21n, 1000n],
      [21n, 5000n],
    ].map(([number = 0n, timestamp = 0n]) => forkIds.at({ number, timestamp }).next);
    expect(nexts).toEqual([10n, 10n, 20n, 1000n, 2000n, 0n]);
  });

  it("is decoded from its own encoding", () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (checksum, next) => {
        expect(readForkId(encodeForkId({ checksum, next }))).toEqual({ checksum, next });
      }),
    );
  });

  it.each([
    ["a string", "83646f67"],
    ["an empty list", "c0"],
    ["three items", "c784000000000102"],
    ["a checksum of three bytes", "c58300000001"],
    ["a next fork with leading zeros", "c88400000000820001"],
    ["a next fork of nine bytes", "cf840000000089010000000000000000"],
    ["a list for a checksum", "c2c001"],
  ])("is not %s", (_, hex) => {
    expect(forkIdFromItems(readRlp(hexToBytes(hex), 2))).toMatchObject({
      ok: false,
      error: { code: "malformedForkId", fault: "peer" },
    });
  });
});

describe("the fork id of a remote node", () => {
  const ids = new ForkIds(SOME_HASH, MIXED);
  const before = ids.at({ number: 0n, timestamp: 0n });
  const ended = ids.at({ number: 20n, timestamp: 2000n });

  it.each<[string, readonly [bigint, bigint], ForkId, string]>([
    ["the same as ours", [9n, 0n], before, "accept"],
    ["ours, which knows of no next fork yet", [9n, 0n], { ...before, next: 0n }, "accept"],
    ["of a node behind, which knows our forks", [20n, 2000n], before, "accept"],
    ["of a node behind, which lacks a fork of ours", [10n, 0n], { ...before, next: 0n }, "remoteForksStale"],
    ["of a node ahead by our forks", [0n, 0n], ended, "accept"],
    ["of a chain unknown here", [0n, 0n], { checksum: 1, next: 0n }, "localForksIncompatible"],
    ["with a fork to come that is news to us", [20n, 2000n], { ...ended, next: 2001n }, "accept"],
    [
      "with a fork that should be here by now",
      [20n, 2001n],
      { ...ended, next: 2001n },
      "localForksIncompatible",
    ],
  ])("%s", (_, head, remote, expected) => {
    expect(expectedOn(ids, head, remote)).toBe(expected);
  });

  it("that has a fork at a time already passed is refused also when our forks have numbers only", () => {
    const berlinOnly = new ForkIds(SOME_HASH, { blocks: [], times: [] });
    const upgraded = { ...berlinOnly.at({ number: 0n, timestamp: 0n }), next: 1_754_252_000n };
    expect(expectedOn(berlinOnly, [50_000_000n, 1_754_251_999n], upgraded)).toBe("accept");
    expect(expectedOn(berlinOnly, [50_000_000n, 1_754_252_000n], upgraded)).toBe("localForksIncompatible");
  });

  it("is accepted at any point of our own schedule", () => {
    const heads = fc.tuple(fc.bigInt({ min: 0n, max: 30n }), fc.bigInt({ min: 0n, max: 3000n }));
    fc.assert(
      fc.property(heads, heads, (ours, [number, timestamp]) => {
        expect(expectedOn(ids, ours, ids.at({ number, timestamp }))).toBe("accept");
      }),
    );
  });
});

interface ForkIdVectors {
  readonly creation: readonly {
    readonly network: string;
    readonly genesisHash: string;
    readonly blockForks: readonly number[];
    readonly timeForks: readonly number[];
    readonly cases: readonly {
      readonly headBlock: number;
      readonly headTime: number;
      readonly forkHash: string;
      readonly forkNext: number | string;
    }[];
  }[];
  readonly validation: readonly {
    readonly config: string;
    readonly headBlock: number;
    readonly headTime: number;
    readonly remote: { readonly forkHash: string; readonly forkNext: string };
    readonly expect: string;
  }[];
  readonly rlp: readonly { readonly forkHash: string; readonly forkNext: string; readonly rlp: string }[];
}

describeWithVectors("the public fork ids", () => {
  const vectors = readVectorJson<ForkIdVectors>("devp2p", "forkid.json");

  function forkIdsOfNetwork(name: string): ForkIds {
    const found = vectors.creation.find(({ network }) => network === name.replace("-block-forks-only", ""));
    if (found === undefined) throw new Error(`no network ${name}`);
    return new ForkIds(hashFromHex(found.genesisHash), {
      blocks: found.blockForks.map(BigInt),
      times: name.endsWith("-block-forks-only") ? [] : found.timeForks.map(BigInt),
    });
  }

  it.each(vectors.creation)("are derived as in EIP-2124: $network", ({ network, cases }) => {
    const forkIds = forkIdsOfNetwork(network);
    for (const { headBlock, headTime, forkHash, forkNext } of cases) {
      const id = forkIds.at({ number: BigInt(headBlock), timestamp: BigInt(headTime) });
      expect([checksumText(id), id.next], `${headBlock} at ${headTime}`).toEqual([
        forkHash,
        BigInt(forkNext),
      ]);
    }
  });

  it.each(vectors.validation)(
    "are judged as everybody judges them: $config at $headBlock/$headTime, $remote.forkHash/$remote.forkNext",
    ({ config, headBlock, headTime, remote, expect: expected }) => {
      const theirs = { checksum: Number(remote.forkHash), next: BigInt(remote.forkNext) };
      expect(expectedOn(forkIdsOfNetwork(config), [BigInt(headBlock), BigInt(headTime)], theirs)).toBe(
        { "reject-remote-stale": "remoteForksStale", accept: "accept" }[expected] ?? "localForksIncompatible",
      );
    },
  );

  it.each(vectors.rlp)("are encoded as in EIP-2124: $rlp", ({ forkHash, forkNext, rlp }) => {
    const id = { checksum: Number(forkHash), next: BigInt(forkNext) };
    expect(toHex(encodeForkId(id))).toBe(rlp);
    expect(readForkId(hexToBytes(rlp))).toEqual(id);
  });
});

describeWithVectors("fork ids of IBFT 2.0 networks", () => {
  interface Expected {
    readonly file: string;
    readonly genesisHash?: string;
    readonly forkIds: readonly {
      readonly afterForks: readonly number[];
      readonly forkHash: string;
      readonly forkNext: number;
    }[];
  }
  const { genesis } = readVectorJson<{ genesis: readonly Expected[] }>("ibft2", "genesis-expected.json");
  // The network's nodes do not treat the key pragueBlock as a fork, nor do we: that vector is informative only.
  const files = genesis.filter(
    ({ file, genesisHash }) => genesisHash !== undefined && !file.includes("pragueblock"),
  );

  it.each(files)("$file", ({ file, forkIds: expected }) => {
    const forkIds = forkIdsOf(readFileSync(vectorPath("ibft2", file), "utf8"), file);
    for (const { afterForks, forkHash, forkNext } of expected) {
      const last = BigInt(afterForks.at(-1) ?? 0);
      const id = forkIds.at({ number: last, timestamp: last });
      expect([checksumText(id), id.next]).toEqual([forkHash, BigInt(forkNext)]);
    }
  });

  it.each(["net1", "net2"])("every Status that real nodes sent, %s", (network) => {
    const forkIds = forkIdsOf(
      readFileSync(vectorPath("besu-ibft", network, "genesis.json"), "utf8"),
      network,
    );
    const blocks = recordedBlocks(["besu-ibft", network]);
    const messages = statusMessages(network);
    expect(messages.length).toBeGreaterThanOrEqual(7);
    for (const message of messages) {
      const items = readRlp(message, 2) as Uint8Array[];
      const sent = forkIdFromItems(items[5]);
      const head = blocks.find(({ hash }) => toHex(hash) === toHex(items[3] ?? new Uint8Array()));
      if (!sent.ok || head === undefined) throw new Error("a Status has a known head and a fork id");
      expect(forkIds.at(head.header)).toEqual(sent.value);
      expect(toHex(message).endsWith(toHex(encodeForkId(sent.value)).slice(2))).toBe(true);
      for (const { header } of blocks) expect(forkIds.check(header, sent.value)).toMatchObject({ ok: true });
    }
  });

  it("nodes with Shanghai a second apart disconnect before it, as Besu's do", () => {
    const folder = ["besu-ibft", "prague-25.4.1"] as const;
    const [staged, earlier] = ["staged", "fork-id"].map((name) =>
      forkIdsOf(readFileSync(vectorPath(...folder, name, "genesis.json"), "utf8"), name),
    );
    if (staged === undefined || earlier === undefined) throw new Error("two genesis files");
    const head = recordedBlocks([...folder, "staged"]).at(-1)?.header;
    if (head === undefined) throw new Error("a head");
    const theirs = earlier.at(head);
    expect(theirs).not.toEqual(staged.at(head));
    expect(staged.check(head, theirs)).toMatchObject({
      ok: false,
      error: { code: "localForksIncompatible" },
    });
  });

  function statusMessages(network: string): Uint8Array[] {
    const folder = ["besu-ibft", network, "wire"] as const;
    const loose = readVectorJson<{ name: string; data: string }[]>(...folder, "eth-messages.json");
    const sessions = readVectorJson<{ frames: { name: string; payload: string }[] }[]>(
      ...folder,
      "rlpx-sessions.json",
    );
    const framed = sessions
      .flatMap(({ frames }) => frames)
      .map(({ name, payload }) => ({ name, data: payload }));
    return [...loose, ...framed]
      .filter(({ name }) => name.endsWith("Status"))
      .map(({ data }) => hexToBytes(data));
  }
});
