import type { Asset } from "../../../accounts/layout.ts";
import { GAS_OF_QUESTION, wordOf } from "../../../accounts/tokenAnswers.ts";
import type { SimulationResult } from "../../../execution/simulation/callRequest.ts";
import type { Address } from "../../../primitives/address.ts";
import { concatBytes, hexToBytes } from "../../../primitives/hex.ts";
import { bytesToBigint } from "../../../primitives/quantity.ts";
import type { Requester } from "../../../primitives/requester.ts";
import type { RpcBackend } from "../../ports.ts";

/** What a contract answers to a question without changing anything. */
type AskContract = (contract: Address, data: Uint8Array) => Promise<SimulationResult>;

/** Asks contracts on the state of the head. */
export function askOnHead(
  { chain, simulator }: Pick<RpcBackend, "chain" | "simulator">,
  requester: Requester,
): AskContract {
  const blockNumber = chain.head.header.number;
  return (to, data) =>
    simulator.run({ kind: "call", blockNumber, call: { to, data, gasLimit: GAS_OF_QUESTION } }, requester);
}

/** How much of an asset an account has; undefined when the contract gives no proper answer, "busy" when nobody asks it. */
export async function balanceOf(
  ask: AskContract,
  account: Address,
  { token, standard, tokenId = NOTHING }: Asset,
): Promise<bigint | undefined | "busy"> {
  if (standard === "ERC-721") {
    const owner = await ask(token, concatBytes(OWNER_OF, tokenId));
    if (owner.kind === "busy") return "busy";
    // A token that was destroyed has no owner.
    if (owner.kind === "reverted") return 0n;
    const word = wordOf(owner);
    return word === undefined ? undefined : word === bytesToBigint(account) ? 1n : 0n;
  }
  const selector = standard === "ERC-20" ? BALANCE_OF : BALANCE_OF_ID;
  const answer = await ask(token, concatBytes(selector, new Uint8Array(12), account, tokenId));
  return answer.kind === "busy" ? "busy" : wordOf(answer);
}

const NOTHING = new Uint8Array(0);
/** balanceOf(address), balanceOf(address,uint256), ownerOf(uint256). */
const BALANCE_OF = hexToBytes("0x70a08231");
const BALANCE_OF_ID = hexToBytes("0x00fdd58e");
const OWNER_OF = hexToBytes("0x6352211e");
