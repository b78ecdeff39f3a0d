import { describe, expect, it } from "vitest";
import { joinPieces } from "../../src/primitives/jsonPieces.ts";
import { callTracer } from "../../src/tracers/callTracer.ts";
import { flatCallTracer } from "../../src/tracers/flatCallTracer.ts";
import { fourByteTracer } from "../../src/tracers/fourByteTracer.ts";
import { otterscanTrace } from "../../src/tracers/otterscanTraces.ts";
import { parityTrace } from "../../src/tracers/parityTrace.ts";
import { StandardTrace } from "../../src/tracers/standardTrace.ts";
import { StructLogs } from "../../src/tracers/structLogs.ts";
import type { TraceStyle } from "../../src/tracers/tracer.ts";
import {
  asciiJson,
  shortHex,
  sortedObjectOf,
  TraceBudget,
  TraceText,
  TraceTooLargeError,
} from "../../src/tracers/traceText.ts";
import { calling, OTHER, type TraceOutput, traced } from "./traced.ts";

describe("the budget of a trace", () => {
  const NO_PARTS = { trace: false, vmTrace: false, stateDiff: false };
  const ALL = { disableStorage: false, disableMemory: false, disableStack: false };
  const FRAMES = { onlyTopCall: false, withLog: false };
  const styles: readonly (readonly [string, (output: TraceOutput) => TraceStyle])[] = [
    [
      "struct logs",
      ({ text }) =>
        () => {
          const logs = new StructLogs(ALL, text);
          return { observer: logs, finish: (result) => logs.finish(result) };
        },
    ],
    [
      "a trace file",
      ({ text }) =>
        () => {
          const trace = new StandardTrace({ disableMemory: false }, text);
          return { observer: trace, finish: (result) => trace.finish(result, 0n) };
        },
    ],
    ["callTracer", (output) => (one) => callTracer(FRAMES, { ...one, ...output })],
    [
      "callTracer of the top call",
      (output) => (one) => callTracer({ ...FRAMES, onlyTopCall: true }, { ...one, ...output }),
    ],
    [
      "flatCallTracer",
      (output) => (one) =>
        flatCallTracer({ convertParityErrors: false, includePrecompiles: false }, { ...one, ...output }),
    ],
    ["4byteTracer", (output) => () => fourByteTracer(output)],
    ["Otterscan's error", (output) => () => otterscanTrace("error", output)],
    ["flat traces", (output) => (one) => parityTrace(one, { ...NO_PARTS, trace: true }, "call", output)],
    ["a vmTrace", (output) => (one) => parityTrace(one, { ...NO_PARTS, vmTrace: true }, "call", output)],
  ];

  it.each(styles)(
    "ends %s before it takes more memory, also of what is not written in the end",
    async (_, style) => {
      // Calls for ever.
      const endless = { code: `5b${calling(OTHER)}5f56`, accounts: [[OTHER, { code: "0x00" }]] as const };
      const transaction = { gasLimit: 100_000n };
      expect(
        (await traced(style, { ...endless, transaction, limitBytes: 10_000_000 })).length,
      ).toBeGreaterThan(0);
      const limited = traced(style, { ...endless, transaction, limitBytes: 10_000 });
      await expect(limited).rejects.toThrow(TraceTooLargeError);
    },
  );

  it("counts each text once: what is added and inserted, and not what is taken", () => {
    const budget = new TraceBudget(10);
    const text = new TraceText(budget);
    const mark = text.mark();
    text.add("56789");
    text.insert(mark, "01234");
    expect(joinPieces(text.takePieces())).toBe("0123456789");
    expect(() => text.add("!")).toThrow(TraceTooLargeError);
  });
});

describe("the texts of traces", () => {
  it("are ASCII, whatever a contract says", () => {
    const said = 'quote " backslash \\ line\n null\0 ü € 😀 \u007f \u2028';
    const json = asciiJson(said);
    expect(json).toMatch(/^[\x20-\x7e]*$/);
    expect(JSON.parse(json)).toBe(said);
  });

  it("have data as a number, but for no data", () => {
    const shown = ["", "00", "0000", "0a", "08c379a0"].map((digits) => shortHex(Buffer.from(digits, "hex")));
    expect(shown).toEqual(["0x", "0x0", "0x0", "0xa", "0x8c379a0"]);
  });

  it("have members in the order of their names", () => {
    expect(
      sortedObjectOf([
        ["0xb", "1"],
        ["0xa", "2"],
        ["0x0", "3"],
      ]),
    ).toBe('{"0x0":3,"0xa":2,"0xb":1}');
  });
});
