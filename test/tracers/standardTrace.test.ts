import { describe, expect, it } from "vitest";
import { StandardTrace } from "../../src/tracers/standardTrace.ts";
import { calling, OTHER, type Traced, traced } from "./traced.ts";

async function linesOf(transaction: Traced, { disableMemory = false } = {}): Promise<readonly object[]> {
  const text = await traced(
    ({ text }) =>
      () => {
        const trace = new StandardTrace({ disableMemory }, text);
        return { observer: trace, finish: (result) => trace.finish(result, 123n) };
      },
    transaction,
  );
  expect(text.endsWith("\n")).toBe(true);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
}

describe("a trace file", () => {
  it("has a line for each instruction, with what there is before it, and one for the transaction", async () => {
    expect(await linesOf({ code: "602a5f5260205ff3" })).toMatchObject([
      { pc: 0, op: 0x60, opName: "PUSH1", gasCost: "0x3", memSize: 0, stack: [], depth: 1, refund: 0 },
      { pc: 2, opName: "PUSH0", stack: ["0x2a"] },
      { pc: 3, opName: "MSTORE", memSize: 0, stack: ["0x2a", "0x0"] },
      { pc: 4, opName: "PUSH1", memSize: 32, memory: `0x${"2a".padStart(64, "0")}` },
      { pc: 6, opName: "PUSH0" },
      { pc: 7, opName: "RETURN", stack: ["0x20", "0x0"] },
      { output: "2a".padStart(64, "0"), time: 123 },
    ]);
  });

  it("has no line for the end of the code, and no memory when it is left out or empty", async () => {
    const lines = await linesOf({ code: "5f5f52" }, { disableMemory: true });
    expect(lines.map((line) => ("opName" in line ? line.opName : "end"))).toEqual([
      "PUSH0",
      "PUSH0",
      "MSTORE",
      "end",
    ]);
    for (const line of [...lines, ...(await linesOf({ code: "5f" }))])
      expect(line).not.toHaveProperty("memory");
  });

  it("tells why an instruction failed, or what REVERT says, in ASCII", async () => {
    const failed = await linesOf({ code: "5f56" });
    expect(failed.slice(-2)).toMatchObject([
      { opName: "JUMP", error: "Bad jump destination" },
      { output: "" },
    ]);
    const text = await traced(
      ({ text }) =>
        () => {
          const trace = new StandardTrace({ disableMemory: true }, text);
          return { observer: trace, finish: (result) => trace.finish(result, 0n) };
        },
      { code: "62c3a9225f526003601dfd" },
    );
    expect(text).toContain('"error":"\\u00e9\\""');
  });

  it("shows what a call returned from the next instruction on", async () => {
    const accounts = [[OTHER, { code: "0x602a5f5360015ff3" }]] as const;
    const lines = await linesOf({ code: calling(OTHER), accounts });
    const after = lines.filter((line) => "returnData" in line);
    expect(after).toMatchObject([{ opName: "POP", depth: 1, returnData: "0x2a" }]);
  });
});
