import { expect, it } from "vitest";
import {
  allOfHosts,
  createHostMemory,
  forgetHosts,
  shareHosts,
} from "../../../src/rpc/server/sharedHosts.ts";

it("counts the connections of all threads, those of each host too, and forgets those of a thread that ended", () => {
  const memory = createHostMemory(3);
  const threads = [0, 1, 2].map((index) => shareHosts(memory, index));
  for (const [index, thread] of threads.entries())
    for (let count = 0; count <= index; count++) thread.add("10.0.0.1", 1);
  threads[2]?.add("10.0.0.2", 1);
  expect(allOfHosts(memory)).toBe(7);
  expect(threads.map(({ others }) => others)).toEqual([6, 5, 3]);
  expect(threads.map((thread) => thread.othersOf("10.0.0.1"))).toEqual([5, 4, 3]);
  threads[2]?.add("10.0.0.1", -1);
  expect(threads[0]?.othersOf("10.0.0.1")).toBe(4);
  forgetHosts(memory, 2);
  expect(allOfHosts(memory)).toBe(3);
  expect(threads[0]?.othersOf("10.0.0.1")).toBe(2);
});

it("rarely takes hosts for each other, and never counts too few", () => {
  const hosts = Array.from({ length: 1000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
  // Each with seeds of its own: 47 are to be expected, and similar addresses must not collide more often with some seeds.
  for (let round = 0; round < 50; round++) {
    const memory = createHostMemory(2);
    const other = shareHosts(memory, 0);
    const own = shareHosts(memory, 1);
    for (const host of hosts) other.add(host, 1);
    const counts = hosts.map((host) => own.othersOf(host));
    expect(Math.min(...counts)).toBe(1);
    expect(counts.filter((count) => count > 1).length).toBeLessThan(100);
  }
});
