import { describe, expect, it } from "vitest";
import type { LogLine } from "../../../src/observability/remoteLogger.ts";
import { LogForwarder } from "../../../src/rpc/threads/callerSide/logForwarder.ts";
import { type FromThread, MESSAGES, type ToThread } from "../../../src/rpc/threads/messages.ts";
import { Channel, type Handlers } from "../../../src/workers/channel/channel.ts";
import { Credit, createCreditMemory } from "../../../src/workers/channel/credit.ts";
import { aChannel, handlersOf, postedOf } from "../../builders/aChannel.ts";

const { messages: LINES_WAITING, bytes: LINE_BYTES_WAITING } = MESSAGES.logLine.most;

const aLine = (message: string, fields: LogLine["fields"] = {}): LogLine => ({
  module: "rpc",
  level: "debug",
  fields,
  message,
});

function twoSides() {
  const { thread, main, fromThread: sent, creditOf } = aChannel();
  const forwarder = new LogForwarder(thread);
  const write = (): LogLine[] => {
    const written: LogLine[] = [];
    const handlers = handlersOf<Handlers<FromThread>>({ logLine: (line) => written.push(line) });
    main.receive(postedOf(sent.splice(0)), handlers);
    return written;
  };
  return { waiting: creditOf("logLine"), send: (line: LogLine) => forwarder.forward(line), sent, write };
}

describe("log lines of a thread", () => {
  it("are lost while too many wait for the main thread, which a line tells with their number", () => {
    const { waiting, send, write } = twoSides();
    for (let count = 0; count < LINES_WAITING + 5; count++) send(aLine(`${count}`));
    const written = write();
    expect(written).toHaveLength(LINES_WAITING);
    expect(written.at(-1)?.message).toBe(`${LINES_WAITING - 1}`);
    send(aLine("later"));
    expect(write()).toMatchObject([{ level: "warn", fields: { lines: 5 } }, aLine("later")]);
    send(aLine("last"));
    expect(write()).toEqual([aLine("last")]);
    expect([waiting.messages, waiting.bytes]).toEqual([0, 0]);
  });

  it("are bounded in bytes, too, texts and errors counted", () => {
    const { waiting, send, sent, write } = twoSides();
    const long = "x".repeat(LINE_BYTES_WAITING / 8);
    for (let count = 0; count < 10; count++) send(aLine("text", { long }));
    expect(sent).toHaveLength(7);
    write();
    for (let count = 0; count < 10; count++) send(aLine("error", { error: new Error(long) }));
    expect(waiting.bytes).toBeLessThanOrEqual(LINE_BYTES_WAITING);
    expect(sent.length).toBeLessThan(6);
    write();
    expect([waiting.messages, waiting.bytes]).toEqual([0, 0]);
  });

  it("that cannot be sent are not counted as waiting", () => {
    const memory = createCreditMemory(MESSAGES, 1);
    const channel = new Channel<FromThread, ToThread>(MESSAGES, { memory, thread: 0 }, () => {
      throw new Error("could not be cloned");
    });
    const waiting = new Credit(MESSAGES, "logLine", memory, 0);
    const forwarder = new LogForwarder(channel);
    expect(() => forwarder.forward(aLine("with a function"))).toThrow("cloned");
    expect([waiting.messages, waiting.bytes]).toEqual([0, 0]);
  });
});
