import { concat, getContractAddress, type Hex, numberToHex, pad } from "viem";

/** EVM code that takes far more time than its gas suggests in a naive node, in hexadecimal. */

/** An endless loop: JUMPDEST PUSH0 JUMP. */
export const ENDLESS_LOOP: Hex = "0x5b5f56";

/** Hashes 2 MB of memory repeatedly. */
export const ENDLESS_KECCAK: Hex = concat(["0x5b", push(0x20_0000), "0x5f", "0x20", "0x50", "0x5f56"]);

/** Hashes 200 MB once, which is free in a call. */
export const LARGE_KECCAK: Hex = concat([push(0xc00_0000), "0x5f", "0x20", "0x50"]);

/** Raises a 256-bit number to a 256-bit power repeatedly. */
export const ENDLESS_EXP: Hex = concat(["0x5b", "0x5f", "0x19", "0x5f", "0x19", "0x0a", "0x50", "0x5f56"]);

/** MODEXP of one byte to the power of `exponentBytes`, which begin with 32 bytes of ones, modulo 255: 672,000 gas for 200,000. */
export function powerOf(exponentBytes: number): Hex {
  const store = (offset: number, value: number): Hex => concat([push(value), push(offset), "0x52"]);
  const storeByte = (offset: number, value: number): Hex => concat([push(value), push(offset), "0x53"]);
  return concat([
    store(0, 1),
    store(32, exponentBytes),
    store(64, 1),
    storeByte(96, 3),
    concat(["0x5f", "0x19", push(97), "0x52"]),
    storeByte(97 + exponentBytes, 0xff),
    // STATICCALL(gas, 5, 0, 98 + exponentBytes, 0, 1)
    concat([push(1), "0x5f", push(98 + exponentBytes), "0x5f", push(5), "0x5a", "0xfa", "0x00"]),
  ]);
}

/** Input of MODEXP in 98 bytes: one byte to a power whose stated length is 80,000,000 bytes. */
export const HUGE_LENGTH: Hex = concat([word(1), word(80_000_000), word(1), "0x03ff"]);

/** Input of BLAKE2F with the given number of rounds. */
export function blakeRounds(rounds: number): Hex {
  return concat([numberToHex(rounds, { size: 4 }), `0x${"00".repeat(208)}`, "0x01"]);
}

/** Init code of a contract of 24 KB that stops at once; the code differs for each `index`. */
export function largeContract(index: number): Hex {
  const runtime = concat(["0x00", push(index), `0x${"7f5b".repeat((LARGEST_CODE - 6) / 2)}`]);
  const size = (runtime.length - 2) / 2;
  // CODECOPY(0, 12, size), RETURN(0, size)
  const prefix = concat([
    numberToHex(0x61),
    numberToHex(size, { size: 2 }),
    "0x80",
    "0x600a",
    "0x5f",
    "0x39",
  ]);
  return concat([prefix, "0x5f", "0xf3", runtime]);
}

const LARGEST_CODE = 24_576;

/** Calls these contracts in turn until its gas is spent. */
export function callsInTurn(contracts: readonly Hex[]): Hex {
  const calls = contracts.map((contract) =>
    // STATICCALL(10000, contract, 0, 0, 0, 0)
    concat(["0x5f5f5f5f", "0x73", contract, push(10_000), "0xfa", "0x50"]),
  );
  return concat(["0x5b", ...calls, "0x5f56"]);
}

/** Addresses of the contracts that an account creates with these nonces. */
export function createdBy(from: Hex, firstNonce: number, count: number): readonly Hex[] {
  return Array.from({ length: count }, (_, index) =>
    getContractAddress({ from, nonce: BigInt(firstNonce + index) }),
  );
}

function push(value: number): Hex {
  const size = Math.max(1, Math.ceil(value.toString(16).length / 2));
  return concat([numberToHex(0x5f + size), numberToHex(value, { size })]);
}

function word(value: number): Hex {
  return pad(numberToHex(value), { size: 32 });
}
