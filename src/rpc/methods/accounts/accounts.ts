import { toHex } from "../../../primitives/hex.ts";
import { defineMethod } from "../../method.ts";
import { ADDRESS, listOf } from "../../schemas.ts";
import { ACCOUNT_METHOD } from "./accountMethod.ts";

export const devAccounts = defineMethod({
  ...ACCOUNT_METHOD,
  name: "eth_accounts",
  summary: "The accounts of the development network, whose keys the node has.",
  parameters: [],
  result: { name: "accounts", schema: listOf(ADDRESS) },
  ports: ["settings"],
  run: (_, { backend }) => backend.settings.accounts.map(({ address }) => toHex(address)),
});
