import type { Address } from "../../../primitives/address.ts";
import { RpcError } from "../../errors/errors.ts";
import { type ContextOf, defineMethod, required } from "../../method.ts";
import { decodeFlag } from "../../parameters/developmentParameters.ts";
import { decodeWholeAddress } from "../../parameters/parameters.ts";
import { ADDRESS, BOOLEAN } from "../../schemas.ts";

/** Transactions of accounts whose keys the node has not (development-network.md#accounts). Answers are true or null as for alterations. */

const ACCOUNT = required("address", decodeWholeAddress, ADDRESS);
const NOTHING = { name: "nothing", schema: { type: "null" } };

export const hardhatImpersonateAccount = defineMethod({
  name: "hardhat_impersonateAccount",
  namespace: "HARDHAT",
  summary: "Lets eth_sendTransaction send for an account without its key.",
  parameters: [ACCOUNT],
  result: { name: "isDone", schema: BOOLEAN },
  ports: ["wallet"],
  run: ([address], context) => impersonate(address, true, context),
});

export const anvilImpersonateAccount = defineMethod({
  name: "anvil_impersonateAccount",
  namespace: "ANVIL",
  summary: "Lets eth_sendTransaction send for an account without its key.",
  parameters: [ACCOUNT],
  result: NOTHING,
  ports: ["wallet"],
  run: ([address], context) => impersonate(address, null, context),
});

export const hardhatStopImpersonatingAccount = defineMethod({
  name: "hardhat_stopImpersonatingAccount",
  namespace: "HARDHAT",
  summary: "Ends the impersonation of an account; false when there was none.",
  parameters: [ACCOUNT],
  result: { name: "wasImpersonated", schema: BOOLEAN },
  ports: ["wallet"],
  run: ([address], context) => context.backend.wallet.stopImpersonating(address, context),
});

export const anvilStopImpersonatingAccount = defineMethod({
  name: "anvil_stopImpersonatingAccount",
  namespace: "ANVIL",
  summary: "Ends the impersonation of an account.",
  parameters: [ACCOUNT],
  result: NOTHING,
  ports: ["wallet"],
  async run([address], context) {
    await context.backend.wallet.stopImpersonating(address, context);
    return null;
  },
});

export const anvilAutoImpersonateAccount = defineMethod({
  name: "anvil_autoImpersonateAccount",
  aliases: ["hardhat_autoImpersonateAccount"],
  namespace: "ANVIL",
  alsoIn: ["HARDHAT"],
  summary: "Lets eth_sendTransaction send for every account, or only for those that are impersonated.",
  parameters: [required("isWanted", decodeFlag, BOOLEAN)],
  result: NOTHING,
  ports: ["wallet"],
  async run([isWanted], context) {
    await context.backend.wallet.impersonateAll(isWanted, context);
    return null;
  },
});

async function impersonate(
  address: Address,
  done: true | null,
  context: ContextOf<"wallet">,
): Promise<true | null | RpcError> {
  const isDone = await context.backend.wallet.impersonate(address, context);
  return isDone ? done : new RpcError(-32000, "no more than 10,000 accounts can be impersonated");
}
