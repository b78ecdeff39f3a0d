import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concatBytes, hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { ERRORS, type RpcError } from "../../../src/rpc/errors/errors.ts";
import {
  callError,
  estimateError,
  type FailedSimulation,
  revertError,
} from "../../../src/rpc/errors/simulationErrors.ts";
import { SUBMISSION_ERRORS } from "../../../src/rpc/errors/submissionErrors.ts";
import { INVALID_PARAMS } from "../invalidParams.ts";

function word(value: number | bigint): Uint8Array {
  return bigintToFixedBytes(BigInt(value), 32);
}

const ERROR_SELECTOR = hexToBytes("0x08c379a0");

/** ABI encoding of Error(string), as a compiler generates it. */
function errorOutput(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  const padding = new Uint8Array((32 - (bytes.length % 32)) % 32);
  return concatBytes(ERROR_SELECTOR, word(32), word(bytes.length), bytes, padding);
}

function show({ code, message, data }: RpcError): object {
  return { code, message, ...(data !== undefined && { data }) };
}

describe("a revert", () => {
  it.each([
    ["a text", errorOutput("no way"), "Execution reverted: no way"],
    ["an empty text", errorOutput(""), "Execution reverted: "],
    ["letters beyond ASCII", errorOutput("☃\n"), "Execution reverted: ☃\n"],
    ["no output", new Uint8Array(0), "Execution reverted"],
    ["three bytes", hexToBytes("0x08c379"), "Execution reverted"],
    ["a panic", concatBytes(hexToBytes("0x4e487b71"), word(17)), "Execution reverted"],
    ["a custom error", concatBytes(hexToBytes("0xdeadbeef"), word(32), word(0)), "Execution reverted"],
    ["only the selector", ERROR_SELECTOR, "Execution reverted: ABI decode error"],
    [
      "a length after the end",
      concatBytes(ERROR_SELECTOR, word(32), word(1)),
      "Execution reverted: ABI decode error",
    ],
    [
      "an offset after the end",
      concatBytes(ERROR_SELECTOR, word(2n ** 256n - 1n), word(0)),
      "Execution reverted: ABI decode error",
    ],
  ])("with %s has code 3 and its whole output as data", (_name, output, message) => {
    expect(show(revertError(output))).toEqual({ code: 3, message, data: toHex(output) });
  });

  it("has code 3 for any output", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (tail) => {
        const output = concatBytes(ERROR_SELECTOR, tail);
        expect(revertError(output)).toMatchObject({ code: 3, data: toHex(output) });
      }),
    );
  });
});

describe("a simulation that fails", () => {
  const refused: FailedSimulation = {
    kind: "refused",
    code: "upfrontCostAboveBalance",
    detail: "0x1 exceeds 0x0",
  };
  const cases: readonly (readonly [FailedSimulation, call: string, estimate: string])[] = [
    [
      { kind: "halted", reason: "INVALID_OPERATION", gas: 0n },
      "-32000 Transaction processing could not be completed due to an exception",
      "-32000 Transaction processing could not be completed due to an exception: INVALID_OPERATION",
    ],
    [
      refused,
      "-32004 Upfront cost exceeds account balance",
      "-32004 Upfront cost exceeds account balance: 0x1 exceeds 0x0",
    ],
    [{ kind: "stateUnavailable" }, "-32603 Internal error", "-32000 World state unavailable"],
    [
      { kind: "reverted", data: errorOutput("x"), gas: 0n },
      "3 Execution reverted: x",
      "3 Execution reverted: x",
    ],
    [{ kind: "timedOut", limitMs: 5 }, "-32603 Timeout expired", "-32603 Timeout expired"],
    [
      { kind: "busy" },
      "-32005 Too many calls are waiting. Try again later.",
      "-32005 Too many calls are waiting. Try again later.",
    ],
  ];

  it.each(cases)("is answered for %o", (failure, call, estimate) => {
    const text = ({ code, message }: RpcError): string => `${code} ${message}`;
    expect([text(callError(failure)), text(estimateError(failure))]).toEqual([call, estimate]);
  });
});

describe("the table of errors", () => {
  it("has no duplicates", () => {
    const texts = Object.values(ERRORS).map(({ code, message }) => `${code} ${message}`);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it("has an error for every refusal of the pool", () => {
    expect(show(SUBMISSION_ERRORS.nonceTooLow)).toEqual({ code: -32001, message: "Nonce too low" });
    expect(show(SUBMISSION_ERRORS.malformedTransaction)).toEqual(INVALID_PARAMS);
    expect(show(SUBMISSION_ERRORS.nonceOverflow)).toEqual({
      code: -32000,
      message: "Nonce overflow",
    });
  });
});
