import { describe, expect, it } from "vitest";
import { createGossipReading } from "../../../src/network/eth/gossipReading.ts";

function aReading() {
  const turns: (() => void)[] = [];
  const done: string[] = [];
  const reading = createGossipReading<string>((turn) => turns.push(turn));
  return {
    done,
    post: (peer: string, name: string, bytes = 100) => reading.post(peer, bytes, () => done.push(name)),
    forget: reading.forget,
    /** One turn of the event loop. */
    turn: () => turns.shift()?.(),
    get turnsWaiting() {
      return turns.length;
    },
  };
}

describe("unasked transactions", () => {
  it("are read one message in each turn, in the order in which they came", () => {
    const reading = aReading();
    for (const name of ["1", "2", "3"]) reading.post("a", name);
    expect(reading.done).toEqual([]);
    reading.turn();
    expect(reading.done).toEqual(["1"]);
    reading.turn();
    reading.turn();
    expect(reading.done).toEqual(["1", "2", "3"]);
    expect(reading.turnsWaiting).toBe(0);
  });

  it("are read at once, the oldest first, where more than 4 MiB wait", () => {
    const reading = aReading();
    const mib = 1024 * 1024;
    for (const name of ["1", "2", "3", "4"]) reading.post("a", name, mib);
    expect(reading.done).toEqual([]);
    reading.post("b", "5", 2 * mib);
    expect(reading.done).toEqual(["1", "2"]);
  });

  it("of a peer that has left are not read, and no longer count", () => {
    const reading = aReading();
    const mib = 1024 * 1024;
    reading.post("a", "gone", 4 * mib);
    reading.forget("a");
    reading.post("b", "1", 4 * mib);
    expect(reading.done).toEqual([]);
    reading.turn();
    expect(reading.done).toEqual(["1"]);
  });
});
