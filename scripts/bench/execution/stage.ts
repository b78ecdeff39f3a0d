import { encodeDeployData, getContractAddress } from "viem";
import type { BlockRules } from "../../../src/execution/blockRules.ts";
import { executeBlock } from "../../../src/execution/executeBlock.ts";
import { NEVER_YIELD } from "../../../src/execution/yieldPolicy.ts";
import { type Address, addressFromHex } from "../../../src/primitives/address.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import type { Overlay } from "../../../src/state/overlay.ts";
import { EMPTY_ACCOUNT } from "../../../src/types/account.ts";
import { aTransaction } from "../../../test/builders/aTransaction.ts";
import { account } from "../../../test/builders/testAccounts.ts";
import type { CompiledContract } from "../../../test/contracts/compile.ts";
import { theRules } from "../../../test/execution/context.ts";
import { CONTRACTS } from "./contracts.ts";

const BLOCK_GAS_LIMIT = 1_000_000_000n;
export const RULES: BlockRules = theRules("cancun", { number: 1n, gasLimit: BLOCK_GAS_LIMIT });
export const HOLDER = account(0).address;

/** Addresses of the contracts. */
export interface Deployed {
  readonly token: Address;
  readonly pair: Address;
  readonly loops: Address;
}

/** Funds the ten test accounts and deploys the contracts, as transactions of the first of them. */
export async function deployAll(overlay: Overlay): Promise<Deployed> {
  for (let index = 0; index < 10; index++)
    overlay.putAccount(account(index).address, { ...EMPTY_ACCOUNT, balance: 10n ** 24n });
  const holder = toHex(HOLDER);
  const loops = addressOfCreation(1n);
  const creations = [
    creation(0n, CONTRACTS.Pair, [holder]),
    creation(1n, CONTRACTS.Loops, []),
    creation(2n, CONTRACTS.Token, [holder, toHex(loops)]),
  ];
  const block = await executeBlock(RULES, creations, overlay, {
    yieldPolicy: NEVER_YIELD,
    keepsRevertReasons: false,
  });
  if (!block.ok) throw new Error(block.error.message);
  if (block.value.receipts.some(({ outcome }) => !("status" in outcome) || outcome.status === 0))
    throw new Error("a contract could not be deployed");
  return { pair: addressOfCreation(0n), loops, token: addressOfCreation(2n) };
}

function creation(nonce: bigint, { abi, bytecode }: CompiledContract, args: readonly string[]) {
  const data = hexToBytes(encodeDeployData({ abi, bytecode, args }));
  return aTransaction({ nonce, to: undefined, value: 0n, data, gasLimit: 10_000_000n });
}

function addressOfCreation(nonce: bigint): Address {
  return addressFromHex(getContractAddress({ from: toHex(HOLDER), nonce }));
}
