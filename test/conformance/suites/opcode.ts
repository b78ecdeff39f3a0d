import type { ForkName } from "../../../src/chainspec/forks.ts";
import { concatBytes, hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { readVectorJson } from "../../vectors.ts";
import type { Case, Failure, Suite } from "../suite.ts";
import { vectorFiles } from "../vectorFiles.ts";
import { CONTRACT, runMessage } from "./message.ts";
import { bytesOfHex } from "./preState.ts";

/** Words of 256 bits, without prefix. Y is on top of the stack, X below it (unlike in the vectors' README). */
interface OpcodeTest {
  readonly X: string;
  readonly Y: string;
  readonly Expected: string;
}

/** Another client's results of instructions with two operands, run as code, under the oldest and the newest rules. */
export const OPCODE: Suite = {
  name: "opcode",
  total: 3402,
  every: 7,
  cases: () => vectorFiles("geth-evm").flatMap(casesOf),
};

const OPCODES: Readonly<Record<string, number>> = {
  add: 0x01,
  mul: 0x02,
  sub: 0x03,
  div: 0x04,
  sdiv: 0x05,
  mod: 0x06,
  smod: 0x07,
  exp: 0x0a,
  signext: 0x0b,
  lt: 0x10,
  gt: 0x11,
  slt: 0x12,
  sgt: 0x13,
  eq: 0x14,
  and: 0x16,
  or: 0x17,
  xor: 0x18,
  byte: 0x1a,
  shl: 0x1b,
  shr: 0x1c,
  sar: 0x1d,
};

function casesOf(path: string): Case[] {
  const name = /^testcases_(\w+)\.json$/.exec(path)?.[1];
  if (name === undefined) return [];
  const opcode = OPCODES[name];
  if (opcode === undefined) throw new Error(`unknown instruction ${name}`);
  const oldest: ForkName = ["shl", "shr", "sar"].includes(name) ? "constantinople" : "frontier";
  const tests = readVectorJson<readonly OpcodeTest[]>("geth-evm", path);
  return ([oldest, "prague"] as const).flatMap((fork) =>
    tests.map((test, index) => ({
      id: `${name} ${index} ${fork}`,
      run: () => check(opcode, test, fork),
    })),
  );
}

async function check(
  opcode: number,
  { X, Y, Expected }: OpcodeTest,
  fork: ForkName,
): Promise<Failure | undefined> {
  const code = concatBytes(PUSH32, bytesOfHex(X), PUSH32, bytesOfHex(Y), Uint8Array.of(opcode), RETURN_TOP);
  const { outcome, output } = await runMessage({ fork, to: CONTRACT, code, gasLimit: 1_000_000n });
  const found = outcome.kind === "succeeded" ? toHex(output) : outcome.kind;
  return found === `0x${Expected}` ? undefined : `${found}, expected ${Expected}, of X ${X} and Y ${Y}`;
}

const PUSH32 = Uint8Array.of(0x7f);
/** PUSH1 0 MSTORE PUSH1 32 PUSH1 0 RETURN: without PUSH0, which old rules lack. */
const RETURN_TOP = hexToBytes("0x60005260206000f3");
