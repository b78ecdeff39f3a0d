import type { Address } from "../../../primitives/address.ts";
import { equalBytes, toHex } from "../../../primitives/hex.ts";
import { RpcError } from "../../errors/errors.ts";
import type { ContextOf } from "../../method.ts";

/**
 * What the methods of accounts have in common. They belong to the groups of development networks, take the place of those that every
 * node has, and are not offered to pages of foreign origins: the node signs with its own keys.
 */
export const ACCOUNT_METHOD = {
  namespace: "HARDHAT",
  alsoIn: ["ANVIL"],
  takesPlace: true,
  isGuarded: true,
} as const;

/** The private key of the account; Hardhat's error when the node has none. */
export function privateKeyOf(
  address: Address,
  { backend: { settings } }: ContextOf<"settings">,
): Uint8Array | RpcError {
  const account = settings.accounts.find((each) => equalBytes(each.address, address));
  return account === undefined ? unknownAccount(address) : account.privateKey;
}

export function unknownAccount(address: Address): RpcError {
  return new RpcError(-32000, `Unknown account ${toHex(address)}`);
}
