import { describe, expect, it, onTestFinished } from "vitest";
import { type LoadingThreads, loadRpcThreads } from "../../../src/callers/threads/loadingThreads.ts";
import { settingsOf } from "../../node/settingsOf.ts";

function loaded(options: Readonly<Record<string, string>>): LoadingThreads | undefined {
  const threads = loadRpcThreads(settingsOf("/nowhere", options));
  onTestFinished(() => threads?.close());
  return threads;
}

describe("threads for callers", () => {
  it("are two at least, or as many as the operator says", () => {
    expect(loaded({})?.threads.length).toBeGreaterThanOrEqual(2);
    expect(loaded({ "rpc-threads": "1" })?.threads).toHaveLength(1);
    expect(loaded({ "rpc-threads": "5" })?.threads).toHaveLength(5);
  });

  it("are one where the operator says none", () => {
    expect(loaded({ "rpc-threads": "0" })?.threads).toHaveLength(1);
  });

  it("are none when nobody is answered", () => {
    expect(loaded({ "rpc-http-enabled": "false", "rpc-ws-enabled": "false" })).toBeUndefined();
  });

  it("load their code at once, the first one alone", () => {
    const { threads = [] } = loaded({}) ?? {};
    expect(threads.map(({ supervised }) => supervised.isStarted)).toEqual([
      true,
      ...threads.slice(1).map(() => false),
    ]);
  });
});
