import { encodeFunctionData } from "viem";
import { type Address, asAddress } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import type { Overlay } from "../../../src/state/overlay.ts";
import type { CompiledContract } from "../../../test/contracts/compile.ts";
import { CONTRACTS } from "./contracts.ts";
import { type Deployed, HOLDER } from "./stage.ts";

/** One call that is run repeatedly on the same state. */
export interface Workload {
  readonly name: string;
  readonly sender: Address;
  readonly to: Address;
  readonly input: Uint8Array;
  codeOf(world: Overlay): Uint8Array;
}

const RECIPIENT = asAddress(hexToBytes(`0x${"5a".repeat(20)}`));

export function workloads({ token, pair, loops }: Deployed): readonly Workload[] {
  const loop = (name: string, functionName: string, times: number): Workload =>
    workload(name, loops, CONTRACTS.Loops, functionName, [BigInt(times)]);
  return [
    workload("ERC-20 transfer", token, CONTRACTS.Token, "transfer", [toHex(RECIPIENT), 1n]),
    workload("ERC-20 transfer, 200 times in one call", loops, CONTRACTS.Loops, "transfers", [
      toHex(token),
      toHex(RECIPIENT),
      200n,
    ]),
    workload("balanceOf", token, CONTRACTS.Token, "balanceOf", [toHex(HOLDER)]),
    workload("balanceOf, 1,000 times in one call", loops, CONTRACTS.Loops, "balances", [
      toHex(token),
      toHex(HOLDER),
      1_000n,
    ]),
    workload("swap of two tokens", pair, CONTRACTS.Pair, "swap", [10n ** 18n, 0n, toHex(RECIPIENT)]),
    loop("keccak-256, 10,000 times", "hashes", 10_000),
    loop("arithmetic, 100,000 times", "sums", 100_000),
    loop("DIV and MOD, 5,000 times", "divisions", 5_000),
    loop("EXP of 128 bits, 500 times", "powers", 500),
    loop("Poseidon-like permutation, 100 times", "permutations", 100),
    loop("secp256k1 doubling, 300 times", "doublings", 300),
    loop("1,000 new slots", "writes", 1_000),
    loop("ecrecover, 100 times", "recoveries", 100),
    loop("bn254 pairing, 10 times", "pairings", 10),
  ];
}

function workload(
  name: string,
  to: Address,
  { abi }: CompiledContract,
  functionName: string,
  args: readonly unknown[],
): Workload {
  return {
    name,
    sender: HOLDER,
    to,
    input: hexToBytes(encodeFunctionData({ abi, functionName, args })),
    codeOf: (world) => world.code(expectDefined(world.account(to), "a deployed contract").codeHash),
  };
}
