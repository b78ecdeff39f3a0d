import { describe, expect, it } from "vitest";
import type { LogLine } from "../../../src/observability/remoteLogger.ts";
import { shareTotals } from "../../../src/rpc/server/sharedTotals.ts";
import {
  createLogForwarder,
  LINE_BYTES_WAITING,
  LINES_WAITING,
  lineWritten,
} from "../../../src/rpc/threads/callerSide/logForwarder.ts";

const aLine = (message: string, facts: LogLine["facts"] = {}): LogLine => ({
  module: "rpc",
  level: "debug",
  facts,
  message,
});

function twoSides() {
  const totals = shareTotals();
  const sent: { readonly line: LogLine; readonly bytes: number }[] = [];
  const send = createLogForwarder((line, bytes) => sent.push({ line, bytes }), totals);
  const write = (): LogLine[] =>
    sent.splice(0).map(({ line, bytes }) => {
      lineWritten(totals, bytes);
      return line;
    });
  return { totals, send, sent, write };
}

describe("log lines of a thread", () => {
  it("are lost while too many wait for the main thread, which a line tells with their number", () => {
    const { totals, send, write } = twoSides();
    for (let count = 0; count < LINES_WAITING + 5; count++) send(aLine(`${count}`));
    const written = write();
    expect(written).toHaveLength(LINES_WAITING);
    expect(written.at(-1)?.message).toBe(`${LINES_WAITING - 1}`);
    send(aLine("later"));
    expect(write()).toMatchObject([{ level: "warn", facts: { lines: 5 } }, aLine("later")]);
    send(aLine("last"));
    expect(write()).toEqual([aLine("last")]);
    expect([totals.logLines.own, totals.logBytes.own]).toEqual([0, 0]);
  });

  it("are bounded in bytes, too, texts and errors counted", () => {
    const { totals, send, sent, write } = twoSides();
    const long = "x".repeat(LINE_BYTES_WAITING / 8);
    for (let count = 0; count < 10; count++) send(aLine("text", { long }));
    expect(sent).toHaveLength(7);
    write();
    for (let count = 0; count < 10; count++) send(aLine("error", { error: new Error(long) }));
    expect(totals.logBytes.own).toBeLessThanOrEqual(LINE_BYTES_WAITING);
    expect(sent.length).toBeLessThan(6);
    write();
    expect([totals.logLines.own, totals.logBytes.own]).toEqual([0, 0]);
  });

  it("that cannot be sent are not counted as waiting", () => {
    const totals = shareTotals();
    const send = createLogForwarder(() => {
      throw new Error("could not be cloned");
    }, totals);
    expect(() => send(aLine("with a function"))).toThrow("cloned");
    expect([totals.logLines.own, totals.logBytes.own]).toEqual([0, 0]);
  });
});
