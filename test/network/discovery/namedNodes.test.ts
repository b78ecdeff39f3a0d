import { expect, it } from "vitest";
import { followNamedNodes } from "../../../src/network/discovery/namedNodes.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { identity } from "../identities.ts";

const nodeOf = (number: number, host: string) => ({
  nodeId: identity(number).nodeId,
  host,
  udpPort: 30303,
  tcpPort: 30304,
});

it("host names are resolved at once and every minute, until the end", async () => {
  const clock = createHandClock(0);
  const addresses = new Map([["a.example.org", "192.0.2.1"]]);
  const found: string[] = [];
  const following = followNamedNodes([nodeOf(1, "absent.example.org"), nodeOf(2, "a.example.org")], {
    clock,
    resolve: (host) => Promise.resolve(addresses.get(host)),
    onNode: ({ ip, udpPort, tcpPort }) => void found.push(`${ip} ${udpPort} ${tcpPort}`),
  });
  await turns();
  expect(found).toEqual(["192.0.2.1 30303 30304"]);
  addresses.set("a.example.org", "192.0.2.2");
  addresses.set("absent.example.org", "192.0.2.3");
  clock.advanceBy(59_999);
  await turns();
  expect(found).toHaveLength(1);
  clock.advanceBy(1);
  await turns();
  expect(found.slice(1)).toEqual(["192.0.2.3 30303 30304", "192.0.2.2 30303 30304"]);
  following.close();
  expect(clock.nextAlarmMs).toBeUndefined();
});

it("a name that is resolved after the end is not handed on", async () => {
  const clock = createHandClock(0);
  const found: unknown[] = [];
  const following = followNamedNodes([nodeOf(1, "a.example.org")], {
    clock,
    resolve: () => Promise.resolve("192.0.2.1"),
    onNode: (node) => void found.push(node),
  });
  following.close();
  await turns();
  expect([found, clock.nextAlarmMs]).toEqual([[], undefined]);
});

async function turns(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await Promise.resolve();
}
