import type { Step } from "../execution/observer.ts";

/** Besu's names of the instructions of all forks, by the number of the first in each list. */
const NAME_LISTS: Readonly<Record<number, string>> = {
  0: "STOP ADD MUL SUB DIV SDIV MOD SMOD ADDMOD MULMOD EXP SIGNEXTEND",
  16: "LT GT SLT SGT EQ ISZERO AND OR XOR NOT BYTE SHL SHR SAR",
  32: "KECCAK256",
  48: `ADDRESS BALANCE ORIGIN CALLER CALLVALUE CALLDATALOAD CALLDATASIZE CALLDATACOPY CODESIZE CODECOPY GASPRICE
    EXTCODESIZE EXTCODECOPY RETURNDATASIZE RETURNDATACOPY EXTCODEHASH BLOCKHASH COINBASE TIMESTAMP NUMBER DIFFICULTY
    GASLIMIT CHAINID SELFBALANCE BASEFEE BLOBHASH BLOBBASEFEE`,
  80: "POP MLOAD MSTORE MSTORE8 SLOAD SSTORE JUMP JUMPI PC MSIZE GAS JUMPDEST TLOAD TSTORE MCOPY PUSH0",
  160: "LOG0 LOG1 LOG2 LOG3 LOG4",
  240: "CREATE CALL CALLCODE RETURN DELEGATECALL CREATE2",
  250: "STATICCALL",
  253: "REVERT INVALID SELFDESTRUCT",
};

const NAMES: readonly (string | undefined)[] = allNames();

function allNames(): readonly (string | undefined)[] {
  const names = new Array<string | undefined>(256).fill(undefined);
  for (const [first, list] of Object.entries(NAME_LISTS))
    for (const [offset, name] of list.split(/\s+/).entries()) names[Number(first) + offset] = name;
  for (let n = 1; n <= 32; n++) names[0x5f + n] = `PUSH${n}`;
  for (let n = 1; n <= 16; n++) {
    names[0x7f + n] = `DUP${n}`;
    names[0x8f + n] = `SWAP${n}`;
  }
  return names;
}

/** The name of an instruction in a fork; INVALID for a byte that is no instruction there. */
export function mnemonicOf(instruction: number, fork: Pick<Step["state"], "isKnown">): string {
  if (!fork.isKnown(instruction)) return "INVALID";
  // From Shanghai on, which has PUSH0, opcode 0x44 returns another value (ibft2.md#later-forks).
  if (instruction === DIFFICULTY && fork.isKnown(PUSH0)) return "PREVRANDAO";
  return NAMES[instruction] ?? "INVALID";
}

const DIFFICULTY = 0x44;
const PUSH0 = 0x5f;
