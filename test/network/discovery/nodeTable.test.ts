import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BUCKET_SIZE,
  compareDistance,
  logDistance,
  NodeTable,
} from "../../../src/network/discovery/nodeTable.ts";
import type { NodeContact } from "../../../src/network/discovery/packets.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";

const OWN_ID = new Uint8Array(64).fill(1);

describe("the table of nodes", () => {
  it("keeps a full bucket as it is, and fills a place that becomes free from the newest others", () => {
    const refused: string[] = [];
    const table = new NodeTable(OWN_ID, (reason) => refused.push(reason));
    const [first, ...others] = atDistance(256, BUCKET_SIZE + 2);
    if (first === undefined) throw new Error("no node");
    const accepted = [first, ...others].map((node) => table.see(node));
    expect(accepted).toEqual([...new Array(BUCKET_SIZE).fill(true), false, false]);
    expect(refused).toEqual(["bucket", "bucket"]);
    table.remove(first.nodeId);
    expect(table.size).toBe(BUCKET_SIZE);
    expect(table.get(others.at(-1)?.nodeId ?? OWN_ID)).toBeDefined();
    expect(table.get(first.nodeId)).toBeUndefined();
  });

  it("verifies next the node that was not seen for longest", () => {
    const table = new NodeTable(OWN_ID);
    const nodes = atDistance(256, 3);
    for (const node of nodes) table.see(node);
    expect(table.leastRecent(0.5)).toEqual(nodes[0]);
    for (const node of nodes.slice(0, 2)) table.see(node);
    expect(table.leastRecent(0.999)).toEqual(nodes[2]);
    expect(new NodeTable(OWN_ID).leastRecent(0.5)).toBeUndefined();
  });

  it("knows a node at its newest address", () => {
    const table = new NodeTable(OWN_ID);
    const [node] = atDistance(256, 1);
    if (node === undefined) throw new Error("no node");
    table.see(node);
    table.see({ ...node, ip: "10.9.9.9" });
    expect(table.nodes).toEqual([{ ...node, ip: "10.9.9.9" }]);
  });

  it("leaves half of each bucket to others than one subnet, but local subnets may fill it", () => {
    const table = new NodeTable(OWN_ID);
    for (let at = 0; at < 5000; at++) table.see({ ...nodeOf(at), ip: `8.8.8.${at % 256}` });
    const perBucket = new Map<number, number>();
    for (const { nodeId } of table.nodes) {
      const distance = logDistance(keccak256(OWN_ID), keccak256(nodeId));
      perBucket.set(distance, (perBucket.get(distance) ?? 0) + 1);
    }
    expect(Math.max(...perBucket.values())).toBe(BUCKET_SIZE / 2);
    expect(table.see({ ...(atDistance(256, 1)[0] ?? nodeOf(0)), ip: "9.9.9.9" })).toBe(true);

    const local = new NodeTable(OWN_ID);
    for (const node of atDistance(256, BUCKET_SIZE)) local.see({ ...node, ip: "127.0.0.1" });
    expect(local.size).toBe(BUCKET_SIZE);
  });

  it("holds a bounded number of one operator's public addresses", () => {
    const refused: string[] = [];
    const table = new NodeTable(OWN_ID, (reason) => refused.push(reason));
    for (let at = 0; at < 5000; at++) table.see({ ...nodeOf(at), ip: `8.8.8.${at % 250}` });
    expect(table.size).toBe(32);
    expect(refused).toHaveLength(5000 - 32);
    expect(new Set(refused)).toEqual(new Set(["subnet"]));
    expect(table.nodes.every((node) => table.see(node))).toBe(true);
  });

  it("does not hold this node", () => {
    const table = new NodeTable(OWN_ID);
    expect(table.see({ ...nodeOf(1), nodeId: OWN_ID })).toBe(false);
    expect(table.size).toBe(0);
  });

  it("names the closest nodes in order", () => {
    const table = new NodeTable(OWN_ID);
    for (let at = 0; at < 200; at++) table.see(nodeOf(at));
    const target = nodeOf(1000).nodeId;
    const key = keccak256(target);
    const byDistance = table.nodes.toSorted((a, b) =>
      compareDistance(key, keccak256(a.nodeId), keccak256(b.nodeId)),
    );
    expect(table.closest(target, 20)).toEqual(byDistance.slice(0, 20));
  });
});

it("the distance of two keys is the length of their difference in bits", () => {
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
  fc.assert(
    fc.property(key, key, key, (a, b, c) => {
      const difference = numberOf(a) ^ numberOf(b);
      expect(logDistance(a, b)).toBe(difference === 0n ? 0 : difference.toString(2).length);
      expect(logDistance(a, a)).toBe(0);
      const exact = (numberOf(a) ^ numberOf(c)) - (numberOf(b) ^ numberOf(c));
      expect(Math.sign(compareDistance(c, a, b))).toBe(exact < 0n ? -1 : exact > 0n ? 1 : 0);
    }),
  );
});

function nodeOf(index: number): NodeContact {
  const nodeId = new Uint8Array(64).fill(2);
  new DataView(nodeId.buffer).setUint32(0, index);
  return { nodeId, ip: "10.0.0.1", udpPort: 30303, tcpPort: 30303 };
}

/** Nodes of one bucket, in private subnets. */
function atDistance(distance: number, count: number): readonly NodeContact[] {
  const found: NodeContact[] = [];
  for (let index = 100_000; found.length < count; index++) {
    const node = nodeOf(index);
    if (logDistance(keccak256(OWN_ID), keccak256(node.nodeId)) === distance) found.push(node);
  }
  return found;
}
