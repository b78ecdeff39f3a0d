import { FORK_NAMES, type ForkName } from "../../../src/chainspec/forks.ts";

/** What an operand means, from the top of the stack down. */
export type Role = "word" | "offset" | "length" | "address" | "slot" | "shift" | "number";

/** An instruction that neither jumps, calls, creates nor ends. */
export interface Instruction {
  readonly opcode: number;
  readonly operands: readonly Role[];
  /** Number of results, 0 or 1. */
  readonly results: number;
  readonly since: ForkName;
}

type Row = readonly [opcode: number, operands: string, results: number, since?: ForkName];

const ROLES: Readonly<Record<string, Role>> = {
  w: "word",
  o: "offset",
  l: "length",
  a: "address",
  s: "slot",
  h: "shift",
  n: "number",
};

const range = (first: number, last: number, operands: string, results: number): Row[] =>
  Array.from({ length: last - first + 1 }, (_, index) => [first + index, operands, results]);

const ROWS: readonly Row[] = [
  // ADD to SMOD; ADDMOD and MULMOD; EXP, SIGNEXTEND; LT to EQ; ISZERO; AND to XOR; NOT; BYTE; shifts.
  ...range(0x01, 0x07, "ww", 1),
  ...range(0x08, 0x09, "www", 1),
  [0x0a, "ww", 1],
  [0x0b, "hw", 1],
  ...range(0x10, 0x14, "ww", 1),
  [0x15, "w", 1],
  ...range(0x16, 0x18, "ww", 1),
  [0x19, "w", 1],
  [0x1a, "hw", 1],
  [0x1b, "hw", 1, "constantinople"],
  [0x1c, "hw", 1, "constantinople"],
  [0x1d, "hw", 1, "constantinople"],
  [0x20, "ol", 1],
  // ADDRESS; BALANCE; ORIGIN, CALLER, CALLVALUE; CALLDATALOAD, -SIZE, -COPY; CODESIZE, -COPY; GASPRICE.
  [0x30, "", 1],
  [0x31, "a", 1],
  ...range(0x32, 0x34, "", 1),
  [0x35, "o", 1],
  [0x36, "", 1],
  [0x37, "ool", 0],
  [0x38, "", 1],
  [0x39, "ool", 0],
  [0x3a, "", 1],
  // EXTCODESIZE, EXTCODECOPY, RETURNDATASIZE, RETURNDATACOPY, EXTCODEHASH.
  [0x3b, "a", 1],
  [0x3c, "aool", 0],
  [0x3d, "", 1, "byzantium"],
  [0x3e, "ool", 0, "byzantium"],
  [0x3f, "a", 1, "constantinople"],
  // BLOCKHASH; COINBASE to GASLIMIT; CHAINID, SELFBALANCE; BASEFEE; BLOBHASH, BLOBBASEFEE.
  [0x40, "n", 1],
  ...range(0x41, 0x45, "", 1),
  [0x46, "", 1, "istanbul"],
  [0x47, "", 1, "istanbul"],
  [0x48, "", 1, "london"],
  [0x49, "n", 1, "cancun"],
  [0x4a, "", 1, "cancun"],
  // POP; MLOAD, MSTORE, MSTORE8; SLOAD, SSTORE; PC, MSIZE, GAS, JUMPDEST; TLOAD, TSTORE, MCOPY, PUSH0.
  [0x50, "w", 0],
  [0x51, "o", 1],
  [0x52, "ow", 0],
  [0x53, "ow", 0],
  [0x54, "s", 1],
  [0x55, "sw", 0],
  ...range(0x58, 0x5a, "", 1),
  [0x5b, "", 0],
  [0x5c, "s", 1, "cancun"],
  [0x5d, "sw", 0, "cancun"],
  [0x5e, "ool", 0, "cancun"],
  [0x5f, "", 1, "shanghai"],
  [0xa0, "ol", 0],
  [0xa1, "olw", 0],
  [0xa2, "olww", 0],
  [0xa3, "olwww", 0],
  [0xa4, "olwwww", 0],
];

const ALL: readonly Instruction[] = ROWS.map(([opcode, operands, results, since = "frontier"]) => ({
  opcode,
  operands: [...operands].map((letter) => ROLES[letter] as Role),
  results,
  since,
}));

/** The instructions of a fork, those that are drawn more often several times. */
export function instructionsOf(fork: ForkName): readonly Instruction[] {
  const newest = FORK_NAMES.indexOf(fork);
  return ALL.filter(({ since }) => FORK_NAMES.indexOf(since) <= newest).flatMap((one) =>
    OFTEN.has(one.opcode) ? [one, one, one] : [one],
  );
}

/** Division, exponentiation, storage, memory, copies. */
const OFTEN: ReadonlySet<number> = new Set([
  0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x54, 0x55, 0x5c, 0x5d, 0x5e, 0x37, 0x39, 0x3c, 0x52, 0x51,
]);
