import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type KnownNode, KnownNodesFile, keepKnownNodes } from "../../../src/network/discovery/knownNodes.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { temporaryFolder } from "../../storage/temporaryFolder.ts";

function nodes(count: number): readonly KnownNode[] {
  return Array.from({ length: count }, (_, at) => ({
    nodeId: new Uint8Array(64).fill(at),
    ip: at % 2 === 0 ? `10.0.0.${at}` : "2001:db9::1",
    udpPort: 30303,
    tcpPort: 30304,
    isProven: at % 3 === 0,
  }));
}

it("nodes are read as they were written, up to a number of them", () => {
  const file = new KnownNodesFile(join(temporaryFolder(), "known-nodes.json"));
  expect(file.read()).toEqual([]);
  expect(file.write(nodes(100))).toBe(true);
  expect(file.read()).toEqual(nodes(64));
  file.write(nodes(2));
  expect(file.read()).toEqual(nodes(2));
});

it.each([
  ["", []],
  ["{}", []],
  ['[1, null, {"nodeId": "0x12", "ip": "1.2.3.4", "udpPort": 1, "tcpPort": 1}]', []],
  [`[{"nodeId": "0x${"01".repeat(64)}", "ip": "host", "udpPort": 1, "tcpPort": 1}]`, []],
  [`[{"nodeId": "0x${"01".repeat(64)}", "ip": "1.2.3.4", "udpPort": 70000, "tcpPort": 1}]`, []],
  [
    `[{}, {"nodeId": "0x${"01".repeat(64)}", "ip": "1.2.3.4", "udpPort": 1, "tcpPort": 2}]`,
    [{ nodeId: new Uint8Array(64).fill(1), ip: "1.2.3.4", udpPort: 1, tcpPort: 2, isProven: false }],
  ],
])("of %s, what can be used is", (text, expected) => {
  const path = join(temporaryFolder(), "known-nodes.json");
  writeFileSync(path, text);
  expect(new KnownNodesFile(path).read()).toEqual(expected);
});

it("a file that cannot be written is left", () => {
  const path = join(temporaryFolder(), "known-nodes.json");
  mkdirSync(`${path}.new`);
  expect(new KnownNodesFile(path).write(nodes(1))).toBe(false);
  expect(existsSync(path)).toBe(false);
});

it("nodes are written every five minutes and at the end, but never none", () => {
  const clock = createHandClock(0);
  const file = new KnownNodesFile(join(temporaryFolder(), "known-nodes.json"));
  let known = nodes(1);
  const keeper = keepKnownNodes(file, { nodes: () => known, clock });
  clock.advanceTo(5 * 60_000);
  expect(file.read()).toEqual(nodes(1));
  known = [];
  clock.advanceTo(10 * 60_000);
  expect(file.read()).toEqual(nodes(1));
  known = nodes(3);
  keeper.close();
  expect(file.read()).toEqual(nodes(3));
  expect(clock.nextAlarmMs).toBeUndefined();
});
