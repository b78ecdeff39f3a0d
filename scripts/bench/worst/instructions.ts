import type { Random } from "../../../test/storage/random.ts";
import { code, endless, OP, push } from "./assembly.ts";
import { CALLEES, MANY, MANY_AT } from "./stage.ts";

/** One way to spend gas: code that spends all of it, and its call data. */
export interface Case {
  readonly name: string;
  readonly code: Uint8Array;
  readonly input: Uint8Array;
}

/** Kinds of operands, each with its expensive values. */
type Role = "value" | "offset" | "length" | "address" | "slot" | "gas" | "nothing";
type Drawn = readonly [name: string, instructions: Uint8Array];

const constant = (value: bigint | number, name = `${value}`): Drawn => [name, push(value)];
/** A different value each time. */
const FRESH: Drawn = ["fresh", code(OP.GAS)];
const FRESH_WIDE: Drawn = ["fresh, wide", code(push(2n ** 160n - 2n ** 64n), OP.GAS, OP.OR)];
const MANY_CONTRACTS: Drawn = [
  `${MANY} contracts of 24 KB`,
  code(push(MANY - 1), OP.GAS, OP.AND, push(MANY_AT), OP.OR),
];

const FAMILIES: Readonly<Record<Role, readonly ((random: Random) => Drawn)[]>> = {
  value: [
    ...[0n, 1n, 2n, 255n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 128n - 1n, 2n ** 255n, 2n ** 256n - 1n].map(
      (value) => () => constant(value, value < 256n ? `${value}` : `2^${value.toString(2).length}`),
    ),
    () => constant(2n ** 256n - 189n, "2^256-189"),
    (random) => constant(BigInt(`0x${Buffer.from(random.bytes(32)).toString("hex")}`), "random"),
    () => FRESH,
    () => FRESH_WIDE,
  ],
  offset: [0, 1, 31, 32, 4101, 100_000].map((offset) => () => constant(offset)),
  length: [0, 1, 31, 32, 33, 1024, 24_576, 49_152, 131_072, 1_000_000].map(
    (length) => () => constant(length),
  ),
  address: [
    () => constant(0),
    () => FRESH,
    () => MANY_CONTRACTS,
    () => ["itself", code(OP.ADDRESS)],
    () => constant(4, "IDENTITY"),
    ...CALLEES.map(
      ([name, at]) =>
        () =>
          constant(at, name),
    ),
  ],
  slot: [() => constant(0), () => constant(2n ** 256n - 1n, "2^256"), () => FRESH, () => FRESH_WIDE],
  gas: [() => constant(0), () => constant(3000), () => constant(100_000), () => ["all", code(OP.GAS)]],
  nothing: [() => constant(0)],
};

/** Opcode, name, operands from the top of the stack, and number of results. */
type Instruction = readonly [opcode: number, name: string, operands: readonly Role[], results: number];

const binary = (first: number, names: string): readonly Instruction[] =>
  names.split(" ").map((name, index) => [first + index, name, ["value", "value"], 1]);
const nullary = (first: number, names: string): readonly Instruction[] =>
  names.split(" ").map((name, index) => [first + index, name, [], 1]);

const CALL_MEMORY: readonly Role[] = ["offset", "length", "offset", "length"];

export const INSTRUCTIONS: readonly Instruction[] = [
  ...binary(0x01, "ADD MUL SUB DIV SDIV MOD SMOD"),
  [0x08, "ADDMOD", ["value", "value", "value"], 1],
  [0x09, "MULMOD", ["value", "value", "value"], 1],
  ...binary(0x0a, "EXP SIGNEXTEND"),
  ...binary(0x10, "LT GT SLT SGT EQ"),
  [0x15, "ISZERO", ["value"], 1],
  ...binary(0x16, "AND OR XOR"),
  [0x19, "NOT", ["value"], 1],
  ...binary(0x1a, "BYTE SHL SHR SAR"),
  [0x20, "KECCAK256", ["offset", "length"], 1],
  ...nullary(0x30, "ADDRESS"),
  [0x31, "BALANCE", ["address"], 1],
  ...nullary(0x32, "ORIGIN CALLER CALLVALUE"),
  [0x35, "CALLDATALOAD", ["value"], 1],
  ...nullary(0x36, "CALLDATASIZE"),
  [0x37, "CALLDATACOPY", ["offset", "value", "length"], 0],
  ...nullary(0x38, "CODESIZE"),
  [0x39, "CODECOPY", ["offset", "value", "length"], 0],
  ...nullary(0x3a, "GASPRICE"),
  [0x3b, "EXTCODESIZE", ["address"], 1],
  [0x3c, "EXTCODECOPY", ["address", "offset", "value", "length"], 0],
  ...nullary(0x3d, "RETURNDATASIZE"),
  [0x3e, "RETURNDATACOPY", ["offset", "nothing", "nothing"], 0],
  [0x3f, "EXTCODEHASH", ["address"], 1],
  [0x40, "BLOCKHASH", ["value"], 1],
  ...nullary(0x41, "COINBASE TIMESTAMP NUMBER PREVRANDAO GASLIMIT CHAINID SELFBALANCE BASEFEE"),
  [0x49, "BLOBHASH", ["value"], 1],
  ...nullary(0x4a, "BLOBBASEFEE"),
  [0x51, "MLOAD", ["offset"], 1],
  [0x52, "MSTORE", ["offset", "value"], 0],
  [0x53, "MSTORE8", ["offset", "value"], 0],
  [0x54, "SLOAD", ["slot"], 1],
  [0x55, "SSTORE", ["slot", "value"], 0],
  ...nullary(0x58, "PC MSIZE GAS"),
  [0x5b, "JUMPDEST", [], 0],
  [0x5c, "TLOAD", ["slot"], 1],
  [0x5d, "TSTORE", ["slot", "value"], 0],
  [0x5e, "MCOPY", ["offset", "offset", "length"], 0],
  [0x5f, "PUSH0", [], 1],
  [0x80, "DUP1", ["value"], 2],
  [0x90, "SWAP1", ["value", "value"], 2],
  [0xa0, "LOG0", ["offset", "length"], 0],
  [0xa1, "LOG1", ["offset", "length", "value"], 0],
  [0xa4, "LOG4", ["offset", "length", "value", "value", "value", "value"], 0],
  [0xf0, "CREATE", ["nothing", "offset", "length"], 1],
  [0xf1, "CALL", ["gas", "address", "nothing", ...CALL_MEMORY], 1],
  [0xf2, "CALLCODE", ["gas", "address", "nothing", ...CALL_MEMORY], 1],
  [0xf4, "DELEGATECALL", ["gas", "address", ...CALL_MEMORY], 1],
  [0xf5, "CREATE2", ["nothing", "offset", "length", "value"], 1],
  [0xfa, "STATICCALL", ["gas", "address", ...CALL_MEMORY], 1],
];

/** The instruction in a loop, with newly drawn operands. */
export function drawInstruction([opcode, name, operands, results]: Instruction, random: Random): Case {
  const drawn = operands.map((role) => {
    const family = FAMILIES[role];
    return (family[random.below(family.length)] ?? FAMILIES.nothing[0])?.(random) ?? FRESH;
  });
  const body = code(
    ...drawn.toReversed().map(([, instructions]) => instructions),
    opcode,
    ...new Array<number>(results).fill(OP.POP),
  );
  return {
    name: `${name}(${drawn.map(([word]) => word).join(", ")})`,
    code: endless(new Uint8Array(0), body, 32),
    input: new Uint8Array(0),
  };
}
