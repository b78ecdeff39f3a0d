import { asAddress } from "../../../primitives/address.ts";
import { expectDefined } from "../../../primitives/assert.ts";
import { toWordHex } from "../../../primitives/hex.ts";
import type { RpcBackend } from "../../ports.ts";
import { bytesOf, type ResolverTable } from "./resolverTable.ts";
import { AccountSource } from "./sources.ts";

export const ACCOUNT_FIELDS: ResolverTable = {
  Account: {
    address: ({ address }: AccountSource) => address,
    balance: ({ account }: AccountSource) => account?.balance ?? 0n,
    transactionCount: ({ account }: AccountSource) => account?.nonce ?? 0n,
    code: ({ code }: AccountSource) => code,
    storage: (account: AccountSource, { slot }) =>
      toWordHex(account.storage(expectDefined(bytesOf(slot), "a slot"))),
  },
};

/** The account that an argument names, after a block. */
export function accountOf(chain: RpcBackend["chain"], address: unknown, number: bigint): AccountSource {
  return new AccountSource(chain, asAddress(expectDefined(bytesOf(address), "an address")), number);
}
