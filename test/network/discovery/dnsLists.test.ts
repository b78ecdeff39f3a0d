import { describe, expect, it } from "vitest";
import { readEntry, readRoot } from "../../../src/network/discovery/dnsEntries.ts";
import { DnsLists, type DnsListsParts } from "../../../src/network/discovery/dnsLists.ts";
import { signNodeRecord } from "../../../src/network/discovery/nodeRecord.ts";
import type { NodeContact } from "../../../src/network/discovery/packets.ts";
import { bytesFromBase32, parseTreeUrl, type TreeUrl } from "../../../src/network/discovery/treeUrl.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { concatBytes } from "../../../src/primitives/hex.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { loggedLines } from "../../builders/loggedLines.ts";
import { createRandom } from "../../simulation/random.ts";
import { itIfThorough } from "../../thorough.ts";
import { describeWithVectors, readVectorJson } from "../../vectors.ts";

const HALF_HOUR_MS = 30 * 60_000;
const FORK = { checksum: 7, next: 0n };

describe("the URL of a list", () => {
  const KEY = "AKA3AM6LPBYEUDMVNU3BSVQJ5AD45Y7YPOHJLEF6W26QOE4VTUDPE";

  it("names a key and a domain", () => {
    expect(parseTreeUrl(`enrtree://${KEY}@Nodes.Example.org`)).toMatchObject({
      ok: true,
      value: { domain: "nodes.example.org", publicKey: expect.objectContaining({ length: 33 }) },
    });
  });

  it.each([
    `enode://${KEY}@nodes.example.org`,
    `enrtree://${KEY.slice(1)}@nodes.example.org`,
    `enrtree://${KEY.toLowerCase()}@nodes.example.org`,
    `enrtree://${KEY}@`,
    `enrtree://${KEY}@a b`,
    `enrtree://${KEY}@-.org`,
    `enrtree://${KEY}@${"a.".repeat(120)}org`,
    `enrtree://@nodes.example.org`,
    `enrtree://nodes.example.org`,
  ])("%s is refused", (url) => {
    expect(parseTreeUrl(url).ok).toBe(false);
  });

  it.each([
    ["", ""],
    ["MY", "f"],
    ["MZXW6", "foo"],
    ["MZXW6YTBOI", "foobar"],
  ])("base32 %s is '%s'", (text, bytes) => {
    expect(Buffer.from(bytesFromBase32(text) ?? [1])).toEqual(Buffer.from(bytes));
  });

  it.each(["M", "MZ1", "mzxw6", "MZ="])("base32 %s is refused", (text) => {
    expect(bytesFromBase32(text)).toBeUndefined();
  });
});

describeWithVectors("the list of a public network", () => {
  const texts = readVectorJson<Record<string, string>>("devp2p", "dns-discovery-holesky.json");
  const DOMAIN = "all.holesky.ethdisco.net";
  const URL = `enrtree://AKA3AM6LPBYEUDMVNU3BSVQJ5AD45Y7YPOHJLEF6W26QOE4VTUDPE@${DOMAIN}`;
  const records = Object.values(texts).filter((text) => text.startsWith("enr:")).length;

  it("is signed by its key, and by no other", () => {
    const root = texts[DOMAIN] ?? "";
    const { publicKey } = treeOf(URL);
    expect(readRoot([root], publicKey)).toMatchObject({ ok: true, value: { sequence: 932n } });
    expect(readRoot([root.replace("seq=932", "seq=933")], publicKey)).toMatchObject({
      error: { code: "badSignature" },
    });
    expect(readRoot([root], ownerOf(1).publicKey)).toMatchObject({ error: { code: "badSignature" } });
  });

  it("has entries whose hashes are their names, but for branches that were recorded without their end", () => {
    const outcomes = Object.entries(texts)
      .filter(([name]) => name !== DOMAIN)
      .map(([name, text]) => ({ text, entry: readEntry([text], name.split(".")[0] ?? "") }));
    const isCut = (text: string): boolean => text.length === 253;
    expect(outcomes.filter(({ text }) => isCut(text)).map(({ entry }) => entry.ok)).toEqual(
      Array<boolean>(15).fill(false),
    );
    const kinds = outcomes.flatMap(({ text, entry }) =>
      isCut(text) ? [] : [entry.ok ? entry.value.kind : entry.error.message],
    );
    expect(kinds.filter((kind) => kind === "node").length).toBe(records);
    expect(kinds.filter((kind) => kind === "branch").length).toBe(kinds.length - records);
  });

  it("gives the nodes of the branches that are whole", async () => {
    const reading = follow(treeOf(URL), texts);
    await reading.run(60_000);
    expect(reading.nodes.map(({ nodeId }) => nodeId.length)).toEqual([64, 64, 64]);
    expect(reading.lines).toMatchObject([{ reason: "an entry is missing, or its hash is wrong" }]);
  });

  it("gives none of another chain", async () => {
    const reading = follow(treeOf(URL), texts, { isCompatible: () => false });
    await reading.run(60_000);
    expect(reading.nodes).toEqual([]);
  });
});

describe("a list of nodes in DNS", () => {
  it("is read when it has changed, and its nodes are tried again when it has not", async () => {
    const list = aList([1, 2, 3].map(nodeText));
    const reading = follow(list.tree, list.texts);
    await reading.run(10_000);
    expect(reading.nodes.length).toBe(3);
    const asked = reading.asked.length;
    await reading.run(HALF_HOUR_MS);
    expect(reading.asked.length).toBe(asked + 1);
    expect(reading.nodes.length).toBe(6);
    Object.assign(list.texts, aList([4].map(nodeText), { sequence: 2 }).texts);
    await reading.run(HALF_HOUR_MS);
    expect(reading.nodes.length).toBe(7);
    Object.assign(list.texts, aList([1, 2].map(nodeText), { sequence: 1 }).texts);
    await reading.run(HALF_HOUR_MS);
    expect(reading.nodes.length).toBe(8);
    expect(reading.lines).toMatchObject([{ reason: "the root is older than the one before" }]);
  });

  it("is read no further than until there are enough peers, and on when they are lost", async () => {
    const list = aList(Array.from({ length: 20 }, (_, at) => nodeText(at + 1)));
    let isWanting = true;
    const nodes: NodeContact[] = [];
    const reading = follow(list.tree, list.texts, {
      wantsPeers: () => isWanting,
      onNode: (node) => {
        nodes.push(node);
        isWanting = nodes.length !== 5;
      },
    });
    await reading.run(HALF_HOUR_MS / 2);
    expect(nodes.length).toBe(5);
    isWanting = true;
    await reading.run(HALF_HOUR_MS);
    expect(nodes.length).toBe(20);
  });

  it("is asked for ten times a second at most", async () => {
    const list = aList(Array.from({ length: 80 }, (_, at) => nodeText(at + 1)));
    const reading = follow(list.tree, list.texts);
    await reading.run(5_000);
    expect(reading.asked.length).toBeGreaterThan(40);
    expect(reading.asked.length).toBeLessThanOrEqual(50);
  });

  it("leads to other lists, each of which is read once", async () => {
    const second = aList([nodeText(2), urlOf(1)], { owner: 2 });
    const first = aList([nodeText(1), urlOf(1), urlOf(2)], { owner: 1 });
    const reading = follow(first.tree, { ...first.texts, ...second.texts });
    await reading.run(60_000);
    expect(reading.nodes.length).toBe(2);
    expect(reading.lines).toEqual([]);
  });

  it("leads to eight lists at most", async () => {
    const lists = Array.from({ length: 20 }, (_, at) =>
      aList([nodeText(at + 1), urlOf(at + 2)], { owner: at + 1 }),
    );
    const texts = Object.assign({}, ...lists.map((one) => one.texts)) as Record<string, string>;
    const reading = follow(treeOf(urlOf(1)), texts);
    await reading.run(60_000);
    expect(reading.nodes.length).toBe(8);
  });

  it.each([
    [
      "a signature of another key",
      (texts: Texts) => sign(texts, 9),
      "the root is not signed by the list's key",
    ],
    [
      "no root",
      (texts: Texts) => void Object.assign(texts, { [DOMAIN_1]: "v=spf1" }),
      "there is no root at the domain",
    ],
    [
      "a root of nonsense",
      (texts: Texts) => void Object.assign(texts, { [DOMAIN_1]: "enrtree-root:v2 e=" }),
      "the root is malformed",
    ],
    ["a name server without an answer", (texts: Texts) => void delete texts[DOMAIN_1], "ENOTFOUND"],
  ])("with %s gives nothing, and is complained of once", async (_, spoil, reason) => {
    const list = aList([nodeText(1)]);
    spoil(list.texts);
    const reading = follow(list.tree, list.texts);
    await reading.run(3 * HALF_HOUR_MS);
    expect(reading.nodes).toEqual([]);
    expect(reading.lines).toMatchObject([{ level: "WARN", list: DOMAIN_1, reason }]);
  });

  it("whose entries are not what their names say is complained of once, and left soon", async () => {
    const list = aList(Array.from({ length: 80 }, (_, at) => nodeText(at + 1)));
    for (const [name, text] of Object.entries(list.texts))
      if (text.startsWith("enr:")) list.texts[name] = nodeText(200);
    const reading = follow(list.tree, list.texts);
    await reading.run(HALF_HOUR_MS / 2);
    expect(reading.nodes).toEqual([]);
    expect(reading.lines).toMatchObject([{ reason: "an entry is missing, or its hash is wrong" }]);
    expect(reading.asked.length).toBeLessThan(30);
  });

  it("with entries that are too long is not read", () => {
    const text = `enrtree-branch:${Array.from({ length: 100 }, (_, at) => hashOf(String(at))).join(",")}`;
    expect(readEntry([text], hashOf(text))).toMatchObject({ error: { code: "absentEntry" } });
    const short = "enrtree-branch:ABC";
    expect(readEntry([short], hashOf(short))).toMatchObject({ error: { code: "malformedEntry" } });
  });

  itIfThorough("without an end is read to a depth, and to a number of entries", async () => {
    const reason = "the list has more entries, or more levels, than are read";
    const wide = follow(aList([]).tree, treeOfBranches(6, 5));
    await wide.run(20 * 60_000);
    expect(wide.asked.filter((name) => name.endsWith(DOMAIN_1)).length).toBeLessThan(4100);
    expect(wide.lines.filter(({ list }) => list === DOMAIN_1)).toMatchObject([{ reason }]);
    const deep = follow(aList([]).tree, treeOfBranches(100, 1));
    await deep.run(20 * 60_000);
    expect(deep.asked.length).toBeLessThan(12);
    expect(deep.lines).toMatchObject([{ reason }]);
  });

  it("of a name server that never answers is given up, and tried again after half an hour", async () => {
    const list = aList([nodeText(1)]);
    const asked: string[] = [];
    const reading = follow(list.tree, list.texts, {
      server: {
        texts(name) {
          asked.push(name);
          return new Promise(() => undefined);
        },
        close: () => undefined,
      },
    });
    await reading.run(HALF_HOUR_MS / 2);
    expect(asked).toEqual([DOMAIN_1]);
    await reading.run(HALF_HOUR_MS);
    expect(asked.length).toBe(2);
    expect(reading.lines).toMatchObject([{ reason: "the name server does not answer" }]);
  });

  it("is not read any more once it is closed", async () => {
    const list = aList([1, 2, 3].map(nodeText));
    const reading = follow(list.tree, list.texts);
    await reading.run(200);
    reading.close();
    const asked = reading.asked.length;
    await reading.run(HALF_HOUR_MS * 2);
    expect(reading.asked.length).toBe(asked);
    expect(reading.clock.nextAlarmMs).toBeUndefined();
  });
});

type Texts = Record<string, string>;
const DOMAIN_1 = "list1.example.org";

function follow(tree: TreeUrl, texts: Texts, parts: Partial<DnsListsParts> = {}) {
  const clock = createHandClock(0);
  const random = createRandom(1);
  const { logger, lines } = loggedLines();
  const nodes: NodeContact[] = [];
  const asked: string[] = [];
  const { close } = bound(
    new DnsLists(tree, {
      server: {
        async texts(name) {
          asked.push(name);
          const text = texts[name];
          if (text === undefined) throw new Error("ENOTFOUND");
          return ["v=spf1", text];
        },
        close: () => undefined,
      },
      clock,
      chance: () => random.next(),
      wantsPeers: () => true,
      isCompatible: () => true,
      onNode: (node) => void nodes.push(node),
      logger: logger.child("network"),
      ...parts,
    }),
  );
  return {
    clock,
    nodes,
    asked,
    lines,
    close,
    async run(durationMs: number) {
      const untilMs = clock.nowMs() + durationMs;
      while (clock.nowMs() < untilMs) {
        clock.advanceTo(Math.min(clock.nextAlarmMs ?? untilMs, untilMs));
        for (let turn = 0; turn < 12; turn++) await Promise.resolve();
      }
    },
  };
}

function bound(lists: { close(): void }): { readonly close: () => void } {
  return { close: () => lists.close() };
}

function treeOf(url: string): TreeUrl {
  const tree = parseTreeUrl(url);
  if (!tree.ok) throw new Error(tree.error.message);
  return tree.value;
}

function ownerOf(number: number) {
  const privateKey = new Uint8Array(32).fill(number);
  const key = curve.publicKey(privateKey);
  const publicKey = concatBytes(Uint8Array.of(2 + ((key[63] ?? 0) & 1)), key.subarray(0, 32));
  return { privateKey, publicKey };
}

function urlOf(owner: number): string {
  return `enrtree://${base32(ownerOf(owner).publicKey)}@list${owner}.example.org`;
}

function nodeText(number: number): string {
  const endpoint = { ip: `10.0.0.${number}`, udpPort: 30303, tcpPort: 30303 };
  const { encoded } = signNodeRecord(
    { sequence: 1n, endpoint, forkId: FORK },
    new Uint8Array(32).fill(number),
  );
  return `enr:${Buffer.from(encoded).toString("base64url")}`;
}

/** A signed list of these entries, in branches of ten. */
function aList(
  entries: readonly string[],
  { owner = 1, sequence = 1 } = {},
): { readonly tree: TreeUrl; readonly texts: Texts } {
  const url = urlOf(owner);
  const domain = `list${owner}.example.org`;
  const texts: Texts = {};
  const add = (text: string): string => {
    texts[`${hashOf(text)}.${domain}`] = text;
    return hashOf(text);
  };
  const branchOf = (leaves: readonly string[]): string => {
    const branches: string[] = [];
    for (let at = 0; at < leaves.length; at += 10)
      branches.push(
        add(
          `enrtree-branch:${leaves
            .slice(at, at + 10)
            .map(add)
            .join(",")}`,
        ),
      );
    return add(`enrtree-branch:${branches.join(",")}`);
  };
  const nodes = branchOf(entries.filter((text) => text.startsWith("enr:")));
  const links = branchOf(entries.filter((text) => text.startsWith("enrtree:")));
  texts[domain] = `enrtree-root:v1 e=${nodes} l=${links} seq=${sequence} sig=`;
  sign(texts, owner, domain);
  return { tree: treeOf(url), texts };
}

function sign(texts: Texts, owner: number, domain = DOMAIN_1): void {
  const [signed = ""] = (texts[domain] ?? "").split(" sig=");
  const { rs } = curve.sign(keccak256(Buffer.from(signed)), ownerOf(owner).privateKey);
  texts[domain] = `${signed} sig=${Buffer.from(concatBytes(rs, Uint8Array.of(0))).toString("base64url")}`;
}

/** Branches below branches, and links to different lists below the last. */
function treeOfBranches(levels: number, width: number): Texts {
  const texts: Texts = {};
  const add = (text: string): string => {
    texts[`${hashOf(text)}.${DOMAIN_1}`] = text;
    return hashOf(text);
  };
  const branch = (level: number, path: string): string => {
    if (level === levels) return add(urlOf(1).replace(DOMAIN_1, `x${path}.example.org`));
    const children = Array.from({ length: width }, (_, at) => branch(level + 1, `${path}${at}`));
    return add(`enrtree-branch:${children.join(",")}`);
  };
  const nodes = branch(0, "");
  texts[DOMAIN_1] = `enrtree-root:v1 e=${nodes} l=${nodes} seq=1 sig=`;
  sign(texts, 1);
  return texts;
}

function hashOf(text: string): string {
  return base32(keccak256(Buffer.from(text)).subarray(0, 16));
}

function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".charAt(Number.parseInt(five.padEnd(5, "0"), 2)))
    .join("");
}
