import { expect, it } from "vitest";
import { HostNames } from "../../src/permissioning/contract/hostNames.ts";
import { createHandClock } from "../builders/handClock.ts";

const IP = "10.0.0.1";
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Names by a resolver that the test answers for. */
function someNames() {
  const clock = createHandClock(0);
  const asked: string[] = [];
  const waiting: ((name: string | undefined) => void)[] = [];
  let changes = 0;
  const names = new HostNames({
    nameOf(ip) {
      asked.push(ip);
      return new Promise((resolve) => waiting.push(resolve));
    },
    clock,
    onChanged: () => changes++,
  });
  const answer = async (name: string | undefined) => {
    for (const resolve of waiting.splice(0)) resolve(name);
    await settled();
  };
  return { names, clock, asked, answer, changes: () => changes };
}

it("that an address has no name counts for ten seconds, and a name for thirty", async () => {
  const { names, clock, asked, answer, changes } = someNames();
  expect(names.of(IP)).toBe(undefined);
  await answer(undefined);
  clock.advanceBy(9_999);
  expect(names.of(IP)).toMatchObject({ name: undefined });
  expect(asked).toHaveLength(1);
  clock.advanceBy(1);
  expect(names.of(IP)).toMatchObject({ name: undefined });
  expect(asked).toHaveLength(2);
  await answer("one.example");
  expect(changes()).toBe(2);
  clock.advanceBy(29_999);
  expect(names.of(IP)).toMatchObject({ name: "one.example" });
  expect(asked).toHaveLength(2);
  clock.advanceBy(1);
  expect(names.of(IP)).toMatchObject({ name: "one.example" });
  expect(asked).toHaveLength(3);
  await answer("one.example");
  expect(changes()).toBe(2);
});

it("eight addresses are looked up at a time, each once, and others when a place is free", async () => {
  const { names, asked, answer } = someNames();
  const ips = Array.from({ length: 9 }, (_, index) => `10.0.0.${index}`);
  for (const ip of [...ips, ...ips]) names.of(ip);
  expect(asked).toEqual(ips.slice(0, 8));
  await answer("some.example");
  for (const ip of ips) names.of(ip);
  expect(asked).toEqual(ips);
});

it("an address that the resolver names by itself has no name", async () => {
  const { names, answer } = someNames();
  names.of(IP);
  await answer(IP);
  expect(names.of(IP)).toMatchObject({ name: undefined });
});
