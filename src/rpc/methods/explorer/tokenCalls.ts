import type { Asset } from "../../../accounts/layout.ts";
import type { SimulationResult } from "../../../execution/simulation/callRequest.ts";
import type { Address } from "../../../primitives/address.ts";
import { concatBytes, hexToBytes } from "../../../primitives/hex.ts";
import { bigintAt, bytesToBigint } from "../../../primitives/quantity.ts";
import type { Requester } from "../../../primitives/requester.ts";
import type { RpcBackend } from "../../ports.ts";

/** What a contract answers to a question without changing anything. */
type AskContract = (contract: Address, data: Uint8Array) => Promise<SimulationResult>;

/** Enough for every honest answer about a token, and little for one that only wastes time. */
const GAS_OF_QUESTION = 500_000n;
/** Characters of a name that are shown. */
const MAX_NAME_CHARACTERS = 64;
const WORD = 32;

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

/** The first word of what was returned. */
export function wordOf(result: SimulationResult): bigint | undefined {
  return result.kind === "returned" && result.data.length >= WORD
    ? bigintAt(result.data, 0, WORD)
    : undefined;
}

/** A name: a string, or as some old tokens have it 32 bytes. Cut after some characters. */
export function textOf(result: SimulationResult): string | undefined {
  if (result.kind !== "returned") return undefined;
  const { data } = result;
  if (data.length === WORD) return shown(data.subarray(0, endOfText(data)));
  if (data.length < 2 * WORD) return undefined;
  const offset = bigintAt(data, 0, WORD);
  if (offset + BigInt(WORD) > data.length) return undefined;
  const start = Number(offset) + WORD;
  const length = bigintAt(data, start - WORD, start);
  if (length > BigInt(data.length - start)) return undefined;
  return shown(
    data.subarray(start, start + Math.min(Number(length), BYTES_OF_CHARACTER * MAX_NAME_CHARACTERS)),
  );
}

function endOfText(bytes: Uint8Array): number {
  const end = bytes.indexOf(0);
  return end === -1 ? bytes.length : end;
}

function shown(bytes: Uint8Array): string {
  return [...new TextDecoder().decode(bytes)].slice(0, MAX_NAME_CHARACTERS).join("");
}

const NOTHING = new Uint8Array(0);
const BYTES_OF_CHARACTER = 4;
/** balanceOf(address), balanceOf(address,uint256), ownerOf(uint256). */
const BALANCE_OF = hexToBytes("0x70a08231");
const BALANCE_OF_ID = hexToBytes("0x00fdd58e");
const OWNER_OF = hexToBytes("0x6352211e");
