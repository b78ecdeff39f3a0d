import { RLP } from "@ethereumjs/rlp";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToBytes } from "../../../src/primitives/quantity.ts";
import { encodeRlp, type RlpItem, readRlp } from "../../../src/primitives/rlp.ts";
import { readVectorJson } from "../../vectors.ts";
import type { Case, Failure, Suite } from "../suite.ts";
import { vectorFiles } from "../vectorFiles.ts";

/** A string, a number, "#" followed by a large number, or a list of these. */
type Input = string | number | readonly Input[];

interface RlpTest {
  /** "INVALID" and "VALID" only say whether a strict decoder must accept it. */
  readonly in: Input;
  readonly out: string;
}

/** RLPTests: encoding, decoding, and refusal by a strict decoder; for our codec, refusal also for the library's. */
export const RLP_SUITE: Suite = {
  name: "rlp",
  total: 55,
  every: 1,
  cases: () => vectorFiles("rlp-tests").flatMap(casesOf),
};

function casesOf(path: string): Case[] {
  const tests = readVectorJson<Readonly<Record<string, RlpTest>>>("rlp-tests", path);
  return Object.entries(tests).map(([title, test]) => ({
    id: `${path.replace(".json", "")} ${title}`,
    run: () => check(test),
  }));
}

/** Deeper than any of the vectors. */
const DEPTH = 2000;

function check({ in: input, out }: RlpTest): Failure | undefined {
  const bytes = hexToBytes(out);
  const item = read(bytes);
  if (input === "INVALID") {
    if (item !== undefined) return "read, though it is not canonical";
    // The library decodes empty input as the empty string, which callers refuse because they expect a list.
    return bytes.length > 0 && readByLibrary(bytes) ? "the library reads it" : undefined;
  }
  if (item === undefined) return "refused";
  if (toHex(encodeRlp(item)) !== out) return "read as something else";
  if (input === "VALID") return undefined;
  const written = toHex(encodeRlp(itemOf(input)));
  return written === out ? undefined : `written as ${written}, expected ${out}`;
}

function read(bytes: Uint8Array): RlpItem | undefined {
  try {
    return readRlp(bytes, DEPTH);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readByLibrary(bytes: Uint8Array): boolean {
  try {
    RLP.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function itemOf(input: Input): RlpItem {
  if (typeof input === "number") return bigintToBytes(BigInt(input));
  if (typeof input !== "string") return input.map(itemOf);
  return input.startsWith("#")
    ? bigintToBytes(BigInt(input.slice(1)))
    : Uint8Array.from(Buffer.from(input, "utf8"));
}
