import { getContractAddress } from "viem";
import { FORK_NAMES, type ForkName, isAtLeast } from "../../../src/chainspec/forks.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { account } from "../../builders/testAccounts.ts";
import { forkOfVector } from "../../conformance/suites/vectorForks.ts";
import { generator, type Random } from "../../storage/random.ts";
import { settingOf } from "./code.ts";
import type { CodeSetting } from "./codeSetting.ts";
import { chance, pick, weighted, word } from "./draws.ts";
import type { ProgramAccount, StateTestProgram } from "./stateTestProgram.ts";

/** What programs of all kinds are put together from: fork, accounts, block. */

/** Forks under their names in state tests. Those that change no code are left out. */
const FORKS: readonly (readonly [weight: number, fork: string])[] = [
  [4, "Frontier"],
  [4, "Homestead"],
  [4, "EIP150"],
  [4, "EIP158"],
  [5, "Byzantium"],
  [4, "Constantinople"],
  [5, "ConstantinopleFix"],
  [6, "Istanbul"],
  [8, "Berlin"],
  [8, "London"],
  [3, "Paris"],
  [8, "Shanghai"],
  [14, "Cancun"],
  [23, "Prague"],
];

export const SENDER = account(0);
export const CONTRACTS = 4;
export const WITNESS = 0x9999n;
const BENEFICIARY = 0xbe00000000000000000000000000000000000001n;
export const EMPTY = 0xe000000000000000000000000000000000000001n;
const ABSENT = 0xab00000000000000000000000000000000000001n;

export const contract = (index: number): bigint =>
  0xc0de000000000000000000000000000000000000n + BigInt(index);
export const hexOf = (address: bigint): `0x${string}` => `0x${address.toString(16).padStart(40, "0")}`;
export const wordHex = (value: bigint): string => `0x${value.toString(16).padStart(64, "0")}`;

/** Accounts with code of their own, those that they create first, and accounts of other kinds. */
export const ADDRESSES: readonly bigint[] = [
  ...Array.from({ length: CONTRACTS }, (_, index) => contract(index)),
  ...Array.from({ length: CONTRACTS }, (_, index) => contract(index)),
  ...[0, 1].map((index) => BigInt(getContractAddress({ from: hexOf(contract(index)), nonce: 1n }))),
  BigInt(getContractAddress({ from: toHex(SENDER.address), nonce: 0n })),
  ...[0, 5, 6, 7].map((index) => BigInt(toHex(account(index).address))),
  ...[BENEFICIARY, EMPTY, ABSENT, 0n, 1n, 2n, 3n, 4n, 9n],
];

export interface NamedSetting {
  readonly setting: CodeSetting;
  readonly forkName: string;
}

/** The source of a program: always the same for a number under a seed. */
export function settingAt(seed: number, index: number, forks = FORKS): NamedSetting {
  const random = generator(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
  const forkName = weighted(random, forks);
  return { setting: settingOf(forkOfVector(forkName), random, ADDRESSES), forkName };
}

export function drawEnv(random: Random, forkName: string, fork: ForkName): StateTestProgram["env"] {
  const isMerged = FORK_NAMES.indexOf(fork) >= FORK_NAMES.indexOf("shanghai") || forkName === "Paris";
  return {
    currentCoinbase: hexOf(chance(random, 90) ? BENEFICIARY : pick(random, ADDRESSES)),
    currentNumber: quantity(1 + random.below(600)),
    currentTimestamp: quantity(1000 + random.below(2 ** 31)),
    currentGasLimit: "0x5f5e100",
    currentDifficulty: isMerged ? "0x0" : quantity(1 + random.below(2 ** 40)),
    ...(isMerged && { currentRandom: wordHex(word(random)) }),
    ...(isAtLeast(fork, "london") && { currentBaseFee: "0x7" }),
    ...(isAtLeast(fork, "cancun") && {
      currentExcessBlobGas: quantity(pick(random, [0, 0x20000, 20_000_000])),
    }),
  };
}

interface AccountFields {
  readonly balance?: bigint;
  readonly nonce?: bigint;
  readonly code?: Uint8Array;
  readonly storage?: Record<string, string>;
}

/** An account of a state test. */
export function accountWith({
  balance = 0n,
  nonce = 0n,
  code = new Uint8Array(),
  storage = {},
}: AccountFields): ProgramAccount {
  return { balance: quantity(balance), nonce: quantity(nonce), code: toHex(code), storage };
}

export function quantity(value: bigint | number): string {
  return `0x${value.toString(16)}`;
}
